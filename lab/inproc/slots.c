#include "lab/inproc/slots.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGN = 64, POISON = 0xa5 };

int64_t sk_local_bay_stride(int64_t room)
{
    return (room + ALIGN - 1) / ALIGN * ALIGN;
}

static bool knows_rooms(const struct sk_sched_view *v)
{
    uint32_t t = 0;
    while (t < v->nturns && v->turns[t].room != SK_NO_PART)
        t++;
    return t == v->nturns;
}

const struct sk_sched_view *sk_local_turns_of(const sk_machine *m, int node, sk_local_view *view,
                                              const void *of)
{
    int i = m->node_first[node], end = m->node_first[node + 1];
    while (i < end && !knows_rooms(view(of, m->mates[i])))
        i++;
    return view(of, m->mates[i < end ? i : m->node_first[node]]);
}

const struct sk_sched_view *sk_local_run_view(const void *of, int rank)
{
    return ((const sk_run *)of)[rank].sched;
}

static const struct sk_sched_view *sched_view(const void *of, int rank)
{
    return sk_sched_view(((sk_sched *const *)of)[rank]);
}

/* Of the first turns, on a node of n mates. */
static int64_t turns_bytes(const struct sk_sched_view *v, uint32_t turns, int n)
{
    int64_t bytes = 0;
    for (uint32_t t = 0; t < turns; t++)
        bytes += (n + 1) * sk_local_bay_stride(v->turns[t].room);
    return bytes;
}

/* Of the nodes before this one. */
static int64_t bytes_before(const sk_machine *m, sk_sched *const *scheds, int node)
{
    int64_t bytes = 0;
    for (int i = 0; i < node; i++) {
        const struct sk_sched_view *v = sk_local_turns_of(m, i, sched_view, scheds);
        bytes += turns_bytes(v, v->nturns, m->node_first[i + 1] - m->node_first[i]);
    }
    return bytes;
}

int64_t sk_local_bay_bytes(const sk_machine *m, sk_sched *const *scheds)
{
    return m ? bytes_before(m, scheds, m->nnodes) : 0;
}

int64_t sk_local_bay_place(const sk_machine *m, sk_sched *const *scheds, int rank, uint32_t buf)
{
    const struct sk_sched_view *v = sk_local_turns_of(m, m->node[rank], sched_view, scheds);
    uint32_t turn = sk_buf_turn(buf);
    int n;
    sk_machine_mates(m, rank, &n);
    int bay = (buf & SK_BUF_MASK) == SK_COMMON ? n : m->mate[rank];
    return bytes_before(m, scheds, m->node[rank]) + turns_bytes(v, turn, n) +
           bay * sk_local_bay_stride(v->turns[turn].room);
}

void sk_local_bays(sk_local *l, void *memory)
{
    l->memory = memory;
}

static bool node_init(local_node *node, const int *mates, int n, const struct sk_sched_view *v,
                      int64_t *bytes)
{
    size_t turns = (size_t)v->nturns + 1, each = (size_t)n;
    *node = (local_node){.mates = mates, .n = n, .turns = v->turns, .nturns = v->nturns};
    node->first = calloc(turns, sizeof *node->first);
    node->opened = calloc(turns, each);
    node->published = calloc(turns, each);
    node->seen = calloc(turns * each, each);
    node->joined = calloc(turns, sizeof *node->joined);
    node->joins = calloc(turns, sizeof *node->joins);
    if (!node->first || !node->opened || !node->published || !node->seen || !node->joined ||
        !node->joins)
        return false;
    for (uint32_t t = 0; t < v->nturns; t++) {
        node->first[t] = *bytes;
        *bytes += (n + 1) * sk_local_bay_stride(v->turns[t].room);
    }
    node->first[v->nturns] = *bytes;
    return true;
}

local_turns *sk_local_turns_new(const sk_machine *m, const sk_run *runs, void *memory)
{
    local_turns *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->nodes = calloc((size_t)m->nnodes, sizeof *t->nodes);
    t->nnodes = t->nodes ? m->nnodes : 0;
    bool ok = t->nodes != NULL;
    for (int i = 0; i < t->nnodes && ok; i++) {
        const int *mates = &m->mates[m->node_first[i]];
        ok = node_init(&t->nodes[i], mates, m->node_first[i + 1] - m->node_first[i],
                       sk_local_turns_of(m, i, sk_local_run_view, runs), &t->bytes);
    }
    t->own = !memory;
    t->bays = memory ? memory : aligned_alloc(ALIGN, (size_t)t->bytes + ALIGN);
    t->writer = calloc((size_t)t->bytes + 1, sizeof *t->writer);
    if (!ok || !t->bays || !t->writer) {
        sk_local_turns_free(t);
        return NULL;
    }
    if (t->own)
        memset(t->bays, POISON, (size_t)t->bytes);
    return t;
}

void sk_local_turns_free(local_turns *t)
{
    if (!t)
        return;
    for (int i = 0; i < t->nnodes; i++) {
        local_node *n = &t->nodes[i];
        free(n->first);
        free(n->opened);
        free(n->published);
        free(n->seen);
        free(n->joined);
        free(n->joins);
    }
    if (t->own)
        free(t->bays);
    free(t->nodes);
    free(t->writer);
    free(t->exposed);
    free(t);
}
