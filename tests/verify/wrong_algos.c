#include "wrong_algos.h"

/* Right data, wrong place: blocks stand one too far. */
static void blocks_off_by_one(sk_sched *s, const sk_call *c)
{
    int p = c->nranks, me = c->rank;
    sk_copy(s, sk_send_block(c, 0), sk_recv_block(c, (me + 1) % p));
    for (int i = 1; i < p; i++) {
        sk_send(s, sk_send_block(c, 0), (me + i) % p);
        sk_recv(s, sk_recv_block(c, (me + p - i + 1) % p), (me + p - i) % p);
    }
}

/* All ranks send the wrong way round the ring: no one hangs, every block is mistaken. */
static void ring_backwards(sk_sched *s, const sk_call *c)
{
    int p = c->nranks, me = c->rank, left = (me + p - 1) % p, right = (me + 1) % p;
    sk_copy(s, sk_send_block(c, 0), sk_recv_block(c, me));
    for (int i = 0; i < p - 1; i++) {
        sk_fence(s);
        sk_send(s, sk_recv_block(c, (me + p - i) % p), left);
        sk_recv(s, sk_recv_block(c, (left + p - i) % p), right);
    }
}

/* Gather at rank 0 only: the others leave at once. */
static void barrier_half(sk_sched *s, const sk_call *c)
{
    for (int r = 1; r < c->nranks && c->rank == 0; r++)
        sk_recv_signal(s, r);
    if (c->rank)
        sk_send_signal(s, 0);
}

/* Each sends before it receives: only buffering saves this. */
static void send_first(sk_sched *s, const sk_call *c)
{
    int other = 1 - c->rank;
    sk_copy(s, sk_send_block(c, 0), sk_recv_block(c, c->rank));
    sk_fence(s);
    sk_send(s, sk_send_block(c, 0), other);
    sk_fence(s);
    sk_recv(s, sk_recv_block(c, other), other);
}

/* Everybody reduces everybody's vector, beginning with its own: the sums are right, the bits of a
 * floating point sum are not the same everywhere. */
static void sum_from_me(sk_sched *s, const sk_call *c)
{
    int p = c->nranks, me = c->rank;
    int64_t n = sk_call_elems(c);
    sk_span from[16];
    sk_copy(s, sk_send_elems(c, 0, n), sk_recv_elems(c, 0, n));
    for (int i = 1; i < p; i++) {
        from[i] = sk_scratch_typed(s, c->send.type, n);
        sk_send(s, sk_send_elems(c, 0, n), (me + i) % p);
        sk_recv(s, from[i], (me + p - i) % p);
    }
    for (int i = 1; i < p; i++) {
        sk_fence(s);
        sk_reduce(s, from[i], sk_recv_elems(c, 0, n));
    }
}

static int64_t plenty(const sk_call *c)
{
    (void)c;
    return 1 << 20;
}

/* Right for operations that commute; says it fits others too. */
static void reduce_down(sk_sched *s, const sk_call *c)
{
    int64_t n = sk_call_elems(c);
    sk_span in = sk_scratch_typed(s, c->send.type, n), sum = sk_scratch_typed(s, c->send.type, n);
    sk_copy(s, sk_send_elems(c, 0, n), sum);
    if (c->rank + 1 < c->nranks) {
        sk_recv(s, in, c->rank + 1);
        sk_fence(s);
        sk_reduce(s, in, sum);
    }
    sk_fence(s);
    if (c->rank)
        sk_send(s, sum, c->rank - 1);
    else
        sk_copy(s, sum, sk_recv_elems(c, 0, n));
}

/* The same chain, once with no bound given for its scratch, once keeping its sums in the buffer
 * that is only to be read. */
static void reduce_in_send_buffer(sk_sched *s, const sk_call *c)
{
    int64_t n = sk_call_elems(c);
    sk_span in = sk_scratch_typed(s, c->send.type, n), sum = sk_send_elems(c, 0, n);
    if (c->rank + 1 < c->nranks) {
        sk_recv(s, in, c->rank + 1);
        sk_fence(s);
        sk_reduce(s, in, sum);
        sk_fence(s);
    }
    if (c->rank)
        sk_send(s, sum, c->rank - 1);
    else
        sk_copy(s, sum, sk_recv_elems(c, 0, n));
}

/* Steps by the size of a type instead of its extent. */
static void stride_by_size(sk_sched *s, const sk_call *c)
{
    sk_span all = sk_recv_block(c, 0);
    int64_t half = all.len / 2;
    sk_span parts[] = {all, all};
    parts[0].len = half;
    parts[1].len = half;
    parts[1].off += half;
    for (int i = 0; i < 2; i++) {
        for (int r = 1; r < c->nranks && c->rank == 0; r++)
            sk_send(s, parts[i], r);
        if (c->rank)
            sk_recv(s, parts[i], 0);
        sk_fence(s);
    }
}

