/* predict.h: the load of a pattern before it is made, from the numbers of ranks and edges alone.
 *
 * The method is that of equations 1 to 3 of the distance-halving paper. Edges are assumed to be spread
 * at random between ranks that are equally near: all that is known is how many there are per level of
 * the machine. Then a rank has a target among k ranks with probability 1 - (1 - delta)^k. The counts
 * are those of a busy rank: for direct it has the largest degree; where only some ranks carry for
 * others it is one of these; a part of a message counts as one message.
 *
 * All ranks must compute the same numbers. So only + - * / are used, and no function of libm. */
#ifndef SK_PREDICT_H
#define SK_PREDICT_H

#include "neighbor/cost/model.h"
#include "neighbor/method.h"

typedef struct sk_graph_size { /* agreed by all ranks */
    int64_t edges;             /* pairs in all */
    int64_t most;              /* largest number of sources or targets of a rank */
    int64_t intra[SK_NLEVELS]; /* pairs by level */
} sk_graph_size;

/* The expected load of the busiest rank. False: the method has no predictor. */
bool sk_predict(sk_method_id method, const sk_machine *m, const sk_graph_size *g,
                const sk_pattern_opts *o, sk_load *out);

/* ---- for the predictors of the methods ---- */

typedef struct sk_prediction { /* an sk_load before it is rounded up */
    double stages, net_stages; /* the latter 0: all of them, if there are messages between nodes */
    double messages[SK_NLEVELS], allgather_blocks[SK_NLEVELS], alltoall_blocks[SK_NLEVELS];
} sk_prediction;

typedef struct sk_problem_shape {
    const sk_graph_size *g;
    const sk_pattern_opts *o;
    double n, nodes, sockets;  /* how many */
    double on_node, on_socket; /* ranks on the fullest one */
    double least_on_node;      /* ranks on the emptiest node */
    double degree;
    double delta[SK_NLEVELS], all; /* density of edges between ranks of a level, and of any */
    double part[SK_NLEVELS];       /* of the edges, by level */
} sk_problem_shape;

/* One message per edge: what other methods come to where there is nothing to combine. */
void sk_predict_direct(sk_prediction *p, const sk_problem_shape *s);

void sk_prediction_add(sk_prediction *p, sk_level level, double messages, double allgather,
                       double alltoall);

/* The same for sends and for receives. */
static inline void sk_prediction_add_both(sk_prediction *p, sk_level level, double messages,
                                          double allgather, double alltoall)
{
    sk_prediction_add(p, level, 2 * messages, 2 * allgather, 2 * alltoall);
}

double sk_predict_any_of(double k, double delta); /* 1 - (1 - delta)^k: at least one of k */
double sk_predict_ratio(double a, double b);      /* a / b, between 0 and 1; 0 when b is 0 */
int64_t sk_predict_ceil(double x);

#endif
