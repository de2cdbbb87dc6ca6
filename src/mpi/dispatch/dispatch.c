/* dispatch.c: from the arguments of a call to a running schedule.
 *
 *   short way   a call just like an earlier one: its descriptor is in the call cache
 *   long way    count the call, adopt the communicator, run set-ups when needed, read the arguments, get
 *               a plan, then run it (blocking) or start it (nonblocking, persistent) */
#include "mpi/dispatch/dispatch.h"

#include <stdlib.h>
#include <string.h>

#include "mpi/dispatch/adopt.h"
#include "mpi/dispatch/alike.h"
#include "mpi/dispatch/await.h"
#include "mpi/dispatch/call_cache.h"
#include "mpi/dispatch/check.h"
#include "mpi/dispatch/count.h"
#include "mpi/dispatch/learn.h"
#include "mpi/dispatch/meeting.h"
#include "mpi/dispatch/mend.h"
#include "mpi/dispatch/own_lane.h"
#include "mpi/dispatch/request.h"
#include "mpi/dispatch/setup.h"
#include "mpi/dispatch/staging.h"
#include "mpi/dispatch/starts.h"
#include "mpi/dispatch/startup.h"
#include "mpi/dispatch/watch.h"
#include "mpi/dispatch/worth.h"
#include "mpi/state/device.h"
#include "mpi/state/host_progress.h"

__attribute__((noinline)) static void advise(const sk_args *a, const sk_comm *c)
{
    int64_t most = a->scount > a->rcount ? a->scount : a->rcount; /* the bytes are not known */
    sk_hint_advise(sk_hint_of(a->coll, most, c ? c->nranks : 0, sk_process_call()));
}

static bool to_host(const sk_args *a, sk_comm *c, sk_host_reason why)
{
    if (sk_hint_wanted())
        advise(a, c);
    sk_count_host(a, c, why);
    return false;
}

/* All ranks leave this call to the host. While it blocks there, active collectives may not progress.
 * So all ranks first meet in a barrier that does progress. */
static bool pass_to_host(const sk_args *a, sk_comm *c, sk_host_reason why)
{
    if (a->form == SK_BLOCKING && c->had_nonblocking)
        sk_comm_barrier(c);
    return to_host(a, c, why);
}

/* This rank cannot take part in a call that the others make. */
static void skip_tag(sk_comm *c, sk_form form)
{
    if (form == SK_PERSISTENT)
        sk_comm_persist_tag(c);
    else
        sk_comm_tag(c);
}

static int start(sk_comm *c, const sk_mpi_call *call, MPI_Op mpi_op, sk_plan *plan, sk_form form,
                 MPI_Request *request)
{
    c->had_nonblocking = true;
    sk_host_hook_install();
    sk_op *op = sk_op_new(c, call, mpi_op, plan, form);
    if (!op)
        return MPI_ERR_NO_MEM;
    op->wire.tag = form == SK_PERSISTENT ? sk_comm_persist_tag(c) : sk_comm_tag(c);
    if (form == SK_NONBLOCKING)
        sk_op_start(op);
    *request = op->handle;
    return MPI_SUCCESS;
}

/* Start a collective that outlives its call; without a plan it is planned later. */
static int start_or_raise(sk_comm *c, const sk_mpi_call *call, MPI_Op mpi_op, sk_plan *plan,
                          sk_form form, MPI_Request *request)
{
    int rc = start(c, call, mpi_op, plan, form, request);
    return rc == MPI_SUCCESS ? rc : sk_raise(c, rc);
}

static double now(void)
{
    return sk_proc.reporting ? sk_clock() : 0;
}

static bool uses_shm(const sk_plan *plan)
{
    return plan && sk_sched_view(plan->sched)->nepochs > 0;
}

