/* alltoall_bruck.c: Bruck's index algorithm: a block for the rank at distance d travels 2^k ranks
 * in round k if bit k of d is set, in one message with all others that do.
 * cost   ceil(lg p) (alpha + n/2 beta)    good for  short blocks
 * rounds ceil(lg p)    scratch  2 n
 * paper  Bruck et al.: Efficient algorithms for all-to-all communications (1997) */
#include "coll/claim.h"
#include "coll/phase/p2p.h"

/* Entry d holds the block that travels distance d in all. In round k the entries with bit k set
 * form runs of 2^k; in the packed message the runs follow each other. */
static int64_t move_runs(sk_sched *s, const sk_parts *slots, int p, int bit, sk_span packed,
                         bool pack)
{
    int64_t at = 0;
    for (int64_t lo = bit; lo < p; lo += 2 * (int64_t)bit) {
        sk_span run = sk_parts_range(slots, (int)lo, (int)(lo + bit < p ? lo + bit : p));
        sk_span part = sk_span_cut(slots->types, packed, at, run.len);
        sk_copy(s, pack ? run : part, pack ? part : run);
        at += run.len;
    }
    return at;
}

static void build(sk_sched *s, const sk_call *c)
{
    int p = c->nranks, me = c->rank;
    int64_t bytes = sk_call_bytes(c);
    sk_team from_me = sk_team_all(c, me);
    sk_blocks to_send = {.c = c, .side = SK_SEND, .shift = me};
    sk_span row = sk_scratch(s, (p - 1) * bytes);
    sk_span out = sk_scratch(s, p / 2 * bytes), in = sk_scratch(s, p / 2 * bytes);
    sk_parts slots = sk_parts_equal(c, row, 1, bytes);

    sk_copy(s, sk_send_block(c, me), sk_recv_block(c, me));
    sk_blocks_pack(s, &to_send, 1, p, row);
    for (int k = 0; k < 31 && 1 << k < p; k++) {
        int bit = 1 << k;
        sk_fence(s);
        in.len = out.len = move_runs(s, &slots, p, bit, out, true);
        sk_fence(s);
        sk_send(s, out, sk_team_rank(&from_me, bit));
        sk_recv(s, in, sk_team_rank(&from_me, p - bit));
        sk_fence(s);
        move_runs(s, &slots, p, bit, in, false);
    }
    sk_fence(s);
    for (int d = 1; d < p; d++)
        sk_copy(s, sk_parts_range(&slots, d, d + 1), sk_recv_block(c, (me + p - d) % p));
}

static int64_t scratch(const sk_call *c)
{
    int64_t one = sk_scratch_bytes(c->nranks, sk_call_bytes(c));
    return one > INT64_MAX / 3 ? INT64_MAX : 3 * one;
}

static void flow(sk_flow *f, const sk_call *c)
{
    (void)c;
    for (int64_t bit = 1; bit < f->n; bit *= 2) {
        int64_t slots = 0;
        for (int64_t d = 1; d < f->n; d++)
            slots += (d & bit) != 0;
        for (int i = 0; i < f->n; i++)
            sk_flow_pass(f, i, (int)((i + bit) % f->n), 1, slots);
    }
}

/* In round i go the blocks whose distance has bit i: n/2 lg p bytes for powers of two. */
static void claim(const sk_cost_case *k, sk_cost *c)
{
    int64_t blocks = 0;
    for (int64_t d = 1; d < k->p; d++)
        blocks += __builtin_popcountll((unsigned long long)d);
    c->steps = k->lg;
    sk_claim_messages(c, k->lg, k->lg, blocks * k->b, blocks * k->b);
}

const sk_algo sk_alltoall_bruck = {
    .name = "bruck",
    .coll = SK_ALLTOALL,
    .about = "blocks travel by the bits of their distance, combined; short blocks",
    .scratch = scratch,
    .build = build,
    .claim = claim,
    .prefers = SK_PREFERS_ROUND_ROBIN,
    .flow = flow,
    .rule = {{.when = SK_WHEN_ANY, .from = SK_SET_ALLTOALL_TINY, .measure = SK_MEASURE_MATRIX}},
};
