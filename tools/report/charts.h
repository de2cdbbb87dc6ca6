/* charts.h: the drawings of a page. Each has a text that says what it shows, and words stand beside it, not in it, so
 * that they keep their size on a small screen. */
#ifndef SK_CHARTS_H
#define SK_CHARTS_H

#include "report/html.h"
#include "report/run_data.h"

/* The share of time in collectives over the run. */
void sk_chart_timeline(const sk_html *h, const sk_run_data *d);

/* Who waits for whom, and the time of each rank. */
void sk_chart_matrix(const sk_html *h, const sk_run_data *d);
void sk_chart_ranks(const sk_html *h, const sk_run_data *d);

/* A bar of parts, each a class and a length, the whole of it a part of `most`. */
typedef struct sk_bar_part {
    const char *class;
    double length;
} sk_bar_part;
void sk_chart_bar(const sk_html *h, const sk_bar_part *parts, int n, double most);

#endif
