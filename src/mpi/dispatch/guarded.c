#include "mpi/dispatch/guarded.h"

#include <stdlib.h>
#include <string.h>

#include "mpi/dispatch/watch.h"
#include "mpi/dispatch/worth.h"
#include "mpi/state/topo.h"
#include "mpi/state/world.h"
#include "shm/tuning.h"

static bool bits_may_change(const sk_args *a)
{
    return sk_coll_reduces(a->coll) && (sk_proc.reproducible || sk_args_may_round(a));
}

/* Does a rank know only its own blocks? */
static bool sizes_are_private(sk_coll coll)
{
    return coll == SK_SCATTERV || coll == SK_GATHERV || coll == SK_ALLTOALLV ||
           coll == SK_ALLTOALLW;
}

/* As all ranks know it. */
static int class_of(const sk_call *call)
{
    return sizes_are_private(call->coll) ? 0 : sk_size_class_of(sk_call_bytes(call));
}

static bool several_nodes(const sk_call *call)
{
    return call->machine && call->machine->nnodes > 1;
}

/* Where collectives do not progress inside the host, one on another communicator may be active that a rank
 * must finish before it comes to this call: the host serves nothing that Skein can. */
static bool host_can_be_tried(void)
{
    return sk_proc.world && sk_proc.world->progress_everywhere && !sk_worth_host_is_slow();
}

/* Not every host has large counts, or persistent collectives that are right: Skein serves them all the same. */
static bool host_has(const sk_args *a)
{
    if (a->form == SK_PERSISTENT && !(SK_HOST_PERSISTS && sk_host.persists))
        return false;
    return !a->wide || (a->form == SK_PERSISTENT ? sk_host.persists_large : sk_host.large);
}

/* The host may crash in it, and there is no other way to call it as in mend.h. All ranks know that. */
static bool host_errs(const sk_args *a)
{
    return SK_HOST_IALLTOALLW_BY_NEIGHBORS && a->coll == SK_ALLTOALLW && a->form != SK_BLOCKING &&
           sk_topo_exists(a->comm);
}

/* Neighbourhood collectives, if all ranks know the size of blocks. Ranks without neighbours do not: they
 * would count in another cell. The v and w forms are one cell: their size is the agreed one. */
static bool neighbors_compared(const sk_comm *c, const sk_args *a)
{
    const sk_topo *t = c->topo;
    bool sized = a->coll == SK_NEIGHBOR_ALLGATHER || a->coll == SK_NEIGHBOR_ALLTOALL;
    return t && t->machine && !(sized && t->has_isolated) && sk_topo_host_allowed(t, a->coll);
}

static void free_cells(sk_guarded *first)
{
    for (sk_guarded *g = first, *next; g; g = next) {
        next = g->next;
        free(g);
    }
}

/* The other algorithm is a message for each block between nodes. The host starts it where it is nonblocking, and takes as long
 * otherwise: it is the host that is compared. */
static bool host_does_as_well(const sk_args *a, const sk_call *call, const sk_algo *other,
                              bool host)
{
    return (host || a->form == SK_NONBLOCKING) && other->straight && several_nodes(call);
}

/* Algorithms of one node combine from the left. The user's operations may still round otherwise if operands are swapped. */
static bool same_bits(const sk_algo *other, const sk_mpi_call *call)
{
    return other->rule[0].when == SK_WHEN_ONE_NODE && !call->own_op;
}

bool sk_guarded_other_allowed(const sk_args *a, const sk_mpi_call *call)
{
    if (!bits_may_change(a))
        return true;
    const sk_algo *other = sk_select_other(sk_proc.select, &call->call);
    return other && same_bits(other, call);
}

static bool uses_slots(const sk_algo *other)
{
    sk_when when = other->rule[0].when;
    return when == SK_WHEN_ONE_NODE || when == SK_WHEN_NODES;
}

/* Who may serve such calls, the host if it is `allowed`? 0: nobody is compared. *slots: the other algorithm uses shared memory. */
static unsigned sides_of(sk_comm *c, const sk_args *a, bool allowed, bool *slots)
{
    sk_mpi_call read;
    *slots = false;
    if (!sk_args_read(a, c, &read))
        return 0;
    const sk_call *call = &read.call;
    sk_choice choice;
    sk_select_choose(sk_proc.select, call, &choice);
    if (!choice.algo)
        return 0;
    const sk_algo *other = sk_select_other(sk_proc.select, call);
    *slots = other && uses_slots(other);
    unsigned sides = 1U << SK_GUARD_SKEIN;
    bool host = !bits_may_change(a) && allowed;
    if (host)
        sides |= 1U << SK_GUARD_HOST;
    if (other && !sk_coll_neighbor(a->coll) && !host_does_as_well(a, call, other, host) &&
        sk_guarded_other_allowed(a, &read))
        sides |= 1U << SK_GUARD_OTHER;
    return sides == 1U << SK_GUARD_SKEIN ? 0 : sides;
}

