/* calls.c: see calls.h. */
#include "bench/mpi/calls.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lab/graph/spec.h"

/* Elements of block i of the v forms: three halves and one half of n alternately. */
static int uneven(int n, int i)
{
    return i % 2 ? n - n / 2 : n + n / 2;
}

/* Elements of block i when n are divided among all ranks. */
static int divided(int n, int nranks, int i)
{
    return (int)((int64_t)n * (i + 1) / nranks - (int64_t)n * i / nranks);
}

/* Elements of block i as this rank sends and receives it, in the v forms. */
static void block_counts(const sk_case *c, int i, int *out, int *in)
{
    switch (c->coll) {
    case SK_SCATTERV:
        *out = uneven(c->n, i);
        *in = uneven(c->n, c->rank);
        break;
    case SK_GATHERV:
    case SK_ALLGATHERV:
        *out = uneven(c->n, c->rank);
        *in = uneven(c->n, i);
        break;
    case SK_REDUCE_SCATTER:
        *out = *in = divided(c->n, c->nranks, i);
        break;
    default: /* alltoallv, alltoallw: what i sends to j is what j gets from i */
        *out = *in = uneven(c->n, c->rank + i);
        break;
    }
}

static size_t fill_counts(sk_case *c)
{
    int unit = c->coll == SK_ALLTOALLW ? c->elem : 1;
    int out_at = 0, in_at = 0;
    for (int i = 0; i < c->nranks; i++) {
        block_counts(c, i, &c->scounts[i], &c->rcounts[i]);
        c->sdispls[i] = out_at * unit;
        c->rdispls[i] = in_at * unit;
        out_at += c->scounts[i];
        in_at += c->rcounts[i];
        c->types[i] = c->type;
    }
    return (size_t)(out_at > in_at ? out_at : in_at);
}

/* Elements of the buffers of this rank: of all blocks, or of one. */
static void buffer_elems(const sk_case *c, size_t all, size_t *out, size_t *in)
{
    bool root = c->rank == 0;
    size_t n = (size_t)c->n;
    switch (c->coll) {
    default: /* barrier; neighbourhood collectives have their own function below */
        break;
    case SK_BCAST:
        *out = 0, *in = n;
        break;
    case SK_SCATTER:
    case SK_SCATTERV:
        *out = root ? all : 0, *in = (size_t)c->rcounts[0];
        break;
    case SK_GATHER:
    case SK_GATHERV:
        *out = (size_t)c->scounts[0], *in = root ? all : 0;
        break;
    case SK_ALLGATHER:
    case SK_ALLGATHERV:
        *out = (size_t)c->scounts[0], *in = all;
        break;
    case SK_ALLTOALL:
    case SK_ALLTOALLV:
    case SK_ALLTOALLW:
        *out = *in = all;
        break;
    case SK_REDUCE:
        *out = n, *in = root ? n : 0;
        break;
    case SK_REDUCE_SCATTER:
        *out = n, *in = (size_t)c->rcounts[c->rank];
        break;
    case SK_REDUCE_SCATTER_BLOCK:
        *out = n * (size_t)c->nranks, *in = n;
        break;
    case SK_ALLREDUCE:
    case SK_SCAN:
    case SK_EXSCAN:
        *out = *in = n;
        break;
    }
}

static bool uneven_blocks(sk_coll coll)
{
    return coll == SK_SCATTERV || coll == SK_GATHERV || coll == SK_ALLGATHERV ||
           coll == SK_ALLTOALLV || coll == SK_ALLTOALLW || coll == SK_REDUCE_SCATTER;
}

double sk_case_pool_bytes(int nranks)
{
    enum { LEAST = 16 << 20 };
    long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
    if (cache <= 0)
        cache = sysconf(_SC_LEVEL2_CACHE_SIZE);
    return 2.0 * (double)(cache > LEAST ? cache : LEAST) / nranks;
}

/* From one buffer to the next: whole lines; a byte more, so that empty ones have addresses too. */
static size_t stride(size_t bytes)
{
    return bytes / 64 * 64 + 64;
}

