/* allreduce_ring.c: partial sums of p shares of the vector go round a ring, then the sums.
 * cost   2(p-1) alpha + 2n(p-1)/p beta + n gamma    good for  very long vectors, any p
 * rounds 2(p-1)                                     scratch   one share, when in place
 * paper  Patarasuk and Yuan, Bandwidth optimal all-reduce algorithms, 2009
 *
 * A share is reduced in the order of the ring, and for every share another rank is the first. So
 * the operation must commute. */
#include "coll/claim.h"
#include "coll/phase/p2p.h"
#include "coll/phase/reduce.h"

static bool fits(const sk_call *c)
{
    return !c->ordered;
}

static void build(sk_sched *s, const sk_call *c)
{
    int p = c->nranks, me = c->rank, left = (me + p - 1) % p, right = (me + 1) % p;
    int64_t n = sk_call_elems(c), size = c->types[c->send.type].size;
    sk_team team = sk_team_all(c, 0);
    sk_parts in = sk_parts_even(c, sk_send_elems(c, 0, n), p, size);
    sk_parts out = sk_parts_even(c, sk_recv_elems(c, 0, n), p, size);
    sk_span temp = {.type = c->send.type};
    if (c->in_place && p > 1)
        temp = sk_scratch_typed(s, c->send.type, n / p + (n % p > 0));

    /* Share k starts at rank k + 1 and comes to rank k last. */
    for (int i = 1; i < p; i++) {
        int give = (me + p - i) % p, take = (me + 2 * p - i - 1) % p;
        sk_span mine = sk_parts_range(&in, take, take + 1);
        sk_span to = sk_parts_range(&out, take, take + 1);
        if (c->in_place)
            to = sk_span_cut(c->types, temp, 0, mine.len);
        sk_send(s, sk_parts_range(i == 1 ? &in : &out, give, give + 1), right);
        sk_recv(s, to, left);
        sk_fence(s);
        sk_reduce(s, c->in_place ? to : mine, c->in_place ? mine : to);
        sk_fence(s);
    }
    if (p == 1)
        sk_copy(s, in.all, out.all);
    sk_allgather_by_ring(s, &team, &out);
}

static int64_t scratch(const sk_call *c)
{
    return sk_vectors_scratch(c, 1, sk_call_elems(c) / c->nranks + 1);
}

static void claim(const sk_cost_case *k, sk_cost *c)
{
    int64_t rounds = 2 * (k->p - 1), data = 2 * (k->n - k->b);
    c->steps = rounds;
    sk_claim_messages(c, rounds, rounds, data, data);
}

const sk_algo sk_allreduce_ring = {
    .name = "ring",
    .coll = SK_ALLREDUCE,
    .about = "shares go round a ring twice; very long vectors, operations that commute",
    .fits = fits,
    .scratch = scratch,
    .build = build,
    .claim = claim,
    .prefers = SK_PREFERS_SEQUENTIAL,
    .flow = sk_flow_ring,
    /* On several nodes every vector that is too long for leaders. */
    .rule = {{.when = SK_WHEN_NODES}, {.when = SK_WHEN_ANY, .from = SK_SET_ALLREDUCE_RING}},
};
