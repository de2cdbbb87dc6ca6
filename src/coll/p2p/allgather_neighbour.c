/* allgather_neighbour.c: neighbour exchange: swap blocks with one neighbour, then alternate
 * between both neighbours, each time sending on the two blocks that came last; allgather and
 * allgatherv.
 * cost   p/2 alpha + (p-1)/p n beta    good for  medium and long blocks: half the rounds of a ring,
 *                                      and messages still go to neighbours only
 * rounds p/2 for even p
 * odd p  the last rank does not take part. It first gives its block to the rank before it, which
 *        from then on has two blocks, and which sends it everything that arrives, a round later:
 *        (p+3)/2 rounds, and one rank sends every block twice
 * scratch  n where the user's blocks do not follow each other; but where that comes from renamed ranks, long blocks
 *        travel as messages of their own, without scratch
 * paper  Chen et al.: Performance evaluation of allgather algorithms, HPC Asia (2005) */
#include "coll/claim.h"
#include "coll/phase/p2p.h"

typedef struct pair_swap {
    sk_sched *s;
    const sk_parts *parts;
    int p, n; /* all ranks, and those that take part: an even number */
    int me;
} pair_swap;

/* Renamed ranks lie apart: do their blocks travel alone? A copy of a pair then costs more than a message. All ranks
 * decide alike. */
static bool alone(const sk_call *c)
{
    int64_t message = c->rename ? c->machine->net.message : 0,
            all =
                c->coll == SK_ALLGATHERV ? c->nranks : 1; /* whose bytes are those of all blocks */
    return c->rename && sk_call_bytes(c) / all >=
                            (message > SK_USUAL_MESSAGE_BYTES ? message : SK_USUAL_MESSAGE_BYTES);
}

/* What is sent and received at once: neighbouring blocks. */
typedef struct few_blocks {
    int first, end;
} few_blocks;

/* The block of rank r; the last one that takes part also has the block of the one that does not. */
static few_blocks block(const pair_swap *w, int r)
{
    return (few_blocks){r, r + 1 == w->n ? w->p : r + 1};
}

/* The blocks of ranks 2q and 2q+1, likewise. */
static few_blocks pair(const pair_swap *w, int q)
{
    return (few_blocks){2 * q, 2 * q + 2 == w->n ? w->p : 2 * q + 2};
}

static void transfer(const pair_swap *w, void (*step)(sk_sched *, sk_span, int), few_blocks b,
                     int peer)
{
    int n = w->parts->loose ? 1 : b.end - b.first;
    for (int i = b.first; i < b.end; i += n)
        step(w->s, sk_parts_range(w->parts, i, i + n), peer);
}

static void give(const pair_swap *w, few_blocks b, int peer)
{
    transfer(w, sk_send, b, peer);
}

static void take(const pair_swap *w, few_blocks b, int peer)
{
    transfer(w, sk_recv, b, peer);
}

/* The pair that rank r receives in round i. Even ranks exchange with the rank to their right in
 * even rounds, odd ranks in odd ones. The pairs that come from the right are ever further to the
 * right. */
static int news(const pair_swap *w, int r, int i)
{
    int pairs = w->n / 2, away = (i + 1) / 2;
    return (r / 2 + (r % 2 == i % 2 ? away : pairs - away)) % pairs;
}

/* What rank n-1 sends rank n after round i. */
static few_blocks feed(const pair_swap *w, int i)
{
    return i == 0 ? (few_blocks){w->n - 2, w->n} : pair(w, news(w, w->n - 1, i));
}

static void take_part(const pair_swap *w)
{
    int n = w->n, me = w->me, partner = me ^ 1;
    bool feeds = n < w->p && me == n - 1;

    if (feeds)
        take(w, (few_blocks){n, w->p}, n);
    sk_fence(w->s);
    give(w, block(w, me), partner);
    take(w, block(w, partner), partner);
    for (int i = 1; i < n / 2; i++) {
        int peer = me % 2 == i % 2 ? (me + 1) % n : (me + n - 1) % n;
        sk_fence(w->s);
        give(w, pair(w, news(w, me, i - 1)), peer);
        take(w, pair(w, news(w, me, i)), peer);
        if (feeds)
            give(w, feed(w, i - 1), n);
    }
    if (feeds) {
        sk_fence(w->s);
        give(w, feed(w, n / 2 - 1), n);
    }
}

static void be_fed(const pair_swap *w)
{
    int n = w->n;
    sk_fence(w->s);
    give(w, (few_blocks){n, w->p}, n - 1);
    for (int i = 0; i < n / 2; i++) {
        sk_fence(w->s);
        take(w, feed(w, i), n - 1);
    }
}

