/* stats.h: the few statistics a benchmark reports. */
#ifndef SK_STATS_H
#define SK_STATS_H

typedef struct sk_spread {
    double lo, mid, hi; /* 10th percentile, median, 90th percentile */
} sk_spread;

/* The value below which the share q (0..1) of the n values lies, between neighbours by straight
 * line. Sorts v. NaN when n is 0. */
double sk_quantile(double *v, int n, double q);
double sk_median(double *v, int n);       /* sorts v */
sk_spread sk_spread_of(double *v, int n); /* sorts v */

/* NaN when n is 0 or a value is not above 0: a ratio of times never is. */
double sk_geomean(const double *v, int n);

#endif
