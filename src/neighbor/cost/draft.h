/* draft.h: what the files predict*.c share: the size of the question, and an answer in doubles.
 * Only + - * /, and no function of the C library's mathematics, so that all ranks come to the same
 * numbers. */
#ifndef SK_DRAFT_H
#define SK_DRAFT_H

#include "neighbor/cost/predict.h"

typedef struct sk_draft { /* an sk_load before it is rounded up */
    double stages, messages[SK_NLEVELS], allgather_blocks[SK_NLEVELS], alltoall_blocks[SK_NLEVELS];
} sk_draft;

typedef struct sk_size {
    const sk_graph_size *g;
    const sk_pattern_opts *o;
    double n, nodes, sockets;  /* how many */
    double on_node, on_socket; /* the fullest */
    double least_on_node;      /* the emptiest */
    double degree;
    double delta[SK_NLEVELS], all; /* density of edges between ranks of a level, and of any */
    double part[SK_NLEVELS];       /* of the edges, by level */
} sk_size;

/* 1 - (1 - delta)^k: at least one of k. */
double sk_any_of(double k, double delta);

void sk_draft_add(sk_draft *d, sk_level level, double messages, double allgather, double alltoall);

/* As much comes in as goes out. */
static inline void sk_draft_both(sk_draft *d, sk_level level, double messages, double allgather,
                                 double alltoall)
{
    sk_draft_add(d, level, 2 * messages, 2 * allgather, 2 * alltoall);
}

void sk_predict_common(sk_draft *d, const sk_size *s);

#endif