/* Does the tuning file have the host serve such calls? *ns: what it takes. */
static bool tuned_to_host(const sk_args *a, const sk_call *call, int64_t *ns)
{
    sk_choice choice;
    if (sk_coll_neighbor(a->coll) || !sk_select_tuned(sk_proc.select, a->coll, a->form))
        return false;
    sk_select_choose(sk_proc.select, call, &choice);
    *ns = choice.us < 1e9 ? (int64_t)(choice.us * 1e3) : INT64_MAX / 2;
    return choice.host;
}

static bool host_may_be_first(const sk_args *a)
{
    return sk_proc.guard_after >= 0 && host_can_be_tried() &&
           !sk_select_forced(sk_proc.select, a->coll) &&
           !sk_select_tuned(sk_proc.select, a->coll, a->form);
}

static bool is_prefix(const sk_args *a)
{
    return a->coll == SK_SCAN || a->coll == SK_EXSCAN;
}

static bool host_is_safe(const sk_args *a, const sk_call *call)
{
    sk_choice choice;
    if (!is_prefix(a) || !host_has(a) || !several_nodes(call) || sk_proc.reproducible ||
        !host_may_be_first(a))
        return false;
    sk_select_choose(sk_proc.select, call, &choice);
    return choice.algo && !choice.algo->chain;
}

bool sk_guarded_host_is_safe(sk_comm *c, const sk_args *a)
{
    sk_mpi_call read;
    return is_prefix(a) && sk_args_read(a, c, &read) && host_is_safe(a, &read.call);
}

bool sk_guarded_host_does_the_same(const sk_args *a, const sk_plan *plan)
{
    return plan->straight && host_has(a) && !sk_args_exchange_in_place(a) && host_may_be_first(a) &&
           !host_errs(a);
}

/* Blocking calls between nodes that are a message for each block: Skein can hardly be faster, and to find out that it is
 * slower takes many long calls. `class`: of their sizes, as all ranks know it. */
static bool host_is_first(const sk_args *a, const sk_call *call, int class)
{
    sk_choice choice;
    if (a->form != SK_BLOCKING || !several_nodes(call) || sk_coll_neighbor(a->coll) ||
        sk_args_exchange_in_place(a) || !host_may_be_first(a))
        return false;
    sk_select_choose(sk_proc.select, call, &choice);
    const sk_algo *algo = choice.algo;
    int64_t least = class > 0 ? INT64_C(1) << (class - 1) : 0;
    return algo && (algo->straight ||
                    (algo->straight_above && class > 0 && least > algo->straight_above(call)));
}

void sk_guarded_nap(sk_guarded *g, const sk_comm *c)
{
    int64_t quiet = g->guard.quiet;
    if (!c->meets || g->form != SK_BLOCKING || quiet <= g->nap || g->rest)
        return;
    g->rest = quiet - g->nap;
    g->guard.quiet = g->nap;
}

sk_guard_verdict sk_guarded_wake(sk_guarded *g, const sk_comm *c, bool good)
{
    g->guard.quiet = g->rest;
    g->rest = 0;
    if (!good && g->nap < INT64_MAX / 2)
        g->nap *= 2;
    sk_guarded_nap(g, c);
    sk_guard_quiet(&g->guard);
    return (sk_guard_verdict){.side = g->guard.best};
}

static sk_guarded *new_cell(sk_comm *c, sk_guarded like, sk_guard guard)
{
    sk_guarded *g = calloc(1, sizeof *g);
    if (!g)
        sk_host.Abort(c->user, MPI_ERR_NO_MEM); /* the others count */
    *g = like;
    g->guard = guard;
    g->next = c->guarded;
    c->guarded_free = free_cells;
    c->guarded = g;
    sk_guarded_nap(g, c);
    return g;
}

/* Calls before the first comparison. Short ones are many before what that costs is a small part of their time; the
 * computed one, which is the same on all ranks. Where the user has changed what choices depend on, nobody knows. */
