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
