#include "select/guard.h"

#include <string.h>

enum {
    LOOK = 3,       /* calls of a side at the look; the first is not timed. This many at least, */
    LOOK_MOST = 9,  /* at most, */
    LOOK_PART = 64, /* and this part of the calls so far; */
    ENOUGH_NS = 1000000, /* time the calls of one side for so long, */
    FEWEST = 4,          /* so many at least, */
    MOST = 32,           /* at most, */
    PART = 8,            /* and this part of the calls so far; */
    SHORT_NS = 20000,    /* if that is too little, wait for more calls */
    ROUNDS = 2,
    LATER =
        25, /* times the calls that the other algorithm makes at first: they take a half longer at most, or are cut short */
    UNKNOWN = 1, /* ns: no call takes that */
};
static const double budget = 1.0 / 200; /* part of the time that comparisons may take */
static const double slow = 1.5;         /* times as long at the first look needs no second one */
static const double clearly = 0.95; /* below this part of the best side's time another is faster, */
static const double still = 0.97;   /* and this one keeps the host */

static unsigned bit(sk_guard_side side)
{
    return 1U << side;
}

sk_guard sk_guard_new(int64_t first)
{
    return (sk_guard){.phase = SK_GUARD_DECIDED, .quiet = first, .before = first};
}

sk_guard sk_guard_new_host(int64_t calls, int64_t host_ns)
{
    sk_guard g = {.phase = SK_GUARD_DECIDED, .best = SK_GUARD_HOST, .side = SK_GUARD_HOST};
    g.sides = bit(SK_GUARD_SKEIN) | bit(SK_GUARD_HOST);
    g.left = g.before = calls;
    g.ns[SK_GUARD_HOST] = host_ns > 0 ? host_ns : UNKNOWN;
    return g;
}

void sk_guard_compare(sk_guard *g, unsigned sides)
{
    g->sides = sides | bit(SK_GUARD_SKEIN);
    if (g->sides == bit(SK_GUARD_SKEIN))
        g->quiet = INT64_MAX;
}

/* The ranks agree on the times of this round. What that and meeting before took is as much as some calls. */
static void agree(sk_guard *g, sk_guard_largest *largest, void *of)
{
    int64_t values[SK_GUARD_VALUES] = {0};
    memcpy(values, g->ns, sizeof g->ns);
    largest(of, values);
    for (int i = 0; i < SK_GUARD_SIDES; i++)
        g->ns[i] = values[i] <= UNKNOWN ? UNKNOWN + 1 : values[i];
    double calls = (double)values[SK_GUARD_MEETING] / (double)g->ns[g->best];
    g->tried += (g->meetings + 1) * (calls < 1 ? 1 : calls);
    g->meeting = g->meetings ? values[SK_GUARD_MEETING] : 0;
    g->doubt = 2 * values[SK_GUARD_CLOCK];
    if (g->meetings)
        g->doubt += g->meeting / (2 * (g->timed - 1));
    g->meetings = 0;
}

/* So many calls of `side` instead of the best one. */
static void count_tried(sk_guard *g, int64_t calls, sk_guard_side side)
{
    const double longest = 100; /* a host that was not warm is looked at again some day */
    double more = (double)g->ns[side] / (double)g->ns[g->best] - 1;
    g->tried += (double)calls * (more < 0 ? 0 : more > longest ? longest : more);
}

static void enter(sk_guard *g, sk_guard_phase phase, sk_guard_side side, int64_t calls)
{
    g->phase = phase;
    g->side = side;
    g->left = calls;
    g->spent = g->longest = 0;
    g->shortest = INT64_MAX;
}

static void settle_for(sk_guard *g, sk_guard_side best, int64_t calls)
{
    bool host = best == SK_GUARD_HOST;
    g->phase = SK_GUARD_DECIDED;
    g->best = g->side = best;
    g->quiet = host ? 0 : calls;
    g->left = host ? calls : 0;
    g->before += calls;
}

static void settle(sk_guard *g, sk_guard_side best)
{
    settle_for(g, best, (int64_t)(g->tried / budget));
    g->tried = 0;
    g->later = 0;
}