/* Cuts in elements of its own type, as if the others had the same. */
static void cut_by_own_type(sk_sched *s, const sk_call *c)
{
    sk_span all = sk_recv_block(c, 0);
    int64_t size = c->types[all.type].size;
    for (int64_t at = 0; at < all.len; at += size) {
        sk_span part = sk_span_cut(c->types, all, at, size);
        for (int r = 1; r < c->nranks && c->rank == 0; r++)
            sk_send(s, part, r);
        if (c->rank)
            sk_recv(s, part, 0);
    }
}

/* Reduces bytes where the operation wants elements. */
static void reduce_bytes(sk_sched *s, const sk_call *c)
{
    sk_span mine = sk_send_elems(c, 0, sk_call_elems(c)), in = sk_scratch(s, mine.len);
    sk_span sum = sk_scratch(s, mine.len), out = sk_recv_elems(c, 0, sk_call_elems(c));
    sk_copy(s, mine, sum);
    sk_send(s, mine, 1 - c->rank);
    sk_recv(s, in, 1 - c->rank);
    sk_fence(s);
    if (c->rank) {
        sk_reduce(s, in, sum);
        sk_fence(s);
        sk_copy(s, sum, out);
    } else {
        sk_reduce(s, sum, in);
        sk_fence(s);
        sk_copy(s, in, out);
    }
}

static bool fits_at_root(const sk_call *c)
{
    return c->rank == c->root;
}

static int64_t own_scratch(const sk_call *c)
{
    return c->rank;
}

const wrong_algo wrong_algos[] = {
    {ALGO_OF(ALLGATHER, "blocks one too far", blocks_off_by_one, .fits = NULL),
     {.coll = SK_ALLGATHER, .p = 5, .units = 3},
     "holds rank"},
    {ALGO_OF(ALLGATHER, "ring the wrong way round", ring_backwards, .fits = NULL),
     {.coll = SK_ALLGATHER, .p = 5, .units = 3},
     "holds rank"},
    {ALGO_OF(BARRIER, "barrier that only rank 0 waits in", barrier_half, .fits = NULL),
     {.coll = SK_BARRIER, .p = 4},
     "leaves before all have come"},
    {ALGO_OF(ALLGATHER, "sends that need buffering", send_first, .fits = NULL),
     {.coll = SK_ALLGATHER, .p = 2, .units = 1},
     "wait for ever"},
    {ALGO_OF(ALLREDUCE, "sums bracketed differently", sum_from_me, .scratch = plenty),
     {.coll = SK_ALLREDUCE, .p = 5, .units = 3},
     "bracketed"},
    {ALGO_OF(REDUCE, "operands out of order", reduce_down, .scratch = plenty),
     {.coll = SK_REDUCE, .p = 4, .units = 3, .ordered = true},
     "wrong reduction"},
    {ALGO_OF(REDUCE, "scratch without a bound", reduce_down, .fits = NULL),
     {.coll = SK_REDUCE, .p = 4, .units = 3},
     "bytes of scratch"},
    {ALGO_OF(REDUCE, "sums kept in the send buffer", reduce_in_send_buffer, .scratch = plenty),
     {.coll = SK_REDUCE, .p = 4, .units = 3},
     "send[0] was changed"},
    {ALGO_OF(BCAST, "stride by size", stride_by_size, .fits = NULL),
     {.coll = SK_BCAST, .p = 3, .units = 4, .lay = LAY_HOLES},
     "holds"},
    {ALGO_OF(BCAST, "cut by the rank's own type", cut_by_own_type, .fits = NULL),
     {.coll = SK_BCAST, .p = 3, .units = 4, .lay = LAY_MIXED},
     "the run failed"},
    {ALGO_OF(ALLREDUCE, "reduces bytes", reduce_bytes, .scratch = plenty),
     {.coll = SK_ALLREDUCE, .p = 2, .units = 3},
     "reduces what is no element"},
    {ALGO_OF(BCAST, "fits at one rank only", cut_by_own_type, .fits = fits_at_root),
     {.coll = SK_BCAST, .p = 3, .units = 1},
     "fits differs"},
    {ALGO_OF(BCAST, "a bound for each rank", cut_by_own_type, .scratch = own_scratch),
     {.coll = SK_BCAST, .p = 3, .units = 1},
     "scratch differs"},
    {{.name = NULL}, {0}, NULL},
};
