/* main.c: skein-bench-<mpi>, the program that `skein bench` starts under mpirun: measures MPI_X
 * (Skein, when its library is loaded) against PMPI_X (the host MPI) in one process, and writes one
 * line per point. Exit status: 0, 1 a result was wrong, 2 wrong usage, 3 Skein is not loaded. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/mpi/measure.h"
#include "bench/mpi/tune.h"
#include "coll/algo.h"

enum { NEIGHBOR_WARMUP = 20, MOST_ALGOS = 256 };

typedef struct bench_args {
    char *colls, *bytes;       /* separated by commas */
    const char *graph;         /* of neighbourhood collectives, or NULL */
    sk_neighbors neighborhood; /* made of it */
    sk_measurement measure;
    sk_tune_args tune;
    bool plain; /* the host against itself */
} bench_args;

/* An option of sk_conditions. False: it is none, or its value is wrong. */
static bool parse_condition(const char *option, const char *value, sk_conditions *c)
{
    int form = sk_name_index(sk_form_names, value), phase = sk_name_index(sk_phase_names, value),
        buffers = sk_name_index(sk_buffer_names, value);
    if (strcmp(option, "--form") == 0 && form >= 0)
        c->form = (sk_form)form;
    else if (strcmp(option, "--phase") == 0 && phase >= 0)
        c->phase = (sk_phase)phase;
    else if (strcmp(option, "--buffers") == 0 && buffers >= 0)
        c->buffers = (sk_buffer_use)buffers;
    else if (strcmp(option, "--calls") == 0 && atoi(value) > 2)
        c->calls = atoi(value);
    else if (strcmp(option, "--gap") == 0 && atoi(value) >= 0)
        c->gap_us = atoi(value);
    else
        return false;
    return true;
}

static bool parse(int argc, char **argv, bench_args *a)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--plain") == 0) {
            a->plain = true;
            continue;
        }
        if (strcmp(argv[i], "--describe") == 0) {
            a->tune.describe = true;
            continue;
        }
        char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (!value)
            return false;
        if (strcmp(argv[i], "--collective") == 0)
            a->colls = value;
        else if (strcmp(argv[i], "--bytes") == 0)
            a->bytes = value;
        else if (strcmp(argv[i], "--cells") == 0)
            a->tune.cells = value;
        else if (strcmp(argv[i], "--seconds") == 0)
            a->tune.seconds = atof(value);
        else if (strcmp(argv[i], "--graph") == 0)
            a->graph = value;
        else if (strcmp(argv[i], "--rounds") == 0)
            a->measure.rounds = atoi(value);
        else if (strcmp(argv[i], "--warmup") == 0)
            a->measure.warmup = atoi(value);
        else if (strcmp(argv[i], "--budget") == 0)
            a->measure.budget = atof(value);
        else if (!parse_condition(argv[i], value, &a->measure.sampler.conditions))
            return false;
        i++;
    }
    if (a->tune.cells || a->tune.describe)
        return true;
    return a->colls && a->bytes && a->measure.rounds > 0 && a->measure.warmup >= 0;
}

/* Whether the calls of MPI_ names go through a library of their own: Skein, whose PMPI_ names are the
 * host's then (SKEIN_PMPI=off), or one of a test. */
static bool interposed(void)
{
    Dl_info user, host;
    void *mpi = dlsym(RTLD_DEFAULT, "MPI_Barrier"), *pmpi = dlsym(RTLD_DEFAULT, "PMPI_Barrier");
    return dlsym(RTLD_DEFAULT, "skein_counter") ||
           (mpi && pmpi && dladdr(mpi, &user) && dladdr(pmpi, &host) &&
            user.dli_fbase != host.dli_fbase);
}

