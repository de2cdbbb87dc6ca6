/* predict.c: what the predictors of all methods share. */
#include "neighbor/cost/predict.h"

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
    return s;
}

bool sk_predict(sk_method_id method, const sk_machine *m, const sk_graph_size *g,
                const sk_pattern_opts *o, sk_load *out)
{
    const sk_method *by = sk_method_get(method);
    sk_load load = {0};
    if (!by->predict)
        return false;
    if (g->edges > 0) {
        sk_prediction p = {0};
        sk_problem_shape s = shape_of(m, g, o);
        by->predict(&p, &s);
        load.stages = sk_predict_ceil(p.stages);
        load.net_stages = p.net_stages > 0         ? sk_predict_ceil(p.net_stages)
                          : p.messages[SK_NET] > 0 ? load.stages
                                                   : 0;
        for (int l = 0; l < SK_NLEVELS; l++) {
            load.messages[l] = sk_predict_ceil(p.messages[l]);
            load.allgather_blocks[l] = sk_predict_ceil(p.allgather_blocks[l]);
            load.alltoall_blocks[l] = sk_predict_ceil(p.alltoall_blocks[l]);
        }
    }
    *out = load;
    return true;
}
