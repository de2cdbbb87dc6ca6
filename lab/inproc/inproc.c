/* inproc.c: messages and runs of the in-process wire. Each pair of ranks has a queue of sends or of
 * receives that wait for their counterpart. Ranks that can go on are in one ready queue, so a run
 * costs time for its messages, not for polling. */
#include "lab/inproc/inproc.h"

#include <stdlib.h>
#include <string.h>

#include "lab/inproc/inproc_inner.h"

typedef struct inproc_transfer {
    sk_part part;
    int64_t *got;
    uint32_t pair;
    uint32_t next; /* index + 1, as everywhere here: 0 is none */
    bool send, intra, live;
} inproc_transfer;

typedef struct inproc_queue {
    uint32_t first, last;
} inproc_queue;

static void end_transfer(sk_inproc *l, sk_inproc_rank *w)
{
    if (--w->open == 0)
        sk_inproc_wake(l, w);
}

static void match(sk_inproc *l, int src, sk_part from, int dst, sk_part to, int64_t *got)
{
    sk_inproc_rank *s = &l->wires[src], *d = &l->wires[dst];
    int64_t len = from.len < to.len ? from.len : to.len;
    sk_status st = SK_OK;
    if (from.len > to.len)
        st = SK_TRUNCATE;
    else if (from.len < to.len && !got)
        st = SK_WIRE;
    if (st && !d->status)
        d->status = st;
    if (l->hooks.match)
        l->hooks.match(l->hooks.ctx, src, dst, len);
    sk_inproc_carry(l, &s->types[from.type], from, &d->types[to.type], to, len, false);
    if (got)
        *got = len;
    l->messages++;
    end_transfer(l, s);
    end_transfer(l, d);
}

static inproc_transfer *pool_take(sk_inproc *l, uint32_t *index)
{
    if (l->pool_free) {
        *index = l->pool_free;
        l->pool_free = l->pool[*index - 1].next;
    } else {
        if (l->pool_used == l->pool_cap) {
            uint32_t cap = l->pool_cap ? 2 * l->pool_cap : 64;
            inproc_transfer *p = realloc(l->pool, cap * sizeof *p);
            if (!p)
                return NULL;
            l->pool = p;
            l->pool_cap = cap;
        }
        *index = ++l->pool_used;
    }
    return &l->pool[*index - 1];
}

static sk_status post(sk_inproc_rank *w, int src, int dst, inproc_transfer mine)
{
    sk_inproc *l = w->world;
    sk_inproc_next_round(w);
    sk_status ok = mine.send ? sk_inproc_may_read(w, mine.part) : sk_inproc_may_write(w, mine.part);
    if (ok != SK_OK)
        return ok;
    if (src < 0 || src >= l->nranks || dst < 0 || dst >= l->nranks)
        return SK_BADARG;
    if (mine.intra && (!w->node || l->wires[src].node != l->wires[dst].node))
        return sk_inproc_complain(l, "ranks %d and %d are on different nodes", src, dst);
    mine.pair = (uint32_t)dst * (uint32_t)l->nranks + (uint32_t)src;
    mine.live = true;
    inproc_queue *q = &l->pairs[mine.pair];
    uint32_t index = q->first;
    if (index && l->pool[index - 1].send != mine.send) {
        inproc_transfer other = l->pool[index - 1];
        if (other.intra != mine.intra)
            return sk_inproc_complain(
                l, "a message from rank %d to rank %d is through shared memory at one end only",
                src, dst);
        q->first = other.next;
        l->pool[index - 1].next = l->pool_free;
        l->pool[index - 1].live = false;
        l->pool_free = index;
        w->open++;
        if (mine.send)
            match(l, src, mine.part, dst, other.part, other.got);
        else
            match(l, src, other.part, dst, mine.part, mine.got);
        return SK_OK;
    }
    inproc_transfer *entry = pool_take(l, &index);
    if (!entry)
        return SK_NOMEM;
    *entry = mine;
    if (q->first)
        l->pool[q->last - 1].next = index;
    else
        q->first = index;
    q->last = index;
    w->open++;
    return SK_OK;
}

static sk_status op_send(sk_wire *w, sk_part from, int peer)
{
    sk_inproc_rank *lw = (sk_inproc_rank *)w;
    return post(lw, lw->rank, peer, (inproc_transfer){.part = from, .send = true});
}

static sk_status op_recv(sk_wire *w, sk_part to, int peer, int64_t *got)
{
    sk_inproc_rank *lw = (sk_inproc_rank *)w;
    return post(lw, peer, lw->rank, (inproc_transfer){.part = to, .got = got});
}

static sk_status intra_send(sk_wire *w, sk_part from, int peer)
{
    sk_inproc_rank *lw = (sk_inproc_rank *)w;
    return post(lw, lw->rank, peer, (inproc_transfer){.part = from, .send = true, .intra = true});
}

static sk_status intra_recv(sk_wire *w, sk_part to, int peer)
{
    sk_inproc_rank *lw = (sk_inproc_rank *)w;
    return post(lw, peer, lw->rank, (inproc_transfer){.part = to, .intra = true});
}

