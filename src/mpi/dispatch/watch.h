/* watch.h: what the calls that start, wait for and test requests take while nonblocking or persistent calls are compared:
 * see guarded.h and persist.h. A program may compute as long as it likes between them. */
#ifndef SK_WATCH_H
#define SK_WATCH_H

#include <stdint.h>
#include <time.h>

#include "mpi/state/process.h"

/* At most so many calls after the last one that is compared: a program that makes no more of those must not pay. */
enum { SK_WATCH_CALLS = 4096 };

/* Who compares: nonblocking calls on some communicator, or a persistent one. */
typedef enum sk_watcher { SK_WATCH_NONBLOCKING = 1, SK_WATCH_PERSISTENT = 2 } sk_watcher;

static inline void sk_watch(sk_watcher who, bool on)
{
    int others = ~(int)who & (on ? atomic_fetch_or(&sk_proc.watchers, (int)who)
                                 : atomic_fetch_and(&sk_proc.watchers, ~(int)who));
    if (on || !others)
        atomic_store_explicit(&sk_proc.watching, on ? SK_WATCH_CALLS : 0, memory_order_relaxed);
}

static inline bool sk_watching(void)
{
    return atomic_load_explicit(&sk_proc.watching, memory_order_relaxed) > 0;
}

/* ns */
static inline int64_t sk_watch_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Such a call began then and is over. */
static inline void sk_watched(int64_t since)
{
    atomic_fetch_add_explicit(&sk_proc.waited, sk_watch_now() - since, memory_order_relaxed);
    atomic_fetch_sub_explicit(&sk_proc.watching, 1, memory_order_relaxed);
}

#endif
