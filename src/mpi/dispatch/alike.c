#include "mpi/dispatch/alike.h"

#include <stdlib.h>

#include "mpi/dispatch/mend.h"
#include "mpi/state/dtype.h"

enum { CLASSES = 40 }; /* of sizes; longer calls do not mind being read */

/* What the calls of a collective have in common. */
typedef struct kind {
    MPI_Datatype stype, rtype;
    MPI_Op op;
    int64_t ssize, rsize, sextent, rextent;
    bool is_root;
    sk_guarded *cell[CLASSES];
} kind;

struct sk_alike {
    kind of[SK_PERSISTENT][SK_NCOLLS]; /* by form */
};

/* Which buffers a rank must pass. */
static bool sends(const sk_args *a, bool is_root)
{
    return a->coll != SK_BCAST && (is_root || sk_args_root_side(a->coll) != SK_ROOT_SENDS);
}

static bool receives(const sk_args *a, bool is_root)
{
    return is_root || sk_args_root_side(a->coll) != SK_ROOT_RECEIVES;
}

/* Neither in place, nor from where it is received. */
static bool apart(const sk_args *a, bool is_root)
{
    bool from = sends(a, is_root), to = receives(a, is_root);
    return (!from || (a->sbuf && a->sbuf != MPI_IN_PLACE)) &&
           (!to || (a->rbuf && a->rbuf != MPI_IN_PLACE)) && (!from || !to || a->sbuf != a->rbuf);
}

bool sk_alike_keep(sk_comm *c, const sk_args *a, const sk_mpi_call *call, sk_guarded *g)
{
    int class = g->size_class;
    bool is_root = c->rank == a->root;
    if (a->form == SK_PERSISTENT || g->sizes || g->rounds || g->fixed || a->wide || a->stypes ||
        a->staging || sk_coll_neighbor(a->coll) || class < 0 || class >= CLASSES ||
        !call->permanent || call->own_differs || call->call.in_place || !apart(a, is_root) ||
        sk_mend_needed(&call->call) || sk_proc.checking || sk_proc.shapes || sk_proc.reporting)
        return false;
    if (!c->alike && !(c->alike = calloc(1, sizeof *c->alike)))
        return false;
    const sk_call *x = &call->call;
    kind *k = &c->alike->of[a->form][a->coll];
    k->stype = a->stype;
    k->rtype = a->rtype;
    k->op = a->op;
    k->ssize = x->types[x->send.type].size;
    k->rsize = x->types[x->recv.type].size;
    k->sextent = x->types[x->send.type].extent;
    k->rextent = x->types[x->recv.type].extent;
    k->is_root = is_root;
    k->cell[class] = g;
    return true;
}

/* -1: not all are there, or one is negative. */
static int64_t sum(const int *counts, const void *displs, int n)
{
    int64_t sum = 0;
    int all = 0;
    if (!counts || !displs)
        return -1;
    for (int i = 0; i < n; i++) {
        sum += counts[i];
        all |= counts[i];
    }
    return all < 0 ? -1 : sum;
}

/* The bytes that tell the cell, as sk_call_bytes; -1: it must be read. */
static int64_t bytes_of(const sk_comm *c, const sk_args *a, const kind *k)
{
    int n = c->nranks;
    int64_t s = a->scount * k->ssize, r = a->rcount * k->rsize;
    switch (a->coll) {
    case SK_BCAST:
    case SK_ALLGATHER:
    case SK_ALLTOALL:
        return r;
    case SK_SCATTER:
        return k->is_root ? s : r;
    case SK_GATHER:
        return k->is_root ? r : s;
    case SK_REDUCE:
    case SK_ALLREDUCE:
    case SK_SCAN:
    case SK_EXSCAN:
        return s;
    case SK_ALLGATHERV:
        return sum(a->rcounts, a->rdispls, n) * k->rsize;
    case SK_GATHERV:
        return k->is_root && sum(a->rcounts, a->rdispls, n) < 0 ? -1 : 0;
    case SK_SCATTERV:
        return k->is_root && sum(a->scounts, a->sdispls, n) < 0 ? -1 : 0;
    case SK_ALLTOALLV:
        return sum(a->scounts, a->sdispls, n) < 0 || sum(a->rcounts, a->rdispls, n) < 0 ? -1 : 0;
    default:
        return -1;
    }
}

/* This rank's block is sent from where it is received: MPICH refuses that. */
static bool own_in_place(const sk_comm *c, const sk_args *a, const kind *k)
{
    int64_t at = 0;
    const char *block = NULL;
    switch (a->coll) {
    case SK_GATHER:
    case SK_ALLGATHER:
        at = c->rank * a->rcount;
        break;
    case SK_GATHERV:
    case SK_ALLGATHERV:
        at = a->rdispls ? ((const int *)a->rdispls)[c->rank] : 0;
        break;
    case SK_SCATTER:
    case SK_SCATTERV: /* the types are alike, or the host does not see it */
        block = a->rbuf;
        at = a->scounts ? ((const int *)a->sdispls)[c->rank] : c->rank * a->scount;
        return k->is_root && (const char *)a->sbuf + at * k->sextent == block;
    default:
        return false;
    }
    return receives(a, k->is_root) && (const char *)a->rbuf + at * k->rextent == a->sbuf;
}

sk_guarded *sk_alike_passes(const sk_comm *c, const sk_args *a)
{
    const kind *k = &c->alike->of[a->form][a->coll];
    if (a->stype != k->stype || a->rtype != k->rtype || a->op != k->op || a->scount < 0 ||
        a->rcount < 0 || (unsigned)a->root >= (unsigned)c->nranks ||
        (c->rank == a->root) != k->is_root || a->wide || a->staging || c->owed ||
        !apart(a, k->is_root))
        return NULL;
    int64_t bytes = bytes_of(c, a, k);
    if (bytes < 0 || own_in_place(c, a, k))
        return NULL;
    int class = sk_size_class_of(bytes);
    sk_guarded *g = class < CLASSES ? k->cell[class] : NULL;
    return sk_guarded_passes(g) ? g : NULL;
}
