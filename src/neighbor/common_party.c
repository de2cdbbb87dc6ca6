/* common_negotiator.c: the order of the steps, and the levels. */
#include "neighbor/common_party.h"

#include <stdlib.h>

/* ---- phases ---- */

enum { ROUNDS = 8, STEPS = 128, ITERATIONS = 1 << 19 };
_Static_assert(SK_MOST_ROUNDS + 1 < ROUNDS && 2 * SK_TRIES + 2 < STEPS, "phases are distinct");
_Static_assert((int64_t)SK_MOST_LEVELS *ITERATIONS *ROUNDS *STEPS - 1 <= INT32_MAX,
               "phases fit a word");

static int phase_of(const sk_common_negotiator *s)
{
    int round = s->round, step = 0;
    switch (s->step) {
    case SK_STEP_LISTS:
        round = 0;
        break;
    case SK_STEP_GROUPS:
        break;
    case SK_STEP_CHOICE:
        step = 1 + 2 * s->attempt;
        break;
    case SK_STEP_STATE:
        step = 2 + 2 * s->attempt;
        break;
    case SK_STEP_TELL:
        step = STEPS - 1;
        break;
    default:
        round = ROUNDS - 1;
    }
    return ((s->level * ITERATIONS + s->iteration) * ROUNDS + round) * STEPS + step;
}

/* ---- what comes after what ---- */

static sk_common_step next_round(sk_common_negotiator *s)
{
    if (s->round == s->rules.rounds)
        return SK_STEP_NOTES;
    s->round++;
    s->attempt = 0;
    return SK_STEP_GROUPS;
}

/* This rank has stopped looking: what it found in the first round both know; later their groups
 * have to be told. */
static sk_common_step after_search(sk_common_negotiator *s)
{
    if (s->round > 1)
        return SK_STEP_TELL;
    int mate = s->mate.paired ? sk_matrix_who(s->m, s->mate.choice) : SK_NOBODY;
    if (mate != SK_NOBODY)
        sk_circle_join(&s->circle, &mate, 1);
    return next_round(s);
}

static sk_common_step after_state(sk_common_negotiator *s)
{
    if (s->mate.paired || s->attempt + 1 == SK_TRIES)
        return after_search(s);
    s->attempt++;
    return SK_STEP_CHOICE;
}

static sk_status after_notes(sk_common_negotiator *s, sk_common_step *next)
{
    *next = SK_STEP_LISTS;
    if (s->out && s->nactive == 0)
        return sk_common_level_end(s);
    return ++s->iteration < ITERATIONS ? SK_OK : SK_TOOBIG;
}

static sk_status go_on(sk_common_negotiator *s)
{
    sk_status st = SK_OK;
    sk_common_step next = SK_STEP_NOTES;
    switch (s->step) {
    case SK_STEP_LISTS:
        st = sk_after_lists(s);
        next = s->out ? SK_STEP_NOTES : SK_STEP_CHOICE;
        break;
    case SK_STEP_GROUPS:
        sk_after_groups(s);
        next = s->circle.leader == s->base.rank ? SK_STEP_CHOICE : SK_STEP_TELL;
        break;
    case SK_STEP_CHOICE:
        next = s->mate.terminal ? after_search(s) : SK_STEP_STATE;
        break;
    case SK_STEP_STATE:
        next = after_state(s);
        break;
    case SK_STEP_TELL:
        next = next_round(s);
        break;
    default:
        st = after_notes(s, &next);
    }
    s->step = next;
    if (!s->base.done)
        s->base.phase = phase_of(s);
    return st;
}

static const struct {
    sk_common_say say;
    sk_common_hear hear;
} steps[SK_NSTEPS] = {
    [SK_STEP_LISTS] = {sk_say_lists, sk_hear_lists},
    [SK_STEP_GROUPS] = {sk_say_groups, sk_hear_groups},
    [SK_STEP_CHOICE] = {sk_say_choice, sk_hear_choice},
    [SK_STEP_STATE] = {sk_say_state, sk_hear_state},
    [SK_STEP_TELL] = {sk_say_tell, sk_hear_tell},
    [SK_STEP_NOTES] = {sk_say_notes, sk_hear_notes},
};

/* From step to step as long as there is nothing to wait for. */
static sk_status run(sk_common_negotiator *s, sk_channel *t)
{
    sk_status st = SK_OK;
    while (st == SK_OK && s->waiting == 0 && !s->base.done) {
        st = go_on(s);
        if (st == SK_OK && !s->base.done)
            st = steps[s->step].say(s, t);
    }
    return st;
}

/* ---- the negotiator ---- */

static sk_status start(sk_negotiator *p, sk_channel *t)
{
    sk_common_negotiator *s = (sk_common_negotiator *)p;
    const sk_graph *g = s->graph;
    s->arena = sk_arena_new();
    s->pattern = sk_pattern_new(g->nranks, g->rank);
    if (!s->arena || !s->pattern)
        return SK_NOMEM;
    int *target = sk_arena_copy(s->arena, g->targets, (size_t)g->ntargets * sizeof *target);
    sk_status st = target ? sk_holds_first(&s->mine, s->arena, g->sources, g->nsources) : SK_NOMEM;
    if (st == SK_OK)
        st = sk_common_level_begin(s, target, g->ntargets);
    if (st == SK_OK)
        st = sk_say_lists(s, t);
    return st == SK_OK ? run(s, t) : st;
}

static sk_status take(sk_negotiator *p, sk_channel *t, int from, const int32_t *words, size_t n)
{
    sk_common_negotiator *s = (sk_common_negotiator *)p;
    if (s->waiting == 0)
        return SK_WIRE;
    sk_status st = steps[s->step].hear(s, from, words + 1, n - 1);
    s->waiting--;
    return st == SK_OK ? run(s, t) : st;
}

static void destroy(sk_negotiator *p)
{
    sk_common_negotiator *s = (sk_common_negotiator *)p;
    sk_arena_free(s->arena);
    sk_arena_free(s->later);
    sk_pattern_free(s->pattern);
    free(s);
}

static const sk_negotiator_ops ops = {start, take, destroy};

sk_negotiator *sk_common_negotiator_new(const sk_graph *g, const sk_machine *m,
                                        const sk_pattern_opts *o)
{
    (void)m;
    sk_common_negotiator *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->base = (sk_negotiator){.ops = &ops, .rank = g->rank, .nranks = g->nranks};
    s->graph = g;
    s->rules = sk_rules_of(o);
    return &s->base;
}
