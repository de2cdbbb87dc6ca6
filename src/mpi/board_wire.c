/* board_wire.c: the steps of a turn over a board. Only blocking calls have turns, so all of this
 * may wait. */
#include "mpi/board_wire.h"

#include <string.h>

#include "shm/epochs.h"
#include "shm/cma.h"
#include "exec/epoch_steps.h"

static const sk_near_ops near_ops;

/* Here, in straight schedules; elsewhere these are called. */
#define INLINED inline __attribute__((always_inline))

void sk_mpi_wire_board(sk_mpi_wire *w, sk_board *b, const sk_machine *m,
                       const struct sk_sched_view *v, uint32_t sign)
{
    w->base.near = &near_ops;
    w->board = b;
    w->mate = m->mate;
    w->turns = v->turns;
    w->sign = sign;
    w->contig = true;
    for (uint32_t i = 0; i < v->ntypes; i++)
        w->contig = w->contig && v->types[i].contig;
}

INLINED void sk_mpi_wire_begin(sk_mpi_wire *w)
{
    w->placed = 0;
    sk_board_begin(w->board, w->sign);
}

/* Turns are placed in order, when first used: those that this rank passes without any use need no
 * place. */
SK_HOT static __attribute__((noinline)) void place_turns(sk_mpi_wire *w, uint32_t turn)
{
    for (; w->placed <= turn; w->placed++) {
        const sk_turn_room *t = &w->turns[w->placed];
        sk_board_turn(w->board, t->room, t->all, t->together);
    }
}

INLINED static sk_board *placed(sk_wire *base, uint32_t turn)
{
    sk_mpi_wire *w = (sk_mpi_wire *)base;
    if (w->placed <= turn)
        place_turns(w, turn);
    return w->board;
}

INLINED sk_status sk_board_wire_open(sk_wire *base, uint32_t turn, bool block)
{
    (void)block;
    sk_board_open(placed(base, turn), turn);
    return SK_OK;
}

INLINED void *sk_board_wire_bay(sk_wire *base, uint32_t buf, int owner)
{
    sk_mpi_wire *w = (sk_mpi_wire *)base;
    uint32_t turn = sk_buf_turn(buf);
    int mate = owner < 0 ? sk_board_me(w->board) : w->mate[owner];
    if ((buf & SK_BUF_MASK) == SK_COMMON)
        mate = sk_board_mates(w->board);
    return sk_board_bay(placed(base, turn), turn, mate);
}

INLINED void sk_board_wire_publish(sk_wire *base, uint32_t turn)
{
    sk_board_publish(placed(base, turn), turn);
}

INLINED sk_status sk_board_wire_await(sk_wire *base, uint32_t turn, int lo, int hi, bool block)
{
    (void)block;
    sk_board *b = placed(base, turn);
    return sk_board_await_range(b, turn, lo, hi < 0 ? sk_board_mates(b) : hi) ? SK_OK : SK_TRUNCATE;
}

INLINED sk_status sk_board_wire_await_rank(sk_wire *base, uint32_t turn, int rank, bool block)
{
    (void)block;
    int mate = ((sk_mpi_wire *)base)->mate[rank];
    return sk_board_await(placed(base, turn), turn, mate) ? SK_OK : SK_TRUNCATE;
}

/* ---- reductions ---- */

static char *in_bay(const sk_mpi_wire *w, uint32_t turn, int mate, sk_part bay)
{
    return (char *)sk_board_bay(w->board, turn, mate) + (intptr_t)bay.at;
}

static void fold_by_kernel(const sk_mpi_wire *w, uint32_t turn, int lo, int hi, sk_part bay,
                           sk_part to)
{
    enum { BATCH = 64 };
    const void *in[BATCH];
    int n = 0;
    int64_t count = to.len / w->types[to.type].size;
    for (int i = lo; i < hi; i++) {
        in[n++] = in_bay(w, turn, i, bay);
        if (n == BATCH || i == hi - 1) {
            w->kernel(to.at, in, n, count);
            in[0] = to.at;
            n = 1;
        }
    }
}

static sk_status fold_by_host(sk_mpi_wire *w, uint32_t turn, int lo, int hi, sk_part bay,
                              sk_part to)
{
    const sk_wire_ops *ops = w->base.ops;
    bay.len = to.len;
    sk_part in = {in_bay(w, turn, hi - 1, bay), to.len, to.type};
    sk_status st = ops->copy(&w->base, in, to);
    for (int i = hi - 2; i >= lo && st == SK_OK; i--) {
        in.at = in_bay(w, turn, i, bay);
        st = ops->reduce(&w->base, in, to);
    }
    return st;
}

sk_status sk_board_wire_fold(sk_wire *base, uint32_t turn, int lo, int hi, sk_part bay, sk_part to)
{
    sk_mpi_wire *w = (sk_mpi_wire *)base;
    if (lo >= hi || !to.len)
        return SK_OK;
    if (!w->kernel)
        return fold_by_host(w, turn, lo, hi, bay, to);
    fold_by_kernel(w, turn, lo, hi, bay, to);
    return SK_OK;
}