/* A planned call that outlives its call. False: it is left to the host. */
__attribute__((noinline)) static bool start_planned(sk_args *a, sk_comm *c, sk_descriptor *x,
                                                    MPI_Request *request, int error, int *rc)
{
    sk_mpi_call call = {.handles = x->wire.handles,
                        .kernel = x->wire.kernel,
                        .send = (void *)(uintptr_t)a->sbuf,
                        .recv = a->rbuf,
                        .staging = a->staging,
                        .error = error,
                        .unequal = x->unequal};
    sk_starts s = {.any = false};
    if (a->form == SK_PERSISTENT)
        s = sk_starts_of(a, c);
    bool served = a->form != SK_PERSISTENT ||
                  sk_own_lane_get(c, uses_shm(x->plan) || uses_shm(s.other), &call.own_lane);
    if (served)
        *rc = start_or_raise(c, &call, a->op, x->plan, a->form, request);
    if (served && s.any && *rc == MPI_SUCCESS)
        sk_starts_compare(a, c, &s, &call, x->plan, sk_op_of(*request));
    sk_plan_release(s.other);
    return served || pass_to_host(a, c, SK_HOST_MEMORY);
}

/* A blocking call that the host serves, as the guard says. */
static void run_by_host(sk_args *a, sk_comm *c, sk_guarded *g, sk_guard_verdict v)
{
    a->timed = v.timed ? g : NULL;
    pass_to_host(a, c, g->tuned ? SK_HOST_TUNED : SK_HOST_FASTER);
}

/* A planned blocking call, as the guard says. `error` was found before; the other ranks must not wait because
 * of it, so the call runs all the same and ends with it. False: it is left to the host. */
static bool run(sk_args *a, sk_comm *c, sk_descriptor *x, sk_guard_verdict v, double since,
                int error, int *rc)
{
    if (v.side == SK_GUARD_HOST) {
        run_by_host(a, c, x->guarded, v);
        return x->mends && sk_mend_run(a, c, rc);
    }
    *rc = sk_descriptor_run(x, c, (void *)(uintptr_t)a->sbuf, a->rbuf, since);
    if (v.timed)
        sk_guarded_over(x->guarded);
    if (*rc == MPI_SUCCESS && error != MPI_SUCCESS)
        *rc = sk_raise(c, error);
    return true;
}

/* All nonblocking calls of this collective here are the host's, of any size, type and operation. */
static bool start_at_host(const sk_args *a, sk_comm *c, sk_host_reason why)
{
    if (a->form == SK_NONBLOCKING)
        atomic_fetch_or_explicit(&c->host_starts, UINT32_C(1) << a->coll, memory_order_relaxed);
    return pass_to_host(a, c, why);
}

/* A planned call that outlives its call: start it. The rest as above. */
static bool start_or_pass(sk_args *a, sk_comm *c, sk_descriptor *x, MPI_Request *request, int error,
                          int *rc)
{
    void *send = (void *)(uintptr_t)a->sbuf;
    sk_op *op = NULL;
    if (x->plan->straight && sk_guarded_host_does_the_same(a, x->plan))
        return a->coll == SK_GATHERV || a->coll == SK_SCATTERV /* always */
                   ? start_at_host(a, c, SK_HOST_SAME)
                   : pass_to_host(a, c, SK_HOST_SAME);
    if (a->form == SK_NONBLOCKING && x->sched->straight && !x->bytes && !a->staging &&
        error == MPI_SUCCESS)
        op = sk_op_at_once(c, x->plan, x->counter, &x->wire, x->one_epoch, send, a->rbuf);
    if (!op)
        return start_planned(a, c, x, request, error, rc);
    *request = op->handle;
    *rc = MPI_SUCCESS;
    return true;
}

/* The host starts it, as the guard says. */
static bool start_by_host(sk_args *a, sk_comm *c, sk_guarded *g, sk_guard_verdict v)
{
    a->timed = v.timed ? g : NULL;
    return to_host(a, c, g->tuned ? SK_HOST_TUNED : SK_HOST_FASTER);
}

