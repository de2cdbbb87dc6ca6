/* reduce_single_copy.c: every rank reads a part of all vectors where they lie and reduces it, and the
 * root reads the parts of the result. Of two ranks the root alone reads and reduces.
 * cost      1 copy of a part of the operands and 1 of the result; two ranks: 1 of an operand
 * good for  long vectors, one node, operations of the standard; keeps the order of ranks
 * epochs    2; two ranks: 1
 * steps     about 2p for each chunk
 * scratch   2 chunks, and a part of the vector */
#include "coll/claim.h"
#include "coll/phase/read_fold.h"
#include "coll/phase/reduce.h"

/* Does the root do all of it? Between two ranks parts would move as many bytes, and wait once more.
 * More ranks are faster by parts: the root would read each vector alone. */
static bool by_root(const sk_call *c)
{
    return c->nranks == 2;
}

static sk_elem_range all_at_root(const sk_call *c, int rank)
{
    return (sk_elem_range){.hi = rank == c->root ? sk_call_elems(c) : 0};
}

static void build_by_root(sk_sched *s, const sk_call *c)
{
    int epoch = sk_epoch(s, SK_READ_FOLD_SLOT, false);
    if (c->rank == c->root) {
        sk_read_fold(s, c, epoch, all_at_root, sk_recv_elems(c, 0, sk_call_elems(c)));
        return;
    }
    sk_read_fold_export(s, c, epoch, all_at_root(c, c->rank));
    sk_intra_quiesce(s, epoch);
}

static void build_by_parts(sk_sched *s, const sk_call *c)
{
    bool root = c->rank == c->root;
    sk_elem_range mine = sk_elems_part(c, c->rank);
    int64_t n = mine.hi - mine.lo;
    int in = sk_epoch(s, SK_READ_FOLD_SLOT, true), out = sk_epoch(s, SK_EXPORT_BYTES, true);
    sk_span result = root ? sk_recv_elems(c, mine.lo, n) : sk_scratch_typed(s, c->send.type, n);
    sk_read_fold_export(s, c, in, mine);
    sk_intra_await_all(s, c, in);
    sk_read_fold(s, c, in, sk_elems_part, result);
    if (!root) {
        sk_intra_export(s, out, result);
        sk_intra_quiesce(s, out);
        return;
    }
    sk_post(s, out);
    sk_await_local(s, out, 0, c->nranks); /* nobody reads my operand any more */
    sk_fence(s);
    for (int i = 1; i < c->nranks; i++) {
        int from = (c->rank + i) % c->nranks;
        sk_elem_range x = sk_elems_part(c, from);
        sk_read(s, from, sk_intra_exported(out), 0, sk_recv_elems(c, x.lo, x.hi - x.lo));
    }
}

static void build(sk_sched *s, const sk_call *c)
{
    if (sk_call_bytes(c) > 0)
        (by_root(c) ? build_by_root : build_by_parts)(s, c);
}

static int64_t scratch(const sk_call *c)
{
    sk_elem_range most = sk_elems_part(c, 0);
    return sk_read_fold_scratch(c) + sk_vectors_scratch(c, 1, most.hi - most.lo);
}

/* Through slots of two ranks: in, out and reduced; the root follows by a chunk. */
static double pair_slots(const sk_copy_costs *x, const sk_call *c)
{
    double n = (double)sk_call_bytes(c), chunk = (double)sk_intra_flow_bytes(c, sk_call_bytes(c)),
           root = x->out + x->copy, first = n < chunk ? n : chunk;
    return sk_copy_time(x,
                        n * (root > x->in ? root : x->in) + first * (root > x->in ? x->in : root) +
                            sk_copy_waits(x, n, chunk),
                        n * (x->in + root));
}

/* Through slots: in, out into a part of the result, into its slot, and out by the root, chunk by chunk. In place the root
 * reads the results when all have reduced, alone. */
static sk_ways ways(const sk_call *c)
{
    sk_copy_costs x = sk_copy_costs_of(c);
    double p = c->nranks, n = (double)sk_call_bytes(c), part = n / p,
           chunk = (double)sk_intra_epoch_bytes(c, SK_INTRA_REDUCE_CHUNK);
    double each = sk_read_fold_time(&x, c, by_root(c) ? n : part) + 2 * x.wait,
           read = by_root(c) ? 0 : (n - part) * x.read_fresh + (p - 1) * x.call + x.wait;
    double slots = (n + part) * x.in + (n - part) * x.out + 2 * sk_copy_waits(&x, n, chunk),
           taken = (n - part) * x.out;
    return (sk_ways){.slots = by_root(c) ? pair_slots(&x, c)
                                         : sk_copy_time(&x, slots + taken, p * slots + taken),
                     .single = by_root(c) ? each : sk_copy_time(&x, each, p * each) + read};
}

static void claim(const sk_cost_case *k, sk_cost *c)
{
    bool alone = by_root(k->call);
    sk_claim_moves(c, alone ? 1 : 2, SK_UNCLAIMED, SK_UNCLAIMED, SK_UNCLAIMED, SK_UNCLAIMED);
    c->scratch = SK_UNCLAIMED;
    sk_elem_range mine = sk_elems_part(k->call, (int)k->root);
    int64_t size = k->call->types[k->call->send.type].size;
    c->all_take_bytes = (k->p - 1) * k->n + (alone ? 0 : k->n - (mine.hi - mine.lo) * size);
}

const sk_algo sk_reduce_single_copy = {
    .name = "single-copy",
    .coll = SK_REDUCE,
    .about = "every rank combines a part, read in the memory of all; one node, long vectors",
    .fits = sk_read_fold_fits,
    .scratch = scratch,
    .build = build,
    .claim = claim,
    .rule = {{.when = SK_WHEN_ONE_NODE, .from = SK_SET_SINGLE_COPY, .ways = ways}},
};
