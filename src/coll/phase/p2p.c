/* p2p.c: the builders of p2p.h. */
#include "coll/phase/p2p.h"

#include "sched/packet.h"

/* ---- members, and the parts of the data ---- */

sk_team sk_team_all(const sk_call *c, int first)
{
    int p = c->nranks;
    return (sk_team){.n = p, .me = (c->rank + p - first) % p, .first = first};
}

int sk_team_rank(const sk_team *t, int member)
{
    int number = (int)(((int64_t)member + t->first) % t->n);
    return t->ranks ? t->ranks[number] : number;
}

sk_parts sk_parts_even(const sk_call *c, sk_span all, int n, int64_t unit)
{
    int64_t units = unit ? all.len / unit : 0;
    return (sk_parts){
        .types = c->types, .all = all, .least = units / n, .more = units % n, .unit = unit};
}

sk_parts sk_parts_equal(const sk_call *c, sk_span all, int first, int64_t bytes)
{
    return (sk_parts){.types = c->types, .all = all, .first = first, .least = 1, .unit = bytes};
}

sk_parts sk_parts_blocks(const sk_blocks *r, sk_span all)
{
    return (sk_parts){.types = r->c->types, .all = all, .row = r};
}

sk_parts sk_parts_loose(const sk_blocks *r)
{
    return (sk_parts){.types = r->c->types, .row = r, .loose = true};
}

/* Bytes of parts [0, i). */
static int64_t start(const sk_parts *x, int i)
{
    return (x->least * i + (i < x->more ? i : x->more)) * x->unit;
}

sk_span sk_parts_range(const sk_parts *x, int lo, int hi)
{
    if (x->loose)
        return sk_blocks_get(x->row, lo);
    if (x->row)
        return sk_span_cut(x->types, x->all, sk_blocks_bytes(x->row, 0, lo),
                           sk_blocks_bytes(x->row, lo, hi));
    return sk_span_cut(x->types, x->all, start(x, lo) - start(x, x->first),
                       start(x, hi) - start(x, lo));
}

/* ---- allgather ---- */

void sk_allgather_by_ring(sk_sched *s, const sk_team *t, const sk_parts *x)
{
    int n = t->n, left = (t->me + n - 1) % n, right = (t->me + 1) % n;
    for (int i = 0; i < n - 1; i++) {
        int mine = (t->me + n - i) % n, theirs = (left + n - i) % n;
        sk_fence(s);
        sk_send(s, sk_parts_range(x, mine, mine + 1), sk_team_rank(t, right));
        sk_recv(s, sk_parts_range(x, theirs, theirs + 1), sk_team_rank(t, left));
    }
}

/* One level of recursive doubling: two neighbouring subtrees of `half` members exchange their data.
 * Where n is no power of two the right one may have fewer members, or none. */
typedef struct doubling_level {
    sk_sched *s;
    const sk_team *t;
    int half, bits; /* half == 1 << bits */
    int middle;     /* the first member of the right subtree */
    int right;      /* how many it has */
    sk_span left_data, right_data;
} doubling_level;

/* The members on the left that have no partner get the right side's data from those that have one,
 * in halving distances. In each subtree of 2^k members the first `right` have it. */
static void correct(const doubling_level *v, bool lone)
{
    int me = v->t->me;
    for (int k = v->bits; k > 0; k--) {
        int reach = (me >> k << k) + v->right, peer = me ^ (1 << (k - 1));
        if (!lone || k < v->bits)
            sk_fence(v->s);
        if (me < peer && me < reach && peer >= reach)
            sk_send(v->s, v->right_data, sk_team_rank(v->t, peer));
        else if (peer < me && peer < reach && me >= reach)
            sk_recv(v->s, v->right_data, sk_team_rank(v->t, peer));
    }
}

static void level_left(const doubling_level *v)
{
    int partner = v->t->me + v->half;
    /* A right side of one member has its data from the start, so its partner receives it a round
     * early and spreads it a round early: this keeps n = 2^k + 1 within 2k rounds. */
    bool lone = v->right == 1 && v->half > 1;
    bool early = lone && partner == v->middle;
    if (early)
        sk_recv(v->s, v->right_data, sk_team_rank(v->t, partner));
    sk_fence(v->s);
    if (partner < v->middle + v->right) {
        sk_send(v->s, v->left_data, sk_team_rank(v->t, partner));
        if (!early)
            sk_recv(v->s, v->right_data, sk_team_rank(v->t, partner));
    }
    if (v->right < v->half)
        correct(v, early);
}

