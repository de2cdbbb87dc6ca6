/* reduce_scatter_halving.c: every rank sends on the half of its blocks that are for others, and
 * reduces what it gets with the other half.
 * cost   ceil(lg p) alpha + n(p-1)/p (beta + gamma)    good for  vectors of any size
 * rounds ceil(lg p)                                    scratch   two vectors at most
 * paper  Traff, Optimal, non-pipelined reduce-scatter and allreduce algorithms, 2024
 *
 * A rank has `span` blocks, keeps the first (span + 1)/2 and sends the others to the rank that many
 * further on. This needs no folding for any p. The kept blocks start with its own, round the end.
 * If p is a power of two, partners exchange halves of an aligned range instead, which never goes
 * round the end. Vectors of ranks far apart are reduced first, so the operation must commute. */
#include "coll/claim.h"
#include "coll/phase/reduce.h"

typedef struct block_halving {
    sk_sched *s;
    const sk_call *c;
    bool aligned;
    sk_span input;
    sk_span kept; /* the blocks from `base` on, in scratch */
    int base;
} block_halving;

static bool fits(const sk_call *c)
{
    return !c->ordered;
}

static bool power_of_two(int p)
{
    return (p & (p - 1)) == 0;
}

/* The first of the `half` blocks that a rank keeps. */
static int keeps(bool aligned, int rank, int half)
{
    return aligned ? rank / half * half : rank;
}

/* The elements of blocks [from, from + n), round the end. */
static int64_t elems(const sk_call *c, int from, int n)
{
    int end = from + n, p = c->nranks;
    return end <= p ? sk_block_first(c, end) - sk_block_first(c, from)
                    : sk_call_elems(c) - sk_block_first(c, from) + sk_block_first(c, end - p);
}

static sk_span in_kept(const block_halving *h, int from, int n)
{
    int p = h->c->nranks, skip = (from - h->base + p) % p;
    return sk_elems_cut(h->c, h->kept, elems(h->c, h->base, skip), elems(h->c, from, n));
}

/* Blocks [from, from + n) of the input: two spans where they go round the end. */
typedef struct input_spans {
    sk_span at[2];
} input_spans;

static input_spans of_input(const block_halving *h, int from, int n)
{
    const sk_call *c = h->c;
    int p = c->nranks, n0 = from + n <= p ? n : p - from;
    return (input_spans){{sk_elems_cut(c, h->input, sk_block_first(c, from), elems(c, from, n0)),
                          sk_elems_cut(c, h->input, 0, elems(c, 0, n - n0))}};
}

/* The same lengths in another span. */
static input_spans cut_like(const sk_call *c, sk_span s, const input_spans *like)
{
    return (input_spans){{sk_span_cut(c->types, s, 0, like->at[0].len),
                          sk_span_cut(c->types, s, like->at[0].len, like->at[1].len)}};
}

/* From the input into `land`: what arrives there is reduced with the input. */
static void first_round(block_halving *h, int to, int from, int half, int give, sk_span land)
{
    const sk_call *c = h->c;
    input_spans out = of_input(h, keeps(h->aligned, to, half), give),
                mine = of_input(h, h->base, give);
    input_spans in = cut_like(c, land, &mine);
    for (int i = 0; i < 2; i++) {
        sk_send(h->s, out.at[i], to);
        sk_recv(h->s, in.at[i], from);
    }
    sk_fence(h->s);
    for (int i = 0; i < 2; i++)
        sk_reduce(h->s, mine.at[i], in.at[i]);
    if (give < half) /* p is odd: one kept block had no partner */
        sk_copy(h->s, of_input(h, (h->base + give) % c->nranks, 1).at[0],
                in_kept(h, (h->base + give) % c->nranks, 1));
}

