#include "mpi/state/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/random.h"
#include "mpi/state/host_progress.h"
#include "mpi/state/network_probe.h"
#include "mpi/state/tuned.h"
#include "shm/cma.h"
#include "shm/copy_probe.h"
#include "shm/segment.h"
#include "topo/machine.h"

/* What a rank says about itself. */
typedef struct sk_rank_note {
    sk_location location;
    int32_t cores;             /* of its node */
    int32_t cpus;              /* it may run on; 0: not known */
    uint64_t cpu_set;          /* equal numbers: the same set of cpus */
    sk_export_handle probe_at; /* a word in its memory: others try to read it */
    uint64_t probe;
    uint64_t settings; /* equal numbers: the same settings */
    int32_t reporting; /* it is asked for a report */
} sk_rank_note;

/* What all ranks must have for any to use it: the minimum of all votes counts. */
enum {
    VOTE_ALIVE,
    VOTE_MEMORY,
    VOTE_CMA,
    VOTE_WAIT,
    VOTE_PROGRESS,
    VOTE_UNSEEN,
    VOTE_KEEPS,
    VOTE_TUNING, /* the length of the tuning that rank 0 has read, below 0 */
    VOTE_PRICES, /* of copies: the lowest that a node has measured */
    VOTE_NETWORK = VOTE_PRICES + SK_NPRICES, /* likewise the network */
    NVOTES = VOTE_NETWORK + sizeof(sk_network) / sizeof(int64_t)
};

/* What the first rank of a node sends to the others. */
typedef struct sk_node_note {
    sk_segment_handle segment;
    sk_copy_probe_note probe;
} sk_node_note;

typedef struct sk_introduction {
    struct sk_world *w;
    sk_rank_note *notes;
    sk_machine *machine;
    const int *local_ranks; /* the ranks of this node */
    int nlocal, me;
    sk_node_note node;
    sk_copy_prices prices; /* that this rank has measured */
    sk_network network;
    char *tuning; /* that rank 0 has read; may be NULL */
} sk_introduction;

/* ---- notes ---- */

static int allgather(const struct sk_world *w, void *data, size_t bytes)
{
#if SK_HAVE_IALLGATHER
    return sk_host.Allgather(MPI_IN_PLACE, 0, MPI_BYTE, data, (int)bytes, MPI_BYTE, w->wire);
#else
    /* This host's own allgather sends a message per pair of ranks. */
    void *mine = malloc(bytes);
    if (!mine)
        return MPI_ERR_NO_MEM;
    memcpy(mine, (char *)data + (size_t)w->rank * bytes, bytes);
    int rc = sk_host.Gather(mine, (int)bytes, MPI_BYTE, data, (int)bytes, MPI_BYTE, 0, w->wire);
    free(mine);
    return rc != MPI_SUCCESS ? rc
                             : sk_host.Bcast(data, (int)bytes * w->nranks, MPI_BYTE, 0, w->wire);
#endif
}

/* A number for the settings in the environment, in whatever order they are there. Settings that only
 * say where output goes do not count, nor the tuning, which is that of rank 0. */
static uint64_t settings_number(void)
{
    uint64_t all = 0;
    for (char **e = environ; *e; e++) {
        sk_setting id = sk_setting_find(*e);
        if (strncmp(*e, "SKEIN_", 6) != 0 || id == SK_SET_REPORT || id == SK_SET_TRACE ||
            id == SK_SET_MATCH_STATS || id == SK_SET_TUNING)
            continue;
        uint64_t one = 0;
        for (const char *c = *e; *c; c++)
            one = sk_random_mix(one + (unsigned char)*c);
        all += one;
    }
    return all;
}

/* Launchers give their environment to the ranks of their own host only, unless they are told to give
 * it to others. Ranks with different settings would choose differently and wait for each other. A
 * report is written by rank 0 with the counts of all ranks, so its wish is that of all. */
