/* graph.c: a rank's neighbours, and their edges sorted by rank. */
#include "topo/graph.h"

#include <stdlib.h>
#include <string.h>

/* How edges of a Cartesian topology match. Edge 2i is the neighbour below in dimension i, edge 2i+1
 * the one above. What I send down, my neighbour receives from above: a block that leaves through edge
 * k arrives in edge k^1. That matters only where both neighbours of a dimension are the same rank,
 * that is in periodic dimensions of size 1 and 2; everywhere else the rank alone determines the edge.
 * MPI 4.0 (section 8.6, and annex B as a correction of MPI 3.1) defines it by one tag per
 * direction. */
static int cart_match(int edge)
{
    return edge ^ 1;
}

static int by_key(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Sort the edges by rank, those of one rank by their index, or by the index of their match. Most
 * lists are sorted already. */
static int sort_edges(const int *ranks, int n, bool match, uint64_t *keys, int *sorted)
{
    int m = 0;
    bool ascending = true;
    for (int i = 0; i < n; i++) {
        if (ranks[i] == SK_PROC_NULL)
            continue;
        keys[m] = (uint64_t)ranks[i] << 32 | (uint32_t)(match ? cart_match(i) : i);
        ascending = ascending && (m == 0 || keys[m - 1] < keys[m]);
        m++;
    }
    if (!ascending)
        qsort(keys, (size_t)m, sizeof *keys, by_key);
    for (int i = 0; i < m; i++) {
        int edge = (int)(uint32_t)keys[i];
        sorted[i] = match ? cart_match(edge) : edge;
    }
    return m;
}

/* The ranks of sorted edges, each once, without `me`. */
static int ranks_once(const int *ranks, const int *sorted, int n, int me, int *out)
{
    int m = 0;
    for (int i = 0; i < n; i++) {
        int rank = ranks[sorted[i]];
        if (rank != me && (m == 0 || out[m - 1] != rank))
            out[m++] = rank;
    }
    return m;
}

static bool valid(int nranks, int n, const int *ranks)
{
    for (int i = 0; i < n; i++)
        if (ranks[i] != SK_PROC_NULL && (ranks[i] < 0 || ranks[i] >= nranks))
            return false;
    return n >= 0;
}

sk_status sk_graph_new(int nranks, int rank, int nin, const int *in, int nout, const int *out,
                       bool cartesian, sk_graph **out_graph)
{
    if (rank < 0 || rank >= nranks || !valid(nranks, nin, in) || !valid(nranks, nout, out))
        return SK_BADARG;
    if (cartesian && (nin != nout || nin % 2))
        return SK_BADARG;

    /* One piece of memory: the graph and its six lists. */
    size_t n_in = (size_t)nin, n_out = (size_t)nout;
    sk_graph *g = calloc(1, sizeof *g + 3 * (n_in + n_out) * sizeof(int));
    uint64_t *keys = calloc(1 + (nin > nout ? n_in : n_out), sizeof *keys);
    sk_status st = SK_NOMEM;
    if (!g || !keys)
        goto out;

    *g = (sk_graph){.nranks = nranks, .rank = rank, .nin = nin, .nout = nout};
    g->in = (int *)(g + 1);
    g->in_sorted = g->in + nin;
    g->sources = g->in_sorted + nin;
    g->out = g->sources + nin;
    g->out_sorted = g->out + nout;
    g->targets = g->out_sorted + nout;
    if (nin)
        memcpy(g->in, in, n_in * sizeof *in);
    if (nout)
        memcpy(g->out, out, n_out * sizeof *out);
    g->nin_sorted = sort_edges(g->in, nin, cartesian, keys, g->in_sorted);
    g->nout_sorted = sort_edges(g->out, nout, false, keys, g->out_sorted);
    g->nsources = ranks_once(g->in, g->in_sorted, g->nin_sorted, rank, g->sources);
    g->ntargets = ranks_once(g->out, g->out_sorted, g->nout_sorted, rank, g->targets);
    *out_graph = g;
    g = NULL;
    st = SK_OK;
out:
    free(keys);
    free(g);
    return st;
}

void sk_graph_free(sk_graph *g)
{
    free(g);
}

/* How many of the sorted edges have a rank below this one. */
static int below(const int *ranks, const int *sorted, int n, int64_t rank)
{
    int lo = 0, hi = n;
    while (lo < hi) {
        int mid = lo + (hi - lo) / 2;
        if (ranks[sorted[mid]] < rank)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static int edges(const int *ranks, const int *sorted, int n, int rank, int *first)
{
    *first = below(ranks, sorted, n, rank);
    return below(ranks, sorted, n, (int64_t)rank + 1) - *first;
}

int sk_graph_in_edges(const sk_graph *g, int source, int *first)
{
    return edges(g->in, g->in_sorted, g->nin_sorted, source, first);
}

int sk_graph_out_edges(const sk_graph *g, int target, int *first)
{
    return edges(g->out, g->out_sorted, g->nout_sorted, target, first);
}

int sk_graph_parallel(const sk_graph *g)
{
    int most = 0, first;
    for (int i = 0; i < g->ntargets; i++) {
        int n = sk_graph_out_edges(g, g->targets[i], &first);
        most = n > most ? n : most;
    }
    return most;
}
