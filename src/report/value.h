/* value.h: what Skein was worth, by the comparisons with the host in a report (select/guard.h).
 *
 * For each collective and size class: the calls that Skein served times the difference between the host's time per
 * call and Skein's. If all these calls took less than calls times Skein's compared time, the difference shrinks in
 * proportion: a rank that lost its core during a comparison must not count for every call. If comparisons of a class
 * ended differently (communicators, sizes), those after which Skein served count, since nearly all of its calls
 * followed them. Calls that the host served save nothing. What was not compared counts as neither saved nor lost.
 */
#ifndef SK_VALUE_H
#define SK_VALUE_H

#include "report/report.h"

typedef struct sk_value_row { /* of one collective and size class */
    sk_report_cell cell;
    int64_t comparisons;      /* 0: the values below are 0 too */
    double skein_us, host_us; /* per call */
    double ratio;             /* host to Skein: above 1 Skein is faster */
    double saved;             /* seconds; negative: lost */
} sk_value_row;
sk_value_row sk_value_of_cell(const sk_report_cell *cell);

typedef struct sk_value_sum { /* of a whole report */
    int64_t comparisons;
    double seconds; /* in calls that Skein served */
    double
        compared; /* the part of them, 0 to 1, in cells that were compared: how sure the rest is */
    double saved; /* seconds; negative: lost */
    double without; /* seconds that all collectives would have taken without Skein */
    double part;    /* of `without` that was saved; negative: lost */
} sk_value_sum;
sk_value_sum sk_value_of_cells(const sk_report_cell cells[SK_NREPORT_CELLS]);

void sk_value_table(const sk_report_cell cells[SK_NREPORT_CELLS], FILE *out);
void sk_value_json(const sk_report_cell cells[SK_NREPORT_CELLS], FILE *out); /* "value": {...} */

#endif