static void build(sk_sched *s, const sk_call *c)
{
    int p = c->nranks, me = c->rank;
    sk_blocks row = {.c = c, .side = SK_RECV};
    bool loose = alone(c);
    sk_span place = loose ? (sk_span){0} : sk_blocks_place(s, &row, 0, p);
    sk_parts parts = loose ? sk_parts_loose(&row) : sk_parts_blocks(&row, place);
    pair_swap w = {.s = s, .parts = &parts, .p = p, .n = p - p % 2, .me = me};

    sk_copy(s, sk_send_block(c, 0), sk_parts_range(&parts, me, me + 1));
    if (me < w.n)
        take_part(&w);
    else if (w.n > 0)
        be_fed(&w);
    if (loose)
        return;
    sk_fence(s);
    sk_blocks_unpack(s, &row, 0, p, place);
}

static int64_t scratch(const sk_call *c)
{
    return alone(c) ? 0 : sk_allgather_scratch(c);
}

/* The blocks of `k` pairs, the last of them pair q, round the end. */
static int64_t pairs_to(const sk_flow *f, int q, int k)
{
    int n = f->n - f->n % 2, pairs = n / 2, first = (q + pairs - k + 1) % pairs;
    int before_end = first + k <= pairs ? k : pairs - first, more = k - before_end;
    bool to_end =
        first + before_end == pairs; /* then with the block of the rank that takes no part */
    return sk_flow_blocks(f, 2 * first, to_end ? f->n - 2 * first : 2 * before_end) +
           sk_flow_blocks(f, 0, 2 * more);
}

/* In each round another pair goes over an edge of the ring, in each direction: first the sender's own pair, then pairs
 * ever further behind it. Within pair q round 0 swaps single blocks; from round 2 on each sends what came from its other
 * side. */
static int64_t inside(const sk_flow *f, int q)
{
    int n = f->n - f->n % 2, pairs = n / 2, rounds = (pairs - 1) / 2;
    return sk_flow_blocks(f, 2 * q, 2 * q + 2 == n ? f->n - 2 * q : 2) +
           pairs_to(f, (q + pairs - 1) % pairs, rounds) + pairs_to(f, (q + rounds) % pairs, rounds);
}

/* Between pair q and the next one. */
static int64_t beyond(const sk_flow *f, int q)
{
    int pairs = f->n / 2, rounds = pairs / 2;
    return pairs_to(f, q, rounds) + pairs_to(f, (q + rounds) % pairs, rounds);
}

static void flow(sk_flow *f, const sk_call *c)
{
    sk_flow number = *f; /* of blocks, whatever their sizes */
    number.start = NULL;
    bool loose = alone(c);
    int n = f->n - f->n % 2, pairs = n / 2, odd = pairs / 2, even = (pairs - 1) / 2;
    for (int q = 0; q < pairs; q++) {
        int left = 2 * q, right = left + 1, next = (q + 1) % pairs;
        sk_flow_pass(f, left, right, loose ? inside(&number, q) : 2 + 2 * even, inside(f, q));
        if (pairs > 1)
            sk_flow_pass(f, right, 2 * next, loose ? beyond(&number, q) : 2 * odd, beyond(f, q));
    }
    if (n < f->n && n > 0)
        sk_flow_pass(f, n - 1, n, loose ? f->n : 1 + pairs, sk_flow_blocks(f, 0, f->n));
}

static void claim(const sk_cost_case *k, sk_cost *c)
{
    int64_t data = k->n - k->b, half = k->p / 2;
    if (k->p % 2 == 0) {
        c->steps = half;
        sk_claim_messages(c, half, half, data, data);
    } else {
        c->steps = k->p == 1 ? 0 : (k->p + 3) / 2;
        sk_claim_messages(c, SK_UNCLAIMED, SK_UNCLAIMED, SK_UNCLAIMED, data);
    }
}

const sk_algo sk_allgather_neighbour = {
    .name = "neighbour",
    .coll = SK_ALLGATHER,
    .about = "swap pairs of blocks with two neighbours in turn; medium and long blocks",
    .scratch = scratch,
    .build = build,
    .claim = claim,
    .prefers = SK_PREFERS_SEQUENTIAL,
    .flow = flow,
    .rule = {{.when = SK_WHEN_EVEN, .from = SK_SET_ALLGATHER_LONG, .measure = SK_MEASURE_BLOCKS}},
};

const sk_algo sk_allgatherv_neighbour = {
    .name = "neighbour",
    .coll = SK_ALLGATHERV,
    .about = "swap pairs of blocks with two neighbours in turn; medium and long blocks",
    .scratch = scratch,
    .build = build,
    .claim = claim,
    .prefers = SK_PREFERS_SEQUENTIAL,
    .flow = flow,
    .rule = {{.when = SK_WHEN_EVEN, .from = SK_SET_ALLGATHER_LONG}},
};
