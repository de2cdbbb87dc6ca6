/* verify.c: walk the table of algorithms and check each in every kind of situation.
 *
 *   verify [--quick] [collective [algorithm]]
 *
 * Each algorithm is checked by a process of its own, as many at once as there are cores. With LONG=1 it tries three
 * times as many kinds of calls: on two x86-64 cores that takes less than two minutes and 1 GB of memory. */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "machines.h"
#include "tap.h"

enum { FAILURES_SHOWN = 5, ALL_ROOTS = 8, ALL_KINDS = 10, MAX_WORKERS = 64 };
enum { MAX_MB = 1024 };         /* of the two largest workers */
enum { KEPT_BYTES = 64 << 20 }; /* freed, but not returned to the kernel */

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
enum { SANITIZED = 1 }; /* takes more memory */
#else
enum { SANITIZED = 0 };
#endif

typedef struct totals {
    long right, wrong, unfit;
} totals;

typedef struct job {
    const sk_algo *algo;
    world *w;
    bool quick;
    unsigned part; /* one in so many of the kinds that are due in a long run */
    totals t;
} job;

static void try(job *j, const kase *k)
{
    char why[256], what[256];
    switch (check_algo(j->w, j->algo, k, why, sizeof why)) {
    case RIGHT:
        j->t.right++;
        break;
    case DOES_NOT_FIT:
        j->t.unfit++;
        break;
    case WRONG:
        kase_print(k, what, sizeof what);
        if (j->t.wrong++ < FAILURES_SHOWN)
            printf("# FAIL %s %s: %s\n", j->algo->name, what, why);
        break;
    }
}

/* All kinds together for few ranks; for many ranks every seventh or so, others for each p, as the
 * kinds do not depend on p. */
static bool due(const job *j, const kase *k, unsigned nth)
{
    if (k->p <= (j->quick ? 4 : ALL_KINDS))
        return true;
    unsigned every = k->p <= 20 ? 5 : k->p <= 40 ? 11 : 23;
    return (nth + (unsigned)k->p * 3 + (unsigned)k->root) % (every * j->part) == 0;
}

static void try_kinds(job *j, int p, int root, const int64_t *sizes, int nsizes)
{
    sk_coll coll = j->algo->coll;
    unsigned nth = 0;
    kase k = {.coll = coll, .p = p, .root = root};
    for (int lay = 0; lay < (coll == SK_BARRIER ? 1 : LAY_COUNT); lay++)
        for (int n = 0; n < (coll == SK_BARRIER ? 1 : nsizes); n++)
            for (int in_place = 0; in_place <= coll_has_in_place(coll); in_place++)
                for (int ordered = 0; ordered <= coll_reduces(coll); ordered++)
                    for (int spread = 0; spread < (coll_is_v(coll) ? SPREAD_COUNT : 1); spread++) {
                        k.lay = (layout)lay;
                        k.units = sizes[n];
                        k.in_place = in_place;
                        k.ordered = ordered;
                        k.spread = (enum spread)spread;
                        if (due(j, &k, nth++))
                            try(j, &k);
                    }
}

static void try_roots(job *j, int p, const int64_t *sizes, int nsizes)
{
    const int some[] = {0, 1, p / 2, p - 1};
    if (!coll_is_rooted(j->algo->coll))
        try_kinds(j, p, 0, sizes, nsizes);
    else if (p <= ALL_ROOTS)
        for (int r = 0; r < p; r++)
            try_kinds(j, p, r, sizes, nsizes);
    else
        for (int i = 0; i < 4; i++)
            try_kinds(j, p, some[i], sizes, nsizes);
}

/* Alltoall moves p blocks per rank, and its doubling p * p of them: keep these small. */
static bool is_heavy(sk_coll c)
{
    return c == SK_ALLTOALL || c == SK_ALLTOALLV || c == SK_ALLTOALLW;
}

/* Long enough for several segments where messages are cut. */
static void try_long(job *j, int p, layout lay)
{
    sk_coll coll = j->algo->coll;
    int64_t bytes = coll == SK_BCAST ? 200003 : 20011;
    kase k = {.coll = coll, .p = p, .root = p / 2, .lay = lay};
    k.units = bytes / (coll_reduces(coll) ? 8 : lay == LAY_PLAIN ? 1 : 12);
    if (!j->quick || p == 3)
        try(j, &k);
}

