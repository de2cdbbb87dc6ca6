#include "mpi/dispatch/meeting.h"

#include "mpi/dispatch/call_cache.h"
#include "mpi/dispatch/setup.h"
#include "mpi/dispatch/startup.h"
#include "mpi/state/topo.h"

void sk_meeting_made(MPI_Comm comm, MPI_Comm made)
{
    int from = 0, to = 0;
    if (comm == MPI_COMM_NULL || made == MPI_COMM_NULL || !sk_process_ready() ||
        sk_proc.guard_after < 0)
        return;
    sk_comm *c = sk_comm_get(comm);
    if (!c || c->inter || c->meets || sk_host.Comm_size(comm, &from) != MPI_SUCCESS ||
        sk_host.Comm_size(made, &to) != MPI_SUCCESS || from != to || from < 2)
        return;
    c->meets = true;
    for (sk_guarded *g = c->guarded; g; g = g->next)
        sk_guarded_nap(g, c);
}

static bool same_ranks(const sk_comm *a, const sk_comm *b)
{
    if (a->nranks != b->nranks)
        return false;
    for (int i = 0; a->peers != b->peers && i < a->nranks; i++)
        if (sk_comm_peer(a, i) != sk_comm_peer(b, i))
            return false;
    return true;
}

static bool held(const sk_comm *c)
{
    return c->compared && c->compared->guard.held;
}

static bool waits(const sk_comm *c)
{
    return sk_comm_adopted(c) && !c->freed && atomic_load(&c->handle) && !c->inter &&
           (held(c) || (c->topo && !sk_topo_settled(c->topo)));
}

/* The first that waits for an agreement, by its number; NULL: none. */
static sk_comm *first_waiting(const sk_comm *like)
{
    sk_comm *first = NULL;
    for (sk_comm *c = sk_proc.comms; c && !sk_proc.threads; c = c->next)
        if (c != like && waits(c) && (!first || c->number < first->number) && same_ranks(c, like))
            first = c;
    return first;
}

/* What must be the same on all ranks, and its negative, so that the largest of both show whether it is. */
enum { NUMBER, CELLS, CALLS, REQUESTED, SETTLED, WORDS, PENDING = 2 * WORDS, VALUES };

static bool pending(sk_topo *t)
{
    pthread_mutex_lock(&sk_proc.lock);
    bool is = sk_topo_setup_pending(t);
    pthread_mutex_unlock(&sk_proc.lock);
    return is;
}

/* A positive number for the states of all cells, and which of them is compared. */
static int64_t cells_of(const sk_comm *c)
{
    uint64_t state = 1469598103934665603u;
    for (const sk_guarded *g = c->guarded; g; g = g->next) {
        state = sk_guard_state(&g->guard, state ^ ((uint64_t)g->coll << 8 | g->form << 4 |
                                                   (uint64_t)(g == c->compared)));
        state = (state ^ (uint64_t)g->passed) * 0x100000001b3u + (uint64_t)g->waiting;
    }
    return (int64_t)(state >> 1);
}

static void describe(const sk_comm *c, int64_t v[VALUES])
{
    sk_topo *t = c->topo;
    v[NUMBER] = c->number;
    v[CELLS] = cells_of(c);
    v[CALLS] = t ? t->calls : 0;
    v[REQUESTED] = t ? t->requested : 0;
    v[SETTLED] = t ? t->settled : 0;
    v[PENDING] = t && pending(t);
}

/* Do all ranks say the same, and is it about a communicator? */
static bool all_alike(const sk_comm *c, int64_t v[VALUES])
{
    for (int i = 0; i < WORDS; i++)
        v[WORDS + i] = -v[i];
    if (!sk_comm_largest(c, v, VALUES))
        sk_host.Abort(c->user, MPI_ERR_INTERN); /* the others may decide something */
    bool alike = v[NUMBER] >= 0;
    for (int i = 0; i < WORDS; i++)
        alike = alike && v[i] == -v[WORDS + i];
    return alike;
}

bool sk_meet(sk_comm *c)
{
    int64_t v[VALUES] = {[NUMBER] = -1};
    sk_comm *of = first_waiting(c);
    if (of)
        describe(of, v);
    if (!all_alike(c, v) || (!held(of) && v[PENDING]))
        return false;
    sk_topo *t = of->topo;
    if (t && !v[PENDING])
        t->settled = t->requested;
    sk_guarded *g = held(of) ? sk_guarded_agree(of, c) : NULL;
    if (g)
        sk_call_cache_decided(of, g);
    return true;
}

__attribute__((noinline)) void sk_meet_here(sk_comm *c)
{
    sk_topo *t = c->topo;
    c->owed = false;
    if (t && !sk_topo_settled(t)) {
        sk_setup_wait(t, c);
        t->settled = t->requested;
    }
    sk_guarded *g = c->compared ? sk_guarded_agree(c, c) : NULL;
    if (g)
        sk_call_cache_decided(c, g);
}