static int64_t first_calls(const sk_call *call)
{
    enum { PATIENCE_NS = 10000000, MOST = 500 };
    double ns = sk_proc.guard_soon ? 0 : sk_worth_host_ns(call),
           calls = ns > 0 ? PATIENCE_NS / ns : 0;
    int64_t most = calls < MOST ? (int64_t)calls : MOST;
    return most > sk_proc.guard_after ? most : sk_proc.guard_after;
}

enum {
    MEET = 10
}; /* times as many calls before the ranks meet for other communicators the first time */

static int64_t shorter(int64_t so_far, int64_t ns)
{
    return so_far && so_far < ns ? so_far : ns;
}

/* The largest of each value over all ranks. What that takes is known next time. The shortest counts: in longer ones a rank
 * was late. */
static int64_t agree_on(sk_comm *c, int64_t *values, int n)
{
    int64_t since = sk_watch_now();
    if (!sk_comm_largest(c, values, n))
        sk_host.Abort(c->user, MPI_ERR_INTERN); /* the others would decide something else */
    int64_t took = sk_watch_now() - since;
    c->meeting_ns = shorter(c->meeting_ns, took);
    return took - c->meeting_ns;
}

/* ---- sizes that not all ranks know ---- */

static sk_size_class *sizes_of(sk_comm *c, sk_coll coll)
{
    if (!c->sizes)
        c->sizes = calloc(SK_NCOLLS, sizeof *c->sizes);
    if (!c->sizes)
        sk_host.Abort(c->user, MPI_ERR_NO_MEM); /* the others count */
    return &c->sizes[coll];
}

/* Calls of other sizes were in between: what was timed compares nothing. */
static void abandon(const sk_comm *c, const sk_size_class *s)
{
    for (sk_guarded *g = c->guarded; g; g = g->next)
        if (g->sizes == s && g->guard.phase != SK_GUARD_DECIDED)
            sk_guard_abandon(&g->guard);
}

/* Count a call, before which the ranks may agree. Returns what the others took to come to that; 0: they did not. */
static int64_t count_sizes(sk_comm *c, sk_size_class *s, const sk_call *call)
{
    enum { MEETING = SK_SIZE_CLASS_VALUES, VALUES };
    int64_t size = sk_call_size(call), values[VALUES] = {[MEETING] = c->meeting_ns};
    if (sk_size_class_count(s, size))
        return 0;
    sk_size_class_ask(s, size, values);
    agree_on(c, values, VALUES);
    if (!sk_size_class_agree(s, size, values))
        abandon(c, s);
    return values[MEETING] + 1;
}

/* The next time, by what the calls of their cell take. */
static void limit_sizes(const sk_guarded *g, int64_t meeting)
{
    sk_guard_times t = sk_guard_last_times(&g->guard);
    bool host = g->guard.best == SK_GUARD_HOST;
    sk_size_class_limit(g->sizes, meeting, host ? t.host : t.skein,
                        host || !t.host ? 0 : t.host - t.skein);
}

/* ---- cells ---- */

static sk_guarded *find_or_make(sk_comm *c, const sk_args *a, const sk_call *call, sk_guarded like,
                                bool host, int64_t ns)
{
    for (sk_guarded *g = c->guarded; g; g = g->next)
        if (g->coll == like.coll && g->form == like.form && g->size_class == like.size_class &&
            g->rounds == like.rounds && g->fixed == like.fixed && g->version == like.version &&
            g->host_allowed == like.host_allowed)
            return g;
    int64_t soon = first_calls(call), first = like.fixed ? INT64_MAX : soon;
    like.nap = soon > 0 ? MEET * soon : MEET;
    host = host || (like.host_allowed && host_is_first(a, call, like.size_class));
    return new_cell(c, like, host ? sk_guard_new_host(first, ns) : sk_guard_new(first));
}

/* May the host serve such a call? The same answer on all ranks. */
static bool host_allowed(const sk_comm *c, const sk_args *a)
{
    return c->nranks > 1 && !c->devices && host_has(a) && host_can_be_tried() &&
           (!sk_coll_neighbor(a->coll) || neighbors_compared(c, a)) && !host_errs(a) &&
           !(sk_args_exchange_in_place(a) && (a->form != SK_BLOCKING || SK_HOST_SPLITS_ELEMENTS));
}

static bool is_compared(sk_coll coll)
{
    return sk_proc.guard_after >= 0 && !sk_select_forced(sk_proc.select, coll);
}

