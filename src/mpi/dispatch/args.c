#include "mpi/dispatch/args.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/state/dtype.h"
#include "mpi/state/topo.h"
#include "mpi/transport/mpi_wire.h"

/* Which sides of the call have data at this rank. */
typedef struct sk_args_sides {
    bool send, recv;
} sk_args_sides;

static sk_args_sides sides_of(const sk_args *a, const sk_comm *c, bool in_place)
{
    bool root = c->rank == a->root;
    switch (a->coll) {
    case SK_BARRIER:
        return (sk_args_sides){false, false};
    case SK_BCAST:
        return (sk_args_sides){false, true};
    case SK_NEIGHBOR_ALLTOALLW: /* a rank without neighbours need not pass types */
        return (sk_args_sides){c->topo->graph->nout > 0, c->topo->graph->nin > 0};
    default:
        break;
    }
    switch (sk_args_root_side(a->coll)) {
    case SK_ROOT_SENDS:
        return (sk_args_sides){root, !in_place};
    case SK_ROOT_RECEIVES:
        return (sk_args_sides){!in_place, root};
    default:
        return (sk_args_sides){!in_place, true};
    }
}

/* Add a type to the table; false when Skein cannot use it. */
static bool add_type(sk_mpi_call *out, sk_type *types, MPI_Datatype *handles, MPI_Datatype t,
                     uint32_t *index)
{
    const sk_dtype *d = sk_dtype_get(t);
    if (!d)
        return false;
    *index = out->call.ntypes;
    types[*index] = d->layout;
    handles[*index] = t;
    out->permanent &= d->named;
    out->call.ntypes++;
    return true;
}

static int64_t number(const void *array, bool wide, int i)
{
    return wide ? (int64_t)((const MPI_Count *)array)[i] : ((const int *)array)[i];
}

/* Displacements of MPI_Aint and counts of MPI_Count are both 64 bits in every host. */
_Static_assert(sizeof(MPI_Count) == sizeof(int64_t), "MPI_Count is 64 bits");
_Static_assert(sizeof(MPI_Aint) == sizeof(int64_t), "MPI_Aint is 64 bits");

/* Counts as int64 (negative ones are refused), displacements as byte offsets. */
static bool read_arrays(const sk_args *a, const sk_call *c, sk_side *side, const void *counts,
                        const void *displs, int64_t *out)
{
    int n = sk_call_nblocks(c, side == &c->send ? SK_SEND : SK_RECV);
    for (int i = 0; i < n; i++)
        if ((out[i] = number(counts, a->wide, i)) < 0)
            return false;
    side->counts = out;
    if (!displs)
        return true;
    for (int i = 0; i < n; i++) {
        int64_t unit = side->types ? 1 : c->types[side->type].extent; /* alltoallw: bytes */
        out[n + i] = number(displs, a->wide || a->aints, i) * unit;
    }
    side->offs = out + n;
    return true;
}

/* Memory for calls with arrays: per side counts, offsets and type indices; types and handles. */
typedef struct sk_args_arrays {
    int64_t *send, *recv;
    uint32_t *send_types, *recv_types;
    sk_type *types;
    MPI_Datatype *handles;
} sk_args_arrays;

static bool get_arrays(sk_comm *c, const sk_call *call, sk_args_arrays *r)
{
    size_t ns = (size_t)sk_call_nblocks(call, SK_SEND), nr = (size_t)sk_call_nblocks(call, SK_RECV);
    size_t n = ns + nr, ntypes = n + 3;
    size_t bytes = ntypes * (sizeof(sk_type) + sizeof(MPI_Datatype)) + 2 * n * sizeof(int64_t) +
                   n * sizeof(uint32_t);
    char *p = sk_comm_scratch(&c->arrays, &c->arrays_size, bytes);
    if (!p)
        return false;
    r->types = (sk_type *)p;
    r->send = (int64_t *)(r->types + ntypes);
    r->recv = r->send + 2 * ns;
    r->handles = (MPI_Datatype *)(r->recv + 2 * nr);
    r->send_types = (uint32_t *)(r->handles + ntypes);
    r->recv_types = r->send_types + ns;
    return true;
}

