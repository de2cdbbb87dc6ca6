/* machine.c: order the ranks by their locations. Two sorts: the first brings the ranks of a socket
 * together, to find the lowest rank of each socket and node; the second orders by these.
 * O(n log n). */
#include "topo/machine.h"

#include <stdlib.h>

typedef struct located_rank {
    sk_location location;
    int rank;
    int node_low, socket_low; /* lowest rank of its node and of its socket */
} located_rank;

const char *sk_level_name(sk_level level)
{
    static const char *const names[SK_NLEVELS] = {"socket", "node", "net"};
    return names[level];
}

static int compare(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int by_location(const void *pa, const void *pb)
{
    const located_rank *a = pa, *b = pb;
    int c = compare(a->location.node, b->location.node);
    if (!c)
        c = compare(a->location.socket, b->location.socket);
    return c ? c : compare(a->rank, b->rank);
}

static int by_lowest(const void *pa, const void *pb)
{
    const located_rank *a = pa, *b = pb;
    int c = compare(a->node_low, b->node_low);
    if (!c)
        c = compare(a->socket_low, b->socket_low);
    if (!c)
        c = compare(a->location.core, b->location.core);
    return c ? c : compare(a->rank, b->rank);
}

/* Find the lowest ranks; `s` is sorted by location. */
static void find_lowest(located_rank *s, int n)
{
    for (int i = 0, end; i < n; i = end) {
        int low = s[i].rank;
        for (end = i; end < n && s[end].location.node == s[i].location.node; end++) {
            bool first = end == i || s[end].location.socket != s[end - 1].location.socket;
            s[end].socket_low = first ? s[end].rank : s[end - 1].socket_low;
            low = s[end].rank < low ? s[end].rank : low;
        }
        for (int k = i; k < end; k++)
            s[k].node_low = low;
    }
}

/* The lowest rank identifies a node, and a socket of the whole machine. */
static bool new_node(const located_rank *s, int i)
{
    return i == 0 || s[i].node_low != s[i - 1].node_low;
}

static bool new_socket(const located_rank *s, int i)
{
    return i == 0 || s[i].socket_low != s[i - 1].socket_low;
}

/* An empty machine and its arrays, in one allocation. */
static sk_machine *allocate(int nranks, int nnodes, int nsockets)
{
    size_t n = (size_t)nranks, ints = 7 * n + (size_t)nnodes + (size_t)nsockets + 2;
    sk_machine *m = calloc(1, sizeof *m + ints * sizeof(int));
    if (!m)
        return NULL;
    m->node = (int *)(m + 1);
    m->socket = m->node + n;
    m->core = m->socket + n;
    m->rank_at = m->core + n;
    m->position = m->rank_at + n;
    m->local_ranks = m->position + n;
    m->local_rank = m->local_ranks + n;
    m->node_first = m->local_rank + n;
    m->socket_first = m->node_first + nnodes + 1;
    m->nranks = nranks;
    return m;
}

static int largest_group(const int *first, int n)
{
    int most = 0;
    for (int i = 0; i < n; i++)
        most = first[i + 1] - first[i] > most ? first[i + 1] - first[i] : most;
    return most;
}

/* Ranks are visited in rising order, so they are sorted within their nodes. */
static void count_local_ranks(sk_machine *m)
{
    for (int rank = 0; rank < m->nranks; rank++) {
        /* The first entry of a node counts its ranks until the second loop overwrites it. */
        int *seen = &m->local_rank[m->node_first[m->node[rank]]];
        m->local_ranks[m->node_first[m->node[rank]] + (*seen)++] = rank;
    }
    for (int i = 0; i < m->nnodes; i++)
        for (int k = m->node_first[i]; k < m->node_first[i + 1]; k++)
            m->local_rank[m->local_ranks[k]] = k - m->node_first[i];
}

/* Fill in a machine from the ordered ranks. */
static void fill(sk_machine *m, const located_rank *s)
{
    m->in_order = true;
    for (int i = 0; i < m->nranks; i++) {
        if (new_node(s, i))
            m->node_first[m->nnodes++] = i;
        if (new_socket(s, i))
            m->socket_first[m->nsockets++] = i;
        int rank = s[i].rank;
        m->rank_at[i] = rank;
        m->position[rank] = i;
        m->node[rank] = m->nnodes - 1;
        m->socket[rank] = m->nsockets - 1;
        m->core[rank] = s[i].location.core;
        m->in_order &= rank == i;
    }
    m->node_first[m->nnodes] = m->nranks;
    m->socket_first[m->nsockets] = m->nranks;
    count_local_ranks(m);
    m->max_per_node = largest_group(m->node_first, m->nnodes);
    m->max_per_socket = largest_group(m->socket_first, m->nsockets);
}

sk_status sk_machine_new(int nranks, const sk_location *locations, int cores, sk_machine **out)
{
    if (nranks < 1 || cores < 0)
        return SK_BADARG;
    size_t n = (size_t)nranks;
    located_rank *s = calloc(n, sizeof *s);
    if (!s)
        return SK_NOMEM;
    for (int r = 0; r < nranks; r++)
        s[r] = (located_rank){.location = locations[r], .rank = r};
    qsort(s, n, sizeof *s, by_location);
    find_lowest(s, nranks);
    qsort(s, n, sizeof *s, by_lowest);

    int nnodes = 0, nsockets = 0;
    for (int i = 0; i < nranks; i++) {
        nnodes += new_node(s, i);
        nsockets += new_socket(s, i);
    }
    sk_machine *m = allocate(nranks, nnodes, nsockets);
    if (m) {
        fill(m, s);
        m->cores = cores;
        *out = m;
    }
    free(s);
    return m ? SK_OK : SK_NOMEM;
}

void sk_machine_set_cores(sk_machine *m, const int *cores)
{
    int most = 0;
    int64_t ranks = 1, share = 1; /* of the node where most ranks share a core */
    m->cores = 0;
    for (int i = 0; i < m->nnodes; i++) {
        int n = m->node_first[i + 1] - m->node_first[i];
        int here = cores[m->local_ranks[m->node_first[i]]];
        if (here < 1)
            return;
        most = here > most ? here : most;
        if (n * share > ranks * here) {
            ranks = n;
            share = here;
        }
    }
    int64_t fullest = m->max_per_node * share / ranks;
    m->cores = ranks == share ? most : fullest < 1 ? 1 : (int)fullest;
}

sk_status sk_machine_even(int nranks, int nnodes, int cores, sk_machine **out)
{
    if (nranks < 1 || nnodes < 1)
        return SK_BADARG;
    sk_location *at = calloc((size_t)nranks, sizeof *at);
    int each = (nranks - 1) / nnodes + 1;
    for (int i = 0; at && i < nranks; i++)
        at[i] = (sk_location){.node = i / each, .core = -1};
    sk_status st = at ? sk_machine_new(nranks, at, cores, out) : SK_NOMEM;
    free(at);
    return st;
}

void sk_machine_free(sk_machine *m)
{
    free(m);
}