/* Never waits, whatever `block` says: the other ranks live in the same thread. */
static sk_status op_finish(sk_wire *w, bool block)
{
    (void)block;
    sk_inproc_rank *lw = (sk_inproc_rank *)w;
    if (lw->open)
        return SK_AGAIN;
    lw->fresh = true;
    sk_inproc_next_round(lw);
    sk_status st = lw->status;
    lw->status = SK_OK;
    return st;
}

static sk_status op_copy(sk_wire *w, sk_part from, sk_part to)
{
    sk_inproc_rank *lw = (sk_inproc_rank *)w;
    if (from.len != to.len)
        return SK_BADARG;
    sk_status ok = sk_inproc_may_read(lw, from);
    ok = ok ? ok : sk_inproc_may_write(lw, to);
    if (ok != SK_OK)
        return ok;
    sk_inproc_carry(lw->world, &lw->types[from.type], from, &lw->types[to.type], to, to.len, false);
    return SK_OK;
}

static sk_status op_reduce(sk_wire *w, sk_part in, sk_part inout)
{
    sk_inproc_rank *lw = (sk_inproc_rank *)w;
    if (in.len != inout.len || in.type != inout.type || !lw->world->hooks.reduce)
        return SK_BADARG;
    sk_status ok = sk_inproc_may_read(lw, in);
    ok = ok ? ok : sk_inproc_may_read(lw, inout);
    ok = ok ? ok : sk_inproc_may_write(lw, inout);
    if (ok != SK_OK)
        return ok;
    sk_inproc_carry(lw->world, &lw->types[in.type], in, &lw->types[in.type], inout, in.len, true);
    return SK_OK;
}

sk_inproc *sk_inproc_new(int nranks, const sk_inproc_hooks *hooks)
{
    sk_inproc *l = nranks > 0 ? calloc(1, sizeof *l) : NULL;
    if (!l)
        return NULL;
    size_t n = (size_t)nranks;
    l->nranks = nranks;
    if (hooks)
        l->hooks = *hooks;
    l->wires = calloc(n, sizeof *l->wires);
    l->pairs = calloc(n * n, sizeof *l->pairs);
    l->ready = calloc(n, sizeof *l->ready);
    if (!l->wires || !l->pairs || !l->ready) {
        sk_inproc_free(l);
        return NULL;
    }
    return l;
}

void sk_inproc_free(sk_inproc *l)
{
    if (!l)
        return;
    free(l->wires);
    free(l->pairs);
    free(l->pool);
    free(l->ready);
    free(l);
}

sk_wire *sk_inproc_wire(sk_inproc *l, int rank, const sk_type *types)
{
    static const sk_wire_ops ops = {
        .send = op_send,
        .recv = op_recv,
        .finish = op_finish,
        .copy = op_copy,
        .reduce = op_reduce,
        .open = sk_inproc_open,
        .slot = sk_inproc_slot,
        .post = sk_inproc_post,
        .export = sk_inproc_export,
        .await = sk_inproc_await,
        .await_rank = sk_inproc_await_rank,
        .fold = sk_inproc_fold,
        .join = sk_inproc_join,
        .read = sk_inproc_read,
        .quiesce = sk_inproc_quiesce,
        .release = sk_inproc_release,
    };
    static const sk_intra_ops intra = {.send = intra_send, .recv = intra_recv};
    l->wires[rank] = (sk_inproc_rank){
        .wire.ops = &ops, .wire.intra = &intra, .world = l, .types = types, .rank = rank};
    return &l->wires[rank].wire;
}

static void sweep(sk_inproc *l)
{
    for (uint32_t i = 0; i < l->pool_used; i++)
        if (l->pool[i].live)
            l->pairs[l->pool[i].pair] = (inproc_queue){0};
    l->pool_used = l->pool_free = 0;
    for (int r = 0; r < l->nranks; r++) {
        l->wires[r].open = 0;
        l->wires[r].status = SK_OK;
    }
}

sk_status sk_inproc_run(sk_inproc *l, sk_run *runs)
{
    l->messages = 0;
    l->stuck = l->nranks;
    l->why[0] = '\0';
    sk_status st = sk_inproc_begin_epochs(l, runs);
    if (st != SK_OK)
        return st;
    for (int r = 0; r < l->nranks; r++)
        sk_inproc_wake(l, &l->wires[r]);
    while (l->ready_count) {
        int r = l->ready[l->ready_first];
        l->ready_first = (l->ready_first + 1) % l->nranks;
        l->ready_count--;
        l->wires[r].queued = false;
        bool over = runs[r].round == runs[r].sched->nrounds && runs[r].sched->nrounds;
        if (!over && sk_run_poll(&runs[r]) != SK_AGAIN) {
            sk_inproc_next_round(&l->wires[r]);
            runs[r].status = runs[r].status ? runs[r].status : l->wires[r].broken;
            l->stuck--;
        }
    }
    sk_inproc_end_epochs(l, runs);
    for (int r = 0; r < l->nranks && !st; r++)
        st = runs[r].status;
    sweep(l);
    return st || !l->stuck ? st : SK_DEADLOCK;
}

int sk_inproc_stuck(const sk_inproc *l)
{
    return l->stuck;
}

const char *sk_inproc_why(const sk_inproc *l)
{
    return l->why;
}

int64_t sk_inproc_messages(const sk_inproc *l)
{
    return l->messages;
}
