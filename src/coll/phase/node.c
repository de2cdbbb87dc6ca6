/* phase_node.c: the ranks of a node among themselves, in epochs or by messages. */
#include "coll/phase/leaders.h"

void sk_node_run(sk_lead *l, const sk_call *call, const sk_team *t, sk_span send, sk_span recv)
{
    sk_inner_start(&l->intra, l->s, call, t, send, recv);
    while (sk_inner_round(&l->intra, l->s))
        sk_lead_fence(l);
}

typedef struct spread {
    const sk_parts *x;
    int n, from, to;
} spread;

static int owner(const sk_lead *l, const spread *p, int j)
{
    return p->from < 0 ? sk_lead_local_rank(l, l->node, j) : p->from;
}

static void spread_by_epoch(sk_lead *l, const spread *p)
{
    int epoch =
        sk_epoch(l->s, sk_parts_range(p->x, 0, 1).len, false); /* the first part is longest */
    bool takes = p->to < 0 || p->to == l->me;
    for (int j = 0; j < p->n; j++)
        if (owner(l, p, j) == l->me) {
            sk_span part = sk_parts_range(p->x, j, j + 1);
            sk_copy(l->s, part, sk_slot(epoch, 0, part.len));
            sk_lead_fence(l);
            sk_post(l->s, epoch);
        }
    for (int j = 0; j < p->n; j++) {
        int from = owner(l, p, j);
        sk_span part = sk_parts_range(p->x, j, j + 1);
        if (takes && from != l->me)
            sk_take(l->s, sk_team_rank(&l->local_ranks, from), sk_slot(epoch, 0, part.len), part);
    }
}

static void spread_by_messages(sk_lead *l, const spread *p)
{
    for (int j = 0; j < p->n; j++) {
        int from = owner(l, p, j);
        sk_span part = sk_parts_range(p->x, j, j + 1);
        if (p->to < 0) {
            sk_call call = sk_inner_call(l->c, SK_BCAST, &l->local_ranks);
            call.root = from;
            call.recv = sk_inner_side(l->c, part);
            sk_node_run(l, &call, &l->local_ranks, part, part);
        } else if (from == l->me && from != p->to) {
            sk_send(l->s, part, sk_team_rank(&l->local_ranks, p->to));
        } else if (from != l->me && p->to == l->me) {
            sk_recv(l->s, part, sk_team_rank(&l->local_ranks, from));
        }
    }
}

void sk_node_spread(sk_lead *l, const sk_parts *x, int from, int to)
{
    spread p = {.x = x, .n = from < 0 ? l->k : 1, .from = from, .to = to};
    bool stays = p.n == 1 && owner(l, &p, 0) == to;
    if (l->q == 1 || stays)
        return;
    if (l->epochs)
        spread_by_epoch(l, &p);
    else
        spread_by_messages(l, &p);
}

void sk_node_gather(sk_lead *l, sk_span mine, sk_span all)
{
    sk_call call = sk_inner_call(l->c, SK_GATHER, &l->local_ranks);
    call.root = sk_lead_local_rank(l, l->node, 0);
    call.in_place = call.root == l->me;
    call.send = sk_inner_side(l->c, mine);
    call.recv = (sk_side){.count = mine.len};
    sk_node_run(l, &call, &l->local_ranks, mine, all);
}

void sk_node_scatter(sk_lead *l, sk_span all, sk_span mine)
{
    sk_call call = sk_inner_call(l->c, SK_SCATTER, &l->local_ranks);
    call.root = sk_lead_local_rank(l, l->node, 0);
    call.in_place = call.root == l->me;
    call.send = (sk_side){.count = mine.len};
    call.recv = sk_inner_side(l->c, mine);
    sk_node_run(l, &call, &l->local_ranks, all, mine);
}
