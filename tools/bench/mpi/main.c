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

enum { NEIGHBOR_WARMUP = 20 };

typedef struct bench_args {
    char *colls, *bytes;       /* separated by commas */
    const char *graph;         /* of neighbourhood collectives, or NULL */
    sk_neighbors neighborhood; /* made of it */
    sk_measurement measure;
    bool plain; /* the host against itself */
} bench_args;

static bool parse(int argc, char **argv, bench_args *a)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--plain") == 0) {
            a->plain = true;
            continue;
        }
        char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (!value)
            return false;
        if (strcmp(argv[i], "--collective") == 0)
            a->colls = value;
        else if (strcmp(argv[i], "--bytes") == 0)
            a->bytes = value;
        else if (strcmp(argv[i], "--graph") == 0)
            a->graph = value;
        else if (strcmp(argv[i], "--rounds") == 0)
            a->measure.rounds = atoi(value);
        else if (strcmp(argv[i], "--warmup") == 0)
            a->measure.warmup = atoi(value);
        else if (strcmp(argv[i], "--budget") == 0)
            a->measure.budget = atof(value);
        else
            return false;
        i++;
    }
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
    PMPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    int ok = all < 0.5 * (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    PMPI_Bcast(&ok, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return ok;
}

/* False: a result was wrong. */
static bool measure(sk_coll coll, int64_t bytes, const bench_args *a, int rank, int nranks)
{
    sk_case *c = NULL;
    if (memory_suffices(coll, bytes, a, nranks))
        c = a->graph ? sk_case_neighbor_new(coll, bytes, &a->neighborhood)
                     : sk_case_new(coll, bytes, rank, nranks);
    int mine = c != NULL, have;
    PMPI_Allreduce(&mine, &have, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    sk_point p = {.equal = true};
    if (have && sk_measure_point(c, &a->measure, &p)) {
        if (rank == 0) {
            char line[512];
            sk_point_format(&p, line, sizeof line);
            printf("%s\n", line);
            fflush(stdout);
        }
    } else if (rank == 0) {
        printf("skip %s %lld\n", sk_coll_name(coll), (long long)bytes);
        fflush(stdout);
    }
    sk_case_free(c);
    return p.equal;
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
    bench_args a = {.measure = {.warmup = 25, .rounds = 21, .budget = 0.8}};
    sk_clock clock = sk_clock_new();
    sk_start start = sk_start_new(&clock);
    a.measure.clock = &clock;
    a.measure.start = &start;

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
    } else {
        a.measure.least = a.graph ? NEIGHBOR_WARMUP : 0;
        a.measure.empty_us = sk_measure_empty(&a.measure);
        status = measure_all(&a, rank, nranks);
        if (a.graph)
            sk_neighbors_free(&a.neighborhood);
    }
    MPI_Finalize();
    return status;
}
