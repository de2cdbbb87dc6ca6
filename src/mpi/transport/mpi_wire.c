#include "mpi/transport/mpi_wire.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/state/host_errors.h"
#include "mpi/transport/shm_wire.h"

size_t sk_mpi_wire_bytes(uint32_t n)
{
    return n * (sizeof(MPI_Request) + sizeof(MPI_Status) + sizeof(sk_recv_target)) + 64;
}

void sk_mpi_wire_set_arrays(sk_mpi_wire *w, void *memory, uint32_t n)
{
    w->targets = memory;
    w->reqs = (MPI_Request *)(w->targets + n);
    uintptr_t statuses = (uintptr_t)(w->reqs + n);
    w->statuses = (MPI_Status *)((statuses + 15) & ~(uintptr_t)15);
    w->nreqs = 0;
    w->receives = false;
}

bool sk_mpi_wire_exact(sk_coll coll)
{
    return SK_HOST_CHECKS_BCAST && coll == SK_BCAST;
}

/* Keep the first error of the host. */
static sk_status keep_error(sk_mpi_wire *w, int rc)
{
    if (rc == MPI_SUCCESS)
        return SK_OK;
    if (w->error == MPI_SUCCESS)
        w->error = rc;
    return SK_WIRE;
}

static int big_shape(int64_t n, MPI_Datatype of, int64_t extent, sk_mpi_shape *s)
{
    enum { CHUNK = 1 << 30 };
    MPI_Datatype chunks, rest, chunk;
    MPI_Aint displ[2] = {0, (MPI_Aint)(n / CHUNK * CHUNK * extent)};
    int len[2] = {1, 1};
    int rc = sk_host.Type_contiguous(CHUNK, of, &chunk);
    if (rc != MPI_SUCCESS)
        return rc;
    sk_host.Type_contiguous((int)(n / CHUNK), chunk, &chunks);
    sk_host.Type_contiguous((int)(n % CHUNK), of, &rest);
    MPI_Datatype both[2] = {chunks, rest};
    rc = sk_host.Type_create_struct(2, len, displ, both, &s->type);
    sk_host.Type_free(&chunk);
    sk_host.Type_free(&chunks);
    sk_host.Type_free(&rest);
    if (rc == MPI_SUCCESS)
        rc = sk_host.Type_commit(&s->type);
    s->count = 1;
    s->made = true;
    return rc;
}

void sk_mpi_shape_drop(sk_mpi_shape *s)
{
    if (s->made)
        sk_host.Type_free(&s->type);
}

/* The same memory, seen from another address. */
static int move_shape(sk_mpi_shape *s, void *base)
{
    sk_mpi_shape moved = {.at = base, .count = 1, .made = true};
    MPI_Aint by = (MPI_Aint)((uintptr_t)s->at - (uintptr_t)base);
    int rc = sk_host.Type_create_hindexed(1, &s->count, &by, s->type, &moved.type);
    if (rc != MPI_SUCCESS)
        return rc;
    sk_mpi_shape_drop(s);
    *s = moved;
    return sk_host.Type_commit(&s->type);
}

int sk_mpi_shape_readable(sk_mpi_shape *s)
{
    return SK_HOST_MISREADS(s->at) ? move_shape(s, MPI_BOTTOM) : MPI_SUCCESS;
}

static int shape_of(const sk_mpi_wire *w, sk_part p, sk_mpi_shape *s)
{
    const sk_type *t = &w->types[p.type];
    int64_t n = t->contig ? p.len : t->size ? p.len / t->size : 0;
    MPI_Datatype of = t->contig || n == 0 ? MPI_BYTE : w->handles[p.type];
    int rc = MPI_SUCCESS;
    *s = (sk_mpi_shape){p.at, (int)n, of, false};
    if (n > INT_MAX)
        rc = big_shape(n, of, t->contig ? 1 : t->extent, s);
    return rc == MPI_SUCCESS ? sk_mpi_shape_readable(s) : rc;
}

/* What this rank passes on is wrong. An empty message tells the receiver so. */
static void tell_error(const sk_mpi_wire *w, sk_mpi_shape *s)
{
    if (w->exact && w->error != MPI_SUCCESS)
        s->count = 0;
}

static int peer_of(const sk_mpi_wire *w, int rank)
{
    return w->peers ? w->peers[rank] : rank;
}

