/* gather.h: inside of the accelerated set-up: what leaders keep and do. */
#ifndef SK_GATHER_H
#define SK_GATHER_H

#include "neighbor/method.h"

/* Phases: local ranks go from TARGETS to PATTERNS, leaders from TARGETS to ROUND, ROUND + 1, ... */
enum { TARGETS, PATTERNS, ROUND };

typedef struct gather_words {
    int32_t *words;
    size_t n;
} gather_words;

typedef struct gather_negotiator {
    sk_negotiator negotiator;
    const sk_graph *g;
    const sk_machine *m;
    sk_pattern_opts opts;
    unsigned methods;
    int64_t edges;

    /* Leaders only. */
    int missing;               /* local ranks not heard of */
    gather_words *local_ranks; /* their targets, as rank sets */
    sk_global_graph *whole;
    int *room;          /* for one set */
    int32_t *known;     /* a word for the phase, then the sets of my node and of those after it */
    size_t used, cap;   /* words in it, and room for */
    size_t *ends;       /* words up to the end of the i-th node in it */
    int nknown;         /* nodes in it */
    sk_pattern **plans; /* [method][local rank] */
} gather_negotiator;

sk_status sk_gather_lead(gather_negotiator *p); /* makes it a leader */
void sk_gather_free(sk_negotiator *p);

/* The targets of a local rank, or of the leader as local rank 0. When all are there they are joined: local ranks are
 * heard in any order, but stand in the machine's. */
sk_status sk_gather_keep(gather_negotiator *p, int local_rank, const int32_t *words, size_t n);
sk_status sk_gather_join(gather_negotiator *p);

/* The targets of a node's ranks, which stand at the head of the words, into the whole graph.
 * `pass_on`: they are needed for a later round. */
sk_status sk_gather_read(gather_negotiator *p, int node, bool pass_on, const int32_t *words,
                         size_t n, size_t *used);

/* The patterns of my node, mine into negotiator.made; those of a local rank as a message. */
sk_status sk_gather_plan(gather_negotiator *p);
sk_status sk_gather_pack(const gather_negotiator *p, int local_rank, int32_t **words, size_t *n);

#endif
