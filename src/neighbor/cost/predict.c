/* predict.c: what the predictors of all methods share. */
#include "neighbor/cost/predict.h"

#include <stdlib.h>

double sk_predict_ratio(double a, double b)
{
    return b > 0 ? (a < b ? a / b : 1) : 0;
}

double sk_predict_any_of(double k, double delta)
{
    double none = 1, base = 1 - delta;
    for (int64_t e = (int64_t)(k + 0.5); e > 0; e /= 2, base *= base)
        none *= e % 2 ? base : 1;
    return 1 - none;
}

int64_t sk_predict_ceil(double x)
{
    int64_t whole = (int64_t)x;
    return whole + (x - (double)whole > 1e-9);
}

void sk_prediction_add(sk_prediction *p, sk_level level, double messages, double allgather,
                       double alltoall)
{
    p->messages[level] += messages;
    p->allgather_blocks[level] += allgather;
    p->alltoall_blocks[level] += alltoall;
}

void sk_predict_direct(sk_prediction *p, const sk_problem_shape *s)
{
    for (int l = 0; l < SK_NLEVELS; l++) {
        double targets = (double)s->g->most * s->part[l];
        sk_prediction_add_both(p, (sk_level)l, targets, targets, targets);
    }
    p->stages = 1;
    p->net_stages = s->part[SK_NET] > 0;
    p->intra_stages = s->part[SK_NET] < 1;
    p->even = sk_predict_ratio(s->degree, (double)s->g->most);
}

/* ---- on how many nodes ---- */

enum { BITS = 64 };

sk_reach sk_reach_of(const int *targets, int n, const sk_machine *m, int rank)
{
    sk_reach reach = {0};
    unsigned char *seen = calloc((size_t)m->nnodes, 1);
    for (int i = 0; i < n && seen; i++) {
        int distance = (m->node[targets[i]] - m->node[rank] + m->nnodes) % m->nnodes;
        uint32_t mixed = (uint32_t)distance * 2654435761u;
        if (distance == 0 || seen[distance])
            continue;
        seen[distance] = 1;
        reach.nodes++;
        reach.distances |= (uint64_t)1 << (m->nnodes <= BITS ? (uint32_t)distance : mixed >> 26);
    }
    free(seen);
    return reach;
}

/* So many things were dealt at random to BITS bits, if so many of these are set; 0: all are, and nobody knows. */
static int64_t dealt_to(int set)
{
    double n = 0;
    for (int i = 0; i < set && set < BITS; i++)
        n += (double)BITS / (BITS - i);
    return (int64_t)(n + 0.5);
}

void sk_reach_sum(const sk_reach *of, const sk_machine *m, sk_graph_size *out)
{
    bool known = true;
    out->reached = out->peers = 0;
    for (int node = 0; node < m->nnodes; node++) {
        uint64_t distances = 0;
        for (int i = m->node_first[node]; i < m->node_first[node + 1]; i++) {
            distances |= of[m->rank_at[i]].distances;
            out->reached += of[m->rank_at[i]].nodes;
        }
        int set = __builtin_popcountll(distances);
        int64_t peers = m->nnodes <= BITS ? set : dealt_to(set);
        known &= peers > 0 || set == 0;
        out->peers += peers < m->nnodes ? peers : m->nnodes - 1;
    }
    out->peers = known ? out->peers : 0;
}

static sk_problem_shape shape_of(const sk_machine *m, const sk_graph_size *g,
                                 const sk_pattern_opts *o)
{
    sk_problem_shape s = {.g = g,
                          .o = o,
                          .n = m->nranks,
                          .nodes = m->nnodes,
                          .sockets = m->nsockets,
                          .on_node = m->max_per_node,
                          .on_socket = m->max_per_socket,
                          .degree = (double)g->edges / m->nranks};
    s.least_on_node = s.on_node;
    for (int i = 0; i < m->nnodes; i++) {
        int on = m->node_first[i + 1] - m->node_first[i];
        s.least_on_node = on < s.least_on_node ? on : s.least_on_node;
    }
    double pairs[SK_NLEVELS] = {s.on_socket - 1, s.on_node - s.on_socket, s.n - s.on_node};
    for (int l = 0; l < SK_NLEVELS; l++) {
        s.delta[l] = sk_predict_ratio((double)g->intra[l] / s.n, pairs[l]);
        s.part[l] = (double)g->intra[l] / (double)g->edges;
    }
    s.all = sk_predict_ratio(s.degree, s.n - 1);
    s.reach = g->reached > 0 ? (double)g->reached / s.n
                             : (s.nodes - 1) * sk_predict_any_of(s.on_node, s.delta[SK_NET]);
    s.peers = g->peers > 0
                  ? (double)g->peers / s.nodes
                  : (s.nodes - 1) * sk_predict_any_of(s.on_node * s.least_on_node, s.delta[SK_NET]);
    return s;
}

