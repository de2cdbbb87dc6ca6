#include "mpi/dispatch/adopt.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/assert.h"
#include "coll/copy_time.h"
#include "mpi/dispatch/worth.h"
#include "mpi/state/device.h"
#include "mpi/state/kept.h"
#include "mpi/state/topo.h"
#include "mpi/state/world.h"

/* Bits of an agreement: the leaders have regions, the ranks have memory for what they need, at no rank
 * does another thread agree, no rank has device memory, at no rank does a Fortran library write into
 * requests. */
enum { REGION_TAKEN = 1, ABLE = 2, UNDISTURBED = 4, NO_DEVICES = 8, NO_FORTRAN = 16 };

static bool find_machine(sk_comm *c)
{
    const struct sk_world *w = sk_proc.world;
    bool whole = !c->peers && c->nranks == w->nranks;
    sk_location *at = whole ? w->locations : malloc((size_t)c->nranks * sizeof *at);
    int *cores = whole ? w->cores_at : malloc((size_t)c->nranks * sizeof *cores);
    for (int i = 0; !whole && at && cores && i < c->nranks; i++) {
        at[i] = w->locations[sk_comm_peer(c, i)];
        cores[i] = w->cores_at[sk_comm_peer(c, i)];
    }
    bool ok = at && cores && sk_machine_new(c->nranks, at, 0, &c->machine) == SK_OK;
    if (ok) {
        sk_machine_set_cores(c->machine, cores);
        c->machine->copy = w->prices;
        c->machine->net = w->net;
    }
    if (!whole) {
        free(at);
        free(cores);
    }
    return ok;
}

/* ---- shared memory ---- */

typedef struct sk_local_part {
    const int *ranks; /* of this node, in the communicator */
    int *peers;       /* the same in MPI_COMM_WORLD */
    int n, me;
    sk_shm_size size; /* of a region; 0: none is wanted */
} sk_local_part;

#if SK_HAVE_SHM

/* The leader takes a region before the ranks agree, so that they know whether all leaders have one.
 * False: it has none, or this rank no memory. */
static bool take_region(sk_comm *c, sk_local_part *l)
{
    struct sk_world *w = sk_proc.world;
    int64_t cap = sk_settings_int(sk_select_settings(sk_proc.select), SK_SET_SHM);
    l->ranks = sk_machine_local_ranks(c->machine, c->rank, &l->n);
    l->me = c->machine->local_rank[c->rank];
    if (!w->memory || c->machine->max_per_node == 1)
        return false;
    l->size = sk_shm_size_of(l->n, cap);
    l->peers = l->size.main ? malloc((size_t)l->n * sizeof *l->peers) : NULL;
    if (!l->peers)
        return false;
    for (int i = 0; i < l->n; i++)
        l->peers[i] = sk_comm_peer(c, l->ranks[i]);
    if (l->me == 0)
        c->lease = sk_lease_take(w->leases, l->peers, l->n, l->size);
    return l->me > 0 || c->lease;
}

/* Nobody has seen it. */
static void give_region_back(sk_comm *c)
{
    if (c->lease)
        sk_lease_cancel(sk_proc.world->leases, c->lease);
    c->lease = NULL;
}

/* Ranks of one node know the region from the agreement; on several nodes the leader of each publishes
 * its own. A rank without memory for its part would leave the others waiting for ever. */
static void share_region(sk_comm *c, const sk_local_part *l, sk_region r)
{
    struct sk_world *w = sk_proc.world;
    bool known = c->machine->nnodes == 1;
    if (l->me == 0) {
        if (known)
            return;
        sk_node_memory_publish(w->memory, c->number, c->lease->region);
        SK_WAIT_UNTIL(sk_proc.wait, sk_node_memory_attached_by(w->memory, l->n - 1), sk_progress());
        sk_node_memory_withdraw(w->memory);
        return;
    }
    int leader = w->node_rank[l->peers[0]];
    if (!known)
        SK_WAIT_UNTIL(sk_proc.wait, sk_node_memory_attach(w->memory, leader, c->number, &r),
                      sk_progress());
    c->lease = sk_lease_attach(w->leases, r, l->peers, l->n, l->me, l->size);
    if (!c->lease)
        sk_host.Abort(c->user, MPI_ERR_NO_MEM);
}

/* Sleeping ranks wake up from time to time to progress the host's messages. The interval grows with
 * the ranks per core, so that all of them together take only a part of the cores. */
static long nap_interval(int nlocal)
{
    enum { NS_PER_RANK = 25000, MOST_NS = 1000000 };
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    long per_core = (nlocal + cores - 1) / (cores > 0 ? cores : 1);
    return per_core * NS_PER_RANK < MOST_NS ? per_core * NS_PER_RANK : MOST_NS;
}

static void use_region(sk_comm *c, const sk_local_part *l)
{
    const struct sk_world *w = sk_proc.world;
    int64_t cap = sk_settings_int(sk_select_settings(sk_proc.select), SK_SET_SHM);
    c->shm = c->lease->shm;
    c->direct = w->cma;
    sk_shm_size most = sk_shm_size_of(c->machine->max_per_node, cap);
    c->slot_capacity = most.slot_bytes;
    c->lane_capacity = most.lane_slot_bytes;
    if (!c->lease->fresh)
        return;
    sk_shm_set_waiting(c->shm, (sk_waiting){.mode = w->wait,
                                            .pace = &sk_proc.pace,
                                            .idle = sk_host_progress,
                                            .nap_ns = nap_interval(l->n)});
    if (c->direct)
        sk_shm_enable_cma(c->shm, sk_copy_message_cutoff(&w->prices));
}

#else

static bool take_region(sk_comm *c, sk_local_part *l)
{
    (void)c, (void)l;
    return false;
}

