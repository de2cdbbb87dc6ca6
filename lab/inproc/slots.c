#include "lab/inproc/slots.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGN = 64, POISON = 0xa5 };

int64_t sk_inproc_slot_stride(int64_t room)
{
    return (room + ALIGN - 1) / ALIGN * ALIGN;
}

static bool knows_rooms(const struct sk_sched_view *v)
{
    uint32_t t = 0;
    while (t < v->nepochs && v->epochs[t].slot_bytes != SK_NO_PART)
        t++;
    return t == v->nepochs;
}

const struct sk_sched_view *sk_inproc_epochs_of(const sk_machine *m, int node, sk_inproc_view *view,
                                                const void *of)
{
    int i = m->node_first[node], end = m->node_first[node + 1];
    while (i < end && !knows_rooms(view(of, m->local_ranks[i])))
        i++;
    return view(of, m->local_ranks[i < end ? i : m->node_first[node]]);
}

const struct sk_sched_view *sk_inproc_run_view(const void *of, int rank)
{
    return ((const sk_run *)of)[rank].sched;
}

static const struct sk_sched_view *sched_view(const void *of, int rank)
{
    return sk_sched_view(((sk_sched *const *)of)[rank]);
}

/* Of the first epochs, on a node of n local ranks. */
static int64_t epochs_bytes(const struct sk_sched_view *v, uint32_t epochs, int n)
{
    int64_t bytes = 0;
    for (uint32_t t = 0; t < epochs; t++)
        bytes += (n + 1) * sk_inproc_slot_stride(v->epochs[t].slot_bytes);
    return bytes;
}

/* Of the nodes before this one. */
static int64_t bytes_before(const sk_machine *m, sk_sched *const *scheds, int node)
{
    int64_t bytes = 0;
    for (int i = 0; i < node; i++) {
        const struct sk_sched_view *v = sk_inproc_epochs_of(m, i, sched_view, scheds);
        bytes += epochs_bytes(v, v->nepochs, m->node_first[i + 1] - m->node_first[i]);
    }
    return bytes;
}

int64_t sk_inproc_slot_bytes(const sk_machine *m, sk_sched *const *scheds)
{
    return m ? bytes_before(m, scheds, m->nnodes) : 0;
}

int64_t sk_inproc_slot_place(const sk_machine *m, sk_sched *const *scheds, int rank, uint32_t buf)
{
    const struct sk_sched_view *v = sk_inproc_epochs_of(m, m->node[rank], sched_view, scheds);
    uint32_t epoch = sk_buf_epoch(buf);
    int n;
    sk_machine_local_ranks(m, rank, &n);
    int slot = (buf & SK_BUF_MASK) == SK_COMMON ? n : m->local_rank[rank];
    return bytes_before(m, scheds, m->node[rank]) + epochs_bytes(v, epoch, n) +
           slot * sk_inproc_slot_stride(v->epochs[epoch].slot_bytes);
}

void sk_inproc_slots(sk_inproc *l, void *memory)
{
    l->memory = memory;
}

static bool node_init(inproc_node *node, const int *local_ranks, int n,
                      const struct sk_sched_view *v, int64_t *bytes)
{
    size_t epochs = (size_t)v->nepochs + 1, each = (size_t)n;
    *node = (inproc_node){
        .local_ranks = local_ranks, .n = n, .epochs = v->epochs, .nepochs = v->nepochs};
    node->first = calloc(epochs, sizeof *node->first);
    node->opened = calloc(epochs, each);
    node->posted = calloc(epochs, each);
    node->seen = calloc(epochs * each, each);
    node->joined = calloc(epochs, sizeof *node->joined);
    node->joins = calloc(epochs, sizeof *node->joins);
    if (!node->first || !node->opened || !node->posted || !node->seen || !node->joined ||
        !node->joins)
        return false;
    for (uint32_t t = 0; t < v->nepochs; t++) {
        node->first[t] = *bytes;
        *bytes += (n + 1) * sk_inproc_slot_stride(v->epochs[t].slot_bytes);
    }
    node->first[v->nepochs] = *bytes;
    return true;
}

inproc_epochs *sk_inproc_epochs_new(const sk_machine *m, const sk_run *runs, void *memory)
{
    inproc_epochs *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->nodes = calloc((size_t)m->nnodes, sizeof *t->nodes);
    t->nnodes = t->nodes ? m->nnodes : 0;
    bool ok = t->nodes != NULL;
    for (int i = 0; i < t->nnodes && ok; i++) {
        const int *local_ranks = &m->local_ranks[m->node_first[i]];
        ok = node_init(&t->nodes[i], local_ranks, m->node_first[i + 1] - m->node_first[i],
                       sk_inproc_epochs_of(m, i, sk_inproc_run_view, runs), &t->bytes);
    }
    t->own = !memory;
    t->slots = memory ? memory : aligned_alloc(ALIGN, (size_t)t->bytes + ALIGN);
    t->writer = calloc((size_t)t->bytes + 1, sizeof *t->writer);
    if (!ok || !t->slots || !t->writer) {
        sk_inproc_epochs_free(t);
        return NULL;
    }
    if (t->own)
        memset(t->slots, POISON, (size_t)t->bytes);
    return t;
}

void sk_inproc_epochs_free(inproc_epochs *t)
{
    if (!t)
        return;
    for (int i = 0; i < t->nnodes; i++) {
        inproc_node *n = &t->nodes[i];
        free(n->first);
        free(n->opened);
        free(n->posted);
        free(n->seen);
        free(n->joined);
        free(n->joins);
    }
    if (t->own)
        free(t->slots);
    free(t->nodes);
    free(t->writer);
    free(t->single_copy);
    free(t);
}
