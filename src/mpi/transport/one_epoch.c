#include "mpi/transport/one_epoch.h"

#include "mpi/transport/move.h"
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

enum { FEW = 16 }; /* local ranks */

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
    w->in_lines = in_lines && sk_shm_nlocal(w->shm) <= FEW;
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
    char *to = address(b, buf, &st->b, sk_shm_me(b));
    if (st->lo)
        memcpy(to - SK_LENGTH_BYTES, &st->b.len, SK_LENGTH_BYTES);
    sk_move(to, address(b, buf, &st->a, sk_shm_me(b)), (size_t)st->b.len);
}

/* The block may be shorter than there is room, or too long. */
static inline sk_status take(const sk_step *st, const char *from, char *to)
{
    int64_t len = st->b.len;
    if (st->lo) {
        memcpy(&len, from - SK_LENGTH_BYTES, SK_LENGTH_BYTES);
        if (len > st->b.len)
            return SK_TRUNCATE;
    }
    if (len > 0)
        sk_move(to, from, (size_t)len);
    return SK_OK;
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
static inline __attribute__((always_inline)) sk_status do_step(sk_mpi_wire *w, void *const *buf,
                                                               const sk_step *st, bool block)
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
        return take(st, address(b, buf, &st->a, all ? sk_shm_me(b) : lo),
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

static inline __attribute__((always_inline)) void begin(const struct sk_sched_view *v,
                                                        sk_mpi_wire *w)
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

/* ---- slots in the lines of their flags, and a core for every rank ---- */

/* An epoch, in registers. */
typedef struct place {
    sk_shm *b;
    sk_shm_line *lines;
    uint64_t *user, value;
    bool open;
} place;

static inline __attribute__((always_inline)) place find_lines(const sk_epoch_info *t, sk_shm *b,
                                                              uint32_t signature)
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
static inline __attribute__((always_inline)) bool open_line(place *p, bool block)
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

static inline __attribute__((always_inline)) sk_status post_line(place *p, bool block)
{
    sk_flag *mine = &p->lines[p->b->me].flag;
    if (!p->open && !open_line(p, block))
        return SK_AGAIN;
    atomic_store_explicit(&mine->signature, p->b->signature, memory_order_relaxed);
    sk_flag_set(mine, p->value);
    return SK_OK;
}

static inline __attribute__((always_inline)) sk_status await_lines(const place *p, int lo, int hi,
                                                                   bool block)
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

static inline __attribute__((always_inline)) char *at(const place *p, void *const *buf,
                                                      const sk_span *s, int local_rank)
{
    if (!sk_buf_is_slot(s->buf))
        return (char *)((uintptr_t)buf[s->buf] + (uintptr_t)s->off);
    if (SK_UNLIKELY((s->buf & SK_BUF_MASK) == SK_COMMON))
        local_rank = p->b->n;
    return p->lines[local_rank].slot + s->off;
}

static inline __attribute__((always_inline)) sk_status
fold_lines(const place *p, const sk_mpi_wire *w, void *const *buf, const sk_step *st, int lo,
           int hi, bool block)
{
    const void *in[FEW];
    int64_t size = w->types[st->b.type].size, len = st->b.len;
    sk_status got = await_lines(p, lo, hi, block);
    if (got != SK_OK || lo >= hi || !len)
        return got;
    for (int i = lo; i < hi; i++)
        in[i - lo] = p->lines[i].slot + st->a.off;
    w->kernel(at(p, buf, &st->b, p->b->me), in, hi - lo, len == size ? 1 : len / size);
    return SK_OK;
}

/* do_step */
static inline __attribute__((always_inline)) sk_status
do_in_lines(place *p, const sk_mpi_wire *w, void *const *buf, const sk_step *st, bool block)
{
    int me = p->b->me, n = p->b->n;
    switch (st->kind) {
    case SK_STEP_OPEN:
        return open_line(p, block) ? SK_OK : SK_AGAIN;
    case SK_STEP_COPY: {
        char *to = at(p, buf, &st->b, me);
        if (st->lo)
            memcpy(to - SK_LENGTH_BYTES, &st->b.len, SK_LENGTH_BYTES);
        sk_move(to, at(p, buf, &st->a, me), (size_t)st->b.len);
        return SK_OK;
    }
    case SK_STEP_POST:
        return post_line(p, block);
    case SK_STEP_TAKE: {
        bool all = st->peer < 0;
        int from = all ? me : w->local_rank[st->peer];
        sk_status got = await_lines(p, all ? 0 : from, all ? n : from + 1, block);
        return got != SK_OK ? got : take(st, at(p, buf, &st->a, from), at(p, buf, &st->b, me));
    }
    case SK_STEP_AWAIT:
        return await_lines(p, st->lo, st->hi < 0 ? n : st->hi, block);
    case SK_STEP_FOLD:
        return fold_lines(p, w, buf, st, st->lo, st->hi, block);
    default: /* SK_STEP_JOIN */
        return fold_lines(p, w, buf, st, 0, n, block);
    }
}

SK_HOT __attribute__((noinline)) static sk_status
run_in_lines(const struct sk_sched_view *v, sk_mpi_wire *w, void *send, void *recv)
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

SK_HOT __attribute__((noinline)) static sk_status begin_in_lines(sk_run *r)
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
    return run_over(r, w, v);
}

/* ---- any ---- */

sk_status sk_one_epoch_run(const struct sk_sched_view *v, sk_mpi_wire *w, void *send, void *recv)
{
    if (w->in_lines && !sk_shm_cores_shared(w->shm))
        return run_in_lines(v, w, send, recv);
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
        return begin_in_lines(r);
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