/* ---- machines ---- */

static int draw(uint64_t *lot, int n)
{
    *lot = shade_mix(*lot + 0x9e3779b97f4a7c15u);
    return (int)(*lot >> 8 & 0xffffff) % n;
}

/* A kind of call on a machine, by lot: see machines.h. */
static void try_lot(job *j, int p, uint64_t lot)
{
    static const int64_t units[] = {0, 1, 7, 40, 211};
    sk_coll coll = j->algo->coll;
    kase k = {.coll = coll, .p = p};
    machines_draw(&k, lot);
    k.root = coll_is_rooted(coll) ? draw(&lot, p) : 0;
    k.in_place = coll_has_in_place(coll) && draw(&lot, 3) == 0;
    k.ordered = coll_reduces(coll) && draw(&lot, 4) == 0;
    k.spread = coll_is_v(coll) ? (enum spread)draw(&lot, SPREAD_COUNT) : SPREAD_EVEN;
    if (coll != SK_BARRIER) {
        k.lay = (layout)draw(&lot, LAY_COUNT);
        k.units = units[draw(&lot, is_heavy(coll) ? 4 : 5)];
    }
    if (draw(&lot, 16) == 0 && p <= 5 && coll != SK_BARRIER)
        k.units = 20011;
    try(j, &k);
    sk_machine_free((sk_machine *)(uintptr_t)k.machine);
}

static void verify_machines(job *j)
{
    static const int ranks[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 24, 32};
    int n = j->quick ? 12 : (int)(sizeof ranks / sizeof *ranks);
    int lots = 200 / (int)j->part / (j->t.right ? 20 : 1) / (j->algo->coll == SK_BARRIER ? 4 : 1);
    for (int i = 0; i < n; i++)
        for (int lot = 0; lot <= lots; lot++)
            try_lot(j, ranks[i], (uint64_t)(ranks[i] * 4096 + lot) * 7919);
}

/* ---- neighbourhoods ---- */

/* Every kind of call on one neighbourhood, or every nth, others for each. Blocks are shorter and
 * longer than the combine limit. `slot_bytes`: 0 is a machine without shared memory. */
static void try_neighbor_kinds(job *j, const neighborhoods *h, unsigned every, int64_t slot_bytes)
{
    /* The last is long enough that blocks are not packed (neighbor/tuning.h). */
    static const int64_t units[] = {0, 1, 7, 40, 9000}, limits[] = {64, 0, 1024};
    static const int windows[] = {0, 2, 5};
    sk_coll coll = j->algo->coll;
    bool v = coll_is_v(coll);
    unsigned nth = h->seed + (unsigned)sk_algo_index(j->algo);
    for (int lay = 0; lay < LAY_COUNT; lay++)
        for (int n = 0; n < (v || h->p > 8 ? 4 : 5); n++)
            for (int spread = 0; spread < (v ? SPREAD_COUNT : 1); spread++)
                for (int combine = 0; combine < (v ? 3 : 1); combine++)
                    for (int window = 0; window < 3; window++) {
                        kase k = {.coll = coll,
                                  .p = h->p,
                                  .units = units[n],
                                  .lay = (layout)lay,
                                  .spread = (enum spread)spread,
                                  .neighborhoods = h,
                                  .combine = limits[combine],
                                  .window = windows[window],
                                  .machine = slot_bytes ? h->machine : NULL,
                                  .slot_bytes = slot_bytes,
                                  .direct = slot_bytes && nth / every % 2};
                        if (nth++ % every == 0)
                            try(j, &k);
                    }
}

/* Prime to the numbers of kinds, so that each seed meets other ones. */
static unsigned prime_to_kinds(unsigned n)
{
    while (n % 2 == 0 || n % 3 == 0 || n % 5 == 0)
        n++;
    return n;
}