/* All of it is written once, so that it exists. */
static char *new_pool(const sk_case *c, size_t bytes)
{
    size_t all = c->pools * stride(bytes);
    char *p = aligned_alloc(64, all);
    if (p)
        memset(p, 0, all);
    return p;
}

static void use_pool(sk_case *c, size_t i)
{
    c->pool = i;
    c->send = c->send_pool + i * stride(c->send_bytes);
    c->recv = c->recv_pool + i * stride(c->recv_bytes);
}

static bool new_buffers(sk_case *c)
{
    size_t one = stride(c->send_bytes) + stride(c->recv_bytes);
    c->pools = c->buffers == SK_FRESH ? (size_t)sk_case_pool_bytes(c->nranks) / one + 2 : 1;
    c->send_pool = new_pool(c, c->send_bytes);
    c->recv_pool = new_pool(c, c->recv_bytes);
    if (!c->send_pool || !c->recv_pool)
        return false;
    use_pool(c, 0);
    return true;
}

/* As a computation would: all words of the buffer; its stride leaves space for the last. */
static void write_again(char *buf, size_t bytes)
{
    uint64_t *words = (void *)buf;
    for (size_t i = 0; i < (bytes + 7) / 8; i++)
        words[i]++;
}

void sk_case_prepare(sk_case *c)
{
    if (c->buffers == SK_FRESH)
        use_pool(c, (c->pool + 1) % c->pools);
    if (c->buffers != SK_WRITTEN)
        return;
    if (c->coll == SK_BCAST && c->rank == 0)
        write_again(c->recv, c->recv_bytes);
    else
        write_again(c->send, c->send_bytes);
}

sk_case *sk_case_new(sk_coll coll, int64_t bytes, int rank, int nranks,
                     const sk_conditions *conditions)
{
    bool words = bytes % 8 == 0;
    int elem = words ? 8 : 1;
    if ((bytes + bytes / 2 + elem) * nranks > INT_MAX)
        return NULL;
    sk_case *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    *c = (sk_case){.coll = coll,
                   .bytes = bytes,
                   .rank = rank,
                   .nranks = nranks,
                   .form = conditions->form,
                   .buffers = conditions->buffers,
                   .elem = elem};
    c->type = words ? MPI_INT64_T : MPI_UINT8_T;
    c->n = (int)(bytes / elem);
    if (coll == SK_REDUCE_SCATTER_BLOCK)
        c->n = (c->n + nranks - 1) / nranks;

    size_t p = (size_t)nranks;
    c->scounts = calloc(4 * p, sizeof(int));
    c->types = calloc(p, sizeof(MPI_Datatype));
    if (!c->scounts || !c->types)
        goto fail;
    c->sdispls = c->scounts + p;
    c->rcounts = c->sdispls + p;
    c->rdispls = c->rcounts + p;

    size_t all = p * (size_t)c->n, out = 0, in = 0;
    if (uneven_blocks(coll))
        all = fill_counts(c);
    else
        c->scounts[0] = c->rcounts[0] = c->n;
    buffer_elems(c, all, &out, &in);
    c->send_bytes = out * (size_t)elem;
    c->recv_bytes = in * (size_t)elem;
    c->check_bytes = coll == SK_EXSCAN && rank == 0 ? 0 : c->recv_bytes;
    if (!new_buffers(c))
        goto fail;
    return c;
fail:
    sk_case_free(c);
    return NULL;
}

void sk_case_free(sk_case *c)
{
    if (!c)
        return;
    free(c->send_pool);
    free(c->recv_pool);
    free(c->scounts);
    free(c->sbytes);
    free(c->types);
    free(c);
}

