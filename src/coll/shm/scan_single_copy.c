/* scan_single_copy.c: every rank reads the prefix of the rank before it where it lies, adds its own
 * vector and exports the result, chunk by chunk; scan and exscan.
 * cost      1 copy of a byte; the last rank begins p - 2 chunks after the second
 * good for  long vectors, one node, operations of the standard; keeps the order of ranks
 * epochs    one for each chunk, and one more
 * steps     about 6 for each chunk
 * scratch   scan: a chunk; exscan: the vector, for the prefix that is passed on
 *
 * A rank waits only for the one before it and, at the end, until the one after it has read all. */
#include "coll/claim.h"
#include "coll/phase/read_fold.h"
#include "coll/phase/reduce.h"

/* Elements of a chunk. Short chunks let the last rank begin soon; long ones need fewer calls. */
static int64_t chunk_of(const sk_call *c)
{
    int64_t bytes = sk_call_bytes(c), most = SK_INTRA_READ_CHUNK, least = most / 4;
    int64_t even = bytes / (4 * (int64_t)c->nranks), limit = bytes / SK_INTRA_READ_CHUNKS + 1;
    if (c->nranks == 2 && c->coll == SK_EXSCAN)
        return sk_elems_in(c, bytes); /* one copy: nothing to reduce, nothing to pass on */
    if (c->nranks == 2 || sk_machine_oversubscribed(c->machine))
        least = most; /* nobody waits for chunks, or every chunk wakes every rank */
    even = even < least ? least : even > most ? most : even;
    return sk_elems_in(c, even > limit ? even : limit);
}

typedef struct scan_read {
    sk_sched *s;
    const sk_call *c;
    sk_span in;   /* scan: a chunk of the prefix that is read */
    sk_span pass; /* exscan: the prefix that is passed on */
} scan_read;

/* Read chunk [first, first + n) of the prefix before me and add my own. Returns what the next rank
 * reads. */
static sk_span add_scan(const scan_read *x, int epoch, int64_t first, int64_t n)
{
    const sk_call *c = x->c;
    sk_span own = sk_send_elems(c, first, n), to = sk_recv_elems(c, first, n),
            in = sk_elems_cut(c, x->in, 0, n);
    sk_copy(x->s, own, to);
    sk_read(x->s, c->rank - 1, sk_intra_exported(epoch), 0, in);
    sk_fence(x->s);
    sk_reduce(x->s, in, to);
    return to;
}

static sk_span add_exscan(const scan_read *x, int epoch, int64_t first, int64_t n)
{
    const sk_call *c = x->c;
    bool last = c->rank == c->nranks - 1;
    sk_span to = sk_recv_elems(c, first, n), pass = last ? to : sk_elems_cut(c, x->pass, first, n);
    if (!last) {
        sk_copy(x->s, sk_send_elems(c, first, n), pass);
        sk_fence(x->s);
    }
    sk_read(x->s, c->rank - 1, sk_intra_exported(epoch), 0, to);
    sk_fence(x->s);
    if (!last)
        sk_reduce(x->s, to, pass);
    return pass;
}

static void build_chunk(const scan_read *x, int64_t first, int64_t n)
{
    const sk_call *c = x->c;
    int epoch = sk_epoch(x->s, SK_EXPORT_BYTES, false);
    sk_span out = sk_send_elems(c, first, n);
    if (c->rank > 0)
        out = (c->coll == SK_SCAN ? add_scan : add_exscan)(x, epoch, first, n);
    if (c->rank < c->nranks - 1)
        sk_intra_export(x->s, epoch, out);
    else
        sk_fence(x->s);
}

/* The rank before me may write what I have read; I wait for the one after me. */
static void end(sk_sched *s, const sk_call *c)
{
    int epoch = sk_epoch(s, 0, false);
    sk_fence(s);
    if (c->rank > 0)
        sk_post(s, epoch);
    if (c->rank < c->nranks - 1)
        sk_await_local(s, epoch, c->rank + 1, c->rank + 2);
}