/* The look was at too few calls to tell anything; what it took counts when more have been compared. */
static void postpone(sk_guard *g, int64_t calls)
{
    for (int i = 0; i < SK_GUARD_SIDES; i++)
        g->sum[i] = g->n[i] = 0;
    settle_for(g, g->best, calls);
}

void sk_guard_leave_other(sk_guard *g)
{
    if (g->sides >> SK_GUARD_HOST & 1)
        g->later = g->sides & bit(SK_GUARD_OTHER);
    else if (g->sides >> SK_GUARD_OTHER & 1)
        settle_for(g, g->best, LATER * (g->cold + LOOK + FEWEST + 1));
}

/* The first of the compared sides from this one on; SK_GUARD_SIDES: none. */
static sk_guard_side compared_from(const sk_guard *g, int side)
{
    while (side < SK_GUARD_SIDES && !(g->compared >> side & 1))
        side++;
    return (sk_guard_side)side;
}

static void begin_round(sk_guard *g)
{
    enter(g, SK_GUARD_TIME, compared_from(g, 0), g->timed + 1);
}

static int64_t within(int64_t calls)
{
    return calls < FEWEST ? FEWEST : calls > MOST ? MOST : calls;
}

/* `compared` is set, and what a call of the best side takes is known. */
static void begin_rounds(sk_guard *g)
{
    int64_t part = g->before / PART, least = within(SHORT_NS / g->ns[g->best]),
            most = within(ENOUGH_NS / g->ns[g->best]);
    if (part < least && least > FEWEST) {
        postpone(g, least * PART - g->before);
        return;
    }
    g->timed = within(part < most ? part : most);
    g->rounds = 0;
    for (int i = 0; i < SK_GUARD_SIDES; i++)
        g->sum[i] = g->n[i] = 0;
    begin_round(g);
}

/* The side with the least time of those compared that are not the best so far. */
static sk_guard_side challenger(const sk_guard *g)
{
    int least = SK_GUARD_SIDES;
    for (int i = 0; i < SK_GUARD_SIDES; i++)
        if ((g->compared & ~bit(g->best)) >> i & 1 &&
            (least == SK_GUARD_SIDES || g->ns[i] < g->ns[least]))
            least = i;
    return (sk_guard_side)least;
}

/* Is a time less than another one, below this part of it? */
static bool is_less(const sk_guard *g, int64_t ns, int64_t other, double part)
{
    return (double)ns < part * (double)other && other - ns > g->doubt;
}

/* A time seems to be less than another one, but so few calls do not tell. True: more will, and are waited for. */
static bool wait_to_tell(sk_guard *g, int64_t ns, int64_t other, double part)
{
    int64_t clock = g->doubt - g->meeting / (2 * (g->timed - 1)), differ = other - ns - clock;
    if (is_less(g, ns, other, part) || (double)ns >= part * (double)other || differ <= 0)
        return false;
    int64_t needed = g->meeting / (2 * differ) + 2; /* the doubt is less than that then */
    if (needed <= g->timed || needed > within(ENOUGH_NS / g->ns[g->best]) ||
        needed * PART <= g->before)
        return false;
    postpone(g, needed * PART - g->before);
    return true;
}

static void end_round(sk_guard *g, sk_guard_largest *largest, void *of)
{
    agree(g, largest, of);
    g->rounds++;
    for (int i = 0; i < SK_GUARD_SIDES; i++)
        if (g->compared >> i & 1) {
            g->sum[i] += g->ns[i];
            g->n[i]++;
            count_tried(g, g->timed + 1, (sk_guard_side)i);
        }
    sk_guard_side other = challenger(g);
    int64_t best = g->ns[g->best], least = g->ns[other];
    bool host = g->best == SK_GUARD_HOST;
    if (host ? wait_to_tell(g, best, least, still) : wait_to_tell(g, least, best, clearly))
        return;
    if (host)
        settle(g, is_less(g, best, least, still) ? SK_GUARD_HOST : other);
    else if (!is_less(g, least, best, clearly))
        settle(g, g->best);
    else if (g->rounds == ROUNDS)
        settle(g, other);
    else {
        g->compared = bit(g->best) | bit(other);
        begin_round(g);
    }
}

