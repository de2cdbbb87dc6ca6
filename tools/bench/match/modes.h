/* modes.h: the ways of `skein bench match`. Each returns the exit status of the command. */
#ifndef SK_MODES_H
#define SK_MODES_H

#include <stdio.h>

#include "bench/match/options.h"

/* `csv` may be NULL. */
int sk_mode_synthetic(const sk_match_options *o, FILE *csv);
int sk_mode_streams(const sk_match_options *o, FILE *csv);
int sk_mode_traces(const sk_match_options *o, FILE *csv);
int sk_mode_threads(const sk_match_options *o, FILE *csv);
int sk_mode_mpi(sk_arena *a, const sk_match_options *o, FILE *csv);

#endif
