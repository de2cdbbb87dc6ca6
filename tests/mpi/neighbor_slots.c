/* neighbor_slots.c: see neighbor_topo.h: the edges of a topology as the standard numbers them. The
 * lists are those that its own queries give; topology.c tests these. */
#include "neighbor_topo.h"

#include <stdlib.h>

/* Edge k between two ranks is the k-th slot of either in the other's list. */
static slot *slots_of(const int *ranks, int n)
{
    slot *s = must_alloc((size_t)n * sizeof *s);
    for (int i = 0; i < n; i++) {
        s[i].rank = ranks[i];
        for (int j = 0; j < i; j++)
            s[i].edge += ranks[j] == ranks[i];
    }
    return s;
}

static void read_dist_graph(topo *t)
{
    int weighted;
    MPI_Dist_graph_neighbors_count(t->comm, &t->nin, &t->nout, &weighted);
    size_t in_bytes = (size_t)t->nin * sizeof(int), out_bytes = (size_t)t->nout * sizeof(int);
    int *in = must_alloc(in_bytes), *out = must_alloc(out_bytes);
    int *in_weights = must_alloc(in_bytes), *out_weights = must_alloc(out_bytes);
    MPI_Dist_graph_neighbors(t->comm, t->nin, in, in_weights, t->nout, out, out_weights);
    t->in = slots_of(in, t->nin);
    t->out = slots_of(out, t->nout);
    free(in);
    free(out);
    free(in_weights);
    free(out_weights);
}

static void read_graph(topo *t)
{
    MPI_Graph_neighbors_count(t->comm, t->rank, &t->nin);
    t->nout = t->nin;
    int *ends = must_alloc((size_t)t->nin * sizeof *ends);
    MPI_Graph_neighbors(t->comm, t->rank, t->nin, ends);
    t->in = slots_of(ends, t->nin);
    t->out = slots_of(ends, t->nin);
    free(ends);
}

/* What goes out downwards in a dimension comes in from above, and the other way round, also where
 * both neighbours are the same rank: an edge has the number of the slot in which it comes in. */
static void read_grid(topo *t)
{
    int ndims = 0;
    t->grid = true;
    MPI_Cartdim_get(t->comm, &ndims);
    t->nin = t->nout = 2 * ndims;
    t->in = must_alloc((size_t)t->nin * sizeof *t->in);
    t->out = must_alloc((size_t)t->nout * sizeof *t->out);
    for (int i = 0; i < ndims; i++) {
        int below, above;
        MPI_Cart_shift(t->comm, i, 1, &below, &above);
        t->in[2 * i] = (slot){below, 2 * i};
        t->in[2 * i + 1] = (slot){above, 2 * i + 1};
        t->out[2 * i] = (slot){below, 2 * i + 1};
        t->out[2 * i + 1] = (slot){above, 2 * i};
    }
}

static bool repeats(const slot *s, int n)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            if (s[i].rank == s[j].rank && s[i].rank != MPI_PROC_NULL)
                return true;
    return false;
}

void topo_read(topo *t)
{
    int status = MPI_UNDEFINED;
    MPI_Comm_size(t->comm, &t->size);
    MPI_Comm_rank(t->comm, &t->rank);
    MPI_Topo_test(t->comm, &status);
    if (status == MPI_DIST_GRAPH)
        read_dist_graph(t);
    else if (status == MPI_GRAPH)
        read_graph(t);
    else if (status == MPI_CART)
        read_grid(t);
    else
        test_fail("MPI_Topo_test gives %d for %s", status, t->text);
    int here[2] = {repeats(t->in, t->nin) || repeats(t->out, t->nout), t->nin != t->nout};
    int anywhere[2] = {0, 0};
    PMPI_Allreduce(here, anywhere, 2, MPI_INT, MPI_LOR, t->comm);
    t->parallel = anywhere[0];
    t->unbalanced = anywhere[1];
}
