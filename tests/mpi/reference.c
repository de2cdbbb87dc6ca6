/* reference.c: what a call should leave in its buffers, by the host's own collective of the same
 * name on plain data: blocks packed one after the other, no MPI_IN_PLACE, blocking. Both hosts go
 * wrong on some unusual types, as they stand in the call under test; on plain ones they can be
 * trusted. Not so a reduce on several hosts: that is done by its definition. */
#include "item.h"

#include <stdlib.h>
#include <string.h>

typedef struct block {
    void *at;
    MPI_Datatype type;
    int count;
} block;

static block side_block(const side *s, int i)
{
    MPI_Aint lb, extent, off = 0;
    block b = {s->buf, s->types ? s->types[i] : s->type, s->counts ? s->counts[i] : s->count};
    if (s->types != NULL) {
        off = s->displs[i];
    } else if (s->displs != NULL) {
        PMPI_Type_get_extent(s->type, &lb, &extent);
        off = extent * s->displs[i];
    }
    b.at = (char *)s->buf + off;
    return b;
}

static int block_bytes(const block *b)
{
    int size;
    PMPI_Type_size(b->type, &size);
    return size * b->count;
}

/* Blocks packed one after the other, with counts and displacements in bytes. */
typedef struct plain {
    int n, *counts, *displs, total;
    char *bytes;
} plain;

static plain plain_new(const block *b, int n)
{
    plain p = {.n = n};
    p.counts = must_alloc((size_t)n * sizeof(int));
    p.displs = must_alloc((size_t)n * sizeof(int));
    for (int i = 0; i < n; i++) {
        p.displs[i] = p.total;
        p.total += p.counts[i] = block_bytes(&b[i]);
    }
    p.bytes = must_alloc((size_t)p.total);
    return p;
}

static void plain_free(plain *p)
{
    free(p->counts);
    free(p->displs);
    free(p->bytes);
}

static void plain_load(plain *p, const block *b)
{
    for (int i = 0, at = 0; i < p->n; i++)
        type_pack(b[i].at, b[i].count, b[i].type, p->bytes, p->total, &at);
}

static void plain_store(const plain *p, const block *b)
{
    for (int i = 0, at = 0; i < p->n; i++)
        type_unpack(p->bytes, p->total, &at, b[i].at, b[i].count, b[i].type);
}

/* The blocks this rank puts in: its send buffer, or what stands in place of it. */
static int inputs(const item *t, block *b)
{
    coll c = t->a.coll;
    bool blocks_in = c >= C_ALLTOALL && c <= C_ALLTOALLW;
    if (t->send.mem != NULL) {
        for (int i = 0; i < t->send.n; i++)
            b[i] = side_block(&t->send, i);
        return t->send.n;
    }
    if (t->recv.mem == NULL || (c == C_BCAST && t->rank != t->a.root))
        return 0;
    if (!t->in_place && c != C_BCAST)
        return 0;
    int n = blocks_in ? t->recv.n : 1, first = t->recv.n > 1 && !blocks_in ? t->rank : 0;
    for (int i = 0; i < n; i++)
        b[i] = side_block(&t->recv, first + i);
    return n;
}

/* The blocks this rank gets out. The root of a scatter in place gets its own block back. */
static int outputs(const item *t, block *b)
{
    const side *s = &t->recv;
    bool back = t->in_place && s->mem == NULL;
    if (back) {
        b[0] = side_block(&t->send, t->rank);
        return 1;
    }
    for (int i = 0; s->mem != NULL && i < s->n; i++)
        b[i] = side_block(s, i);
    return s->mem != NULL ? s->n : 0;
}

static void move(const item *t, const plain *in, plain *out)
{
    MPI_Datatype *bytes = must_alloc((size_t)t->size * sizeof *bytes);
    for (int i = 0; i < t->size; i++)
        bytes[i] = MPI_BYTE;
    args a = t->a;
    a.sbuf = in->bytes;
    a.rbuf = out->bytes;
    a.stype = a.rtype = MPI_BYTE;
    a.stypes = a.rtypes = bytes;
    a.ints = (counts){in->n > 0 ? in->counts[0] : 0,
                      out->n > 0 ? out->counts[0] : 0,
                      in->counts,
                      in->displs,
                      out->counts,
                      out->displs};
    if (a.coll == C_BCAST && in->n > 0)
        memcpy(out->bytes, in->bytes, (size_t)out->total);
    int rc = coll_host(&a);
    CHECK(rc == MPI_SUCCESS, "the host returns %d from %s", rc, t->text);
    free(bytes);
}

/* Elements of the plain type need room between them, unlike packed ones. */
static void *spread(const plain *p, MPI_Datatype type, int count)
{
    MPI_Aint lb, extent;
    int at = 0;
    PMPI_Type_get_extent(type, &lb, &extent);
    void *to = must_alloc((size_t)extent * (size_t)count);
    type_unpack(p->bytes, p->total, &at, to, count, type);
    return to;
}

/* The root gets the vectors of all and combines them from the last to the first. */
static void reduce_by_messages(const item *t, const args *a, int n)
{
    enum { TAG = 4711 };
    if (t->rank != a->root) {
        PMPI_Send(a->sbuf, n, a->rtype, a->root, TAG, a->comm);
        return;
    }
    MPI_Aint lb, extent;
    PMPI_Type_get_extent(a->rtype, &lb, &extent);
    size_t bytes = (size_t)extent * (size_t)n;
    char *of = must_alloc(bytes);
    for (int r = t->size - 1; r >= 0; r--) {
        void *to = r == t->size - 1 ? a->rbuf : of;
        if (r == t->rank)
            memcpy(to, a->sbuf, bytes);
        else
            PMPI_Recv(to, n, a->rtype, r, TAG, a->comm, MPI_STATUS_IGNORE);
        if (r < t->size - 1)
            PMPI_Reduce_local(of, a->rbuf, n, a->rtype, a->op);
    }
    free(of);
}

static void reduce(const item *t, const plain *in, plain *out, int in_elems, int out_elems)
{
    args a = t->a;
    int at = 0;
    a.rtype = t->red.plain_type;
    a.op = t->red.plain_op;
    void *from = spread(in, a.rtype, in_elems), *to = spread(out, a.rtype, out_elems);
    a.sbuf = from;
    a.rbuf = to;
    if (a.coll == C_REDUCE) {
        reduce_by_messages(t, &a, in_elems);
    } else {
        int rc = coll_host(&a);
        CHECK(rc == MPI_SUCCESS, "the host returns %d from %s", rc, t->text);
    }
    type_pack(to, out_elems, a.rtype, out->bytes, out->total, &at);
    free(from);
    free(to);
}

void item_reference(item *t)
{
    block *in = must_alloc((size_t)t->size * sizeof *in),
          *out = must_alloc((size_t)t->size * sizeof *out);
    int n = inputs(t, in), m = outputs(t, out);
    bool reduction = coll_traits(t->a.coll) & T_OP;
    if (reduction && m > 0 && out[0].count > t->a.ints.rcount)
        out[0].count = t->a.ints.rcount; /* in place the whole vector is there, not only my part */
    plain have = plain_new(in, n), get = plain_new(out, m);
    plain_load(&have, in);
    plain_load(&get, out);
    if (reduction)
        reduce(t, &have, &get, n > 0 ? in[0].count : 0, m > 0 ? out[0].count : 0);
    else
        move(t, &have, &get);
    plain_store(&get, out);
    plain_free(&have);
    plain_free(&get);
    free(in);
    free(out);
}
