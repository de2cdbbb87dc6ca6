/* phase_allgather.c: everybody gets all parts. */
#include "coll/phase/phases.h"

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

/* One level of recursive doubling: two neighbouring subtrees of `half` members put their data
 * together. Where n is no power of two the right one may have fewer members, or none. */
typedef struct level {
    sk_sched *s;
    const sk_team *t;
    int half, bits; /* half == 1 << bits */
    int middle;     /* the first member of the right subtree */
    int right;      /* how many it has */
    sk_span left_data, right_data;
} level;

/* The members on the left that have no partner get the right side's data from those that have one,
 * in halving distances. Seen from the root of each subtree of 2^k members, the first `right` have
 * it. */
static void correct(const level *v, bool lone)
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

static void level_left(const level *v)
{
    int partner = v->t->me + v->half;
    /* A right side of one member has had its data from the start, so its partner takes it a round
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

static void level_right(const level *v)
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
        level v = {.s = s,
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
    return sk_room(blocks, sk_call_bytes(c));
}
