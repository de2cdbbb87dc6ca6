#include "mpi/node.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpi/hint.h"
#include "mpi/recent.h"
#include "mpi/request.h"
#include "mpi/topo.h"
#include "shm/cma.h"

typedef struct note { /* what a rank says of itself */
    sk_location location;
    int32_t cores;
    int32_t cpus; /* cores it may run on, and which: a number that tells sets apart */
    uint64_t which;
    sk_export_handle place; /* of `sign` below, in its memory */
    uint64_t sign;
} note;

/* What all must have for all to use it: the least of everybody's. */
enum { HAS_MEMORY, HAS_DIRECT, WAITS_LESS, NVOTES };

typedef struct finding {
    sk_comm *c;
    note *notes;
    uint64_t sign; /* local ranks try to read it */
    sk_machine *machine;
    const int *local_ranks;
    int nmates;
    sk_segment_note segment;
    void *mem;
    size_t bytes;
    int64_t votes[NVOTES];
} finding;

#if SK_HAVE_IALLGATHER
static bool wait_for(MPI_Request *request)
{
    int done = 0;
    while (!done) {
        if (PMPI_Test(request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
            return false;
        if (!done) {
            sk_progress();
            sk_relax();
        }
    }
    return true;
}
#endif

/* ---- who sits where ---- */

static bool exchange_notes(finding *f)
{
    const sk_comm *c = f->c;
    note *mine = &f->notes[c->rank];
    int cores = 0;
    f->sign = (uint64_t)(uintptr_t)f ^ (uint64_t)getpid() << 32;
    mine->location = sk_location_here(&cores);
    mine->cores = cores;
    mine->cpus = sk_cpus_here(&mine->which);
    mine->place = sk_cma_export(&f->sign);
    mine->sign = f->sign;
#if SK_HAVE_IALLGATHER
    MPI_Request request;
    return PMPI_Iallgather(MPI_IN_PLACE, 0, MPI_BYTE, f->notes, (int)sizeof *mine, MPI_BYTE,
                           c->wire, &request) == MPI_SUCCESS &&
           wait_for(&request);
#else
    /* What this host has of its own sends a message per pair of ranks. */
    note copy = *mine;
    return PMPI_Gather(&copy, (int)sizeof copy, MPI_BYTE, f->notes, (int)sizeof copy, MPI_BYTE, 0,
                       c->wire) == MPI_SUCCESS &&
           PMPI_Bcast(f->notes, (int)sizeof copy * c->nranks, MPI_BYTE, 0, c->wire) == MPI_SUCCESS;
#endif
}

static bool make_machine(finding *f)
{
    int n = f->c->nranks, cores = f->notes[0].cores;
    sk_location *locations = malloc((size_t)n * sizeof *locations);
    if (!locations)
        return false;
    for (int i = 0; i < n; i++) {
        locations[i] = f->notes[i].location;
        cores = f->notes[i].cores < cores ? f->notes[i].cores : cores;
    }
    sk_status st = sk_machine_new(n, locations, cores, &f->machine);
    free(locations);
    if (st == SK_OK)
        f->local_ranks = sk_machine_local_ranks(f->machine, f->c->rank, &f->nmates);
    return st == SK_OK;
}

/* ---- shared memory ---- */

#if SK_HAVE_SHM

/* The first of a node makes it and tells its local ranks; whoever cannot map it votes against it. */
static void share_memory(finding *f, int64_t cap)
{
    const sk_comm *c = f->c;
    int64_t room = 0;
    int tag = sk_comm_tag(f->c);
    bool first = f->local_ranks[0] == c->rank;
    f->bytes = sk_shm_bytes(f->nmates, cap, &room);
    if (!f->bytes)
        return;
    f->segment.fd = -1;
    if (first && sk_segment_make(f->bytes, &f->mem, &f->segment) != SK_OK)
        f->segment = (sk_segment_note){.fd = -1};
    MPI_Request request;
    sk_hint hint = sk_hint_of_setup(c->nranks);
    int size = (int)sizeof f->segment;
    for (int i = 1; first && i < f->nmates; i++)
        if (SK_OWN(&hint, tag, 1,
                   PMPI_Isend(&f->segment, size, MPI_BYTE, f->local_ranks[i], tag, c->wire,
                              &request)) != MPI_SUCCESS ||
            !wait_for(&request))
            return;
    if (!first && (SK_OWN(&hint, tag, 1,
                          PMPI_Irecv(&f->segment, size, MPI_BYTE, f->local_ranks[0], tag, c->wire,
                                     &request)) != MPI_SUCCESS ||
                   !wait_for(&request)))
        return;
    if (!first && (f->segment.fd < 0 || sk_segment_map(&f->segment, f->bytes, &f->mem) != SK_OK))
        f->mem = NULL;
}

/* Can the next local rank's memory be read? */
static bool can_cma(const finding *f)
{
    int me = f->machine->local_rank[f->c->rank];
    const note *next = &f->notes[f->local_ranks[(me + 1) % f->nmates]];
    uint64_t sign = 0;
    return sk_cma_read(next->place, 0, &sign, sizeof sign) == SK_OK && sign == next->sign;
}

/* Do more local ranks than there are cores have to share the same ones? Launchers that count only ranks
 * and cores of a node do not see that. */
static bool cores_shared(const finding *f)
{
    const note *mine = &f->notes[f->c->rank];
    int same = 0;
    for (int i = 0; i < f->nmates; i++)
        same += f->notes[f->local_ranks[i]].which == mine->which;
    return mine->cpus > 0 && same > mine->cpus;
}

/* Not every MPI makes progress in a probe, but all do in a test of what is not over. One thread at
 * a time: it is one request. */
static void host_progress(void)
{
    int done;
    if (!atomic_flag_test_and_set(&sk_proc.testing_never)) {
        if (sk_proc.never == MPI_REQUEST_NULL)
            PMPI_Irecv(NULL, 0, MPI_BYTE, 0, (int)sk_proc.tags, sk_proc.self, &sk_proc.never);
        PMPI_Test(&sk_proc.never, &done, MPI_STATUS_IGNORE);
        atomic_flag_clear(&sk_proc.testing_never);
    }
    sk_progress();
}

/* Sleepers wake up to let the host's messages go on; all together they may take a part of the
 * cores, but no more. */
static long nap_of(int nmates)
{
    enum { NS_PER_RANK = 25000, MOST_NS = 1000000 };
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    long per_core = (nmates + cores - 1) / (cores > 0 ? cores : 1);
    return per_core * NS_PER_RANK < MOST_NS ? per_core * NS_PER_RANK : MOST_NS;
}

/* A board on all ranks or on none. */
static bool vote(finding *f)
{
    MPI_Request request;
    return PMPI_Iallreduce(MPI_IN_PLACE, f->votes, NVOTES, MPI_INT64_T, MPI_MIN, f->c->wire,
                           &request) == MPI_SUCCESS &&
           wait_for(&request);
}

static bool find_shm(finding *f)
{
    sk_comm *c = f->c;
    const sk_settings *set = sk_select_settings(sk_proc.select);
    int64_t cap = sk_settings_int(set, SK_SET_SHM), room = 0;
    if (cap <= 0 || f->machine->most_on_node == 1)
        return true;
    share_memory(f, cap);
    if (f->mem &&
        (c->shm = sk_shm_new(f->mem, f->bytes, f->nmates, f->machine->local_rank[c->rank])))
        f->mem = NULL;
    f->votes[HAS_MEMORY] = c->shm != NULL;
    f->votes[HAS_DIRECT] = sk_settings_bool(set, SK_SET_DIRECT) && can_cma(f);
    if (cores_shared(f))
        sk_wait_sharing();
    f->votes[WAITS_LESS] = -(int64_t)sk_proc.wait;
    bool agreed = vote(f);
    if (f->segment.pid == getpid() && f->segment.fd >= 0)
        sk_segment_close(&f->segment);
    if (agreed && f->votes[HAS_MEMORY]) {
        static const sk_pause_mode mode[] = {[SK_WAIT_SPIN] = SK_PAUSE_SPIN,
                                             [SK_WAIT_YIELD] = SK_PAUSE_YIELD,
                                             [SK_WAIT_MIXED] = SK_PAUSE_MIXED,
                                             [SK_WAIT_SLEEP] = SK_PAUSE_SLEEP};
        sk_shm_set_waiting(c->shm, (sk_waiting){.mode = mode[-f->votes[WAITS_LESS]],
                                                .idle = host_progress,
                                                .nap_ns = nap_of(f->nmates)});
        sk_shm_bytes(f->machine->most_on_node, cap, &room);
        c->room = room;
        c->direct = f->votes[HAS_DIRECT];
        if (c->direct)
            sk_shm_enable_cma(c->shm);
    } else {
        sk_shm_free(c->shm);
        c->shm = NULL;
    }
    return agreed;
}

#else

static bool find_shm(finding *f)
{
    (void)f;
    return true;
}

#endif

void sk_node_find(sk_comm *c)
{
    c->found = true;
    if (c->nranks == 1 || !sk_comm_wait_wired(c))
        return;
    /* Set-ups in the background use the same communicator: one after the other, on all ranks. */
    if (c->topo && sk_topo_wait(c->topo, c) != SK_OK)
        return;
    finding f = {.c = c, .notes = calloc((size_t)c->nranks, sizeof *f.notes)};
    if (f.notes && exchange_notes(&f) && make_machine(&f) && find_shm(&f)) {
        c->machine = f.machine;
        f.machine = NULL;
        sk_recent_free(c->recent); /* plans made without all this */
        c->recent = NULL;
    }
    if (c->topo)
        sk_topo_leave(c->topo, c);
#if SK_HAVE_SHM
    if (f.mem)
        sk_segment_unmap(f.mem, f.bytes);
#endif
    sk_machine_free(f.machine);
    free(f.notes);
}

void sk_node_free(sk_comm *c)
{
#if SK_HAVE_SHM
    sk_shm_free(c->shm);
#endif
    sk_machine_free(c->machine);
    c->shm = NULL;
    c->machine = NULL;
    c->room = 0;
    c->direct = c->found = false;
    c->calls = 0;
}