static bool agree_on_settings(const sk_rank_note *notes, const struct sk_world *w)
{
    int other = 1;
    while (other < w->nranks && notes[other].settings == notes[0].settings)
        other++;
    sk_proc.reporting = notes[0].reporting;
    if (other < w->nranks && w->rank == 0)
        fprintf(stderr,
                "skein: ranks 0 and %d have different SKEIN_ variables, so the host MPI serves all "
                "calls; start the job by `skein run`, or give the variables to all ranks (-x, "
                "-genv)\n",
                other);
    return other >= w->nranks;
}

/* How many cores the ranks of a node may use together: those of the sets that they are bound to, which are the same or
 * share none. Unless the user says what to assume. A job may have only a part of a node. */
static int cores_of_node(const sk_introduction *in, int node)
{
    const sk_machine *m = in->machine;
    const int *ranks = &m->local_ranks[m->node_first[node]];
    int n = m->node_first[node + 1] - m->node_first[node], cores = 0,
        all = in->notes[ranks[0]].cores;
    for (int i = 0; i < n; i++)
        all = in->notes[ranks[i]].cores < all ? in->notes[ranks[i]].cores : all;
    if (*sk_settings_text(sk_select_settings(sk_proc.select), SK_SET_MACHINE))
        return all;
    for (int i = 0; i < n; i++) {
        const sk_rank_note *note = &in->notes[ranks[i]];
        bool seen = false;
        for (int j = 0; j < i && !seen; j++)
            seen = in->notes[ranks[j]].cpu_set == note->cpu_set;
        if (note->cpus == 0 || cores >= all)
            return all;
        cores += seen ? 0 : note->cpus;
    }
    return cores < all ? cores : all;
}

static void count_cores(sk_introduction *in)
{
    struct sk_world *w = in->w;
    const sk_machine *m = in->machine;
    for (int node = 0; node < m->nnodes; node++) {
        int cores = cores_of_node(in, node);
        for (int i = m->node_first[node]; i < m->node_first[node + 1]; i++)
            w->cores_at[m->local_ranks[i]] = cores;
    }
    sk_machine_set_cores(in->machine, w->cores_at);
    w->cores = m->cores;
}

/* The ranks exchange their notes. */
static bool introduce(sk_introduction *in)
{
    struct sk_world *w = in->w;
    size_t n = (size_t)w->nranks;
    in->notes = calloc(n, sizeof *in->notes);
    w->locations = calloc(n, sizeof *w->locations);
    w->node_rank = calloc(n, sizeof *w->node_rank);
    w->cores_at = calloc(n, sizeof *w->cores_at);
    if (!in->notes || !w->locations || !w->node_rank || !w->cores_at)
        return false;
    sk_rank_note *mine = &in->notes[w->rank];
    int cores = 0;
    w->probe = (uint64_t)(uintptr_t)w ^ (uint64_t)getpid() << 32;
    sk_binding binding =
        SK_HAVE_BINDING ? sk_binding_read(SK_CPU_FOLDER) : (sk_binding){.core = -1};
    mine->location = sk_location_here(&binding, &cores);
    mine->cores = cores;
    mine->cpus = binding.cpus;
    mine->cpu_set = binding.which;
    mine->probe_at = sk_cma_export(&w->probe);
    mine->probe = w->probe;
    mine->settings = settings_number();
    mine->reporting = sk_proc.reporting;
    if (allgather(w, in->notes, sizeof *mine) != MPI_SUCCESS)
        return false;
    if (!agree_on_settings(in->notes, w))
        return false;
    for (size_t i = 0; i < n; i++)
        w->locations[i] = in->notes[i].location;
    if (sk_machine_new(w->nranks, w->locations, 0, &in->machine) != SK_OK)
        return false;
    count_cores(in);
    w->nnodes = in->machine->nnodes;
    memcpy(w->node_rank, in->machine->local_rank, n * sizeof *w->node_rank);
    in->local_ranks = sk_machine_local_ranks(in->machine, w->rank, &in->nlocal);
    in->me = w->node_rank[w->rank];
    return true;
}

/* ---- shared memory ---- */

static void forget_memory(struct sk_world *w)
{
    sk_leases_free(w->leases);
    w->leases = NULL;
    sk_node_memory_free(w->memory);
    w->memory = NULL;
}