/* The same as the guard says. */
static bool start_guarded(sk_args *a, sk_comm *c, sk_descriptor *x, sk_guard_verdict v,
                          MPI_Request *request, int error, int *rc)
{
    if (v.side == SK_GUARD_HOST)
        return start_by_host(a, c, x->guarded, v);
    bool served = start_or_pass(a, c, x, request, error, rc);
    if (v.timed)
        sk_guarded_over(x->guarded);
    return served;
}

/* The chosen schedule is a message per edge, which the host does with less overhead, or it was measured to be
 * faster. */
static bool host_is_as_good(const sk_args *a, const sk_comm *c, const sk_plan *plan)
{
    return plan->plain && a->form == SK_BLOCKING && !c->had_nonblocking && !c->topo->has_isolated &&
           sk_topo_host_allowed(c->topo, a->coll);
}

/* The host serves all blocking calls of this collective here. */
static bool goes_to_host(const sk_args *a, const sk_comm *c)
{
    return atomic_load_explicit(&c->host_colls, memory_order_relaxed) >> a->coll & 1 &&
           a->form == SK_BLOCKING && !c->had_nonblocking;
}

/* Who serves the call. Descriptors that are planned otherwise are gone after that. If it is timed its time begins here. */
static sk_guard_verdict ask(sk_guarded *g, sk_comm *c, const sk_args *a, int64_t bytes)
{
    if (!g)
        return (sk_guard_verdict){.side = SK_GUARD_SKEIN};
    if (sk_guarded_naps(g))
        return sk_guarded_wake(g, c, sk_meet(c));
    sk_guard_verdict v = sk_guarded_ask(g, c, a, bytes);
    if (v.decided)
        sk_call_cache_decided(c, g);
    if (v.timed)
        sk_guarded_begin(g, 0);
    c->comparing = (c->comparing || v.timed) && !v.decided;
    return v;
}

/* A call that was read. Where sizes change from call to call, that and planning are a part of what Skein takes, and of what
 * the host takes if all such calls must be read. */
static void begin_read(sk_guarded *g, sk_comm *c, const sk_args *a, const sk_mpi_call *call,
                       sk_guard_verdict v)
{
    bool host = v.side == SK_GUARD_HOST, unread = host && sk_alike_keep(c, a, call, g);
    if (v.timed && !unread)
        sk_guarded_begin(g, c->entered);
}

/* The host serves the call, and no other is likely to profit from its plan. */
static bool needs_no_plan(const sk_guarded *g, const sk_args *a, sk_comm *c, sk_guard_verdict v)
{
    return g && v.side == SK_GUARD_HOST && a->form != SK_PERSISTENT && !sk_coll_neighbor(a->coll) &&
           !sk_proc.shapes && (v.timed || !sk_call_cache_seen(a, c));
}

/* A nonblocking neighbourhood collective that at some ranks may wait for a set-up, and at others not: it is not
 * counted. */
static bool unsettled(const sk_args *a, const sk_comm *c)
{
    return sk_coll_neighbor(a->coll) && a->form == SK_NONBLOCKING && !sk_topo_settled(c->topo);
}

