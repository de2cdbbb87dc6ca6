/* phase_tree.c: the binomial tree, also called minimum spanning tree (MST): ceil(lg n) rounds from
 * the root to the last leaf, one message per edge. */
#include "coll/phase/phases.h"

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
    int64_t blocks = sk_room(c->nranks, sk_call_bytes(c));
    int64_t rounding = c->rename ? sk_room(SK_TREE_KIDS, SK_SCRATCH_STEP) : 0;
    return blocks > INT64_MAX - rounding ? INT64_MAX : blocks + rounding;
}

void sk_scatter_by_tree(sk_sched *s, const sk_team *t, const sk_parts *x)
{
    sk_tree tree = sk_tree_of(t);
    sk_tree_carry(&tree, x);
    sk_tree_down(s, &tree);
}
