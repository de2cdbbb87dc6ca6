/* observe.h: with a report: every call on the timeline (report/timeline.h) and in the waits of this process
 * (report/waits.h), which rank 0 gets in MPI_Finalize. Nothing is sent before that. */
#ifndef SK_OBSERVE_H
#define SK_OBSERVE_H

#include "mpi/state/comm.h"
#include "select/plan.h"

/* At the end of MPI_Init. Collective: where there are several nodes their clocks are compared. */
void sk_observe_start(void);

/* A call is over that Skein, or the host, served since that time (sk_clock). `c`: its communicator if it blocked,
 * else NULL. Returns how long it took. */
double sk_observe_served(const sk_plan *p, sk_comm *c, double since);
double sk_observe_host(sk_comm *c, sk_coll coll, double since);

/* A nonblocking one was waited for. */
void sk_observe_wait(sk_coll coll, double since);

/* In MPI_Finalize, before the report is written: the rest of the counts; then, collective, what the ranks know, at
 * rank 0, to be freed, else NULL. */
void sk_observe_counts(void);
sk_waits_sum *sk_observe_gather(void);
void sk_observe_end(void);

#endif