#if SK_HAVE_SHM

/* Are all prices of copies given? Then nothing is measured. */
static bool prices_given(void)
{
    sk_copy_prices given = {0};
    sk_select_prices(sk_proc.select, &given);
    return sk_copy_prices_known(&given);
}

/* The first two local ranks, one after the other: see copy_probe.h. */
static void measure_copies(sk_introduction *in, sk_copy_probe *probe, void *mem)
{
    struct sk_world *w = in->w;
    char done = 0;
    int32_t cpu = in->node.probe.cpu;
    if (in->me > 1 || cpu < 0)
        return;
    if (in->me == 1) {
        if (mem)
            sk_copy_probe_take(mem, &in->node.probe, &in->prices);
        sk_host.Send(&done, 1, MPI_BYTE, in->local_ranks[0], 0, w->wire);
        return;
    }
    sk_host.Recv(&done, 1, MPI_BYTE, in->local_ranks[1], 0, w->wire, MPI_STATUS_IGNORE);
    sk_copy_probe_refill(probe, &in->prices);
}

/* The end of the segment: no communicator has memory yet. */
static void *probe_memory(void *mem, size_t bytes)
{
    return mem ? (char *)mem + bytes / SK_PROBE_BYTES * SK_PROBE_BYTES - SK_PROBE_BYTES : NULL;
}

/* The first rank of a node makes the segment and sends its name to the other local ranks. */
static void share_memory(sk_introduction *in)
{
    struct sk_world *w = in->w;
    int size = (int)sizeof in->node;
    int64_t cap = sk_settings_int(sk_select_settings(sk_proc.select), SK_SET_SHM);
    size_t bytes = cap > 0 ? sk_node_memory_bytes(in->nlocal, cap) : 0;
    void *mem = NULL;
    sk_copy_probe probe;
    if (!bytes || in->machine->max_per_node == 1)
        return;
    if (in->me == 0 && sk_segment_make(bytes, &mem, &in->node.segment) != SK_OK)
        in->node.segment.fd = -1;
    if (in->me == 0 && in->nlocal > 1 && mem && bytes >= SK_PROBE_BYTES && !prices_given()) {
        sk_copy_probe_fill(&probe, probe_memory(mem, bytes));
        in->node.probe = probe.note;
    }
    for (int i = 1; in->me == 0 && i < in->nlocal; i++)
        sk_host.Send(&in->node, size, MPI_BYTE, in->local_ranks[i], 0, w->wire);
    if (in->me > 0 && sk_host.Recv(&in->node, size, MPI_BYTE, in->local_ranks[0], 0, w->wire,
                                   MPI_STATUS_IGNORE) != MPI_SUCCESS)
        in->node.segment.fd = in->node.probe.cpu = -1;
    if (in->me > 0 &&
        (in->node.segment.fd < 0 || sk_segment_map(&in->node.segment, bytes, &mem) != SK_OK))
        mem = NULL;
    measure_copies(in, &probe, probe_memory(mem, bytes));
    if (mem && !(w->memory = sk_node_memory_new(mem, bytes, in->nlocal, in->me)))
        sk_segment_unmap(mem, bytes);
    if (w->memory && !(w->leases = sk_leases_new(w->memory)))
        forget_memory(w);
    if (w->memory)
        sk_node_memory_populate(w->memory, in->nlocal, cap);
}

static void close_segment(const sk_introduction *in)
{
    if (in->me == 0 && in->node.segment.fd >= 0)
        sk_segment_close(&in->node.segment);
}

/* Can this rank read the memory of the next local rank? */
static bool can_cma(const sk_introduction *in)
{
    const sk_rank_note *next = &in->notes[in->local_ranks[(in->me + 1) % in->nlocal]];
    uint64_t word = 0;
    return sk_settings_bool(sk_select_settings(sk_proc.select), SK_SET_DIRECT) &&
           sk_cma_read(next->probe_at, 0, &word, sizeof word) == SK_OK && word == next->probe;
}

/* Are more local ranks bound to this set of cores than it has cores? Launchers that count only the
 * ranks and cores of a node do not see that. */
