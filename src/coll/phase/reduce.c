#include "coll/phase/reduce.h"

#include "coll/phase/row.h"

sk_span sk_elems_cut(const sk_call *c, sk_span s, int64_t first, int64_t n)
{
    int64_t size = c->types[s.type].size;
    return sk_span_cut(c->types, s, first * size, n * size);
}

int64_t sk_block_count(const sk_call *c, int i)
{
    return c->recv.counts ? c->recv.counts[sk_call_rank_of(c, i)] : c->recv.count;
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
    sk_call old = *c; /* whose blocks stand in the order of ranks */
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

int64_t sk_vectors_room(const sk_call *c, int vectors, int64_t n)
{
    const sk_type *t = &c->types[c->send.type];
    int64_t step = t->extent < 0 ? -t->extent : t->extent;
    if (step < t->true_extent)
        step = t->true_extent;
    return sk_room(vectors, sk_room(n, step));
}

sk_acc sk_acc_none(const sk_call *c, int64_t n, sk_span home)
{
    return (sk_acc){.c = c, .n = n, .room[0] = home, .ordered = c->ordered};
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
        a.room[0] = a.at;
        a.own = true;
        a.next = 1;
    }
    return a;
}

sk_span sk_acc_in(sk_sched *s, sk_acc *a)
{
    sk_span *room = &a->room[a->next];
    if (!room->len)
        *room = sk_scratch_typed(s, a->c->send.type, a->n);
    return *room;
}

/* The value is now in the room that was next. */
static void move_on(sk_acc *a)
{
    a->at = a->room[a->next];
    a->next = !a->next;
    a->own = true;
}

void sk_acc_ready(sk_sched *s, sk_acc *a, int64_t first, int64_t n, bool mine_left)
{
    if (a->own || mine_left || !a->ordered || !a->at.len)
        return;
    sk_span room = sk_acc_in(s, a);
    sk_copy(s, sk_elems_cut(a->c, a->at, first, n), sk_elems_cut(a->c, room, first, n));
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

int sk_fold_local_rank(const sk_fold *f, int rank)
{
    return rank < 2 * (f->p - f->q) ? rank ^ 1 : -1;
}

int sk_fold_rank(const sk_fold *f, int member)
{
    int low = sk_fold_first(f, member);
    return sk_fold_local_rank(f, low) >= 0 && f->stay == low + 1 ? low + 1 : low;
}

int sk_fold_member(const sk_fold *f, int rank)
{
    int member = sk_fold_local_rank(f, rank) >= 0 ? rank / 2 : rank - (f->p - f->q);
    return sk_fold_rank(f, member) == rank ? member : -1;
}

void sk_fold_flow(sk_flow *w, const sk_fold *f, int messages, int64_t bytes)
{
    for (int i = 0; i < f->p - f->q; i++)
        sk_flow_pass(w, 2 * i, 2 * i + 1, messages, messages * bytes);
}

void sk_fold_in(sk_sched *s, const sk_fold *f, sk_acc *a)
{
    int me = a->c->rank, local_rank = sk_fold_local_rank(f, me);
    if (local_rank < 0)
        return;
    if (sk_fold_member(f, me) < 0) {
        sk_send(s, a->at, local_rank);
    } else {
        sk_acc_ready(s, a, 0, a->n, me < local_rank);
        sk_recv(s, sk_acc_in(s, a), local_rank);
        sk_fence(s);
        sk_acc_add(s, a, 0, a->n, me < local_rank);
    }
    sk_fence(s);
}
