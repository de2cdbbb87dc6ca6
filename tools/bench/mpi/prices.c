#include "bench/mpi/prices.h"

#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/stats.h"
#include "exec/kernel.h"
#include "shm/cma.h"
#include "shm/waiting.h"

/* Messages of SHORT bytes are priced: hosts have a faster way for a few bytes, which says nothing of others. */
enum { PING_TAG = 1, BURST = 32, TRIES = 41, SHORT = 512, LONG = 1 << 20 };

enum { SLOTS = 8, SLOT = 16 << 10 };
enum { MOST_PRICES = 24, ROUNDS = 25, LEAST_ROUNDS = 3 };

/* A price as measured in several rounds, with pauses: a machine may be disturbed for a while. */
typedef struct price_values {
    char name[24], unit[8];
    double v[ROUNDS];
    int n;
} price_values;

/* Two ranks that measure, the first of which is rank 0. */
typedef struct price_pair {
    MPI_Comm comm;
    int rank; /* 0 or 1 */
    const sk_clock *clock;
    char *buf; /* of LONG bytes */
    price_values price[MOST_PRICES];
    int n;
} price_pair;

/* One of several values, at rank 0. */
static void note(price_pair *p, const char *name, double value, const char *unit)
{
    int i = 0;
    while (i < p->n && strcmp(p->price[i].name, name) != 0)
        i++;
    if (i == MOST_PRICES)
        return;
    price_values *v = &p->price[i];
    if (i == p->n) {
        snprintf(v->name, sizeof v->name, "%s", name);
        snprintf(v->unit, sizeof v->unit, "%s", unit);
        p->n++;
    }
    if (v->n < ROUNDS)
        v->v[v->n++] = value > 0 ? value : 0;
}

static void tell_all(price_pair *p)
{
    for (int i = 0; p->rank == 0 && i < p->n; i++)
        printf("price %s %.4f %s\n", p->price[i].name, sk_median(p->price[i].v, p->price[i].n),
               p->price[i].unit);
    fflush(stdout);
}

/* ---- messages ---- */

static void send(const price_pair *p, int bytes)
{
    MPI_Request r;
    PMPI_Isend(p->buf, bytes, MPI_BYTE, 1 - p->rank, PING_TAG, p->comm, &r);
    PMPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void receive(const price_pair *p, int bytes)
{
    MPI_Request r;
    PMPI_Irecv(p->buf, bytes, MPI_BYTE, 1 - p->rank, PING_TAG, p->comm, &r);
    PMPI_Wait(&r, MPI_STATUS_IGNORE);
}

/* us of half a round trip; at rank 0. */
static double ping(const price_pair *p, int bytes)
{
    double v[TRIES];
    for (int i = 0; i < TRIES; i++) {
        double t = sk_clock_now(p->clock);
        for (int k = 0; k < 2; k++)
            (k == p->rank ? send : receive)(p, bytes);
        v[i] = 0.5e6 * (sk_clock_now(p->clock) - t);
    }
    return sk_median(v, TRIES);
}

/* us that rank 0's processor needs to send a short message; at rank 0. */
static double send_time(const price_pair *p)
{
    double v[TRIES];
    for (int i = 0; i < TRIES; i++) {
        double t = sk_clock_now(p->clock);
        for (int k = 0; k < BURST; k++)
            (p->rank == 0 ? send : receive)(p, SHORT);
        v[i] = 1e6 * (sk_clock_now(p->clock) - t) / BURST;
        ping(p, 1); /* it has got all of them */
    }
    return sk_median(v, TRIES);
}

static void measure_messages(price_pair *p, const char *level)
{
    char name[32];
    double one = ping(p, SHORT), cpu = send_time(p);
    cpu = cpu < one / 2 ? cpu : one / 2;
    snprintf(name, sizeof name, "%s.latency", level);
    note(p, name, one - 2 * cpu, "us");
    snprintf(name, sizeof name, "%s.send", level);
    note(p, name, cpu, "us");
    snprintf(name, sizeof name, "%s.recv", level);
    note(p, name, cpu, "us");
}

/* ---- shared memory ---- */

/* What both ranks of a node see. */
typedef struct shared_part {
    _Alignas(64) sk_flag flag[2];
    _Alignas(4096) char slot[SLOTS][SLOT];
} shared_part;

/* Runs on this cpu only, or on any but this; false: it may not. */
static bool move(int cpu, bool on, cpu_set_t *before)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof *before, before) != 0 || cpu < 0 || cpu >= CPU_SETSIZE)
        return false;
    set = *before;
    if (on)
        CPU_ZERO(&set);
    (on ? CPU_SET((size_t)cpu, &set) : CPU_CLR((size_t)cpu, &set));
    return CPU_COUNT(&set) > 0 && sched_setaffinity(0, sizeof set, &set) == 0;
}