double sk_case_memory(sk_coll coll, int64_t bytes, int nranks)
{
    double b = (double)bytes;
    switch (coll) {
    case SK_ALLTOALL:
    case SK_ALLTOALLV:
    case SK_ALLTOALLW:
        return 3 * b * nranks;
    case SK_ALLGATHER:
    case SK_ALLGATHERV:
        return (2.0 * nranks + 1) * b;
    case SK_SCATTER: /* the buffers of the root, divided among the ranks */
    case SK_SCATTERV:
    case SK_GATHER:
    case SK_GATHERV:
        return 5 * b;
    default:
        return 3 * b;
    }
}

/* Fills a buffer with numbers that depend on `seed` and on their position. */
static void fill(const sk_case *c, char *buf, size_t bytes, int seed)
{
    if (c->elem == 1) {
        for (size_t i = 0; i < bytes; i++)
            buf[i] = (char)(seed * 131 + (int)(i % 9973) * 7);
        return;
    }
    for (size_t i = 0; i < bytes / sizeof(int64_t); i++) {
        int64_t v = (int64_t)seed * 1000003 + (int64_t)(i * 7919 % 1000033);
        memcpy(buf + i * sizeof v, &v, sizeof v);
    }
}

/* Neighbourhood collectives: a block for each neighbour, or one for all. */

static sk_status read_spec(const char *text, int rank, int nranks, sk_graph **out)
{
    sk_spec *spec = NULL;
    char err[512];
    sk_status st = sk_spec_new(text, nranks, &spec, err, sizeof err);
    if (st != SK_OK) {
        fprintf(stderr, "skein-bench: rank %d: %s\n", rank, err);
        return st;
    }
    st = sk_spec_graph(spec, rank, out);
    if (st != SK_OK)
        fprintf(stderr, "skein-bench: rank %d: %s\n", rank, sk_status_text(st));
    sk_spec_free(spec);
    return st;
}

bool sk_neighbors_comm(const sk_graph *g, bool host, MPI_Comm *out)
{
    /* volatile: gcc warns that Open MPI's MPI_UNWEIGHTED is too short an array. */
    int *volatile none = MPI_UNWEIGHTED;
    int (*make)(MPI_Comm, int, const int[], const int[], int, const int[], const int[], MPI_Info,
                int, MPI_Comm *) =
        host ? PMPI_Dist_graph_create_adjacent : MPI_Dist_graph_create_adjacent;
    return make(MPI_COMM_WORLD, g->nin, g->in, none, g->nout, g->out, none, MPI_INFO_NULL, 0,
                out) == MPI_SUCCESS;
}

bool sk_neighbors_new(const char *spec, int rank, int nranks, sk_neighbors *out)
{
    sk_graph *g = NULL;
    int mine = read_spec(spec, rank, nranks, &g) == SK_OK, all;
    PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (!all || !g) {
        sk_graph_free(g);
        return false;
    }
    out->graph = g;
    return sk_neighbors_comm(g, false, &out->comm);
}

void sk_neighbors_free(sk_neighbors *n)
{
    MPI_Comm_free(&n->comm);
    sk_graph_free(n->graph);
}

static bool sends_one_block(sk_coll coll)
{
    return coll == SK_NEIGHBOR_ALLGATHER || coll == SK_NEIGHBOR_ALLGATHERV;
}

/* Elements of the block from one rank to another. */
static int block_elems(const sk_case *c, int from, int to)
{
    switch (c->coll) {
    case SK_NEIGHBOR_ALLGATHERV:
        return uneven(c->n, from);
    case SK_NEIGHBOR_ALLTOALLV:
    case SK_NEIGHBOR_ALLTOALLW:
        return uneven(c->n, from + to);
    default:
        return c->n;
    }
}

static bool allocate(sk_case *c, int degree)
{
    size_t n = (size_t)degree + 1; /* so that no array is empty */
    c->scounts = calloc(4 * n, sizeof(int));
    c->sbytes = calloc(2 * n, sizeof(MPI_Aint));
    c->types = calloc(n, sizeof(MPI_Datatype));
    if (!c->scounts || !c->sbytes || !c->types)
        return false;
    c->sdispls = c->scounts + n;
    c->rcounts = c->sdispls + n;
    c->rdispls = c->rcounts + n;
    c->rbytes = c->sbytes + n;
    for (size_t i = 0; i < n; i++)
        c->types[i] = c->type;
    return true;
}

