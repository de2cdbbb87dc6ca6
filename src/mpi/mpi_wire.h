/* mpi_wire.h: the wire made of the host's point-to-point messages and, where local ranks share
 * memory, of a board. */
#ifndef SK_MPI_WIRE_H
#define SK_MPI_WIRE_H

#include "base/hot.h"
#include "exec/kernel.h"
#include "exec/wire.h"
#include "mpi/hint.h"
#include "mpi/process.h"
#include "shm/shm.h"
#include "topo/machine.h"

/* What becomes of a receive when it is over. */
typedef struct sk_landing {
    int64_t *got; /* where to put the length received, or NULL */
    char *bytes;  /* received packed, to be unpacked to `to`; or NULL */
    sk_part to;
} sk_landing;

typedef struct sk_mpi_wire {
    sk_wire base;
    MPI_Comm comm;
    int tag;
    sk_hint hint; /* of its messages */
    MPI_Op op;
    sk_kernel_fn *kernel; /* of the operation; NULL: the host must reduce */
    const sk_type *types; /* layouts, and the handles behind them; [0] is the byte */
    const MPI_Datatype *handles;
    MPI_Request *reqs; /* room for the largest round */
    MPI_Status *statuses;
    sk_landing *landing; /* one per request */
    int nreqs;
    int error; /* first MPI error */

    sk_shm *shm;           /* NULL: schedules without epochs only */
    const int *local_rank; /* of each rank on its node */
    const sk_epoch_room *epochs;
    uint32_t placed; /* epochs of the schedule that the board knows */
    uint32_t sign;   /* of the plan */
    bool contig;     /* so are all types */
} sk_mpi_wire;

extern const sk_wire_ops sk_mpi_wire_ops;

/* The host's own waiting is the cheapest, when nothing else needs progress meanwhile and the host
 * gives the core away by itself, or need not. */
bool sk_host_may_wait(void);

/* Bytes of reqs + statuses + landing for rounds of at most n transfers, and their layout in `room`.
 */
size_t sk_mpi_wire_bytes(uint32_t n);
void sk_mpi_wire_room(sk_mpi_wire *w, void *room, uint32_t n);

/* The epochs of a schedule go over this board: see shm_wire.c. `sign`: of the plan. */
void sk_mpi_wire_shm(sk_mpi_wire *w, sk_shm *b, const sk_machine *m, const struct sk_sched_view *v,
                     uint32_t sign);
SK_HOT void sk_mpi_wire_begin(sk_mpi_wire *w); /* a run begins */

#endif
