/* results.h: the measured points, as CSV and as tables. */
#ifndef SK_BENCH_RESULTS_H
#define SK_BENCH_RESULTS_H

#include <stdio.h>

#include "bench/options.h"
#include "bench/point.h"
#include "run/elf.h"

typedef struct sk_result {
    sk_point point;
    sk_flavour mpi;
    sk_form form;
    int nranks;
    const char *graph;     /* of neighbourhood collectives, else NULL */
    const char *algorithm; /* Skein's */
    bool forced;           /* asked for, not chosen */
    const char *host;      /* the host's: "auto", or the name of a forced one */
} sk_result;

void sk_csv_header(FILE *f, bool graph); /* `graph`: with a column for it */
void sk_csv_row(FILE *f, const sk_bench_options *o, const sk_result *r);

const char *sk_equality_text(sk_equality v);                      /* at the end of a line */
const char *sk_bytes_text(int64_t bytes, char *buf, size_t size); /* "16 KB" */

bool sk_result_auto(const sk_result *r); /* measured against the host's own choice */

/* Which of its times Skein is judged by: of a warm communicator the one with the lower ratio. */
int sk_result_judged(const sk_bench_options *o, const sk_result *r);
double sk_result_judged_ratio(const sk_bench_options *o, const sk_result *r);

/* Prints every point, the worst of each table before it; with --against, also the best forced host
 * algorithm. */
void sk_table_print(FILE *f, const sk_bench_options *o, const sk_result *r, int n);

/* Prints geometric means per collective, per number of ranks and in all, and the worst points. */
void sk_summary_print(FILE *f, const sk_bench_options *o, const sk_result *r, int n);

#endif
