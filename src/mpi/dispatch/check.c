#include "mpi/dispatch/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/dispatch/mend.h"
#include "mpi/state/dtype.h"
#include "mpi/state/host_errors.h"

/* The bytes from `base + lo` to `base + hi` that the call may write. */
typedef struct sk_check_region {
    char *base;
    int64_t lo, hi;
} sk_check_region;

static size_t region_size(const sk_check_region *r)
{
    return (size_t)(r->hi - r->lo);
}

static void add_block(sk_check_region *r, int64_t off, int64_t count, const sk_type *t)
{
    if (count <= 0 || t->size == 0)
        return;
    int64_t last = off + (count - 1) * t->extent;
    int64_t lo = (off < last ? off : last) + t->true_lb;
    int64_t hi = (off < last ? last : off) + t->true_lb + t->true_extent;
    if (r->lo == r->hi) {
        r->lo = lo;
        r->hi = hi;
        return;
    }
    r->lo = lo < r->lo ? lo : r->lo;
    r->hi = hi > r->hi ? hi : r->hi;
}

static int64_t count_of(const sk_side *s, int i)
{
    return s->counts ? s->counts[i] : s->count;
}

static sk_check_region written_by(const sk_args *a, const sk_call *c)
{
    sk_check_region r = {.base = a->rbuf};
    const sk_side *s = &c->recv;
    const sk_type *t = &c->types[s->type];
    bool root = c->rank == c->root;
    switch (c->coll) {
    case SK_BARRIER:
        break;
    case SK_BCAST:
    case SK_SCATTER:
    case SK_SCATTERV:
        if (a->rbuf != MPI_IN_PLACE)
            add_block(&r, 0, s->count, t);
        break;
    case SK_REDUCE:
    case SK_ALLREDUCE:
    case SK_SCAN:
    case SK_EXSCAN:
        if (c->coll != SK_REDUCE || root)
            add_block(&r, 0, sk_call_elems(c), t);
        break;
    case SK_REDUCE_SCATTER:
    case SK_REDUCE_SCATTER_BLOCK:
        add_block(&r, 0, c->in_place ? sk_call_elems(c) : count_of(s, c->rank), t);
        break;
    default:
        if ((c->coll == SK_GATHER || c->coll == SK_GATHERV) && !root)
            break;
        for (int i = 0; i < sk_call_nblocks(c, SK_RECV); i++) {
            const sk_type *of = s->types ? &c->types[s->types[i]] : t;
            int64_t n = count_of(s, i);
            add_block(&r, s->offs ? s->offs[i] : i * n * of->extent, n, of);
        }
    }
    return r;
}

/* ---- the host ---- */

#define INT_ARRAY(p) ((const int *)(p))
#if SK_HAVE_LARGE
#define COUNT_ARRAY(p)          ((const MPI_Count *)(p))
#define EITHER(a, plain, large) ((a)->wide ? (large) : (plain))
#else
#define EITHER(a, plain, large) (plain)
#endif

#define SBUF(a) (a)->sbuf
#define RBUF(a) (a)->rbuf

