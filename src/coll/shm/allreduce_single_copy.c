/* allreduce_single_copy.c: every rank reads a part of all vectors where they lie, reduces it into its
 * receive buffer, and reads the other parts of the result there.
 * cost      2 copies of a byte at most, one of an operand and one of the result
 * good for  long vectors, one node, operations of the standard; keeps the order of ranks
 * epochs    2
 * steps     about 2p for each chunk of a part
 * scratch   2 chunks */
#include "coll/claim.h"
#include "coll/phase/read_fold.h"
#include "coll/phase/reduce.h"

static sk_span part_of(const sk_call *c, int rank)
{
    sk_elem_range x = sk_elems_part(c, rank);
    return sk_recv_elems(c, x.lo, x.hi - x.lo);
}

static void build(sk_sched *s, const sk_call *c)
{
    if (sk_call_bytes(c) == 0)
        return;
    int in = sk_epoch(s, SK_READ_FOLD_SLOT, true), out = sk_epoch(s, SK_EXPORT_BYTES, true);
    sk_read_fold_export(s, c, in, sk_elems_part(c, c->rank));
    sk_intra_await_all(s, c, in);
    sk_read_fold(s, c, in, sk_elems_part, part_of(c, c->rank));
    sk_intra_export(s, out, part_of(c, c->rank));
    sk_await_local(s, out, 0, c->nranks); /* nobody reads my operand any more */
    sk_fence(s);
    for (int i = 1; i < c->nranks; i++) {
        int from = (c->rank + i) % c->nranks;
        sk_read(s, from, sk_intra_exported(out), 0, part_of(c, from));
    }
    sk_intra_quiesce(s, out);
}

/* Through slots: in, out into a part of the result, into its slot, and out by all. */
static sk_ways ways(const sk_call *c)
{
    sk_copy_costs x = sk_copy_costs_of(c);
    double p = c->nranks, n = (double)sk_call_bytes(c), part = n / p,
           chunk = (double)sk_intra_epoch_bytes(c, SK_INTRA_REDUCE_CHUNK);
    double slots = (n + part) * x.in + 2 * (n - part) * x.out + 2 * sk_copy_waits(&x, n, chunk),
           single = sk_read_fold_time(&x, c, part) + (n - part) * x.read_fresh + (p - 1) * x.call +
                    3 * x.wait;
    return (sk_ways){.slots = sk_copy_time(&x, slots, p * slots),
                     .single = sk_copy_time(&x, single, p * single)};
}

static void claim(const sk_cost_case *k, sk_cost *c)
{
    sk_claim_moves(c, 2, SK_UNCLAIMED, SK_UNCLAIMED, SK_UNCLAIMED, SK_UNCLAIMED);
    c->scratch = SK_UNCLAIMED;
    c->all_take_bytes = 2 * (k->p - 1) * k->n;
}

const sk_algo sk_allreduce_single_copy = {
    .name = "single-copy",
    .coll = SK_ALLREDUCE,
    .about = "every rank combines a part, read in the memory of all; one node, long vectors",
    .fits = sk_read_fold_fits,
    .scratch = sk_read_fold_scratch,
    .build = build,
    .claim = claim,
    .rule = {{.when = SK_WHEN_ONE_NODE, .from = SK_SET_SINGLE_COPY, .ways = ways}},
};
