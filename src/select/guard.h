/* guard.h: which of two serves the calls of a cell: Skein, or the host MPI. They are compared while the program
 * runs.
 *
 * A cell are calls that resemble each other: of one collective and size class on one communicator. They are
 * counted, alike on all ranks, and the count says who serves a call and which calls are timed:
 *
 *   calls     served by   then
 *   26        Skein
 *   4         Skein
 *   1         the host    the ranks compare: if it took twenty times as long, Skein serves
 *   n + 1     Skein
 *   n + 1     the host    the ranks compare: unless it is clearly faster, Skein serves
 *   n + 1     Skein
 *   n + 1     the host    the ranks compare: the host serves if it is clearly faster again
 *
 * n is 4 for long calls; short ones need more for a millisecond of them. The first call after a change is not
 * timed. A compared time is that of the slowest rank. The comparison is repeated when what it took, beyond
 * what the calls would have taken anyway, is a 200th of the time of the calls since. */
#ifndef SK_GUARD_H
#define SK_GUARD_H

#include <stdbool.h>
#include <stdint.h>

typedef enum sk_guard_phase {
    SK_GUARD_SKEIN, /* serves; decided */
    SK_GUARD_HOST,
    SK_GUARD_LOOK_SKEIN,
    SK_GUARD_LOOK_HOST,
    SK_GUARD_TIME_SKEIN,
    SK_GUARD_TIME_HOST,
} sk_guard_phase;

/* The same on all ranks but for the times. */
typedef struct sk_guard {
    sk_guard_phase phase;
    bool was_host;               /* it served until now */
    int rounds;                  /* of TIME_SKEIN and TIME_HOST that are over */
    int64_t quiet;               /* calls that Skein serves before anything else happens */
    int64_t left;                /* other calls of this phase */
    int64_t timed;               /* calls that are timed in TIME_SKEIN and TIME_HOST */
    double tried;                /* what the comparison took more, in calls */
    int64_t spent;               /* ns in the timed calls of this phase */
    int64_t skein;               /* ns per call of Skein */
    int64_t skein_sum, host_sum; /* ns per call, over the rounds of the last comparison */
} sk_guard;

/* `first`: calls before the first comparison, 26 above. */
sk_guard sk_guard_new(int64_t first);

/* The largest of each of two values over all ranks. */
typedef void sk_guard_largest(void *of, int64_t values[2]);

/* Who serves the call? It is counted. May wait for the other ranks. If it is `timed`, tell what it took.
 * `compared`: a comparison ended before it. */
typedef struct sk_guard_verdict {
    bool host, timed, compared;
} sk_guard_verdict;
sk_guard_verdict sk_guard_ask(sk_guard *g, sk_guard_largest *largest, void *of);
void sk_guard_took(sk_guard *g, int64_t ns);

/* What a call took in the last comparison: the mean of its rounds, of the slowest rank. The first look, a single
 * call of the host, is not one. */
typedef struct sk_guard_times {
    int64_t skein, host; /* ns */
} sk_guard_times;
sk_guard_times sk_guard_last_times(const sk_guard *g);

/* True: Skein serves it, it is counted, and nothing else is to be done. */
static inline bool sk_guard_quiet(sk_guard *g)
{
    if (g->quiet <= 0)
        return false;
    g->quiet--;
    return true;
}

/* The same for the host. */
static inline bool sk_guard_passes(sk_guard *g)
{
    if (g->phase != SK_GUARD_HOST || g->left <= 0)
        return false;
    g->left--;
    return true;
}

#endif
