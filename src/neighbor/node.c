/* node.c: blocks bound for the same node travel in one combined message per pair of nodes.
 * idea      stage 0: inside the node, to the carrier of the pair (and straight to neighbours on the
 *           same node); stage 1: from the carrier to the entry of the pair, all in one message;
 *           stage 2: inside the node, from the entry to the destinations. Carriers and entries are
 *           spread over the ranks of a node (node_fill.c), so there is no leader to wait for.
 * messages  at most one per pair of nodes over the network: about (nodes - 1) / (ranks per node)
 *           sent and received by each rank, and up to 2 (ranks per node - 1) inside each way
 * good for  short blocks, many neighbours, many ranks per node: when CPU per message is the limit
 * set-up    one message between any two ranks of a node, none over the network (node_negotiator.c) */
#include "neighbor/node.h"

#include <stdlib.h>

/* The neighbours of all ranks of a node, out of the whole graph. */
static sk_status local_ranks_of(const sk_global_graph *g, const sk_machine *m, sk_local_ranks *a,
                                int *room)
{
    sk_status st = SK_OK;
    for (int i = 0; i < a->n && st == SK_OK; i++) {
        int r = m->order[m->node_first[a->node] + i];
        sk_global_graph_targets(g, r, room);
        st = sk_local_ranks_set(a, i, SK_TARGETS, room, sk_global_graph_degree(g, r, false));
        if (st != SK_OK)
            break;
        sk_global_graph_sources(g, r, room);
        st = sk_local_ranks_set(a, i, SK_SOURCES, room, sk_global_graph_degree(g, r, true));
    }
    return st;
}

static sk_status plan_node(const sk_global_graph *g, const sk_machine *m, const sk_pattern_opts *o,
                           int node, int *room, sk_pattern **by_rank)
{
    sk_local_ranks a;
    sk_status st = sk_local_ranks_init(&a, m, node);
    if (st != SK_OK)
        return st;
    sk_pattern **wanted = malloc((size_t)a.n * sizeof(sk_pattern *));
    st = wanted ? local_ranks_of(g, m, &a, room) : SK_NOMEM;
    for (int i = 0; i < a.n && st == SK_OK; i++)
        wanted[i] = by_rank[m->order[m->node_first[node] + i]];
    if (st == SK_OK)
        st = sk_node_fill(m, o->idle, &a, wanted);
    for (int i = 0; i < a.n && st == SK_OK; i++)
        st = wanted[i] ? sk_pattern_freeze(wanted[i]) : SK_OK;
    free(wanted);
    sk_local_ranks_drop(&a);
    return st;
}

static sk_status plan(const sk_global_graph *g, const sk_machine *m, const sk_pattern_opts *o,
                      const int *ranks, int n, sk_pattern **out)
{
    size_t nranks = (size_t)m->nranks;
    int *room = malloc(nranks * sizeof *room);
    sk_pattern **by_rank = calloc(nranks, sizeof(sk_pattern *));
    bool *has = calloc((size_t)m->nnodes, sizeof *has); /* nodes with ranks that are asked for */
    sk_status st = room && by_rank && has ? SK_OK : SK_NOMEM;
    for (int i = 0; i < n && st == SK_OK; i++) {
        by_rank[ranks[i]] = sk_pattern_new(m->nranks, ranks[i]);
        st = by_rank[ranks[i]] ? SK_OK : SK_NOMEM;
        has[m->node[ranks[i]]] = true;
    }
    for (int node = 0; node < m->nnodes && st == SK_OK; node++)
        if (has[node])
            st = plan_node(g, m, o, node, room, by_rank);
    for (int i = 0; i < n && by_rank; i++) {
        if (st == SK_OK)
            out[i] = by_rank[ranks[i]];
        else
            sk_pattern_free(by_rank[ranks[i]]);
    }
    free(room);
    free(by_rank);
    free(has);
    return st;
}

const sk_method sk_by_node = {
    .name = "node",
    .about = "one message per pair of nodes, spread over their ranks",
    .plan = plan,
    .negotiator = sk_node_negotiator,
};
