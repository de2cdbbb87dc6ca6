/* shm_wire.c: the steps of an epoch in the node's shared memory. */
#include "mpi/transport/shm_wire.h"

#include <string.h>

#include "base/attr.h"
#include "exec/epoch_steps.h"
#include "mpi/transport/move.h"
#include "shm/cma.h"
#include "shm/epochs.h"

static const sk_intra_ops intra_ops;

void sk_mpi_wire_shm(sk_mpi_wire *w, sk_shm *b, const sk_machine *m, const struct sk_sched_view *v,
                     uint32_t signature)
{
    w->base.intra = &intra_ops;
    w->shm = b;
    w->local_rank = m->local_rank;
    w->epochs = v->epochs;
    w->signature = signature;
    w->contig = true;
    for (uint32_t i = 0; i < v->ntypes; i++)
        w->contig = w->contig && v->types[i].contig;
}

/* These are inlined into straight schedules (below); elsewhere they are called. */
SK_INLINED void sk_mpi_wire_begin(sk_mpi_wire *w)
{
    w->placed = 0;
    sk_shm_begin(w->shm, w->signature);
}

/* Epochs are announced in order, when first used. Those that this rank releases without using them
 * need not be announced. */
SK_HOT static __attribute__((noinline)) void place_epochs(sk_mpi_wire *w, uint32_t epoch)
{
    for (; w->placed <= epoch; w->placed++) {
        const sk_epoch_info *t = &w->epochs[w->placed];
        sk_shm_epoch(w->shm, t->slot_bytes, t->all, t->together);
    }
}

SK_INLINED static sk_shm *placed(sk_wire *base, uint32_t epoch)
{
    sk_mpi_wire *w = (sk_mpi_wire *)base;
    if (w->placed <= epoch)
        place_epochs(w, epoch);
    return w->shm;
}

SK_INLINED sk_status sk_shm_wire_open(sk_wire *base, uint32_t epoch, bool block)
{
    sk_shm *b = placed(base, epoch);
    if (!block && !sk_shm_may_open(b, epoch))
        return SK_AGAIN;
    sk_shm_open(b, epoch);
    return SK_OK;
}

SK_INLINED void *sk_shm_wire_slot(sk_wire *base, uint32_t buf, int owner)
{
    sk_mpi_wire *w = (sk_mpi_wire *)base;
    uint32_t epoch = sk_buf_epoch(buf);
    int local_rank = owner < 0 ? sk_shm_me(w->shm) : w->local_rank[owner];
    if ((buf & SK_BUF_MASK) == SK_COMMON)
        local_rank = sk_shm_nlocal(w->shm);
    return sk_shm_slot(placed(base, epoch), epoch, local_rank);
}

SK_INLINED sk_status sk_shm_wire_post(sk_wire *base, uint32_t epoch, bool block)
{
    sk_shm *b = placed(base, epoch);
    if (!block && !sk_shm_may_open(b, epoch))
        return SK_AGAIN;
    sk_shm_post(b, epoch);
    return SK_OK;
}

SK_INLINED sk_status sk_shm_wire_await(sk_wire *base, uint32_t epoch, int lo, int hi, bool block)
{
    sk_shm *b = placed(base, epoch);
    hi = hi < 0 ? sk_shm_nlocal(b) : hi;
    if (!block && !sk_shm_has_range(b, epoch, lo, hi))
        return SK_AGAIN;
    return sk_shm_await_range(b, epoch, lo, hi) ? SK_OK : SK_TRUNCATE;
}

SK_INLINED sk_status sk_shm_wire_await_rank(sk_wire *base, uint32_t epoch, int rank, bool block)
{
    int local_rank = ((sk_mpi_wire *)base)->local_rank[rank];
    sk_shm *b = placed(base, epoch);
    if (!block && !sk_shm_has_range(b, epoch, local_rank, local_rank + 1))
        return SK_AGAIN;
    return sk_shm_await(b, epoch, local_rank) ? SK_OK : SK_TRUNCATE;
}

/* ---- reductions ---- */

static char *in_slot(const sk_mpi_wire *w, uint32_t epoch, int local_rank, sk_part slot)
{
    return (char *)sk_shm_slot(w->shm, epoch, local_rank) + (intptr_t)slot.at;
}

static void fold_by_kernel(const sk_mpi_wire *w, uint32_t epoch, int lo, int hi, sk_part slot,
                           sk_part to)
{
    enum { BATCH = 64 };
    const void *in[BATCH];
    int n = 0;
    int64_t count = to.len / w->types[to.type].size;
    for (int i = lo; i < hi; i++) {
        in[n++] = in_slot(w, epoch, i, slot);
        if (n == BATCH || i == hi - 1) {
            w->kernel(to.at, in, n, count);
            in[0] = to.at;
            n = 1;
        }
    }
}

/* From the left, as kernels and single copy do, so that the bits are the same. Only operations that commute come here. */
static sk_status fold_by_host(sk_mpi_wire *w, uint32_t epoch, int lo, int hi, sk_part slot,
                              sk_part to)
{
    const sk_wire_ops *ops = w->base.ops;
    slot.len = to.len;
    sk_part in = {in_slot(w, epoch, lo, slot), to.len, to.type};
    sk_status st = ops->copy(&w->base, in, to);
    for (int i = lo + 1; i < hi && st == SK_OK; i++) {
        in.at = in_slot(w, epoch, i, slot);
        st = ops->reduce(&w->base, in, to);
    }
    return st;
}

