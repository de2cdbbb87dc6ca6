/* learn.h: SKEIN_LEARN: what the comparisons of a job found (select/guard.h) becomes a tuning file. */
#ifndef SK_LEARN_H
#define SK_LEARN_H

#include "mpi/dispatch/args.h"
#include "select/guard.h"

/* A comparison of calls like this one has ended. One rank of the communicator keeps its times. */
void sk_learn_comparison(const sk_guard *g, sk_comm *c, const sk_args *a);

/* In MPI_Finalize: rank 0 gets the times of all ranks and merges them with the file. Collective. */
void sk_learn_finish(void);

/* The shapes of all calls that were planned, for the report: sk_proc.shapes. */
void sk_learn_shape(const sk_call *call, const sk_plan *plan);

/* Those of all ranks at rank 0, as the elements of a JSON array, to be freed; else NULL. Collective. */
char *sk_learn_shapes(void);

#endif