/* Calls of the other algorithm until it has connected, or used all slots that it takes by turns: few, if the messages are
 * long. */
static int64_t cold_calls(int size_class, bool lanes, bool slots)
{
    enum { FEWEST = 2 };
    if (!slots)
        return FEWEST;
    int64_t least = size_class > 0 ? INT64_C(1) << (size_class - 1) : 1,
            calls = SK_SHM_NEAR_BYTES / least;
    calls = calls < FEWEST ? FEWEST : calls > SK_SHM_NEAR_SLOTS ? SK_SHM_NEAR_SLOTS : calls;
    return calls * (lanes ? SK_SHM_LANES : 1);
}

/* On one node what copies cost was measured, and by that another algorithm was chosen: it is the host that may still be
 * faster. Not where the user has changed what choices depend on. */
static void warm(sk_guard *guard, const sk_comm *c, int64_t cold)
{
    sk_guard_warm(guard, cold);
    if (c->machine && c->machine->nnodes == 1 && sk_copy_prices_known(&c->machine->copy) &&
        !sk_proc.guard_soon)
        sk_guard_leave_other(guard);
}

bool sk_guarded_persistent(sk_comm *c, const sk_args *a, sk_guard *out, bool *tuned)
{
    sk_mpi_call read;
    int64_t ns = 0;
    /* A start that agrees must go on while its rank is in another call of the host's. */
    if (c->nranks < 2 || c->devices || !sk_proc.world->progress_everywhere ||
        !sk_args_read(a, c, &read))
        return false;
    bool host = host_allowed(c, a) && sk_proc.world->keeps_comms;
    *tuned = host && tuned_to_host(a, &read.call, &ns);
    bool slots = false;
    unsigned sides = is_compared(a->coll) ? sides_of(c, a, host, &slots) : 0;
    bool fixed = !(sides & ~(1U << SK_GUARD_SKEIN)) || (*tuned && bits_may_change(a));
    if (fixed && !*tuned)
        return false;
    if (*tuned)
        sides |= 1U << SK_GUARD_HOST;
    int64_t first = fixed ? INT64_MAX : first_calls(&read.call);
    *out = *tuned ? sk_guard_new_host(first, ns) : sk_guard_new(first);
    sk_guard_compare(out, sides);
    warm(out, c, cold_calls(class_of(&read.call), false, slots));
    return true;
}

sk_guarded *sk_guarded_find(sk_comm *c, const sk_args *a, const sk_call *call, bool counted)
{
    bool compared = is_compared(a->coll);
    int64_t ns = 0;
    bool neighbor = sk_coll_neighbor(a->coll);
    bool allowed = host_allowed(c, a);
    if (a->form == SK_PERSISTENT || c->nranks < 2 || c->devices || (neighbor && !allowed))
        return NULL;
    bool host = allowed && tuned_to_host(a, call, &ns);
    if (!compared && !host)
        return NULL;
    bool tuned = host, private = sizes_are_private(a->coll);
    sk_size_class *sizes = private && compared && a->form == SK_BLOCKING && several_nodes(call)
                               ? sizes_of(c, a->coll)
                               : NULL;
    int64_t met = sizes && !counted ? count_sizes(c, sizes, call) : 0;
    host = host || (allowed && host_is_safe(a, call));
    sk_guarded like = {.form = a->form,
                       .coll = a->coll,
                       .sizes = sizes,
                       .size_class = sizes ? sizes->agreed : class_of(call),
                       .version = neighbor ? c->topo->neighborhood.version : 0,
                       .rounds = bits_may_change(a),
                       .host_allowed = allowed,
                       .tuned = tuned};
    like.fixed = host && (!compared || like.rounds);
    sk_guarded *g = find_or_make(c, a, call, like, host, ns);
    if (met)
        limit_sizes(g, met);
    return g;
}

/* Where a comparison goes on. */
typedef struct meeting {
    sk_comm *c;
    sk_size_class *sizes; /* NULL: all ranks know them, or they are mixed */
    bool alike;           /* in all calls since the ranks agreed on their class */
} meeting;

static int64_t largest(void *of, int64_t values[SK_GUARD_VALUES])
{
    enum { SPREAD = SK_GUARD_VALUES, VALUES };
    meeting *m = of;
    sk_comm *c = m->c;
    int64_t before = sk_watch_now(), since = sk_watch_now(), all[VALUES] = {0};
    memcpy(all, values, SK_GUARD_VALUES * sizeof *values);
    all[SK_GUARD_MEETING] = c->meeting_ns;
    all[SK_GUARD_CLOCK] = c->clock_ns = shorter(c->clock_ns, since - before);
    all[SPREAD] = m->sizes ? sk_size_class_spread(m->sizes) : 0;
    int64_t waited = agree_on(c, all, VALUES);
    memcpy(values, all, SK_GUARD_VALUES * sizeof *values);
    m->alike = m->alike && sk_size_class_alike(all[SPREAD]);
    return waited;
}