/* Whom to look at after this side; the best one was first. SK_GUARD_SIDES: nobody. */
static sk_guard_side look_next(const sk_guard *g)
{
    int from = g->side == g->best ? 0 : g->side + 1;
    sk_guard_side next = compared_from(g, from);
    return next == g->best ? compared_from(g, next + 1) : next;
}

/* ns per call of the side whose calls are over, as this rank sees it. */
static int64_t side_time(const sk_guard *g)
{
    int64_t n = g->phase == SK_GUARD_LOOK ? g->look - 1 : g->timed;
    return n < FEWEST ? g->shortest : (g->spent - g->longest) / (n - 1);
}

static void look_at(sk_guard *g, sk_guard_side side)
{
    enter(g, SK_GUARD_LOOK, side, g->look);
    if (side == SK_GUARD_OTHER) {
        g->left += g->cold;
        g->cold = 0;
    }
}

/* Skein has lost against the host, at first sight: so look at the other algorithm now. */
static bool look_at_other_now(sk_guard *g)
{
    if (!g->later || (double)g->ns[SK_GUARD_HOST] >= clearly * (double)g->ns[SK_GUARD_SKEIN])
        return false;
    g->compared |= g->later;
    g->later = 0;
    look_at(g, SK_GUARD_OTHER);
    return true;
}

/* The calls of a side in the first look are over. */
static void end_look(sk_guard *g, sk_guard_largest *largest, void *of)
{
    sk_guard_side next = look_next(g);
    g->ns[g->side] = side_time(g);
    if (next < SK_GUARD_SIDES) {
        look_at(g, next);
        return;
    }
    agree(g, largest, of);
    if (look_at_other_now(g))
        return;
    g->timed = g->look - 1;
    for (int i = 0; i < SK_GUARD_SIDES; i++) {
        g->n[i] = g->compared >> i & 1;
        g->sum[i] = g->n[i] * g->ns[i];
        if (g->n[i])
            count_tried(g, g->look, (sk_guard_side)i);
        if ((double)g->ns[i] >= slow * (double)g->ns[g->best])
            g->compared &= ~bit((sk_guard_side)i);
    }
    if (g->compared == bit(g->best))
        settle(g, g->best);
    else
        begin_rounds(g);
}

static int64_t look_of(int64_t before)
{
    int64_t part = before / LOOK_PART;
    return part < LOOK ? LOOK : part > LOOK_MOST ? LOOK_MOST : part;
}

/* The calls of a side are over. */
static void next_side(sk_guard *g, sk_guard_largest *largest, void *of)
{
    switch (g->phase) {
    case SK_GUARD_DECIDED:
        g->compared = g->sides & ~g->later;
        g->look = look_of(g->before);
        enter(g, SK_GUARD_LOOK, g->best, g->look);
        break;
    case SK_GUARD_LOOK:
        end_look(g, largest, of);
        break;
    default:
        g->ns[g->side] = side_time(g);
        if (compared_from(g, g->side + 1) == SK_GUARD_SIDES)
            end_round(g, largest, of);
        else
            enter(g, SK_GUARD_TIME, compared_from(g, g->side + 1), g->timed + 1);
    }
}

/* The calls of a side are over: must the ranks agree before the next? */
static bool agree_next(const sk_guard *g)
{
    switch (g->phase) {
    case SK_GUARD_DECIDED:
        return false;
    case SK_GUARD_LOOK:
        return look_next(g) == SK_GUARD_SIDES;
    default:
        return compared_from(g, g->side + 1) == SK_GUARD_SIDES;
    }
}

bool sk_guard_agree(sk_guard *g, sk_guard_largest *largest, void *of)
{
    if (!g->held)
        return false;
    g->held = false;
    g->quiet = 0;
    next_side(g, largest, of);
    return g->phase == SK_GUARD_DECIDED;
}

bool sk_guard_must_agree(const sk_guard *g)
{
    return g->quiet <= 0 && !g->left && agree_next(g);
}

void sk_guard_say(const sk_guard *g, int64_t values[SK_GUARD_VALUES])
{
    memset(values, 0, SK_GUARD_VALUES * sizeof *values);
    memcpy(values, g->ns, sizeof g->ns);
    values[g->side] = side_time(g);
}