/* Places the blocks one after the other; returns their bytes. */
static size_t lay_out(const sk_case *c, bool out, int *counts, int *displs, MPI_Aint *bytes)
{
    const sk_graph *g = c->neighborhood->graph;
    int at = 0, n = out ? g->nout : g->nin;
    for (int i = 0; i < n; i++) {
        counts[i] = out ? block_elems(c, c->rank, g->out[i]) : block_elems(c, g->in[i], c->rank);
        displs[i] = at;
        bytes[i] = (MPI_Aint)at * c->elem;
        at += counts[i];
    }
    return (size_t)at * (size_t)c->elem;
}

sk_case *sk_case_neighbor_new(sk_coll coll, int64_t bytes, const sk_neighbors *neighborhood,
                              const sk_conditions *conditions)
{
    const sk_graph *g = neighborhood->graph;
    bool words = bytes % 8 == 0;
    int elem = words ? 8 : 1, degree = g->nin > g->nout ? g->nin : g->nout;
    if ((bytes + bytes / 2 + elem) * (degree + 1) > INT_MAX)
        return NULL;
    sk_case *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    *c = (sk_case){.coll = coll,
                   .bytes = bytes,
                   .rank = g->rank,
                   .nranks = g->nranks,
                   .form = conditions->form,
                   .buffers = conditions->buffers,
                   .type = words ? MPI_INT64_T : MPI_UINT8_T,
                   .elem = elem,
                   .n = (int)(bytes / elem),
                   .neighborhood = neighborhood};
    if (!allocate(c, degree))
        goto fail;
    if (sends_one_block(coll)) {
        c->scounts[0] = block_elems(c, c->rank, c->rank);
        c->send_bytes = (size_t)c->scounts[0] * (size_t)elem;
    } else {
        c->send_bytes = lay_out(c, true, c->scounts, c->sdispls, c->sbytes);
    }
    c->recv_bytes = c->check_bytes = lay_out(c, false, c->rcounts, c->rdispls, c->rbytes);
    if (!new_buffers(c))
        goto fail;
    return c;
fail:
    sk_case_free(c);
    return NULL;
}

/* The seed of the block from one rank to another; allgather sends the same block to all. */
static int seed_of(const sk_case *c, int from, int to)
{
    return sends_one_block(c->coll) ? from : from * 61 + to;
}

static void neighbor_fill(const sk_case *c)
{
    const sk_graph *g = c->neighborhood->graph;
    if (sends_one_block(c->coll))
        fill(c, c->send, c->send_bytes, seed_of(c, c->rank, c->rank));
    for (int i = 0; !sends_one_block(c->coll) && i < g->nout; i++)
        fill(c, c->send + c->sbytes[i], (size_t)c->scounts[i] * (size_t)c->elem,
             seed_of(c, c->rank, g->out[i]));
}

void sk_case_neighbor_expect(const sk_case *c, char *out)
{
    const sk_graph *g = c->neighborhood->graph;
    for (int i = 0; i < g->nin; i++)
        fill(c, out + c->rbytes[i], (size_t)c->rcounts[i] * (size_t)c->elem,
             seed_of(c, g->in[i], c->rank));
}

double sk_case_neighbor_memory(sk_coll coll, int64_t bytes, const sk_neighbors *neighborhood)
{
    double out = sends_one_block(coll) ? 1 : neighborhood->graph->nout,
           in = neighborhood->graph->nin;
    return 1.5 * (double)bytes * (out + 2 * in);
}

void sk_case_reset(const sk_case *c)
{
    memset(c->recv, 0xee, c->recv_bytes);
    if (c->neighborhood)
        neighbor_fill(c);
    else
        fill(c, c->send, c->send_bytes, c->rank);
    if (c->coll == SK_BCAST && c->rank == 0)
        fill(c, c->recv, c->recv_bytes, 0);
}
