/* turn_rules.c: what a rank may do in its turns, as far as its own schedule shows it. */
#include <stdlib.h>

#include "sched/sched_inner.h"

enum { NEVER = UINT32_MAX };

typedef struct turn_use {
    uint32_t opened, published; /* in which round */
    bool joined, common;
} turn_use;

static uint32_t turn_of(const sk_span *sp)
{
    return sp->len && sk_buf_is_bay(sp->buf) ? sk_buf_turn(sp->buf) : NEVER;
}

static bool is_common(const sk_span *sp)
{
    return sp->len && (sp->buf & SK_BUF_MASK) == SK_COMMON;
}

/* Waits for all mates. */
static bool needs_all(const sk_step *st)
{
    return st->kind == SK_STEP_JOIN || (st->kind == SK_STEP_TAKE && is_common(&st->a));
}

/* The turns that a step uses, at most two. To settle a turn is no use of it: all mates may do that
 * at once, when they are done with it. */
static int uses(const sk_step *st, uint32_t turn[2])
{
    int n = 0;
    if (st->kind == SK_STEP_PUBLISH || st->kind == SK_STEP_MEET)
        turn[n++] = st->packet;
    else {
        turn[n] = turn_of(&st->a);
        n += turn[n] != NEVER;
        turn[n] = turn_of(&st->b);
        n += turn[n] != NEVER;
    }
    return n;
}

/* A bay is opened by the first step that writes or publishes it. */
static bool note_opening(const sk_sched *s, turn_use *use)
{
    for (uint32_t i = 0; i < s->v.nsteps; i++) {
        const sk_step *st = &s->steps[i];
        uint32_t round = s->round_of[i], t = turn_of(&st->b);
        if (st->kind == SK_STEP_PUBLISH) {
            t = st->packet;
            if (use[t].published != NEVER)
                return false;
            use[t].published = round;
        }
        if (t != NEVER && use[t].opened == NEVER)
            use[t].opened = round;
    }
    for (uint32_t t = 0; t < s->v.nturns; t++)
        if (s->turns[t].all && use[t].published == NEVER)
            return false;
    return true;
}

/* Two turns at once, and once a turn is begun those before the one before it are over: wires may
 * have no more than two bays for each mate. */
static bool in_order(const sk_sched *s, sk_round *rounds, uint32_t nrounds)
{
    uint32_t last = 0, first = s->v.nturns;
    for (uint32_t r = 0; r < nrounds; r++)
        rounds[r].passed = s->v.nturns;
    for (uint32_t i = 0, end; i < s->v.nsteps; i = end) {
        uint32_t turn[2], r = s->round_of[i], *low = &rounds[r].passed;
        for (end = i; end < s->v.nsteps && s->round_of[end] == r; end++)
            for (int n = uses(&s->steps[end], turn); n > 0; n--) {
                *low = turn[n - 1] < *low ? turn[n - 1] : *low;
                last = turn[n - 1] > last ? turn[n - 1] : last;
            }
        if (*low + 1 < last)
            return false;
    }
    for (uint32_t r = nrounds; r-- > 0; rounds[r].passed = first)
        first = rounds[r].passed < first ? rounds[r].passed : first;
    return true;
}

/* What is exposed is watched until later: until its turn is settled, or mates are known to have
 * come to a turn after it. */
static bool exposed_ok(const sk_sched *s)
{
    uint32_t below = 0, next = 0; /* later rounds settle turns below this; with this round */
    for (uint32_t i = s->v.nsteps; i-- > 0;) {
        const sk_step *st = &s->steps[i];
        if (i + 1 < s->v.nsteps && s->round_of[i] != s->round_of[i + 1])
            below = next;
        uint32_t done = sk_step_settles(st);
        next = done > next ? done : next;
        if (st->kind == SK_STEP_EXPOSE && st->packet >= below)
            return false;
    }
    return true;
}

static bool is_near(const sk_step *st)
{
    return (st->kind == SK_STEP_SEND || st->kind == SK_STEP_RECV) && st->packet;
}

/* One near message in a round to, and one from, each mate. */
static bool near_ok(const sk_sched *s)
{
    for (uint32_t i = 0; i < s->v.nsteps; i++) {
        const sk_step *st = &s->steps[i];
        for (uint32_t k = i; is_near(st) && k-- > 0 && s->round_of[k] == s->round_of[i];)
            if (is_near(&s->steps[k]) && s->steps[k].kind == st->kind &&
                s->steps[k].peer == st->peer)
                return false;
    }
    return true;
}

static bool step_ok(const sk_sched *s, const sk_step *st, uint32_t round, const sk_round *rounds,
                    turn_use *use)
{
    uint32_t from = turn_of(&st->a), to = turn_of(&st->b), t = st->packet, used[2];
    for (int i = uses(st, used); i-- > 0;)
        if (s->turns[used[i]].room == SK_NO_PART)
            return false;
    if (to != NEVER && round >= use[to].published)
        return false;
    if (needs_all(st) && (!s->turns[t].all || round < use[t].published))
        return false;
    if (is_common(&st->b) && !s->turns[to].all)
        return false;
    if (st->kind == SK_STEP_SETTLE && rounds[round].passed <= t)
        return false;
    if (st->kind == SK_STEP_JOIN) {
        if (use[t].joined)
            return false;
        use[t].joined = true;
    }
    if (from != NEVER)
        use[from].common |= is_common(&st->a);
    if (to != NEVER)
        use[to].common |= is_common(&st->b);
    return true;
}

static bool rules_kept(const sk_sched *s, sk_round *rounds, uint32_t nrounds, turn_use *use)
{
    if (!note_opening(s, use) || !in_order(s, rounds, nrounds))
        return false;
    for (uint32_t i = 0; i < s->v.nsteps; i++)
        if (!step_ok(s, &s->steps[i], s->round_of[i], rounds, use))
            return false;
    for (uint32_t t = 0; t < s->v.nturns; t++)
        if (use[t].joined && use[t].common)
            return false;
    return exposed_ok(s) && near_ok(s);
}

sk_status sk_sched_turns(const sk_sched *s, sk_round *rounds, uint32_t nrounds, uint32_t *open_in)
{
    turn_use *use = calloc(s->v.nturns, sizeof *use);
    if (!use)
        return SK_NOMEM;
    for (uint32_t t = 0; t < s->v.nturns; t++)
        use[t].opened = use[t].published = NEVER;
    bool ok = rules_kept(s, rounds, nrounds, use);
    for (uint32_t t = 0; t < s->v.nturns; t++)
        open_in[t] = use[t].opened;
    free(use);
    return ok ? SK_OK : SK_BADARG;
}