static double allgather_copies(const sk_prediction *p)
{
    double read = (p->allgather_blocks[SK_SOCKET] + p->allgather_blocks[SK_NODE]) / 2,
           held = p->intra_stages * (1 + p->allgather_blocks[SK_NET] / 2);
    return p->allgather_copies > 0 ? p->allgather_copies : read + (held < read ? held : read);
}

/* Of the longest message inside the node: about twice the mean, and some more where that is small. */
static int64_t longest(const double *blocks, const double *messages)
{
    double all = blocks[SK_SOCKET] + blocks[SK_NODE], n = messages[SK_SOCKET] + messages[SK_NODE];
    return n > 0 ? sk_predict_ceil(2 * all / n + 3) : 0;
}

/* The rank that was predicted, rounded up. */
static sk_load load_of(const sk_prediction *p, int nranks)
{
    sk_load load = {.stages = sk_predict_ceil(p->stages),
                    .net_stages = sk_predict_ceil(p->net_stages),
                    .intra_stages = sk_predict_ceil(p->intra_stages)};
    double messages = 0;
    for (int l = 0; l < SK_NLEVELS; l++) {
        load.messages[l] = sk_predict_ceil(p->messages[l]);
        load.allgather_blocks[l] = sk_predict_ceil(p->allgather_blocks[l]);
        load.alltoall_blocks[l] = sk_predict_ceil(p->alltoall_blocks[l]);
        messages += p->messages[l];
    }
    load.most_messages = sk_predict_ceil(messages);
    load.max_intra_allgather_blocks = longest(p->allgather_blocks, p->messages);
    load.max_intra_alltoall_blocks = longest(p->alltoall_blocks, p->messages);
    load.slot_places = p->slot_places > 0 ? sk_predict_ceil(p->slot_places) : nranks;
    load.alltoall_copies = load.alltoall_blocks[SK_SOCKET] + load.alltoall_blocks[SK_NODE];
    load.allgather_copies = sk_predict_ceil(allgather_copies(p));
    return load;
}

static sk_volume volume_of(const sk_prediction *p, const sk_load *load, int nranks)
{
    double all = p->even * nranks, half = all / 2;
    return (sk_volume){.messages = sk_predict_ceil(p->messages[SK_NET] * half),
                       .allgather_blocks = sk_predict_ceil(p->allgather_blocks[SK_NET] * half),
                       .alltoall_blocks = sk_predict_ceil(p->alltoall_blocks[SK_NET] * half),
                       .allgather_copies = sk_predict_ceil((double)load->allgather_copies * all),
                       .alltoall_copies = sk_predict_ceil((double)load->alltoall_copies * all)};
}

bool sk_predict(sk_method_id method, const sk_machine *m, const sk_graph_size *g,
                const sk_pattern_opts *o, sk_load *out)
{
    const sk_method *by = sk_method_get(method);
    sk_load load = {0};
    if (!by->predict)
        return false;
    if (g->edges > 0) {
        sk_prediction p = {.even = 1};
        sk_problem_shape s = shape_of(m, g, o);
        by->predict(&p, &s);
        load = load_of(&p, m->nranks);
        load.all = volume_of(&p, &load, m->nranks);
    }
    *out = load;
    return true;
}

bool sk_predict_pays(sk_method_id method, const sk_model *model, const sk_machine *m,
                     const sk_graph_size *g, const sk_pattern_opts *o, bool distinct, int64_t bytes)
{
    sk_load direct, load;
    return sk_predict(SK_METHOD_DIRECT, m, g, o, &direct) && sk_predict(method, m, g, o, &load) &&
           sk_price(model, m, &load, distinct, bytes) <
               SK_WORTHWHILE * sk_price(model, m, &direct, distinct, bytes);
}
