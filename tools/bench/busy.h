/* busy.h: processes that only take cores away, as other users' jobs do. */
#ifndef SK_BENCH_BUSY_H
#define SK_BENCH_BUSY_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/arena.h"

typedef struct sk_busy {
    pid_t *pids;
    int n;
} sk_busy;

/* False, with errno: none runs. They also end with this process. */
bool sk_busy_start(sk_arena *a, int n, sk_busy *out);
void sk_busy_end(sk_busy *b);

#endif
