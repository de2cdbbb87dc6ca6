/* request_inner.h: what request.c, op_face.c and at_once.c share. */
#ifndef SK_REQUEST_INNER_H
#define SK_REQUEST_INNER_H

#include "mpi/dispatch/request.h"

void sk_op_init_run(sk_op *op);

/* Everything a run needs, in one block of memory. Takes over the caller's hold on the plan. False: out of memory. */
bool sk_op_set_plan(sk_op *op, sk_comm *c, const sk_mpi_call *call, sk_plan *plan);

/* Can a start run as far as it can at once? */
void sk_op_see_if_at_once(sk_op *op);

/* The process lock is held, if there are other threads. */
void sk_op_enter_lane(sk_op *op);
void sk_op_link_active(sk_op *op);

#endif
