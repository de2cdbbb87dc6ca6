/* shm_wire.h: the steps of an epoch in the node's shared memory, for the table of mpi_wire.c. */
#ifndef SK_SHM_WIRE_H
#define SK_SHM_WIRE_H

#include "base/attr.h"
#include "exec/run.h"
#include "mpi/transport/mpi_wire.h"

SK_HOT sk_status sk_shm_wire_open(sk_wire *w, uint32_t epoch, bool block);
SK_HOT void *sk_shm_wire_slot(sk_wire *w, uint32_t buf, int owner);
SK_HOT sk_status sk_shm_wire_post(sk_wire *w, uint32_t epoch, bool block);
void sk_shm_wire_export(sk_wire *w, sk_part what, void *handle);
SK_HOT sk_status sk_shm_wire_await(sk_wire *w, uint32_t epoch, int lo, int hi, bool block);
SK_HOT sk_status sk_shm_wire_await_rank(sk_wire *w, uint32_t epoch, int rank, bool block);
SK_HOT sk_status sk_shm_wire_fold(sk_wire *w, uint32_t epoch, int lo, int hi, sk_part slot,
                                  sk_part to);
SK_HOT sk_status sk_shm_wire_join(sk_wire *w, uint32_t epoch, sk_part slot, sk_part to, bool block);
sk_status sk_shm_wire_read(sk_wire *w, int rank, const void *handle, int64_t at, sk_part to);
sk_status sk_shm_wire_quiesce(sk_wire *w, uint32_t epoch, bool block);
SK_HOT void sk_shm_wire_release(sk_wire *w, uint32_t epochs);

/* sk_run_wait and sk_run_poll of a straight schedule. */
SK_HOT sk_status sk_shm_wire_straight(sk_run *r);
SK_HOT sk_status sk_shm_wire_straight_poll(sk_run *r);

#endif
