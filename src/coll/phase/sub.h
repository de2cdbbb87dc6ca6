/* phase_inner.h: a whole algorithm among some of the ranks, as a part of a larger schedule.
 *
 * It is built for a call of its own, whose ranks are the members of a team and whose buffers start
 * at spans of the outer schedule. Its rounds are then appended one by one, so that other steps may
 * stand beside them. */
#ifndef SK_PHASE_INNER_H
#define SK_PHASE_INNER_H

#include "coll/algo.h"
#include "coll/phase/p2p.h"

typedef struct sk_sub {
    sk_sched *sched; /* NULL: nothing (more) to do */
    uint32_t round;  /* the next one */
    sk_team team;
    sk_span base[SK_NBUFS]; /* where its buffers start; its scratch serves one after the other */
} sk_sub;

/* A call of a collective among a team, with the types and the operation of the outer call. Sides
 * and root are still to be filled in; members count from the team's first. */
sk_call sk_sub_call(const sk_call *c, sk_coll coll, const sk_team *t);

/* A span as one side of an inner call: bytes, if it may be cut anywhere. */
sk_side sk_sub_side(const sk_call *c, sk_span s);

/* The algorithm for a call, by size and number of ranks, as the rules for all ranks have it. */
const sk_algo *sk_sub_choose(const sk_call *call);
int64_t sk_sub_scratch(const sk_call *call); /* upper bound of what that one takes */

/* Build it, in place of one that is over. Bytes of its buffers become bytes of these spans. */
void sk_sub_start(sk_sub *in, sk_sched *s, const sk_call *call, const sk_team *t, sk_span send,
                  sk_span recv);

/* Append its next round to the current one; false when there is none. */
bool sk_sub_round(sk_sub *in, sk_sched *s);

/* Append all that is left, with fences between. */
void sk_sub_rest(sk_sub *in, sk_sched *s);

void sk_sub_end(sk_sub *in);

#endif
