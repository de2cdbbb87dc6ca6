/* epochs.c: epochs over the in-process wire. */
#include <stdlib.h>
#include <string.h>

#include "lab/inproc/inproc_inner.h"

void sk_inproc_machine(sk_inproc *l, const sk_machine *m)
{
    l->machine = m;
}

static bool same_epochs(const struct sk_sched_view *rank, const struct sk_sched_view *node)
{
    bool same = rank->nepochs == node->nepochs;
    for (uint32_t t = 0; same && t < rank->nepochs; t++) {
        const sk_epoch_info *a = &rank->epochs[t], *b = &node->epochs[t];
        same = (a->slot_bytes == b->slot_bytes || a->slot_bytes == SK_NO_PART) &&
               a->all == b->all && a->together == b->together;
    }
    return same;
}

sk_status sk_inproc_begin_epochs(sk_inproc *l, sk_run *runs)
{
    const sk_machine *m = l->machine;
    bool some = false;
    for (int r = 0; r < l->nranks; r++) {
        const struct sk_sched_view *v = runs[r].sched;
        some |= v->nepochs > 0;
        if (m && m->nranks == l->nranks) {
            if (same_epochs(v, sk_inproc_epochs_of(m, m->node[r], sk_inproc_run_view, runs)))
                continue;
            sk_inproc_complain(l, "rank %d and others of its node have different epochs", r);
        } else if (v->nepochs == 0)
            continue;
        else
            sk_inproc_complain(l, "rank %d has epochs and no machine", r);
        return runs[r].status = SK_BADARG;
    }
    if (!some)
        return SK_OK;
    l->epochs = sk_inproc_epochs_new(m, runs, l->memory);
    if (!l->epochs)
        return SK_NOMEM;
    for (int r = 0; r < l->nranks; r++) {
        l->wires[r].node = &l->epochs->nodes[m->node[r]];
        l->wires[r].local_rank = m->local_rank[r];
    }
    return SK_OK;
}

void sk_inproc_end_epochs(sk_inproc *l, sk_run *runs)
{
    for (int i = 0; l->epochs && i < l->epochs->nnodes; i++) {
        const sk_inproc_node *n = &l->epochs->nodes[i];
        for (uint32_t t = 0; t < n->nepochs; t++)
            if (n->joins[t] && n->joins[t] != n->n && runs[*n->local_ranks].status == SK_OK &&
                !l->stuck)
                runs[*n->local_ranks].status =
                    sk_inproc_complain(l, "not all local ranks join epoch %u", t);
    }
    sk_inproc_epochs_free(l->epochs);
    l->epochs = NULL;
}

/* ---- the wire's operations; none of them blocks ---- */

static void wake_local_ranks(sk_inproc_rank *w)
{
    const sk_inproc_node *n = w->node;
    for (int i = 0; i < n->n; i++) {
        sk_inproc_rank *local_rank = &w->world->wires[n->local_ranks[i]];
        if (local_rank->waiting)
            sk_inproc_wake(w->world, local_rank);
        local_rank->waiting = false;
    }
}

static sk_status wait_for_local_ranks(sk_inproc_rank *w)
{
    w->waiting = true;
    return SK_AGAIN;
}

/* Have all others left this epoch? */
static bool all_released(const sk_inproc_rank *w, uint32_t epochs)
{
    const sk_inproc_node *n = w->node;
    bool all = true;
    for (int i = 0; i < n->n; i++)
        all &= i == w->local_rank || w->world->wires[n->local_ranks[i]].released >= epochs;
    return all;
}

sk_status sk_inproc_open(sk_wire *base, uint32_t epoch, bool block)
{
    (void)block;
    sk_inproc_rank *w = (sk_inproc_rank *)base;
    sk_inproc_next_round(w);
    if (epoch > 0 && !all_released(w, epoch - 1))
        return wait_for_local_ranks(w);
    w->node->opened[epoch * (size_t)w->node->n + (size_t)w->local_rank] = 1;
    return SK_OK;
}

void *sk_inproc_slot(sk_wire *base, uint32_t buf, int owner)
{
    sk_inproc_rank *w = (sk_inproc_rank *)base;
    const sk_inproc_node *n = w->node;
    const sk_machine *m = w->world->machine;
    int local_rank = owner < 0 ? w->local_rank : n->n;
    if ((buf & SK_BUF_MASK) == SK_COMMON)
        local_rank = n->n;
    else if (owner >= 0 && owner < w->world->nranks && m->node[owner] == m->node[w->rank])
        local_rank = m->local_rank[owner];
    else if (owner >= 0) {
        sk_inproc_complain(w->world, "rank %d takes from rank %d of another node", w->rank, owner);
        return NULL;
    }
    return sk_inproc_slot_at(w->world->epochs, n, sk_buf_epoch(buf), local_rank);
}

sk_status sk_inproc_post(sk_wire *base, uint32_t epoch, bool block)
{
    (void)block;
    sk_inproc_rank *w = (sk_inproc_rank *)base;
    unsigned char *posted = &w->node->posted[epoch * (size_t)w->node->n + (size_t)w->local_rank];
    sk_inproc_next_round(w);
    if (*posted)
        w->broken = sk_inproc_complain(w->world, "rank %d posts epoch %u twice", w->rank, epoch);
    *posted = 1;
    if (w->world->hooks.post)
        w->world->hooks.post(w->world->hooks.ctx, w->rank, epoch);
    wake_local_ranks(w);
    return SK_OK;
}

static void see(sk_inproc_rank *w, uint32_t epoch, int local_rank)
{
    const sk_inproc_node *n = w->node;
    size_t row = (epoch * (size_t)n->n + (size_t)w->local_rank) * (size_t)n->n;
    if (n->seen[row + (size_t)local_rank])
        return;
    n->seen[row + (size_t)local_rank] = 1;
    w->fresh = true;
    if (w->world->hooks.see)
        w->world->hooks.see(w->world->hooks.ctx, n->local_ranks[local_rank], w->rank, epoch);
}