/* All ranks have the same times; one of them counts, so that the report can add up over ranks. */
void sk_guarded_ended(const sk_guard *g, const sk_comm *c, sk_coll coll, int64_t bytes,
                      const sk_learn_call *learn)
{
    sk_learn_comparison(g, learn);
    sk_guard_times t = sk_guard_last_times(g);
    if (c->rank == 0 && t.host)
        sk_report_comparison(sk_proc.report, coll, bytes,
                             &(sk_report_outcome){.host_won = g->best == SK_GUARD_HOST,
                                                  .skein_ns = t.skein,
                                                  .host_ns = t.host});
}

/* One cell at a time is compared. Is that another one? It loses its turn if its calls do not come any more. */
static bool must_wait(const sk_guarded *g, sk_comm *c)
{
    enum { PATIENCE = 100 };
    sk_guarded *other = c->compared;
    if (!other || other == g)
        return false;
    if (other->guard.held || ++other->waiting < PATIENCE)
        return true;
    sk_guard_abandon(&other->guard);
    c->compared = NULL;
    return false;
}

/* A nonblocking call. What the one before it took includes all that was waited since. */
static sk_guard_verdict ask_apart(sk_guarded *g, sk_comm *c, const sk_args *a)
{
    bool begins = sk_guard_begins(&g->guard);
    if (begins && must_wait(g, c)) {
        g->passed++;
        return (sk_guard_verdict){.side = g->guard.best};
    }
    if (begins)
        g->learn = sk_learn_about(c, a);
    int64_t waited = atomic_load_explicit(&sk_proc.waited, memory_order_relaxed);
    if (g->open)
        sk_guard_took(&g->guard, waited - g->before);
    sk_guard_verdict v = sk_guard_ask(&g->guard, NULL, c);
    if (g->guard.phase != SK_GUARD_DECIDED) {
        c->compared = g;
        sk_watch(SK_WATCH_NONBLOCKING, !g->guard.held);
    }
    g->open = v.timed;
    g->before = waited;
    g->waiting = 0;
    return v;
}

sk_guard_verdict sk_guarded_ask(sk_guarded *g, sk_comm *c, const sk_args *a, int64_t bytes)
{
    if (!g->guard.sides && g->guard.quiet <= 0) {
        bool slots;
        sk_guard_compare(&g->guard, sides_of(c, a, g->host_allowed, &slots));
        warm(&g->guard, c, cold_calls(g->size_class, g->form != SK_BLOCKING, slots));
    }
    g->bytes = bytes;
    if (g->form != SK_BLOCKING)
        return ask_apart(g, c, a);
    meeting m = {c, g->size_class == SK_SIZE_CLASS_MIXED ? NULL : g->sizes, true};
    sk_guard before = g->guard;
    sk_guard_verdict v = sk_guard_ask(&g->guard, largest, &m);
    if (!m.alike) { /* what was timed compares nothing, and must have changed nothing */
        g->guard = before;
        sk_guard_put_off(&g->guard, before.before);
        v = (sk_guard_verdict){.side = before.best, .decided = true};
    } else if (v.decided) {
        g->learn = sk_learn_about(c, a);
        sk_guarded_ended(&g->guard, c, g->coll, g->bytes, &g->learn);
    }
    sk_guarded_nap(g, c);
    return v;
}

sk_guarded *sk_guarded_agree(sk_comm *c, sk_comm *on)
{
    sk_guarded *g = c->compared;
    meeting m = {on, NULL, true};
    if (!sk_guard_agree(&g->guard, largest, &m))
        return NULL;
    sk_guarded_ended(&g->guard, c, g->coll, g->bytes, &g->learn);
    c->compared = NULL;
    return g;
}

void sk_guarded_begin(sk_guarded *g, int64_t since)
{
    g->since = since ? since : sk_watch_now();
}

void sk_guarded_over(sk_guarded *g)
{
    if (g->form == SK_BLOCKING)
        sk_guard_took(&g->guard, sk_watch_now() - g->since);
    else
        sk_watched(g->since);
}
