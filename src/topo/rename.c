#include "topo/rename.h"

#include <stdlib.h>

const char *sk_mapping_name(sk_mapping mapping)
{
    static const char *const names[] = {"sequential", "round-robin", "round-robin by socket",
                                        "irregular"};
    return names[mapping];
}

const char *sk_prefers_name(sk_prefers wants)
{
    static const char *const names[] = {"any", "sequential", "round-robin"};
    return names[wants];
}

int sk_rename_sq(int rank, int nodes, int on_node)
{
    int64_t p = (int64_t)nodes * on_node;
    return (int)((int64_t)rank * on_node % p + rank / nodes);
}

int sk_rename_rr(int rank, int nodes, int on_node)
{
    return sk_rename_sq(rank, on_node, nodes);
}

/* Are the ranks assigned round-robin to `parts` nodes or sockets, in their order, of at most `most`
 * ranks each? */
static bool is_round_robin(const sk_machine *m, int parts, int most)
{
    if ((int64_t)parts * most != m->nranks)
        return false;
    for (int r = 0; r < m->nranks; r++)
        if (m->position[r] != sk_rename_sq(r, parts, most))
            return false;
    return true;
}

sk_mapping sk_mapping_of(const sk_machine *m)
{
    if (m->in_order && (int64_t)m->nnodes * m->max_per_node == m->nranks)
        return SK_MAP_SEQUENTIAL;
    if (is_round_robin(m, m->nnodes, m->max_per_node))
        return SK_MAP_ROUND_ROBIN;
    if (is_round_robin(m, m->nsockets, m->max_per_socket))
        return SK_MAP_ROUND_ROBIN_SOCKET;
    return SK_MAP_IRREGULAR;
}

/* An empty permutation and its arrays, in one allocation. */
static sk_rename *allocate(int nranks, sk_prefers wants, int **name_of, int **rank_of)
{
    size_t n = (size_t)nranks;
    sk_rename *r = calloc(1, sizeof *r + 2 * n * sizeof(int));
    if (!r)
        return NULL;
    *name_of = (int *)(r + 1);
    *rank_of = *name_of + n;
    *r = (sk_rename){.order = wants, .nranks = nranks, .name_of = *name_of, .rank_of = *rank_of};
    return r;
}

static void round_robin(const sk_machine *m, int *rank_of)
{
    int name = 0;
    for (int k = 0; k < m->max_per_node; k++)
        for (int i = 0; i < m->nnodes; i++)
            if (m->node_first[i] + k < m->node_first[i + 1])
                rank_of[name++] = m->rank_at[m->node_first[i] + k];
}

sk_status sk_rename_by_position(const sk_machine *m, sk_prefers wants, sk_rename **out)
{
    int *name_of, *rank_of;
    sk_rename *r = allocate(m->nranks, wants, &name_of, &rank_of);
    if (!r)
        return SK_NOMEM;
    if (wants == SK_PREFERS_ROUND_ROBIN)
        round_robin(m, rank_of);
    else
        for (int i = 0; i < m->nranks; i++)
            rank_of[i] = wants == SK_PREFERS_SEQUENTIAL ? m->rank_at[i] : i;
    for (int i = 0; i < m->nranks; i++)
        name_of[rank_of[i]] = i;
    *out = r;
    return SK_OK;
}

typedef int formula(int rank, int nodes, int on_node);

static sk_status by_formula(const sk_machine *m, sk_prefers wants, formula *f, int parts,
                            sk_rename **out)
{
    int *name_of, *rank_of;
    sk_rename *r = allocate(m->nranks, wants, &name_of, &rank_of);
    if (!r)
        return SK_NOMEM;
    for (int i = 0; i < m->nranks; i++) {
        name_of[i] = f(i, parts, m->nranks / parts);
        rank_of[name_of[i]] = i;
    }
    *out = r;
    return SK_OK;
}

static bool is_identity(const sk_rename *r)
{
    for (int i = 0; i < r->nranks; i++)
        if (r->name_of[i] != i)
            return false;
    return true;
}

sk_status sk_rename_new(const sk_machine *m, sk_prefers wants, sk_rename **out)
{
    sk_mapping is = sk_mapping_of(m);
    bool sequential = wants == SK_PREFERS_SEQUENTIAL, scattered = wants == SK_PREFERS_ROUND_ROBIN;
    sk_rename *r = NULL;
    sk_status st;
    if (sequential && is == SK_MAP_ROUND_ROBIN)
        st = by_formula(m, wants, sk_rename_sq, m->nnodes, &r);
    else if (sequential && is == SK_MAP_ROUND_ROBIN_SOCKET)
        st = by_formula(m, wants, sk_rename_sq, m->nsockets, &r);
    else if (scattered && is == SK_MAP_SEQUENTIAL)
        st = by_formula(m, wants, sk_rename_rr, m->nnodes, &r);
    else
        st = sk_rename_by_position(m, wants, &r);
    if (st == SK_OK && is_identity(r)) {
        sk_rename_free(r);
        r = NULL;
    }
    if (st == SK_OK)
        *out = r;
    return st;
}

void sk_rename_free(sk_rename *r)
{
    free(r);
}
