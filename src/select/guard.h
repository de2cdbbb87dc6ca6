/* guard.h: who serves the calls of a cell: Skein, the host MPI, or Skein's other algorithm. They are compared
 * while the program runs.
 *
 * A cell are calls that resemble each other: of one collective and size class on one communicator. They are
 * counted, alike on all ranks, and the count says who serves a call and which calls are timed:
 *
 *   calls     served by   then
 *   20        Skein
 *   3         Skein
 *   3         the host
 *   3         the other   the ranks compare: what took half as long again is left out
 *   n + 1     Skein
 *   n + 1     the host
 *   n + 1     the other   the ranks compare: unless one is clearly faster than Skein, Skein serves
 *   n + 1     Skein
 *   n + 1     that one    the ranks compare: it serves if it is clearly faster again
 *
 * The first look is at the fastest of the calls after the first, which may have to connect or to touch new memory.
 * After many calls, which are short ones, it is at up to 9 calls and at all after the first but the longest: where
 * sizes change from call to call, few of each side are not alike, and one may be just like an earlier one, which costs
 * little. The other algorithm makes some more calls before its first look. Where it is unlikely to be faster it is left for
 * later: the first comparison is with the host alone, unless that is clearly faster at the look. n is an eighth of the calls so far: 4 at
 * least, and so many as take a millisecond at most. Calls so short that n of them take no 20 us are compared later,
 * when there have been more. The longest of n does not count: a rank was interrupted in it. Before and after n + 1
 * calls the ranks wait for each other: in some collectives a rank runs ahead, and others pay later. What it waits then
 * counts, too. The first call after a change is not timed. A compared time is that of the slowest rank. Times that
 * differ by less than it takes to read the clock, at the begin and the end of a call, are the same; and all n together
 * by less than half of what it takes to meet, but then it is done again with more calls if these would tell. The
 * comparison is repeated when what it took, beyond what the calls would have taken anyway, is a 200th of the time of
 * the calls since.
 *
 * Calls that must not wait are asked about without a way to agree. They never wait for each other, and where the ranks
 * should compare, the best side so far serves until they do: that is held. */
#ifndef SK_GUARD_H
#define SK_GUARD_H

#include <stdbool.h>
#include <stdint.h>

typedef enum sk_guard_side {
    SK_GUARD_SKEIN,
    SK_GUARD_HOST,
    SK_GUARD_OTHER, /* another algorithm of Skein */
    SK_GUARD_SIDES
} sk_guard_side;

typedef enum sk_guard_phase {
    SK_GUARD_DECIDED,
    SK_GUARD_LOOK, /* at the side that serves, then at the others */
    SK_GUARD_TIME, /* rounds */
} sk_guard_phase;

/* The same on all ranks but for the times. */
typedef struct sk_guard {
    sk_guard_phase phase;
    sk_guard_side best; /* serves when it is decided */
    sk_guard_side side; /* serves the calls of this phase */
    unsigned sides;     /* a bit for each that may serve */
    unsigned compared;  /* in this round */
    unsigned later;     /* a bit for each that the first comparison leaves out */
    int rounds;         /* that are over */
    int64_t
        quiet; /* calls that the best side, which is not the host, serves before anything else happens */
    bool held;                  /* until the ranks agree: see sk_guard_agree */
    int64_t holds;              /* calls of the host's while it was so */
    int64_t left;               /* other calls of this side */
    int64_t cold;               /* calls of the other algorithm before the first look at it */
    int64_t before;             /* calls until this comparison */
    int64_t look;               /* calls of a side at the look */
    int64_t timed;              /* calls of a side that are timed in a round */
    double tried;               /* what the comparison took more, in calls */
    int meetings;               /* not in `tried` yet */
    int64_t spent;              /* ns in the timed calls of this side */
    int64_t longest, shortest;  /* ns in these of them */
    int64_t doubt;              /* ns: times of calls that differ by less do not differ, */
    int64_t meeting;            /* also because of this time that meeting took */
    int64_t ns[SK_GUARD_SIDES]; /* per call, in this round */
    int64_t sum[SK_GUARD_SIDES], n[SK_GUARD_SIDES]; /* of that over rounds, and the rounds */
} sk_guard;

/* `first`: calls before the first comparison, 20 above. Before the call after those tell who is compared: a bit
 * for each side; where it is Skein's alone, or none, Skein serves for ever. */
