/* main.c: skein-match-openmpi, the program of two ranks that `skein bench match --mpi` starts. It
 * measures the latency of 8 bytes, and queues of several depths emptied in reverse order:
 *
 *   posted      rank 0 posts all receives, then the messages arrive, that of the last first
 *   unexpected  all messages have arrived, then rank 0 posts the receives, that of the last first
 *
 * each with receives that name the sender (exact) and with MPI_ANY_SOURCE (any). It prints lines:
 *
 *   match WHAT SOURCE DEPTH MICROSECONDS     per message; for the latency, one way
 *   late WHAT SOURCE DEPTH SECONDS           left out: it would take that long
 *   wrong WHAT SOURCE DEPTH 0                a receive got a message of another one */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/stats.h"

enum {
    GO = 1 << 22 /* not every PML has more tags */,
    PINGS = 1000,
    BATCHES = 15,
    MAX_DEPTHS = 32
};
enum { MIN_TRIES = 3, MAX_TRIES = 15 };
static const double enough_seconds = 0.2; /* of all tries of a point, after MIN_TRIES of them */

typedef struct match_job {
    int rank, ndepths, depths[MAX_DEPTHS];
    double limit; /* seconds for one try */
} match_job;

/* One point: what rank 0 receives from rank 1. */
typedef struct match_point {
    bool unexpected, any;
    int depth;
    MPI_Request *requests;
    long *values; /* received: a message holds its tag */
} match_point;

static double latency(int rank)
{
    double v[BATCHES];
    char byte[8] = "";
    int other = 1 - rank;
    for (int b = -1; b < BATCHES; b++) { /* the first batch warms up */
        double begin = MPI_Wtime();
        for (int i = 0; i < PINGS; i++) {
            if (rank == 1)
                MPI_Recv(byte, 8, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(byte, 8, MPI_BYTE, other, 0, MPI_COMM_WORLD);
            if (rank == 0)
                MPI_Recv(byte, 8, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        if (b >= 0)
            v[b] = 1e6 * (MPI_Wtime() - begin) / (2 * PINGS);
    }
    return sk_median(v, BATCHES);
}

static void post(const match_point *p, int tag)
{
    p->values[tag] = -1;
    MPI_Irecv(&p->values[tag], 1, MPI_LONG, p->any ? MPI_ANY_SOURCE : 1, tag, MPI_COMM_WORLD,
              &p->requests[tag]);
}

/* Rank 0: seconds, or -1 if a receive got a wrong message. */
static double receive(const match_point *p)
{
    double begin;
    if (p->unexpected) {
        /* The last message of rank 1 arrives after all others. */
        MPI_Recv(NULL, 0, MPI_BYTE, 1, GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        begin = MPI_Wtime();
        for (int i = p->depth - 1; i >= 0; i--)
            post(p, i);
    } else {
        for (int i = 0; i < p->depth; i++)
            post(p, i);
        begin = MPI_Wtime();
        MPI_Send(NULL, 0, MPI_BYTE, 1, GO, MPI_COMM_WORLD);
    }
    MPI_Waitall(p->depth, p->requests, MPI_STATUSES_IGNORE);
    double seconds = MPI_Wtime() - begin;
    for (int i = 0; i < p->depth; i++)
        if (p->values[i] != i)
            return -1;
    return seconds;
}

static void send(const match_point *p)
{
    if (!p->unexpected)
        MPI_Recv(NULL, 0, MPI_BYTE, 0, GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < p->depth; i++) {
        long tag = p->unexpected ? i : p->depth - 1 - i;
        MPI_Send(&tag, 1, MPI_LONG, 0, (int)tag, MPI_COMM_WORLD);
    }
    if (p->unexpected)
        MPI_Send(NULL, 0, MPI_BYTE, 0, GO, MPI_COMM_WORLD);
}

static void print_result(const char *word, const match_point *p, double value)
{
    printf("%s %s %s %d %.6g\n", word, p->unexpected ? "unexpected" : "posted",
           p->any ? "any" : "exact", p->depth, value);
    fflush(stdout);
}

/* Estimates the time of a point from the point before: at worst it grows with the square of the
 * depth. Returns the seconds of a try, for the next point. */
static double measure(const match_job *j, const match_point *p, double before, int depth_before)
{
    double v[MAX_TRIES], total = 0;
    double grown = depth_before ? (double)p->depth / depth_before : 1;
    double expected = before * grown * grown;
    int tries = 0, go = expected <= j->limit;
    bool wrong = false;
    if (!go && j->rank == 0)
        print_result("late", p, expected);
    MPI_Bcast(&go, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (!go)
        return expected;
    while (go) {
        if (j->rank == 1) {
            send(p);
        } else {
            v[tries] = receive(p);
            wrong = v[tries] < 0;
            total += v[tries++];
            go = !wrong && tries < MAX_TRIES && total < j->limit &&
                 (tries < MIN_TRIES || total < enough_seconds);
        }
        MPI_Bcast(&go, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    if (j->rank == 1)
        return 0;
    double seconds = sk_median(v, tries);
    print_result(wrong ? "wrong" : "match", p, wrong ? 0 : 1e6 * seconds / p->depth);
    return v[0]; /* the shortest: sorted by now */
}

static void measure_all(const match_job *j, bool unexpected, bool any)
{
    double seconds = 0;
    for (int i = 0; i < j->ndepths; i++) {
        size_t n = (size_t)j->depths[i];
        match_point p = {.unexpected = unexpected, .any = any, .depth = j->depths[i]};
        p.requests = calloc(n, sizeof(MPI_Request));
        p.values = calloc(n, sizeof *p.values);
        if (!p.requests || !p.values) {
            fprintf(stderr, "skein-match: out of memory\n");
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        seconds = measure(j, &p, seconds, i ? j->depths[i - 1] : 0);
        free(p.requests);
        free(p.values);
    }
}

static bool parse(int argc, char **argv, match_job *j)
{
    if (argc != 3)
        return false;
    char *at = argv[1];
    j->limit = strtod(argv[2], NULL);
    do {
        j->depths[j->ndepths] = (int)strtol(at, &at, 10);
        if (j->depths[j->ndepths] < 1 || j->depths[j->ndepths] >= GO)
            return false;
        j->ndepths++;
    } while (*at++ == ',' && j->ndepths < MAX_DEPTHS);
    return at[-1] == '\0';
}

int main(int argc, char **argv)
{
    int size;
    match_job j = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &j.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != 2 || !parse(argc, argv, &j)) {
        fprintf(stderr, "usage: mpirun -n 2 skein-match-openmpi DEPTH,... SECONDS\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    double us = latency(j.rank);
    if (j.rank == 0) {
        printf("match latency exact 0 %.6g\n", us);
        fflush(stdout);
    }
    for (int unexpected = 0; unexpected < 2; unexpected++)
        for (int any = 0; any < 2; any++)
            measure_all(&j, unexpected, any);
    MPI_Finalize();
    return 0;
}
