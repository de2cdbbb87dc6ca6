/* reduce.c: the builders of reduce.h. */
#include "coll/phase/reduce.h"

#include "coll/phase/blocks.h"

sk_span sk_elems_cut(const sk_call *c, sk_span s, int64_t first, int64_t n)
{
    int64_t size = c->types[s.type].size;
    return sk_span_cut(c->types, s, first * size, n * size);
}

int64_t sk_block_count(const sk_call *c, int i)
{
    return c->recv.counts ? c->recv.counts[sk_call_rank_of(c, i)] : c->recv.count;
}

int64_t sk_block_longest(const sk_call *c)
{
    int64_t most = 0;
    for (int i = 0; i < c->nranks; i++) {
        int64_t n = sk_block_count(c, i);
        most = n > most ? n : most;
    }
    return most;
}

int64_t sk_block_first(const sk_call *c, int i)
{
    if (!c->recv.counts)
        return i * c->recv.count;
    int64_t sum = 0;
    for (int k = 0; k < i; k++)
        sum += sk_block_count(c, k);
    return sum;
}

sk_span sk_blocks_input(sk_sched *s, const sk_call *c)
{
    int64_t n = sk_call_elems(c), at = 0;
    if (!c->rename)
        return sk_send_elems(c, 0, n);
    sk_call old = *c; /* its blocks are in the order of ranks */
    old.rename = NULL;
    sk_span all = sk_scratch_typed(s, c->send.type, n);
    for (int i = 0; i < c->nranks; i++) {
        int64_t count = sk_block_count(c, i), first = sk_block_first(&old, sk_call_rank_of(c, i));
        sk_copy(s, sk_send_elems(c, first, count), sk_elems_cut(c, all, at, count));
        at += count;
    }
    sk_fence(s);
    return all;
}

/* The paper gives cutoffs as measured (bytes of the whole vector) and leaves the formula open:
 *
 *   ranks        8    16    32    64    128    256
 *   measured   512   512   512  1500  15360  51200
 *   formula    512   512   512  1447   9799  67358
 *
 * Equal times of doubling, lg p a + n (lg p - (p-1)/p) b, and of pairwise, (p-1) a + n (p-1)/p b,
 * give
 *
 *   n = a/b (p - 1 - lg p) / (lg p - 2 (p-1)/p)
 *
 * With a constant a/b that grows like p / lg p, the points like p^2.3 from 32 ranks on, so the
 * model alone does not explain them. a/b = c p^k was fitted to the six points, with and without a
 * constant part and a floor of 512 bytes; with the floor k = 1 misses by up to 1.8, k = 1.5 by 1.5,
 * k = 2 by 1.5. k = 2 with c = 1/40 and the floor is within 1.6, in small integers, so that all
 * ranks compute the same on any machine. Why a/b should grow so is not known, and no point is left
 * to test the fit with: beyond 256 ranks it is a guess. */
int64_t sk_reduce_scatter_cutoff(int p, const sk_machine *m)
{
    (void)m;
    enum { FLOOR = 512, MOST = 1 << 16 };
    if (p < 8)
        return FLOOR;
    int64_t n = p < MOST ? p : MOST, lg = 0;
    while ((1 << lg) < n)
        lg++;
    int64_t ratio = 1024 * n * (n - 1 - lg) / (n * lg - 2 * (n - 1));
    int64_t cutoff = n * n * ratio / (40 * 1024);
    return cutoff < FLOOR ? FLOOR : cutoff;
}

int64_t sk_vectors_scratch(const sk_call *c, int vectors, int64_t n)
{
    const sk_type *t = &c->types[c->send.type];
    int64_t step = t->extent < 0 ? -t->extent : t->extent;
    if (step < t->true_extent)
        step = t->true_extent;
    return sk_scratch_bytes(vectors, sk_scratch_bytes(n, step));
}

sk_acc sk_acc_none(const sk_call *c, int64_t n, sk_span home)
{
    return (sk_acc){.c = c, .n = n, .buf[0] = home, .ordered = c->ordered};
}

sk_acc sk_acc_new(const sk_call *c, int64_t first, int64_t n, sk_span home)
{
    sk_acc a = sk_acc_none(c, n, home);
    a.at = sk_send_elems(c, first, n);
    a.own = home.len && a.at.buf == home.buf && a.at.off == home.off;
    a.next = a.own;
    return a;
}

