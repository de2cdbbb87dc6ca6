/* sub.c: rounds of one schedule become rounds of another: members become ranks, buffers become
 * spans. */
#include "coll/phase/sub.h"

sk_call sk_sub_call(const sk_call *c, sk_coll coll, const sk_team *t)
{
    return (sk_call){.coll = coll,
                     .nranks = t->n,
                     .rank = t->me,
                     .ordered = c->ordered,
                     .builtin = c->builtin,
                     .rounds = c->rounds,
                     .types = c->types,
                     .ntypes = c->ntypes,
                     .chooser = c->chooser,
                     .sub = true};
}

sk_side sk_sub_side(const sk_call *c, sk_span s)
{
    const sk_type *t = &c->types[s.type];
    if (t->contig || t->size == 0)
        return (sk_side){.count = s.len, .type = SK_TYPE_BYTE};
    return (sk_side){.count = s.len / t->size, .type = s.type};
}

static const sk_algo *choose(const sk_call *call)
{
    return call->chooser ? call->chooser->choose(call->chooser, call) : NULL;
}

int64_t sk_sub_scratch(const sk_call *call)
{
    const sk_algo *a = choose(call);
    return a && a->scratch ? a->scratch(call) : 0;
}

void sk_sub_start(sk_sub *in, sk_sched *s, const sk_call *call, const sk_team *t, sk_span send,
                  sk_span recv)
{
    const sk_algo *a = choose(call);
    sk_status st = a ? sk_algo_build(a, call, &in->sched) : SK_BADARG;
    if (st != SK_OK) {
        sk_sched_fail(s, st);
        return;
    }
    in->round = 0;
    in->team = *t;
    in->base[SK_SEND] = send;
    in->base[SK_RECV] = recv;
    int64_t scratch = sk_sched_view(in->sched)->scratch;
    if (in->base[SK_SCRATCH].len < scratch)
        in->base[SK_SCRATCH] = sk_scratch(s, scratch);
}

static sk_span outer(const sk_sub *in, sk_span s)
{
    if (!s.len)
        return s;
    const sk_span *base = &in->base[s.buf];
    s.off += base->off;
    s.buf = base->buf;
    if (s.type == SK_TYPE_BYTE)
        s.type = base->type;
    return s;
}

static void append(const sk_sub *in, sk_sched *s, const sk_step *st)
{
    int peer = st->peer < 0 ? -1 : sk_team_rank(&in->team, st->peer);
    switch (st->kind) {
    case SK_STEP_SEND:
        if (st->a.len)
            sk_send(s, outer(in, st->a), peer);
        else
            sk_send_signal(s, peer);
        break;
    case SK_STEP_RECV:
        if (st->b.len)
            sk_recv(s, outer(in, st->b), peer);
        else
            sk_recv_signal(s, peer);
        break;
    case SK_STEP_COPY:
        sk_copy(s, outer(in, st->a), outer(in, st->b));
        break;
    case SK_STEP_REDUCE:
        sk_reduce(s, outer(in, st->a), outer(in, st->b));
        break;
    default: /* packets and epochs belong to a whole schedule */
        sk_sched_fail(s, SK_BADARG);
    }
}

bool sk_sub_round(sk_sub *in, sk_sched *s)
{
    const struct sk_sched_view *v = in->sched ? sk_sched_view(in->sched) : NULL;
    if (!v || in->round == v->nrounds) {
        sk_sub_end(in);
        return false;
    }
    const sk_round *rd = &v->rounds[in->round++];
    for (uint32_t i = rd->first; i < sk_round_end(rd); i++)
        append(in, s, &v->steps[i]);
    return true;
}

void sk_sub_rest(sk_sub *in, sk_sched *s)
{
    sk_fence(s);
    while (sk_sub_round(in, s))
        sk_fence(s);
}

void sk_sub_end(sk_sub *in)
{
    sk_sched_free(in->sched);
    in->sched = NULL;
}
