#include "mpi/state/own_graph.h"

#if !SK_HAVE_GRAPHS
#include <stdlib.h>

static int copy_attr(MPI_Comm comm, int key, void *extra, void *value, void *out, int *flag)
{
    (void)comm, (void)key, (void)extra;
    sk_own_graph *t = value;
    t->users++;
    *(void **)out = t;
    *flag = 1;
    return MPI_SUCCESS;
}

static int free_attr(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)extra;
    sk_own_graph *t = value;
    if (--t->users == 0)
        free(t);
    return MPI_SUCCESS;
}

void sk_own_graph_start(void)
{
    sk_host.Comm_create_keyval(copy_attr, free_attr, &sk_proc.topo_key, NULL);
}

sk_own_graph *sk_own_graph_find(MPI_Comm comm)
{
    sk_own_graph *t = NULL;
    int found = 0;
    if (comm == MPI_COMM_NULL || atomic_load(&sk_proc.state) != SK_PROC_READY ||
        sk_host.Comm_get_attr(comm, sk_proc.topo_key, (void *)&t, &found) != MPI_SUCCESS)
        return NULL;
    return found ? t : NULL;
}

bool sk_own_graph_read(MPI_Comm comm, int nranks, int rank, sk_graph **out)
{
    const sk_own_graph *t = sk_own_graph_find(comm);
    return t && sk_graph_new(nranks, rank, t->nin, t->in, t->nout, t->out, false, out) == SK_OK;
}
#endif
