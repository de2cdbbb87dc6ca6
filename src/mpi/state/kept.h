/* kept.h: what a freed communicator leaves to the next one of the same ranks in the same order: where these
 * sit, and the plans of its calls. */
#ifndef SK_KEPT_H
#define SK_KEPT_H

#include "mpi/state/comm.h"

typedef struct sk_kept {
    sk_machine *machine;
    sk_plans *plans;
    int64_t slot_capacity; /* the plans are for this */
    bool direct;
    int nranks;
    int *peers; /* as in sk_comm */
    struct sk_kept *next;
} sk_kept;

/* Move it out of an adopted communicator, which has no plans then. Takes one short lock: the host may
 * call it. */
void sk_kept_put(sk_comm *c);

/* That of these ranks, or NULL. The caller frees it, and what it does not want of it. */
sk_kept *sk_kept_take(const sk_comm *c);
void sk_kept_free(sk_kept *k);

void sk_kept_free_all(void);

#endif
