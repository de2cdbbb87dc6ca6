/* stats.c: see stats.h. */
#include "bench/stats.h"

#include <math.h>
#include <stdlib.h>

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double sorted_quantile(const double *v, int n, double q)
{
    if (n <= 0)
        return NAN;
    double at = q * (n - 1);
    int i = (int)at;
    if (i >= n - 1)
        return v[n - 1];
    return v[i] + (at - i) * (v[i + 1] - v[i]);
}

double sk_quantile(double *v, int n, double q)
{
    if (n > 1)
        qsort(v, (size_t)n, sizeof *v, ascending);
    return sorted_quantile(v, n, q);
}

double sk_median(double *v, int n)
{
    return sk_quantile(v, n, 0.5);
}

sk_spread sk_spread_of(double *v, int n)
{
    sk_spread s;
    s.mid = sk_median(v, n);
    s.lo = sorted_quantile(v, n, 0.1);
    s.hi = sorted_quantile(v, n, 0.9);
    return s;
}

double sk_geomean(const double *v, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++) {
        if (!(v[i] > 0))
            return NAN;
        sum += log(v[i]);
    }
    return n > 0 ? exp(sum / n) : NAN;
}