static bool add_types(sk_mpi_call *out, sk_args_arrays *r, const MPI_Datatype *from, sk_buf side,
                      uint32_t *index)
{
    for (int i = 0; i < sk_call_nblocks(&out->call, side); i++)
        if (!add_type(out, r->types, r->handles, from[i], &index[i]))
            return false;
    return true;
}

/* The vector of a reduction: both sides have its type, and the operation must suit it. */
static bool read_reduction(const sk_args *a, sk_mpi_call *out)
{
    sk_call *c = &out->call;
    const sk_dtype *d = sk_dtype_get(a->stype);
    sk_reduction how;
    if (!d || !sk_reducible(a->op, d, &how))
        return false;
    out->permanent &= how.predefined;
    c->ordered = how.ordered;
    c->builtin = how.predefined || (d->single && !how.ordered);
    out->own_op = !how.predefined;
    c->rounds = sk_args_may_round(a);
    out->kernel = how.kernel;
    c->recv.type = c->send.type;
    if (a->coll == SK_REDUCE_SCATTER_BLOCK) {
        c->recv.count = a->rcount;
        c->send.count = a->rcount * c->nranks;
    } else if (a->coll == SK_REDUCE_SCATTER)
        c->send.count = sk_call_elems(c);
    else
        c->recv.count = a->scount;
    return true;
}

/* A null buffer for contiguous data is an error that the host may want to report. */
static bool null_data(const sk_call *c, const sk_side *s, const void *buf)
{
    return !buf && !s->counts && s->count > 0 && c->types[s->type].size > 0 &&
           c->types[s->type].contig && sk_call_nblocks(c, s == &c->send ? SK_SEND : SK_RECV) > 0;
}

/* All arrays that must be there are there. */
static bool arrays_complete(const sk_args *a, const sk_call *c, sk_args_sides sig)
{
    bool from = a->scounts && a->sdispls, to = a->rcounts && a->rdispls;
    switch (a->coll) {
    case SK_SCATTERV:
        return !sig.send || from;
    case SK_ALLTOALLV:
    case SK_ALLTOALLW:
        return (!sig.send || from) && to;
    case SK_GATHERV:
    case SK_ALLGATHERV:
        return !sig.recv || to;
    case SK_REDUCE_SCATTER:
        return a->rcounts;
    case SK_NEIGHBOR_ALLTOALLV: /* a rank without neighbours need not pass arrays */
    case SK_NEIGHBOR_ALLTOALLW:
        return (from || !sk_call_nblocks(c, SK_SEND)) && (to || !sk_call_nblocks(c, SK_RECV));
    case SK_NEIGHBOR_ALLGATHERV:
        return to || !sk_call_nblocks(c, SK_RECV);
    default:
        return true;
    }
}

/* Does the host refuse data that is sent from where it is received? Not every MPICH does: builds and
 * settings differ. If it does, such a call with itself is refused. */
static bool host_checks_alias(sk_coll coll)
{
    int data = 0;
    if (!SK_HOST_CHECKS_ALIAS(coll))
        return false;
    int rc = sk_coll_reduces(coll)
                 ? sk_host.Reduce(&data, &data, 1, MPI_INT, MPI_SUM, 0, sk_proc.self)
                 : sk_host.Gather(&data, 1, MPI_INT, &data, 1, MPI_INT, 0, sk_proc.self);
    return rc != MPI_SUCCESS;
}

static bool any_count(const void *counts, const sk_args *a, const sk_comm *c)
{
    for (int i = 0; counts && i < c->nranks; i++)
        if (number(counts, a->wide, i))
            return true;
    return false;
}

/* A rank without data may pass one address twice, and the others need not. MPICH refuses that only if the
 * counts are one array, too. */
static bool has_data(const sk_args *a, const sk_comm *c)
{
    return sk_coll_neighbor(a->coll) || a->scount || a->rcount ||
           (a->scounts && a->scounts == a->rcounts) || any_count(a->scounts, a, c) ||
           any_count(a->rcounts, a, c);
}

static bool same_buffers(const sk_args *a, const sk_comm *c)
{
    if (a->sbuf != a->rbuf || !a->sbuf || !has_data(a, c))
        return false;
    if (sk_coll_reduces(a->coll))
        return a->coll != SK_REDUCE || c->rank == a->root;
    return sk_coll_exchanges(a->coll);
}