/* Plan a call and run or start it. `asked`: what the guard says, if it was asked. */
static bool plan_and_run(sk_args *a, sk_comm *c, MPI_Request *request,
                         const sk_guard_verdict *asked, double since, int *rc)
{
    sk_mpi_call call;
    sk_plan *plan = NULL;
    bool built = false;
    if (!sk_args_read(a, c, &call))
        return to_host(a, c, SK_HOST_ARGS);
    if (c->owed && a->form == SK_BLOCKING)
        sk_meet_here(c);
    if (sk_coll_neighbor(a->coll))
        sk_topo_record_sizes(c->topo, &call.call);
    sk_guarded *g = NULL;
    sk_guard_verdict v = {.side = SK_GUARD_SKEIN};
    sk_status st = sk_coll_neighbor(a->coll) ? sk_comm_plan(c, &call.call, &plan, &built) : SK_OK;
    if (!plan || !plan->plain || a->form != SK_BLOCKING) {
        g = sk_guarded_find(c, a, &call.call, asked != NULL);
        if (asked)
            v = *asked;
        else if (!unsettled(a, c)) {
            v = ask(g, c, a, sk_call_size(&call.call));
            if (g)
                begin_read(g, c, a, &call, v);
        }
    }
    if (needs_no_plan(g, a, c, v)) {
        if (a->form != SK_BLOCKING)
            return start_by_host(a, c, g, v);
        run_by_host(a, c, g, v);
        return sk_mend_needed(&call.call) && sk_mend_run(a, c, rc);
    }
    call.call.other = v.side == SK_GUARD_OTHER && sk_guarded_other_allowed(a, &call);
    if (!plan && st == SK_OK)
        st = sk_comm_plan(c, &call.call, &plan, &built);
    if (st != SK_OK) {
        skip_tag(c, a->form);
        *rc = sk_raise(c, st == SK_NOMEM ? MPI_ERR_NO_MEM : MPI_ERR_INTERN);
        return true;
    }
    if (SK_UNLIKELY(sk_proc.shapes))
        sk_learn_shape(&call.call, plan);
    int error = call.own_differs ? sk_mpi_call_copy_own(&call) : MPI_SUCCESS;
    bool served = false;
    if (!plan->algo)
        pass_to_host(a, c, SK_HOST_NOFIT);
    else {
        /* The first one of its kind may be the only one, where sizes change from call to call. */
        bool once = built && !asked && a->form != SK_PERSISTENT && !sk_coll_neighbor(a->coll);
        sk_descriptor made, *x = once ? NULL : sk_call_cache_add(a, c, &call, plan);
        if (!x)
            sk_descriptor_init(x = &made, c, &call, a->op, plan);
        x->unequal = call.unequal;
        x->wire.signature ^= x->unequal;
        x->guarded = g;
        x->sized = g && g->sizes; /* and then counted, which the shortest way does not */
        x->one_epoch &= !x->sized;
        x->nothing &= !x->sized;
        x->side = v.side == SK_GUARD_OTHER ? SK_GUARD_OTHER : SK_GUARD_SKEIN;
        if (host_is_as_good(a, c, plan))
            to_host(a, c, plan->host ? SK_HOST_TUNED : SK_HOST_SAME);
        else
            served = a->form == SK_BLOCKING ? run(a, c, x, v, since, error, rc)
                                            : start_guarded(a, c, x, v, request, error, rc);
    }
    sk_plan_release(plan);
    return served;
}

/* A call just like an earlier one, and something is to be compared. */
__attribute__((noinline)) static bool compare_again(sk_args *a, sk_comm *c, sk_descriptor *x,
                                                    MPI_Request *request, double since, int *rc)
{
    sk_guard_side side = x->side;
    sk_guard_verdict v = ask(x->guarded, c, a, x->plan->size);
    if (v.side != side && v.side != SK_GUARD_HOST)
        return plan_and_run(a, c, request, &v, since, rc);
    return a->form == SK_BLOCKING ? run(a, c, x, v, since, MPI_SUCCESS, rc)
                                  : start_guarded(a, c, x, v, request, MPI_SUCCESS, rc);
}

/* The same for one whose sizes not all ranks know. It may belong to another cell now. */
__attribute__((noinline)) static bool run_sized_again(sk_args *a, sk_comm *c, sk_descriptor *x,
                                                      double since, int *rc)
{
    if (c->owed)
        sk_meet_here(c);
    if (!sk_guarded_stays(x->guarded, x->plan->size))
        return plan_and_run(a, c, NULL, NULL, since, rc);
    if (!sk_guarded_quiet(x->guarded))
        return compare_again(a, c, x, NULL, since, rc);
    *rc = sk_descriptor_run(x, c, (void *)(uintptr_t)a->sbuf, a->rbuf, since);
    return true;
}

