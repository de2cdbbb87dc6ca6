/* own_topo.c: the calls for graph topologies, for a host that has none (SK_HAVE_GRAPHS 0): see
 * own_graph.h. */
#include "mpi/dispatch/dispatch.h"
#include "mpi/dispatch/startup.h"
#include "mpi/state/own_graph.h"

#if !SK_HAVE_GRAPHS
#include <stdlib.h>
#include <string.h>

static sk_own_graph *new_topo(int kind, int nin, int nout, int nnodes, int nedges)
{
    size_t ints = 2 * ((size_t)nin + (size_t)nout) + (size_t)nnodes + (size_t)nedges;
    sk_own_graph *t = calloc(1, sizeof *t + ints * sizeof(int));
    if (!t)
        return NULL;
    *t = (sk_own_graph){.kind = kind, .nin = nin, .nout = nout, .nnodes = nnodes, .nedges = nedges};
    t->in = (int *)(t + 1);
    t->out = t->in + nin;
    t->in_weights = t->out + nout;
    t->out_weights = t->in_weights + nin;
    t->index = t->out_weights + nout;
    t->edges = t->index + nnodes;
    return t;
}

static void fill(int *to, const int *from, int n)
{
    if (n > 0 && from)
        memcpy(to, from, (size_t)n * sizeof *to);
}

static bool given(const int *weights)
{
    return weights != MPI_UNWEIGHTED && weights != MPI_WEIGHTS_EMPTY;
}

/* Make a duplicate of `comm` with this topology. The duplicate owns the topology from now on. */
static int attach(MPI_Comm comm, sk_own_graph *t, MPI_Info info, MPI_Comm *out)
{
    MPI_Comm made;
    int rc = t && sk_process_ready() ? sk_host.Comm_dup(comm, &made) : MPI_ERR_NO_MEM;
    if (rc == MPI_SUCCESS) {
        t->users = 1;
        rc = sk_host.Comm_set_attr(made, sk_proc.topo_key, t);
    }
    if (rc == MPI_SUCCESS) {
        *out = made;
        sk_dispatch_topo_created(made, info);
    } else
        free(t);
    return rc;
}

static bool all_in_range(const int *ranks, int n, int nranks)
{
    for (int i = 0; i < n; i++)
        if (ranks[i] < 0 || ranks[i] >= nranks)
            return false;
    return true;
}

SK_EXPORT int MPI_Dist_graph_create_adjacent(MPI_Comm comm, int nin, const int *sources,
                                             const int *in_weights, int nout,
                                             const int *destinations, const int *out_weights,
                                             MPI_Info info, int reorder, MPI_Comm *out)
{
    (void)reorder;
    int nranks;
    sk_host.Comm_size(comm, &nranks);
    if (nin < 0 || nout < 0 || !all_in_range(sources, nin, nranks) ||
        !all_in_range(destinations, nout, nranks))
        return MPI_ERR_ARG;
    sk_own_graph *t = new_topo(MPI_DIST_GRAPH, nin, nout, 0, 0);
    if (t) {
        fill(t->in, sources, nin);
        fill(t->out, destinations, nout);
        t->weighted = in_weights != MPI_UNWEIGHTED;
        fill(t->in_weights, given(in_weights) ? in_weights : NULL, nin);
        fill(t->out_weights, given(out_weights) ? out_weights : NULL, nout);
    }
    return attach(comm, t, info, out);
}

/* ---- MPI_Dist_graph_create: any rank may give any edge, so edges are sent to both their ends ---- */

enum { WORDS = 3 }; /* from, to, weight */

typedef struct sk_edge_list {
    int *words, n;
} sk_edge_list;