sk_acc sk_acc_blocks(sk_sched *s, const sk_call *c)
{
    sk_span none = {0};
    sk_acc a = sk_acc_new(c, 0, sk_call_elems(c), none);
    a.at = sk_blocks_input(s, c);
    if (c->rename) {
        a.buf[0] = a.at;
        a.own = true;
        a.next = 1;
    }
    return a;
}

sk_span sk_acc_in(sk_sched *s, sk_acc *a)
{
    sk_span *buf = &a->buf[a->next];
    if (!buf->len)
        *buf = sk_scratch_typed(s, a->c->send.type, a->n);
    return *buf;
}

/* The value is now in the buffer that was next. */
static void move_on(sk_acc *a)
{
    a->at = a->buf[a->next];
    a->next = !a->next;
    a->own = true;
}

void sk_acc_ready(sk_sched *s, sk_acc *a, int64_t first, int64_t n, bool mine_left)
{
    if (a->own || mine_left || !a->ordered || !a->at.len)
        return;
    sk_span to = sk_acc_in(s, a);
    sk_copy(s, sk_elems_cut(a->c, a->at, first, n), sk_elems_cut(a->c, to, first, n));
    move_on(a);
}

void sk_acc_add(sk_sched *s, sk_acc *a, int64_t first, int64_t n, bool mine_left)
{
    if (a->at.len) {
        sk_span in = sk_elems_cut(a->c, sk_acc_in(s, a), first, n);
        sk_span mine = sk_elems_cut(a->c, a->at, first, n);
        if (a->own && !(mine_left && a->ordered)) {
            sk_reduce(s, in, mine);
            return;
        }
        sk_reduce(s, mine, in);
    }
    move_on(a);
}

sk_fold sk_fold_of(const sk_call *c, int stay)
{
    int q = 1;
    while (q <= c->nranks / 2)
        q *= 2;
    return (sk_fold){.p = c->nranks, .q = q, .stay = stay};
}

int sk_fold_first(const sk_fold *f, int member)
{
    int pairs = f->p - f->q;
    return member < pairs ? 2 * member : member + pairs;
}

int sk_fold_partner(const sk_fold *f, int rank)
{
    return rank < 2 * (f->p - f->q) ? rank ^ 1 : -1;
}

int sk_fold_rank(const sk_fold *f, int member)
{
    int low = sk_fold_first(f, member);
    return sk_fold_partner(f, low) >= 0 && f->stay == low + 1 ? low + 1 : low;
}

int sk_fold_member(const sk_fold *f, int rank)
{
    int member = sk_fold_partner(f, rank) >= 0 ? rank / 2 : rank - (f->p - f->q);
    return sk_fold_rank(f, member) == rank ? member : -1;
}

void sk_fold_flow(sk_flow *w, const sk_fold *f, int messages, int64_t bytes)
{
    for (int i = 0; i < f->p - f->q; i++)
        sk_flow_pass(w, 2 * i, 2 * i + 1, messages, messages * bytes);
}

void sk_fold_in(sk_sched *s, const sk_fold *f, sk_acc *a)
{
    int me = a->c->rank, partner = sk_fold_partner(f, me);
    if (partner < 0)
        return;
    if (sk_fold_member(f, me) < 0) {
        sk_send(s, a->at, partner);
    } else {
        sk_acc_ready(s, a, 0, a->n, me < partner);
        sk_recv(s, sk_acc_in(s, a), partner);
        sk_fence(s);
        sk_acc_add(s, a, 0, a->n, me < partner);
    }
    sk_fence(s);
}

/* ---- recursive halving and back ---- */

typedef struct vector_halving {
    sk_sched *s;
    const sk_fold *f;
    sk_acc *a;
    int member, to;
    sk_span whole; /* where this member's parts are joined */
} vector_halving;

typedef struct elem_run {
    int64_t first, n;
} elem_run;

static sk_span cut(const vector_halving *h, sk_span s, elem_run r)
{
    return sk_elems_cut(h->a->c, s, r.first, r.n);
}

static void give_half(vector_halving *h, int peer, elem_run keep, elem_run give, bool mine_left)
{
    sk_span from = h->a->at;
    sk_acc_ready(h->s, h->a, keep.first, keep.n, mine_left);
    sk_send(h->s, cut(h, from, give), peer);
    sk_recv(h->s, cut(h, sk_acc_in(h->s, h->a), keep), peer);
    sk_fence(h->s);
    sk_acc_add(h->s, h->a, keep.first, keep.n, mine_left);
    sk_fence(h->s);
}

