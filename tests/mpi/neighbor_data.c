/* neighbor_data.c: see neighbor_item.h. The data of an edge is a pattern that both ends know, so
 * the result is known without any message. */
#include "neighbor_item.h"

#include <stdlib.h>
#include <string.h>

/* The bytes that `from` has for `to` over this edge in the present round. */
static void pattern(const nitem *t, int from, int to, int edge, void *bytes, size_t n)
{
    if (t->sizes.by_source)
        to = edge = 0;
    rng r = rng_seed(t->sizes.seed + (uint64_t)t->round, (uint64_t)from << 32 | (uint64_t)to,
                     (uint64_t)edge);
    rng_fill(&r, bytes, n);
}

static int block_bytes(const side *s, int i)
{
    int size;
    PMPI_Type_size(s->types != NULL ? s->types[i] : s->type, &size);
    return size * s->counts[i];
}

/* Put plain bytes into a block, whatever its type. */
static void put(const side *s, int i, const void *bytes, int n)
{
    MPI_Datatype type = s->types != NULL ? s->types[i] : s->type;
    MPI_Aint lb, step = 1;
    int at = 0;
    if (s->types == NULL)
        PMPI_Type_get_extent(type, &lb, &step);
    type_unpack(bytes, n, &at, (char *)s->buf + step * s->displs[i], s->counts[i], type);
}

static void put_pattern(const nitem *t, const side *s, int i, int from, int to, int edge)
{
    int n = block_bytes(s, i);
    if (n == 0)
        return;
    void *bytes = must_alloc((size_t)n);
    pattern(t, from, to, edge, bytes, (size_t)n);
    put(s, i, bytes, n);
    free(bytes);
}

static bool gathers(const nitem *t)
{
    return t->coll == N_ALLGATHER || t->coll == N_ALLGATHERV;
}

static void put_sent(const nitem *t)
{
    const topo *on = t->on;
    int n = gathers(t) ? 1 : on->nout;
    for (int i = 0; i < n; i++) {
        slot to = gathers(t) ? (slot){0, 0} : on->out[i];
        if (to.rank != MPI_PROC_NULL)
            put_pattern(t, &t->send, i, on->rank, to.rank, to.edge);
    }
}

/* A block from beyond the border is not touched. */
static void put_received(const nitem *t)
{
    const topo *on = t->on;
    for (int i = 0; i < on->nin; i++)
        if (on->in[i].rank != MPI_PROC_NULL)
            put_pattern(t, &t->recv, i, on->in[i].rank, on->rank, on->in[i].edge);
}

/* ---- the host's opinion ---- */

typedef struct plain {
    int n, *counts, *displs;
    unsigned char *bytes;
    MPI_Datatype *types;
} plain;

/* The blocks of a side one after the other. */
static plain plain_new(const side *s, int n)
{
    plain p = {.n = n};
    int total = 0;
    p.counts = must_alloc((size_t)(n + 1) * sizeof(int));
    p.displs = must_alloc((size_t)(n + 1) * sizeof(int));
    p.types = must_alloc((size_t)(n + 1) * sizeof(MPI_Datatype));
    for (int i = 0; i < n; i++) {
        p.types[i] = MPI_BYTE;
        p.displs[i] = total;
        total += p.counts[i] = block_bytes(s, i);
    }
    p.bytes = must_alloc((size_t)total);
    return p;
}

static void plain_free(plain *p)
{
    free(p->counts);
    free(p->displs);
    free(p->types);
    free(p->bytes);
}

static void compare_with_host(const nitem *t, const plain *got)
{
    const topo *on = t->on;
    for (int i = 0; i < on->nin; i++) {
        size_t n = (size_t)got->counts[i];
        unsigned char *should = must_alloc(n);
        if (on->in[i].rank != MPI_PROC_NULL)
            pattern(t, on->in[i].rank, on->rank, on->in[i].edge, should, n);
        CHECK(memcmp(should, got->bytes + got->displs[i], n) == 0,
              "the host's own call gives another block %d than expected: %s", i, t->text);
        free(should);
    }
}

static void ask_host(const nitem *t)
{
    const topo *on = t->on;
    plain in = plain_new(&t->send, gathers(t) ? 1 : on->nout), out = plain_new(&t->recv, on->nin);
    for (int i = 0; i < in.n; i++) {
        slot to = gathers(t) ? (slot){0, 0} : on->out[i];
        pattern(t, on->rank, to.rank, to.edge, in.bytes + in.displs[i], (size_t)in.counts[i]);
    }
    /* Open MPI wants both sides to be equal even where one has no neighbours */
    int scount = in.n > 0 ? in.counts[0] : out.counts[0];
    args a = {.comm = on->comm,
              .sbuf = in.bytes,
              .rbuf = out.bytes,
              .stype = MPI_BYTE,
              .rtype = MPI_BYTE,
              .stypes = in.types,
              .rtypes = out.types,
              .ints = {scount, out.n > 0 ? out.counts[0] : scount, in.counts, in.displs, out.counts,
                       out.displs}};
    args_widen(&a, in.n, out.n);
    int rc = ncoll_host(t->coll, &a, F_BLOCKING, NULL);
    CHECK(rc == MPI_SUCCESS, "the host returns %d from %s", rc, t->text);
    compare_with_host(t, &out);
    args_free_wide(&a);
    plain_free(&in);
    plain_free(&out);
}

void nitem_refill(nitem *t)
{
    t->round++;
    rng_fill(&t->fill, t->send.mem, t->send.size);
    rng_fill(&t->fill, t->recv.mem, t->recv.size);
    put_sent(t);
    side_remember(&t->send);
    side_expect(&t->send);
    side_remember(&t->recv);
    put_received(t);
    side_expect(&t->recv);
    if (t->ask_host && !nitem_host_errs(t->coll, F_BLOCKING, false, t->on))
        ask_host(t);
}
