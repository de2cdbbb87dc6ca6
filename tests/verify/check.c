#include "check.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { RUN_AGAIN = 16 }; /* ranks up to which schedules run twice; many ranks add only time */

static bool wrong(char *why, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static bool wrong(char *why, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(why, size, format, args);
    va_end(args);
    return false;
}

/* `fits` and `scratch` decide for all ranks, so they must come out the same on all that know
 * anything. `speaker` is the first of these. */
static bool agreed(const sk_algo *a, const scene *sc, bool *fits, int *speaker, char *why,
                   size_t size)
{
    int one = 0;
    while (one < sc->k.p - 1 && !scene_knows(sc, one))
        one++;
    *speaker = one;
    *fits = !a->fits || a->fits(&sc->call[one]);
    int64_t scratch = *fits && a->scratch ? a->scratch(&sc->call[one]) : 0;
    for (int r = one + 1; r < sc->k.p; r++) {
        if (!scene_knows(sc, r))
            continue;
        if (a->fits && a->fits(&sc->call[r]) != *fits)
            return wrong(why, size, "fits differs between ranks %d and %d", one, r);
        if (*fits && a->scratch && a->scratch(&sc->call[r]) != scratch)
            return wrong(why, size, "scratch differs between ranks %d and %d", one, r);
    }
    return true;
}

static bool some_rank_knows_nothing(const scene *sc)
{
    bool some = false;
    for (int r = 0; r < sc->k.p; r++)
        some |= !scene_knows(sc, r);
    return some;
}

/* Sizes of these are known to no one but the rank itself, or not to all, so neither a copy made in
 * place has a bound, nor what "shm" packs because long blocks go in pieces. */
static bool scratch_unbounded(const sk_algo *a, const scene *sc)
{
    const kase *k = &sc->k;
    bool alone = coll_is_v(k->coll) && k->coll != SK_ALLGATHERV && k->coll != SK_REDUCE_SCATTER &&
                 strcmp(a->name, "shm") == 0;
    if (k->in_place && (k->coll == SK_ALLTOALLV || k->coll == SK_ALLTOALLW))
        return true;
    return k->machine && (alone || (k->direct && some_rank_knows_nothing(sc)));
}

static bool within_bound(const sk_algo *a, const scene *sc, sk_sched *const *scheds, int speaker,
                         char *why, size_t size)
{
    int64_t bound = a->scratch ? a->scratch(&sc->call[speaker]) : 0;
    for (int r = 0; r < sc->k.p && !scratch_unbounded(a, sc); r++) {
        int64_t used = sk_sched_view(scheds[r])->scratch;
        if (used > bound)
            return wrong(why, size, "rank %d uses %lld bytes of scratch, the bound is %lld", r,
                         (long long)used, (long long)bound);
    }
    return true;
}

sk_sched **scheds_build(const sk_algo *a, const scene *sc, char *why, size_t size)
{
    sk_sched **s = calloc((size_t)sc->k.p, sizeof(sk_sched *));
    if (!s) {
        wrong(why, size, "out of memory");
        return NULL;
    }
    for (int r = 0; r < sc->k.p; r++) {
        sk_status st = sk_algo_build(a, &sc->call[r], &s[r]);
        if (st) {
            wrong(why, size, "rank %d cannot build: %s", r, sk_status_text(st));
            scheds_free(s, sc->k.p);
            return NULL;
        }
    }
    return s;
}

void scheds_free(sk_sched **scheds, int p)
{
    for (int r = 0; scheds && r < p; r++)
        sk_sched_free(scheds[r]);
    free(scheds);
}

/* Inside the buffer it names? Otherwise running it would break the test instead of failing it. */
static bool inside(const scene *sc, int rank, const struct sk_sched_view *v, sk_span s)
{
    const sk_type *t = &v->types[s.type];
    int64_t lo = 0, hi = s.len;
    if (s.len == 0)
        return true;
    if (!t->contig)
        sk_type_bounds(t, s.len / t->size, &lo, &hi);
    lo += s.off;
    hi += s.off;
    if (s.buf == SK_SCRATCH)
        return lo >= 0 && hi <= v->scratch;
    if (sk_buf_is_slot(s.buf))
        return lo >= 0 && hi <= v->epochs[sk_buf_epoch(s.buf)].slot_bytes;
    const side_map *m = s.buf == SK_SEND ? &sc->send[rank] : &sc->recv[rank];
    return lo >= m->lo && hi <= m->hi;
}

/* Operations see whole elements of the call's own type, at addresses where such elements may lie.
 */
static bool operand_ok(const sk_call *c, sk_span s)
{
    const sk_type *t = &c->types[c->send.type];
    int64_t step = t->extent & -t->extent;
    if (s.type != c->send.type || s.len % t->size)
        return false;
    if (s.buf == SK_SEND || s.buf == SK_RECV)
        return s.off % t->extent == 0;
    return (s.off + t->true_lb) % (step < 16 ? step : 16) == 0;
}

static bool names_rank(const sk_step *st)
{
    switch (st->kind) {
    case SK_STEP_SEND:
    case SK_STEP_RECV:
    case SK_STEP_PSEND:
    case SK_STEP_PRECV:
    case SK_STEP_READ:
        return true;
    case SK_STEP_TAKE:
        return (st->a.buf & SK_BUF_MASK) == SK_SLOT;
    default:
        return false;
    }
}

static bool combines(const sk_step *st)
{
    return st->kind == SK_STEP_REDUCE || st->kind == SK_STEP_FOLD || st->kind == SK_STEP_JOIN;
}

static bool steps_ok(const scene *sc, int rank, const sk_sched *s, char *why, size_t size)
{
    const struct sk_sched_view *v = sk_sched_view(s);
    for (uint32_t i = 0; i < v->nepochs; i++)
        if (v->epochs[i].slot_bytes > sc->call[rank].slot_bytes)
            return wrong(why, size, "rank %d epoch %u needs more than a slot has", rank, i);
    for (uint32_t i = 0; i < v->nsteps; i++) {
        const sk_step *st = &v->steps[i];
        if (names_rank(st) && (st->peer < 0 || st->peer >= sc->k.p))
            return wrong(why, size, "rank %d step %u: no such rank %d", rank, i, st->peer);
        if (!inside(sc, rank, v, st->a) || !inside(sc, rank, v, st->b))
            return wrong(why, size, "rank %d step %u leaves its buffer", rank, i);
        if (combines(st) &&
            (!operand_ok(&sc->call[rank], st->a) || !operand_ok(&sc->call[rank], st->b)))
            return wrong(why, size, "rank %d step %u reduces what is no element", rank, i);
    }
    return true;
}

static bool run_once(world *w, const scene *sc, sk_sched *const *scheds, algebra alg,
                     unsigned epoch, char *why, size_t size)
{
    if (!world_lay(w, sc, scheds, alg, epoch))
        return wrong(why, size, "out of memory");
    sk_status st = world_run(w, scheds);
    if (st == SK_DEADLOCK)
        return wrong(why, size, "%d ranks wait for ever", sk_inproc_stuck(w->local));
    if (st)
        return wrong(why, size, "the run failed: %s%s%s", sk_status_text(st),
                     *sk_inproc_why(w->local) ? ": " : "", sk_inproc_why(w->local));
    if (alg == SHADE_TREE)
        return world_same_result(w, why, size);
    for (int r = 0; r < sc->k.p && sc->k.coll == SK_BARRIER; r++)
        if (!world_heard_all(w, r))
            return wrong(why, size, "rank %d leaves before all have come", r);
    world_expect(w);
    return world_compare(w, why, size);
}

bool check_scheds(world *w, const scene *sc, sk_sched *const *scheds, char *why, size_t size)
{
    bool reduces = coll_reduces(sc->k.coll), ordered = sc->k.ordered;
    int64_t sends = 0, recvs = 0;
    for (int r = 0; r < sc->k.p; r++) {
        char clash[160];
        if (!steps_ok(sc, r, scheds[r], why, size))
            return false;
        if (!sk_sched_disjoint(scheds[r], clash, sizeof clash))
            return wrong(why, size, "rank %d: %s", r, clash);
        sk_sched_stats n = sk_sched_count(scheds[r]);
        sends += n.sends;
        recvs += n.recvs;
    }
    algebra first = !reduces ? SHADE_PLACE : ordered ? SHADE_CONCAT : SHADE_SUM;
    if (!run_once(w, sc, scheds, first, 0, why, size))
        return false;
    if (sends != recvs || sends != sk_inproc_messages(w->local))
        return wrong(why, size, "%lld sends and %lld receives, %lld messages", (long long)sends,
                     (long long)recvs, (long long)sk_inproc_messages(w->local));
    /* Again, on other buffers. The ranks' results of an allreduce must be the same expression, so
     * that floating point gives the same bits everywhere: sums of NaNs depend even on the order
     * of two operands. */
    if (sc->k.coll != SK_ALLREDUCE && sc->k.p > RUN_AGAIN)
        return true;
    algebra again = sc->k.coll != SK_ALLREDUCE ? first : SHADE_TREE;
    return run_once(w, sc, scheds, again, 1, why, size);
}

verdict check_algo(world *w, const sk_algo *a, const kase *k, char *why, size_t size)
{
    verdict result = WRONG;
    bool fits = false;
    int speaker = 0;
    sk_sched **scheds = NULL;
    scene *sc = scene_new(k);
    if (!sc) {
        wrong(why, size, "out of memory");
        return WRONG;
    }
    if (!agreed(a, sc, &fits, &speaker, why, size))
        goto out;
    if (!fits) {
        result = DOES_NOT_FIT;
        goto out;
    }
    scheds = scheds_build(a, sc, why, size);
    if (scheds && within_bound(a, sc, scheds, speaker, why, size) &&
        check_scheds(w, sc, scheds, why, size))
        result = RIGHT;
out:
    scheds_free(scheds, k->p);
    scene_free(sc);
    return result;
}