/* A call just like an earlier one. False: it is left to the host. */
static bool run_again(sk_args *a, sk_comm *c, sk_descriptor *x, MPI_Request *request, double since,
                      int *rc)
{
    if (SK_UNLIKELY(x->sized))
        return run_sized_again(a, c, x, since, rc);
    if (SK_UNLIKELY(c->owed && a->form == SK_BLOCKING))
        sk_meet_here(c);
    if (!sk_guarded_quiet(x->guarded))
        return compare_again(a, c, x, request, since, rc);
    if (a->form != SK_BLOCKING)
        return start_or_pass(a, c, x, request, MPI_SUCCESS, rc);
    *rc = sk_descriptor_run(x, c, (void *)(uintptr_t)a->sbuf, a->rbuf, since);
    return true;
}

/* The second part of the long way: Skein serves the call unless the arguments or the plan say
 * otherwise. A function of its own, so that the first part needs few registers and little stack. */
__attribute__((noinline)) static bool dispatch_enabled(sk_args *a, sk_comm *c, MPI_Request *request,
                                                       int *rc)
{
    sk_args_clear_insignificant(a, c);
    double since = now();
    sk_mpi_call call;
    sk_status st = SK_OK;
    if (sk_coll_neighbor(a->coll) && !sk_await_setups(a, c, &call, &st)) {
        if (!sk_args_read(a, c, &call))
            return to_host(a, c, SK_HOST_ARGS);
        *rc = start_or_raise(c, &call, a->op, NULL, a->form, request);
        return true;
    }
    if (st != SK_OK) {
        *rc = sk_raise(c, st == SK_NOMEM ? MPI_ERR_NO_MEM : MPI_ERR_INTERN);
        return true;
    }
    sk_descriptor *x = a->looked ? NULL : sk_call_cache_find(a, c);
    if (!x)
        return plan_and_run(a, c, request, NULL, since, rc);
    if (host_is_as_good(a, c, x->plan))
        return to_host(a, c, x->plan->host ? SK_HOST_TUNED : SK_HOST_SAME);
    if (unsettled(a, c))
        return start_or_pass(a, c, x, request, MPI_SUCCESS, rc);
    return run_again(a, c, x, request, since, rc);
}

/* A call on a communicator that Skein does not serve yet. SK_NHOST_REASONS: from now on it does; else why
 * the host must serve the call. A call that the host will refuse counts for nothing: at the other ranks
 * it may be right, or they do not call at all. While the host serves a blocking call, active collectives
 * may not progress in there: see pass_to_host. */
static sk_host_reason adopt(sk_args *a, sk_comm *c)
{
    sk_mpi_call call;
    if (c->state == SK_COMM_FOREIGN)
        return SK_HOST_FOREIGN;
    if (sk_coll_neighbor(a->coll) && !sk_topo_get(c))
        return SK_HOST_ARGS; /* without a topology, on all ranks */
    sk_args_clear_insignificant(a, c);
    if (!sk_args_read(a, c, &call))
        return SK_HOST_ARGS;
    if (a->form == SK_NONBLOCKING)
        sk_worth_count_start(c, a, &call);
    else {
        if (sk_worth_adopting(c, a, &call))
            sk_adopt(c);
        if (c->state == SK_COMM_NEW)
            sk_comm_barrier(c);
    }
    if (sk_comm_adopted(c))
        return SK_NHOST_REASONS;
    if ((a->form != SK_NONBLOCKING || sk_proc.reproducible) && sk_args_may_round(a))
        c->host_rounds |= 1U << a->form;
    return c->state == SK_COMM_FOREIGN ? SK_HOST_FOREIGN : SK_HOST_EARLY;
}