/* Of exchanges, where both sides may be disjoint, MPICH refuses only those that look the same on both. */
static bool refused_with_same_buffers(const sk_args *a)
{
    return !sk_coll_exchanges(a->coll) || (a->scounts == a->rcounts && a->scount == a->rcount &&
                                           a->stypes == a->rtypes && a->stype == a->rtype);
}

/* What an exchange has for a rank, or from it. False: it is not well made. */
typedef struct sk_args_block {
    int64_t bytes, first; /* the first byte */
} sk_args_block;

static bool exchanged_block(const sk_args *a, sk_buf side, int i, sk_args_block *out)
{
    bool send = side == SK_SEND;
    const void *counts = send ? a->scounts : a->rcounts, *displs = send ? a->sdispls : a->rdispls;
    const MPI_Datatype *types = send ? a->stypes : a->rtypes;
    const sk_dtype *d = sk_dtype_get(types ? types[i] : send ? a->stype : a->rtype);
    if (!d || (!displs && a->coll != SK_ALLTOALL))
        return false;
    int64_t count = counts ? number(counts, a->wide, i) : send ? a->scount : a->rcount;
    int64_t at = !displs ? i * count : number(displs, a->wide || a->aints, i);
    *out = (sk_args_block){count * d->layout.size,
                           at * (types ? 1 : d->layout.extent) + d->layout.true_lb};
    return true;
}

/* Each block is sent from where the one of the same rank is received. */
static bool blocks_coincide(const sk_args *a, const sk_comm *c)
{
    sk_args_block from, to;
    for (int i = 0; i < c->nranks; i++)
        if (!exchanged_block(a, SK_SEND, i, &from) || !exchanged_block(a, SK_RECV, i, &to) ||
            from.bytes != to.bytes || (from.bytes && from.first != to.first))
            return false;
    return true;
}

/* ---- the block that a rank sends to itself ---- */

typedef struct sk_own_block {
    sk_span from, to;
} sk_own_block;

static bool own_block(const sk_call *c, sk_own_block *own)
{
    if (c->in_place || (c->rank != c->root && sk_args_root_side(c->coll) != SK_ROOT_NEITHER))
        return false;
    switch (c->coll) {
    case SK_GATHER:
    case SK_GATHERV:
    case SK_ALLGATHER:
    case SK_ALLGATHERV:
        *own = (sk_own_block){sk_send_block(c, 0), sk_recv_block(c, c->rank)};
        return true;
    case SK_SCATTER:
    case SK_SCATTERV:
        *own = (sk_own_block){sk_send_block(c, c->rank), sk_recv_block(c, 0)};
        return true;
    default:
        return false;
    }
}

/* It is sent from where it is received: what MPICH refuses. Of types with holes it computes another
 * place, and does not refuse them. */
static bool same_place(const sk_mpi_call *m, const sk_own_block *own)
{
    return own->from.len && own->to.len && m->send &&
           m->handles[own->from.type] == m->handles[own->to.type] &&
           m->call.types[own->from.type].contig &&
           (char *)m->send + own->from.off == (char *)m->recv + own->to.off &&
           (m->call.send.counts || m->call.recv.counts || own->from.len == own->to.len);
}

int sk_mpi_call_copy_own(const sk_mpi_call *m)
{
    sk_call call = m->call;
    sk_own_block own = {m->own_from, m->own_to};
    call.in_place = false;
    if (!m->own_differs && !own_block(&call, &own))
        return MPI_SUCCESS;
    if (m->unequal || own.from.len > own.to.len)
        return MPI_ERR_TRUNCATE;
    const sk_type *from = &call.types[own.from.type], *to = &call.types[own.to.type];
    int64_t ns = from->size ? own.from.len / from->size : 0,
            nr = to->size ? own.to.len / to->size : 0;
    if (ns > INT_MAX || nr > INT_MAX)
        return MPI_ERR_COUNT;
    sk_mpi_shape s = {(char *)m->send + own.from.off, (int)ns, m->handles[own.from.type], false};
    sk_mpi_shape r = {(char *)m->recv + own.to.off, (int)nr, m->handles[own.to.type], false};
    int tag = (int)((unsigned)atomic_fetch_add(&sk_proc.self_tag, 1) % sk_proc.tags);
    int rc = sk_mpi_shape_readable(&s);
    if (rc == MPI_SUCCESS)
        rc = sk_mpi_shape_readable(&r);
    if (rc == MPI_SUCCESS)
        rc = sk_host.Sendrecv(s.at, s.count, s.type, 0, tag, r.at, r.count, r.type, 0, tag,
                              sk_proc.self, MPI_STATUS_IGNORE);
    sk_mpi_shape_drop(&s);
    sk_mpi_shape_drop(&r);
    return rc;
}

