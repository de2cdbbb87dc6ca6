/* learn.h: SKEIN_LEARN: what the comparisons of a job found (select/guard.h) becomes a tuning file. */
#ifndef SK_LEARN_H
#define SK_LEARN_H

#include "mpi/dispatch/args.h"
#include "select/guard.h"

/* A call that is compared: as a tuning file has it, and by which algorithms. */
typedef struct sk_learn_call {
    bool known; /* else it is nothing for a tuning file, or nobody wants to know */
    sk_tuned as;
    const sk_algo *algo[SK_GUARD_SIDES];
} sk_learn_call;
sk_learn_call sk_learn_about(sk_comm *c, const sk_args *a);

/* A comparison of such calls has ended. One rank of the communicator keeps its times. */
void sk_learn_comparison(const sk_guard *g, const sk_learn_call *call);

/* In MPI_Finalize: rank 0 gets the times of all ranks and merges them with the file. Collective. */
void sk_learn_finish(void);

/* The shapes of all calls that were planned, for the report: sk_proc.shapes. */
void sk_learn_shape(const sk_call *call, const sk_plan *plan);

/* Those of all ranks at rank 0, as the elements of a JSON array, to be freed; else NULL. Collective. */
char *sk_learn_shapes(void);

#endif
