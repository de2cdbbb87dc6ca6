/* slots.c: the base of the in-process wire: moving bytes, waking ranks, the memory of slots, and who
 * may read and write which byte of it. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/inproc/inproc_inner.h"

static void move(const sk_inproc *l, void *to, const void *from, int64_t n)
{
    if (l->hooks.move)
        l->hooks.move(l->hooks.ctx, to, from, n);
    else
        memmove(to, from, (size_t)n);
}

void sk_inproc_carry(const sk_inproc *l, const sk_type *ft, sk_part from, const sk_type *tt,
                     sk_part to, int64_t len, bool reduce)
{
    sk_inproc_cursor fc = {.type = ft}, tc = {.type = tt};
    for (int64_t left = len, n; left > 0; left -= n) {
        int64_t from_offset, to_offset;
        int64_t fn = sk_inproc_run_at(&fc, left, &from_offset),
                tn = sk_inproc_run_at(&tc, left, &to_offset);
        n = fn < tn ? fn : tn;
        const char *f = (const char *)from.at + from_offset;
        char *t = (char *)to.at + to_offset;
        if (reduce)
            l->hooks.reduce(l->hooks.ctx, f, t, n);
        else
            move(l, t, f, n);
        sk_inproc_advance(&fc, n);
        sk_inproc_advance(&tc, n);
    }
}

void sk_inproc_wake(sk_inproc *l, sk_inproc_rank *w)
{
    if (w->queued)
        return;
    w->queued = true;
    l->ready[(l->ready_first + l->ready_count++) % l->nranks] = w->rank;
}

void sk_inproc_next_round(sk_inproc_rank *w)
{
    if (w->fresh && w->world->hooks.round_over)
        w->world->hooks.round_over(w->world->hooks.ctx, w->rank);
    w->fresh = false;
}

sk_status sk_inproc_complain(sk_inproc *l, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (!l->why[0])
        vsnprintf(l->why, sizeof l->why, format, args);
    va_end(args);
    return SK_WIRE;
}

/* ---- memory of slots ---- */

enum { ALIGN = 64, POISON = 0xa5 };

