/* local_bays.h: the bays of one run over the in-process wire, and who did what with them. */
#ifndef SK_LOCAL_BAYS_H
#define SK_LOCAL_BAYS_H

#include "lab/inproc/inproc_inner.h"

/* Turns are the same at all mates, or the run is refused. */
typedef struct local_node {
    const int *mates; /* ranks */
    int n;
    const sk_turn_room *turns;
    uint32_t nturns;
    int64_t *first;           /* of each turn, and the end: where its bays start, in all bays */
    unsigned char *opened;    /* [turn * n + mate] */
    unsigned char *published; /* the same */
    unsigned char *seen;      /* [(turn * n + by) * n + mate]: awaited it */
    sk_part *joined;          /* [turn], in bays */
    int *joins;               /* [turn], how many mates did */
} local_node;

typedef struct exposure {
    const void *place;
    const char *at;
    int64_t len;
} exposure;

typedef struct local_turns {
    local_node *nodes;
    int nnodes;
    char *bays;
    int64_t bytes;
    uint16_t *writer; /* of each byte of bays: mate + 1; 0: nobody */
    exposure *exposed;
    int64_t nexposed, exposed_cap;
    bool own; /* the memory of the bays */
} local_turns;

int64_t sk_local_bay_stride(int64_t room);

/* The turns of a node: those of a mate that has a part in all of them, if one has. `view`: of a
 * rank. */
typedef const struct sk_sched_view *sk_local_view(const void *of, int rank);
const struct sk_sched_view *sk_local_turns_of(const sk_machine *m, int node, sk_local_view *view,
                                              const void *of);
sk_local_view sk_local_run_view; /* of an array of runs */

/* Where the bay of a mate, or of n, the common one, stands. */
static inline char *sk_local_bay_at(const local_turns *t, const local_node *n, uint32_t turn,
                                    int mate)
{
    return t->bays + n->first[turn] + mate * sk_local_bay_stride(n->turns[turn].room);
}

/* NULL when out of memory. */
local_turns *sk_local_turns_new(const sk_machine *m, const sk_run *runs, void *memory);
void sk_local_turns_free(local_turns *t);

#endif
