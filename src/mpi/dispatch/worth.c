#include "mpi/dispatch/worth.h"

#include <string.h>

#include "mpi/state/dtype.h"
#include "mpi/state/world.h"

enum {
    SHARE = 10, /* a tenth of the host's time, at most, is lost */
    PAGES = 24, /* first touched when a communicator is adopted, in private and in shared memory */
    PAGE = 4096,
    LINE = 64,
};

/* ---- computed times, in ns ---- */

static double price(const struct sk_world *w, sk_price_id id)
{
    return (double)w->prices.fs[id] * 1e-6;
}

/* Are times computed? */
static bool priced(const struct sk_world *w)
{
    return sk_proc.find_after < 0 && w && w->priced;
}

static double ranks_per_core(const struct sk_world *w)
{
    if (w->wait == SK_WAIT_SPIN || w->cores < 1) /* how many cores is not known */
        return 1;
    int most = (w->nranks + w->cores - 1) / w->cores;
    return most;
}

/* Does each rank wait for all others? In a reduce_scatter not for those with an empty block. */
static bool synchronizes(sk_coll coll)
{
    switch (coll) {
    case SK_BARRIER:
    case SK_ALLGATHER:
    case SK_ALLGATHERV:
    case SK_ALLTOALL:
    case SK_ALLTOALLV:
    case SK_ALLTOALLW:
    case SK_ALLREDUCE:
    case SK_REDUCE_SCATTER_BLOCK:
        return true;
    default:
        return false;
    }
}

/* Where ranks share cores, what all of them wait in a collective that takes log n messages of each: a core
 * switches to every rank that it has. */
static double waiting(const struct sk_world *w, int nranks)
{
    int rounds = 0;
    while (1 << rounds < nranks)
        rounds++;
    return w->wait == SK_WAIT_SPIN ? 0 : rounds * ranks_per_core(w) * price(w, SK_PRICE_CALL);
}

/* Bytes that the busiest rank receives or sends, as far as all ranks know. */
static double traffic(const sk_call *call)
{
    if (sk_coll_neighbor(call->coll)) /* a rank without neighbours knows nothing */
        return 0;
    switch (call->coll) {
    case SK_SCATTER:
    case SK_GATHER:
    case SK_ALLGATHER:
    case SK_ALLTOALL:
        return (double)sk_call_bytes(call) * (call->nranks - 1);
    case SK_SCATTERV:
    case SK_GATHERV:
    case SK_ALLTOALLV:
    case SK_ALLTOALLW:
        return 0;
    default:
        return (double)sk_call_bytes(call);
    }
}

/* At least: a line there and one back, and each byte is read. */
static double host_time(const struct sk_world *w, const sk_call *call)
{
    bool together = synchronizes(call->coll);
    return 2 * LINE * (price(w, SK_PRICE_IN) + price(w, SK_PRICE_OUT)) +
           traffic(call) * price(w, SK_PRICE_READ) * (together ? ranks_per_core(w) : 1) +
           (together ? waiting(w, call->nranks) : 0);
}

double sk_worth_host_ns(const sk_call *call)
{
    return priced(sk_proc.world) ? host_time(sk_proc.world, call) : 0;
}

/* A page fault costs about as much as another call of the kernel. Two slots of this size will be used. The
 * ranks wait for each other in the agreement, which is a reduction and a broadcast, and in the call after
 * it, for those that are last to touch their pages. */
static double adoption_time(const struct sk_world *w, const sk_call *call)
{
    double pages = PAGES + 2 * traffic(call) / PAGE;
    return 4 * waiting(w, call->nranks) + pages * price(w, SK_PRICE_CALL) * ranks_per_core(w);
}

/* ---- the decision ---- */

/* A host that does not yield waits for time slices where ranks share cores: nothing can be worse. */
static bool host_is_slow(const struct sk_world *w)
{
    return !SK_HOST_YIELDS && w->wait != SK_WAIT_SPIN;
}

bool sk_worth_host_is_slow(void)
{
    return sk_proc.world && host_is_slow(sk_proc.world);
}

/* Where ranks share cores and most of a call is that they wait for each other, Skein saves a third of the host's time or
 * more, so what adopting costs is soon made up for; of what copies take it saves little. Where counts may be zero nobody
 * knows who waits. */
static double share(const struct sk_world *w, const sk_call *call)
{
    bool saves = synchronizes(call->coll) && !sk_coll_irregular(call->coll) &&
                 2 * waiting(w, call->nranks) > host_time(w, call);
    return saves ? SHARE / 2.0 : SHARE;
}

