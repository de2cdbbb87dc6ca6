/* mutate.h: the schedules of a case, with one mistake in them. */
#ifndef VERIFY_MUTATE_H
#define VERIFY_MUTATE_H

#include "trail.h"
#include "world.h"

typedef enum mutation {
    MUT_NONE,        /* no mistake: rebuilding alone must change nothing */
    MUT_SPLIT,       /* no mistake: a reduction in a round of its own, through a copy */
    MUT_PEER,        /* a transfer with the wrong rank */
    MUT_FENCE,       /* two rounds run as one */
    MUT_FROM,        /* reads the element beside the right one */
    MUT_TO,          /* writes there */
    MUT_SKIP,        /* a step is missing */
    MUT_SKIP_BOTH,   /* a message is missing, send and receive */
    MUT_SHORT,       /* one element less */
    MUT_SHORT_BOTH,  /* one element less, on both sides of a message */
    MUT_SWAP,        /* reduction with its operands the wrong way round */
    MUT_KEY,         /* a packet record under the wrong key, or a range of keys cut short */
    MUT_LOCAL_RANKS, /* local ranks: one fewer is combined or waited for */
    MUT_COUNT
} mutation;

extern const char *const mutation_name[MUT_COUNT];

/* Would this change what the schedules do? False where the mistake cannot be made, or is none: a
 * fence between rounds that do not touch each other's memory, operands that commute, bytes that the
 * receiver had already or never looks at. `t` is the trail of a run of these schedules, and `w`
 * where they ran. */
bool mutation_applies(const world *w, sk_sched *const *scheds, const trail *t, mutation m, int rank,
                      uint32_t step);

/* All schedules anew, with the mistake at this step of this rank. NULL: the mistake breaks a rule
 * that every schedule must keep, and freeze refused it. Free with scheds_free. */
sk_sched **mutate(const scene *sc, sk_sched *const *scheds, mutation m, int rank, uint32_t step);

#endif
