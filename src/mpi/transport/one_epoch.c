#include "mpi/transport/one_epoch.h"

#include "base/attr.h"
#include "mpi/transport/block.h"
#include "mpi/transport/in_lines.h"
#include "mpi/transport/shm_wire.h"
#include "shm/epochs.h"

static bool in_first(const sk_span *s)
{
    return !sk_buf_is_slot(s->buf) || sk_buf_epoch(s->buf) == 0;
}

static bool step_fits(const sk_step *st)
{
    switch (st->kind) {
    case SK_STEP_COPY:
        return in_first(&st->a) && in_first(&st->b);
    case SK_STEP_OPEN:
    case SK_STEP_POST:
    case SK_STEP_TAKE:
    case SK_STEP_AWAIT:
    case SK_STEP_FOLD:
    case SK_STEP_JOIN:
        return st->packet == 0;
    default:
        return false;
    }
}

static bool folds(const sk_step *st)
{
    return st->kind == SK_STEP_FOLD || st->kind == SK_STEP_JOIN;
}

bool sk_one_epoch_fits(const struct sk_sched_view *v, sk_mpi_wire *w)
{
    w->in_lines = false;
    if (!v->straight || v->scratch || v->max_transfers || !w->contig)
        return false;
    bool in_lines = v->nsteps && v->epochs->slot_bytes <= SK_SHM_INLINE;
    for (uint32_t i = 0; i < v->nsteps; i++) {
        if (!step_fits(&v->steps[i]))
            return false;
        in_lines = in_lines && (w->kernel || !folds(&v->steps[i]));
    }
    w->in_lines = in_lines && sk_shm_nlocal(w->shm) <= SK_IN_LINES_RANKS;
    return true;
}

/* The address of a span; in a slot: of this local rank, or the common one. */
static inline char *address(sk_shm *b, void *const *buf, const sk_span *s, int local_rank)
{
    if (!sk_buf_is_slot(s->buf))
        return (char *)((uintptr_t)buf[s->buf] + (uintptr_t)s->off);
    if (SK_UNLIKELY((s->buf & SK_BUF_MASK) == SK_COMMON))
        local_rank = sk_shm_nlocal(b);
    return (char *)sk_shm_slot(b, 0, local_rank) + s->off;
}

static inline void copy(sk_shm *b, void *const *buf, const sk_step *st)
{
    sk_block_put(st, address(b, buf, &st->a, sk_shm_me(b)), address(b, buf, &st->b, sk_shm_me(b)));
}

static inline sk_part part(sk_shm *b, void *const *buf, const sk_span *s)
{
    return (sk_part){address(b, buf, s, sk_shm_me(b)), s->len, s->type};
}

static inline sk_part in_slots(const sk_span *s)
{
    return (sk_part){(void *)s->off, s->len, s->type};
}

/* SK_AGAIN: only without `block`, and nothing was done. */
static SK_INLINED sk_status do_step(sk_mpi_wire *w, void *const *buf, const sk_step *st, bool block)
{
    sk_shm *b = w->shm;
    switch (st->kind) {
    case SK_STEP_OPEN:
        if (!block && !sk_shm_may_open(b, 0))
            return SK_AGAIN;
        sk_shm_open(b, 0);
        return SK_OK;
    case SK_STEP_COPY:
        copy(b, buf, st);
        return SK_OK;
    case SK_STEP_POST:
        if (!block && !sk_shm_may_open(b, 0))
            return SK_AGAIN;
        sk_shm_post(b, 0);
        return SK_OK;
    case SK_STEP_TAKE: {
        bool all = st->peer < 0;
        int lo = all ? 0 : w->local_rank[st->peer], hi = all ? sk_shm_nlocal(b) : lo + 1;
        if (!block && !sk_shm_has_range(b, 0, lo, hi))
            return SK_AGAIN;
        if (all ? !sk_shm_await_range(b, 0, lo, hi) : !sk_shm_await(b, 0, lo))
            return SK_TRUNCATE;
        return sk_block_take(st, address(b, buf, &st->a, all ? sk_shm_me(b) : lo),
                             address(b, buf, &st->b, sk_shm_me(b)));
    }
    case SK_STEP_AWAIT:
        return sk_shm_wire_await(&w->base, 0, st->lo, st->hi, block);
    case SK_STEP_FOLD: {
        sk_status got = sk_shm_wire_await(&w->base, 0, st->lo, st->hi, block);
        return got != SK_OK ? got
                            : sk_shm_wire_fold(&w->base, 0, st->lo, st->hi, in_slots(&st->a),
                                               part(b, buf, &st->b));
    }
    default: /* SK_STEP_JOIN */
        return sk_shm_wire_join(&w->base, 0, in_slots(&st->a), part(b, buf, &st->b), block);
    }
}

static SK_INLINED void begin(const struct sk_sched_view *v, sk_mpi_wire *w)
{
    sk_shm_begin(w->shm, w->signature);
    w->placed = 1;
    if (v->nsteps) /* else only the others use it */
        sk_shm_epoch(w->shm, v->epochs->slot_bytes, v->epochs->all, v->epochs->together);
}

static inline sk_status run_over(sk_run *r, sk_mpi_wire *w, const struct sk_sched_view *v)
{
    sk_shm_release(w->shm, r->released = v->nepochs);
    r->step = v->nsteps;
    r->round = v->nrounds;
    return r->status;
}

sk_status sk_one_epoch_run(const struct sk_sched_view *v, sk_mpi_wire *w, void *send, void *recv)
{
    if (w->in_lines && !sk_shm_cores_shared(w->shm))
        return sk_in_lines_run(v, w, send, recv);
    void *buf[] = {send, recv};
    sk_status status = SK_OK;
    begin(v, w);
    for (const sk_step *st = v->steps, *end = st + v->nsteps; st < end; st++) {
        sk_status got = do_step(w, buf, st, true);
        if (SK_UNLIKELY(got != SK_OK) && status == SK_OK)
            status = got;
    }
    sk_shm_release(w->shm, v->nepochs);
    return status;
}

sk_status sk_one_epoch_begin(sk_run *r)
{
    const struct sk_sched_view *v = r->sched;
    sk_mpi_wire *w = (sk_mpi_wire *)r->wire;
    if (w->in_lines && !sk_shm_cores_shared(w->shm))
        return sk_in_lines_begin(r) == SK_AGAIN ? SK_AGAIN : run_over(r, w, v);
    begin(v, w);
    for (const sk_step *st = v->steps, *end = st + v->nsteps; st < end; st++) {
        sk_status got = do_step(w, r->buf, st, false);
        if (got == SK_AGAIN) {
            r->step = (uint32_t)(st - v->steps);
            return got;
        }
        if (SK_UNLIKELY(got != SK_OK) && r->status == SK_OK)
            r->status = got;
    }
    return run_over(r, w, v);
}