/* Send each edge (three words) to the rank in its word `at`. Received edges are in order of ranks. */
static int send_edges(MPI_Comm comm, int nranks, sk_edge_list mine, int at, sk_edge_list *got)
{
    size_t p = (size_t)nranks;
    int *count = calloc(4 * p, sizeof *count), rc = MPI_ERR_NO_MEM;
    int *displ = count + p, *their_count = displ + p, *their_displ = their_count + p;
    int *sorted = malloc(((size_t)mine.n * WORDS + 1) * sizeof *sorted);
    *got = (sk_edge_list){0};
    if (!count || !sorted)
        goto out;
    for (int i = 0; i < mine.n; i++)
        count[mine.words[i * WORDS + at]] += WORDS;
    for (int r = 1; r < nranks; r++)
        displ[r] = displ[r - 1] + count[r - 1];
    for (int i = 0; i < mine.n; i++) {
        int *next = &displ[mine.words[i * WORDS + at]];
        memcpy(&sorted[*next], &mine.words[i * WORDS], WORDS * sizeof *sorted);
        *next += WORDS;
    }
    for (int r = 0; r < nranks; r++)
        displ[r] -= count[r];
    rc = sk_host.Alltoall(count, 1, MPI_INT, their_count, 1, MPI_INT, comm);
    if (rc != MPI_SUCCESS)
        goto out;
    int total = 0;
    for (int r = 0; r < nranks; r++) {
        their_displ[r] = total;
        total += their_count[r];
    }
    got->words = malloc(((size_t)total + 1) * sizeof *got->words);
    got->n = total / WORDS;
    rc = got->words ? sk_host.Alltoallv(sorted, count, displ, MPI_INT, got->words, their_count,
                                        their_displ, MPI_INT, comm)
                    : MPI_ERR_NO_MEM;
out:
    free(count);
    free(sorted);
    return rc;
}

static int flatten(int nranks, int n, const int *sources, const int *degrees,
                   const int *destinations, const int *weights, sk_edge_list *out)
{
    int total = 0, k = 0;
    for (int i = 0; i < n; i++)
        total += degrees[i];
    *out = (sk_edge_list){malloc(((size_t)total * WORDS + 1) * sizeof(int)), total};
    if (!out->words)
        return MPI_ERR_NO_MEM;
    if (!all_in_range(sources, n, nranks) || !all_in_range(destinations, total, nranks))
        return MPI_ERR_ARG;
    for (int i = 0; i < n; i++)
        for (int d = 0; d < degrees[i]; d++, k++) {
            out->words[k * WORDS] = sources[i];
            out->words[k * WORDS + 1] = destinations[k];
            out->words[k * WORDS + 2] = given(weights) ? weights[k] : 0;
        }
    return MPI_SUCCESS;
}

SK_EXPORT int MPI_Dist_graph_create(MPI_Comm comm, int n, const int *sources, const int *degrees,
                                    const int *destinations, const int *weights, MPI_Info info,
                                    int reorder, MPI_Comm *out)
{
    (void)reorder;
    int nranks;
    sk_edge_list mine = {0}, from = {0}, to = {0};
    sk_own_graph *t = NULL;
    sk_host.Comm_size(comm, &nranks);
    int rc = flatten(nranks, n, sources, degrees, destinations, weights, &mine);
    if (rc == MPI_SUCCESS)
        rc = send_edges(comm, nranks, mine, 0, &to);
    if (rc == MPI_SUCCESS)
        rc = send_edges(comm, nranks, mine, 1, &from);
    if (rc == MPI_SUCCESS) {
        t = new_topo(MPI_DIST_GRAPH, from.n, to.n, 0, 0);
        for (int i = 0; t && i < from.n; i++) {
            t->in[i] = from.words[i * WORDS];
            t->in_weights[i] = from.words[i * WORDS + 2];
        }
        for (int i = 0; t && i < to.n; i++) {
            t->out[i] = to.words[i * WORDS + 1];
            t->out_weights[i] = to.words[i * WORDS + 2];
        }
        if (t)
            t->weighted = weights != MPI_UNWEIGHTED;
        rc = attach(comm, t, info, out);
    }
    free(mine.words);
    free(from.words);
    free(to.words);
    return rc;
}