int64_t sk_inproc_slot_stride(int64_t bytes)
{
    return (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

static bool knows_sizes(const struct sk_sched_view *v)
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
    while (i < end && !knows_sizes(view(of, m->local_ranks[i])))
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

int64_t sk_inproc_slot_offset(const sk_machine *m, sk_sched *const *scheds, int rank, uint32_t buf)
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

static bool node_init(sk_inproc_node *node, const int *local_ranks, int n,
                      const struct sk_sched_view *v, int64_t *bytes)
{
    size_t epochs = (size_t)v->nepochs + 1, each = (size_t)n;
    *node = (sk_inproc_node){
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

sk_inproc_epochs *sk_inproc_epochs_new(const sk_machine *m, const sk_run *runs, void *memory)
{
    sk_inproc_epochs *t = calloc(1, sizeof *t);
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

void sk_inproc_epochs_free(sk_inproc_epochs *t)
{
    if (!t)
        return;
    for (int i = 0; i < t->nnodes; i++) {
        sk_inproc_node *n = &t->nodes[i];
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
    free(t->exports);
    free(t);
}

/* ---- may a rank read or write these bytes? ---- */

typedef struct inproc_slot {
    uint32_t epoch;
    int owner;      /* n: the common one */
    int64_t lo, hi; /* in all slots */
} inproc_slot;

/* The slot that an address is in; false when it is in none of this node. */
static bool find_slot(const sk_inproc_rank *w, int64_t at, inproc_slot *b)
{
    const sk_inproc_node *n = w->node;
    uint32_t lo = 0, hi = n->nepochs;
    if (hi == 0 || at < n->first[0] || at >= n->first[hi])
        return false;
    while (hi - lo > 1) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (n->first[mid] <= at)
            lo = mid;
        else
            hi = mid;
    }
    int64_t stride = sk_inproc_slot_stride(n->epochs[lo].slot_bytes);
    b->epoch = lo;
    b->owner = (int)((at - n->first[lo]) / stride);
    b->lo = n->first[lo] + b->owner * stride;
    b->hi = b->lo + n->epochs[lo].slot_bytes;
    return true;
}

static sk_status read_byte(sk_inproc_rank *w, const inproc_slot *b, int64_t at)
{
    const sk_inproc_node *n = w->node;
    int writer = w->world->epochs->writer[at] - 1;
    size_t row = (size_t)b->epoch * (size_t)n->n;
    if (writer < 0)
        return sk_inproc_complain(w->world,
                                  "rank %d reads byte %lld of epoch %u, which nobody wrote",
                                  w->rank, (long long)(at - b->lo), b->epoch);
    if (writer != w->local_rank &&
        !n->seen[(row + (size_t)w->local_rank) * (size_t)n->n + (size_t)writer])
        return sk_inproc_complain(w->world, "rank %d reads epoch %u without waiting for rank %d",
                                  w->rank, b->epoch, n->local_ranks[writer]);
    return SK_OK;
}

static sk_status write_byte(sk_inproc_rank *w, const inproc_slot *b, int64_t at)
{
    uint16_t *writer = &w->world->epochs->writer[at], me = (uint16_t)(w->local_rank + 1);
    if (*writer && *writer != me)
        return sk_inproc_complain(w->world, "ranks %d and %d both write byte %lld of epoch %u",
                                  w->node->local_ranks[*writer - 1], w->rank,
                                  (long long)(at - b->lo), b->epoch);
    *writer = me;
    return SK_OK;
}

static sk_status may_write_slot(sk_inproc_rank *w, const inproc_slot *b)
{
    const sk_inproc_node *n = w->node;
    size_t mine = (size_t)b->epoch * (size_t)n->n + (size_t)w->local_rank;
    if (b->owner != w->local_rank && b->owner != n->n)
        return sk_inproc_complain(w->world, "rank %d writes the slot of rank %d in epoch %u",
                                  w->rank, n->local_ranks[b->owner], b->epoch);
    if (!n->opened[mine] || n->posted[mine])
        return sk_inproc_complain(w->world, "rank %d writes epoch %u, which is %s", w->rank,
                                  b->epoch, n->posted[mine] ? "posted" : "not open");
    return SK_OK;
}

static sk_status may_touch(sk_inproc_rank *w, sk_part part, bool write)
{
    const sk_inproc_epochs *t = w->world->epochs;
    const sk_type *type = &w->types[part.type];
    inproc_slot b = {.lo = 0, .hi = 0};
    sk_status st = SK_OK;
    if (!t || !part.len)
        return SK_OK;
    for (int64_t k = 0, n, offset; k < part.len && st == SK_OK; k += n) {
        n = sk_inproc_stretch(type, k, part.len, &offset);
        uintptr_t rel = (uintptr_t)part.at + (uintptr_t)offset - (uintptr_t)t->slots;
        if (rel >= (uintptr_t)t->bytes)
            return SK_OK;
        int64_t at = (int64_t)rel;
        if (k == 0) {
            if (!find_slot(w, at, &b))
                return sk_inproc_complain(w->world, "rank %d touches a slot of another node",
                                          w->rank);
            st = w->released > b.epoch
                     ? sk_inproc_complain(w->world,
                                          "rank %d touches epoch %u, which it has released",
                                          w->rank, b.epoch)
                 : write ? may_write_slot(w, &b)
                         : SK_OK;
        }
        if (at < b.lo || at + n > b.hi)
            return sk_inproc_complain(w->world, "rank %d leaves a slot of epoch %u", w->rank,
                                      b.epoch);
        for (int64_t i = at; i < at + n && st == SK_OK; i++)
            st = write ? write_byte(w, &b, i) : read_byte(w, &b, i);
    }
    return st;
}

sk_status sk_inproc_may_read(sk_inproc_rank *w, sk_part part)
{
    return may_touch(w, part, false);
}

sk_status sk_inproc_may_write(sk_inproc_rank *w, sk_part part)
{
    return may_touch(w, part, true);
}
