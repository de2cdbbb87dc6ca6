/* epoch_rules.c: what a rank may do in its epochs, as far as its own schedule shows it. */
#include <stdlib.h>

#include "sched/sched_inner.h"

enum { NEVER = UINT32_MAX };

typedef struct epoch_use {
    uint32_t opened, posted; /* in which round */
    bool joined, common;
} epoch_use;

static uint32_t epoch_of(const sk_span *sp)
{
    return sp->len && sk_buf_is_slot(sp->buf) ? sk_buf_epoch(sp->buf) : NEVER;
}

static bool is_common(const sk_span *sp)
{
    return sp->len && (sp->buf & SK_BUF_MASK) == SK_COMMON;
}

/* Waits for all local ranks. */
static bool needs_all(const sk_step *st)
{
    return st->kind == SK_STEP_JOIN || (st->kind == SK_STEP_TAKE && is_common(&st->a));
}

/* The epochs that a step uses, at most two. To quiesce an epoch is no use of it: all local ranks may do that
 * at once, when they are done with it. */
static int uses(const sk_step *st, uint32_t epoch[2])
{
    int n = 0;
    if (st->kind == SK_STEP_POST || st->kind == SK_STEP_AWAIT)
        epoch[n++] = st->packet;
    else {
        epoch[n] = epoch_of(&st->a);
        n += epoch[n] != NEVER;
        epoch[n] = epoch_of(&st->b);
        n += epoch[n] != NEVER;
    }
    return n;
}

/* A slot is opened by the first step that writes or posts it. */
static bool note_opening(const sk_sched *s, epoch_use *use)
{
    for (uint32_t i = 0; i < s->v.nsteps; i++) {
        const sk_step *st = &s->steps[i];
        uint32_t round = s->round_of[i], t = epoch_of(&st->b);
        if (st->kind == SK_STEP_POST) {
            t = st->packet;
            if (use[t].posted != NEVER)
                return false;
            use[t].posted = round;
        }
        if (t != NEVER && use[t].opened == NEVER)
            use[t].opened = round;
    }
    for (uint32_t t = 0; t < s->v.nepochs; t++)
        if (s->epochs[t].all && use[t].posted == NEVER)
            return false;
    return true;
}

/* Two epochs at once, and once an epoch is begun those before the one before it are over: wires may
 * have no more than two slots for each local rank. */
static bool in_order(const sk_sched *s, sk_round *rounds, uint32_t nrounds)
{
    uint32_t last = 0, first = s->v.nepochs;
    for (uint32_t r = 0; r < nrounds; r++)
        rounds[r].released = s->v.nepochs;
    for (uint32_t i = 0, end; i < s->v.nsteps; i = end) {
        uint32_t epoch[2], r = s->round_of[i], *low = &rounds[r].released;
        for (end = i; end < s->v.nsteps && s->round_of[end] == r; end++)
            for (int n = uses(&s->steps[end], epoch); n > 0; n--) {
                *low = epoch[n - 1] < *low ? epoch[n - 1] : *low;
                last = epoch[n - 1] > last ? epoch[n - 1] : last;
            }
        if (*low + 1 < last)
            return false;
    }
    for (uint32_t r = nrounds; r-- > 0; rounds[r].released = first)
        first = rounds[r].released < first ? rounds[r].released : first;
    return true;
}

/* What is exported is watched until later: until its epoch is quiesced, or local ranks are known to have
 * come to an epoch after it. */
static bool single_copy_ok(const sk_sched *s)
{
    uint32_t below = 0, next = 0; /* later rounds quiesce epochs below this; with this round */
    for (uint32_t i = s->v.nsteps; i-- > 0;) {
        const sk_step *st = &s->steps[i];
        if (i + 1 < s->v.nsteps && s->round_of[i] != s->round_of[i + 1])
            below = next;
        uint32_t done = sk_step_quiesces(st);
        next = done > next ? done : next;
        if (st->kind == SK_STEP_EXPORT && st->packet >= below)
            return false;
    }
    return true;
}

static bool is_intra(const sk_step *st)
{
    return (st->kind == SK_STEP_SEND || st->kind == SK_STEP_RECV) && st->packet;
}

/* One near message in a round to, and one from, each local rank. */
static bool intra_ok(const sk_sched *s)
{
    for (uint32_t i = 0; i < s->v.nsteps; i++) {
        const sk_step *st = &s->steps[i];
        for (uint32_t k = i; is_intra(st) && k-- > 0 && s->round_of[k] == s->round_of[i];)
            if (is_intra(&s->steps[k]) && s->steps[k].kind == st->kind &&
                s->steps[k].peer == st->peer)
                return false;
    }
    return true;
}

static bool step_ok(const sk_sched *s, const sk_step *st, uint32_t round, const sk_round *rounds,
                    epoch_use *use)
{
    uint32_t from = epoch_of(&st->a), to = epoch_of(&st->b), t = st->packet, used[2];
    for (int i = uses(st, used); i-- > 0;)
        if (s->epochs[used[i]].slot_bytes == SK_NO_PART)
            return false;
    if (to != NEVER && round >= use[to].posted)
        return false;
    if (needs_all(st) && (!s->epochs[t].all || round < use[t].posted))
        return false;
    if (is_common(&st->b) && !s->epochs[to].all)
        return false;
    if (st->kind == SK_STEP_QUIESCE && rounds[round].released <= t)
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

static bool rules_kept(const sk_sched *s, sk_round *rounds, uint32_t nrounds, epoch_use *use)
{
    if (!note_opening(s, use) || !in_order(s, rounds, nrounds))
        return false;
    for (uint32_t i = 0; i < s->v.nsteps; i++)
        if (!step_ok(s, &s->steps[i], s->round_of[i], rounds, use))
            return false;
    for (uint32_t t = 0; t < s->v.nepochs; t++)
        if (use[t].joined && use[t].common)
            return false;
    return single_copy_ok(s) && intra_ok(s);
}

sk_status sk_sched_epochs(const sk_sched *s, sk_round *rounds, uint32_t nrounds, uint32_t *open_in)
{
    epoch_use *use = calloc(s->v.nepochs, sizeof *use);
    if (!use)
        return SK_NOMEM;
    for (uint32_t t = 0; t < s->v.nepochs; t++)
        use[t].opened = use[t].posted = NEVER;
    bool ok = rules_kept(s, rounds, nrounds, use);
    for (uint32_t t = 0; t < s->v.nepochs; t++)
        open_in[t] = use[t].opened;
    free(use);
    return ok ? SK_OK : SK_BADARG;
}
