#include "mpi/dispatch/count.h"

#include "mpi/dispatch/observe.h"

#include "mpi/state/dtype.h"
#include "mpi/state/topo.h"

/* The call of this thread that the host serves now. */
typedef struct sk_host_call {
    sk_report_counter *counter; /* NULL: none */
    double since;
    sk_coll coll;
    sk_comm *blocking; /* NULL: not a blocking one */
} sk_host_call;

static SK_HINT_OF_THREAD sk_host_call current;

/* One side of the arguments. */
typedef struct sk_args_side {
    int64_t count;
    const void *counts;
    MPI_Datatype type;
    const MPI_Datatype *types;
} sk_args_side;

static int64_t size_of(MPI_Datatype type)
{
    const sk_dtype *d = type ? sk_dtype_get(type) : NULL;
    return d ? d->layout.size : 0;
}

/* Block i of a side. What is wrong with the arguments is for the host to say: it counts as nothing. */
static int64_t block_bytes(const sk_args *a, const sk_args_side *s, int i)
{
    int64_t count = s->count;
    if (s->counts)
        count = a->wide ? (int64_t)((const MPI_Count *)s->counts)[i] : ((const int *)s->counts)[i];
    int64_t size = count > 0 ? size_of(s->types ? s->types[i] : s->type) : 0;
    return size && count > INT64_MAX / size ? INT64_MAX : count * size;
}

static int64_t largest(const sk_args *a, sk_args_side s, int n)
{
    int64_t most = 0;
    n = s.counts ? n : 1;
    for (int i = 0; i < n; i++) {
        int64_t bytes = block_bytes(a, &s, i);
        most = bytes > most ? bytes : most;
    }
    return most;
}

static int64_t sum(const sk_args *a, sk_args_side s, int n)
{
    int64_t all = 0;
    for (int i = 0; i < n; i++)
        all += block_bytes(a, &s, i);
    return all;
}

/* Entries of the arrays of counts. */
typedef struct sk_args_blocks {
    int send, recv;
} sk_args_blocks;

static sk_args_blocks blocks_of(const sk_args *a, sk_comm *c)
{
    int n = c->nranks;
    if (sk_coll_neighbor(a->coll)) {
        const sk_topo *t = sk_topo_get(c);
        return t ? (sk_args_blocks){t->graph->nout, t->graph->nin} : (sk_args_blocks){0, 0};
    }
    if (c->inter)
        sk_host.Comm_remote_size(a->comm, &n);
    return (sk_args_blocks){n, n};
}

/* The same as sk_call_size, for arguments that never became a call. */
static int64_t bytes_of(const sk_args *a, sk_comm *c)
{
    sk_args_blocks n = blocks_of(a, c);
    sk_args_side send = {a->scount, a->scounts, a->stype, a->stypes},
                 recv = {a->rcount, a->rcounts, a->rtype, a->rtypes};
    bool root = c->inter ? a->root == MPI_ROOT : a->root == c->rank;
    int64_t out, in;
    switch (a->coll) {
    case SK_BARRIER:
        return 0;
    case SK_BCAST:
    case SK_ALLGATHER:
    case SK_ALLTOALL:
        return largest(a, recv, 1);
    case SK_SCATTER:
    case SK_SCATTERV:
        return root ? largest(a, send, n.send) : largest(a, recv, 1);
    case SK_GATHER:
    case SK_GATHERV:
        return root ? largest(a, recv, n.recv) : largest(a, send, 1);
    case SK_ALLGATHERV:
        return recv.counts ? sum(a, recv, n.recv) : 0;
    case SK_REDUCE_SCATTER:
        recv.type = a->stype;
        return recv.counts ? sum(a, recv, n.recv) : 0;
    case SK_REDUCE_SCATTER_BLOCK:
        recv.type = a->stype;
        return largest(a, recv, 1) * n.recv;
    case SK_ALLTOALLV:
    case SK_ALLTOALLW:
    case SK_NEIGHBOR_ALLGATHERV:
    case SK_NEIGHBOR_ALLTOALLV:
    case SK_NEIGHBOR_ALLTOALLW:
        out = a->sbuf == MPI_IN_PLACE ? 0 : largest(a, send, n.send);
        in = largest(a, recv, n.recv);
        return out > in ? out : in;
    default: /* one vector, or one block */
        return largest(a, send, 1);
    }
}

void sk_count_host_call(const sk_args *a, sk_comm *c, sk_host_reason why)
{
    /* Arguments that Skein could not read may be wrong: the host must be the first to look. */
    int64_t bytes = c && why != SK_HOST_ARGS ? bytes_of(a, c) : -1;
    current = (sk_host_call){.counter = sk_report_host_counter(sk_proc.report, a->coll, why, bytes),
                             .since = sk_clock(),
                             .coll = a->coll,
                             .blocking = a->form == SK_BLOCKING ? c : NULL};
}

void sk_count_host_return(void)
{
    if (current.counter && sk_proc.report)
        sk_report_counter_add(current.counter,
                              sk_observe_host(current.blocking, current.coll, current.since));
    current.counter = NULL;
}