static int run_on_host(const sk_args *a)
{
    int sn = (int)a->scount, rn = (int)a->rcount;
    MPI_Comm m = a->comm;
    switch (a->coll) {
    case SK_BARRIER:
        return sk_host.Barrier(m);
    case SK_BCAST:
        return EITHER(a, sk_host.Bcast(a->rbuf, rn, a->rtype, a->root, m),
                      sk_host.Bcast_c(a->rbuf, a->rcount, a->rtype, a->root, m));
    case SK_SCATTER:
        return EITHER(a, sk_host.Scatter(SBUF(a), sn, a->stype, RBUF(a), rn, a->rtype, a->root, m),
                      sk_host.Scatter_c(SBUF(a), a->scount, a->stype, RBUF(a), a->rcount, a->rtype,
                                        a->root, m));
    case SK_GATHER:
        return EITHER(a, sk_host.Gather(SBUF(a), sn, a->stype, RBUF(a), rn, a->rtype, a->root, m),
                      sk_host.Gather_c(SBUF(a), a->scount, a->stype, RBUF(a), a->rcount, a->rtype,
                                       a->root, m));
    case SK_ALLGATHER:
        return EITHER(
            a, sk_host.Allgather(SBUF(a), sn, a->stype, RBUF(a), rn, a->rtype, m),
            sk_host.Allgather_c(SBUF(a), a->scount, a->stype, RBUF(a), a->rcount, a->rtype, m));
    case SK_ALLTOALL:
        return EITHER(
            a, sk_host.Alltoall(SBUF(a), sn, a->stype, RBUF(a), rn, a->rtype, m),
            sk_host.Alltoall_c(SBUF(a), a->scount, a->stype, RBUF(a), a->rcount, a->rtype, m));
    case SK_REDUCE:
        return EITHER(a, sk_host.Reduce(SBUF(a), RBUF(a), sn, a->stype, a->op, a->root, m),
                      sk_host.Reduce_c(SBUF(a), RBUF(a), a->scount, a->stype, a->op, a->root, m));
    case SK_ALLREDUCE:
        return EITHER(a, sk_host.Allreduce(SBUF(a), RBUF(a), sn, a->stype, a->op, m),
                      sk_host.Allreduce_c(SBUF(a), RBUF(a), a->scount, a->stype, a->op, m));
    case SK_REDUCE_SCATTER:
        return EITHER(
            a, sk_host.Reduce_scatter(SBUF(a), RBUF(a), INT_ARRAY(a->rcounts), a->stype, a->op, m),
            sk_host.Reduce_scatter_c(SBUF(a), RBUF(a), COUNT_ARRAY(a->rcounts), a->stype, a->op,
                                     m));
    case SK_REDUCE_SCATTER_BLOCK:
        return EITHER(
            a, sk_host.Reduce_scatter_block(SBUF(a), RBUF(a), rn, a->stype, a->op, m),
            sk_host.Reduce_scatter_block_c(SBUF(a), RBUF(a), a->rcount, a->stype, a->op, m));
    case SK_SCAN:
        return EITHER(a, sk_host.Scan(SBUF(a), RBUF(a), sn, a->stype, a->op, m),
                      sk_host.Scan_c(SBUF(a), RBUF(a), a->scount, a->stype, a->op, m));
    case SK_EXSCAN:
        return EITHER(a, sk_host.Exscan(SBUF(a), RBUF(a), sn, a->stype, a->op, m),
                      sk_host.Exscan_c(SBUF(a), RBUF(a), a->scount, a->stype, a->op, m));
    default:
        return MPI_SUCCESS;
    }
}

/* Can the host run the call and is its result comparable? The same answer on all ranks: by MPI's
 * rules they agree on the operation, and on the type of a reduction with a predefined one.
 *
 * The v and w forms are left out: Open MPI 4.1 chooses the algorithm of MPI_Allgatherv by what a rank
 * knows alone, and waits for ever where ranks choose differently; MPICH 4.0 errs in some of them. Other calls in which the
 * host errs are made as in mend.h. */
static bool host_comparable(const sk_args *a, const sk_comm *c)
{
    if (sk_coll_neighbor(a->coll) || c->nranks == 1 || a->coll == SK_SCATTERV ||
        a->coll == SK_GATHERV || a->coll == SK_ALLGATHERV || a->coll == SK_ALLTOALLV ||
        a->coll == SK_ALLTOALLW || (a->wide && !sk_host.large))
        return false;
    return !sk_args_may_round(a);
}

/* ---- comparing ---- */

static void fail(const sk_args *a, sk_comm *c, const char *which, size_t at)
{
    sk_mpi_call call;
    sk_plan *plan = NULL;
    const char *algo = "none";
    if (sk_args_read(a, c, &call) && sk_comm_plan(c, &call.call, &plan, NULL) == SK_OK &&
        plan->algo)
        algo = plan->algo->name;
    int64_t count = a->scount > a->rcount ? a->scount : a->rcount;
    fprintf(
        stderr,
        "skein: check: rank %d of %d: %s, count %lld, algorithm %s: %s differs from the long way "
        "at byte %zu of the receive buffer\n",
        c->rank, c->nranks, sk_coll_name(a->coll), (long long)count, algo, which, at);
    sk_plan_release(plan);
    sk_host.Abort(a->comm, 3);
}

static void compare(const sk_args *a, sk_comm *c, const sk_check_region *r, const char *expected,
                    const char *which)
{
    const char *got = r->base + r->lo;
    for (size_t i = 0; i < region_size(r); i++)
        if (got[i] != expected[i])
            fail(a, c, which, (size_t)r->lo + i);
}