static sk_status wire_send(sk_wire *base, sk_part from, int peer)
{
    sk_mpi_wire *w = (sk_mpi_wire *)base;
    sk_mpi_shape s;
    int rc = shape_of(w, from, &s);
    if (rc != MPI_SUCCESS)
        return keep_error(w, rc);
    tell_error(w, &s);
    w->targets[w->nreqs] = (sk_recv_target){.expect = -1};
    rc = SK_OWN(&w->hint, w->tag, 1,
                sk_host.Isend(s.at, s.count, s.type, peer_of(w, peer), w->tag, w->comm,
                              &w->reqs[w->nreqs]));
    if (rc == MPI_SUCCESS)
        w->nreqs++;
    sk_mpi_shape_drop(&s);
    return keep_error(w, rc);
}

static bool lands_packed(const sk_mpi_wire *w, sk_part to)
{
    return SK_HOST_SPLITS_ELEMENTS && !w->types[to.type].contig;
}

static sk_status wire_recv(sk_wire *base, sk_part to, int peer, int64_t *got)
{
    sk_mpi_wire *w = (sk_mpi_wire *)base;
    sk_recv_target *target = &w->targets[w->nreqs];
    *target = (sk_recv_target){.got = got, .expect = w->exact ? to.len : -1};
    w->receives = true;
    if (lands_packed(w, to)) {
        target->bytes = malloc((size_t)to.len);
        target->to = to;
        if (!target->bytes)
            return keep_error(w, MPI_ERR_NO_MEM);
        to = (sk_part){target->bytes, to.len, SK_TYPE_BYTE};
    }
    sk_mpi_shape s = {0};
    int rc = shape_of(w, to, &s);
    if (rc == MPI_SUCCESS)
        rc = SK_OWN(&w->hint, w->tag, 1,
                    sk_host.Irecv(s.at, s.count, s.type, peer_of(w, peer), w->tag, w->comm,
                                  &w->reqs[w->nreqs]));
    if (rc == MPI_SUCCESS)
        w->nreqs++;
    else
        free(target->bytes);
    sk_mpi_shape_drop(&s);
    return keep_error(w, rc);
}

static sk_status pack(sk_mpi_wire *w, sk_part derived, char *bytes, bool unpack);

/* A receive has completed. Lengths matter for bytes only: for packets, and where parts of other types
 * land packed. */
static void received(sk_mpi_wire *w, const sk_recv_target *target, const MPI_Status *status)
{
    int len = 0;
    if (target->bytes)
        pack(w, target->to, target->bytes, true);
    if ((target->got || target->expect >= 0) &&
        sk_host.Get_count(status, MPI_BYTE, &len) == MPI_SUCCESS && len != MPI_UNDEFINED) {
        if (target->got)
            *target->got = len;
        if (target->expect >= 0 && target->expect <= INT_MAX && target->expect != len)
            keep_error(w, MPI_ERR_OTHER);
    }
}

/* Take the results of what has completed. If a request has failed, the host may leave others
 * pending: they use the user's memory, so the round is not over before they are. */
static sk_status collect(sk_mpi_wire *w, int rc)
{
    int left = 0;
    if (rc != MPI_ERR_IN_STATUS)
        keep_error(w, rc);
    for (int i = 0; i < w->nreqs; i++) {
        sk_recv_target target = w->targets[i];
        int error = rc == MPI_ERR_IN_STATUS ? w->statuses[i].MPI_ERROR : rc;
        if (rc == MPI_ERR_IN_STATUS && error == MPI_ERR_PENDING) {
            w->targets[left] = target;
            w->reqs[left++] = w->reqs[i];
            continue;
        }
        if (keep_error(w, error) == SK_OK)
            received(w, &target, &w->statuses[i]);
        free(target.bytes);
    }
    w->nreqs = left;
    if (left)
        return SK_AGAIN;
    w->receives = false;
    return w->error == MPI_SUCCESS ? SK_OK : SK_WIRE;
}

static int test_all(sk_mpi_wire *w, int *done)
{
    if (!w->receives)
        return sk_host.Testall(w->nreqs, w->reqs, done, w->statuses);
    sk_host_errors_return();
    int rc = sk_host.Testall(w->nreqs, w->reqs, done, w->statuses);
    sk_host_errors_restore();
    return rc;
}

