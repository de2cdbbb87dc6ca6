/* freeze.c: check the rules of epochs and sort the steps of each round by when they are done. */
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "sched/sched_inner.h"

/* ---- rules of epochs, as far as one rank can see ---- */

enum { NEVER = UINT32_MAX, FEW = 4 /* epochs, for which nothing is allocated */ };

typedef struct epoch_use {
    uint32_t opened, posted; /* the round */
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

/* Does this step wait for all local ranks? */
static bool needs_all(const sk_step *st)
{
    return st->kind == SK_STEP_JOIN || (st->kind == SK_STEP_TAKE && is_common(&st->a));
}

/* The epochs that a step uses, at most two. QUIESCE does not count as a use: all local ranks may
 * quiesce an epoch at once, when they are done with it. */
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

/* The first step that writes or posts a slot opens the epoch. Each epoch is posted at most once, by
 * every rank if it is declared so. */
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

/* A rank uses at most two epochs at once: when it begins one, it is done with all but the one
 * before. Wires may have only two slots per local rank. Also sets `released` of all rounds. */
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

/* Each export is followed, in a later round, by a step after which all local ranks are known to be
 * done with its epoch. */
static bool single_copy_ok(const sk_sched *s)
{
    uint32_t below = 0, next = 0; /* quiesced by later rounds; the same with this round */
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

/* At most one message through shared memory to, and one from, each local rank in a round. */
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

static sk_status check_epochs(const sk_sched *s, sk_round *rounds, uint32_t nrounds,
                              uint32_t *open_in)
{
    epoch_use some[FEW] = {0},
              *use = s->v.nepochs <= FEW ? some : calloc(s->v.nepochs, sizeof *use);
    if (!use)
        return SK_NOMEM;
    for (uint32_t t = 0; t < s->v.nepochs; t++)
        use[t].opened = use[t].posted = NEVER;
    bool ok = rules_kept(s, rounds, nrounds, use);
    for (uint32_t t = 0; t < s->v.nepochs; t++)
        open_in[t] = use[t].opened;
    if (use != some)
        free(use);
    return ok ? SK_OK : SK_BADARG;
}

/* ---- order of steps ---- */

/* Posting an epoch needs nothing of this round, so it comes first. Receives come before sends, so
 * that they are posted before the sends of the same round arrive anywhere. Steps that wait for local
 * ranks come last, when everything that other ranks may wait for is under way. */
enum { HEAD, RECV, SEND, LOCAL, WAIT, NCLASSES };

static const uint8_t class_of[] = {
    [SK_STEP_RECV] = RECV,    [SK_STEP_PRECV] = RECV, [SK_STEP_SEND] = SEND,
    [SK_STEP_PSEND] = SEND,   [SK_STEP_COPY] = LOCAL, [SK_STEP_REDUCE] = LOCAL,
    [SK_STEP_PUT] = LOCAL,    [SK_STEP_GET] = LOCAL,  [SK_STEP_RELAY] = LOCAL,
    [SK_STEP_EXPORT] = LOCAL, [SK_STEP_OPEN] = HEAD,  [SK_STEP_POST] = HEAD,
    [SK_STEP_TAKE] = WAIT,    [SK_STEP_FOLD] = WAIT,  [SK_STEP_JOIN] = WAIT,
    [SK_STEP_AWAIT] = WAIT,   [SK_STEP_READ] = WAIT,  [SK_STEP_QUIESCE] = WAIT,
};

typedef struct sorter {
    const sk_sched *s;
    sk_step *out;
    uint32_t n;              /* steps sorted */
    const uint32_t *open_in; /* of each epoch */
    uint32_t *by_opening;    /* the epochs that are opened, in that order */
    uint32_t nopen, opened;  /* their number, and how many are opened so far */
} sorter;

/* OPEN may have to wait, so epochs that were opened in earlier rounds are posted first. */
static void sort_heads(sorter *o, uint32_t first, uint32_t end, uint32_t round)
{
    for (uint32_t i = first; i < end; i++) {
        const sk_step *st = &o->s->steps[i];
        if (st->kind == SK_STEP_POST && o->open_in[st->packet] < round)
            o->out[o->n++] = *st;
    }
    for (; o->opened < o->nopen && o->open_in[o->by_opening[o->opened]] == round; o->opened++)
        o->out[o->n++] = (sk_step){
            .kind = SK_STEP_OPEN, .packet = o->by_opening[o->opened] & SK_MAX_PACKETS, .peer = -1};
    for (uint32_t i = first; i < end; i++) {
        const sk_step *st = &o->s->steps[i];
        if (st->kind == SK_STEP_POST && o->open_in[st->packet] == round)
            o->out[o->n++] = *st;
    }
}

static void sort_round(sorter *o, uint32_t first, uint32_t end, uint32_t round, sk_round *rd)
{
    uint32_t n[NCLASSES] = {0}, at[NCLASSES], before = o->n;
    for (uint32_t i = first; i < end; i++)
        n[class_of[o->s->steps[i].kind]]++;
    if (n[HEAD] || (o->opened < o->nopen && o->open_in[o->by_opening[o->opened]] == round)) {
        sort_heads(o, first, end, round);
        n[HEAD] = o->n - before;
    }
    for (int cls = RECV; cls < NCLASSES; cls++) {
        at[cls] = o->n;
        o->n += n[cls];
    }
    for (uint32_t i = first; i < end; i++) {
        const sk_step *st = &o->s->steps[i];
        int cls = class_of[st->kind];
        if (cls != HEAD)
            o->out[at[cls]++] = *st;
    }
    rd->first = before;
    rd->nhead = n[HEAD];
    rd->nrecv = n[RECV];
    rd->nsend = n[SEND];
    rd->nlocal = n[LOCAL];
    rd->nwait = n[WAIT];
}

/* Insertion sort: epochs are used in order, at most two at once, so they are nearly sorted. */
static uint32_t order_openings(const uint32_t *open_in, uint32_t nepochs, uint32_t *by_opening)
{
    uint32_t n = 0;
    for (uint32_t t = 0; t < nepochs; t++) {
        uint32_t at = n;
        if (open_in[t] == UINT32_MAX)
            continue;
        for (; at > 0 && open_in[by_opening[at - 1]] > open_in[t]; at--)
            by_opening[at] = by_opening[at - 1];
        by_opening[at] = t;
        n++;
    }
    return n;
}

static void keep(sk_sched *s, sk_step *sorted, uint32_t n, sk_epoch_info *epochs, sk_round *rounds,
                 uint32_t nrounds)
{
    if (s->v.nepochs)
        memcpy(epochs, s->epochs, s->v.nepochs * sizeof *epochs);
    sk_sched_drop(s, s->steps);
    sk_sched_drop(s, s->round_of);
    sk_sched_drop(s, s->epochs);
    s->buffer = NULL;
    s->round_of = NULL;
    s->v.steps = s->steps = sorted;
    s->v.nsteps = n;
    s->v.rounds = s->rounds = rounds;
    s->v.nrounds = nrounds;
    s->v.packets = s->packets;
    s->v.epochs = s->epochs = epochs;
    for (uint32_t r = 0; r < nrounds; r++)
        if (s->v.max_transfers < rounds[r].nrecv + rounds[r].nsend)
            s->v.max_transfers = rounds[r].nrecv + rounds[r].nsend;
}

/* No transfers, no packets, and at most two epochs, so that no local rank waits for this one to
 * release an epoch in the middle. */
static bool is_straight(const struct sk_sched_view *v)
{
    if (!v->nepochs || !v->nrounds || v->max_transfers || v->npackets)
        return false;
    for (uint32_t i = 0; i < v->nsteps; i++)
        if (v->steps[i].kind == SK_STEP_QUIESCE || v->steps[i].kind == SK_STEP_READ)
            return false;
    return v->rounds[v->nrounds - 1].released - v->rounds[0].released <= 1;
}

sk_status sk_sched_freeze(sk_sched *s)
{
    if (s->status)
        return s->status;
    uint32_t n = s->v.nsteps, nepochs = s->v.nepochs, nrounds = n ? s->round_of[n - 1] + 1 : 0;
    size_t most = (size_t)n + nepochs + 1;
    sk_step *sorted = malloc(most * sizeof *sorted + nepochs * sizeof(sk_epoch_info) +
                             ((size_t)nrounds + 1) * sizeof(sk_round));
    sk_epoch_info *epochs = (sk_epoch_info *)(sorted + most);
    sk_round *rounds = (sk_round *)(epochs + nepochs);
    uint32_t some[2 * FEW],
        *open_in = nepochs <= FEW ? some : calloc(2 * (size_t)nepochs, sizeof *open_in);
    if (!sorted || !open_in) {
        s->status = SK_NOMEM;
        goto out;
    }
    if (nepochs) {
        s->status = check_epochs(s, rounds, nrounds, open_in);
        if (s->status)
            goto out;
    } else
        memset(rounds, 0, nrounds * sizeof *rounds);
    sorter o = {.s = s, .out = sorted, .open_in = open_in, .by_opening = open_in + nepochs};
    o.nopen = order_openings(open_in, nepochs, o.by_opening);
    for (uint32_t r = 0, i = 0, end; r < nrounds; r++, i = end) {
        for (end = i; end < n && s->round_of[end] == r; end++)
            ;
        sort_round(&o, i, end, r, &rounds[r]);
    }
    SK_ASSERT(o.n == n + o.nopen && o.opened == o.nopen); /* every step once, every epoch opened */
    keep(s, sorted, o.n, epochs, rounds, nrounds);
    s->v.straight = is_straight(&s->v);
    sorted = NULL;
out:
    free(sorted);
    if (open_in != some)
        free(open_in);
    if (s->status)
        return s->status;
    s->status = SK_BADARG; /* frozen: any further append is a mistake */
    return SK_OK;
}
