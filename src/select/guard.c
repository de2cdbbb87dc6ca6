#include "select/guard.h"

enum {
    LOOK = 4,        /* calls of Skein before the first one of the host */
    MOST_TIMES = 20, /* so many times as long needs no second look: also a host that is not warm */
    ENOUGH_NS = 1000000, /* time the calls of one side for so long, */
    FEWEST = 4,          /* so many at least, */
    MOST = 64,           /* at most */
    ROUNDS = 2,
};
static const double budget = 1.0 / 200; /* part of the time that comparisons may take */
static const double clearly = 0.95;     /* below this part of Skein's time the host is faster, */
static const double still = 0.97;       /* and this one keeps it */

sk_guard sk_guard_new(int64_t first)
{
    return (sk_guard){.phase = SK_GUARD_SKEIN, .quiet = first};
}

/* The host's time per call, and Skein's, of the slowest rank. */
static int64_t compare(sk_guard *g, int64_t calls, sk_guard_largest *largest, void *of)
{
    int64_t times[] = {g->spent / calls, g->skein};
    largest(of, times);
    g->skein = times[1] > 0 ? times[1] : 1;
    return times[0] > 0 ? times[0] : 1;
}

/* So many calls took `other` instead of `own`, and the ranks waited for each other, as in a call. */
static void count_tried(sk_guard *g, int64_t calls, int64_t other, int64_t own)
{
    const double longest = 100; /* a host that was not warm is looked at again some day */
    double more = (double)other / (double)own - 1;
    g->tried += 1 + (double)calls * (more < 0 ? 0 : more > longest ? longest : more);
}

static void enter(sk_guard *g, sk_guard_phase phase, int64_t calls)
{
    g->phase = phase;
    g->left = calls;
    g->spent = 0;
}

static void settle(sk_guard *g, bool host)
{
    int64_t calls = (int64_t)(g->tried / budget);
    g->phase = host ? SK_GUARD_HOST : SK_GUARD_SKEIN;
    g->quiet = host ? 0 : calls;
    g->left = host ? calls : 0;
    g->tried = 0;
}

static void begin_rounds(sk_guard *g, int64_t call_ns, bool was_host)
{
    int64_t enough = ENOUGH_NS / call_ns;
    g->timed = enough < FEWEST ? FEWEST : enough > MOST ? MOST : enough;
    g->was_host = was_host;
    g->rounds = 0;
    g->skein_sum = g->host_sum = 0;
    enter(g, SK_GUARD_TIME_SKEIN, g->timed + 1);
}

static void end_round(sk_guard *g, sk_guard_largest *largest, void *of)
{
    int64_t host = compare(g, g->timed, largest, of);
    g->rounds++;
    g->skein_sum += g->skein;
    g->host_sum += host;
    if (g->was_host)
        count_tried(g, g->timed + 1, g->skein, host);
    else
        count_tried(g, g->timed + 1, host, g->skein);
    bool faster = (double)host < (g->was_host ? still : clearly) * (double)g->skein;
    if (faster && !g->was_host && g->rounds < ROUNDS)
        enter(g, SK_GUARD_TIME_SKEIN, g->timed + 1);
    else
        settle(g, faster);
}

/* The calls of a phase are over. */
static void next_phase(sk_guard *g, sk_guard_largest *largest, void *of)
{
    int64_t host;
    switch (g->phase) {
    case SK_GUARD_SKEIN:
        enter(g, SK_GUARD_LOOK_SKEIN, LOOK);
        break;
    case SK_GUARD_HOST:
        begin_rounds(g, g->skein, true);
        break;
    case SK_GUARD_LOOK_SKEIN:
        g->skein = g->spent / LOOK;
        enter(g, SK_GUARD_LOOK_HOST, 1);
        break;
    case SK_GUARD_LOOK_HOST:
        host = compare(g, 1, largest, of);
        count_tried(g, 1, host, g->skein);
        if (host < MOST_TIMES * g->skein)
            begin_rounds(g, g->skein, false);
        else
            settle(g, false);
        break;
    case SK_GUARD_TIME_SKEIN:
        g->skein = g->spent / g->timed;
        enter(g, SK_GUARD_TIME_HOST, g->timed + 1);
        break;
    default:
        end_round(g, largest, of);
    }
}

sk_guard_verdict sk_guard_ask(sk_guard *g, sk_guard_largest *largest, void *of)
{
    sk_guard_verdict v = {0};
    if (sk_guard_quiet(g))
        return v;
    sk_guard_phase before = g->phase;
    if (!g->left)
        next_phase(g, largest, of);
    v.compared =
        before == SK_GUARD_TIME_HOST && (g->phase == SK_GUARD_SKEIN || g->phase == SK_GUARD_HOST);
    if (sk_guard_quiet(g))
        return v;
    bool rounds = g->phase == SK_GUARD_TIME_SKEIN || g->phase == SK_GUARD_TIME_HOST;
    bool first = rounds && g->left == g->timed + 1;
    g->left--;
    v.host = g->phase != SK_GUARD_LOOK_SKEIN && g->phase != SK_GUARD_TIME_SKEIN;
    v.timed = g->phase != SK_GUARD_HOST && !first;
    return v;
}

sk_guard_times sk_guard_last_times(const sk_guard *g)
{
    return (sk_guard_times){g->skein_sum / g->rounds, g->host_sum / g->rounds};
}

void sk_guard_took(sk_guard *g, int64_t ns)
{
    g->spent += ns;
}
