/* bcast_chain.c: a pipelined chain: every rank passes segment k-1 on while it receives segment k.
 * cost   (p-2 + m)(alpha + n/m beta) for m segments    good for  very long messages
 * rounds m at the ends, m+1 between    scratch  n where the user's type is not contiguous */
#include "coll/claim.h"
#include "coll/phase/p2p.h"
#include "coll/tuning.h"

/* The last rank gets the first segment after p-2 hops, and m-1 more behind it. A segment of s bytes costs s G and
 * the software of a message, g, so (p-2) s G + n/s g is least for s = sqrt(n g/G / (p-2)). g/G is the message
 * that takes as long on the wire as its software. */
static int64_t segment_of(int64_t bytes, int p)
{
    int64_t area = (p > 3 ? bytes / (p - 2) : bytes) * SK_CHAIN_SOFTWARE, s = SK_CHAIN_LEAST;
    while (s < SK_CHAIN_MOST && s * s < area)
        s *= 2;
    while (bytes / s >= SK_CHAIN_SEGMENTS)
        s *= 2;
    return s;
}

static int segments(int64_t bytes, int p)
{
    int64_t s = segment_of(bytes, p), m = (bytes + s - 1) / s;
    return m < 1 ? 1 : (int)m;
}

/* Against scatter-doubling, which sends all bytes twice: these must take longer than the pipeline takes to fill,
 * which grows with p. The factor is where the model of `skein explain` says so with its customary prices: 200 KB
 * times 8, 64 and 256 ranks. */
static int64_t cutoff(int p, const sk_machine *m)
{
    (void)m;
    return (int64_t)32 * SK_CHAIN_SOFTWARE * p;
}

static void build(sk_sched *s, const sk_call *c)
{
    sk_team team = sk_team_all(c, c->root);
    sk_span message = sk_message_in(s, c);
    int m = segments(message.len, c->nranks);
    sk_parts parts = sk_parts_even(c, message, m, 1);
    bool first = team.me == 0, last = team.me == team.n - 1;
    int behind = first ? 0 : 1; /* how many segments sending lags behind receiving */

    for (int k = 0; k < m + behind; k++) {
        sk_fence(s);
        if (!first && k < m)
            sk_recv(s, sk_parts_range(&parts, k, k + 1), sk_team_rank(&team, team.me - 1));
        if (!last && k >= behind)
            sk_send(s, sk_parts_range(&parts, k - behind, k - behind + 1),
                    sk_team_rank(&team, team.me + 1));
    }
    sk_message_out(s, c, message);
}

static void flow(sk_flow *f, const sk_call *c)
{
    f->first = c->root;
    for (int i = 1; i < f->n; i++)
        sk_flow_pass(f, i - 1, i, 1, 1);
}

static void claim(const sk_cost_case *k, sk_cost *c)
{
    int64_t m = segments(k->n, k->p), i = (k->rank + k->p - k->root) % k->p;
    bool first = i == 0, last = i == k->p - 1;
    c->steps = k->p > 1 ? k->p - 2 + m : 0;
    sk_claim_messages(c, last ? 0 : m, first ? 0 : m, last ? 0 : k->n, first ? 0 : k->n);
}

const sk_algo sk_bcast_chain = {
    .name = "chain",
    .coll = SK_BCAST,
    .about = "segments down a chain of ranks; very long messages",
    .scratch = sk_message_scratch,
    .build = build,
    .claim = claim,
    .prefers = SK_PREFERS_SEQUENTIAL,
    .flow = flow,
    .rule = {{.when = SK_WHEN_ANY, .from = SK_SET_BCAST_CHAIN, .formula = cutoff}},
};
