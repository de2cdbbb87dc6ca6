/* node.c: blocks for the same node are sent in one combined message per pair of nodes.
 *
 *   stage 0  inside the node: to the carrier of the pair, and directly to neighbours on the same node
 *   stage 1  from the carrier to the entry of the pair, all blocks in one message
 *   stage 2  inside the node: from the entry to the destinations
 *
 * Carriers and entries are spread over the ranks of a node, so there is no leader to wait for.
 *
 * cost      at most one message per pair of nodes over the network: about (nodes - 1) / (ranks per node)
 *           sent and received by each rank, and up to 2 (ranks per node - 1) inside each direction; every
 *           block crosses the network once
 * rounds    3
 * scratch   the combined blocks
 * good for  short blocks, many neighbours, many ranks per node: when CPU per message is the limit
 * set-up    two messages between any two ranks of a node, none over the network */
#include "neighbor/cost/predict.h"
#include "neighbor/method/node/pairs.h"

/* Carrier and entry of a pair of nodes depend only on the blocks between the two. So both nodes compute
 * the same, each from the neighbours of its own ranks. The distance of a pair is the difference of the
 * nodes' numbers. Pairs are assigned by distance to the ranks of a node in turn: carriers from the first
 * rank upwards, entries from the last downwards, so that neither the many pairs of a large machine nor
 * the few of a small one pile up on some ranks. A rank that is the only source is the carrier itself, the
 * only destination the entry itself: that saves a hop. */

/* The rank of a node, among those that are not idle, that serves pairs of this distance; -1: all are
 * idle. */
static int assign(const sk_node_fill *f, int node, int distance, bool from_end)
{
    const sk_machine *m = f->m;
    const int *ranks = &m->rank_at[m->node_first[node]];
    int n = m->node_first[node + 1] - m->node_first[node], busy = 0;
    for (int i = 0; i < n; i++)
        busy += !(f->idle && f->idle[ranks[i]]);
    if (busy == 0)
        return -1;
    int skip = from_end ? busy - 1 - distance % busy : distance % busy;
    for (int i = 0;; i++)
        if (!(f->idle && f->idle[ranks[i]]) && skip-- == 0)
            return ranks[i];
}

static sk_status fill_pair(const sk_node_fill *f, const sk_node_pair *p)
{
    bool one_src = true, one_dst = true;
    for (size_t i = 1; i < p->n; i++) {
        one_src &= p->blocks[i].src == p->blocks[0].src;
        one_dst &= p->blocks[i].dst == p->blocks[0].dst;
    }
    int carrier = one_src ? p->blocks[0].src : assign(f, p->from, p->distance, false);
    int entry = one_dst ? p->blocks[0].dst : assign(f, p->to, p->distance, true);
    if (carrier < 0 || entry < 0)
        return SK_BADARG; /* a rank with neighbours was called idle */
    for (size_t i = 0; i < p->n; i++) {
        sk_block block = p->blocks[i];
        if (p->from == f->node)
            sk_pair_hop(f, 0, block.src, carrier, block);
        sk_pair_hop(f, 1, carrier, entry, block);
        if (p->to == f->node)
            sk_pair_hop(f, 2, entry, block.dst, block);
    }
    return SK_OK;
}

static sk_status plan(const sk_global_graph *g, const sk_machine *m, const sk_pattern_opts *o,
                      const int *ranks, int n, sk_pattern **out)
{
    return sk_pairs_plan(g, m, o, ranks, n, fill_pair, out);
}

static sk_negotiator *negotiator(const sk_graph *g, const sk_machine *m, const sk_pattern_opts *o)
{
    return sk_pairs_negotiator(g, m, o, SK_METHOD_NODE, fill_pair);
}

/* ---- prediction ---- */

/* Adds messages between ranks of a node, spread over its sockets as the ranks are. */
static void add_intra(sk_prediction *d, const sk_problem_shape *s, double messages,
                      double allgather, double alltoall)
{
    double intra = sk_predict_ratio(s->on_socket - 1, s->on_node - 1);
    if (s->on_node < 2)
        return;
    sk_prediction_add(d, SK_SOCKET, intra * messages, intra * allgather, intra * alltoall);
    sk_prediction_add(d, SK_NODE, (1 - intra) * messages, (1 - intra) * allgather,
                      (1 - intra) * alltoall);
}

/* Carriers and entries are assigned to the ranks of a node in turn: a busy rank serves as many pairs of
 * nodes as any, and as an entry rather than as a carrier, since an entry sends different blocks to each
 * rank of its node. With one node there is nothing to combine. */
static void predict(sk_prediction *d, const sk_problem_shape *s)
{
    if (s->nodes == 1) {
        sk_predict_direct(d, s);
        return;
    }
    double local_ranks = s->on_node - 1, others = s->peers;
    double far = sk_predict_ratio(s->delta[SK_NET] * (s->nodes - 1), others); /* of peers */
    double in = sk_predict_ratio(s->delta[SK_SOCKET] * (s->on_socket - 1) +
                                     s->delta[SK_NODE] * (s->on_node - s->on_socket),
                                 local_ranks);
    double wanted = sk_predict_ratio(s->reach, others); /* a rank has targets on a given peer */
    double helpers = sk_predict_ratio(others, s->on_node),
           each = helpers < 1 ? 1 : others / s->on_node;
    double asked = sk_predict_any_of(each, wanted); /* a rank has something for a given carrier */
    double pairs = (double)sk_predict_ceil(2 * others / s->on_node);
    double entries = (double)sk_predict_ceil(pairs / 2), carries = pairs - entries;

    double sent = local_ranks * (1 - (1 - in) * (1 - helpers * asked)), inner = local_ranks * in;
    double outer = (s->n - s->on_node) * s->delta[SK_NET], passed = local_ranks * s->on_node * far;
    double helped = local_ranks * asked * ((entries > 0) + (carries > 0));
    add_intra(d, s, sent + inner + local_ranks * helpers * asked + helped,
              sent + inner + outer + entries * passed + (carries > 0) * local_ranks * asked,
              2 * inner + 2 * outer + pairs * passed);
    /* Where a node has fewer ranks, each serves more pairs, with fewer blocks in each. */
    sk_prediction_add(d, SK_NET, (double)sk_predict_ceil(2 * others / s->least_on_node),
                      pairs * s->on_node * wanted, pairs * s->on_node * s->on_node * far);
    /* Each block that it wants, and those of the ranks that it carries for, are read; what it is an entry for is written. */
    d->allgather_copies =
        inner + outer + (carries > 0) * local_ranks * asked + 1 + entries * s->on_node * wanted;
    d->slot_places = s->on_node * (double)sk_predict_ceil(others / s->on_node);
    d->stages = local_ranks > 0 ? 3 : 2;
    d->net_stages = 1;
    d->intra_stages = local_ranks > 0 ? 2 : 0;
    d->even = pairs > 0 ? 2 * others / s->on_node / pairs : 1;
}

const sk_method sk_method_node = {
    .name = "node",
    .plan = plan,
    .negotiator = negotiator,
    .predict = predict,
};
