/* predict.h: the load of a pattern before it is made, from the numbers of ranks and edges alone.
 *
 * The method is that of equations 1 to 3 of the distance-halving paper. Edges are assumed to be spread
 * at random between ranks that are equally near: all that is known is how many there are per level of
 * the machine, and on how many nodes a rank, and a node, has targets. That is far less in a grid than in a random graph. Then a rank has a target among k ranks with probability 1 - (1 - delta)^k. The counts
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
    /* How edges are bundled; 0: not known, then they are taken for random ones. */
    int64_t reached; /* other nodes where a rank has targets, the sum of all ranks */
    int64_t peers;   /* nodes where any rank of a node has targets, the sum of all nodes */
} sk_graph_size;

/* The other nodes where a rank has targets: how many, and a bit for each distance of nodes. Of more than 64 other nodes
 * several share a bit. */
typedef struct sk_reach {
    uint64_t distances;
    int64_t nodes;
} sk_reach;

sk_reach sk_reach_of(const int *targets, int n, const sk_machine *m, int rank);

/* Of all ranks, of[rank]: sets `reached` and `peers`. */
void sk_reach_sum(const sk_reach *of, const sk_machine *m, sk_graph_size *out);

/* The expected load of the busiest rank. False: the method has no predictor. */
bool sk_predict(sk_method_id method, const sk_machine *m, const sk_graph_size *g,
                const sk_pattern_opts *o, sk_load *out);

/* Is a pattern of this method expected to be worthwhile for blocks of `bytes`? */
bool sk_predict_pays(sk_method_id method, const sk_model *model, const sk_machine *m,
                     const sk_graph_size *g, const sk_pattern_opts *o, bool distinct,
                     int64_t bytes);

/* ---- for the predictors of the methods ---- */

typedef struct sk_prediction { /* an sk_load before it is rounded up */
    double stages, messages[SK_NLEVELS], allgather_blocks[SK_NLEVELS], alltoall_blocks[SK_NLEVELS];
    double net_stages, intra_stages;
    double
        allgather_copies; /* 0: half of the blocks inside the node are read, as many are written, or as
                              * many as a rank has in a stage */
    double slot_places; /* as in sk_load; 0: each rank has one */
    double even;        /* what a rank has on average, as a part of what a busy rank has */
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
    double reach, peers;           /* other nodes with targets: of a rank, of a node */
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
