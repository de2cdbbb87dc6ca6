/* sub.h: a whole algorithm among some of the ranks, as a part of a larger schedule.
 *
 * It is built for a call of its own, whose ranks are the members of a team and whose buffers start
 * at spans of the larger schedule. Its rounds are then appended one by one, so that other steps
 * can share them. Which algorithm it is decides the chooser of the call (sk_call.chooser), by the
 * same rules and settings as for a whole call. */
#ifndef SK_PHASE_SUB_H
#define SK_PHASE_SUB_H

#include "coll/algo.h"
#include "coll/phase/p2p.h"

typedef struct sk_sub {
    sk_sched *sched; /* NULL: nothing left to do */
    uint32_t round;  /* the next one */
    sk_team team;
    sk_span base[SK_NBUFS]; /* where its buffers start; one after the other uses the same scratch */
} sk_sub;

/* A call of a collective among a team, with the types and the operation of `c`. The caller fills in
 * sides and root. Members count from the first of the team. */
sk_call sk_sub_call(const sk_call *c, sk_coll coll, const sk_team *t);

/* A span as one side of such a call: as bytes, if it may be cut anywhere. */
sk_side sk_sub_side(const sk_call *c, sk_span s);

/* Upper bound of the scratch of the algorithm that will be chosen. */
int64_t sk_sub_scratch(const sk_call *call);

/* Choose and build. Bytes of its buffers become bytes of these spans. Any earlier one has ended. */
void sk_sub_start(sk_sub *in, sk_sched *s, const sk_call *call, const sk_team *t, sk_span send,
                  sk_span recv);

/* Append its next round to the current one; false when there is none. */
bool sk_sub_round(sk_sub *in, sk_sched *s);

/* Append all that is left, with fences between. */
void sk_sub_rest(sk_sub *in, sk_sched *s);

void sk_sub_end(sk_sub *in);

#endif
