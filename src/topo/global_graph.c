/* global_graph.c: two bit matrices (who sends to whom, and its transpose) or two sets of lists,
 * whichever is smaller: n*n/4 bytes against 8 bytes per edge. All memory is allocated at the start in
 * one block, so that its size is known before. */
#include "topo/global_graph.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct sk_global_graph {
    int nranks;
    bool bits, frozen;
    int64_t nwords; /* of a row of bits */
    int64_t most, edges;
    int *nout, *nin; /* of each rank; nout is NOT_ADDED before it was added */

    uint64_t *out_bits, *in_bits; /* as bits */

    int64_t *out_first, *in_first; /* as lists: where those of a rank begin */
    int *out, *in;
};

enum { NOT_ADDED = -1 };

static int64_t words_of(int nranks)
{
    return ((int64_t)nranks + 63) / 64;
}

static int64_t bits_bytes(int nranks)
{
    return 2 * nranks * words_of(nranks) * (int64_t)sizeof(uint64_t);
}

static int64_t lists_bytes(int nranks, int64_t edges)
{
    return 2 * nranks * (int64_t)sizeof(int64_t) + 2 * edges * (int64_t)sizeof(int);
}

/* The first case only keeps the sum of the second from overflowing: no bits take as much. */
static bool wants_bits(int nranks, int64_t edges)
{
    return edges > INT64_MAX / 32 || bits_bytes(nranks) <= lists_bytes(nranks, edges);
}

int64_t sk_global_graph_bytes(int nranks, int64_t edges)
{
    int64_t each = 2 * nranks * (int64_t)sizeof(int);
    return (int64_t)sizeof(sk_global_graph) + each +
           (wants_bits(nranks, edges) ? bits_bytes(nranks) : lists_bytes(nranks, edges));
}

/* Words of eight bytes come first, so everything is aligned. */
sk_global_graph *sk_global_graph_new(int nranks, int64_t edges)
{
    if (nranks < 0 || edges < 0)
        return NULL;
    sk_global_graph *w = calloc(1, (size_t)sk_global_graph_bytes(nranks, edges));
    if (!w)
        return NULL;
    w->nranks = nranks;
    w->most = edges;
    w->bits = wants_bits(nranks, edges);
    w->nwords = words_of(nranks);
    if (w->bits) {
        w->out_bits = (uint64_t *)(w + 1);
        w->in_bits = w->out_bits + nranks * w->nwords;
        w->nout = (int *)(w->in_bits + nranks * w->nwords);
    } else {
        w->out_first = (int64_t *)(w + 1);
        w->in_first = w->out_first + nranks;
        w->nout = (int *)(w->in_first + nranks);
        w->out = w->nout + 2 * (int64_t)nranks;
        w->in = w->out + edges;
    }
    w->nin = w->nout + nranks;
    for (int i = 0; i < nranks; i++)
        w->nout[i] = NOT_ADDED;
    return w;
}

void sk_global_graph_free(sk_global_graph *w)
{
    free(w);
}

static bool valid(const sk_global_graph *w, int rank, const int *targets, int n)
{
    if (w->frozen || rank < 0 || rank >= w->nranks || w->nout[rank] != NOT_ADDED)
        return false;
    if (n < 0 || n > w->most - w->edges)
        return false;
    for (int i = 0; i < n; i++)
        if (targets[i] < 0 || targets[i] >= w->nranks || targets[i] == rank ||
            (i > 0 && targets[i] <= targets[i - 1]))
            return false;
    return true;
}

static void set_bit(sk_global_graph *w, uint64_t *bits, int row, int column)
{
    bits[row * w->nwords + column / 64] |= (uint64_t)1 << column % 64;
}

sk_status sk_global_graph_add(sk_global_graph *w, int rank, const int *targets, int n)
{
    if (!valid(w, rank, targets, n))
        return SK_BADARG;
    w->nout[rank] = n;
    for (int i = 0; i < n; i++)
        w->nin[targets[i]]++;
    if (w->bits) {
        for (int i = 0; i < n; i++) {
            set_bit(w, w->out_bits, rank, targets[i]);
            set_bit(w, w->in_bits, targets[i], rank);
        }
    } else {
        w->out_first[rank] = w->edges;
        if (n)
            memcpy(w->out + w->edges, targets, (size_t)n * sizeof *targets);
    }
    w->edges += n;
    return SK_OK;
}

/* Going through the ranks in order makes the lists of sources ascending. */
static void list_sources(sk_global_graph *w)
{
    int64_t at = 0;
    for (int i = 0; i < w->nranks; i++) {
        w->in_first[i] = at;
        at += w->nin[i];
        w->nin[i] = 0;
    }
    for (int from = 0; from < w->nranks; from++)
        for (int i = 0; i < w->nout[from]; i++) {
            int to = w->out[w->out_first[from] + i];
            w->in[w->in_first[to] + w->nin[to]++] = from;
        }
}

sk_status sk_global_graph_freeze(sk_global_graph *w)
{
    if (w->frozen)
        return SK_BADARG;
    for (int i = 0; i < w->nranks; i++)
        if (w->nout[i] == NOT_ADDED)
            w->nout[i] = 0;
    if (!w->bits)
        list_sources(w);
    w->frozen = true;
    return SK_OK;
}

int sk_global_graph_nranks(const sk_global_graph *w)
{
    return w->nranks;
}

int64_t sk_global_graph_edges(const sk_global_graph *w)
{
    return w->edges;
}

static int by_number(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

bool sk_global_graph_has(const sk_global_graph *w, int from, int to)
{
    if (w->bits)
        return w->out_bits[from * w->nwords + to / 64] >> to % 64 & 1;
    return w->nout[from] && bsearch(&to, w->out + w->out_first[from], (size_t)w->nout[from],
                                    sizeof to, by_number) != NULL;
}

int sk_global_graph_degree(const sk_global_graph *w, int rank, bool in)
{
    return in ? w->nin[rank] : w->nout[rank];
}

static void unpack(const uint64_t *row, int64_t nwords, int *out)
{
    for (int64_t i = 0; i < nwords; i++)
        for (uint64_t rest = row[i]; rest; rest &= rest - 1)
            *out++ = (int)(i * 64 + __builtin_ctzll(rest));
}

void sk_global_graph_targets(const sk_global_graph *w, int rank, int *out)
{
    if (w->bits)
        unpack(w->out_bits + rank * w->nwords, w->nwords, out);
    else if (w->nout[rank])
        memcpy(out, w->out + w->out_first[rank], (size_t)w->nout[rank] * sizeof *out);
}

void sk_global_graph_sources(const sk_global_graph *w, int rank, int *out)
{
    if (w->bits)
        unpack(w->in_bits + rank * w->nwords, w->nwords, out);
    else if (w->nin[rank])
        memcpy(out, w->in + w->in_first[rank], (size_t)w->nin[rank] * sizeof *out);
}