static uint64_t mix(uint64_t h, const void *array, size_t bytes)
{
    for (size_t i = 0; array && i < bytes; i += sizeof(uint32_t)) {
        uint32_t word;
        memcpy(&word, (const char *)array + i, sizeof word);
        h = (h ^ word) * 0x9e3779b97f4a7c15u + (h >> 29);
    }
    return h;
}

uint64_t sk_worth_arrays(const sk_args *a, int n)
{
    size_t ranks = (size_t)n, count = ranks * (a->wide ? sizeof(MPI_Count) : sizeof(int));
    size_t displ = ranks * (a->wide || a->aints ? sizeof(MPI_Aint) : sizeof(int));
    size_t types = ranks * sizeof(MPI_Datatype);
    uint64_t h = mix(mix(mix(1, a->rcounts, count), a->rdispls, displ), a->rtypes, types);
    if (a->sbuf == MPI_IN_PLACE) /* the others are not significant */
        return h;
    return mix(mix(mix(h, a->scounts, count), a->sdispls, displ), a->stypes, types);
}

/* The arguments of a call that may be counted again without a look at what they mean. */
static void remember(sk_comm *c, const sk_args *a)
{
    sk_young *y = &c->young;
    y->coll = (int)a->coll;
    y->root = a->root;
    y->sbuf = a->sbuf;
    y->rbuf = a->rbuf;
    y->scount = a->scount;
    y->rcount = a->rcount;
    y->stype = a->stype;
    y->rtype = a->rtype;
    y->op = a->op;
    y->arrays = sk_args_has_arrays(a) ? sk_worth_arrays(a, c->nranks) : 0;
}

/* Count a call with a computed time. */
static bool pays(sk_young *y, const sk_call *call)
{
    const struct sk_world *w = sk_proc.world;
    double budget = share(w, call) * adoption_time(w, call);
    if (!y->tried && budget > y->budget)
        y->budget = budget;
    y->call = host_time(w, call);
    y->spent += y->call;
    return y->spent > y->budget || (!y->tried && host_is_slow(w));
}

/* At most a part of those that are missing. */
void sk_worth_let_pass(sk_comm *c)
{
    enum { MOST = 32, PART = 4 };
    sk_young *y = &c->young;
    double missing = y->call > 0 ? (y->budget - y->spent) / (PART * y->call) : 0;
    if (missing < 1 || !sk_proc.world->unseen)
        return;
    c->passing = missing < MOST ? (int)missing : MOST;
    y->spent += c->passing * y->call;
    y->calls += c->passing;
}

bool sk_worth_adopting(sk_comm *c, const sk_args *a, const sk_mpi_call *call)
{
    sk_young *y = &c->young;
    y->calls++;
    y->coll = SK_NCOLLS;
    if (!y->tried &&
        (a->form != SK_BLOCKING || y->wanted || sk_coll_neighbor(a->coll) || sk_args_may_round(a)))
        return true;
    if (priced(sk_proc.world)) {
        bool paid = pays(y, &call->call);
        if (paid && y->calls > SK_WORTH_CALLS)
            return true;
        if (!paid)
            sk_worth_let_pass(c);
        if (y->calls < SK_WORTH_CALLS && sk_proc.world->unseen) {
            c->passing += SK_WORTH_CALLS - (int)y->calls;
            y->calls = SK_WORTH_CALLS;
        }
        if (call->permanent && a->form == SK_BLOCKING && !sk_args_may_round(a))
            remember(c, a);
        return false;
    }
    if (!y->tried)
        y->budget = sk_proc.find_after < 0 ? SK_WORTH_CALLS : (double)sk_proc.find_after;
    return ++y->spent > y->budget;
}

void sk_worth_count_start(sk_comm *c, const sk_args *a, const sk_mpi_call *call)
{
    sk_young *y = &c->young;
    if (sk_args_may_round(a)) {
        y->wanted = true;
        y->coll = SK_NCOLLS;
        c->passing = 0;
    } else if (priced(sk_proc.world))
        y->spent += host_time(sk_proc.world, &call->call);
}

bool sk_worth_look_exact(sk_comm *c, MPI_Datatype type, MPI_Op op)
{
    if (sk_may_round(type, op))
        return false;
    if (sk_dtype_get(type)->named) { /* no other type will ever have its handle */
        c->young.exact_type = type;
        c->young.exact_op = op;
    }
    return true;
}

void sk_worth_postpone(sk_comm *c)
{
    c->young.budget = 2 * c->young.spent + 1;
    c->young.tried = true;
}

bool sk_worth_refused(int rc)
{
    int class = MPI_ERR_UNKNOWN;
    sk_host.Error_class(rc, &class);
    return class != MPI_ERR_TRUNCATE && class != MPI_ERR_OTHER && class != MPI_ERR_INTERN &&
           class != MPI_ERR_UNKNOWN && class != MPI_ERR_NO_MEM;
}
