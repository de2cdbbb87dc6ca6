/* mpi_wire.h: the wire made of the host's point-to-point messages and, where local ranks share
 * memory, of the node's shared memory. */
#ifndef SK_MPI_WIRE_H
#define SK_MPI_WIRE_H

#include "base/attr.h"
#include "coll/call.h"
#include "exec/kernel.h"
#include "exec/wire.h"
#include "mpi/state/process.h"
#include "mpi/transport/hint.h"
#include "shm/shm.h"
#include "topo/machine.h"

/* What to do when a receive completes. */
typedef struct sk_recv_target {
    int64_t *got;   /* where to store the length received, or NULL */
    int64_t expect; /* the length it must have, or -1 */
    char *bytes;    /* received packed, to be unpacked to `to`; or NULL */
    sk_part to;
} sk_recv_target;

typedef struct sk_mpi_wire {
    sk_wire base;
    MPI_Comm comm;
    const int *peers; /* the rank of each peer in `comm`; NULL: the same */
    int tag;
    sk_hint hint; /* of its messages */
    MPI_Op op;
    sk_kernel_fn *kernel; /* of the operation; NULL: the host must reduce */
    const sk_type *types; /* layouts and their handles; [0] is the byte */
    const MPI_Datatype *handles;
    MPI_Request *reqs; /* enough for the largest round */
    MPI_Status *statuses;
    sk_recv_target *targets; /* one per request */
    int nreqs;
    bool receives; /* some of them are receives */
    bool exact;    /* a shorter message than expected is an error, too */
    int error;     /* first MPI error */

    sk_shm *shm;           /* NULL: schedules without epochs only */
    const int *local_rank; /* of each rank on its node */
    const sk_epoch_info *epochs;
    uint32_t placed;    /* epochs of the schedule announced to the shared memory */
    uint32_t signature; /* signature of the plan */
    bool contig;        /* all types are */
    bool in_lines;      /* see sk_one_epoch_fits */
} sk_mpi_wire;

/* A part as MPI wants it: count x type. Contiguous parts are sent as bytes, so they can be cut
 * anywhere. A count beyond int becomes one element of a type made for it. An empty part is sent as
 * no bytes: MPICH 4.0.2 divides by the size of a type, so the host never sees a type of size zero. */
typedef struct sk_mpi_shape {
    void *at;
    int count;
    MPI_Datatype type;
    bool made;
} sk_mpi_shape;

int sk_mpi_shape_readable(sk_mpi_shape *s); /* where the host would misread the address */
void sk_mpi_shape_drop(sk_mpi_shape *s);

extern const sk_wire_ops sk_mpi_wire_ops;

/* Must messages of this plan have the lengths that their receivers expect? */
bool sk_mpi_wire_exact(sk_coll coll);

/* Bytes of reqs + statuses + targets for rounds of at most n transfers, and their layout in `memory`.
 */
size_t sk_mpi_wire_bytes(uint32_t n);
void sk_mpi_wire_set_arrays(sk_mpi_wire *w, void *memory, uint32_t n);

/* Run the epochs of a schedule in this shared memory: see shm_wire.c. `signature`: of the plan. */
void sk_mpi_wire_shm(sk_mpi_wire *w, sk_shm *b, const sk_machine *m, const struct sk_sched_view *v,
                     uint32_t signature);
SK_HOT void sk_mpi_wire_begin(sk_mpi_wire *w); /* a run begins */

#endif
