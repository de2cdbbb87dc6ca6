/* plots.h: measured points as plots: the host and Skein over the size, a plot for each collective, number of ranks,
 * form, MPI and graph. */
#ifndef SK_BENCH_PLOTS_H
#define SK_BENCH_PLOTS_H

#include "bench/results.h"

/* On `out` or, if `file` is not NULL, there (see sk_plot_save). False: nothing to draw, or it cannot be written; `err`
 * says why. */
bool sk_bench_plot(sk_arena *a, const sk_bench_options *o, const sk_result *r, int n, FILE *out,
                   const char *file, char *err, size_t size);

#endif