/* ns until the other rank sees a flag, each on the processor where it is. */
static double pass_flag(const price_pair *p, shared_part *m, sk_wait_mode mode)
{
    enum { PASSES = 64 };
    const sk_waiting w = {.mode = mode};
    double v[TRIES];
    uint64_t n = atomic_load(&m->flag[p->rank].value);
    PMPI_Barrier(p->comm);
    for (int i = 0; i < TRIES; i++) {
        double t = sk_clock_now(p->clock);
        for (int k = 0; k < PASSES; k++) {
            n++;
            if (p->rank == 0)
                sk_flag_set(&m->flag[0], n);
            sk_flag_wait(&m->flag[1 - p->rank], n, &w);
            if (p->rank == 1)
                sk_flag_set(&m->flag[1], n);
        }
        v[i] = 1e9 * (sk_clock_now(p->clock) - t) / (2 * PASSES);
    }
    return sk_median(v, TRIES);
}

/* Both ranks on the processor of the first, or the second on another; false: they may not. */
static bool place(const price_pair *p, bool together, cpu_set_t *before)
{
    int cpu = sched_getcpu(), ok, all;
    CPU_ZERO(before);
    PMPI_Bcast(&cpu, 1, MPI_INT, 0, p->comm);
    ok = move(cpu, together || p->rank == 0, before);
    PMPI_Allreduce(&ok, &all, 1, MPI_INT, MPI_MIN, p->comm);
    return all;
}

static void place_back(const cpu_set_t *before)
{
    if (CPU_COUNT(before) > 0)
        sched_setaffinity(0, sizeof *before, before);
}

/* ---- copies ---- */

/* A byte in ns, at both ranks: the first copies chunk after chunk to where `to` is, and the second copies the one
 * before, at the same time or, `alone`, when the first has ended. */
typedef struct stream_ns {
    double in, out;
} stream_ns;

typedef struct stream_part {
    char *to;              /* SLOTS chunks */
    sk_export_handle from; /* pid 0: the second rank sees them; else it reads them in place */
    int64_t bytes;         /* of a chunk */
    bool alone;
} stream_part;

static stream_ns stream(const price_pair *p, shared_part *m, const stream_part *s)
{
    enum { STEPS = 5 * TRIES };
    double v[STEPS], all[2];
    const sk_waiting w = {.mode = SK_WAIT_SPIN};
    uint64_t n = atomic_load(&m->flag[0].value);
    PMPI_Barrier(p->comm);
    for (int i = 0; i < STEPS; i++) {
        int64_t at = (i + (p->rank ? SLOTS - 1 : 0)) % SLOTS * s->bytes;
        if (s->alone && p->rank == 1)
            sk_flag_wait(&m->flag[0], n + 1, &w);
        double t = sk_clock_now(p->clock);
        if (p->rank == 0)
            memcpy(s->to + at, p->buf + at, (size_t)s->bytes);
        else if (!s->from.pid)
            memcpy(p->buf + at, s->to + at, (size_t)s->bytes);
        else
            sk_cma_read(s->from, at, p->buf + at, s->bytes);
        v[i] = 1e9 * (sk_clock_now(p->clock) - t) / (double)s->bytes;
        sk_flag_set(&m->flag[p->rank], ++n);
        sk_flag_wait(&m->flag[1 - p->rank], n, &w);
    }
    double mine = sk_median(v, STEPS);
    PMPI_Allgather(&mine, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, p->comm);
    return (stream_ns){all[0], all[1]};
}

/* ns of a read of another rank's memory, while that rank reads too: this one's memory or, if `same`, its own, so
 * that both use the same pages. They start each read together. 0: the kernel does not allow it. */
