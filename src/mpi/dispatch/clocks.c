#include "mpi/dispatch/clocks.h"

#include <stdlib.h>

#include "mpi/state/comm.h"
#include "mpi/state/world.h"
#include "mpi/transport/hint.h"

enum { QUESTIONS = 8 };

static int64_t now(void)
{
    return (int64_t)(sk_clock() * 1e9);
}

static int ask(int peer, int tag, int64_t *answer)
{
    MPI_Comm wire = sk_proc.world->wire;
    sk_hint hint = sk_hint_of_setup(sk_proc.world_size);
    int rc = SK_OWN(&hint, tag, 1, sk_host.Send(answer, 1, MPI_INT64_T, peer, tag, wire));
    return rc != MPI_SUCCESS
               ? rc
               : SK_OWN(&hint, tag, 1,
                        sk_host.Recv(answer, 1, MPI_INT64_T, peer, tag, wire, MPI_STATUS_IGNORE));
}

/* At rank 0: how far its clock is ahead of a rank's. */
static int64_t compare_with(int peer, int tag)
{
    int64_t best = INT64_MAX, ahead = 0;
    for (int i = 0; i < QUESTIONS; i++) {
        int64_t sent = now(), theirs = 0;
        if (ask(peer, tag, &theirs) != MPI_SUCCESS)
            return 0;
        int64_t trip = now() - sent;
        if (trip < best) {
            best = trip;
            ahead = sent + trip / 2 - theirs;
        }
    }
    return ahead;
}

static void answer(int tag)
{
    MPI_Comm wire = sk_proc.world->wire;
    sk_hint hint = sk_hint_of_setup(sk_proc.world_size);
    for (int i = 0; i < QUESTIONS; i++) {
        int64_t time;
        if (SK_OWN(&hint, tag, 1,
                   sk_host.Recv(&time, 1, MPI_INT64_T, 0, tag, wire, MPI_STATUS_IGNORE)) !=
            MPI_SUCCESS)
            return;
        time = now();
        SK_OWN(&hint, tag, 1, sk_host.Send(&time, 1, MPI_INT64_T, 0, tag, wire));
    }
}

int64_t sk_clocks_compare(void)
{
    sk_comm *c = sk_comm_get(MPI_COMM_WORLD);
    const sk_machine *m = c ? c->machine : NULL;
    if (!m || m->nnodes < 2)
        return 0;
    int64_t *ahead = calloc((size_t)m->nnodes, sizeof *ahead), mine;
    if (!ahead)
        sk_host.Abort(MPI_COMM_WORLD, MPI_ERR_NO_MEM); /* the others wait */
    int tag = sk_comm_tag(c);
    for (int node = 0; node < m->nnodes; node++) {
        int first = m->local_ranks[m->node_first[node]];
        if (node == m->node[0])
            continue;
        if (c->rank == 0)
            ahead[node] = compare_with(first, tag);
        else if (c->rank == first)
            answer(tag);
    }
    sk_host.Bcast(ahead, m->nnodes, MPI_INT64_T, 0, sk_proc.world->wire);
    mine = ahead[m->node[c->rank]];
    free(ahead);
    return mine;
}