static bool cores_shared(const sk_introduction *in)
{
    const sk_rank_note *mine = &in->notes[in->w->rank];
    int same = 0;
    for (int i = 0; i < in->nlocal; i++)
        same += in->notes[in->local_ranks[i]].cpu_set == mine->cpu_set;
    return mine->cpus > 0 && same > mine->cpus;
}

#else

static void share_memory(sk_introduction *in)
{
    (void)in;
}

static void close_segment(const sk_introduction *in)
{
    (void)in;
}

static bool can_cma(const sk_introduction *in)
{
    (void)in;
    return false;
}

static bool cores_shared(const sk_introduction *in)
{
    (void)in;
    return false;
}

#endif

/* ---- start and end ---- */

/* All ranks vote, also one that has failed. */
static bool vote(sk_introduction *in, bool alive)
{
    struct sk_world *w = in->w;
    int64_t votes[NVOTES] = {[VOTE_ALIVE] = alive};
    if (alive) {
        if (cores_shared(in))
            sk_wait_sharing();
        votes[VOTE_MEMORY] = w->memory != NULL;
        votes[VOTE_CMA] = can_cma(in);
        votes[VOTE_WAIT] = -(int64_t)sk_proc.wait;
        votes[VOTE_PROGRESS] = sk_host_hook_available();
        votes[VOTE_UNSEEN] = !sk_proc.reporting;
        votes[VOTE_KEEPS] = sk_host_keeps_comms();
        votes[VOTE_TUNING] = in->tuning ? -(int64_t)strlen(in->tuning) : 0;
    }
    int64_t *prices = &votes[VOTE_PRICES];
    memcpy(prices, in->prices.fs, sizeof in->prices.fs);
    memcpy(&votes[VOTE_NETWORK], &in->network, sizeof in->network);
    for (int i = 0; i < NVOTES - VOTE_PRICES; i++)
        prices[i] = prices[i] > 0 ? prices[i] : INT64_MAX;
    if (sk_host.Allreduce(MPI_IN_PLACE, votes, NVOTES, MPI_INT64_T, MPI_MIN, w->wire) !=
            MPI_SUCCESS ||
        !votes[VOTE_ALIVE])
        return false;
    w->cma = votes[VOTE_CMA];
    w->wait = (sk_wait_mode)-votes[VOTE_WAIT];
    w->progress_everywhere = votes[VOTE_PROGRESS];
    w->keeps_comms = votes[VOTE_KEEPS];
    for (int i = 0; i < NVOTES - VOTE_PRICES; i++)
        prices[i] = prices[i] < INT64_MAX ? prices[i] : 0;
    memcpy(w->prices.fs, prices, sizeof w->prices.fs);
    memcpy(&in->network, &votes[VOTE_NETWORK], sizeof in->network);
    sk_copy_prices_of_two_cores(&w->prices);
    sk_select_prices(sk_proc.select, &w->prices);
    sk_select_measured(sk_proc.select, &in->network, &w->prices);
    if (w->nnodes > 1)
        w->net = sk_model_net_bytes(sk_select_model(sk_proc.select), in->machine);
    if (!votes[VOTE_MEMORY])
        forget_memory(w);
    if (votes[VOTE_TUNING] < 0)
        sk_tuned_share(w->wire, w->rank, in->tuning, -votes[VOTE_TUNING]);
    w->priced =
        w->nnodes == 1 && w->memory && w->progress_everywhere && sk_copy_prices_known(&w->prices);
    w->unseen = w->priced && votes[VOTE_UNSEEN];
    return true;
}

static void free_world(struct sk_world *w)
{
    forget_memory(w);
    if (w->group != MPI_GROUP_NULL)
        sk_host.Group_free(&w->group);
    sk_host.Comm_free(&w->wire);
    free(w->locations);
    free(w->node_rank);
    free(w->cores_at);
    free(w);
}

