/* phase_halving.c: the halving and joining of phase_reduce.h. */
#include "coll/phase/reduce.h"

typedef struct halving {
    sk_sched *s;
    const sk_fold *f;
    sk_acc *a;
    int member, to;
    sk_span whole; /* where this member's parts are joined */
} halving;

typedef struct range {
    int64_t first, n;
} range;

static sk_span cut(const halving *h, sk_span s, range r)
{
    return sk_elems_cut(h->a->c, s, r.first, r.n);
}

static void give_half(halving *h, int peer, range keep, range give, bool mine_left)
{
    sk_span from = h->a->at;
    sk_acc_ready(h->s, h->a, keep.first, keep.n, mine_left);
    sk_send(h->s, cut(h, from, give), peer);
    sk_recv(h->s, cut(h, sk_acc_in(h->s, h->a), keep), peer);
    sk_fence(h->s);
    sk_acc_add(h->s, h->a, keep.first, keep.n, mine_left);
    sk_fence(h->s);
}

/* Towards one member: whoever differs from it in this bit sends all it has, and is done. */
static void join_half(halving *h, int peer, range keep, range give, int bit)
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

static void halve(halving *h, int bit, range all)
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
    range lower = {all.first, all.n / 2}, upper = {all.first + all.n / 2, all.n - all.n / 2};
    range keep = low ? lower : upper, give = low ? upper : lower;
    give_half(h, peer, keep, give, low);
    halve(h, 2 * bit, keep);
    join_half(h, peer, keep, give, bit);
}

void sk_halve_and_join_flow(sk_flow *w, const sk_fold *f, int to)
{
    for (int bit = 1; bit < f->q; bit *= 2)
        for (int i = 0; i < f->q; i++) {
            int off = i ^ to, half = f->q / (2 * bit);
            bool joins = to < 0 || (off < 2 * bit && (off & bit)); /* sends its half back, too */
            sk_flow_pass(w, sk_fold_rank(f, i), sk_fold_rank(f, i ^ bit), 1 + joins,
                         (int64_t)half * (1 + joins));
        }
}

void sk_halve_and_join(sk_sched *s, const sk_fold *f, sk_acc *a, int to)
{
    int member = sk_fold_member(f, a->c->rank);
    if (member < 0)
        return;
    halving h = {.s = s, .f = f, .a = a, .member = member, .to = to};
    halve(&h, 1, (range){0, a->n});
}