static int64_t as_agreed(void *of, int64_t values[SK_GUARD_VALUES])
{
    memcpy(values, of, SK_GUARD_VALUES * sizeof *values);
    return 0;
}

bool sk_guard_go_on(sk_guard *g, int64_t values[SK_GUARD_VALUES])
{
    next_side(g, as_agreed, values);
    return g->phase == SK_GUARD_DECIDED;
}

uint64_t sk_guard_state(const sk_guard *g, uint64_t seed)
{
    const int64_t say[] = {g->phase, g->best,   g->side,   g->sides,   g->compared,
                           g->later, g->rounds, g->quiet,  g->held,    g->left,
                           g->holds, g->timed,  g->before, g->meetings};
    for (size_t i = 0; i < sizeof say / sizeof *say; i++)
        seed = (seed ^ (uint64_t)say[i]) * 0x100000001b3u + (seed >> 29);
    return seed;
}

void sk_guard_abandon(sk_guard *g)
{
    g->held = false;
    g->quiet = 0;
    enter(g, SK_GUARD_DECIDED, g->best, 0);
}

void sk_guard_put_off(sk_guard *g, int64_t calls)
{
    settle_for(g, g->best, calls);
}

void sk_guard_leave_host(sk_guard *g)
{
    g->sides = bit(SK_GUARD_SKEIN);
    settle_for(g, SK_GUARD_SKEIN, INT64_MAX / 4);
}

/* The best side serves, and while that is Skein not all ranks ask: such a call counts as a quiet one. */
static sk_guard_verdict hold(sk_guard *g)
{
    sk_guard_verdict v = {.side = g->best, .decided = !g->held};
    if (g->best == SK_GUARD_HOST)
        g->holds++;
    else
        g->quiet = g->held ? g->quiet - 1 : INT64_MAX;
    g->held = true;
    return v;
}

/* The ranks wait for each other after the calls of a side, so that none pays for what others have left undone before. What
 * was held is long over: the wait would be for what ranks did since. */
static void meet(sk_guard *g, sk_guard_largest *largest, void *of)
{
    int64_t nothing[SK_GUARD_VALUES] = {0};
    if (!largest || g->phase != SK_GUARD_TIME)
        return;
    g->meetings++;
    g->spent += largest(of, nothing);
}

sk_guard_verdict sk_guard_ask(sk_guard *g, sk_guard_largest *largest, void *of)
{
    sk_guard_phase before = g->phase;
    bool over = g->quiet <= 0 && !g->left;
    if (g->held || (over && !largest && agree_next(g)))
        return hold(g);
    if (over) {
        meet(g, largest, of);
        next_side(g, largest, of);
    }
    sk_guard_verdict v = {.side = g->side,
                          .decided = before != SK_GUARD_DECIDED && g->phase == SK_GUARD_DECIDED};
    if (sk_guard_quiet(g))
        return v;
    bool first = g->left > (g->phase == SK_GUARD_LOOK ? g->look - 1 : g->timed);
    g->left--;
    v.timed = g->phase != SK_GUARD_DECIDED && !first;
    return v;
}

sk_guard_times sk_guard_last_times(const sk_guard *g)
{
    int64_t mean[SK_GUARD_SIDES];
    for (int i = 0; i < SK_GUARD_SIDES; i++)
        mean[i] = g->n[i] ? g->sum[i] / g->n[i] : 0;
    bool other = mean[SK_GUARD_OTHER] && mean[SK_GUARD_OTHER] < mean[SK_GUARD_SKEIN];
    return (sk_guard_times){.skein = mean[other ? SK_GUARD_OTHER : SK_GUARD_SKEIN],
                            .host = mean[SK_GUARD_HOST]};
}

int64_t sk_guard_last_time(const sk_guard *g, sk_guard_side side, int64_t *calls)
{
    *calls = g->n[side] * g->timed;
    return g->n[side] ? g->sum[side] / g->n[side] : 0;
}

void sk_guard_took(sk_guard *g, int64_t ns)
{
    g->spent += ns;
    g->longest = ns > g->longest ? ns : g->longest;
    g->shortest = ns < g->shortest ? ns : g->shortest;
}
