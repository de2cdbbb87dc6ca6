/* neighbor_make.c: see neighbor_digraph.h: the graphs become communicators. */
#include "neighbor_digraph.h"

#include <stdlib.h>

/* A rank without edges has no weights to show, but must not say "unweighted" when others do not. */
static const int *weights_of(const int *weights, int n, bool weighted)
{
    return !weighted ? MPI_UNWEIGHTED : n > 0 ? weights : MPI_WEIGHTS_EMPTY;
}

MPI_Comm digraph_make_adjacent(const lists *l, MPI_Comm base, digraph_options how)
{
    MPI_Comm c = MPI_COMM_NULL;
    int rc = MPI_Dist_graph_create_adjacent(
        base, l->nin, l->in, weights_of(l->in_weights, l->nin, how.weighted), l->nout, l->out,
        weights_of(l->out_weights, l->nout, how.weighted), how.info, how.reorder, &c);
    CHECK(rc == MPI_SUCCESS, "MPI_Dist_graph_create_adjacent gives %d", rc);
    return c;
}

/* Every edge is told by a rank drawn for it, one after the other, so that a source comes up in
 * several entries. */
MPI_Comm digraph_make_dist(const digraph *w, rng *shared, MPI_Comm base, digraph_options how)
{
    int me, n = 0;
    size_t most = (size_t)digraph_edges(w) * sizeof(int);
    int *from = must_alloc(most), *to = must_alloc(most), *degrees = must_alloc(most),
        *weights = must_alloc(most);
    MPI_Comm c = MPI_COMM_NULL;
    MPI_Comm_rank(base, &me);
    for (int s = 0; s < w->n; s++)
        for (int d = 0; d < w->n; d++)
            for (int k = 0; k < w->times[s * w->n + d]; k++) {
                if (rng_below(shared, w->n) != me)
                    continue;
                from[n] = s;
                to[n] = d;
                degrees[n] = 1;
                weights[n++] = digraph_weight(s, d);
            }
#ifdef OPEN_MPI
    how.reorder = false; /* 4.1.4 (treematch) renumbers the ranks, but not the edges */
#endif
    int rc = MPI_Dist_graph_create(base, n, from, degrees, to, weights_of(weights, n, how.weighted),
                                   how.info, how.reorder, &c);
    CHECK(rc == MPI_SUCCESS, "MPI_Dist_graph_create gives %d", rc);
    free(from);
    free(to);
    free(degrees);
    free(weights);
    return c;
}

MPI_Comm digraph_make_graph(const digraph *w, MPI_Comm base, bool reorder)
{
    int n = 0, *ends = must_alloc((size_t)w->n * sizeof *ends),
        *to = must_alloc((size_t)digraph_edges(w) * sizeof *to);
    MPI_Comm c = MPI_COMM_NULL;
    for (int s = 0; s < w->n; s++) {
        for (int d = 0; d < w->n; d++)
            for (int k = 0; k < w->times[s * w->n + d]; k++)
                to[n++] = d;
        ends[s] = n;
    }
    int rc = MPI_Graph_create(base, w->n, ends, to, reorder, &c);
    CHECK(rc == MPI_SUCCESS, "MPI_Graph_create gives %d", rc);
    free(ends);
    free(to);
    return c;
}
