/* csv.h: reads the points that --csv has written. */
#ifndef SK_BENCH_CSV_H
#define SK_BENCH_CSV_H

#include "bench/results.h"

/* The points of `file` that o asks for: its collectives, ranks if they were given, MPIs and forms; o->conditions become
 * those of the file. NULL: `err` says why, with the line. */
sk_result *sk_csv_read(sk_bench_options *o, const char *file, int *n, char *err, size_t size);

#endif