static double read_time(const price_pair *p, shared_part *m, const sk_export_handle at[2],
                        int64_t bytes, bool same)
{
    enum { READS = 3 * TRIES };
    double v[READS];
    bool ok = true;
    const sk_waiting w = {.mode = SK_WAIT_SPIN};
    uint64_t n = atomic_load(&m->flag[p->rank].value);
    PMPI_Barrier(p->comm);
    for (int i = 0; i < READS; i++) {
        sk_flag_set(&m->flag[p->rank], ++n);
        sk_flag_wait(&m->flag[1 - p->rank], n, &w);
        double t = sk_clock_now(p->clock);
        ok = sk_cma_read(at[same ? 1 : 1 - p->rank], 0, p->buf, bytes) == SK_OK && ok;
        v[i] = 1e9 * (sk_clock_now(p->clock) - t);
    }
    PMPI_Barrier(p->comm);
    return ok ? sk_median(v, READS) : 0;
}

/* Through slots, and in place: both ranks read at the same time, as they do in most collectives. */
static void measure_copies(price_pair *p, shared_part *m)
{
    enum { BYTES = LONG / 2 / SLOTS };
    char *upper = p->buf + LONG / 2;
    stream_part slots = {.to = m->slot[0], .bytes = SLOT}, own = {.to = upper, .bytes = SLOT};
    double copy = stream(p, m, &own).in;
    stream_ns x = stream(p, m, &slots);
    slots.alone = true;
    stream_ns one = stream(p, m, &slots);
    note(p, "copy", copy, "ns/B");
    note(p, "core.in", copy, "ns/B");
    note(p, "core.out", copy, "ns/B");
    note(p, "socket.in", one.in, "ns/B");
    note(p, "socket.out", one.out, "ns/B");
    note(p, "copy.together", (x.in + x.out - one.in - one.out) / 2, "ns/B");
    sk_export_handle mine = sk_cma_export(upper), at[2];
    PMPI_Allgather(&mine, sizeof mine, MPI_BYTE, at, sizeof mine, MPI_BYTE, p->comm);
    double call = read_time(p, m, at, 1, false), apart = read_time(p, m, at, BYTES, false),
           same = read_time(p, m, at, BYTES, true);
    if (!(call > 0) || !(apart > call) || !(same > 0))
        return;
    stream_part fresh = {.to = upper, .from = at[0], .bytes = BYTES};
    note(p, "call", call, "ns");
    note(p, "read", (apart - call) / BYTES, "ns/B");
    note(p, "read.same", (same - apart) / BYTES, "ns/B");
    note(p, "read.fresh", stream(p, m, &fresh).out - apart / BYTES, "ns/B");
}

/* ns for a byte of a sum that stays in the first caches. */
static void measure_reduce(price_pair *p)
{
    enum { BYTES = 8 << 10 };
    sk_kernel_fn *sum = sk_kernel_find(SK_OP_SUM, SK_KIND_DOUBLE);
    const void *in[] = {p->buf, p->buf + BYTES};
    double v[TRIES];
    for (int i = 0; i < TRIES; i++) {
        double t = sk_clock_now(p->clock);
        for (int k = 0; k < BURST; k++)
            sum(p->buf, in, 2, BYTES / (int64_t)sizeof(double));
        v[i] = 1e9 * (sk_clock_now(p->clock) - t) / ((double)BURST * BYTES);
    }
    note(p, "reduce", sk_median(v, TRIES), "ns/B");
}

/* ns for a byte that is copied within `own`, while the other rank does the same. */
static double copy_ns(const price_pair *p, char *own, size_t bytes)
{
    enum { COPIES = 9 };
    double v[COPIES];
    PMPI_Barrier(p->comm);
    for (int i = 0; i < COPIES; i++) {
        double t = sk_clock_now(p->clock);
        for (size_t at = 0; at < bytes; at += SLOT)
            memcpy(own + bytes + at, own + at, bytes - at < SLOT ? bytes - at : SLOT);
        v[i] = 1e9 * (sk_clock_now(p->clock) - t) / (double)bytes;
    }
    return sk_median(v, COPIES);
}

/* What copies cost more that do not stay in the second cache, if the system tells how large that is. */
static void measure_memory(price_pair *p)
{
    long cache = sysconf(_SC_LEVEL2_CACHE_SIZE);
    size_t bytes = cache > 0 && cache <= 64 << 20 ? 2 * (size_t)cache : 0;
    char *own = bytes ? calloc(2, bytes) : NULL;
    int ok = own != NULL, all;
    PMPI_Allreduce(&ok, &all, 1, MPI_INT, MPI_MIN, p->comm);
    if (all && own) {
        memset(own, 1, 2 * bytes);
        double far = copy_ns(p, own, bytes), near = copy_ns(p, own, bytes / 16);
        note(p, "memory.cache", (double)cache, "B");
        note(p, "memory.core", far - near, "ns/B");
    }
    free(own);
}