static void level_right(const doubling_level *v)
{
    int partner = sk_team_rank(v->t, v->t->me - v->half);
    sk_fence(v->s);
    sk_send(v->s, v->right_data, partner);
    if (v->right == 1 && v->half > 1)
        sk_fence(v->s);
    sk_recv(v->s, v->left_data, partner);
}

void sk_allgather_by_doubling(sk_sched *s, const sk_team *t, const sk_parts *x)
{
    for (int bits = 0; bits < 31 && 1 << bits < t->n; bits++) {
        int64_t half = (int64_t)1 << bits, first = t->me & ~(2 * half - 1), middle = first + half;
        if (middle >= t->n)
            continue;
        int64_t end = middle + half < t->n ? middle + half : t->n;
        doubling_level v = {.s = s,
                            .t = t,
                            .half = (int)half,
                            .bits = bits,
                            .middle = (int)middle,
                            .right = (int)(end - middle),
                            .left_data = sk_parts_range(x, (int)first, (int)middle),
                            .right_data = sk_parts_range(x, (int)middle, (int)end)};
        if (t->me < middle)
            level_left(&v);
        else
            level_right(&v);
    }
}

int64_t sk_allgather_scratch(const sk_call *c)
{
    int blocks = c->coll == SK_ALLGATHERV ? 1 : c->nranks; /* allgatherv counts them together */
    return sk_scratch_bytes(blocks, sk_call_bytes(c));
}

/* ---- binomial tree ---- */

sk_tree sk_tree_of(const sk_team *t)
{
    sk_tree tree = {.up = {.rank = -1, .lo = t->me, .hi = t->me + 1}};
    int64_t bit = 1;
    for (; bit < t->n && !(t->me & bit); bit <<= 1) {
        int64_t kid = t->me + bit;
        if (kid >= t->n)
            continue;
        int64_t end = kid + bit < t->n ? kid + bit : t->n;
        tree.kid[tree.nkids++] =
            (sk_edge){.rank = sk_team_rank(t, (int)kid), .lo = (int)kid, .hi = (int)end};
        tree.up.hi = (int)end;
    }
    if (t->me)
        tree.up.rank = sk_team_rank(t, t->me - (int)bit);
    return tree;
}

void sk_tree_carry(sk_tree *t, const sk_parts *x)
{
    t->up.at = sk_parts_range(x, t->up.lo, t->up.hi);
    for (int i = 0; i < t->nkids; i++)
        t->kid[i].at = sk_parts_range(x, t->kid[i].lo, t->kid[i].hi);
}

void sk_tree_down(sk_sched *s, const sk_tree *t)
{
    if (t->up.rank >= 0)
        sk_recv(s, t->up.at, t->up.rank);
    for (int i = t->nkids - 1; i >= 0; i--) {
        sk_fence(s);
        sk_send(s, t->kid[i].at, t->kid[i].rank);
    }
}

void sk_tree_up(sk_sched *s, const sk_tree *t)
{
    for (int i = 0; i < t->nkids; i++) {
        sk_recv(s, t->kid[i].at, t->kid[i].rank);
        sk_fence(s);
    }
    if (t->up.rank >= 0)
        sk_send(s, t->up.at, t->up.rank);
}

int64_t sk_tree_scratch(const sk_call *c)
{
    int64_t blocks = sk_scratch_bytes(c->nranks, sk_call_bytes(c));
    int64_t rounding = c->rename ? sk_scratch_bytes(SK_TREE_KIDS, SK_SCRATCH_STEP) : 0;
    return blocks > INT64_MAX - rounding ? INT64_MAX : blocks + rounding;
}

/* Let S be the bytes that take as long as the software of a message at one end, W those of its way. The root alone takes
 * p S + W for blocks that are shorter than S. A tree takes lg p (2 S + W), and the bytes of p - 1 blocks, one after the
 * other. A message above the eager limit, which `asks` of the first ones are, asks first and waits for an answer: 2 W more. So a
 * tree is faster for blocks below
 *
 *   S - (lg p (2 S + W) + 2 W asks - S - W) / (p - 1).
 *
 * With the customary prices, and what the model of `skein explain` says with them:
 *
 *   ranks      16    24    32    64    128    256   1024
 *   formula     0   544   512   794   1428   2048   2762
 *   predicted   0   531   531   812   1375   1937   2687 */
