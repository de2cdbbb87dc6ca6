#include "coll/phase/read_fold.h"

#include "coll/claim.h"
#include "coll/phase/reduce.h"

bool sk_read_fold_fits(const sk_call *c)
{
    return sk_single_copy_fits(c) && c->builtin && c->types[c->send.type].contig &&
           c->slot_bytes >= SK_READ_FOLD_SLOT;
}

/* A rank that only waits until its vector is read should not wait for its reduction too: so the other one of two reads
 * all of it first, unless it is long enough to leave the caches meanwhile. */
static int64_t chunk_bytes(const sk_call *c)
{
    return c->coll == SK_REDUCE && c->nranks == 2 ? SK_INTRA_READ_PAIR : SK_INTRA_READ_CHUNK;
}

/* Elements of a chunk. */
static int64_t chunk_elems(const sk_call *c)
{
    return sk_elems_in(c, chunk_bytes(c));
}

int64_t sk_read_fold_scratch(const sk_call *c)
{
    return sk_vectors_scratch(c, 2, chunk_elems(c));
}

int64_t sk_read_fold_reads(const sk_call *c, int64_t n)
{
    int64_t chunk = chunk_elems(c);
    return n / chunk + (n % chunk != 0);
}

sk_elem_range sk_elems_part(const sk_call *c, int rank)
{
    return sk_elems_part_of(c, sk_call_elems(c), rank);
}

/* ---- what others read ---- */

static sk_span handle_of(int epoch, bool after)
{
    return sk_slot(epoch, after ? SK_EXPORT_BYTES : 0, SK_EXPORT_BYTES);
}

void sk_read_fold_export(sk_sched *s, const sk_call *c, int epoch, sk_elem_range mine)
{
    int64_t n = sk_call_elems(c);
    sk_export(s, sk_send_elems(c, 0, mine.lo), handle_of(epoch, false));
    sk_export(s, sk_send_elems(c, mine.hi, n - mine.hi), handle_of(epoch, true));
    sk_fence(s);
    sk_post(s, epoch);
}

/* ---- reduce ---- */

typedef struct read_fold {
    sk_sched *s;
    const sk_call *c;
    int epoch;
    sk_elems_of *of;
    sk_span buf[2]; /* scratch, used by operands in alternation */
    int next;
} read_fold;

/* From element `first` of rank i's vector on. */
static void read_operand(const read_fold *x, int i, int64_t first, sk_span to)
{
    sk_elem_range own = x->of(x->c, i); /* it did not export these */
    bool after = first >= own.hi;
    int64_t size = x->c->types[x->c->send.type].size, at = first - (after ? own.hi : 0);
    sk_read(x->s, i, handle_of(x->epoch, after), at * size, to);
}

static sk_span next_buffer(read_fold *x, int64_t n)
{
    sk_span b = sk_elems_cut(x->c, x->buf[x->next], 0, n);
    x->next = !x->next;
    return b;
}

static bool same(const sk_span *a, const sk_span *b)
{
    return a->buf == b->buf && a->off == b->off;
}

/* Operand i, where it may be written or, the first one, only read. The last one comes to where the
 * result belongs, unless the value so far is there (in place). */
static sk_span get_operand(read_fold *x, int i, int64_t first, int64_t n, const sk_span *value,
                           sk_span to)
{
    sk_span own = sk_send_elems(x->c, first, n);
    if (i == x->c->rank && !value)
        return own;
    bool last = i == x->c->nranks - 1;
    sk_span place = last && !(value && same(value, &to)) ? to : next_buffer(x, n);
    if (i == x->c->rank)
        sk_copy(x->s, own, place);
    else
        read_operand(x, i, first, place);
    sk_fence(x->s);
    return place;
}

static void fold_chunk(read_fold *x, int64_t first, int64_t n, sk_span to)
{
    sk_span value = get_operand(x, 0, first, n, NULL, to);
    for (int i = 1; i < x->c->nranks; i++) {
        sk_span operand = get_operand(x, i, first, n, &value, to);
        sk_reduce(x->s, value, operand);
        sk_fence(x->s);
        value = operand;
    }
    sk_copy(x->s, value, to);
    sk_fence(x->s);
}

void sk_read_fold(sk_sched *s, const sk_call *c, int epoch, sk_elems_of *of, sk_span to)
{
    sk_elem_range mine = of(c, c->rank);
    int64_t most = chunk_elems(c), all = mine.hi - mine.lo;
    most = most < all ? most : all;
    if (all == 0)
        return;
    read_fold x = {.s = s, .c = c, .epoch = epoch, .of = of};
    for (int i = 0; i < 2; i++)
        x.buf[i] = sk_scratch_typed(s, c->send.type, most);
    for (int64_t at = 0; at < all; at += most) {
        int64_t n = all - at < most ? all - at : most;
        fold_chunk(&x, mine.lo + at, n, sk_elems_cut(c, to, at, n));
    }
}

double sk_read_fold_time(const sk_copy_costs *x, const sk_call *c, double n)
{
    double others = c->nranks - 1, chunks = (double)sk_claim_ceil((int64_t)n, chunk_bytes(c));
    return others * (n * (x->read + x->copy) + chunks * x->call);
}
