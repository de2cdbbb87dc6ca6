/* args.h: the arguments of an MPI call, and the sk_call made from them. */
#ifndef SK_ARGS_H
#define SK_ARGS_H

#include "exec/kernel.h"
#include "mpi/state/comm.h"

typedef struct sk_args {
    sk_coll coll;
    sk_form form;
    bool wide;  /* arrays hold MPI_Count and MPI_Aint, not int */
    bool aints; /* displacements are MPI_Aint in any case, in bytes */
    int root;
    const void *sbuf;
    void *rbuf;
    int64_t scount, rcount;
    const void *scounts, *sdispls, *rcounts, *rdispls;
    MPI_Datatype stype, rtype;
    const MPI_Datatype *stypes, *rtypes;
    MPI_Op op;
    MPI_Comm comm;
    struct sk_staging *staging; /* the buffers are copies: see staging.h */
    struct sk_guarded *timed;   /* the host's call is timed: see guarded.h */
    struct sk_op
        *also;   /* Skein's persistent request, and the host's is to be made, too: see persist.h */
    bool looked; /* it is not in the call cache */
} sk_args;

/* An sk_call, the handles behind it, and the memory it points into: this object for calls without
 * arrays, the communicator's `arrays` for calls with arrays. */
typedef struct sk_mpi_call {
    sk_call call;
    sk_type types_few[3];
    MPI_Datatype handles_few[3];
    const MPI_Datatype *handles; /* of call.types */
    void *send, *recv;           /* buffers as schedules see them */
    struct sk_staging *staging;  /* of the arguments */
    sk_own_lane own_lane;        /* of a persistent one that uses shared memory */
    sk_kernel_fn *kernel;        /* reductions; NULL: the host must reduce */
    bool own_op;                 /* reductions: an operation of the user */
    bool permanent; /* all handles are predefined: none can be freed and used for another object */
    bool
        told; /* or they are types, of which we are told that they are freed, or operations of the user */
    /* The rank's own block has two lengths: see sk_mpi_call_copy_own. `unequal`: so have all blocks of an alltoall, which
     * is an error of which the ranks of the node hear. */
    bool own_differs, unequal;
    sk_span own_from, own_to; /* if it differs */
    int64_t distance; /* of the send from the receive buffer, if this block is sent in its place */
    int error;        /* found before the run; the call ends with it */
} sk_mpi_call;

/* Which side of a collective only the root has. The standard calls that side not significant at the
 * other ranks; this is the one place that knows it. */
typedef enum sk_root_side { SK_ROOT_NEITHER, SK_ROOT_SENDS, SK_ROOT_RECEIVES } sk_root_side;

static inline sk_root_side sk_args_root_side(sk_coll coll)
{
    if (coll == SK_GATHER || coll == SK_GATHERV || coll == SK_REDUCE)
        return SK_ROOT_RECEIVES;
    return coll == SK_SCATTER || coll == SK_SCATTERV ? SK_ROOT_SENDS : SK_ROOT_NEITHER;
}

/* Each rank has a block for each. */
static inline bool sk_coll_exchanges(sk_coll coll)
{
    return coll == SK_ALLTOALL || coll == SK_ALLTOALLV || coll == SK_ALLTOALLW;
}

/* Such a call in place: all ranks are, or none. That is the standard's; a rank that passes one buffer twice is in place
 * alone. Open MPI 4.1's nonblocking ones are wrong in place. */
static inline bool sk_args_exchange_in_place(const sk_args *a)
{
    return sk_coll_exchanges(a->coll) && a->sbuf == MPI_IN_PLACE;
}

/* Clear the arguments that are not significant at this rank: the user may pass anything there. */
static inline void sk_args_clear_insignificant(sk_args *a, const sk_comm *c)
{
    if (c->rank == a->root)
        return;
    sk_root_side side = sk_args_root_side(a->coll);
    if (side == SK_ROOT_RECEIVES) {
        a->rbuf = NULL;
        a->rcount = 0;
        a->rcounts = a->rdispls = NULL;
        a->rtype = MPI_DATATYPE_NULL;
    } else if (side == SK_ROOT_SENDS) {
        a->sbuf = NULL;
        a->scount = 0;
        a->scounts = a->sdispls = NULL;
        a->stype = MPI_DATATYPE_NULL;
    }
}

/* Arrays of types come with arrays of counts. */
static inline bool sk_args_has_arrays(const sk_args *a)
{
    return a->scounts || a->rcounts;
}

/* Is it a reduction whose result may depend on the order of the operands? Sums of floating-point numbers
 * round, the maximum of 0 and -0 is either, and nobody knows what a user's operation does. The same
 * answer on all ranks: they pass the same operation and type. */
bool sk_may_round(MPI_Datatype type, MPI_Op op);

static inline bool sk_args_may_round(const sk_args *a)
{
    return sk_coll_reduces(a->coll) && sk_may_round(a->stype, a->op);
}

/* False: leave the call to the host, which knows how to report what is wrong with it. */
bool sk_args_read(const sk_args *a, sk_comm *c, sk_mpi_call *out);

/* The block that a rank sends to itself has one length as it is sent and another as it is received. The
 * others must not wait for this rank because of that, so its call runs in place, and this copies the
 * block. One that does not fit is an error; hosts let shorter ones pass. */
int sk_mpi_call_copy_own(const sk_mpi_call *m);

/* A copy in memory of its own, to be freed with free(). NULL: out of memory. */
sk_mpi_call *sk_mpi_call_copy(const sk_mpi_call *a);

#endif