sk_status sk_board_wire_join(sk_wire *base, uint32_t turn, sk_part bay, sk_part to, bool block)
{
    (void)block;
    sk_mpi_wire *w = (sk_mpi_wire *)base;
    sk_board *b = placed(base, turn);
    int n = sk_board_mates(b);
    if (!sk_board_crowded(b)) {
        if (!sk_board_await_range(b, turn, 0, n))
            return SK_TRUNCATE;
        return sk_board_wire_fold(base, turn, 0, n, bay, to);
    }
    sk_part result = {in_bay(w, turn, n, bay), to.len, to.type};
    sk_status st = SK_OK;
    if (sk_board_was_last(b, turn)) {
        st = sk_board_wire_fold(base, turn, 0, n, bay, result);
        sk_board_announce(b, turn);
    } else
        sk_board_await_result(b, turn);
    return st ? st : base->ops->copy(base, result, to);
}

/* ---- reading each other's memory ---- */

_Static_assert(sizeof(sk_peek_place) == SK_PLACE, "a place in a bay holds a place in memory");

void sk_board_wire_expose(sk_wire *base, sk_part what, void *place)
{
    (void)base;
    sk_peek_place here = sk_peek_here(what.at);
    memcpy(place, &here, sizeof here);
}

sk_status sk_board_wire_read(sk_wire *base, int rank, const void *place, int64_t at, sk_part to)
{
    (void)rank;
    sk_peek_place there;
    memcpy(&there, place, sizeof there);
    sk_status st = sk_peek(there, at, to.at, to.len);
    if (st != SK_OK)
        ((sk_mpi_wire *)base)->error = MPI_ERR_OTHER;
    return st;
}

sk_status sk_board_wire_settle(sk_wire *base, uint32_t turn, bool block)
{
    (void)block;
    sk_board_settle(((sk_mpi_wire *)base)->board, turn);
    return SK_OK;
}

INLINED void sk_board_wire_pass(sk_wire *base, uint32_t turns)
{
    sk_mpi_wire *w = (sk_mpi_wire *)base;
    if (w->placed < turns)
        w->placed = turns;
    sk_board_pass(w->board, turns);
}

/* ---- beside the host's messages ---- */

static sk_status near_send(sk_wire *base, sk_part from, int peer)
{
    sk_mpi_wire *w = (sk_mpi_wire *)base;
    sk_board_send(w->board, w->mate[peer], from.at, from.len);
    return SK_OK;
}

static sk_status near_recv(sk_wire *base, sk_part to, int peer)
{
    sk_mpi_wire *w = (sk_mpi_wire *)base;
    sk_board_recv(w->board, w->mate[peer], to.at, to.len);
    return SK_OK;
}

static sk_status near_finish(sk_wire *base)
{
    return sk_board_finish(((sk_mpi_wire *)base)->board) ? SK_OK : SK_TRUNCATE;
}

/* ---- straight schedules ---- */

/* Short ones without a call; all is read before anything is written. */
INLINED static void move(char *to, const char *from, size_t n)
{
    uint64_t head, tail;
    if (n < sizeof head || n > 2 * sizeof head) {
        memmove(to, from, n);
        return;
    }
    memcpy(&head, from, sizeof head);
    memcpy(&tail, from + n - sizeof tail, sizeof tail);
    memcpy(to, &head, sizeof head);
    memcpy(to + n - sizeof tail, &tail, sizeof tail);
}

/* Apart, with words for arguments: parts would be put in memory before it is known who wants them.
 */
__attribute__((noinline)) static sk_status copy_typed(sk_wire *base, void *from, uint32_t from_type,
                                                      void *to, uint32_t to_type, int64_t len)
{
    return base->ops->copy(base, (sk_part){from, len, from_type}, (sk_part){to, len, to_type});
}

INLINED static sk_status copy(sk_wire *base, sk_part from, sk_part to)
{
    if (!((sk_mpi_wire *)base)->contig)
        return copy_typed(base, from.at, from.type, to.at, to.type, from.len);
    move(to.at, from.at, (size_t)from.len);
    return SK_OK;
}

static sk_status reduce(sk_wire *base, sk_part in, sk_part inout)
{
    return base->ops->reduce(base, in, inout);
}

static const sk_wire_ops inlined = {
    .copy = copy,
    .reduce = reduce,
    .open = sk_board_wire_open,
    .bay = sk_board_wire_bay,
    .publish = sk_board_wire_publish,
    .expose = sk_board_wire_expose,
    .await = sk_board_wire_await,
    .await_rank = sk_board_wire_await_rank,
    .fold = sk_board_wire_fold,
    .join = sk_board_wire_join,
    .read = sk_board_wire_read,
    .settle = sk_board_wire_settle,
    .pass = sk_board_wire_pass,
};

sk_status sk_board_wire_straight(sk_run *r)
{
    sk_mpi_wire_begin((sk_mpi_wire *)r->wire);
    return sk_turn_straight(r, &inlined);
}

static const sk_near_ops near_ops = {.send = near_send, .recv = near_recv, .finish = near_finish};