/* Towards one member: a member that differs from it in this bit sends all it has, and is done. */
static void join_half(vector_halving *h, int peer, elem_run keep, elem_run give, int bit)
{
    int off = h->to < 0 ? 0 : h->member ^ h->to;
    if (off >= 2 * bit)
        return;
    if (h->to < 0 || (off & bit))
        sk_send(h->s, cut(h, h->whole, keep), peer);
    if (!(off & bit))
        sk_recv(h->s, cut(h, h->whole, give), peer);
    sk_fence(h->s);
}

static void halve(vector_halving *h, int bit, elem_run all)
{
    if (bit == h->f->q) {
        h->whole = h->a->at;
        if (h->to < 0 || h->to == h->member) {
            h->whole = sk_recv_elems(h->a->c, 0, h->a->n);
            sk_copy(h->s, cut(h, h->a->at, all), cut(h, h->whole, all));
            sk_fence(h->s);
        }
        return;
    }
    bool low = !(h->member & bit);
    int peer = sk_fold_rank(h->f, h->member ^ bit);
    elem_run lower = {all.first, all.n / 2}, upper = {all.first + all.n / 2, all.n - all.n / 2};
    elem_run keep = low ? lower : upper, give = low ? upper : lower;
    give_half(h, peer, keep, give, low);
    halve(h, 2 * bit, keep);
    join_half(h, peer, keep, give, bit);
}

void sk_halve_and_join_flow(sk_flow *w, const sk_fold *f, int to)
{
    for (int bit = 1; bit < f->q; bit *= 2)
        for (int i = 0; i < f->q; i++) {
            int off = i ^ to, half = f->q / (2 * bit);
            bool joins = to < 0 || (off < 2 * bit && (off & bit)); /* it also sends its half back */
            sk_flow_pass(w, sk_fold_rank(f, i), sk_fold_rank(f, i ^ bit), 1 + joins,
                         (int64_t)half * (1 + joins));
        }
}

void sk_halve_and_join(sk_sched *s, const sk_fold *f, sk_acc *a, int to)
{
    int member = sk_fold_member(f, a->c->rank);
    if (member < 0)
        return;
    vector_halving h = {.s = s, .f = f, .a = a, .member = member, .to = to};
    halve(&h, 1, (elem_run){0, a->n});
}

/* ---- prefixes ---- */

sk_prefix sk_prefix_new(sk_sched *s, const sk_call *c)
{
    int64_t n = sk_call_elems(c);
    sk_span none = {0}, result = sk_recv_elems(c, 0, n);
    sk_prefix x = {.exclusive = c->coll == SK_EXSCAN};
    if (!x.exclusive) {
        x.with = sk_acc_new(c, 0, n, result);
        return x;
    }
    x.with = sk_acc_new(c, 0, n, none);
    x.without = sk_acc_none(c, n, result);
    /* An operand serves both values, so it must stay as it came: only the right operand may be
     * written. And in place the input is lost when the first operand comes in. */
    x.with.ordered = x.without.ordered = true;
    if (c->rank > 0 && c->rank < c->nranks - 1) {
        sk_acc_ready(s, &x.with, 0, n, false);
        sk_fence(s);
    }
    return x;
}

void sk_prefix_take(sk_sched *s, sk_prefix *x, int peer, bool more)
{
    sk_acc *a = x->exclusive ? &x->without : &x->with;
    sk_acc_ready(s, a, 0, a->n, false);
    sk_span in = sk_acc_in(s, a);
    sk_recv(s, in, peer);
    sk_fence(s);
    sk_acc_add(s, a, 0, a->n, false);
    if (x->exclusive && more)
        sk_reduce(s, in, x->with.at);
    sk_fence(s);
}

void sk_prefix_end(sk_sched *s, const sk_prefix *x)
{
    if (!x->exclusive)
        sk_copy(s, x->with.at, sk_recv_elems(x->with.c, 0, x->with.n));
}

int64_t sk_prefix_scratch(const sk_call *c)
{
    return sk_vectors_scratch(c, c->coll == SK_EXSCAN ? 2 : 1, sk_call_elems(c));
}