static int wait_all(sk_mpi_wire *w)
{
    if (!w->receives)
        return sk_host.Waitall(w->nreqs, w->reqs, w->statuses);
    sk_host_errors_return();
    int rc = sk_host.Waitall(w->nreqs, w->reqs, w->statuses);
    sk_host_errors_restore();
    return rc;
}

static sk_status wire_finish(sk_wire *base, bool block)
{
    sk_mpi_wire *w = (sk_mpi_wire *)base;
    int done = 0, rc;
    if (block && sk_host_may_wait() && sk_host_errors_may_wait())
        return collect(w, wait_all(w));
    SK_WAIT_UNTIL(sk_proc.wait, (rc = test_all(w, &done)) != MPI_SUCCESS || done || !block,
                  sk_progress());
    return done || rc != MPI_SUCCESS ? collect(w, rc) : SK_AGAIN;
}

static sk_status wire_exchange(sk_wire *base, sk_part from, int to_peer, sk_part to, int from_peer)
{
    sk_mpi_wire *w = (sk_mpi_wire *)base;
    if (!sk_host_may_wait() || (from_peer >= 0 && lands_packed(w, to))) {
        sk_status st = SK_OK, st2 = SK_OK;
        if (from_peer >= 0)
            st = wire_recv(base, to, from_peer, NULL);
        if (to_peer >= 0)
            st2 = wire_send(base, from, to_peer);
        sk_status end;
        while ((end = wire_finish(base, true)) == SK_AGAIN)
            ;
        return st ? st : st2 ? st2 : end;
    }
    sk_mpi_shape s = {0}, r = {0};
    int rc = to_peer >= 0 ? shape_of(w, from, &s) : MPI_SUCCESS;
    if (rc == MPI_SUCCESS && from_peer >= 0)
        rc = shape_of(w, to, &r);
    if (rc != MPI_SUCCESS)
        return keep_error(w, rc);
    MPI_Status got, *status = w->exact ? &got : MPI_STATUS_IGNORE;
    tell_error(w, &s);
    to_peer = to_peer >= 0 ? peer_of(w, to_peer) : to_peer;
    from_peer = from_peer >= 0 ? peer_of(w, from_peer) : from_peer;
    if (from_peer < 0)
        rc = SK_OWN(&w->hint, w->tag, 1,
                    sk_host.Send(s.at, s.count, s.type, to_peer, w->tag, w->comm));
    else if (to_peer < 0)
        rc = SK_OWN(&w->hint, w->tag, 1,
                    sk_host.Recv(r.at, r.count, r.type, from_peer, w->tag, w->comm, status));
    else
        rc = SK_OWN(&w->hint, w->tag, 2,
                    sk_host.Sendrecv(s.at, s.count, s.type, to_peer, w->tag, r.at, r.count, r.type,
                                     from_peer, w->tag, w->comm, status));
    sk_mpi_shape_drop(&s);
    sk_mpi_shape_drop(&r);
    keep_error(w, rc);
    if (w->exact && rc == MPI_SUCCESS && from_peer >= 0)
        received(w, &(sk_recv_target){.expect = to.len}, &got);
    return w->error == MPI_SUCCESS ? SK_OK : SK_WIRE;
}

/* Between two layouts that are both derived the bytes go through a packed image, a piece at a time
 * being no gain: MPI can pack whole elements only. */
static sk_status copy_derived(sk_mpi_wire *w, sk_part from, sk_part to)
{
    void *packed = malloc((size_t)from.len);
    if (!packed)
        return keep_error(w, MPI_ERR_NO_MEM);
    sk_status st = w->base.ops->copy(&w->base, from, (sk_part){packed, from.len, SK_TYPE_BYTE});
    if (st == SK_OK)
        st = w->base.ops->copy(&w->base, (sk_part){packed, from.len, SK_TYPE_BYTE}, to);
    free(packed);
    return st;
}

/* Pack or unpack. */
static int pack_chunk(void *at, int count, MPI_Datatype type, char *bytes, int size, bool unpack)
{
    int pos = 0, rc = MPI_SUCCESS;
    sk_mpi_shape s = {at, count, type, false};
    if ((!at && !SK_HOST_PACKS_BOTTOM) || SK_HOST_MISREADS(at))
        rc = move_shape(&s, &s);
    if (rc == MPI_SUCCESS)
        rc = unpack ? sk_host.Unpack(bytes, size, &pos, s.at, s.count, s.type, sk_proc.self)
                    : sk_host.Pack(s.at, s.count, s.type, bytes, size, &pos, sk_proc.self);
    sk_mpi_shape_drop(&s);
    return rc;
}

