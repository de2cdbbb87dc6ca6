#include "mpi/state/topo.h"

#include <stdlib.h>

#include "base/assert.h"
#include "mpi/state/host_errors.h"
#include "mpi/state/own_graph.h"

/* ---- the graph ---- */

static bool read_cart(MPI_Comm comm, int nranks, int rank, sk_graph **out)
{
    int ndims = 0;
    if (sk_host.Cartdim_get(comm, &ndims) != MPI_SUCCESS)
        return false;
    int *side = calloc((size_t)2 * (size_t)ndims + 1, sizeof *side);
    bool ok = side != NULL;
    for (int i = 0; i < ndims && ok; i++)
        ok = sk_host.Cart_shift(comm, i, 1, &side[2 * i], &side[2 * i + 1]) == MPI_SUCCESS;
    for (int i = 0; i < 2 * ndims && ok; i++)
        if (side[i] == MPI_PROC_NULL)
            side[i] = SK_PROC_NULL;
    ok = ok && sk_graph_new(nranks, rank, 2 * ndims, side, 2 * ndims, side, true, out) == SK_OK;
    free(side);
    return ok;
}

#if SK_HAVE_GRAPHS
static bool read_graph(MPI_Comm comm, int nranks, int rank, sk_graph **out)
{
    int n = 0;
    if (sk_host.Graph_neighbors_count(comm, rank, &n) != MPI_SUCCESS)
        return false;
    int *list = malloc(((size_t)n + 1) * sizeof *list);
    bool ok = list && sk_host.Graph_neighbors(comm, rank, n, list) == MPI_SUCCESS &&
              sk_graph_new(nranks, rank, n, list, n, list, false, out) == SK_OK;
    free(list);
    return ok;
}

static bool read_dist_graph(MPI_Comm comm, int nranks, int rank, sk_graph **out)
{
    int nin = 0, nout = 0, weighted;
    if (sk_host.Dist_graph_neighbors_count(comm, &nin, &nout, &weighted) != MPI_SUCCESS)
        return false;
    size_t n = (size_t)nin + (size_t)nout;
    int *list = malloc((2 * n + 1) * sizeof *list), *weights = list ? list + n : NULL;
    bool ok = list &&
              sk_host.Dist_graph_neighbors(comm, nin, list, weights, nout, list + nin,
                                           weights + nin) == MPI_SUCCESS &&
              sk_graph_new(nranks, rank, nin, list, nout, list + nin, false, out) == SK_OK;
    free(list);
    return ok;
}

bool sk_topo_exists(MPI_Comm comm)
{
    int kind = MPI_UNDEFINED;
    return sk_host.Topo_test(comm, &kind) == MPI_SUCCESS && kind != MPI_UNDEFINED;
}

/* Is it a distributed graph, though the host calls it a grid or a graph? Open MPI 5.0 does so if
 * MPI_Dist_graph_create_adjacent was called on such a communicator; the other queries then read what is
 * not there. */
static bool is_dist_graph(MPI_Comm comm)
{
    int nin, nout, weighted;
    MPI_Errhandler handler = sk_host_errors_set_aside(comm);
    int rc = sk_host.Dist_graph_neighbors_count(comm, &nin, &nout, &weighted);
    sk_host_errors_put_back(comm, handler);
    return rc == MPI_SUCCESS;
}

static bool read_topology(MPI_Comm comm, int nranks, int rank, sk_graph **out)
{
    int kind = MPI_UNDEFINED;
    if (sk_host.Topo_test(comm, &kind) != MPI_SUCCESS)
        return false;
    if (SK_HOST_MIXES_KINDS && (kind == MPI_CART || kind == MPI_GRAPH) && is_dist_graph(comm))
        kind = MPI_DIST_GRAPH;
    if (kind == MPI_CART)
        return read_cart(comm, nranks, rank, out);
    if (kind == MPI_GRAPH)
        return read_graph(comm, nranks, rank, out);
    return kind == MPI_DIST_GRAPH && read_dist_graph(comm, nranks, rank, out);
}
#else
bool sk_topo_exists(MPI_Comm comm)
{
    int ndims;
    return sk_own_graph_find(comm) || sk_host.Cartdim_get(comm, &ndims) == MPI_SUCCESS;
}

static bool read_topology(MPI_Comm comm, int nranks, int rank, sk_graph **out)
{
    return sk_own_graph_read(comm, nranks, rank, out) || read_cart(comm, nranks, rank, out);
}
#endif

