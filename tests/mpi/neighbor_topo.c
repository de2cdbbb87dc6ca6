/* neighbor_topo.c: see neighbor_topo.h: the making. */
#include "neighbor_topo.h"
#include "neighbor_digraph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

grid grid_draw(rng *shared, int most)
{
    grid g = {.ndims = 1 + rng_below(shared, GRID_DIMS)};
    for (int i = 0; i < g.ndims; i++) {
        int kind = rng_below(shared, 4), side = kind < 2 ? 1 + kind : 1 + rng_below(shared, most);
        g.dims[i] = side > most ? most : side;
        g.periods[i] = rng_chance(shared, 60);
        most /= g.dims[i];
    }
    return g;
}

static void say(topo *t, const char *what)
{
    size_t at = strlen(t->text);
    snprintf(t->text + at, sizeof t->text - at, "%s", what);
}

/* Some hosts take a distributed graph that is made from a grid for a grid. */
static bool graph_stays_grid(MPI_Comm base)
{
    int status = MPI_UNDEFINED;
    MPI_Topo_test(base, &status);
    if (status == MPI_UNDEFINED)
        return false;
    MPI_Comm trial;
    MPI_Dist_graph_create_adjacent(base, 0, NULL, MPI_UNWEIGHTED, 0, NULL, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &trial);
    MPI_Topo_test(trial, &status);
    MPI_Comm_free(&trial);
    return status != MPI_DIST_GRAPH;
}

static void make_web(topo *t, rng *shared, rng *local, MPI_Comm parent, int size, int rank)
{
    MPI_Comm base = parent;
    if (graph_stays_grid(parent)) {
        test_skip("a distributed graph made from a grid: the host errs");
        MPI_Comm_split(parent, 0, rank, &base);
    }
    int kind = rng_below(shared, 3), fewer = rng_below(shared, 3);
    digraph_options how = {MPI_INFO_NULL, rng_chance(shared, 30), rng_chance(shared, 50)};
    digraph w = digraph_draw(shared, kind == 2 && size > fewer ? size - fewer : size);
    if (rng_chance(shared, 20)) {
        MPI_Info_create(&how.info);
        MPI_Info_set(how.info, "skein_plan", "eager");
    }
    if (kind == 0) {
        lists l = lists_draw(&w, rank, local);
        t->comm = digraph_make_adjacent(&l, base, how);
        lists_free(&l);
    } else if (kind == 1) {
        t->comm = digraph_make_dist(&w, shared, base, how);
    } else {
        digraph_mirror(&w);
        t->comm = digraph_make_graph(&w, base, how.reorder);
    }
    say(t, kind == 0 ? "adjacent graph, " : kind == 1 ? "distributed graph, " : "graph, ");
    say(t, w.text);
    if (how.info != MPI_INFO_NULL)
        MPI_Info_free(&how.info);
    if (base != parent)
        MPI_Comm_free(&base);
    digraph_free(&w);
}

static void make_grid(topo *t, rng *shared, MPI_Comm base, int size)
{
    grid g = grid_draw(shared, size);
    MPI_Cart_create(base, g.ndims, g.dims, g.periods, rng_chance(shared, 30), &t->comm);
    say(t, "grid");
    for (int i = 0; i < g.ndims; i++) {
        char side[24];
        snprintf(side, sizeof side, " %d%s", g.dims[i], g.periods[i] ? " round" : "");
        say(t, side);
    }
    if (!rng_chance(shared, 30))
        return;
    int remain[GRID_DIMS];
    for (int i = 0; i < g.ndims; i++)
        remain[i] = rng_chance(shared, 60);
    remain[rng_below(shared, g.ndims)] = 1;
    say(t, ", a part of it");
    if (t->comm != MPI_COMM_NULL) {
        MPI_Comm whole = t->comm;
        MPI_Cart_sub(whole, remain, &t->comm);
        MPI_Comm_free(&whole);
    }
}

/* A duplicate takes the place of the communicator. */
static void duplicate(topo *t, int kind)
{
    if (kind >= 3)
        return;
    say(t, kind == 0 ? ", MPI_Comm_dup" : kind == 1 ? ", MPI_Comm_idup" : ", dup_with_info");
    if (t->comm == MPI_COMM_NULL)
        return;
    MPI_Comm first = t->comm;
    MPI_Request q = MPI_REQUEST_NULL;
    if (kind == 0)
        MPI_Comm_dup(first, &t->comm);
    else if (kind == 1)
        MPI_Comm_idup(first, &t->comm, &q);
    else
        MPI_Comm_dup_with_info(first, MPI_INFO_NULL, &t->comm);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    if (kind == 1) /* else its first nonblocking ones would be the host's, of which some err */
        test_adopt(t->comm);
    MPI_Comm_free(&first);
}

void topo_make(topo *t, rng *shared, rng *local, MPI_Comm base)
{
    int size, rank;
    *t = (topo){.comm = MPI_COMM_NULL};
    if (base == MPI_COMM_NULL)
        return;
    MPI_Comm_size(base, &size);
    MPI_Comm_rank(base, &rank);
    if (rng_chance(shared, 70))
        make_web(t, shared, local, base, size, rank);
    else
        make_grid(t, shared, base, size);
    duplicate(t, rng_below(shared, 6));
    if (t->comm != MPI_COMM_NULL)
        topo_read(t);
}

void topo_free(topo *t)
{
    if (t->comm != MPI_COMM_NULL)
        MPI_Comm_free(&t->comm);
    free(t->in);
    free(t->out);
    *t = (topo){.comm = MPI_COMM_NULL};
}