static sk_status pack(sk_mpi_wire *w, sk_part derived, char *bytes, bool unpack)
{
    const sk_type *t = &w->types[derived.type];
    MPI_Datatype type = w->handles[derived.type];
    if (!derived.len)
        return SK_OK; /* also: the type may have size zero */
    int64_t most = INT_MAX / t->size, n = derived.len / t->size;
    if (most == 0)
        return keep_error(w, MPI_ERR_COUNT);
    for (int64_t i = 0; i < n; i += most) {
        int count = (int)(n - i < most ? n - i : most), size = (int)(count * t->size);
        void *at = (void *)((uintptr_t)derived.at + (uintptr_t)(i * t->extent));
        int rc = pack_chunk(at, count, type, bytes + i * t->size, size, unpack);
        if (rc != MPI_SUCCESS)
            return keep_error(w, rc);
    }
    return SK_OK;
}

SK_HOT static sk_status wire_copy(sk_wire *base, sk_part from, sk_part to)
{
    sk_mpi_wire *w = (sk_mpi_wire *)base;
    bool plain_from = w->types[from.type].contig, plain_to = w->types[to.type].contig;
    if (plain_from && plain_to) {
        memmove(to.at, from.at, (size_t)from.len);
        return SK_OK;
    }
    if (plain_to)
        return pack(w, from, to.at, false);
    if (plain_from)
        return pack(w, to, from.at, true);
    return copy_derived(w, from, to);
}

static sk_status wire_reduce(sk_wire *base, sk_part in, sk_part inout);

/* The host would take one of the addresses for another thing: it reduces copies. They are aligned as
 * the parts are. */
static sk_status reduce_copies(sk_mpi_wire *w, sk_part in, sk_part inout)
{
    enum { ALIGN = 64 };
    const sk_type *t = &w->types[in.type];
    uintptr_t first = (uintptr_t)inout.at + (uintptr_t)t->true_lb, skip = first % ALIGN;
    size_t span = (size_t)((in.len / t->size - 1) * t->extent + t->true_extent);
    size_t bytes = (skip + span + ALIGN - 1) / ALIGN * ALIGN;
    char *memory = aligned_alloc(ALIGN, 2 * bytes);
    if (!memory)
        return keep_error(w, MPI_ERR_NO_MEM);
    sk_part a = {memory + skip - t->true_lb, in.len, in.type};
    sk_part b = {memory + bytes + skip - t->true_lb, in.len, in.type};
    sk_status st = w->base.ops->copy(&w->base, in, a);
    if (st == SK_OK)
        st = w->base.ops->copy(&w->base, inout, b);
    if (st == SK_OK)
        st = wire_reduce(&w->base, a, b);
    if (st == SK_OK)
        st = w->base.ops->copy(&w->base, b, inout);
    free(memory);
    return st;
}

static sk_status wire_reduce(sk_wire *base, sk_part in, sk_part inout)
{
    sk_mpi_wire *w = (sk_mpi_wire *)base;
    const sk_type *t = &w->types[in.type];
    if (!in.len)
        return SK_OK; /* also: the type may have size zero */
    if (SK_HOST_MISREADS(in.at) || SK_HOST_MISREADS(inout.at))
        return reduce_copies(w, in, inout);
    int64_t n = in.len / t->size;
    if (w->kernel) {
        const void *both[2] = {in.at, inout.at};
        w->kernel(inout.at, both, 2, n);
        return SK_OK;
    }
    for (int64_t i = 0; i < n; i += INT_MAX) {
        int count = (int)(n - i < INT_MAX ? n - i : INT_MAX);
        uintptr_t step = (uintptr_t)(i * t->extent);
        int rc = sk_host.Reduce_local((void *)((uintptr_t)in.at + step),
                                      (void *)((uintptr_t)inout.at + step), count,
                                      w->handles[in.type], w->op);
        if (rc != MPI_SUCCESS)
            return keep_error(w, rc);
    }
    return SK_OK;
}

const sk_wire_ops sk_mpi_wire_ops = {
    .send = wire_send,
    .recv = wire_recv,
    .finish = wire_finish,
    .copy = wire_copy,
    .reduce = wire_reduce,
    .exchange = wire_exchange,
#if SK_HAVE_SHM
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
#endif
};
