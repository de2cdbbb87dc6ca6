/* spread.c: a block crosses the network once for each node, to one of its targets there, which hands it on.
 *
 *   stage 0 ...   from the source to its entry on another node, in parts by the distance of the nodes
 *   stage 1 ...   inside the node: from the entry to the other targets, one stage after it arrived
 *
 * Blocks inside a node go straight to their targets in stage 0. Entries differ from source to source, so all
 * ranks of a node receive. Nothing is packed by ranks that have no use for it: an entry is a target itself,
 * and while one part crosses the network, the part before it is handed on.
 *
 * cost      a message for each rank and node with targets, and one inside the node for each other target; a
 *           block that many ranks of a node want is received by the node once
 * rounds    PARTS + 1
 * scratch   none: allgather; alltoall: the blocks that are handed on
 * good for  long blocks, many neighbours: when bytes are the limit
 * set-up    as `node` */
#include <stdlib.h>

#include "neighbor/cost/predict.h"
#include "neighbor/method/node/pairs.h"

/* Only the first part's way through the network and the last one's through memory do not overlap. Each part
 * costs the ranks another wait for each other. */
enum { PARTS = 4 };

static int parts_of(int nodes)
{
    return nodes - 1 < PARTS ? nodes - 1 : PARTS;
}

static int by_source(const void *pa, const void *pb)
{
    const sk_block *a = pa, *b = pb;
    return a->src != b->src ? (a->src > b->src) - (a->src < b->src)
                            : (a->dst > b->dst) - (a->dst < b->dst);
}

/* `n` blocks of one source to a node. The entries of consecutive sources are different. */
static void fill_source(const sk_node_fill *f, const sk_node_pair *p, const sk_block *blocks, int n)
{
    int stage = p->distance * parts_of(f->m->nnodes) / (f->m->nnodes - 1);
    int entry = blocks[(f->m->local_rank[blocks->src] + p->distance) % n].dst;
    for (int i = 0; i < n; i++) {
        sk_pair_hop(f, stage, blocks->src, entry, blocks[i]);
        sk_pair_hop(f, stage + 1, entry, blocks[i].dst, blocks[i]);
    }
}

static sk_status fill_pair(const sk_node_fill *f, const sk_node_pair *p)
{
    qsort(p->blocks, p->n, sizeof *p->blocks, by_source);
    for (size_t i = 0, n; i < p->n; i += n) {
        for (n = 1; i + n < p->n && p->blocks[i + n].src == p->blocks[i].src;)
            n++;
        fill_source(f, p, &p->blocks[i], (int)n);
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
    return sk_pairs_negotiator(g, m, o, SK_METHOD_SPREAD, fill_pair);
}

/* A rank sends one message to each node where it has targets; the entry hands it on to the
 * other targets. Each rank is an entry as often as any. */
static void predict(sk_prediction *d, const sk_problem_shape *s)
{
    if (s->nodes == 1) {
        sk_predict_direct(d, s);
        return;
    }
    double sent = s->reach, all = (s->n - s->on_node) * s->delta[SK_NET],
           passed = all > sent ? all - sent : 0;
    double near = sk_predict_ratio(s->on_socket - 1, s->on_node - 1);
    sk_prediction_add_both(d, SK_NET, sent, sent, all);
    for (int l = SK_SOCKET; l <= SK_NODE; l++) {
        double straight =
            s->delta[l] * (l == SK_SOCKET ? s->on_socket - 1 : s->on_node - s->on_socket);
        double part = l == SK_SOCKET ? near : 1 - near, parts = parts_of((int)s->nodes);
        /* The blocks of a part to one rank of the node are one message. */
        double peers = part * (s->on_node - 1),
               each = sk_predict_ratio(passed * part, parts * peers) > 0
                          ? passed * part / (parts * peers)
                          : 0;
        double messages = parts * peers * (each < 1 ? each : 1);
        sk_prediction_add_both(d, (sk_level)l, straight + messages, straight + passed * part,
                               straight + passed * part);
    }
    d->net_stages = parts_of((int)s->nodes);
    d->stages = d->net_stages + (s->on_node > 1);
    d->intra_stages = s->on_node > 1 ? d->stages : 0;
}

const sk_method sk_method_spread = {
    .name = "spread",
    .plan = plan,
    .negotiator = negotiator,
    .predict = predict,
};