/* ---- the object ---- */

/* The direct pattern needs no messages. */
static sk_status make_direct(sk_topo *t)
{
    sk_pattern_opts none = {0};
    sk_negotiator *p = sk_method_get(SK_METHOD_DIRECT)->negotiator(t->graph, NULL, &none);
    if (!p)
        return SK_NOMEM;
    sk_status st = sk_negotiator_start(p, NULL);
    if (st == SK_OK) {
        t->pattern[SK_METHOD_DIRECT] = p->made[SK_METHOD_DIRECT];
        p->made[SK_METHOD_DIRECT] = NULL;
        t->neighborhood.pattern[SK_METHOD_DIRECT] = t->pattern[SK_METHOD_DIRECT];
    }
    sk_negotiator_free(p);
    return st;
}

sk_topo *sk_topo_get(sk_comm *c)
{
    if (c->topo)
        return c->topo;
    const sk_settings *set = sk_select_settings(sk_proc.select);
    sk_topo *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    if (!read_topology(c->user, c->nranks, c->rank, &t->graph) || make_direct(t) != SK_OK) {
        sk_topo_free(t);
        return NULL;
    }
    t->neighborhood.base.graph = t->graph;
    t->neighborhood.combine_limit = sk_settings_int(set, SK_SET_COMBINE);
    t->neighborhood.window = (int)sk_settings_int(set, SK_SET_WINDOW);
    c->topo = t;
    return t;
}

void sk_topo_free(sk_topo *t)
{
    if (!t)
        return;
    SK_ASSERT(!t->setup); /* whoever waits for a set-up holds the communicator */
    sk_graph_free(t->graph);
    free(t->idle);
    for (int i = 0; i < SK_NMETHODS; i++)
        sk_pattern_free(t->pattern[i]);
    free(t);
}

/* ---- counting calls, and the host as a choice ---- */

void sk_topo_record_sizes(sk_topo *t, const sk_call *c)
{
    bool gathers = c->coll == SK_NEIGHBOR_ALLGATHER || c->coll == SK_NEIGHBOR_ALLGATHERV;
    sk_sizes *seen = &t->seen[gathers ? 0 : 1];
    int n = t->graph->nout ? gathers ? 1 : t->graph->nout : 0;
    for (int i = 0; i < n; i++) {
        seen->bytes += sk_send_block(c, i).len;
        seen->blocks++;
    }
}

bool sk_topo_count_call(sk_topo *t, const sk_comm *c)
{
    t->calls++;
    return c->nranks > 1 && (t->calls & (t->calls - 1)) == 0 && sk_proc.plans &&
           t->requested < SK_SETUPS - 1;
}

void sk_topo_add_setup(sk_topo *t, int64_t tag)
{
    SK_ASSERT(t->requested < SK_SETUPS - 1);
    t->requested++;
    t->tag[t->requested] = tag;
    t->waiting[t->requested] = 0;
}

bool sk_topo_host_allowed(const sk_topo *t, sk_coll coll)
{
    if (!SK_HAVE_GRAPHS || !t->machine || t->no_async_progress)
        return false;
    if (!SK_HOST_YIELDS && sk_machine_oversubscribed(t->machine))
        return false;
    if (coll == SK_NEIGHBOR_ALLTOALLW && !SK_HOST_NEIGHBOR_W)
        return false;
    return !t->has_parallel || coll == SK_NEIGHBOR_ALLGATHER || coll == SK_NEIGHBOR_ALLGATHERV;
}

_Static_assert(SK_NCOLLS <= 32, "sk_comm.host_colls has a bit for every collective");

void sk_topo_mark_host_colls(const sk_topo *t, sk_comm *c)
{
    if (!sk_comm_adopted(c) || c->slot_capacity || !t->never_pays)
        return;
    for (int coll = 0; coll < SK_NCOLLS; coll++)
        if (sk_coll_neighbor((sk_coll)coll) && sk_topo_host_allowed(t, (sk_coll)coll) &&
            !sk_select_forced(sk_comm_select(c), (sk_coll)coll) &&
            !sk_select_tuned(sk_proc.select, (sk_coll)coll, SK_BLOCKING))
            atomic_fetch_or_explicit(&c->host_colls, UINT32_C(1) << coll, memory_order_relaxed);
}