/* Whether the buffers of all ranks fit into half of the memory: they may all be on one machine. */
static bool memory_suffices(sk_coll coll, int64_t bytes, const bench_args *a, int nranks)
{
    double mine = a->graph ? sk_case_neighbor_memory(coll, bytes, &a->neighborhood)
                           : sk_case_memory(coll, bytes, nranks),
           all;
    if (a->measure.sampler.conditions.buffers == SK_FRESH)
        mine = 2 * mine + sk_case_pool_bytes(nranks);
    PMPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    int ok = all < 0.5 * (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    PMPI_Bcast(&ok, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return ok;
}

/* Whether all ranks have a case. */
static bool have_all(const sk_case *c)
{
    int mine = c != NULL, all;
    PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return all;
}

/* Measures on the communicators of the warm phases; the others make their own. */
static bool measure_case(sk_case *c, const bench_args *a, sk_point *p)
{
    sk_phase phase = a->measure.sampler.conditions.phase;
    bool bound = phase == SK_WARM || phase == SK_OVERLAP;
    for (int host = 0; bound && host < 2; host++)
        sk_case_bind(c, host, a->graph ? a->neighborhood.comm : MPI_COMM_WORLD);
    bool measured = sk_measure_point(c, &a->measure, p);
    for (int host = 1; bound && host >= 0; host--)
        sk_case_unbind(c, host);
    return measured;
}

/* The algorithm of the collective by which Skein has served the most calls since `before`, which it replaces by the
 * numbers up to now. */
static const char *served_most(sk_coll coll, long long *before)
{
    int (*get)(const char *, long long *);
    char name[64];
    const char *most = "host";
    long long best = 0;
    *(void **)&get = dlsym(RTLD_DEFAULT, "skein_counter");
    for (int i = 0; get && i < MOST_ALGOS; i++) {
        const sk_algo *a = sk_algos()[i];
        long long n = 0;
        if (a && a->coll != coll)
            continue;
        snprintf(name, sizeof name, "%s:%s", sk_coll_name(coll), a ? a->name : "host");
        if (get(name, &n) == 0 && n - before[i] > best) {
            best = n - before[i];
            most = a ? a->name : "host";
        }
        before[i] = n;
        if (!a)
            break;
    }
    return most;
}

/* False: a result was wrong. */
static bool measure(sk_coll coll, int64_t bytes, const bench_args *a, int rank, int nranks)
{
    const sk_conditions *conditions = &a->measure.sampler.conditions;
    const char *reason = NULL;
    char line[512];
    long long served[MOST_ALGOS] = {0};
    sk_point p = {.equal = SK_EQUAL};
    served_most(coll, served);
    sk_case *c = NULL;
    if (!sk_form_exists(conditions->form))
        reason = "this MPI has no persistent collectives";
    else if (memory_suffices(coll, bytes, a, nranks))
        c = a->graph ? sk_case_neighbor_new(coll, bytes, &a->neighborhood, conditions)
                     : sk_case_new(coll, bytes, rank, nranks, conditions);
    if (!reason && !(have_all(c) && measure_case(c, a, &p)))
        reason = "not enough memory";
    if (reason)
        snprintf(line, sizeof line, "skip %s %lld: %s", sk_coll_name(coll), (long long)bytes,
                 reason);
    else {
        snprintf(p.algorithm, sizeof p.algorithm, "%s", served_most(coll, served));
        sk_point_format(&p, line, sizeof line);
    }
    if (rank == 0) {
        printf("%s\n", line);
        fflush(stdout);
    }
    sk_case_free(c);
    return p.equal != SK_SKEIN_WRONG;
}

static int measure_all(const bench_args *a, int rank, int nranks)
{
    int status = 0;
    char *keep_coll, *keep_bytes;
    for (char *name = strtok_r(a->colls, ",", &keep_coll); name;
         name = strtok_r(NULL, ",", &keep_coll)) {
        sk_coll coll = sk_coll_find(name);
        if (coll == SK_NCOLLS || sk_coll_neighbor(coll) != (a->graph != NULL))
            return 2;
        char list[512];
        snprintf(list, sizeof list, "%s", a->bytes);
        for (char *size = strtok_r(list, ",", &keep_bytes); size;
             size = strtok_r(NULL, ",", &keep_bytes)) {
            if (!measure(coll, coll == SK_BARRIER ? 0 : atoll(size), a, rank, nranks))
                status = 1;
            if (coll == SK_BARRIER)
                break;
        }
    }
    return status;
}

int main(int argc, char **argv)
{
    int rank, nranks, status;
    MPI_Init(&argc, &argv);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &nranks);
    sk_clock clock = sk_clock_new();
    sk_start start = sk_start_new(&clock);
    sk_work work = sk_work_new(&clock);
    bench_args a = {.measure = {.sampler = {.clock = &clock, .start = &start, .work = &work},
                                .warmup = 25,
                                .rounds = 21,
                                .budget = 0.8}};
    a.measure.sampler.conditions.calls = 30;

    if (!parse(argc, argv, &a)) {
        if (rank == 0)
            fprintf(stderr, "skein-bench: wrong arguments; use `skein bench`\n");
        status = 2;
    } else if (!a.plain && !interposed()) {
        if (rank == 0)
            fprintf(stderr, "skein-bench: Skein's library is not loaded; use `skein bench`, or "
                            "--plain to time the host MPI against itself\n");
        status = 3;
    } else if (a.graph && !sk_neighbors_new(a.graph, rank, nranks, &a.neighborhood)) {
        status = 2;
    } else if (a.tune.cells || a.tune.describe) {
        a.tune.neighborhood = a.graph ? &a.neighborhood : NULL;
        status = sk_tune_run(&a.tune, &a.measure.sampler);
        if (a.graph)
            sk_neighbors_free(&a.neighborhood);
    } else {
        a.measure.least = a.graph ? NEIGHBOR_WARMUP : 0;
        a.measure.sampler.gap_us = a.measure.sampler.conditions.gap_us;
        a.measure.empty_us = sk_sample_empty(&a.measure.sampler);
        status = measure_all(&a, rank, nranks);
        if (a.graph)
            sk_neighbors_free(&a.neighborhood);
    }
    sk_start_free(&start);
    MPI_Finalize();
    return status;
}
