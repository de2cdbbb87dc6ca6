/* allreduce_doubling.c: partners exchange their values and both reduce them; the distance doubles.
 * cost   lg p (alpha + n beta + n gamma)    good for  short vectors
 * rounds lg p; otherwise floor(lg p) + 2    scratch   one vector
 * paper  global-collectives 4.2
 *
 * Both partners reduce in rank order whether or not the operation commutes: max(+0, -0) and the
 * sum of two NaNs depend on the order, and all ranks must get the same bits. */
#include "coll/claim.h"
#include "coll/phase/reduce.h"

/* How often the value moves to the other buffer: each time an operand comes from the right. */
static int moves(const sk_fold *f, int member, bool in_buf)
{
    int n = 0;
    for (int bit = 1; bit < f->q; bit *= 2) {
        n += in_buf && !(member & bit);
        in_buf = true;
    }
    return n;
}

static void exchange(sk_sched *s, sk_acc *a, int peer, bool left)
{
    /* Wires are fastest in rounds without local steps, so the copy has its own round. */
    sk_acc_ready(s, a, 0, a->n, left);
    sk_fence(s);
    sk_send(s, a->at, peer);
    sk_recv(s, sk_acc_in(s, a), peer);
    sk_fence(s);
    sk_acc_add(s, a, 0, a->n, left);
    sk_fence(s);
}

static void build(sk_sched *s, const sk_call *c)
{
    int64_t n = sk_call_elems(c);
    sk_span result = sk_recv_elems(c, 0, n);
    sk_fold f = sk_fold_of(c, -1);
    int member = sk_fold_member(&f, c->rank), partner = sk_fold_partner(&f, c->rank);

    sk_acc a = sk_acc_new(c, 0, n, result);
    a.ordered = true;
    if (!a.own) /* start in the buffer from which the last move leads to the result */
        a.next = moves(&f, member, partner >= 0) % 2;
    sk_fold_in(s, &f, &a);
    if (member < 0) {
        sk_recv(s, result, partner);
        return;
    }
    for (int bit = 1; bit < f.q; bit *= 2)
        exchange(s, &a, sk_fold_rank(&f, member ^ bit), !(member & bit));
    sk_copy(s, a.at, result);
    sk_fence(s);
    if (partner >= 0)
        sk_send(s, result, partner);
}

static int64_t scratch(const sk_call *c)
{
    return sk_vectors_scratch(c, 1, sk_call_elems(c));
}

static void flow(sk_flow *w, const sk_call *c)
{
    sk_fold f = sk_fold_of(c, -1);
    sk_fold_flow(w, &f, 2, 1);
    for (int bit = 1; bit < f.q; bit *= 2)
        for (int i = 0; i < f.q; i++)
            sk_flow_pass(w, sk_fold_rank(&f, i), sk_fold_rank(&f, i ^ bit), 1, 1);
}

static void claim(const sk_cost_case *k, sk_cost *c)
{
    c->steps = k->pow2 ? k->lg : k->fl + 2;
    if (k->pow2)
        sk_claim_messages(c, k->lg, k->lg, k->lg * k->n, k->lg * k->n);
}

const sk_algo sk_allreduce_doubling = {
    .name = "doubling",
    .coll = SK_ALLREDUCE,
    .about = "exchange whole vectors, distance doubling; short vectors",
    .scratch = scratch,
    .build = build,
    .claim = claim,
    .prefers = SK_PREFERS_ROUND_ROBIN,
    .flow = flow,
    .rule = {{.when = SK_WHEN_ANY}},
};