static void verify_neighbors(job *j)
{
    static const int ranks[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11,
                                12, 13, 14, 15, 16, 17, 18, 19, 20, 33, 64};
    int n = j->quick ? 12 : (int)(sizeof ranks / sizeof *ranks);
    for (int i = 0; i < n; i++)
        for (int kind = 0; kind < GRAPH_COUNT; kind++) {
            int p = ranks[i];
            neighborhoods *h =
                neighborhoods_new((graph_kind)kind, p, (unsigned)(p * GRAPH_COUNT + kind));
            if (!h) {
                printf("# FAIL no neighbourhood %s p=%d\n", graph_kind_name((graph_kind)kind), p);
                j->t.wrong++;
                continue;
            }
            unsigned every = p <= 8 ? 5 : p <= 20 ? 13 : 23;
            every *= coll_is_v(j->algo->coll) ? 5 : 1;
            try_neighbor_kinds(j, h, prime_to_kinds(every * j->part), 0);
            neighborhoods_free(h);
        }
}

/* One node in every other neighbourhood; see neighborhoods_new. */
static void verify_neighbor_machines(job *j)
{
    static const int64_t slot_sizes[] = {192, 1024, 65536};
    bool ignores = j->t.right > 0;
    for (int p = 1; p <= (j->quick ? 9 : 20); p++)
        for (int kind = 0; kind < GRAPH_COUNT; kind++) {
            unsigned seed = (unsigned)(p * GRAPH_COUNT + kind);
            if (seed % 2)
                seed = seed * NEIGHBORHOODS_MACHINES + NEIGHBORHOODS_ONE_NODE;
            neighborhoods *h = neighborhoods_new((graph_kind)kind, p, seed);
            if (!h) {
                printf("# FAIL no neighbourhood %s p=%d\n", graph_kind_name((graph_kind)kind), p);
                j->t.wrong++;
                continue;
            }
            unsigned every = (ignores ? 101 : 7) * (coll_is_v(j->algo->coll) ? 5 : 1);
            for (int i = 0; i < 3; i++)
                try_neighbor_kinds(j, h, prime_to_kinds(every * j->part), slot_sizes[i]);
            neighborhoods_free(h);
        }
}

static void verify_algo(job *j)
{
    static const int large[] = {64, 100, 128, 257};
    int many = j->quick ? 17 : 40;
    for (int p = 1; p <= many; p++) {
        int64_t sizes[] = {0, 1, 7, is_heavy(j->algo->coll) ? 9 : 3 * p + 2};
        try_roots(j, p, sizes, 4);
        if (p == ALL_KINDS && j->t.right + j->t.wrong == 0)
            return; /* it needs a machine */
    }
    for (int i = 0; i < (j->quick ? 1 : 4); i++)
        try_roots(j, large[i], (int64_t[]){0, 1}, 2);
    if (!is_heavy(j->algo->coll) && j->algo->coll != SK_BARRIER)
        for (int p = 2; p <= 5; p++)
            for (int lay = LAY_PLAIN; lay <= LAY_MIXED; lay++)
                try_long(j, p, (layout)lay);
}

/* ---- workers ---- */

/* One algorithm in a process of its own, which gives all its memory back; what it says goes to
 * `out`. */
static pid_t start(const sk_algo *algo, bool quick, FILE *out)
{
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    if (dup2(fileno(out), STDOUT_FILENO) < 0)
        _exit(2);
    mallopt(M_MMAP_THRESHOLD, KEPT_BYTES / 4);
    mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
    bool is_long = getenv("LONG") && *getenv("LONG");
    job j = {.algo = algo, .w = world_new(), .quick = quick, .part = quick ? 20 : is_long ? 1 : 3};
    if (!j.w)
        _exit(2);
    if (sk_coll_neighbor(algo->coll)) {
        verify_neighbors(&j);
        verify_neighbor_machines(&j);
    } else {
        verify_algo(&j);
        verify_machines(&j);
    }
    world_free(j.w);
    printf("# %s %s: %ld right, %ld wrong, %ld do not fit\n", sk_coll_name(algo->coll), algo->name,
           j.t.right, j.t.wrong, j.t.unfit);
    fflush(stdout);
    _exit(j.t.wrong || !j.t.right);
}

typedef struct worker {
    const sk_algo *algo;
    pid_t pid;
    FILE *out;
    double begin;
} worker;

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double cpu_seconds(const struct rusage *use)
{
    return (double)(use->ru_utime.tv_sec + use->ru_stime.tv_sec) +
           1e-6 * (double)(use->ru_utime.tv_usec + use->ru_stime.tv_usec);
}

