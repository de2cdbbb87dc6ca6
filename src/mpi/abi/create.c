/* create.c: the calls that create communicators. They block inside the host, where Skein's
 * nonblocking collectives may not progress, while another rank may need that progress before it
 * joins. Where collectives progress inside the host on all ranks, nothing need be done. Elsewhere the
 * ranks first meet in a barrier that does progress; the call itself then waits only for ranks that have
 * arrived. */
#include <stdatomic.h>

#include "mpi/dispatch/dispatch.h"
#include "mpi/dispatch/meeting.h"
#include "mpi/dispatch/startup.h"
#include "mpi/state/host.h"

static void barrier(MPI_Comm comm)
{
    sk_comm *c = sk_process_ready() ? sk_comm_get(comm) : NULL;
    if (c && !c->inter)
        sk_comm_barrier(c);
}

#define MAKE(name, params, args, parent, before)                                                   \
    SK_ENTRY(MPI_##name, params, args)                                                             \
    {                                                                                              \
        before;                                                                                    \
        int rc = sk_host.name args;                                                                \
        if (rc == MPI_SUCCESS) {                                                                   \
            sk_dispatch_comm_created(*out);                                                        \
            sk_meeting_made(parent, *out);                                                         \
        }                                                                                          \
        return rc;                                                                                 \
    }
#define CREATE(name, params, args) MAKE(name, params, args, comm, barrier(comm))

/* The same with a topology: its patterns may be wanted at once. */
#define TOPOLOGY(name, params, args, info, before)                                                 \
    SK_ENTRY(MPI_##name, params, args)                                                             \
    {                                                                                              \
        before;                                                                                    \
        int rc = sk_host.name args;                                                                \
        if (rc == MPI_SUCCESS) {                                                                   \
            sk_dispatch_topo_created(*out, info);                                                  \
            sk_meeting_made(comm, *out);                                                           \
        }                                                                                          \
        return rc;                                                                                 \
    }

CREATE(Comm_dup, (MPI_Comm comm, MPI_Comm *out), (comm, out))
CREATE(Comm_dup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm *out), (comm, info, out))
CREATE(Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm *out), (comm, color, key, out))
CREATE(Comm_split_type, (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *out),
       (comm, type, key, info, out))
CREATE(Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm *out), (comm, group, out))
TOPOLOGY(Cart_create,
         (MPI_Comm comm, int n, const int dims[], const int periods[], int reorder, MPI_Comm *out),
         (comm, n, dims, periods, reorder, out), MPI_INFO_NULL, barrier(comm))
TOPOLOGY(Cart_sub, (MPI_Comm comm, const int remain[], MPI_Comm *out), (comm, remain, out),
         MPI_INFO_NULL, barrier(comm))
CREATE(Intercomm_create,
       (MPI_Comm comm, int leader, MPI_Comm peer, int remote, int tag, MPI_Comm *out),
       (comm, leader, peer, remote, tag, out))
MAKE(Intercomm_merge, (MPI_Comm inter, int high, MPI_Comm *out), (inter, high, out), MPI_COMM_NULL,
     (void)0)
#if SK_HAVE_NEXT
MAKE(Comm_create_group, (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *out),
     (comm, group, tag, out), MPI_COMM_NULL, (void)0)
#endif

#if SK_HAVE_GRAPHS
/* Open MPI up to 5.0 receives the edges of MPI_Dist_graph_create from any rank, with the tags that
 * the 24th and 25th nonblocking collective on the communicator use too. Creating the new communicator
 * takes such collectives. A rank that still waits for edges could receive a message of a rank that has
 * gone on, and all would wait for ever, as they do without Skein. So these two tags are used up before
 * the first graph. */
static void use_up_tags(MPI_Comm comm)
{
#ifdef OPEN_MPI
    sk_comm *c = sk_process_ready() ? sk_comm_get(comm) : NULL;
    if (!c || c->inter || c->tags_used_up)
        return;
    enum { ENOUGH = 25 };
    MPI_Request barriers[ENOUGH];
    int n = 0;
    while (n < ENOUGH && sk_host.Ibarrier(comm, &barriers[n]) == MPI_SUCCESS)
        n++;
    sk_host.Waitall(n, barriers, MPI_STATUSES_IGNORE);
    c->tags_used_up = true;
#else
    (void)comm;
#endif
}

TOPOLOGY(Graph_create,
         (MPI_Comm comm, int n, const int index[], const int edges[], int reorder, MPI_Comm *out),
         (comm, n, index, edges, reorder, out), MPI_INFO_NULL, barrier(comm))
TOPOLOGY(Dist_graph_create,
         (MPI_Comm comm, int n, const int sources[], const int degrees[], const int destinations[],
          const int weights[], MPI_Info info, int reorder, MPI_Comm *out),
         (comm, n, sources, degrees, destinations, weights, info, reorder, out), info,
         (barrier(comm), use_up_tags(comm)))
TOPOLOGY(Dist_graph_create_adjacent,
         (MPI_Comm comm, int indegree, const int sources[], const int sourceweights[],
          int outdegree, const int destinations[], const int destweights[], MPI_Info info,
          int reorder, MPI_Comm *out),
         (comm, indegree, sources, sourceweights, outdegree, destinations, destweights, info,
          reorder, out),
         info, barrier(comm))
#endif
