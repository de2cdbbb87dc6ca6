#include "bench/mpi/neighbors.h"

#include <stdio.h>

#include "lab/graph/spec.h"

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

static bool make_comm(const sk_graph *g, MPI_Comm *out)
{
    /* Not to be seen through: gcc takes Open MPI's MPI_UNWEIGHTED for an array that is too short.
     */
    int *volatile unweighted = MPI_UNWEIGHTED;
    return MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, g->nin, g->in, unweighted, g->nout,
                                          g->out, unweighted, MPI_INFO_NULL, 0, out) == MPI_SUCCESS;
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
    return make_comm(g, &out->comm);
}

void sk_neighbors_free(sk_neighbors *n)
{
    MPI_Comm_free(&n->comm);
    sk_graph_free(n->graph);
}