void sk_world_start(void)
{
    struct sk_world *w = calloc(1, sizeof *w);
    MPI_Comm wire;
    if (sk_host.Comm_dup(MPI_COMM_WORLD, &wire) != MPI_SUCCESS || !w) {
        free(w);
        return;
    }
    sk_host.Comm_set_errhandler(wire, MPI_ERRORS_RETURN);
    pthread_mutex_init(&w->agree_lock, NULL);
    pthread_mutex_init(&w->kept_lock, NULL);
    w->wire = wire;
    w->group = MPI_GROUP_NULL;
    sk_host.Comm_group(MPI_COMM_WORLD, &w->group);
    sk_host.Comm_rank(wire, &w->rank);
    sk_host.Comm_size(wire, &w->nranks);
    for (int i = 0; i < SK_NUMBER_WORDS; i++)
        atomic_init(&w->free_number[i], UINT64_MAX);
    sk_introduction in = {.w = w, .node = {.segment.fd = -1, .probe.cpu = -1}};
    bool alive = introduce(&in);
    if (w->rank == 0)
        in.tuning = sk_tuned_read();
    if (alive) {
        share_memory(&in);
        in.network = sk_network_measure(w->wire, w->rank, in.machine, w->cores_at[w->rank]);
    }
    bool ok = vote(&in, alive);
    close_segment(&in);
    sk_machine_free(in.machine);
    free(in.notes);
    free(in.tuning);
    if (ok)
        sk_proc.world = w;
    else
        free_world(w);
}

void sk_world_end(void)
{
    if (sk_proc.world)
        free_world(sk_proc.world);
    sk_proc.world = NULL;
}

/* ---- numbers ---- */

uint64_t sk_world_new_id(void)
{
    struct sk_world *w = sk_proc.world;
    pthread_mutex_lock(&w->agree_lock);
    uint64_t id = (uint64_t)(w->rank + 1) << 32 | ++w->serial;
    pthread_mutex_unlock(&w->agree_lock);
    return id;
}

void sk_world_enqueue(uint64_t id)
{
    struct sk_world *w = sk_proc.world;
    pthread_mutex_lock(&w->agree_lock);
    if (w->nwaiting < SK_MOST_WAITING)
        w->waiting[w->nwaiting++] = id;
    pthread_mutex_unlock(&w->agree_lock);
}

void sk_world_dequeue(uint64_t id)
{
    struct sk_world *w = sk_proc.world;
    pthread_mutex_lock(&w->agree_lock);
    for (int i = 0; i < w->nwaiting; i++)
        if (w->waiting[i] == id) {
            w->waiting[i] = w->waiting[--w->nwaiting];
            break;
        }
    pthread_mutex_unlock(&w->agree_lock);
}

static bool may_agree(struct sk_world *w, uint64_t id)
{
    pthread_mutex_lock(&w->agree_lock);
    bool mine = !w->agreeing;
    for (int i = 0; i < w->nwaiting; i++)
        mine = mine && id != SK_NO_ID && id <= w->waiting[i];
    w->agreeing |= mine;
    pthread_mutex_unlock(&w->agree_lock);
    return mine;
}

bool sk_world_begin_agreement(sk_agreement *a, uint64_t bits, uint64_t id)
{
    struct sk_world *w = sk_proc.world;
    *a = (sk_agreement){.bits = bits};
    bool begun = may_agree(w, id);
    for (int i = 0; begun && i < SK_NUMBER_WORDS; i++)
        a->number[i] = atomic_load(&w->free_number[i]);
    return begun;
}

int sk_world_end_agreement(const sk_agreement *a, bool begun)
{
    for (int i = 0; begun && i < sk_proc.numbers; i++)
        if (a->number[i / 64] >> i % 64 & 1) {
            atomic_fetch_and(&sk_proc.world->free_number[i / 64], ~(UINT64_C(1) << i % 64));
            return i;
        }
    return -1;
}

void sk_world_release_agreement(bool begun)
{
    if (!begun)
        return;
    pthread_mutex_lock(&sk_proc.world->agree_lock);
    sk_proc.world->agreeing = false;
    pthread_mutex_unlock(&sk_proc.world->agree_lock);
}

void sk_world_free_number(int number)
{
    atomic_fetch_or(&sk_proc.world->free_number[number / 64], UINT64_C(1) << number % 64);
}
