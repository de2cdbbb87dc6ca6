/* results.h: the measured points, as CSV and as tables. */
#ifndef SK_BENCH_RESULTS_H
#define SK_BENCH_RESULTS_H

#include <stdio.h>

#include "bench/point.h"
#include "run/elf.h"

typedef struct sk_result {
    sk_point point;
    sk_flavour mpi;
    int nranks;
    const char *graph;     /* of neighbourhood collectives, else NULL */
    const char *algorithm; /* Skein's */
    bool forced;           /* asked for, not chosen */
    const char *host;      /* the host's: "auto", or the name of a forced one */
} sk_result;

void sk_csv_header(FILE *f, bool graph); /* `graph`: with a column for it */
void sk_csv_row(FILE *f, const sk_result *r);

/* Whether both have the same graph, or both none. */
bool sk_result_same_graph(const sk_result *a, const sk_result *b);

const char *sk_bytes_text(int64_t bytes, char *buf, size_t size); /* "16 KB" */

bool sk_result_auto(const sk_result *r); /* measured against the host's own choice */
double sk_result_ratio(const sk_result *r, bool b2b);

/* Of the results at the point of r with a forced host algorithm, the one where the host does best
 * against Skein; NULL when there is none. */
const sk_result *sk_result_best_host(const sk_result *r, const sk_result *all, int n, bool b2b);

/* Prints every point; with `against`, also the best forced host algorithm. */
void sk_table_print(FILE *f, const sk_result *r, int n, bool against);

/* Prints geometric means per collective and in all, and the worst points of Skein. */
void sk_summary_print(FILE *f, const sk_result *r, int n, bool against);

#endif
