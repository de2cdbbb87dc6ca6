/* args.h: an MPI call's arguments as they came, and the sk_call made of them. */
#ifndef SK_ARGS_H
#define SK_ARGS_H

#include "base/hot.h"
#include "exec/kernel.h"
#include "mpi/comm.h"

typedef struct sk_args {
    sk_coll coll;
    bool wide;  /* arrays hold MPI_Count and MPI_Aint, not int */
    bool alone; /* outlives its call: local ranks share no memory in it */
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
} sk_args;

/* The call with the memory it points into: on the stack for plain calls, in the communicator's room
 * for calls with arrays. */
typedef struct sk_asked {
    sk_call call;
    sk_type types_few[3];
    MPI_Datatype handles_few[3];
    const MPI_Datatype *handles; /* of call.types */
    void *send, *recv;           /* buffers as schedules see them */
    sk_kernel_fn *kernel;        /* reductions: NULL, the host must */
    bool lasting;                /* no handle that could be freed and given out again */
} sk_asked;

/* Blank what the standard calls not significant at this rank: it may be anything. */
static inline void sk_args_significant(sk_args *a, const sk_comm *c)
{
    if (c->rank == a->root)
        return;
    if (a->coll == SK_GATHER || a->coll == SK_GATHERV || a->coll == SK_REDUCE) {
        a->rbuf = NULL;
        a->rcount = 0;
        a->rcounts = a->rdispls = NULL;
        a->rtype = MPI_DATATYPE_NULL;
    } else if (a->coll == SK_SCATTER || a->coll == SK_SCATTERV) {
        a->sbuf = NULL;
        a->scount = 0;
        a->scounts = a->sdispls = NULL;
        a->stype = MPI_DATATYPE_NULL;
    }
}

/* False: leave the call to the host, which knows how to report what is wrong with it. */
bool sk_args_read(const sk_args *a, sk_comm *c, sk_asked *out);

/* A copy that does not lean on the communicator's room; the memory is freed with free(). NULL: out
 * of memory. */
sk_asked *sk_asked_copy(const sk_asked *a);

#endif
