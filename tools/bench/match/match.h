/* match.h: the options and modes of `skein bench match`. */
#ifndef SK_BENCH_MATCH_H
#define SK_BENCH_MATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cli.h"

typedef enum sk_match_mode {
    SK_MATCH_SYNTHETIC,
    SK_MATCH_TRACES,
    SK_MATCH_STREAMS,
    SK_MATCH_MPI,
    SK_MATCH_THREADS,
} sk_match_mode;

typedef struct sk_match_options {
    sk_match_mode mode;
    sk_strlist engines; /* empty: all; with --mpi the default engine */
    sk_strlist orders, sides, streams, traces, transports;
    sk_numbers depths, wild, sources, ranks, threads;
    bool any_tag;
    int rounds;
    double limit;   /* seconds for one run of one engine, or one point of a transport; 0: depends on
                       the number of matches */
    double seconds; /* for the timed rounds of one point */
    int64_t steps, seed, kc, kp, theta;
    const char *csv;
} sk_match_options;

/* The modes. Each returns the exit status of the command. `csv` may be NULL. */
int sk_mode_synthetic(const sk_match_options *o, FILE *csv);
int sk_mode_streams(const sk_match_options *o, FILE *csv);
int sk_mode_traces(const sk_match_options *o, FILE *csv);
int sk_mode_threads(const sk_match_options *o, FILE *csv);
int sk_mode_mpi(sk_arena *a, const sk_match_options *o, FILE *csv);

const char *sk_transport_name(int i); /* of mode_mpi.c; NULL past the end */

#endif