sk_guard sk_guard_new(int64_t first);
void sk_guard_compare(sk_guard *g, unsigned sides);

/* The other algorithm's calls are looked at after so many more, in which it touches memory that nobody has used before. */
static inline void sk_guard_warm(sk_guard *g, int64_t calls)
{
    g->cold = calls;
}

/* The other algorithm is compared when the host and Skein have been, or if the host is faster; without the host after some
 * hundred calls. */
void sk_guard_leave_other(sk_guard *g);

/* The host serves `calls` calls first, because it was faster than Skein before. Then both are compared. */
sk_guard sk_guard_new_host(int64_t calls, int64_t host_ns);

/* The largest of each value over all ranks: ns of each side, what it takes to agree and to read the clock, as far as
 * each rank knows. Returns the ns that this rank waited for others, beyond what it takes at least. */
enum { SK_GUARD_MEETING = SK_GUARD_SIDES, SK_GUARD_CLOCK, SK_GUARD_VALUES };
typedef int64_t sk_guard_largest(void *of, int64_t values[SK_GUARD_VALUES]);

/* Who serves the call? It is counted. May wait for the other ranks, in `largest`; NULL: it must not. If the call is
 * `timed`, tell what it took. `decided`: a comparison ended before it, or is held. */
typedef struct sk_guard_verdict {
    sk_guard_side side;
    bool timed, decided;
} sk_guard_verdict;
sk_guard_verdict sk_guard_ask(sk_guard *g, sk_guard_largest *largest, void *of);
void sk_guard_took(sk_guard *g, int64_t ns);

/* Persistent calls: a start must not wait, but its end may. Is the next start due to agree? Then the best side serves
 * it, it is not asked about, and beside it the ranks find the largest of what each of them says. With that the
 * comparison goes on at the start after it. True: it has ended. */
bool sk_guard_must_agree(const sk_guard *g);
void sk_guard_say(const sk_guard *g, int64_t values[SK_GUARD_VALUES]);
bool sk_guard_go_on(sk_guard *g, int64_t values[SK_GUARD_VALUES]);

/* The next comparison does not begin before so many calls. */
void sk_guard_put_off(sk_guard *g, int64_t calls);

/* The host is not to serve any more: Skein does, and nothing is compared. */
void sk_guard_leave_host(sk_guard *g);

/* What is held goes on. True: a comparison has ended. */
bool sk_guard_agree(sk_guard *g, sk_guard_largest *largest, void *of);

/* A number for all that says who serves the next calls: the same on two ranks whose calls were the same, and only then. */
uint64_t sk_guard_state(const sk_guard *g, uint64_t seed);

/* The comparison is given up, and begins anew at the next call. */
void sk_guard_abandon(sk_guard *g);

/* What a call took in the last comparison: the mean of its rounds, of the slowest rank; without a round, at the first
 * look. `skein`: by the faster algorithm. `host` is 0 if it was not compared. */
typedef struct sk_guard_times {
    int64_t skein, host; /* ns */
} sk_guard_times;
sk_guard_times sk_guard_last_times(const sk_guard *g);

/* The same for one side; 0: it was not compared. *calls: so many were timed. */
int64_t sk_guard_last_time(const sk_guard *g, sk_guard_side side, int64_t *calls);

static inline bool sk_guard_has(const sk_guard *g, sk_guard_side side)
{
    return g->sides >> side & 1;
}

/* True: the best side, not the host, serves it, it is counted, and nothing else is to be done. */
static inline bool sk_guard_quiet(sk_guard *g)
{
    if (g->quiet <= 0)
        return false;
    g->quiet--;
    return true;
}

/* Does the next call begin a comparison? */
static inline bool sk_guard_begins(const sk_guard *g)
{
    return g->phase == SK_GUARD_DECIDED && g->quiet <= 0 && !g->left;
}

static inline bool sk_guard_host_is_best(const sk_guard *g)
{
    return g->phase == SK_GUARD_DECIDED && g->best == SK_GUARD_HOST;
}

/* As sk_guard_quiet, for the host. */
static inline bool sk_guard_passes(sk_guard *g)
{
    if (!sk_guard_host_is_best(g) || g->left <= 0)
        return false;
    g->left--;
    return true;
}

#endif