static void give_region_back(sk_comm *c)
{
    (void)c;
}

static void share_region(sk_comm *c, const sk_local_part *l, sk_region r)
{
    (void)c, (void)l, (void)r;
}

static void use_region(sk_comm *c, const sk_local_part *l)
{
    (void)c, (void)l;
}

#endif

/* ---- agreeing ---- */

/* One allreduce of the host on the user's communicator, in the same form on all ranks. */
static bool combine(sk_comm *c, sk_agreement *a)
{
    enum { WORDS = sizeof *a / sizeof(uint64_t) };
#if SK_HAVE_IALLGATHER
    MPI_Request request;
    if (!SK_HOST_YIELDS || !sk_proc.world->progress_everywhere)
        return sk_host.Iallreduce(MPI_IN_PLACE, a, WORDS, MPI_UINT64_T, MPI_BAND, c->user,
                                  &request) == MPI_SUCCESS &&
               sk_wait_request(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS;
#endif
    return sk_host.Allreduce(MPI_IN_PLACE, a, WORDS, MPI_UINT64_T, MPI_BAND, c->user) ==
           MPI_SUCCESS;
}

/* The region that ranks of one node will share is that of their first rank. */
static void offer_region(const sk_comm *c, sk_agreement *a)
{
    a->region = a->stamp = UINT64_MAX;
    if (c->rank > 0)
        return;
    a->region = c->lease ? c->lease->region.at : 0;
    a->stamp = c->lease ? c->lease->region.stamp : 0;
}

/* Agree on a number: -1 if there is none. If at some rank another thread agrees, the ranks try again:
 * see world.h. *begun: this thread still may. */
static int agree(sk_comm *c, uint64_t mine, uint64_t *bits, sk_region *region, bool *begun)
{
    enum { MOST_TRIES = 1000 };
    sk_agreement a;
    uint64_t id = SK_NO_ID, new_id = c->rank == 0 ? sk_world_new_id() : UINT64_MAX;
    int number = -1;
    for (int i = 0; i < MOST_TRIES && number < 0; i++) {
        *begun = sk_world_begin_agreement(&a, mine, id);
        if (*begun)
            a.bits |= UNDISTURBED;
        if (!(mine & ABLE))
            a = (sk_agreement){.bits = UNDISTURBED};
        a.id = new_id;
        offer_region(c, &a);
        if (!combine(c, &a))
            a.bits = UNDISTURBED;
        *bits = a.bits;
        *region = (sk_region){.at = a.region, .stamp = a.stamp};
        number = sk_world_end_agreement(&a, *begun);
        if (number >= 0 || a.bits & UNDISTURBED)
            break;
        if (id == SK_NO_ID)
            sk_world_enqueue(id = a.id);
        sk_world_release_agreement(*begun);
        *begun = false;
        sk_wait_give_way(SK_WAIT_YIELD);
    }
    if (id != SK_NO_ID)
        sk_world_dequeue(id);
    return number;
}

/* Plans depend on the ranks and on these two. Until here there were none. */
static void use_plans(sk_comm *c, sk_kept *kept)
{
    if (!kept || kept->slot_capacity != c->slot_capacity || kept->direct != c->direct)
        return;
    SK_ASSERT(!c->plans);
    c->plans = kept->plans;
    kept->plans = NULL;
    if (c->plans)
        c->counted = sk_plans_count(c->plans);
}

/* Shared memory was to be had, but no region is left: messages are slower than the host's own
 * collectives. The same answer on all ranks. */
static bool lacks_region(const sk_comm *c, uint64_t bits)
{
    const struct sk_world *w = sk_proc.world;
    int64_t cap = sk_settings_int(sk_select_settings(sk_proc.select), SK_SET_SHM);
    return !(bits & REGION_TAKEN) && w->memory && c->machine->max_per_node > 1 &&
           sk_shm_size_of(c->machine->max_per_node, cap).main && !sk_topo_exists(c->user);
}

void sk_adopt(sk_comm *c)
{
    bool able = sk_comm_find_peers(c), begun = false;
    c->young.coll = SK_NCOLLS; /* no longer young */
    if (c->state != SK_COMM_NEW)
        return;
    sk_local_part local = {0};
    uint64_t bits =
        (sk_device_possible() ? 0 : NO_DEVICES) | (sk_host_writes_requests() ? 0 : NO_FORTRAN);
    sk_kept *kept = able ? sk_kept_take(c) : NULL;
    if (kept) {
        c->machine = kept->machine;
        kept->machine = NULL;
    } else
        able = able && find_machine(c);
    if (able)
        bits |= ABLE | (take_region(c, &local) ? REGION_TAKEN : 0);
    sk_region region;
    int number = agree(c, bits, &bits, &region, &begun);
    if (number >= 0 && lacks_region(c, bits)) {
        sk_world_free_number(number);
        number = -1;
    }
    if (number < 0 || !(bits & REGION_TAKEN))
        give_region_back(c);
    if (number >= 0) {
        c->number = number;
        c->devices = !(bits & NO_DEVICES);
        c->requests_written = !(bits & NO_FORTRAN);
        if (c->devices)
            atomic_fetch_or(&sk_proc.devices, SK_DEVICES_AGREED);
        if (bits & REGION_TAKEN && local.peers) {
            share_region(c, &local, region);
            use_region(c, &local);
        }
        use_plans(c, kept);
        c->call_machine = c->machine;
        c->passing = 0;
        c->state = SK_COMM_ADOPTED;
    } else {
        sk_machine_free(c->machine);
        c->machine = NULL;
        sk_worth_postpone(c);
    }
    sk_world_release_agreement(begun);
    free(local.peers);
    sk_kept_free(kept);
}
