/* calls_neighbor.c: the buffers of neighbourhood collectives: a block for each neighbour, or one
 * for all. */
#include <limits.h>
#include <stdlib.h>

#include "bench/mpi/calls.h"

static bool sends_one_block(sk_coll coll)
{
    return coll == SK_NEIGHBOR_ALLGATHER || coll == SK_NEIGHBOR_ALLGATHERV;
}

/* Elements of the block from one rank to another. */
static int block_elems(const sk_case *c, int from, int to)
{
    switch (c->coll) {
    case SK_NEIGHBOR_ALLGATHERV:
        return sk_case_uneven(c->n, from);
    case SK_NEIGHBOR_ALLTOALLV:
    case SK_NEIGHBOR_ALLTOALLW:
        return sk_case_uneven(c->n, from + to);
    default:
        return c->n;
    }
}

static bool take_memory(sk_case *c, int slots)
{
    size_t n = (size_t)slots + 1; /* no array is empty */
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

/* The blocks one after the other; returns their bytes. */
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

sk_case *sk_case_neighbor_new(sk_coll coll, int64_t bytes, const sk_neighbors *neighborhood)
{
    const sk_graph *g = neighborhood->graph;
    bool words = bytes % 8 == 0;
    int elem = words ? 8 : 1, slots = g->nin > g->nout ? g->nin : g->nout;
    if ((bytes + bytes / 2 + elem) * (slots + 1) > INT_MAX)
        return NULL;
    sk_case *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    *c = (sk_case){.coll = coll,
                   .bytes = bytes,
                   .rank = g->rank,
                   .nranks = g->nranks,
                   .type = words ? MPI_INT64_T : MPI_UINT8_T,
                   .elem = elem,
                   .n = (int)(bytes / elem),
                   .neighborhood = neighborhood};
    if (!take_memory(c, slots))
        goto fail;
    if (sends_one_block(coll)) {
        c->scounts[0] = block_elems(c, c->rank, c->rank);
        c->send_bytes = (size_t)c->scounts[0] * (size_t)elem;
    } else {
        c->send_bytes = lay_out(c, true, c->scounts, c->sdispls, c->sbytes);
    }
    c->recv_bytes = c->check_bytes = lay_out(c, false, c->rcounts, c->rdispls, c->rbytes);
    /* One byte more, so that empty buffers have addresses too. */
    if (!(c->send = calloc(c->send_bytes + 1, 1)) || !(c->recv = calloc(c->recv_bytes + 1, 1)))
        goto fail;
    return c;
fail:
    sk_case_free(c);
    return NULL;
}

/* What tells the block from one rank to another apart; allgather sends the same to all. */
static int seed_of(const sk_case *c, int from, int to)
{
    return sends_one_block(c->coll) ? from : from * 61 + to;
}

void sk_case_neighbor_fill(const sk_case *c)
{
    const sk_graph *g = c->neighborhood->graph;
    if (sends_one_block(c->coll))
        sk_case_fill(c, c->send, c->send_bytes, seed_of(c, c->rank, c->rank));
    for (int i = 0; !sends_one_block(c->coll) && i < g->nout; i++)
        sk_case_fill(c, c->send + c->sbytes[i], (size_t)c->scounts[i] * (size_t)c->elem,
                     seed_of(c, c->rank, g->out[i]));
}

void sk_case_neighbor_expect(const sk_case *c, char *out)
{
    const sk_graph *g = c->neighborhood->graph;
    for (int i = 0; i < g->nin; i++)
        sk_case_fill(c, out + c->rbytes[i], (size_t)c->rcounts[i] * (size_t)c->elem,
                     seed_of(c, g->in[i], c->rank));
}

double sk_case_neighbor_memory(sk_coll coll, int64_t bytes, const sk_neighbors *neighborhood)
{
    double out = sends_one_block(coll) ? 1 : neighborhood->graph->nout,
           in = neighborhood->graph->nin;
    return 1.5 * (double)bytes * (out + 2 * in);
}
