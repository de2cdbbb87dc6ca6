/* stats.h: quantiles and means of measured times. */
#ifndef SK_STATS_H
#define SK_STATS_H

typedef struct sk_spread {
    double lo, mid, hi; /* 10th percentile, median, 90th percentile */
} sk_spread;

/* The q-quantile (0..1) of n values, interpolated linearly. Sorts v. NaN when n is 0. */
double sk_quantile(double *v, int n, double q);
double sk_median(double *v, int n);       /* sorts v */
sk_spread sk_spread_of(double *v, int n); /* sorts v */

/* The geometric mean. NaN when n is 0 or a value is not positive. */
double sk_geomean(const double *v, int n);

#endif