/* The long way. Its first part finds the calls that are the host's: they must cost next to nothing. */
__attribute__((noinline)) static bool dispatch_new(sk_args *a, sk_comm *c, MPI_Request *request,
                                                   int *rc)
{
    if (goes_to_host(a, c))
        return to_host(a, c, SK_HOST_SAME);
    if (c->inter)
        return to_host(a, c, SK_HOST_INTER);
    if (!sk_proc.enabled[a->coll])
        return pass_to_host(a, c, SK_HOST_OFF);
    if (!sk_comm_adopted(c)) {
        sk_host_reason why = adopt(a, c);
        if (why != SK_NHOST_REASONS)
            return to_host(a, c, why);
    }
    if (c->host_rounds >> a->form & 1 && sk_args_may_round(a))
        return pass_to_host(a, c, SK_HOST_BITS);
    if (a->form != SK_BLOCKING && c->requests_written && sk_coll_irregular(a->coll))
        return pass_to_host(a, c, SK_HOST_FORTRAN);
    if (a->form == SK_NONBLOCKING && sk_guarded_host_is_safe(c, a))
        return pass_to_host(a, c, SK_HOST_FASTER); /* others of this collective may be Skein's */
    if (sk_proc.checking && a->form == SK_BLOCKING && !c->in_check)
        return sk_check_call(a, c, sk_dispatch, rc);
    if (sk_coll_neighbor(a->coll) && !sk_topo_get(c))
        return to_host(a, c, SK_HOST_ARGS);
    return dispatch_enabled(a, c, request, rc);
}

/* The short way: the descriptor of a call just like an earlier one that needs nothing before it.
 * NULL: take the long way. */
static sk_descriptor *cached_call(sk_args *a, sk_comm *c)
{
    sk_topo *t = sk_coll_neighbor(a->coll) ? c->topo : NULL;
    if (t && (!t->setups_done || !sk_topo_may_count(t) || unsettled(a, c) ||
              atomic_load_explicit(&c->host_colls, memory_order_relaxed)))
        return NULL;
    sk_args_clear_insignificant(a, c);
    sk_descriptor *x = sk_call_cache_find(a, c);
    if (!t || !x)
        return x;
    if (x->plan->plain)
        return NULL;
    t->calls++;
    return x;
}

/* The host starts it, and the guard does not count it: not all ranks take the shortest way, where that is found too. */
static bool host_starts(const sk_args *a, const sk_comm *c)
{
    return a->form == SK_NONBLOCKING && sk_host_starts(c, a->coll);
}

static bool passes_unread(sk_args *a, sk_comm *c, sk_guarded **g)
{
    if (sk_coll_neighbor(a->coll))
        return false;
    sk_args_clear_insignificant(a, c);
    return (*g = sk_alike_passes(c, a)) != NULL;
}

static bool dispatch_call(sk_args *a, MPI_Request *request, int *rc)
{
    sk_comm *c = sk_comm_known(a->comm);
    bool known = c != NULL;
    if (!known) {
        if (!sk_process_ready())
            return false;
        c = sk_comm_find(a->comm);
        if (!c)
            return to_host(a, c, SK_HOST_ARGS);
    }
    if (host_starts(a, c))
        return to_host(a, c, sk_coll_reduces(a->coll) ? SK_HOST_FASTER : SK_HOST_SAME);
    if (known && !c->cache) {
        if (sk_worth_repeated(c, a))
            return to_host(a, c, SK_HOST_EARLY);
    } else if (known && a->form != SK_PERSISTENT) {
        double since = now();
        sk_guarded *g = NULL;
        c->entered = SK_UNLIKELY(c->comparing) ? sk_watch_now() : 0;
        if (c->alike && passes_unread(a, c, &g)) {
            sk_guard_verdict v = {.side = SK_GUARD_HOST};
            if (a->form != SK_BLOCKING)
                return start_by_host(a, c, g, v);
            run_by_host(a, c, g, v);
            return false;
        }
        sk_descriptor *x = cached_call(a, c);
        if (x)
            return run_again(a, c, x, request, since, rc);
        a->looked = !sk_coll_neighbor(a->coll);
    }
    return dispatch_new(a, c, request, rc);
}

/* ---- device memory ---- */

