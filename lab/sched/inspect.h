/* inspect.h: look at a frozen schedule, for `skein explain`, the verifier and tests. */
#ifndef SK_INSPECT_H
#define SK_INSPECT_H

#include <stdio.h>

#include "sched/sched.h"

void sk_sched_print(const sk_sched *s, FILE *out);

/* What a schedule moves. Packet sends count as messages of unknown length. */
typedef struct sk_sched_stats {
    int64_t rounds; /* rounds that hold at least one transfer */
    int64_t sends, recvs, send_bytes, recv_bytes;
    int64_t copies, copy_bytes, reduces, reduce_bytes;
    int64_t takes, take_bytes; /* TAKE, READ and JOIN; FOLD once for every local rank */
    int64_t epochs;
    int64_t scratch;
} sk_sched_stats;
sk_sched_stats sk_sched_count(const sk_sched *s);

/* Do no two steps of one round touch the same memory, one of them writing? If two do: false, and
 * `why` names them. */
bool sk_sched_disjoint(const sk_sched *s, char *why, size_t size);

#endif
