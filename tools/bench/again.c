/* again.c: see again.h. */
#include "bench/again.h"

#include <stdlib.h>

static const double low = 0.95;

bool sk_again_wanted(const sk_bench_options *o, const sk_result *r)
{
    return sk_result_auto(r) && r->point.equal == SK_EQUAL && sk_result_judged_ratio(o, r) < low;
}

static int by_ratio(const sk_result *a, const sk_result *b, int time)
{
    double x = a->point.time[time].ratio.mid, y = b->point.time[time].ratio.mid;
    return (x > y) - (x < y);
}

static int by_ratio_0(const void *a, const void *b)
{
    return by_ratio(a, b, 0);
}

static int by_ratio_1(const void *a, const void *b)
{
    return by_ratio(a, b, 1);
}

void sk_again_settle(const sk_bench_options *o, sk_result *r, sk_result *later, int n)
{
    static int (*const order[SK_TIMES])(const void *, const void *) = {by_ratio_0, by_ratio_1};
    for (int i = 0; i < n; i++)
        if (later[i].point.equal != SK_EQUAL)
            r->point.equal = later[i].point.equal;
    int last = sk_result_judged(o, r);
    for (int i = 1; n > 0 && i <= SK_TIMES; i++) {
        int t = (last + i) % SK_TIMES; /* the one that counts comes last, and names the algorithm */
        qsort(later, (size_t)n, sizeof *later, order[t]);
        r->point.time[t] = later[n / 2].point.time[t];
        r->algorithm = later[n / 2].algorithm;
    }
}