SK_EXPORT int MPI_Graph_create(MPI_Comm comm, int n, const int *index, const int *edge_list,
                               int reorder, MPI_Comm *out)
{
    (void)reorder;
    int nranks, rank, nedges = n > 0 ? index[n - 1] : 0;
    MPI_Comm part;
    sk_host.Comm_size(comm, &nranks);
    sk_host.Comm_rank(comm, &rank);
    if (n < 0 || n > nranks || !all_in_range(edge_list, nedges, n))
        return MPI_ERR_ARG;
    int rc = sk_host.Comm_split(comm, rank < n ? 0 : MPI_UNDEFINED, rank, &part);
    *out = MPI_COMM_NULL;
    if (rc != MPI_SUCCESS || part == MPI_COMM_NULL)
        return rc;
    int first = rank ? index[rank - 1] : 0, degree = index[rank] - first;
    sk_own_graph *t = new_topo(MPI_GRAPH, degree, degree, n, nedges);
    if (t) {
        fill(t->in, edge_list + first, degree);
        fill(t->out, edge_list + first, degree);
        fill(t->index, index, n);
        fill(t->edges, edge_list, nedges);
    }
    rc = attach(part, t, MPI_INFO_NULL, out);
    sk_host.Comm_free(&part);
    return rc;
}

/* ---- queries ---- */

SK_EXPORT int MPI_Topo_test(MPI_Comm comm, int *kind)
{
    const sk_own_graph *t = sk_own_graph_find(comm);
    int ndims = 0;
    if (t)
        *kind = t->kind;
    else
        *kind = sk_host.Cartdim_get(comm, &ndims) == MPI_SUCCESS ? (int)MPI_CART : MPI_UNDEFINED;
    return MPI_SUCCESS;
}

SK_EXPORT int MPI_Dist_graph_neighbors_count(MPI_Comm comm, int *nin, int *nout, int *weighted)
{
    const sk_own_graph *t = sk_own_graph_find(comm);
    if (!t || t->kind != MPI_DIST_GRAPH)
        return MPI_ERR_TOPOLOGY;
    *nin = t->nin;
    *nout = t->nout;
    *weighted = t->weighted;
    return MPI_SUCCESS;
}

static int min_int(int a, int b)
{
    return a < b ? a : b;
}

SK_EXPORT int MPI_Dist_graph_neighbors(MPI_Comm comm, int max_in, int *sources, int *in_weights,
                                       int max_out, int *destinations, int *out_weights)
{
    const sk_own_graph *t = sk_own_graph_find(comm);
    if (!t || t->kind != MPI_DIST_GRAPH)
        return MPI_ERR_TOPOLOGY;
    fill(sources, t->in, min_int(max_in, t->nin));
    fill(destinations, t->out, min_int(max_out, t->nout));
    if (t->weighted && given(in_weights))
        fill(in_weights, t->in_weights, min_int(max_in, t->nin));
    if (t->weighted && given(out_weights))
        fill(out_weights, t->out_weights, min_int(max_out, t->nout));
    return MPI_SUCCESS;
}

SK_EXPORT int MPI_Graphdims_get(MPI_Comm comm, int *nnodes, int *nedges)
{
    const sk_own_graph *t = sk_own_graph_find(comm);
    if (!t || t->kind != MPI_GRAPH)
        return MPI_ERR_TOPOLOGY;
    *nnodes = t->nnodes;
    *nedges = t->nedges;
    return MPI_SUCCESS;
}

SK_EXPORT int MPI_Graph_get(MPI_Comm comm, int max_index, int max_edges, int *index, int *edge_list)
{
    const sk_own_graph *t = sk_own_graph_find(comm);
    if (!t || t->kind != MPI_GRAPH)
        return MPI_ERR_TOPOLOGY;
    fill(index, t->index, min_int(max_index, t->nnodes));
    fill(edge_list, t->edges, min_int(max_edges, t->nedges));
    return MPI_SUCCESS;
}

SK_EXPORT int MPI_Graph_neighbors_count(MPI_Comm comm, int rank, int *n)
{
    const sk_own_graph *t = sk_own_graph_find(comm);
    if (!t || t->kind != MPI_GRAPH)
        return MPI_ERR_TOPOLOGY;
    if (rank < 0 || rank >= t->nnodes)
        return MPI_ERR_RANK;
    *n = t->index[rank] - (rank ? t->index[rank - 1] : 0);
    return MPI_SUCCESS;
}

SK_EXPORT int MPI_Graph_neighbors(MPI_Comm comm, int rank, int max, int *neighbors)
{
    const sk_own_graph *t = sk_own_graph_find(comm);
    int n = 0, rc = MPI_Graph_neighbors_count(comm, rank, &n);
    if (rc == MPI_SUCCESS)
        fill(neighbors, t->edges + (rank ? t->index[rank - 1] : 0), min_int(max, n));
    return rc;
}
#endif
