/* halving_negotiator.c: distance halving by messages: Algorithm 1 as one rank goes through it. Phase 0
 * tells who has what in common, then every step has five phases: two passes in which the lower half
 * finds agents, two for the upper half, and one in which blocks are handed over. The last phase
 * tells the ranks of the socket what they will get. A rank that reaches its socket before others
 * skips the steps between. */
#include <stdlib.h>

#include "neighbor/halving_deal.h"
#include "neighbor/halving_form.h"
#include "neighbor/halving_hand.h"
#include "neighbor/halving_weigh.h"

enum { LOWER, LOWER_AGAIN, UPPER, UPPER_AGAIN, HAND, PHASES }; /* of a step */

typedef struct negotiator {
    sk_negotiator base;
    sk_halving rules;
    sk_weigh weigh;
    sk_deal deal;
    sk_hand hand;
    sk_due due;
    sk_group group;    /* mine, after the present step */
    sk_hand_step step; /* the present one */
} negotiator;

static int last_phase(const negotiator *p)
{
    return 1 + p->rules.steps * PHASES;
}

/* The kind of the present phase within its step; PHASES: it is the first or last of all. */
static int kind_of(const negotiator *p)
{
    int phase = p->base.phase;
    return phase == 0 || phase == last_phase(p) ? PHASES : (phase - 1) % PHASES;
}

static void begin_step(negotiator *p)
{
    const sk_machine *m = p->rules.machine;
    int cut = sk_group_cut(m, p->group);
    sk_group lower = {p->group.first, cut}, upper = {cut, p->group.last};
    bool below = m->socket[p->base.rank] < cut;
    p->group = below ? lower : upper;
    p->step = (sk_hand_step){.step = (p->base.phase - 1) / PHASES,
                             .mine = sk_group_places(m, below ? lower : upper),
                             .other = sk_group_places(m, below ? upper : lower),
                             .agent = -1,
                             .origins = {-1, -1}};
}

static sk_status enter_deal(negotiator *p, sk_channel *t, int kind)
{
    if (kind == LOWER_AGAIN || kind == UPPER_AGAIN)
        return sk_deal_again(&p->deal, t, &p->due, p->base.phase);
    bool below = p->step.mine.lo < p->step.other.lo, origin = below == (kind == LOWER);
    int n = sk_weigh_candidates(&p->weigh, p->rules.machine, p->step.other, origin, p->deal.list);
    return sk_deal_begin(&p->deal, t, &p->due, p->base.phase, origin, n);
}

static void leave_deal(negotiator *p, int kind)
{
    if (p->deal.origin)
        p->step.agent = p->deal.partner;
    else
        p->step.origins[kind == LOWER_AGAIN || kind == UPPER_AGAIN] = p->deal.partner;
}

static sk_status enter(negotiator *p, sk_channel *t)
{
    int kind = kind_of(p);
    if (kind == PHASES)
        return sk_hand_out(&p->hand, t, &p->due, p->base.phase,
                           sk_group_places(p->rules.machine, p->group));
    if (kind == HAND) {
        p->step.phase = p->base.phase;
        return sk_hand_over(&p->hand, t, &p->due, &p->step);
    }
    if (kind == LOWER)
        begin_step(p);
    return enter_deal(p, t, kind);
}

static sk_status finish(negotiator *p)
{
    p->base.made[SK_BY_HALVING] = p->hand.made;
    p->hand.made = NULL;
    p->base.done = true;
    return sk_pattern_freeze(p->base.made[SK_BY_HALVING]);
}

/* Into the next phases, as long as there is nothing to wait for. */
static sk_status go_on(negotiator *p, sk_channel *t)
{
    sk_status st = SK_OK;
    while (st == SK_OK && p->due.left == 0) {
        int kind = kind_of(p);
        if (p->base.phase == last_phase(p))
            return finish(p);
        if (kind < HAND)
            leave_deal(p, kind);
        bool at_socket = kind >= HAND && p->group.last - p->group.first == 1;
        p->base.phase = at_socket ? last_phase(p) : p->base.phase + 1;
        st = enter(p, t);
    }
    return st;
}

static sk_status start(sk_negotiator *base, sk_channel *t)
{
    negotiator *p = (negotiator *)base;
    sk_status st = sk_weigh_tell(&p->weigh, t, &p->due, base->phase);
    return st == SK_OK ? go_on(p, t) : st;
}

static sk_status take(sk_negotiator *base, sk_channel *t, int from, const int32_t *words, size_t n)
{
    negotiator *p = (negotiator *)base;
    int kind = kind_of(p);
    sk_status st = sk_due_take(&p->due, from);
    if (st != SK_OK)
        return st;
    if (base->phase == 0)
        st = sk_weigh_take(&p->weigh, from, words, n);
    else if (kind == PHASES)
        sk_hand_out_take(&p->hand, from, words, n);
    else if (kind == HAND)
        st = sk_hand_take(&p->hand, &p->step, from, words, n);
    else
        st = sk_deal_take(&p->deal, t, from, words, n);
    return st == SK_OK ? go_on(p, t) : st;
}

static void negotiator_free(sk_negotiator *base)
{
    negotiator *p = (negotiator *)base;
    sk_hand_free(&p->hand);
    sk_deal_free(&p->deal);
    sk_weigh_free(&p->weigh);
    sk_halving_free(&p->rules);
    free(p->due.from);
    free(p);
}

sk_negotiator *sk_halving_negotiator(const sk_graph *g, const sk_machine *m,
                                     const sk_pattern_opts *o)
{
    static const sk_negotiator_ops ops = {start, take, negotiator_free};
    negotiator *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->base = (sk_negotiator){.ops = &ops, .rank = g->rank, .nranks = g->nranks};
    p->group = (sk_group){0, m->nsockets};
    p->due.from = calloc((size_t)g->nranks, sizeof *p->due.from);
    if (!p->due.from || sk_halving_init(&p->rules, m, o->idle) != SK_OK ||
        sk_weigh_init(&p->weigh, g, &p->rules) != SK_OK ||
        sk_deal_init(&p->deal, g->nranks) != SK_OK ||
        sk_hand_init(&p->hand, g, &p->rules) != SK_OK) {
        negotiator_free(&p->base);
        return NULL;
    }
    return &p->base;
}
