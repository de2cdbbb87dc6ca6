/* in_lines.h: one_epoch.h where the slots are in the lines of their flags, and every rank has a core: the epoch is
 * kept in registers. */
#ifndef SK_IN_LINES_H
#define SK_IN_LINES_H

#include "base/attr.h"
#include "exec/run.h"
#include "mpi/transport/mpi_wire.h"

enum { SK_IN_LINES_RANKS = 16 }; /* on this node, at most */

/* sk_one_epoch_run. */
SK_HOT sk_status sk_in_lines_run(const struct sk_sched_view *v, sk_mpi_wire *w, void *send,
                                 void *recv);

/* The steps of sk_one_epoch_begin. SK_AGAIN: some are left, and need not be in registers. */
SK_HOT sk_status sk_in_lines_begin(sk_run *r);

#endif
