/* test_stats.c: the benchmark's statistics, its comparison of results and its result lines. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bench/point.h"
#include "bench/stats.h"

static void intra(double got, double want)
{
    if (!(fabs(got - want) <= 1e-9 * fabs(want)))
        fail_msg("got %.17g, want %.17g", got, want);
}

static void median_of_odd_even_and_one(void **state)
{
    (void)state;
    double odd[] = {5, 1, 3}, even[] = {4, 1, 3, 2}, one[] = {7};
    intra(sk_median(odd, 3), 3);
    intra(sk_median(even, 4), 2.5);
    intra(sk_median(one, 1), 7);
    assert_true(isnan(sk_median(NULL, 0)));
}

static void quantiles_lie_between_neighbours(void **state)
{
    (void)state;
    double v[] = {50, 10, 40, 20, 30};
    intra(sk_quantile(v, 5, 0), 10);
    intra(sk_quantile(v, 5, 1), 50);
    intra(sk_quantile(v, 5, 0.25), 20);
    intra(sk_quantile(v, 5, 0.1), 14);
}

static void spread_is_tenth_half_ninetieth(void **state)
{
    (void)state;
    double v[11];
    for (int i = 0; i < 11; i++)
        v[i] = (i * 7) % 11;
    sk_spread s = sk_spread_of(v, 11);
    intra(s.lo, 1);
    intra(s.mid, 5);
    intra(s.hi, 9);
}

static void geometric_mean_of_inverse_ratios_is_one(void **state)
{
    (void)state;
    double v[] = {4, 0.25}, w[] = {1, 10, 100}, bad[] = {1, 0};
    intra(sk_geomean(v, 2), 1);
    intra(sk_geomean(w, 3), 10);
    assert_true(isnan(sk_geomean(bad, 2)));
    assert_true(isnan(sk_geomean(NULL, 0)));
}

static void first_difference_is_found(void **state)
{
    (void)state;
    unsigned char a[1000], b[1000];
    memset(a, 0x5a, sizeof a);
    memcpy(b, a, sizeof a);
    assert_int_equal(sk_first_difference(a, b, sizeof a), -1);
    assert_int_equal(sk_first_difference(NULL, NULL, 0), -1);
    b[999] ^= 1;
    assert_int_equal(sk_first_difference(a, b, sizeof a), 999);
    assert_int_equal(sk_first_difference(a, b, 999), -1);
    b[0] ^= 0x80;
    assert_int_equal(sk_first_difference(a, b, sizeof a), 0);
}

static void point_survives_its_line(void **state)
{
    (void)state;
    sk_point p = {.coll = SK_REDUCE_SCATTER_BLOCK,
                  .bytes = 1048576,
                  .equal = SK_HOST_WRONG,
                  .rounds = 11,
                  .singles = 7,
                  .train = 90,
                  .time = {{12.5, 25, {1.9, 2, 2.1}}, {3.25, 1.5, {0.25, 0.5, 0.75}}},
                  .overlap = {0.25, 0.125},
                  .algorithm = "single-copy",
                  .empty_us = 0.125};
    sk_point q;
    memset(&q, 0, sizeof q);
    char line[512];
    sk_point_format(&p, line, sizeof line);
    assert_true(sk_point_parse(line, &q));
    assert_int_equal(q.coll, p.coll);
    assert_int_equal(q.bytes, p.bytes);
    assert_int_equal(q.equal, SK_HOST_WRONG);
    assert_int_equal(q.rounds, 11);
    assert_int_equal(q.singles, 7);
    assert_int_equal(q.train, 90);
    intra(q.time[0].host_us, 25);
    intra(q.time[0].ratio.lo, 1.9);
    intra(q.time[1].skein_us, 3.25);
    intra(q.time[1].ratio.hi, 0.75);
    intra(q.overlap[1], 0.125);
    intra(q.empty_us, 0.125);
    assert_string_equal(q.algorithm, "single-copy");
}

static void other_lines_are_no_points(void **state)
{
    (void)state;
    sk_point q;
    assert_false(sk_point_parse("hello from rank 0", &q));
    assert_false(sk_point_parse("point allreduce 8 1 5", &q));
    assert_false(sk_point_parse("point nosuch 8 1 5 1 1 1 1 1 1 1 1 1 1 1 1", &q));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(median_of_odd_even_and_one),
        cmocka_unit_test(quantiles_lie_between_neighbours),
        cmocka_unit_test(spread_is_tenth_half_ninetieth),
        cmocka_unit_test(geometric_mean_of_inverse_ratios_is_one),
        cmocka_unit_test(first_difference_is_found),
        cmocka_unit_test(point_survives_its_line),
        cmocka_unit_test(other_lines_are_no_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
