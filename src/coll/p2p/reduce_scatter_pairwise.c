/* reduce_scatter_pairwise.c: every rank sends every other rank its block of the input.
 * cost   (p-1) alpha + n(p-1)/p (beta + gamma)    good for  long vectors, any p
 * rounds p-1                                      scratch   four blocks at most
 * paper  global-collectives 4.4
 *
 * In round i a block comes from rank me - i: first from the lower ranks, downwards, then from the
 * higher ones, downwards. If the operation does not commute these are two running values, and
 * operands of both always come from the left. */
#include "coll/claim.h"
#include "coll/phase/reduce.h"

static void build(sk_sched *s, const sk_call *c)
{
    int p = c->nranks, me = c->rank;
    int64_t n = sk_block_count(c, me), first = sk_block_first(c, me), at = first + n;
    sk_span none = {0}, result = sk_recv_elems(c, 0, n);
    /* In place, input that is still to be sent is where the result goes. */
    sk_span home = c->in_place ? none : result;
    bool split = c->ordered && me < p - 1;
    sk_acc low = sk_acc_new(c, first, n, split ? none : home), high = sk_acc_none(c, n, home);

    for (int i = 1; i < p; i++) {
        int to = (me + i) % p, from = (me + p - i) % p;
        sk_acc *a = split && from > me ? &high : &low;
        if (to == 0)
            at = 0;
        sk_acc_ready(s, a, 0, n, false);
        sk_send(s, sk_send_elems(c, at, sk_block_count(c, to)), to);
        sk_recv(s, sk_acc_in(s, a), from);
        sk_fence(s);
        sk_acc_add(s, a, 0, n, false);
        sk_fence(s);
        at += sk_block_count(c, to);
    }
    if (split) {
        sk_reduce(s, low.at, high.at);
        sk_fence(s);
    }
    sk_copy(s, split ? high.at : low.at, result);
}

static int64_t scratch(const sk_call *c)
{
    int64_t most = 0;
    for (int i = 0; i < c->nranks; i++)
        if (most < sk_block_count(c, i))
            most = sk_block_count(c, i);
    return sk_vectors_scratch(c, 4, most);
}

static void claim(const sk_cost_case *k, sk_cost *c)
{
    c->steps = k->p - 1;
    sk_claim_messages(c, k->p - 1, k->p - 1, k->n - k->b, k->n - k->b);
}

const sk_algo sk_reduce_scatter_pairwise = {
    .name = "pairwise",
    .coll = SK_REDUCE_SCATTER,
    .about = "each block straight to its rank; long vectors",
    .scratch = scratch,
    .build = build,
    .claim = claim,
    .rule = {{.when = SK_WHEN_ANY, .from = SK_SET_REDUCE_SCATTER_PAIRS},
             {.when = SK_WHEN_ORDERED,
              .from = SK_SET_REDUCE_SCATTER_LONG,
              .formula = sk_reduce_scatter_cutoff}},
};

const sk_algo sk_reduce_scatter_block_pairwise = {
    .name = "pairwise",
    .coll = SK_REDUCE_SCATTER_BLOCK,
    .about = "each block straight to its rank; long vectors",
    .scratch = scratch,
    .build = build,
    .claim = claim,
    .rule = {{.when = SK_WHEN_ANY, .from = SK_SET_REDUCE_SCATTER_PAIRS},
             {.when = SK_WHEN_ORDERED,
              .from = SK_SET_REDUCE_SCATTER_LONG,
              .formula = sk_reduce_scatter_cutoff}},
};