sk_status sk_inproc_await(sk_wire *base, uint32_t epoch, int lo, int hi, bool block)
{
    (void)block;
    sk_inproc_rank *w = (sk_inproc_rank *)base;
    const sk_inproc_node *n = w->node;
    hi = hi < 0 ? n->n : hi;
    if (hi > n->n)
        return sk_inproc_complain(w->world, "rank %d waits for local rank %d of %d", w->rank,
                                  hi - 1, n->n);
    for (int i = lo; i < hi; i++)
        if (!n->posted[epoch * (size_t)n->n + (size_t)i])
            return wait_for_local_ranks(w);
    for (int i = lo; i < hi; i++)
        see(w, epoch, i);
    return SK_OK;
}

sk_status sk_inproc_await_rank(sk_wire *base, uint32_t epoch, int rank, bool block)
{
    sk_inproc_rank *w = (sk_inproc_rank *)base;
    const sk_machine *m = w->world->machine;
    if (rank < 0 || rank >= w->world->nranks || m->node[rank] != m->node[w->rank])
        return sk_inproc_complain(w->world, "rank %d waits for rank %d of another node", w->rank,
                                  rank);
    return sk_inproc_await(base, epoch, m->local_rank[rank], m->local_rank[rank] + 1, block);
}

sk_status sk_inproc_fold(sk_wire *base, uint32_t epoch, int lo, int hi, sk_part from, sk_part to)
{
    sk_inproc_rank *w = (sk_inproc_rank *)base;
    sk_status st = SK_OK;
    for (int i = hi - 1; i >= lo && st == SK_OK; i--) {
        sk_part one = from;
        one.at = sk_inproc_slot_at(w->world->epochs, w->node, epoch, i) + (intptr_t)from.at;
        st = i == hi - 1 ? base->ops->copy(base, one, to) : base->ops->reduce(base, one, to);
    }
    return st;
}

sk_status sk_inproc_join(sk_wire *base, uint32_t epoch, sk_part from, sk_part to, bool block)
{
    sk_inproc_rank *w = (sk_inproc_rank *)base;
    sk_inproc_node *n = w->node;
    sk_status st = sk_inproc_await(base, epoch, 0, -1, block);
    if (st != SK_OK)
        return st;
    const sk_part *other = &n->joined[epoch];
    if (n->joins[epoch]++ == 0)
        n->joined[epoch] = from;
    else if (other->at != from.at || other->len != from.len || other->type != from.type)
        return sk_inproc_complain(
            w->world, "rank %d joins other bytes of epoch %u than the other local ranks", w->rank,
            epoch);
    return sk_inproc_fold(base, epoch, 0, n->n, from, to);
}

/* ---- reading each other's memory: a handle is the index of an export ---- */

void sk_inproc_export(sk_wire *base, sk_part what, void *handle)
{
    sk_inproc_rank *w = (sk_inproc_rank *)base;
    sk_inproc_epochs *t = w->world->epochs;
    if (t->nexports == t->exports_cap) {
        int64_t cap = t->exports_cap ? 2 * t->exports_cap : 16;
        sk_inproc_exported *p = realloc(t->exports, (size_t)cap * sizeof *p);
        if (!p) {
            w->broken = SK_NOMEM;
            return;
        }
        t->exports = p;
        t->exports_cap = cap;
    }
    sk_status st = sk_inproc_may_write(w, (sk_part){handle, SK_EXPORT_BYTES, SK_TYPE_BYTE});
    if (st != SK_OK) {
        w->broken = st;
        return;
    }
    memset(handle, 0, SK_EXPORT_BYTES);
    memcpy(handle, &t->nexports, sizeof t->nexports);
    t->exports[t->nexports++] = (sk_inproc_exported){handle, what.at, what.len};
}

sk_status sk_inproc_read(sk_wire *base, int rank, const void *handle, int64_t at, sk_part to)
{
    sk_inproc_rank *w = (sk_inproc_rank *)base;
    const sk_inproc_epochs *t = w->world->epochs;
    int64_t number;
    sk_status st = sk_inproc_may_read(w, (sk_part){(void *)(uintptr_t)handle, SK_EXPORT_BYTES, 0});
    st = st ? st : sk_inproc_may_write(w, to);
    if (st != SK_OK)
        return st;
    memcpy(&number, handle, sizeof number);
    if (number < 0 || number >= t->nexports || t->exports[number].handle != handle)
        return sk_inproc_complain(w->world, "rank %d reads where rank %d exports nothing", w->rank,
                                  rank);
    const sk_inproc_exported *e = &t->exports[number];
    if (at < 0 || at > e->len || to.len > e->len - at)
        return sk_inproc_complain(w->world, "rank %d reads more than rank %d exports", w->rank,
                                  rank);
    sk_part from = {(void *)(uintptr_t)(e->at + at), to.len, SK_TYPE_BYTE};
    sk_inproc_carry(w->world, &sk_type_byte, from, &w->types[to.type], to, to.len, false);
    return SK_OK;
}

sk_status sk_inproc_quiesce(sk_wire *base, uint32_t epoch, bool block)
{
    (void)block;
    sk_inproc_rank *w = (sk_inproc_rank *)base;
    return all_released(w, epoch + 1) ? SK_OK : wait_for_local_ranks(w);
}

void sk_inproc_release(sk_wire *base, uint32_t epochs)
{
    sk_inproc_rank *w = (sk_inproc_rank *)base;
    w->released = epochs;
    wake_local_ranks(w);
}
