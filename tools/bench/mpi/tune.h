/* tune.h: the measuring program as `skein tune` uses it: the calls of a list, each by the host and by all algorithms
 * that are named, by turns in one process, until a time is over. What is found is written at once:
 *
 *   machine FINGERPRINT
 *   layout RANKS NODES NEIGHBOURS              of all ranks; neighbours with a graph only, else 0
 *   price NAME VALUE UNIT                      see price/prices.h
 *   cell NUMBER                                begins; from 0
 *   time COLLECTIVE ... CALLS                  a line of a tuning file */
#ifndef SK_BENCH_TUNE_H
#define SK_BENCH_TUNE_H

#include "bench/mpi/measure.h"

typedef struct sk_tune_args {
    /* COLLECTIVE:BYTES:RANKS:NODES:ALGORITHM+ALGORITHM..., separated by commas; BYTES as in calls.h; RANKS may be
     * fewer than all: as many groups measure at the same time, of neighbours or, for several nodes, far apart. */
    char *cells;
    double seconds;                   /* for all */
    const sk_neighbors *neighborhood; /* or NULL */
    bool describe;                    /* the machine and its prices only */
} sk_tune_args;

/* Collective over MPI_COMM_WORLD. Returns the exit status. */
int sk_tune_run(const sk_tune_args *a, const sk_sampler *s);

#endif
