/* request_inner.h: what request.c and at_once.c share. */
#ifndef SK_REQUEST_INNER_H
#define SK_REQUEST_INNER_H

#include "mpi/dispatch/request.h"

void sk_op_init_run(sk_op *op);

/* The process lock is held, if there are other threads. */
void sk_op_enter_lane(sk_op *op);
void sk_op_link_active(sk_op *op);

#endif
