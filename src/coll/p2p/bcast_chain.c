/* bcast_chain.c: a pipelined chain: every rank passes segment k-1 on while it receives segment k.
 * cost   (p-2 + m)(alpha + n/m beta) for m segments    good for  very long messages, few ranks
 * rounds m at the ends, m+1 between    scratch  n where the user's type is not contiguous */
#include "coll/claim.h"
#include "coll/phase/p2p.h"
#include "coll/tuning.h"

static int segments(int64_t bytes)
{
    int64_t m = bytes / SK_CHAIN_SEGMENT + (bytes % SK_CHAIN_SEGMENT != 0);
    return m < 1 ? 1 : m > SK_CHAIN_SEGMENTS ? SK_CHAIN_SEGMENTS : (int)m;
}

static void build(sk_sched *s, const sk_call *c)
{
    sk_team team = sk_team_all(c, c->root);
    sk_span message = sk_message_in(s, c);
    int m = segments(message.len);
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
    int64_t segments = sk_claim_ceil(k->n, SK_CHAIN_SEGMENT), i = (k->rank + k->p - k->root) % k->p;
    bool first = i == 0, last = i == k->p - 1;
    c->steps = k->p > 1 ? k->p - 2 + segments : 0;
    sk_claim_messages(c, last ? 0 : segments, first ? 0 : segments, last ? 0 : k->n,
                      first ? 0 : k->n);
}

const sk_algo sk_bcast_chain = {
    .name = "chain",
    .coll = SK_BCAST,
    .about = "segments of 64 KiB down a chain of ranks; very long messages, few ranks",
    .scratch = sk_message_scratch,
    .build = build,
    .claim = claim,
    .prefers = SK_PREFERS_SEQUENTIAL,
    .flow = flow,
};
