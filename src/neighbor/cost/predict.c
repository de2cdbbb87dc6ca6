/* predict.c: the load of a pattern that is not made yet, so that it is only made when it can pay.
 *
 * Edges are taken to be spread at random between ranks that are equally near: all that is known is
 * how many there are per level. Then a rank has a target among k ranks with probability
 * 1 - (1 - delta)^k. Counts are those of a busy rank: it has the largest degree for direct, carries
 * for others where only some ranks do, and what is less than one message is one. */
#include "neighbor/cost/draft.h"

static double ratio(double a, double b)
{
    return b > 0 ? (a < b ? a / b : 1) : 0;
}

static sk_size size_of(const sk_machine *m, const sk_graph_size *g, const sk_pattern_opts *o)
{
    sk_size s = {.g = g,
                 .o = o,
                 .n = m->nranks,
                 .nodes = m->nnodes,
                 .sockets = m->nsockets,
                 .on_node = m->most_on_node,
                 .on_socket = m->most_on_socket,
                 .degree = (double)g->edges / m->nranks};
    s.least_on_node = s.on_node;
    for (int i = 0; i < m->nnodes; i++) {
        int on = m->node_first[i + 1] - m->node_first[i];
        s.least_on_node = on < s.least_on_node ? on : s.least_on_node;
    }
    double pairs[SK_NLEVELS] = {s.on_socket - 1, s.on_node - s.on_socket, s.n - s.on_node};
    for (int l = 0; l < SK_NLEVELS; l++) {
        s.delta[l] = ratio((double)g->intra[l] / s.n, pairs[l]);
        s.part[l] = (double)g->intra[l] / (double)g->edges;
    }
    s.all = ratio(s.degree, s.n - 1);
    return s;
}

double sk_any_of(double k, double delta)
{
    double none = 1, base = 1 - delta;
    for (int64_t e = (int64_t)(k + 0.5); e > 0; e /= 2, base *= base)
        none *= e % 2 ? base : 1;
    return 1 - none;
}

static int64_t up(double x)
{
    int64_t whole = (int64_t)x;
    return whole + (x - (double)whole > 1e-9);
}

static int log2_up(double x)
{
    int k = 0;
    while ((double)((int64_t)1 << k) < x)
        k++;
    return k;
}

void sk_draft_add(sk_draft *d, sk_level level, double messages, double allgather, double alltoall)
{
    d->messages[level] += messages;
    d->allgather_blocks[level] += allgather;
    d->alltoall_blocks[level] += alltoall;
}

static void direct(sk_draft *d, const sk_size *s)
{
    for (int l = 0; l < SK_NLEVELS; l++) {
        double targets = (double)s->g->most * s->part[l];
        sk_draft_both(d, (sk_level)l, targets, targets, targets);
    }
    d->stages = 1;
}

/* In step t a rank holds the blocks of 2^t sources and hands on what is for the other half. In the
 * end the blocks of n / L sources have met in each rank of a socket; equation 2 has one source more
 * per step instead, which is too few. That is the mean. Some ranks serve two origins in a step,
 * when halves are uneven or agents are rare, but even these not in all: a quarter more. */
static void halving(sk_draft *d, const sk_size *s)
{
    const double busy = 1.25;
    int far = log2_up(s->nodes), steps = log2_up(s->sockets);
    double sources = 1, half = s->n / 2;
    for (int t = 0; t < steps; t++, sources *= 2, half /= 2) {
        sk_level level = t < far ? SK_NET : SK_NODE;
        double delta = s->delta[level];
        sk_draft_both(d, level, busy * sk_any_of(sources * half, delta),
                      busy * sources * sk_any_of(half, delta), busy * sources * half * delta);
    }
    double met = s->n / s->on_socket, local_ranks = s->on_socket - 1;
    double handed = local_ranks * (steps > 0 ? busy : 1) * met * s->all;
    sk_draft_both(d, SK_SOCKET, local_ranks * sk_any_of(met, s->all), handed, handed);
    d->stages = steps + 1;
}

