/* traffic.h: what schedules send from node to node, counted step by step. The length of a packet
 * is not known before it is sent, so packets count as messages without bytes. */
#ifndef SK_TRAFFIC_H
#define SK_TRAFFIC_H

#include "coll/flow.h"
#include "sched/sched.h"

/* Of one rank's schedule. */
sk_off_node sk_sched_off_node(const sk_sched *s, const sk_machine *m, int rank);

/* All that one rank sends, to other nodes and inside its own, and reads from the memory of local ranks. */
typedef struct sk_sent {
    sk_off_node off, near;
    int64_t shared_bytes;
} sk_sent;
sk_sent sk_sched_sent(const sk_sched *s, const sk_machine *m, int rank);

/* Of a call: the schedules of its ranks, added one by one. Stage k is the k-th round of each rank
 * that holds a transfer. Starts as {0}. */
typedef struct sk_traffic {
    sk_off_node sum;
    sk_off_node *stage;
    int nstages, cap;
} sk_traffic;

sk_status sk_traffic_add(sk_traffic *t, const sk_sched *s, const sk_machine *m, int rank);
sk_off_node sk_traffic_busiest(const sk_traffic *t); /* the stage with the most bytes */
void sk_traffic_free(sk_traffic *t);

#endif