static void own_differs(sk_mpi_call *out, const sk_own_block *own)
{
    out->own_differs = true;
    out->own_from = own->from;
    out->own_to = own->to;
    out->permanent = out->told = false;
}

/* Schedules take the two lengths for equal, and the other ranks must not wait for one that has none. */
static void read_own_exchange(sk_mpi_call *out)
{
    sk_call *c = &out->call;
    if (c->in_place)
        return;
    sk_own_block own = {sk_send_block(c, c->rank), sk_recv_block(c, c->rank)};
    if (own.from.len == own.to.len)
        return;
    if (c->coll == SK_ALLTOALL) {
        own_differs(out, &own);
        out->unequal = c->in_place = true; /* what is sent has the right length at least */
        return;
    }
    int64_t *sent = (int64_t *)(uintptr_t)&c->send.counts[c->rank],
            *expected = (int64_t *)(uintptr_t)&c->recv.counts[c->rank],
            size = c->types[own.to.type].size;
    if (own.from.len < own.to.len && own.from.len % size == 0)
        *expected = own.from.len / size;
    else {
        own_differs(out, &own);
        *sent = *expected = 0;
    }
}

/* False: the host refuses the call. */
static bool read_own_block(sk_mpi_call *out)
{
    sk_own_block own;
    out->own_differs = out->unequal = false;
    out->distance = 0;
    if (sk_coll_exchanges(out->call.coll))
        read_own_exchange(out);
    if (!own_block(&out->call, &own))
        return true;
    out->distance = own.to.off - own.from.off;
    if (same_place(out, &own) && host_checks_alias(out->call.coll))
        return false;
    if (own.from.len != own.to.len) {
        own_differs(out, &own);
        out->call.in_place = true;
    }
    return true;
}

bool sk_may_round(MPI_Datatype type, MPI_Op op)
{
    const sk_dtype *d = sk_dtype_get(type);
    sk_reduction how;
    return !d || !sk_reducible(op, d, &how) || !how.predefined ||
           (d->class != SK_CLASS_INTEGER && d->class != SK_CLASS_BYTE &&
            d->class != SK_CLASS_LOGICAL && d->class != SK_CLASS_CHARACTER);
}

static int64_t slot_capacity(sk_form form, const sk_comm *c)
{
    return form == SK_BLOCKING ? c->slot_capacity : c->lane_capacity;
}

