/* traffic.c: counting of messages between nodes. */
#include "coll/traffic.h"

#include <stdlib.h>
#include <string.h>

static sk_off_node of_round(const struct sk_sched_view *v, const sk_round *r, const sk_machine *m,
                            int rank)
{
    sk_off_node sum = {0};
    const sk_step *end = v->steps + r->first + r->nhead + r->nrecv + r->nsend;
    for (const sk_step *st = end - r->nsend; st < end; st++)
        if (m->node[st->peer] != m->node[rank]) {
            sum.messages++;
            sum.bytes += st->a.len;
        }
    return sum;
}

static void add(sk_off_node *to, sk_off_node x)
{
    to->messages += x.messages;
    to->bytes += x.bytes;
}

sk_off_node sk_sched_off_node(const sk_sched *s, const sk_machine *m, int rank)
{
    const struct sk_sched_view *v = sk_sched_view(s);
    sk_off_node sum = {0};
    for (uint32_t i = 0; i < v->nrounds; i++)
        add(&sum, of_round(v, &v->rounds[i], m, rank));
    return sum;
}

/* Bytes that a step reads from slots or memory of local ranks. */
static int64_t shared_bytes(const sk_step *st, int nlocal)
{
    switch (st->kind) {
    case SK_STEP_TAKE:
    case SK_STEP_READ:
        return st->b.len;
    case SK_STEP_FOLD:
        return st->a.len * (st->hi - st->lo);
    case SK_STEP_JOIN:
        return st->a.len * nlocal;
    default:
        return 0;
    }
}

sk_sent sk_sched_sent(const sk_sched *s, const sk_machine *m, int rank)
{
    const struct sk_sched_view *v = sk_sched_view(s);
    sk_sent sum = {.off = sk_sched_off_node(s, m, rank)};
    int nlocal;
    sk_machine_local_ranks(m, rank, &nlocal);
    for (uint32_t i = 0; i < v->nsteps; i++) {
        const sk_step *st = &v->steps[i];
        bool sends = st->kind == SK_STEP_SEND || st->kind == SK_STEP_PSEND;
        sum.shared_bytes += shared_bytes(st, nlocal);
        if (sends && m->node[st->peer] == m->node[rank])
            add(&sum.near, (sk_off_node){1, st->a.len});
    }
    return sum;
}

static bool grow(sk_traffic *t)
{
    if (t->nstages < t->cap)
        return true;
    int cap = t->cap ? 2 * t->cap : 16;
    sk_off_node *stage = realloc(t->stage, (size_t)cap * sizeof *stage);
    if (!stage)
        return false;
    memset(stage + t->cap, 0, (size_t)(cap - t->cap) * sizeof *stage);
    t->stage = stage;
    t->cap = cap;
    return true;
}

sk_status sk_traffic_add(sk_traffic *t, const sk_sched *s, const sk_machine *m, int rank)
{
    const struct sk_sched_view *v = sk_sched_view(s);
    int k = 0;
    for (uint32_t i = 0; i < v->nrounds; i++) {
        const sk_round *r = &v->rounds[i];
        if (r->nrecv + r->nsend == 0)
            continue;
        if (k == t->nstages) {
            if (!grow(t))
                return SK_NOMEM;
            t->nstages++;
        }
        sk_off_node x = of_round(v, r, m, rank);
        add(&t->stage[k++], x);
        add(&t->sum, x);
    }
    return SK_OK;
}

sk_off_node sk_traffic_busiest(const sk_traffic *t)
{
    sk_off_node most = {0};
    for (int i = 0; i < t->nstages; i++)
        if (sk_off_node_less(most, t->stage[i]))
            most = t->stage[i];
    return most;
}

void sk_traffic_free(sk_traffic *t)
{
    free(t->stage);
    *t = (sk_traffic){0};
}
