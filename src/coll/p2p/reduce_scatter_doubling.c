/* reduce_scatter_doubling.c: as allreduce by recursive doubling, but a partner gets only what it,
 * or the members it will still exchange with, need.
 * cost   lg p (alpha + n beta + n gamma), less about 2n beta    good for  short vectors
 * rounds lg p; otherwise floor(lg p) + 2                        scratch   two vectors
 * paper  global-collectives 4.4
 *
 * After the exchange at distance d a member only exchanges with members that equal it modulo 2d.
 * Their blocks, and those between, are p - 2d + 1 consecutive blocks: one message, and shorter than
 * the paper's p - d blocks in two pieces. Operands are in rank order. */
#include "coll/claim.h"
#include "coll/phase/reduce.h"

typedef struct stretch {
    int64_t first, n;
} stretch;

/* The elements of members [lo, hi). */
static stretch members(const sk_call *c, const sk_fold *f, int lo, int hi)
{
    int64_t first = sk_block_first(c, sk_fold_first(f, lo));
    return (stretch){first, sk_block_first(c, sk_fold_first(f, hi)) - first};
}

static stretch needed(const sk_call *c, const sk_fold *f, int member, int period)
{
    int lo = member % period;
    return members(c, f, lo, lo + f->q - period + 1);
}

static void build(sk_sched *s, const sk_call *c)
{
    sk_fold f = sk_fold_of(c, -1);
    int me = c->rank, member = sk_fold_member(&f, me), partner = sk_fold_partner(&f, me);
    sk_span result = sk_recv_elems(c, 0, sk_block_count(c, me));
    sk_acc a = sk_acc_blocks(s, c);

    sk_fold_in(s, &f, &a);
    if (member < 0) {
        sk_recv(s, result, partner);
        return;
    }
    for (int bit = 1; bit < f.q; bit *= 2) {
        int peer = sk_fold_rank(&f, member ^ bit);
        bool left = !(member & bit);
        stretch give = needed(c, &f, member ^ bit, 2 * bit), keep = needed(c, &f, member, 2 * bit);
        sk_span from = a.at;
        sk_acc_ready(s, &a, keep.first, keep.n, left);
        sk_send(s, sk_elems_cut(c, from, give.first, give.n), peer);
        sk_recv(s, sk_elems_cut(c, sk_acc_in(s, &a), keep.first, keep.n), peer);
        sk_fence(s);
        sk_acc_add(s, &a, keep.first, keep.n, left);
        sk_fence(s);
    }
    sk_copy(s, sk_elems_cut(c, a.at, sk_block_first(c, me), sk_block_count(c, me)), result);
    if (partner >= 0)
        sk_send(s, sk_elems_cut(c, a.at, sk_block_first(c, partner), sk_block_count(c, partner)),
                partner);
}

static int64_t scratch(const sk_call *c)
{
    return sk_vectors_scratch(c, 2, sk_call_elems(c));
}

static int64_t bytes_needed(const sk_flow *w, const sk_fold *f, int member, int period)
{
    int lo = member % period, first = sk_fold_first(f, lo);
    return sk_flow_blocks(w, first, sk_fold_first(f, lo + f->q - period + 1) - first);
}

static void flow(sk_flow *w, const sk_call *c)
{
    sk_fold f = sk_fold_of(c, -1);
    for (int i = 0; i < f.p - f.q; i++) /* in: the vector; out: the block of the higher rank */
        sk_flow_pass(w, 2 * i, 2 * i + 1, 2,
                     sk_flow_blocks(w, 0, f.p) + sk_flow_blocks(w, 2 * i + 1, 1));
    for (int bit = 1; bit < f.q; bit *= 2)
        for (int i = 0; i < f.q; i++)
            sk_flow_pass(w, sk_fold_rank(&f, i), sk_fold_rank(&f, i ^ bit), 1,
                         bytes_needed(w, &f, i ^ bit, 2 * bit));
}

/* At distance d, p - 2d + 1 consecutive blocks are sent: less than the n lg p - (p-1)/p n bytes of
 * the paper. */
static void claim(const sk_cost_case *k, sk_cost *c)
{
    c->steps = k->pow2 ? k->lg : k->fl + 2;
    if (!k->pow2)
        return;
    int64_t bytes = 0;
    for (int64_t d = 1; d < k->p; d *= 2)
        bytes += (k->p - 2 * d + 1) * k->b;
    sk_claim_messages(c, k->lg, k->lg, bytes, bytes);
}

const sk_algo sk_reduce_scatter_doubling = {
    .name = "doubling",
    .coll = SK_REDUCE_SCATTER,
    .about = "exchange with partners, distance doubling; short vectors",
    .scratch = scratch,
    .build = build,
    .claim = claim,
    .prefers = SK_PREFERS_SEQUENTIAL,
    .flow = flow,
    .rule = {{.when = SK_WHEN_ANY}},
};

const sk_algo sk_reduce_scatter_block_doubling = {
    .name = "doubling",
    .coll = SK_REDUCE_SCATTER_BLOCK,
    .about = "exchange with partners, distance doubling; short vectors",
    .scratch = scratch,
    .build = build,
    .claim = claim,
    .prefers = SK_PREFERS_SEQUENTIAL,
    .flow = flow,
    .rule = {{.when = SK_WHEN_ANY}},
};
