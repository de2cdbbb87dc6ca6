#include "mpi/transport/in_lines.h"

#include "base/attr.h"
#include "mpi/transport/block.h"
#include "shm/epochs.h"

/* An epoch, in registers. */
typedef struct place {
    sk_shm *b;
    sk_shm_line *lines;
    uint64_t *user, value;
    bool open;
} place;

static SK_INLINED place find_lines(const sk_epoch_info *t, sk_shm *b, uint32_t signature)
{
    sk_shm_kind kind = t->all ? SK_SHM_BY_ALL : t->together ? SK_SHM_TOGETHER : SK_SHM_RUN_AHEAD;
    uint32_t line = sk_shm_slot_index(b->ring, b->next, kind);
    sk_shm_begin(b, signature);
    return (place){.b = b,
                   .lines = (sk_shm_line *)(b->ring->mem + line * b->ring->row),
                   .user = &b->user[line],
                   .value = ++b->next};
}

/* sk_shm_open; false: only without `block`, and nothing was done */
static SK_INLINED bool open_line(place *p, bool block)
{
    uint64_t after = *p->user;
    if (!block && p->b->known < after && !sk_shm_released_by_all(p->b, after))
        return false;
    p->open = true;
    *p->user = p->value;
    if (SK_UNLIKELY(p->b->known < after))
        sk_shm_await_slot(p->b, after, p->value);
    return true;
}

static SK_INLINED sk_status post_line(place *p, bool block)
{
    sk_flag *mine = &p->lines[p->b->me].flag;
    if (!p->open && !open_line(p, block))
        return SK_AGAIN;
    atomic_store_explicit(&mine->signature, p->b->signature, memory_order_relaxed);
    sk_flag_set(mine, p->value);
    return SK_OK;
}

static SK_INLINED sk_status await_lines(const place *p, int lo, int hi, bool block)
{
    uint32_t differ = 0;
    for (sk_shm_line *x = p->lines + lo, *end = p->lines + hi; x < end; x++) {
        if (block)
            sk_shm_reach(p->b, &x->flag, p->value);
        else if (!sk_flag_reached(&x->flag, p->value))
            return SK_AGAIN;
        differ |= atomic_load_explicit(&x->flag.signature, memory_order_relaxed) ^ p->b->signature;
    }
    return SK_UNLIKELY(differ) ? SK_TRUNCATE : SK_OK;
}

static SK_INLINED char *at(const place *p, void *const *buf, const sk_span *s, int local_rank)
{
    if (!sk_buf_is_slot(s->buf))
        return (char *)((uintptr_t)buf[s->buf] + (uintptr_t)s->off);
    if (SK_UNLIKELY((s->buf & SK_BUF_MASK) == SK_COMMON))
        local_rank = p->b->n;
    return p->lines[local_rank].slot + s->off;
}

static SK_INLINED sk_status fold_lines(const place *p, const sk_mpi_wire *w, void *const *buf,
                                       const sk_step *st, int lo, int hi, bool block)
{
    const void *in[SK_IN_LINES_RANKS];
    int64_t size = w->types[st->b.type].size, len = st->b.len;
    sk_status got = await_lines(p, lo, hi, block);
    if (got != SK_OK || lo >= hi || !len)
        return got;
    for (int i = lo; i < hi; i++)
        in[i - lo] = p->lines[i].slot + st->a.off;
    w->kernel(at(p, buf, &st->b, p->b->me), in, hi - lo, len == size ? 1 : len / size);
    return SK_OK;
}

static SK_INLINED sk_status do_in_lines(place *p, const sk_mpi_wire *w, void *const *buf,
                                        const sk_step *st, bool block)
{
    int me = p->b->me, n = p->b->n;
    switch (st->kind) {
    case SK_STEP_OPEN:
        return open_line(p, block) ? SK_OK : SK_AGAIN;
    case SK_STEP_COPY:
        sk_block_put(st, at(p, buf, &st->a, me), at(p, buf, &st->b, me));
        return SK_OK;
    case SK_STEP_POST:
        return post_line(p, block);
    case SK_STEP_TAKE: {
        bool all = st->peer < 0;
        int from = all ? me : w->local_rank[st->peer];
        sk_status got = await_lines(p, all ? 0 : from, all ? n : from + 1, block);
        return got != SK_OK ? got
                            : sk_block_take(st, at(p, buf, &st->a, from), at(p, buf, &st->b, me));
    }
    case SK_STEP_AWAIT:
        return await_lines(p, st->lo, st->hi < 0 ? n : st->hi, block);
    case SK_STEP_FOLD:
        return fold_lines(p, w, buf, st, st->lo, st->hi, block);
    default: /* SK_STEP_JOIN */
        return fold_lines(p, w, buf, st, 0, n, block);
    }
}

sk_status sk_in_lines_run(const struct sk_sched_view *v, sk_mpi_wire *w, void *send, void *recv)
{
    void *buf[] = {send, recv};
    place p = find_lines(v->epochs, w->shm, w->signature);
    sk_status status = SK_OK;
    for (const sk_step *st = v->steps, *end = st + v->nsteps; st < end; st++) {
        sk_status got = do_in_lines(&p, w, buf, st, true);
        if (SK_UNLIKELY(got != SK_OK) && status == SK_OK)
            status = got;
    }
    sk_shm_release(p.b, v->nepochs);
    return status;
}

/* The run goes on elsewhere, which asks the shared memory for the epoch. */
static void hand_over(const place *p, const sk_epoch_info *t)
{
    p->b->next--;
    sk_shm_epoch(p->b, t->slot_bytes, t->all, t->together);
    sk_shm_state(p->b, 0)->open = p->open;
}

sk_status sk_in_lines_begin(sk_run *r)
{
    const struct sk_sched_view *v = r->sched;
    sk_mpi_wire *w = (sk_mpi_wire *)r->wire;
    place p = find_lines(v->epochs, w->shm, w->signature);
    w->placed = 1;
    for (const sk_step *st = v->steps, *end = st + v->nsteps; st < end; st++) {
        sk_status got = do_in_lines(&p, w, r->buf, st, false);
        if (got == SK_AGAIN) {
            r->step = (uint32_t)(st - v->steps);
            hand_over(&p, v->epochs);
            return got;
        }
        if (SK_UNLIKELY(got != SK_OK) && r->status == SK_OK)
            r->status = got;
    }
    return SK_OK;
}
