/* common_negotiator.h: one rank's part in the distributed protocol. Only for the files common*.c.
 *
 * An iteration goes in steps; in each a rank says something to some ranks and waits until it has
 * heard from all that have something to say to it in this step:
 *   lists    targets to those that hold something for them: who else does; later, who left
 *   groups   (second round on) friends: my group, if I lead it
 *   choice, state    Algorithm 2, its lines 23 and 27; repeated
 *   tell     (second round on) leaders to their group: who joined
 *   notes    holders to their targets: what becomes of what I hold for you
 * A rank without friends only takes part as a target. Phases are numbered by level, iteration,
 * round, step, so those that skip some still agree on the numbers. */
#ifndef SK_COMMON_PARTY_H
#define SK_COMMON_PARTY_H

#include "neighbor/common_circle.h"
#include "neighbor/common_mate.h"

typedef enum sk_common_step {
    SK_STEP_LISTS,
    SK_STEP_GROUPS,
    SK_STEP_CHOICE,
    SK_STEP_STATE,
    SK_STEP_TELL,
    SK_STEP_NOTES,
    SK_NSTEPS
} sk_common_step;

typedef struct sk_common_negotiator {
    sk_negotiator base;
    const sk_graph *graph;
    sk_rules rules;
    sk_pattern *pattern;

    int level, iteration, round, attempt;
    sk_common_step step;
    int waiting; /* messages to come in this step */
    int32_t *words;

    sk_arena *arena; /* of this level */
    /* As a source. */
    sk_matrix *m;
    sk_holds *heard; /* of the targets, as they say */
    sk_mate mate;
    sk_circle circle;
    int *group, *ngroup; /* groups that friends lead, by column, K numbers each */
    bool out, parting;   /* no friends any more; since this iteration */
    /* As a target. */
    sk_holds mine;
    uint8_t *state; /* of each bundle of mine */
    int nactive;
    int *left; /* holders that left in this iteration */
    int nleft;

    sk_arena *later; /* of the next level */
    int *onload;
    int nonloads;
    sk_holds kept; /* what this rank will hold, by target */
    sk_holds next; /* what others will hold for it */
} sk_common_negotiator;

enum { SK_ACTIVE, SK_FINAL, SK_LEFT }; /* states: undecided, will deliver it, passed it on */

sk_negotiator *sk_common_negotiator_new(const sk_graph *g, const sk_machine *m,
                                        const sk_pattern_opts *o);

sk_status sk_common_level_begin(sk_common_negotiator *s, int *target, int n);
sk_status sk_common_level_end(sk_common_negotiator *s); /* sets done after the last */

/* What a step says; what it hears; what comes after it: the next step, or done. */
typedef sk_status (*sk_common_say)(sk_common_negotiator *s, sk_channel *t);
typedef sk_status (*sk_common_hear)(sk_common_negotiator *s, int from, const int32_t *words,
                                    size_t n);
sk_status sk_say_lists(sk_common_negotiator *s, sk_channel *t);
sk_status sk_hear_lists(sk_common_negotiator *s, int from, const int32_t *words, size_t n);
sk_status sk_after_lists(sk_common_negotiator *s);
sk_status sk_say_notes(sk_common_negotiator *s, sk_channel *t);
sk_status sk_hear_notes(sk_common_negotiator *s, int from, const int32_t *words, size_t n);
sk_status sk_say_groups(sk_common_negotiator *s, sk_channel *t);
sk_status sk_hear_groups(sk_common_negotiator *s, int from, const int32_t *words, size_t n);
void sk_after_groups(sk_common_negotiator *s);
sk_status sk_say_choice(sk_common_negotiator *s, sk_channel *t);
sk_status sk_hear_choice(sk_common_negotiator *s, int from, const int32_t *words, size_t n);
sk_status sk_say_state(sk_common_negotiator *s, sk_channel *t);
sk_status sk_hear_state(sk_common_negotiator *s, int from, const int32_t *words, size_t n);
sk_status sk_say_tell(sk_common_negotiator *s, sk_channel *t);
sk_status sk_hear_tell(sk_common_negotiator *s, int from, const int32_t *words, size_t n);

/* Sends words[1 ...] with the phase before them. */
sk_status sk_common_tell(sk_common_negotiator *s, sk_channel *t, int to, int n);

#endif
