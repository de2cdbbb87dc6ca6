/* phase_leaders.c: who leads, and in which order the phases of the chunks go. */
#include "coll/phase/leaders.h"

bool sk_lead_fits(const sk_call *c)
{
    return c->machine && c->machine->nnodes > 1 && c->machine->most_on_node > 1;
}

bool sk_lead_in_order(const sk_call *c)
{
    for (int i = 0; i < c->nranks; i++)
        if (c->machine->local_ranks[i] != i)
            return false;
    return true;
}

static int size_of(const sk_machine *m, int node)
{
    return m->node_first[node + 1] - m->node_first[node];
}

int sk_lead_count(const sk_call *c)
{
    int k = c->leaders;
    for (int x = 0; x < c->machine->nnodes; x++)
        if (k > size_of(c->machine, x))
            k = size_of(c->machine, x);
    return k < 1 ? 1 : k;
}

int sk_lead_size(const sk_lead *l, int node)
{
    return size_of(l->m, node);
}

int sk_lead_local_rank(const sk_lead *l, int node, int j)
{
    if (l->root_leads && l->m->node[l->c->root] == node)
        return l->m->local_rank[l->c->root];
    return (int)((int64_t)j * size_of(l->m, node) / l->k);
}

int sk_lead_rank(const sk_lead *l, int node, int j)
{
    return l->m->local_ranks[l->m->node_first[node] + sk_lead_local_rank(l, node, j)];
}

static bool has_root(sk_coll coll)
{
    return coll == SK_BCAST || coll == SK_REDUCE || coll == SK_GATHER || coll == SK_SCATTER;
}

static bool find_peers(sk_lead *l)
{
    int nnodes = l->m->nnodes, *ranks = sk_arena_get(l->arena, (size_t)nnodes * sizeof *ranks);
    if (!ranks)
        return false;
    for (int x = 0; x < nnodes; x++)
        ranks[x] = sk_lead_rank(l, x, l->mine);
    l->peers = (sk_team){.n = nnodes, .me = l->node, .ranks = ranks};
    return true;
}

bool sk_lead_begin(sk_lead *l, sk_sched *s, const sk_call *c, int leaders, bool epochs)
{
    const sk_machine *m = c->machine;
    *l = (sk_lead){.s = s, .c = c, .m = m, .k = leaders, .mine = -1, .arena = sk_arena_new()};
    l->node = m->node[c->rank];
    l->me = m->local_rank[c->rank];
    l->local_ranks = (sk_team){.me = l->me, .ranks = sk_machine_local_ranks(m, c->rank, &l->q)};
    l->local_ranks.n = l->q;
    l->root_leads = leaders == 1 && has_root(c->coll);
    l->epochs = epochs && l->q > 1;
    /* Messages of a node's leaders to each other may come in another order of rounds at each of
     * them: beside the leaders' phase two nodes could wait for each other. */
    l->beside = epochs || leaders == 1;
    for (int j = 0; j < leaders; j++)
        if (sk_lead_local_rank(l, l->node, j) == l->me)
            l->mine = j;
    if (l->arena && (l->mine < 0 || find_peers(l)))
        return true;
    sk_sched_fail(s, SK_NOMEM);
    sk_lead_end(l);
    return false;
}

void sk_lead_end(sk_lead *l)
{
    sk_inner_end(&l->net);
    sk_inner_end(&l->intra);
    sk_arena_free(l->arena);
}

void sk_lead_fence(sk_lead *l)
{
    sk_fence(l->s);
    sk_inner_round(&l->net, l->s);
}

void sk_lead_run(sk_lead *l, const sk_lead_phases *ph, void *ctx, int chunks)
{
    sk_fence(l->s);
    for (int i = 0; i <= chunks; i++) {
        if (i < chunks && ph->in) {
            if (!l->beside)
                sk_inner_rest(&l->net, l->s);
            ph->in(l, ctx, i);
        }
        sk_inner_rest(&l->net, l->s);
        if (i > 0 && ph->out)
            ph->out(l, ctx, i - 1);
        if (!l->beside)
            sk_fence(l->s);
        if (i < chunks) {
            ph->net(l, ctx, i);
            sk_inner_round(&l->net, l->s);
        }
    }
}

int sk_lead_chunks(int64_t n, int64_t most)
{
    int64_t chunks = most > 0 ? n / most + (n % most > 0) : SK_LEAD_CHUNKS;
    return chunks < SK_LEAD_CHUNKS ? (int)chunks : SK_LEAD_CHUNKS;
}

int64_t sk_lead_first(int64_t n, int chunks, int i)
{
    return n / chunks * i + (i < n % chunks ? i : n % chunks);
}