sk_status sk_shm_wire_fold(sk_wire *base, uint32_t epoch, int lo, int hi, sk_part slot, sk_part to)
{
    sk_mpi_wire *w = (sk_mpi_wire *)base;
    if (lo >= hi || !to.len)
        return SK_OK;
    if (!w->kernel)
        return fold_by_host(w, epoch, lo, hi, slot, to);
    fold_by_kernel(w, epoch, lo, hi, slot, to);
    return SK_OK;
}

sk_status sk_shm_wire_join(sk_wire *base, uint32_t epoch, sk_part slot, sk_part to, bool block)
{
    sk_mpi_wire *w = (sk_mpi_wire *)base;
    sk_shm *b = placed(base, epoch);
    int n = sk_shm_nlocal(b);
    if (!sk_shm_cores_shared(b)) {
        if (!block && !sk_shm_has_range(b, epoch, 0, n))
            return SK_AGAIN;
        if (!sk_shm_await_range(b, epoch, 0, n))
            return SK_TRUNCATE;
        return sk_shm_wire_fold(base, epoch, 0, n, slot, to);
    }
    sk_part result = {in_slot(w, epoch, n, slot), to.len, to.type};
    sk_status st = SK_OK;
    if (sk_shm_was_last(b, epoch)) {
        st = sk_shm_wire_fold(base, epoch, 0, n, slot, result);
        sk_shm_announce(b, epoch);
    } else if (block || sk_shm_has_result(b, epoch))
        sk_shm_await_result(b, epoch);
    else
        return SK_AGAIN;
    return st ? st : base->ops->copy(base, result, to);
}

/* ---- reading each other's memory ---- */

_Static_assert(sizeof(sk_export_handle) == SK_EXPORT_BYTES, "an exported address fits in a slot");

void sk_shm_wire_export(sk_wire *base, sk_part what, void *handle)
{
    (void)base;
    sk_export_handle here = sk_cma_export(what.at);
    memcpy(handle, &here, sizeof here);
}

sk_status sk_shm_wire_read(sk_wire *base, int rank, const void *handle, int64_t at, sk_part to)
{
    (void)rank;
    sk_export_handle there;
    memcpy(&there, handle, sizeof there);
    sk_status st = sk_cma_read(there, at, to.at, to.len);
    if (st != SK_OK)
        ((sk_mpi_wire *)base)->error = MPI_ERR_OTHER;
    return st;
}

sk_status sk_shm_wire_quiesce(sk_wire *base, uint32_t epoch, bool block)
{
    sk_shm *b = ((sk_mpi_wire *)base)->shm;
    if (!block && !sk_shm_is_quiet(b, epoch))
        return SK_AGAIN;
    sk_shm_quiesce(b, epoch);
    return SK_OK;
}

SK_INLINED void sk_shm_wire_release(sk_wire *base, uint32_t epochs)
{
    sk_mpi_wire *w = (sk_mpi_wire *)base;
    if (w->placed < epochs)
        w->placed = epochs;
    sk_shm_release(w->shm, epochs);
}

/* ---- messages between local ranks ---- */

static sk_status intra_send(sk_wire *base, sk_part from, int peer)
{
    sk_mpi_wire *w = (sk_mpi_wire *)base;
    sk_shm_send(w->shm, w->local_rank[peer], from.at, from.len);
    return SK_OK;
}

static sk_status intra_recv(sk_wire *base, sk_part to, int peer)
{
    sk_mpi_wire *w = (sk_mpi_wire *)base;
    sk_shm_recv(w->shm, w->local_rank[peer], to.at, to.len);
    return SK_OK;
}

static sk_status intra_finish(sk_wire *base, bool block)
{
    sk_shm *b = ((sk_mpi_wire *)base)->shm;
    if (!block && !sk_shm_move(b))
        return SK_AGAIN;
    return sk_shm_finish(b) ? SK_OK : SK_TRUNCATE;
}

/* ---- straight schedules ---- */

/* Not inlined, with scalar arguments: otherwise the compiler stores both parts in memory before it
 * tests whether they are needed. */
__attribute__((noinline)) static sk_status copy_typed(sk_wire *base, void *from, uint32_t from_type,
                                                      void *to, uint32_t to_type, int64_t len)
{
    return base->ops->copy(base, (sk_part){from, len, from_type}, (sk_part){to, len, to_type});
}

SK_INLINED static sk_status copy(sk_wire *base, sk_part from, sk_part to)
{
    if (!((sk_mpi_wire *)base)->contig)
        return copy_typed(base, from.at, from.type, to.at, to.type, from.len);
    sk_move(to.at, from.at, (size_t)from.len);
    return SK_OK;
}

static sk_status reduce(sk_wire *base, sk_part in, sk_part inout)
{
    return base->ops->reduce(base, in, inout);
}

static const sk_wire_ops inlined = {
    .copy = copy,
    .reduce = reduce,
    .open = sk_shm_wire_open,
    .slot = sk_shm_wire_slot,
    .post = sk_shm_wire_post,
    .export = sk_shm_wire_export,
    .await = sk_shm_wire_await,
    .await_rank = sk_shm_wire_await_rank,
    .fold = sk_shm_wire_fold,
    .join = sk_shm_wire_join,
    .read = sk_shm_wire_read,
    .quiesce = sk_shm_wire_quiesce,
    .release = sk_shm_wire_release,
};

sk_status sk_shm_wire_straight(sk_run *r)
{
    return sk_epoch_straight(r, &inlined, true);
}

sk_status sk_shm_wire_straight_poll(sk_run *r)
{
    return sk_epoch_straight(r, &inlined, false);
}

static const sk_intra_ops intra_ops = {
    .send = intra_send, .recv = intra_recv, .finish = intra_finish};