/* Skein must not touch memory of a GPU, and the host knows what to do with it. But whether a call goes
 * to the host must be decided alike by all ranks, and one rank's buffer may be in device memory while
 * another's is not. So:
 *   - The ranks of a communicator agree, when they set it up, whether a GPU runtime is loaded in any of
 *     them (sk_comm.devices). If so, they compare at the blocking calls 1, 2, 4, 8, ... whether any of
 *     them had device memory so far, the call at hand included. If one had, this call and all later ones
 *     on the communicator go to the host. Nonblocking ones do in any case: they must not wait for an
 *     agreement.
 *   - A call with device memory in between, or on a communicator from before the runtime was loaded,
 *     runs on copies of its buffers. That needs no agreement. */

static int wait_staged(sk_staging *s, bool back)
{
    sk_status st = sk_staging_begin(s, back);
    if (st == SK_OK)
        SK_WAIT_UNTIL(sk_proc.wait, (st = sk_staging_poll(s)) != SK_AGAIN, sk_progress());
    return st == SK_OK ? MPI_SUCCESS : MPI_ERR_OTHER;
}

static bool dispatch_staged(sk_args *a, const sk_mpi_call *call, sk_staged_sides sides,
                            const sk_comm *c, MPI_Request *request, int *rc)
{
    sk_args copied = *a;
    sk_staging *s = sk_staging_new(call, sides);
    if (!s) {
        *rc = sk_raise(c, MPI_ERR_NO_MEM);
        return true;
    }
    copied.sbuf = sk_staging_send(s);
    copied.rbuf = sk_staging_recv(s);
    copied.staging = a->form == SK_BLOCKING ? NULL : s;
    int copying = a->form == SK_BLOCKING ? wait_staged(s, false) : MPI_SUCCESS;
    bool served = dispatch_call(&copied, request, rc);
    a->also = copied.also;
    if (served && a->form == SK_BLOCKING && *rc == MPI_SUCCESS && copying == MPI_SUCCESS)
        copying = wait_staged(s, true);
    if (served && copying != MPI_SUCCESS)
        *rc = sk_raise(c, copying);
    if (!sk_staging_kept(s))
        sk_staging_free(s);
    return served;
}

__attribute__((noinline, cold)) static bool dispatch_devices(sk_args *a, MPI_Request *request,
                                                             int *rc)
{
    if (!sk_process_ready())
        return false;
    if (atomic_load_explicit(&sk_proc.devices, memory_order_relaxed) & SK_DEVICES_LOOK)
        sk_device_look();
    sk_comm *c = a->coll == SK_BARRIER ? NULL : sk_comm_get(a->comm);
    if (!c || c->inter || c->in_check || !sk_proc.enabled[a->coll] ||
        (sk_coll_neighbor(a->coll) && !sk_topo_get(c)))
        return dispatch_call(a, request, rc);
    sk_mpi_call call;
    if (!sk_comm_adopted(c)) {
        sk_host_reason why = adopt(a, c);
        if (why != SK_NHOST_REASONS)
            return to_host(a, c, why);
    }
    sk_args_clear_insignificant(a, c);
    bool here = atomic_load_explicit(&sk_proc.devices, memory_order_relaxed) & SK_DEVICES_HERE;
    sk_staged_sides sides = {false, false};
    if (here && !c->device_host && sk_args_read(a, c, &call))
        sides = sk_staging_needed(&call);
    c->device_seen |= sides.send || sides.recv;
    if (c->devices && a->form == SK_BLOCKING && !c->device_host) {
        int64_t n = ++c->device_calls;
        c->device_host = !(n & (n - 1)) && sk_comm_any(c, c->device_seen);
    }
    if (c->device_host || (c->devices && a->form != SK_BLOCKING) ||
        (c->nranks == 1 && (sides.send || sides.recv)))
        return pass_to_host(a, c, SK_HOST_DEVICE);
    if (sides.send || sides.recv)
        return dispatch_staged(a, &call, sides, c, request, rc);
    return dispatch_call(a, request, rc);
}

bool sk_dispatch(sk_args *a, MPI_Request *request, int *rc)
{
    if (__builtin_expect(atomic_load_explicit(&sk_proc.devices, memory_order_relaxed) != 0, 0))
        return dispatch_devices(a, request, rc);
    return dispatch_call(a, request, rc);
}
