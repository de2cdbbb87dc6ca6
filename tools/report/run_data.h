/* run_data.h: a run, as its report in JSON tells it; skein(1) describes that. Everything in it is checked: numbers are
 * finite and not negative (but for what may be lost), strings are not NULL unless said so, and arrays are not longer
 * than those of any report. */
#ifndef SK_RUN_DATA_H
#define SK_RUN_DATA_H

#include "report/read_json.h"

typedef struct sk_run_row { /* calls of a collective and size */
    const char *coll, *size;
    const char *algo, *host; /* one of them is NULL */
    double calls, seconds;
} sk_run_row;

typedef struct sk_run_value { /* a comparison with the host */
    const char *coll, *size;
    double comparisons, skein_us, host_us, ratio, saved;
} sk_run_value;

typedef struct sk_run_line { /* of the timeline */
    const char *coll;
    double *seconds, sum;
    int n;
} sk_run_line;

typedef struct sk_run_sampled {
    double calls, seconds, waited, spread_us, most_spread_us;
} sk_run_sampled;

typedef struct sk_run_comm {
    const char *name;
    double ranks, groups, communicators, calls, seconds, most_seconds;
    sk_run_sampled sampled;
} sk_run_comm;

typedef struct sk_run_graph {
    const char *name, *algo; /* algo: NULL: the host */
    double ranks, groups, calls, least_in, mean_in, most_in, least_out, mean_out, most_out, local;
} sk_run_graph;

typedef struct sk_run_late {
    double rank, node, last, caused;
} sk_run_late;

typedef struct sk_run_wait { /* of a collective */
    const char *coll;
    sk_run_sampled sampled;
} sk_run_wait;

typedef struct sk_run_queue {
    double longest, mean, searches, compared;
} sk_run_queue;

typedef struct sk_run_cell { /* rows of one collective and size together */
    const char *coll, *size;
    double calls, skein, host; /* seconds */
    const sk_run_value *value; /* NULL: not compared */
} sk_run_cell;

typedef struct sk_run_data {
    const char *file; /* its name */
    const char *skein, *mpi, *program, *end;
    double ranks, counted, nodes, cores, run_seconds;
    sk_run_row *rows;
    sk_run_value *values;
    sk_run_line *lines;
    sk_run_comm *comms;
    sk_run_graph *graphs;
    sk_run_late *late;
    sk_run_wait *waits;
    sk_run_cell *cells; /* by time, longest first */
    int nrows, nvalues, nlines, ncomms, ngraphs, nlate, nwaits, ncells, nbins;
    double bin_seconds;
    double comparisons, compared_part, saved, without; /* of all */
    double off_messages, off_bytes, busiest_messages, busiest_bytes, near_messages, near_bytes,
        shared_bytes;
    double evicted, built, sparse_blocks, sparse_filled;
    bool matched;
    const char *engine;
    sk_run_queue posted, unexpected;
    sk_run_sampled sampled;
    double *rank_seconds, *rank_waited, ranks_each; /* per bucket of so many ranks */
    double *matrix;                                 /* nbuckets * nbuckets, seconds */
    int nbuckets;

    double calls, skein_seconds, host_seconds; /* of all rows */
    double mean_seconds;                       /* in collectives, of a rank: by the timeline */
} sk_run_data;

enum { SK_RUN_ERR = 512 };

/* NULL: `err` says what is wrong and what to do. `file` is only a name. */
sk_run_data *sk_run_data_parse(sk_arena *a, const char *file, const char *text, size_t len,
                               char err[SK_RUN_ERR]);
sk_run_data *sk_run_data_load(sk_arena *a, const char *file, char err[SK_RUN_ERR]);

/* Part of the time in blocking calls that ranks waited for others; -1: not known. */
double sk_run_waited_part(const sk_run_data *d);

#endif