static long largest_mb[2]; /* of all workers, the larger one first */

static void note_memory(long mb)
{
    if (mb > largest_mb[0]) {
        largest_mb[1] = largest_mb[0];
        largest_mb[0] = mb;
    } else if (mb > largest_mb[1])
        largest_mb[1] = mb;
}

/* Wait for any worker to end, and report it. */
static void collect(worker *workers, int n)
{
    int status, c;
    struct rusage use;
    pid_t pid = wait4(-1, &status, 0, &use);
    for (int i = 0; i < n; i++) {
        worker *k = &workers[i];
        if (pid < 0 || k->pid != pid)
            continue;
        rewind(k->out);
        while ((c = getc(k->out)) != EOF)
            putchar(c);
        fclose(k->out);
        printf("# %.1f s, %.1f s CPU, %ld MB\n", seconds() - k->begin, cpu_seconds(&use),
               use.ru_maxrss / 1024);
        note_memory(use.ru_maxrss / 1024);
        tap_ok(status == 0, "%s %s", sk_coll_name(k->algo->coll), k->algo->name);
        k->pid = 0;
        return;
    }
}

/* About how long algorithms of a collective take, so that the longest do not come last. */
static int weight(sk_coll coll)
{
    switch (coll) {
    case SK_ALLTOALL:
        return 4;
    case SK_REDUCE_SCATTER:
        return 3;
    case SK_ALLGATHER:
    case SK_ALLGATHERV:
    case SK_ALLTOALLV:
    case SK_ALLTOALLW:
    case SK_REDUCE_SCATTER_BLOCK:
        return 2;
    default:
        return sk_coll_neighbor(coll);
    }
}

/* The heaviest first, otherwise in the order of the table. */
static const sk_algo **by_weight(void)
{
    size_t n = 0, at = 0;
    while (sk_algos()[n])
        n++;
    const sk_algo **list = calloc(n + 1, sizeof(sk_algo *));
    if (!list)
        abort();
    for (int w = 4; w >= 0; w--)
        for (size_t i = 0; i < n; i++)
            if (weight(sk_algos()[i]->coll) == w)
                list[at++] = sk_algos()[i];
    return list;
}

int main(int argc, char **argv)
{
    bool quick = getenv("SK_VERIFY_QUICK") != NULL;
    int at = 1;
    if (at < argc && strcmp(argv[at], "--quick") == 0) {
        quick = true;
        at++;
    }
    const char *coll = at < argc ? argv[at] : NULL, *name = at + 1 < argc ? argv[at + 1] : NULL;
    worker workers[MAX_WORKERS] = {0};
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    int n = cores < 1 ? 1 : cores > MAX_WORKERS ? MAX_WORKERS : (int)cores, busy = 0;
    double begin = seconds();
    const sk_algo **algos = by_weight();
    for (const sk_algo *const *a = algos; *a; a++) {
        if ((coll && strcmp(coll, sk_coll_name((*a)->coll)) != 0) ||
            (name && strcmp(name, (*a)->name) != 0))
            continue;
        if (busy == n) {
            collect(workers, n);
            busy--;
        }
        int free_one = 0;
        while (workers[free_one].pid)
            free_one++;
        worker *k = &workers[free_one];
        *k = (worker){.algo = *a, .out = tmpfile(), .begin = seconds()};
        fflush(stdout);
        k->pid = k->out ? start(*a, quick, k->out) : -1;
        if (k->pid < 0) {
            perror("verify");
            return 2;
        }
        busy++;
    }
    for (; busy > 0; busy--)
        collect(workers, n);
    struct rusage use;
    getrusage(RUSAGE_CHILDREN, &use);
    printf("# all: %.1f s, %.1f s CPU, the two largest workers %ld and %ld MB\n", seconds() - begin,
           cpu_seconds(&use), largest_mb[0], largest_mb[1]);
    tap_ok(SANITIZED || largest_mb[0] + largest_mb[1] <= MAX_MB, "two workers take at most %d MB",
           MAX_MB);
    free(algos);
    return tap_end();
}
