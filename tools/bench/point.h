/* point.h: one measured point, and the line in which the measuring program reports it. */
#ifndef SK_POINT_H
#define SK_POINT_H

#include <stddef.h>

#include "bench/conditions.h"
#include "bench/stats.h"
#include "coll/call.h"

/* The times of Skein and of the host for one kind of measurement. */
typedef struct sk_timing {
    double skein_us, host_us; /* medians over the rounds */
    sk_spread ratio; /* host / Skein, over the ratios of the rounds; not the ratio of the medians */
} sk_timing;

/* The results of a call, the worst first. */
typedef enum sk_equality {
    SK_SKEIN_WRONG, /* they differ; nothing is timed */
    SK_HOST_WRONG,  /* they differ, and Skein's is known to be right; no rival then */
    SK_EQUAL,
    SK_NEQUALITIES
} sk_equality;

extern const char *const sk_equality_names[]; /* NULL after the last */

typedef struct sk_point {
    sk_coll coll;
    int64_t bytes;
    sk_equality equal;
    int rounds, singles, train; /* rounds; samples in each; calls in a train */
    sk_timing time[SK_TIMES];   /* of the phase; always last exit minus first entry */
    double empty_us;            /* makespan of a call that does nothing */
    char algorithm[24];         /* by which Skein served most calls, or "host" */
    double overlap[2];          /* share of the shorter of call and computation: Skein's, host's */
} sk_point;

/* The first byte at which the results differ, or -1. */
int64_t sk_first_difference(const void *a, const void *b, size_t bytes);

void sk_point_format(const sk_point *p, char *line, size_t size);
bool sk_point_parse(const char *line, sk_point *p); /* false: the line is not a point */

#endif
