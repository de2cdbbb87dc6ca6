#include "mpi/dispatch/discovery.h"

#include <stdlib.h>
#include <unistd.h>

#include "mpi/dispatch/setup.h"
#include "mpi/state/device.h"
#include "mpi/state/location.h"
#include "mpi/transport/hint.h"
#include "shm/cma.h"

/* What all ranks must have for any to use it: the minimum of all votes counts. */
enum { VOTE_MEMORY, VOTE_DIRECT, VOTE_WAIT, NVOTES };

typedef struct sk_discovery {
    sk_comm *c;
    const int *local_ranks; /* the ranks of this node */
    int nlocal;
    sk_segment_handle segment;
    void *mem;
    size_t bytes;
    int64_t votes[NVOTES];
} sk_discovery;

static bool wait_for(MPI_Request *request)
{
    return sk_wait_request(request, MPI_STATUS_IGNORE) == MPI_SUCCESS;
}

/* ---- shared memory ---- */

#if SK_HAVE_SHM

/* The first rank of a node makes the segment and sends its name to the other local ranks. A rank
 * that cannot map it votes against it. */
static void share_memory(sk_discovery *d, int64_t cap)
{
    const sk_comm *c = d->c;
    int64_t slot_bytes = 0;
    int tag = sk_comm_tag(d->c);
    bool first = d->local_ranks[0] == c->rank;
    d->bytes = sk_shm_bytes(d->nlocal, cap, &slot_bytes);
    if (!d->bytes)
        return;
    d->segment.fd = -1;
    if (first && sk_segment_make(d->bytes, &d->mem, &d->segment) != SK_OK)
        d->segment = (sk_segment_handle){.fd = -1};
    MPI_Request request;
    sk_hint hint = sk_hint_of_setup(c->nranks);
    int size = (int)sizeof d->segment;
    for (int i = 1; first && i < d->nlocal; i++)
        if (SK_OWN(&hint, tag, 1,
                   sk_host.Isend(&d->segment, size, MPI_BYTE, d->local_ranks[i], tag, c->wire,
                                 &request)) != MPI_SUCCESS ||
            !wait_for(&request))
            return;
    if (!first && (SK_OWN(&hint, tag, 1,
                          sk_host.Irecv(&d->segment, size, MPI_BYTE, d->local_ranks[0], tag,
                                        c->wire, &request)) != MPI_SUCCESS ||
                   !wait_for(&request)))
        return;
    if (!first && (d->segment.fd < 0 || sk_segment_map(&d->segment, d->bytes, &d->mem) != SK_OK))
        d->mem = NULL;
}

/* Can this rank read the memory of the next local rank? */
static bool can_cma(const sk_discovery *d)
{
    int me = d->c->machine->local_rank[d->c->rank];
    const sk_rank_note *next = &d->c->notes[d->local_ranks[(me + 1) % d->nlocal]];
    uint64_t word = 0;
    return sk_cma_read(next->probe_at, 0, &word, sizeof word) == SK_OK && word == next->probe;
}

/* Are more local ranks bound to this set of cores than it has cores? Launchers that count only the
 * ranks and cores of a node do not see that. */
static bool cores_shared(const sk_discovery *d)
{
    const sk_rank_note *mine = &d->c->notes[d->c->rank];
    int same = 0;
    for (int i = 0; i < d->nlocal; i++)
        same += d->c->notes[d->local_ranks[i]].cpu_set == mine->cpu_set;
    return mine->cpus > 0 && same > mine->cpus;
}

/* Not every MPI makes progress in a probe, but all do in a test of a pending request. There is one
 * such request, so one thread at a time tests it. */
