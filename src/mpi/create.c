/* create.c: calls that make communicators. They block in the host, where Skein's nonblocking
 * collectives do not progress, while another rank may need just that progress before it joins. So
 * the ranks first meet in a barrier that does progress; what follows needs nobody who is not there.
 * Skein's duplicate of the new communicator is made at once. */
#include "mpi/next.h"
#include "mpi/request.h"
#include "mpi/serve.h"

void sk_meet(sk_comm *c)
{
    MPI_Request barrier;
    if (c->nranks == 1 || PMPI_Ibarrier(c->user, &barrier) != MPI_SUCCESS)
        return;
    for (int done = 0;;) {
        sk_progress();
        if (PMPI_Test(&barrier, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done)
            break;
        sk_relax();
    }
}

static void meet(MPI_Comm comm)
{
    sk_comm *c = sk_process_ready() ? sk_comm_get(comm) : NULL;
    if (c && !c->inter)
        sk_meet(c);
}

#define CREATE(name, params, args)                                                                 \
    SK_EXPORT int name params                                                                      \
    {                                                                                              \
        meet(comm);                                                                                \
        int rc = SK_NEXT(name) args;                                                               \
        if (rc == MPI_SUCCESS)                                                                     \
            sk_comm_wire_ahead(*out);                                                              \
        return rc;                                                                                 \
    }

/* The same, with a topology: its patterns may be asked for at once. */
#define TOPOLOGY(name, params, args, info)                                                         \
    SK_EXPORT int name params                                                                      \
    {                                                                                              \
        meet(comm);                                                                                \
        int rc = SK_NEXT(name) args;                                                               \
        if (rc == MPI_SUCCESS) {                                                                   \
            sk_comm_wire_ahead(*out);                                                              \
            sk_plan_ahead(*out, info);                                                             \
        }                                                                                          \
        return rc;                                                                                 \
    }

CREATE(MPI_Comm_dup, (MPI_Comm comm, MPI_Comm *out), (comm, out))
CREATE(MPI_Comm_dup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm *out), (comm, info, out))
CREATE(MPI_Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm *out), (comm, color, key, out))
CREATE(MPI_Comm_split_type, (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *out),
       (comm, type, key, info, out))
CREATE(MPI_Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm *out), (comm, group, out))
TOPOLOGY(MPI_Cart_create,
         (MPI_Comm comm, int n, const int dims[], const int periods[], int reorder, MPI_Comm *out),
         (comm, n, dims, periods, reorder, out), MPI_INFO_NULL)
TOPOLOGY(MPI_Cart_sub, (MPI_Comm comm, const int remain[], MPI_Comm *out), (comm, remain, out),
         MPI_INFO_NULL)
CREATE(MPI_Intercomm_create,
       (MPI_Comm comm, int leader, MPI_Comm peer, int remote, int tag, MPI_Comm *out),
       (comm, leader, peer, remote, tag, out))

#if SK_HAVE_GRAPHS
TOPOLOGY(MPI_Graph_create,
         (MPI_Comm comm, int n, const int index[], const int edges[], int reorder, MPI_Comm *out),
         (comm, n, index, edges, reorder, out), MPI_INFO_NULL)
TOPOLOGY(MPI_Dist_graph_create,
         (MPI_Comm comm, int n, const int sources[], const int degrees[], const int destinations[],
          const int weights[], MPI_Info info, int reorder, MPI_Comm *out),
         (comm, n, sources, degrees, destinations, weights, info, reorder, out), info)
TOPOLOGY(MPI_Dist_graph_create_adjacent,
         (MPI_Comm comm, int indegree, const int sources[], const int sourceweights[],
          int outdegree, const int destinations[], const int destweights[], MPI_Info info,
          int reorder, MPI_Comm *out),
         (comm, indegree, sources, sourceweights, outdegree, destinations, destweights, info,
          reorder, out),
         info)
#endif