static void later_round(block_halving *h, int to, int from, int half, int give, sk_span land,
                        bool last)
{
    sk_span mine = in_kept(h, keeps(h->aligned, h->c->rank, half), give);
    sk_span in = sk_span_cut(h->c->types, land, 0, mine.len);
    sk_send(h->s, in_kept(h, keeps(h->aligned, to, half), give), to);
    sk_recv(h->s, in, from);
    sk_fence(h->s);
    sk_reduce(h->s, last ? mine : in, last ? in : mine);
}

static void build(sk_sched *s, const sk_call *c)
{
    int p = c->nranks, me = c->rank, half = (p + 1) / 2;
    uint32_t type = c->send.type;
    sk_span result = sk_recv_elems(c, 0, sk_block_count(c, me));
    if (p == 1) {
        sk_copy(s, sk_send_elems(c, 0, sk_block_count(c, me)), result);
        return;
    }
    block_halving h = {.s = s, .c = c, .aligned = power_of_two(p), .input = sk_blocks_input(s, c)};
    h.base = keeps(h.aligned, me, half);
    /* In place, what is sent first is where the result goes. */
    h.kept = p == 2 && !c->in_place ? result : sk_scratch_typed(s, type, elems(c, h.base, half));
    sk_span temp = {.type = type};
    if (half > 2)
        temp = sk_scratch_typed(s, type, elems(c, keeps(h.aligned, me, (half + 1) / 2), half / 2));

    for (int span = p; span > 1; span = half) {
        half = (span + 1) / 2;
        int to = h.aligned ? me ^ half : (me + half) % p;
        int from = h.aligned ? to : (me + p - half) % p;
        if (span == p)
            first_round(&h, to, from, half, span - half, h.kept);
        else
            later_round(&h, to, from, half, span - half, half == 1 ? result : temp, half == 1);
        sk_fence(s);
    }
    if (p == 2)
        sk_copy(s, h.kept, result);
}

static int64_t scratch(const sk_call *c)
{
    return sk_vectors_scratch(c, c->rename ? 3 : 2, sk_call_elems(c)); /* one for the input */
}

static void flow(sk_flow *f, const sk_call *c)
{
    (void)c;
    int p = f->n, half;
    bool aligned = power_of_two(p);
    for (int span = p; span > 1; span = half) {
        half = (span + 1) / 2;
        int give = span - half;
        for (int i = 0; i < p; i++) {
            int to = aligned ? i ^ half : (i + half) % p, from = keeps(aligned, to, half);
            bool two = span == p && from + give > p; /* spans of the input */
            sk_flow_pass(f, i, to, 1 + two, sk_flow_blocks(f, from, give));
        }
    }
}

static void claim(const sk_cost_case *k, sk_cost *c)
{
    int64_t messages = k->pow2 ? k->lg : SK_UNCLAIMED;
    c->steps = k->lg;
    sk_claim_messages(c, messages, messages, k->n - k->b, k->n - k->b);
}

const sk_algo sk_reduce_scatter_halving = {
    .name = "halving",
    .coll = SK_REDUCE_SCATTER,
    .about = "send on half of the blocks; medium vectors, operations that commute",
    .fits = fits,
    .scratch = scratch,
    .build = build,
    .claim = claim,
    .prefers = SK_PREFERS_ROUND_ROBIN,
    .flow = flow,
    /* Between the other two: lg p steps, and no more bytes than pairwise (4.4). */
    .rule = {{.when = SK_WHEN_COMMUTES, .from = SK_SET_REDUCE_SCATTER_LONG}},
};

const sk_algo sk_reduce_scatter_block_halving = {
    .name = "halving",
    .coll = SK_REDUCE_SCATTER_BLOCK,
    .about = "send on half of the blocks; medium vectors, operations that commute",
    .fits = fits,
    .scratch = scratch,
    .build = build,
    .claim = claim,
    .prefers = SK_PREFERS_ROUND_ROBIN,
    .flow = flow,
    /* Between the other two: lg p steps, and no more bytes than pairwise (4.4). */
    .rule = {{.when = SK_WHEN_COMMUTES, .from = SK_SET_REDUCE_SCATTER_LONG}},
};
