/* topology.c: topologies still answer what was put into them: MPI_Topo_test and the queries of
 * graphs and grids, on the communicator, on its duplicates, and on what is made from it.
 *   topology SEED CASES */
#include "comms.h"
#include "neighbor_digraph.h"
#include "neighbor_topo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static char where[80];

static void check_kind(MPI_Comm c, int kind, const char *what)
{
    int ours = -1, host = -1;
    MPI_Topo_test(c, &ours);
    PMPI_Topo_test(c, &host);
    if (kind == MPI_DIST_GRAPH && host != kind && ours == host) {
        test_skip(
            "MPI_Topo_test of a distributed graph made from a grid or a graph: the host errs");
        return;
    }
    CHECK(ours == kind && host == kind, "%s: MPI_Topo_test of %s gives %d, the host's %d, not %d",
          where, what, ours, host, kind);
}

static int by_value(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* Two lists of ranks, in any order unless `exact`, which are sorted by this. */
static bool same_ranks(int *a, int *b, int n, bool exact)
{
    if (!exact) {
        qsort(a, (size_t)n, sizeof *a, by_value);
        qsort(b, (size_t)n, sizeof *b, by_value);
    }
    return n == 0 || memcmp(a, b, (size_t)n * sizeof *a) == 0;
}

/* ---- distributed graphs ---- */

static void check_weights(const int *ends, const int *weights, int n, bool in, int me)
{
    for (int i = 0; i < n; i++) {
        int should = in ? digraph_weight(ends[i], me) : digraph_weight(me, ends[i]);
        CHECK(weights[i] == should, "%s: the edge with %d has weight %d, not %d", where, ends[i],
              weights[i], should);
    }
}

static lists query(MPI_Comm c, int nin, int nout)
{
    lists l = {.nin = nin, .nout = nout};
    l.in = must_alloc((size_t)nin * sizeof(int));
    l.out = must_alloc((size_t)nout * sizeof(int));
    l.in_weights = must_alloc((size_t)nin * sizeof(int));
    l.out_weights = must_alloc((size_t)nout * sizeof(int));
    int rc = MPI_Dist_graph_neighbors(c, nin, l.in, l.in_weights, nout, l.out, l.out_weights);
    CHECK(rc == MPI_SUCCESS, "%s: MPI_Dist_graph_neighbors gives %d", where, rc);
    return l;
}

static void check_dist_graph(MPI_Comm c, lists *given, bool weighted, bool exact)
{
    int nin = -1, nout = -1, said = -1, me;
    check_kind(c, MPI_DIST_GRAPH, "a distributed graph");
    MPI_Comm_rank(c, &me);
    MPI_Dist_graph_neighbors_count(c, &nin, &nout, &said);
    CHECK(nin == given->nin && nout == given->nout && !said == !weighted,
          "%s: %d in, %d out, weighted %d; not %d, %d, %d", where, nin, nout, said, given->nin,
          given->nout, weighted);
    if (nin != given->nin || nout != given->nout)
        return;
    lists l = query(c, nin, nout);
    if (weighted) {
        check_weights(l.in, l.in_weights, nin, true, me);
        check_weights(l.out, l.out_weights, nout, false, me);
    }
    CHECK(same_ranks(l.in, given->in, nin, exact) && same_ranks(l.out, given->out, nout, exact),
          "%s: other neighbours than were given", where);
    lists_free(&l);
}

/* ---- graphs ---- */

static void check_graph(MPI_Comm c, const digraph *w)
{
    int nodes = -1, edges = -1, all = digraph_edges(w), at = 0;
    int *index = must_alloc((size_t)w->n * sizeof *index),
        *to = must_alloc((size_t)all * sizeof(int));
    check_kind(c, MPI_GRAPH, "a graph");
    MPI_Graphdims_get(c, &nodes, &edges);
    CHECK(nodes == w->n && edges == all, "%s: MPI_Graphdims_get gives %d and %d, not %d and %d",
          where, nodes, edges, w->n, all);
    MPI_Graph_get(c, w->n, all, index, to);
    for (int s = 0; s < w->n; s++) {
        int degree = 0, said = -1;
        for (int d = 0; d < w->n; d++)
            for (int k = 0; k < w->times[s * w->n + d]; k++, degree++)
                CHECK(to[at + degree] == d, "%s: MPI_Graph_get gives another edge", where);
        MPI_Graph_neighbors_count(c, s, &said);
        CHECK(said == degree && index[s] == at + degree, "%s: rank %d has %d edges, not %d", where,
              s, said, degree);
        int *ends = must_alloc((size_t)degree * sizeof *ends);
        MPI_Graph_neighbors(c, s, degree, ends);
        CHECK(same_ranks(ends, to + at, degree, true), "%s: other neighbours of rank %d", where, s);
        free(ends);
        at += degree;
    }
    free(index);
    free(to);
}

/* ---- grids ---- */

static int neighbour(const grid *g, const int *coords, int dim, int step)
{
    int rank = 0;
    for (int i = 0; i < g->ndims; i++) {
        int at = coords[i] + (i == dim ? step : 0), side = g->dims[i];
        if ((at < 0 || at >= side) && !g->periods[i])
            return MPI_PROC_NULL;
        rank = rank * side + (at % side + side) % side;
    }
    return rank;
}

static void check_grid(MPI_Comm c, const grid *g)
{
    int ndims = -1, me, dims[GRID_DIMS], periods[GRID_DIMS], coords[GRID_DIMS], again[GRID_DIMS];
    check_kind(c, MPI_CART, "a grid");
    MPI_Comm_rank(c, &me);
    MPI_Cartdim_get(c, &ndims);
    CHECK(ndims == g->ndims, "%s: %d dimensions, not %d", where, ndims, g->ndims);
    MPI_Cart_get(c, g->ndims, dims, periods, coords);
    MPI_Cart_coords(c, me, g->ndims, again);
    int rank = -1, round = 0;
    MPI_Cart_rank(c, coords, &rank);
    CHECK(rank == me, "%s: MPI_Cart_rank gives %d, not %d", where, rank, me);
    for (int i = 0; i < g->ndims; i++) {
        int below, above;
        round += !periods[i] != !g->periods[i] || again[i] != coords[i] || dims[i] != g->dims[i];
        MPI_Cart_shift(c, i, 1, &below, &above);
        CHECK(below == neighbour(g, coords, i, -1) && above == neighbour(g, coords, i, 1),
              "%s: MPI_Cart_shift gives %d and %d in dimension %d", where, below, above, i);
    }
    CHECK(round == 0, "%s: MPI_Cart_get gives another grid", where);
}

static void check_part(MPI_Comm c, const grid *g, rng *shared)
{
    int keep[GRID_DIMS];
    grid part = {0};
    MPI_Comm sub;
    for (int i = 0; i < g->ndims; i++)
        keep[i] = rng_chance(shared, 60);
    keep[rng_below(shared, g->ndims)] = 1;
    for (int i = 0; i < g->ndims; i++)
        if (keep[i]) {
            part.dims[part.ndims] = g->dims[i];
            part.periods[part.ndims++] = g->periods[i];
        }
    MPI_Cart_sub(c, keep, &sub);
    check_grid(sub, &part);
    MPI_Comm_free(&sub);
}

/* ---- cases ---- */

/* Duplicates have the topology, a split has none. The result takes the place of the original. */
static void derive(MPI_Comm *c, rng *shared)
{
    MPI_Comm copy, split;
    MPI_Request q = MPI_REQUEST_NULL;
    MPI_Comm_split(*c, 0, 0, &split);
    check_kind(split, MPI_UNDEFINED, "a split");
    MPI_Comm_free(&split);
    if (rng_chance(shared, 50))
        MPI_Comm_dup(*c, &copy);
    else
        MPI_Comm_idup(*c, &copy, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Comm_free(c);
    *c = copy;
}

static void dist_graph_case(MPI_Comm base, rng *shared, rng *local, int size, int rank)
{
    bool adjacent = rng_chance(shared, 50);
    digraph_options how = {MPI_INFO_NULL, false, rng_chance(shared, 50)};
    digraph w = digraph_draw(shared, size);
    lists l = lists_draw(&w, rank, local);
    MPI_Comm c =
        adjacent ? digraph_make_adjacent(&l, base, how) : digraph_make_dist(&w, shared, base, how);
    check_dist_graph(c, &l, how.weighted, adjacent);
    derive(&c, shared);
    check_dist_graph(c, &l, how.weighted, adjacent);
    MPI_Comm_free(&c);
    lists_free(&l);
    digraph_free(&w);
}

static void graph_case(MPI_Comm base, rng *shared, int size)
{
    int fewer = rng_below(shared, 3);
    digraph w = digraph_draw(shared, size > fewer ? size - fewer : size);
    if (rng_chance(shared, 50))
        digraph_mirror(&w);
    MPI_Comm c = digraph_make_graph(&w, base, false);
    if (c != MPI_COMM_NULL) {
        check_graph(c, &w);
        derive(&c, shared);
        check_graph(c, &w);
        MPI_Comm_free(&c);
    }
    digraph_free(&w);
}

static void grid_case(MPI_Comm base, rng *shared, int size)
{
    grid g = grid_draw(shared, size);
    MPI_Comm c;
    MPI_Cart_create(base, g.ndims, g.dims, g.periods, 0, &c);
    if (c == MPI_COMM_NULL)
        return;
    check_grid(c, &g);
    derive(&c, shared);
    check_grid(c, &g);
    check_part(c, &g, shared);
    MPI_Comm_free(&c);
}

/* Many on one communicator. Rank 0 waits for a long list of edges while others have none and go on:
 * in Open MPI, when its nonblocking collectives come to the tags of such lists, it takes a message
 * of theirs for edges, and all hang. */
static void many_graphs(void)
{
    enum { MANY = 20, EDGES = 20000 };
    int size, rank, degree = EDGES, *targets = calloc(EDGES, sizeof *targets);
    MPI_Comm base, c;
    MPI_Comm_dup(MPI_COMM_WORLD, &base);
    MPI_Comm_size(base, &size);
    MPI_Comm_rank(base, &rank);
    int first = 0, in, out, weighted;
    for (int i = 0; i < MANY && !test_on_host(); i++) {
        snprintf(where, sizeof where, "graph %d of many", i);
        test_watch(60, "%s", where);
        MPI_Dist_graph_create(base, rank == size - 1, &first, &degree, targets, targets,
                              MPI_INFO_NULL, 0, &c);
        MPI_Dist_graph_neighbors_count(c, &in, &out, &weighted);
        if (in != (rank == 0 ? EDGES : 0) || out != in)
            test_fail("%s: %d in, %d out", where, in, out);
        MPI_Comm_free(&c);
    }
    MPI_Comm_free(&base);
    free(targets);
}

static void run_case(const comms *bases, unsigned long long seed, int number)
{
    rng shared = rng_seed(seed, (uint64_t)number, 2);
    rng local = rng_seed(seed, (uint64_t)number, 100 + (uint64_t)test_rank());
    int size, rank, kind = rng_below(&shared, 3);
    MPI_Comm base = bases->of[rng_below(&shared, NCOMMS)];
    snprintf(where, sizeof where, "seed %llu case %d", seed, number);
    test_watch(60, "%s", where);
    if (base == MPI_COMM_NULL)
        return;
    MPI_Comm_size(base, &size);
    MPI_Comm_rank(base, &rank);
    if (kind == 0)
        dist_graph_case(base, &shared, &local, size, rank);
    else if (kind == 1)
        graph_case(base, &shared, size);
    else
        grid_case(base, &shared, size);
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv, "topology");
    unsigned long long seed =
        argc > 1 ? strtoull(argv[1], NULL, 10) : (unsigned long long)time(NULL);
    int cases = argc > 2 ? atoi(argv[2]) : 50;
    comms bases;
    PMPI_Bcast(&seed, 1, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD);
    comms_make(&bases, MPI_COMM_WORLD);
    for (int i = 0; i < cases; i++)
        run_case(&bases, seed, i);
    comms_free(&bases);
    many_graphs();
    return test_end();
}
