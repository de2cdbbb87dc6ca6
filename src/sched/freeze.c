/* freeze.c: steps become rounds, sorted by when they are done within a round. */
#include <stdlib.h>

#include "sched/sched_inner.h"

/* Receives before sends, so that they are posted before the sends of the same round reach anyone.
 * What is posted needs nothing of this round, so it comes first of all; what waits for local ranks
 * comes last, when everything that others may wait for is under way. */
enum { HEAD, RECV, SEND, LOCAL, WAIT, NCLASSES };

static int class_of(const sk_step *st)
{
    switch ((sk_step_kind)st->kind) {
    case SK_STEP_OPEN:
    case SK_STEP_POST:
        return HEAD;
    case SK_STEP_RECV:
    case SK_STEP_PRECV:
        return RECV;
    case SK_STEP_SEND:
    case SK_STEP_PSEND:
        return SEND;
    case SK_STEP_COPY:
    case SK_STEP_REDUCE:
    case SK_STEP_PUT:
    case SK_STEP_GET:
    case SK_STEP_RELAY:
    case SK_STEP_EXPORT:
        return LOCAL;
    case SK_STEP_TAKE:
    case SK_STEP_FOLD:
    case SK_STEP_JOIN:
    case SK_STEP_AWAIT:
    case SK_STEP_READ:
    case SK_STEP_QUIESCE:
        break;
    }
    return WAIT;
}

typedef struct sorter {
    const sk_sched *s;
    sk_step *out;
    uint32_t n;              /* steps sorted */
    const uint32_t *open_in; /* of each epoch */
    uint32_t *by_opening;    /* epochs in the order of their opening */
    uint32_t nopen, opened;  /* how many these are, and how many have been opened so far */
} sorter;

static void sort_class(sorter *o, uint32_t first, uint32_t end, int cls)
{
    for (uint32_t i = first; i < end; i++)
        if (class_of(&o->s->steps[i]) == cls)
            o->out[o->n++] = o->s->steps[i];
}

/* To open may have to wait, so what was opened before is posted first. */
static void sort_heads(sorter *o, uint32_t first, uint32_t end, uint32_t round)
{
    for (uint32_t i = first; i < end; i++) {
        const sk_step *st = &o->s->steps[i];
        if (st->kind == SK_STEP_POST && o->open_in[st->packet] < round)
            o->out[o->n++] = *st;
    }
    for (; o->opened < o->nopen && o->open_in[o->by_opening[o->opened]] == round; o->opened++)
        o->out[o->n++] = (sk_step){
            .kind = SK_STEP_OPEN, .packet = o->by_opening[o->opened] & SK_MAX_ROOMS, .peer = -1};
    for (uint32_t i = first; i < end; i++) {
        const sk_step *st = &o->s->steps[i];
        if (st->kind == SK_STEP_POST && o->open_in[st->packet] == round)
            o->out[o->n++] = *st;
    }
}

static void sort_round(sorter *o, uint32_t first, uint32_t end, uint32_t round, sk_round *rd)
{
    uint32_t *const count[NCLASSES] = {&rd->nhead, &rd->nrecv, &rd->nsend, &rd->nlocal, &rd->nwait};
    rd->first = o->n;
    for (int cls = 0; cls < NCLASSES; cls++) {
        uint32_t before = o->n;
        if (cls == HEAD && o->s->v.nepochs)
            sort_heads(o, first, end, round);
        else
            sort_class(o, first, end, cls);
        *count[cls] = o->n - before;
    }
}

/* Epochs are used in order, and two at once at most: so they are opened nearly in order. */
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

static void keep(sk_sched *s, sk_step *sorted, uint32_t n, sk_round *rounds, uint32_t nrounds)
{
    free(s->steps);
    free(s->round_of);
    s->round_of = NULL;
    s->v.steps = s->steps = sorted;
    s->v.nsteps = n;
    s->v.rounds = s->rounds = rounds;
    s->v.nrounds = nrounds;
    s->v.packets = s->packets;
    s->v.epochs = s->epochs;
    for (uint32_t r = 0; r < nrounds; r++)
        if (s->v.max_transfers < rounds[r].nrecv + rounds[r].nsend)
            s->v.max_transfers = rounds[r].nrecv + rounds[r].nsend;
}

/* No transfers, no packets, and no local rank waits for this one to pass an epoch in the middle: it uses
 * two epochs at most. */
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
    sk_step *sorted = calloc((size_t)n + nepochs + 1, sizeof *sorted);
    sk_round *rounds = calloc((size_t)nrounds + 1, sizeof *rounds);
    uint32_t *open_in = calloc(2 * (size_t)nepochs + 1, sizeof *open_in);
    if (!sorted || !rounds || !open_in) {
        s->status = SK_NOMEM;
        goto out;
    }
    if (nepochs) {
        s->status = sk_sched_epochs(s, rounds, nrounds, open_in);
        if (s->status)
            goto out;
    }
    sorter o = {.s = s, .out = sorted, .open_in = open_in, .by_opening = open_in + nepochs};
    o.nopen = order_openings(open_in, nepochs, o.by_opening);
    for (uint32_t r = 0, i = 0, end; r < nrounds; r++, i = end) {
        for (end = i; end < n && s->round_of[end] == r; end++)
            ;
        sort_round(&o, i, end, r, &rounds[r]);
    }
    keep(s, sorted, o.n, rounds, nrounds);
    s->v.straight = is_straight(&s->v);
    free(open_in);
    s->status = SK_BADARG; /* frozen: any further append is a mistake */
    return SK_OK;
out:
    free(sorted);
    free(rounds);
    free(open_in);
    return s->status;
}