bool sk_args_read(const sk_args *a, sk_comm *c, sk_mpi_call *out)
{
    sk_root_side root_side = sk_args_root_side(a->coll);
    bool in_place = a->coll != SK_BARRIER && a->coll != SK_BCAST &&
                    (root_side == SK_ROOT_SENDS ? a->rbuf : a->sbuf) == MPI_IN_PLACE;
    if (a->root < 0 || a->root >= c->nranks ||
        (in_place && root_side != SK_ROOT_NEITHER && a->root != c->rank))
        return false;
    if (same_buffers(a, c)) {
        if (refused_with_same_buffers(a) && host_checks_alias(a->coll))
            return false;
        /* Programs that pass one buffer twice mean this, and hosts do it. */
        in_place = in_place || !sk_coll_exchanges(a->coll) || blocks_coincide(a, c);
    }
    bool anywhere =
        sk_proc.reproducible && sk_args_may_round(a); /* as if nobody knew the machine */
    out->call = (sk_call){.coll = a->coll,
                          .form = a->form,
                          .nranks = c->nranks,
                          .rank = c->rank,
                          .root = a->root,
                          .in_place = in_place,
                          .ntypes = 1,
                          .machine = anywhere ? NULL : c->call_machine,
                          .slot_bytes = anywhere ? 0 : slot_capacity(a->form, c),
                          .direct = c->direct && !anywhere,
                          .leaders = sk_proc.leaders};
    out->kernel = NULL;
    out->own_op = false;
    if (sk_coll_neighbor(a->coll)) {
        if (in_place)
            return false;
        out->call.neighborhood = &c->topo->neighborhood.base;
    }
    sk_type *types = out->types_few;
    MPI_Datatype *handles = out->handles_few;
    sk_args_arrays r = {0};
    sk_call *call = &out->call;
    sk_args_sides sig = sides_of(a, c, in_place);
    if (!arrays_complete(a, call, sig))
        return false;
    out->permanent = out->told = true;
    if (sk_args_has_arrays(a)) {
        if (!get_arrays(c, call, &r))
            return false;
        types = r.types;
        handles = r.handles;
    }
    types[0] = sk_type_byte;
    handles[0] = MPI_BYTE;
    call->types = types;
    out->handles = handles;

    if (sk_coll_reduces(a->coll)) {
        if (a->scount < 0 || a->rcount < 0 ||
            !add_type(out, types, handles, a->stype, &call->send.type))
            return false;
        call->send.count = a->scount;
    } else if (sig.send) {
        if (a->scount < 0 ||
            !(a->stypes ? add_types(out, &r, a->stypes, SK_SEND, r.send_types)
                        : add_type(out, types, handles, a->stype, &call->send.type)))
            return false;
        call->send.count = a->scount;
        call->send.types = a->stypes ? r.send_types : NULL;
    }
    if (!sk_coll_reduces(a->coll) && sig.recv) {
        if (a->rcount < 0 ||
            !(a->rtypes ? add_types(out, &r, a->rtypes, SK_RECV, r.recv_types)
                        : add_type(out, types, handles, a->rtype, &call->recv.type)))
            return false;
        call->recv.count = a->rcount;
        call->recv.types = a->rtypes ? r.recv_types : NULL;
    }
    if (sig.send && a->scounts &&
        !read_arrays(a, call, &call->send, a->scounts, a->sdispls, r.send))
        return false;
    if (sig.recv && a->rcounts &&
        !read_arrays(a, call, &call->recv, a->rcounts, a->rdispls, r.recv))
        return false;
    if (sk_coll_reduces(a->coll) && !read_reduction(a, out))
        return false;
    bool no_result =
        a->coll == SK_EXSCAN && c->rank == 0 && !in_place; /* the buffer is not significant */
    if ((sig.send && null_data(call, &call->send, a->sbuf)) ||
        (sig.recv && !no_result && null_data(call, &call->recv, a->rbuf)))
        return false;
    out->send = (void *)(uintptr_t)a->sbuf;
    out->recv = a->rbuf;
    out->staging = a->staging;
    out->own_lane = (sk_own_lane){0};
    out->error = MPI_SUCCESS;
    return read_own_block(out);
}

/* ---- a copy ---- */

static void *put(char **at, const void *from, size_t bytes)
{
    void *to = *at;
    if (!from)
        return NULL;
    if (bytes)
        memcpy(to, from, bytes);
    *at += (bytes + 15) & ~(size_t)15;
    return to;
}

static void copy_side(char **at, sk_side *s, size_t n)
{
    s->counts = put(at, s->counts, n * sizeof *s->counts);
    s->offs = put(at, s->offs, n * sizeof *s->offs);
    s->types = put(at, s->types, n * sizeof *s->types);
}

sk_mpi_call *sk_mpi_call_copy(const sk_mpi_call *a)
{
    const sk_call *c = &a->call;
    size_t ns = (size_t)sk_call_nblocks(c, SK_SEND), nr = (size_t)sk_call_nblocks(c, SK_RECV);
    size_t bytes = sizeof *a + c->ntypes * (sizeof(sk_type) + sizeof(MPI_Datatype)) +
                   (ns + nr) * (2 * sizeof(int64_t) + sizeof(uint32_t)) + (size_t)10 * 16;
    char *at = malloc(bytes);
    if (!at)
        return NULL;
    sk_mpi_call *copy = put(&at, a, sizeof *a);
    copy->call.types = put(&at, c->types, c->ntypes * sizeof *c->types);
    copy->handles = put(&at, a->handles, c->ntypes * sizeof(MPI_Datatype));
    copy_side(&at, &copy->call.send, ns);
    copy_side(&at, &copy->call.recv, nr);
    return copy;
}