static void measure_shared(price_pair *p, shared_part *m)
{
    cpu_set_t before;
    measure_copies(p, m);
    note(p, "socket.flag", pass_flag(p, m, SK_WAIT_SPIN), "ns");
    if (place(p, true, &before))
        note(p, "wake", pass_flag(p, m, sk_wait_mode_shared()), "ns");
    place_back(&before);
}

static void measure_node(price_pair *p)
{
    MPI_Win win;
    shared_part *m = NULL;
    MPI_Aint bytes = p->rank == 0 ? (MPI_Aint)sizeof *m : 0;
    cpu_set_t before;
    int unit;
    if (place(p, false, &before)) {
        measure_messages(p, "socket");
        measure_reduce(p);
        measure_memory(p);
        if (PMPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, p->comm, &m, &win) == MPI_SUCCESS) {
            PMPI_Win_shared_query(win, 0, &bytes, &unit, &m);
            measure_shared(p, m);
            PMPI_Win_free(&win);
        }
    }
    place_back(&before);
}

static void measure_net(price_pair *p)
{
    measure_messages(p, "net");
    note(p, "port.byte", 1e3 * (ping(p, LONG) - ping(p, SHORT)) / LONG, "ns/B");
}

/* Of the node with the fewest that its ranks may use. */
static void count_cores(int rank)
{
    MPI_Comm node;
    cpu_set_t mine, all;
    int cores = 0, fewest;
    CPU_ZERO(&mine);
    int known = sched_getaffinity(0, sizeof mine, &mine) == 0, all_known;
    PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    PMPI_Allreduce(&mine, &all, sizeof mine, MPI_BYTE, MPI_BOR, node);
    PMPI_Comm_free(&node);
    cores = CPU_COUNT(&all);
    PMPI_Allreduce(&known, &all_known, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    PMPI_Allreduce(&cores, &fewest, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (rank == 0 && all_known)
        printf("price node.cores %d -\n", fewest);
}

/* ---- pairs ---- */

/* Until all ranks are here. Those that wait leave their cores to the two that measure. */
static void sleep_until_all(void)
{
    MPI_Request r;
    int done = 0;
    PMPI_Ibarrier(MPI_COMM_WORLD, &r);
    while (PMPI_Test(&r, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* The first rank of MPI_COMM_WORLD that is, or is not, on rank 0's node. */
static int find_peer(int rank, int all, bool same_node)
{
    MPI_Comm node;
    int first, peer;
    PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    PMPI_Allreduce(&rank, &first, 1, MPI_INT, MPI_MIN, node);
    PMPI_Comm_free(&node);
    int mine = rank > 0 && (first == 0) == same_node ? rank : all;
    PMPI_Allreduce(&mine, &peer, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return peer;
}

/* Is there time left? */
static bool go_on(const price_pair *p, double end)
{
    int left = sk_clock_now(p->clock) < end;
    PMPI_Bcast(&left, 1, MPI_INT, 0, p->comm);
    return left;
}

static void measure_pair(const sk_clock *clock, double seconds, bool same_node)
{
    int rank, all;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &all);
    int peer = find_peer(rank, all, same_node), in = peer < all && (rank == 0 || rank == peer);
    price_pair p = {.clock = clock, .rank = rank > 0, .buf = in ? calloc(LONG, 1) : NULL};
    int ok = !in || p.buf, all_ok;
    PMPI_Allreduce(&ok, &all_ok, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    PMPI_Comm_split(MPI_COMM_WORLD, in && all_ok ? 0 : MPI_UNDEFINED, rank, &p.comm);
    if (p.comm != MPI_COMM_NULL) {
        double end = sk_clock_now(clock) + seconds;
        for (int i = 0; i < ROUNDS && (i < LEAST_ROUNDS || go_on(&p, end)); i++) {
            if (same_node)
                measure_node(&p);
            else
                measure_net(&p);
            nanosleep(&(struct timespec){.tv_nsec = (long)(1e9 * seconds / ROUNDS)}, NULL);
        }
        tell_all(&p);
        PMPI_Comm_free(&p.comm);
    }
    free(p.buf);
    sleep_until_all();
}

void sk_bench_prices(const sk_clock *clock, double seconds)
{
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    count_cores(rank);
    measure_pair(clock, seconds, true);
    measure_pair(clock, seconds, false);
}