static void build(sk_sched *s, const sk_call *c)
{
    int64_t all = sk_call_elems(c), most = chunk_of(c);
    scan_read x = {.s = s, .c = c};
    if (sk_call_bytes(c) == 0)
        return;
    most = most < all ? most : all;
    if (c->coll == SK_SCAN && c->rank > 0)
        x.in = sk_scratch_typed(s, c->send.type, most);
    if (c->coll == SK_EXSCAN && c->rank > 0 && c->rank < c->nranks - 1)
        x.pass = sk_scratch_typed(s, c->send.type, all);
    for (int64_t first = 0; first < all; first += most)
        build_chunk(&x, first, all - first < most ? all - first : most);
    if (c->coll == SK_SCAN && c->rank == 0)
        sk_copy(s, sk_send_elems(c, 0, all), sk_recv_elems(c, 0, all));
    end(s, c);
}

static int64_t scratch(const sk_call *c)
{
    return sk_vectors_scratch(c, 1, c->coll == SK_SCAN ? chunk_of(c) : sk_call_elems(c));
}

/* Through slots: in, out, reduced, and for scan out of the own slot; the next rank follows by a chunk, and
 * none waits for it. By single copy each does, and where ranks share cores, they are switched twice. */
static sk_ways ways(const sk_call *c)
{
    sk_copy_costs x = sk_copy_costs_of(c);
    double p = c->nranks, n = (double)sk_call_bytes(c), elem = n / (double)sk_call_elems(c),
           slot = (double)sk_intra_chain_bytes(c), chunk = (double)chunk_of(c) * elem;
    slot = slot < n ? slot : n;
    chunk = chunk < n ? chunk : n;
    double byte = x.in + x.out + (c->coll == SK_SCAN ? 2 : 1) * x.copy, slots = n * byte + x.wait;
    bool direct = p == 2; /* there is no prefix but the first rank's vector */
    double read =
               (direct ? x.read : x.read_fresh) + (direct && c->coll == SK_EXSCAN ? 0 : 2 * x.copy),
           a_chunk = chunk * read + x.call + x.wait, all = n / chunk * a_chunk;
    return (sk_ways){.slots = sk_copy_time(&x, slots + (p - 2) * slot * byte, p * slots),
                     .single = sk_copy_time(&x, all + (p - 2) * a_chunk + x.wait,
                                            (p - 1) * all + 2 * p * x.wait)};
}

static void claim(const sk_cost_case *k, sk_cost *c)
{
    bool first = k->rank == 0, scan = k->call->coll == SK_SCAN, last = k->rank == k->p - 1;
    int64_t elems = k->n / 8, chunk = chunk_of(k->call),
            chunks = sk_claim_ceil(elems, chunk < elems ? chunk : elems);
    bool copies = scan || (!first && !last);
    sk_claim_moves(c, chunks + 1,
                   !copies ? 0
                   : first ? 1
                           : chunks,
                   copies ? k->n : 0, first ? 0 : chunks, first ? 0 : k->n);
    c->reduces = !first && copies ? chunks : 0;
    c->scratch = SK_UNCLAIMED;
}

#define SINGLE_COPY(COLL)                                                                          \
    {                                                                                              \
        .name = "single-copy", .coll = (COLL),                                                     \
        .about =                                                                                   \
            "prefixes read in the memory of the rank before, in chunks; one node, long vectors",   \
        .fits = sk_read_fold_fits, .scratch = scratch, .build = build, .claim = claim,             \
        .rule = {{.when = SK_WHEN_ONE_NODE, .from = SK_SET_SINGLE_COPY, .ways = ways}},            \
    }

const sk_algo sk_scan_single_copy = SINGLE_COPY(SK_SCAN);
const sk_algo sk_exscan_single_copy = SINGLE_COPY(SK_EXSCAN);
