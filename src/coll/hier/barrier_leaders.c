/* barrier_leaders.c: the ranks of a node tell their leader that they have arrived, the leaders
 * of the nodes do a barrier, and every leader tells its local ranks.
 * cost      ceil(lg M) alpha between M nodes, and one epoch on the node (by messages: up and
 *           down a tree)
 * good for  several nodes with several ranks each
 * scratch   none */
#include "coll/claim.h"
#include "coll/phase/hier.h"

typedef struct barrier_job {
    int epoch;
    sk_tree tree; /* of local ranks, where they do not share memory */
} barrier_job;

static void in(sk_hier *l, void *ctx, int i)
{
    (void)i;
    barrier_job *x = ctx;
    if (l->in_shm) {
        x->epoch = sk_epoch(l->s, 0, false);
        if (l->leader < 0)
            sk_post(l->s, x->epoch);
        else
            sk_await_local(l->s, x->epoch, 1, l->nlocal);
        return;
    }
    x->tree = sk_tree_of(&l->local_ranks);
    for (int k = 0; k < x->tree.nkids; k++)
        sk_recv_signal(l->s, x->tree.kid[k].rank);
    sk_hier_fence(l);
    if (x->tree.up.rank >= 0)
        sk_send_signal(l->s, x->tree.up.rank);
}

static void inter(sk_hier *l, void *ctx, int i)
{
    (void)ctx, (void)i;
    if (l->leader < 0)
        return;
    sk_call call = sk_sub_call(l->c, SK_BARRIER, &l->peers);
    sk_span none = {0};
    sk_sub_start(&l->inter, l->s, &call, &l->peers, none, none);
}

static void out(sk_hier *l, void *ctx, int i)
{
    (void)i;
    const barrier_job *x = ctx;
    if (l->in_shm) {
        if (l->leader < 0)
            sk_await_local(l->s, x->epoch, 0, 1);
        else
            sk_post(l->s, x->epoch);
        return;
    }
    if (x->tree.up.rank >= 0)
        sk_recv_signal(l->s, x->tree.up.rank);
    sk_fence(l->s);
    for (int k = 0; k < x->tree.nkids; k++)
        sk_send_signal(l->s, x->tree.kid[k].rank);
}

static void build(sk_sched *s, const sk_call *c)
{
    sk_hier l;
    barrier_job x = {0};
    if (!sk_hier_begin(&l, s, c, 1, c->slot_bytes > 0))
        return;
    sk_hier_run(&l, &(sk_hier_phases){.in = in, .inter = inter, .out = out}, &x, 1);
    sk_hier_end(&l);
}

static void claim(const sk_cost_case *k, sk_cost *c)
{
    int64_t lg = 0;
    while (1 << lg < k->nodes)
        lg++;
    sk_claim_off_node(k, c, 1, k->nodes * lg, 0);
    sk_claim_node(k, c, 1, 2 * (k->p - k->nodes));
}

const sk_algo sk_barrier_leaders = {
    .name = "leaders",
    .coll = SK_BARRIER,
    .about = "meet on every node, then one leader per node with the others; several nodes",
    .fits = sk_hier_fits,
    .build = build,
    .claim = claim,
    .rule = {{.when = SK_WHEN_NODES}},
};
