/* reduce_binomial.c: neighbouring groups of ranks merge into one, again and again.
 * cost   ceil(lg p)(alpha + n beta + n gamma)    good for  short vectors, any p
 * rounds ceil(lg p)                              scratch   two vectors
 * paper  global-collectives 4.1 (MST)
 *
 * A group's value is at the root, if the root is in the group, and otherwise at its first rank. So
 * the value ends at the root without a further message, and since groups are ranges of ranks,
 * operands are in rank order for every root. */
#include "coll/claim.h"
#include "coll/phase/reduce.h"

static bool holds(int first, int size, int rank)
{
    return rank >= first && rank < first + size;
}

static void build(sk_sched *s, const sk_call *c)
{
    int p = c->nranks, me = c->rank, root = c->root;
    int64_t n = sk_call_elems(c);
    sk_span none = {0}, result = sk_recv_elems(c, 0, n);
    sk_acc a = sk_acc_new(c, 0, n, me == root ? result : none);

    for (int size = 1; size < p; size *= 2) {
        int mine = me / size * size, other = mine ^ size;
        if (other >= p)
            continue;
        bool left = mine < other, root_there = holds(other, size, root);
        int peer = root_there ? root : other;
        if (root_there || (!left && !holds(mine, size, root))) {
            sk_send(s, a.at, peer);
            return;
        }
        sk_acc_ready(s, &a, 0, n, left);
        sk_recv(s, sk_acc_in(s, &a), peer);
        sk_fence(s);
        sk_acc_add(s, &a, 0, n, left);
        sk_fence(s);
    }
    sk_copy(s, a.at, result);
}

static int64_t scratch(const sk_call *c)
{
    return sk_vectors_scratch(c, 2, sk_call_elems(c));
}

/* The rank that has the value of a group. */
static int holder(int first, int size, int root)
{
    return holds(first, size, root) ? root : first;
}

static void flow(sk_flow *f, const sk_call *c)
{
    for (int64_t size = 1; size < f->n; size *= 2)
        for (int64_t first = 0; first + size < f->n; first += 2 * size)
            sk_flow_pass(f, holder((int)first, (int)size, c->root),
                         holder((int)(first + size), (int)size, c->root), 1, 1);
}

static void claim(const sk_cost_case *k, sk_cost *c)
{
    c->steps = k->lg;
    if (k->at_root)
        sk_claim_messages(c, 0, k->pow2 ? k->lg : SK_UNCLAIMED, 0, SK_UNCLAIMED);
    else
        sk_claim_messages(c, 1, SK_UNCLAIMED, k->n, SK_UNCLAIMED);
    c->all_sends = k->p - 1;
    c->all_send_bytes = (k->p - 1) * k->n;
}

const sk_algo sk_reduce_binomial = {
    .name = "binomial",
    .coll = SK_REDUCE,
    .about = "merge neighbouring groups up a tree; short vectors",
    .scratch = scratch,
    .build = build,
    .claim = claim,
    .prefers = SK_PREFERS_SEQUENTIAL,
    .flow = flow,
    .rule = {{.when = SK_WHEN_ANY}},
};