/* MPICH 4.0 cannot receive more than a shared cell, some 8 KB, in a type like {double, int, char}, and
 * reports a truncation. That says nothing about Skein. */
static void note_host_error(const sk_args *a, const sk_comm *c, int error)
{
    char text[MPI_MAX_ERROR_STRING];
    int len;
    sk_host.Error_string(error, text, &len);
    fprintf(stderr,
            "skein: check: rank %d of %d: %s is not compared: the host cannot do it: %.*s\n",
            c->rank, c->nranks, sk_coll_name(a->coll), (int)strcspn(text, "\n"), text);
}

static void restore(const sk_check_region *r, const char *from)
{
    if (from && region_size(r))
        memcpy(r->base + r->lo, from, region_size(r));
}

/* ---- the runs ---- */

/* The long way, with nothing cached. */
static bool run_fresh(sk_args *a, sk_comm *c, sk_dispatch_fn *run, int *rc)
{
    sk_plans *plans = sk_plans_new(1);
    if (!plans)
        return run(a, NULL, rc);
    pthread_mutex_lock(&c->plans_lock);
    sk_plans *usual = c->plans;
    sk_plans_stats counted = c->counted;
    c->plans = plans;
    c->counted = (sk_plans_stats){0};
    pthread_mutex_unlock(&c->plans_lock);
    bool served = run(a, NULL, rc);
    sk_comm_drop_cache(c);
    pthread_mutex_lock(&c->plans_lock);
    c->plans = usual;
    c->counted = counted;
    pthread_mutex_unlock(&c->plans_lock);
    sk_plans_free(plans);
    return served;
}

/* The usual way; the cache is put where sk_dispatch looks for it. */
static bool run_usual(sk_args *a, sk_comm *c, sk_dispatch_fn *run, int *rc)
{
    c->cache = c->cache_aside;
    bool served = run(a, NULL, rc);
    c->cache_aside = c->cache;
    c->cache = NULL;
    return served;
}

/* The user's handler has heard of an error in the first run. False also if its set-up leaves the call to the host. */
static bool run_usual_once(sk_args *a, sk_comm *c, sk_dispatch_fn *run, bool erred)
{
    int rc;
    if (!erred)
        return run_usual(a, c, run, &rc);
    MPI_Errhandler handler = sk_host_errors_set_aside(a->comm);
    bool served = run_usual(a, c, run, &rc);
    sk_host_errors_put_back(a->comm, handler);
    return served;
}

bool sk_check_call(sk_args *a, sk_comm *c, sk_dispatch_fn *run, int *rc)
{
    sk_args first = *a, second = *a;
    sk_mpi_call call;
    sk_check_region r = {0};
    char *before = NULL, *expected = NULL;
    sk_args_clear_insignificant(a, c);
    bool read = (!sk_coll_neighbor(a->coll) || c->topo) && sk_args_read(a, c, &call);
    if (read)
        r = written_by(a, &call.call);
    if (region_size(&r)) {
        before = malloc(region_size(&r));
        expected = malloc(region_size(&r));
        if (!before || !expected)
            r.hi = r.lo;
        else
            memcpy(before, r.base + r.lo, region_size(&r));
    }
    c->in_check = true;
    bool served = run_fresh(&first, c, run, rc);
    if (served) {
        if (region_size(&r))
            memcpy(expected, r.base + r.lo, region_size(&r));
        restore(&r, before);
        bool erred = *rc != MPI_SUCCESS; /* the others make the calls below: so does this rank */
        if (run_usual_once(&second, c, run, erred) && !erred)
            compare(a, c, &r, expected, "the short way");
        if (host_comparable(a, c)) {
            restore(&r, before);
            sk_comm_barrier(c); /* active collectives may not progress inside the host */
            MPI_Errhandler handler = sk_host_errors_set_aside(a->comm);
            int rc3 = read && sk_mend_needed(&call.call) ? sk_mend_call(a, c) : run_on_host(a);
            sk_host_errors_put_back(a->comm, handler);
            if (rc3 != MPI_SUCCESS && !erred)
                note_host_error(a, c, rc3);
            else if (!erred && (a->coll != SK_EXSCAN || c->rank > 0)) /* undefined there */
                compare(a, c, &r, expected, "the host");
        }
        restore(&r, expected);
    }
    c->in_check = false;
    free(before);
    free(expected);
    return served;
}
