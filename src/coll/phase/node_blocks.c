/* phase_node_blocks.c: blocks of ranks, node by node. */
#include "coll/phase/leaders.h"

sk_span sk_lead_place(sk_sched *s, const sk_row *r)
{
    sk_span place = sk_row_place(s, r, 0, r->c->nranks);
    return sk_bytes_place(s, r->c, place);
}

bool sk_lead_blocks(sk_lead *l, int64_t len, sk_side *out)
{
    int nnodes = l->m->nnodes, first = sk_lead_size(l, 0);
    size_t words = (size_t)nnodes * sizeof(int64_t);
    int64_t *counts = sk_arena_get(l->arena, words), *offs = sk_arena_get(l->arena, words);
    if (!counts || !offs) {
        sk_sched_fail(l->s, SK_NOMEM);
        return true;
    }
    bool even = true;
    for (int x = 0; x < nnodes; x++) {
        counts[x] = sk_lead_size(l, x) * len;
        offs[x] = l->m->node_first[x] * len;
        even = even && sk_lead_size(l, x) == first;
    }
    *out = even ? (sk_side){.count = first * len} : (sk_side){.counts = counts, .offs = offs};
    return even;
}

/* What an inner gather or scatter takes. */
static int64_t inner(const sk_call *c, int members, int64_t len)
{
    sk_team t = {.n = members};
    sk_call call = sk_inner_call(c, c->coll, &t);
    call.send = call.recv = (sk_side){.count = len};
    return sk_inner_scratch(&call);
}

static int64_t add(int64_t a, int64_t b)
{
    return a > INT64_MAX - b ? INT64_MAX : a + b;
}

int64_t sk_lead_blocks_scratch(const sk_call *c)
{
    int64_t len = sk_call_bytes(c), most = c->machine->most_on_node;
    int64_t own = add(sk_room(c->nranks, len), sk_room(most, len));
    if (own == INT64_MAX)
        return own;
    return add(own, add(inner(c, (int)most, len), inner(c, c->machine->nnodes, most * len)));
}