int64_t sk_linear_cutoff(int p, const sk_machine *m)
{
    bool known = m && m->net.software > 0;
    int64_t s = known ? m->net.software : SK_MESSAGE_SOFTWARE,
            w = known ? m->net.way : SK_MESSAGE_WAY, lg = 0, most = 0;
    while (2 << lg <= p)
        lg++;
    for (int64_t asks = 0; asks <= lg && p > 1; asks++) {
        int64_t tree = s - (lg * (2 * s + w) + 2 * w * asks - s - w) / (p - 1),
                eager = ((int64_t)SK_MESSAGE_EAGER << (asks + 1)) / p;
        tree = tree < eager ? tree : eager;
        most = tree > most ? tree : most;
    }
    return most;
}

void sk_scatter_by_tree(sk_sched *s, const sk_team *t, const sk_parts *x)
{
    sk_tree tree = sk_tree_of(t);
    sk_tree_carry(&tree, x);
    sk_tree_down(s, &tree);
}

/* ---- small blocks along a tree ---- */

int sk_ride_packet_of(sk_sched *s, const sk_blocks *r, int lo, int hi)
{
    int records = 0;
    int64_t bytes = 0;
    for (int i = lo; i < hi; i++) {
        sk_span block = sk_blocks_get(r, i);
        if (sk_rides(block)) {
            records++;
            bytes += block.len;
        }
    }
    return sk_packet(s, records, bytes);
}

int sk_ride_packet_any(sk_sched *s, const sk_tree *t)
{
    int members = t->up.hi - t->up.lo;
    return sk_packet(s, members, (int64_t)members * SK_TREE_PACKET_BLOCK);
}

int64_t sk_ride_scratch(const sk_call *c)
{
    return sk_scratch_bytes(1,
                            sk_packet_bytes(c->nranks, (int64_t)c->nranks * SK_TREE_PACKET_BLOCK));
}

/* ---- the message of a broadcast ---- */

sk_span sk_message_in(sk_sched *s, const sk_call *c)
{
    sk_span user = sk_recv_block(c, 0), place = sk_contiguous_place(s, c, user);
    if (c->rank == c->root)
        sk_copy(s, user, place);
    return place;
}

void sk_message_out(sk_sched *s, const sk_call *c, sk_span place)
{
    sk_fence(s);
    if (c->rank != c->root)
        sk_copy(s, place, sk_recv_block(c, 0));
}

int64_t sk_message_scratch(const sk_call *c)
{
    return sk_scratch_bytes(1, sk_call_bytes(c));
}

/* ---- alltoall ---- */

/* The blocks that I send, in the order in which everybody sends: to rank me+1, me+2 and so on,
 * round the end. They are in the send buffer. When the call is in place they would be overwritten
 * in the receive buffer, so they are in a copy of it. */
typedef struct alltoall_sends {
    sk_blocks row;
    sk_span copy; /* empty: none was needed */
    int next;
    int64_t at; /* of block `next` in the copy */
} alltoall_sends;

/* Makes the copy, and a fence. */
static alltoall_sends sends_begin(sk_sched *s, const sk_call *c)
{
    alltoall_sends x = {.row = {.c = c, .side = SK_SEND, .shift = c->rank + 1}};
    if (c->in_place) {
        int n = c->nranks - 1;
        x.copy = sk_scratch(s, sk_blocks_bytes(&x.row, 0, n));
        sk_blocks_pack(s, &x.row, 0, n, x.copy);
        sk_fence(s);
    }
    return x;
}

/* To be called nranks - 1 times. */
static sk_span sends_next(alltoall_sends *x)
{
    const sk_call *c = x->row.c;
    sk_span block = sk_blocks_get(&x->row, x->next++);
    if (c->in_place) {
        block = sk_span_cut(c->types, x->copy, x->at, block.len);
        x->at += block.len;
    }
    return block;
}

int64_t sk_alltoall_scratch(const sk_call *c)
{
    return c->coll == SK_ALLTOALL && c->in_place ? sk_scratch_bytes(c->nranks - 1, sk_call_bytes(c))
                                                 : 0;
}

void sk_alltoall_by_exchange(sk_sched *s, const sk_call *c, int window)
{
    int p = c->nranks, me = c->rank;
    alltoall_sends sends = sends_begin(s, c);
    sk_copy(s, sk_send_block(c, me), sk_recv_block(c, me));
    for (int i = 1; i < p; i++) {
        sk_recv(s, sk_recv_block(c, (me + p - i) % p), (me + p - i) % p);
        sk_send(s, sends_next(&sends), (int)(((int64_t)me + i) % p));
        if (i % window == 0)
            sk_fence(s);
    }
}