static void host_progress(void)
{
    int done;
    if (!atomic_flag_test_and_set(&sk_proc.testing_never)) {
        if (sk_proc.never == MPI_REQUEST_NULL)
            sk_host.Irecv(NULL, 0, MPI_BYTE, 0, (int)sk_proc.tags, sk_proc.self, &sk_proc.never);
        sk_host.Test(&sk_proc.never, &done, MPI_STATUS_IGNORE);
        atomic_flag_clear(&sk_proc.testing_never);
    }
    sk_progress();
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

/* Shared memory on all ranks or on none. */
static bool vote(sk_discovery *d)
{
    MPI_Request request;
    return sk_host.Iallreduce(MPI_IN_PLACE, d->votes, NVOTES, MPI_INT64_T, MPI_MIN, d->c->wire,
                              &request) == MPI_SUCCESS &&
           wait_for(&request);
}

static bool find_shm(sk_discovery *d)
{
    sk_comm *c = d->c;
    const sk_settings *set = sk_select_settings(sk_proc.select);
    int64_t cap = sk_settings_int(set, SK_SET_SHM);
    if (cap <= 0 || d->c->machine->max_per_node == 1)
        return true;
    share_memory(d, cap);
    if (d->mem &&
        (c->shm = sk_shm_new(d->mem, d->bytes, d->nlocal, d->c->machine->local_rank[c->rank])))
        d->mem = NULL;
    d->votes[VOTE_MEMORY] = c->shm != NULL;
    d->votes[VOTE_DIRECT] = sk_settings_bool(set, SK_SET_DIRECT) && can_cma(d);
    if (cores_shared(d))
        sk_wait_sharing();
    d->votes[VOTE_WAIT] = -(int64_t)sk_proc.wait;
    bool agreed = vote(d);
    if (d->segment.pid == getpid() && d->segment.fd >= 0)
        sk_segment_close(&d->segment);
    if (agreed && d->votes[VOTE_MEMORY]) {
        sk_shm_set_waiting(c->shm, (sk_waiting){.mode = (sk_wait_mode)-d->votes[VOTE_WAIT],
                                                .idle = host_progress,
                                                .nap_ns = nap_interval(d->nlocal)});
        sk_shm_bytes(c->machine->max_per_node, cap, &c->slot_capacity);
        c->direct = d->votes[VOTE_DIRECT];
        if (c->direct)
            sk_shm_enable_cma(c->shm);
    } else {
        sk_shm_free(c->shm);
        c->shm = NULL;
    }
    return agreed;
}

#else

static bool find_shm(sk_discovery *d)
{
    (void)d;
    return true;
}

#endif

static bool locate(sk_discovery *d)
{
    sk_comm *c = d->c;
    MPI_Request request;
    if (!c->located && (sk_locate_begin(c, (sk_graph_note){0}, &request) != SK_OK ||
                        !wait_for(&request) || sk_locate_end(c) != SK_OK))
        return false;
    if (!c->machine || !c->notes)
        return false;
    d->local_ranks = sk_machine_local_ranks(c->machine, c->rank, &d->nlocal);
    return true;
}

/* See dispatch.c. */
static void agree_on_devices(sk_comm *c)
{
    MPI_Request request;
    int possible = sk_device_possible();
    if (sk_host.Iallreduce(MPI_IN_PLACE, &possible, 1, MPI_INT, MPI_MAX, c->user, &request) ==
            MPI_SUCCESS &&
        wait_for(&request))
        c->devices = possible;
    if (c->devices)
        atomic_fetch_or(&sk_proc.devices, SK_DEVICES_AGREED);
}

static void discover(sk_comm *c)
{
    if (c->nranks == 1 || !sk_comm_wait_wired(c))
        return;
    agree_on_devices(c);
    /* Set-ups use the same duplicate in the background: one after the other, on all ranks. */
    if (c->topo && sk_setup_wait(c->topo, c) != SK_OK)
        return;
    sk_discovery d = {.c = c};
    if (locate(&d) && find_shm(&d)) {
        c->call_machine = c->machine;
        sk_comm_drop_cache(c); /* it has plans made without all this */
    }
#if SK_HAVE_SHM
    if (d.mem)
        sk_segment_unmap(d.mem, d.bytes);
#endif
    sk_locate_free_notes(c);
}

/* A set-up may end meanwhile, here or in another thread. It must not take a discovery that has not
 * found shared memory yet for one without: the ranks would differ in what they leave to the host. */
void sk_discover(sk_comm *c)
{
    c->discovered = true;
    discover(c);
    pthread_mutex_lock(&sk_proc.lock);
    c->discovery_done = true;
    if (c->topo)
        sk_topo_mark_host_colls(c->topo, c);
    pthread_mutex_unlock(&sk_proc.lock);
}
