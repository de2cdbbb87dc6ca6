/* one_epoch.h: a schedule in which this rank uses one epoch, the first, and nothing else, which is what small
 * collectives are: bytes to a slot, a flag, flags and slots of others. It is done with as few instructions as
 * possible. */
#ifndef SK_ONE_EPOCH_H
#define SK_ONE_EPOCH_H

#include "base/attr.h"
#include "exec/run.h"
#include "mpi/transport/mpi_wire.h"

/* Is it such a schedule, on this wire? The wire learns whether its slots are in the lines of their flags. */
bool sk_one_epoch_fits(const struct sk_sched_view *v, sk_mpi_wire *w);

/* sk_run_wait of such a schedule. */
SK_HOT sk_status sk_one_epoch_run(const struct sk_sched_view *v, sk_mpi_wire *w, void *send,
                                  void *recv);

/* sk_mpi_wire_begin and the first sk_run_poll of such a schedule. */
SK_HOT sk_status sk_one_epoch_begin(sk_run *r);

#endif
