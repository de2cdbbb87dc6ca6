/* options.h: what `skein bench match` was asked to do. */
#ifndef SK_MATCH_OPTIONS_H
#define SK_MATCH_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "strlist.h"

typedef struct sk_numbers {
    int64_t v[32];
    int n;
} sk_numbers;

typedef enum sk_match_mode {
    SK_MATCH_SYNTHETIC,
    SK_MATCH_TRACES,
    SK_MATCH_STREAMS,
    SK_MATCH_MPI,
    SK_MATCH_THREADS,
} sk_match_mode;

typedef struct sk_match_options {
    sk_match_mode mode;
    sk_strlist engines; /* none: all, over MPI the default one */
    sk_strlist orders, sides, streams, traces, transports;
    sk_numbers depths, wild, sources, ranks, threads;
    bool any_tag;
    int rounds;
    double limit;   /* seconds for one play of one engine, or one point of a transport; 0: by the
                       number of its matches */
    double seconds; /* for the timed rounds of one point */
    int64_t steps, seed, kc, kp, theta;
    const char *csv;
    bool help;
} sk_match_options;

/* False: not understood; a message was written to standard error. */
bool sk_match_options_parse(sk_arena *a, int argc, char **argv, sk_match_options *out);

void sk_match_help(void);

#endif