/* What goes to or comes from local ranks, spread over sockets as the local ranks are. */
static void add_local_ranks(sk_draft *d, const sk_size *s, double messages, double allgather,
                            double alltoall)
{
    double intra = ratio(s->on_socket - 1, s->on_node - 1);
    if (s->on_node < 2)
        return;
    sk_draft_add(d, SK_SOCKET, intra * messages, intra * allgather, intra * alltoall);
    sk_draft_add(d, SK_NODE, (1 - intra) * messages, (1 - intra) * allgather,
                 (1 - intra) * alltoall);
}

/* Stage 0: to local ranks, and to the local rank that carries to a node where I have targets. Stage 1: one
 * message per pair of nodes. Stage 2: from the local rank where it entered to local ranks. Carriers and entries
 * are dealt round the ranks of a node: a busy rank has as many epochs as any, and is an entry rather
 * than a carrier, since an entry sends all its local ranks what differs from local rank to local rank. */
static void node(sk_draft *d, const sk_size *s)
{
    double local_ranks = s->on_node - 1, others = s->nodes - 1, far = s->delta[SK_NET];
    double in = ratio(s->delta[SK_SOCKET] * (s->on_socket - 1) +
                          s->delta[SK_NODE] * (s->on_node - s->on_socket),
                      local_ranks);
    double wanted = sk_any_of(s->on_node, far); /* a rank has targets on a given node, or sources */
    double helpers = ratio(others, s->on_node), each = helpers < 1 ? 1 : others / s->on_node;
    double asked = sk_any_of(each, wanted); /* a rank has something for a given carrier */
    double epochs = (double)up(2 * others / s->on_node);
    double entries = (double)up(epochs / 2), carries = epochs - entries;

    double sent = local_ranks * (1 - (1 - in) * (1 - helpers * asked)), inner = local_ranks * in;
    double outer = (s->n - s->on_node) * far, passed = local_ranks * s->on_node * far;
    double helped = local_ranks * asked * ((entries > 0) + (carries > 0));
    add_local_ranks(d, s, sent + inner + local_ranks * helpers * asked + helped,
                    sent + inner + outer + entries * passed + (carries > 0) * local_ranks * asked,
                    2 * inner + 2 * outer + epochs * passed);
    /* Where a node has fewer ranks, these have more epochs, if with less in each. */
    sk_draft_add(d, SK_NET,
                 (double)up(2 * others / s->least_on_node) *
                     sk_any_of(s->on_node * s->least_on_node, far),
                 epochs * s->on_node * wanted, epochs * s->on_node * s->on_node * far);
    d->stages = others > 0 ? (local_ranks > 0 ? 3 : 2) : 1;
}

sk_load sk_predict(sk_method_id method, const sk_machine *m, const sk_graph_size *g,
                   const sk_pattern_opts *o)
{
    static void (*const by[SK_NMETHODS])(sk_draft *, const sk_size *) = {
        [SK_BY_DIRECT] = direct,
        [SK_BY_COMMON] = sk_predict_common,
        [SK_BY_HALVING] = halving,
        [SK_BY_NODE] = node,
    };
    sk_load load = {0};
    sk_draft d = {0};
    if (g->edges <= 0)
        return load;
    /* Without other sockets or nodes these are the same as direct. */
    if ((method == SK_BY_HALVING && m->nsockets == 1) || (method == SK_BY_NODE && m->nnodes == 1))
        method = SK_BY_DIRECT;
    sk_size s = size_of(m, g, o);
    by[method](&d, &s);
    load.stages = up(d.stages);
    for (int l = 0; l < SK_NLEVELS; l++) {
        load.messages[l] = up(d.messages[l]);
        load.allgather_blocks[l] = up(d.allgather_blocks[l]);
        load.alltoall_blocks[l] = up(d.alltoall_blocks[l]);
    }
    return load;
}
