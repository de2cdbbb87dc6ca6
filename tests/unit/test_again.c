/* test_again.c: the benchmark's points that are measured again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bench/again.h"
#include "bench/jobs.h"

/* A result with these ratios, one call and back to back. */
static sk_result of(double one, double train, const char *algorithm)
{
    return (sk_result){.point = {.coll = SK_BCAST,
                                 .equal = SK_EQUAL,
                                 .time = {{.ratio = {.mid = one}}, {.ratio = {.mid = train}}}},
                       .algorithm = algorithm,
                       .host = SK_HOST_AUTO};
}

static void what_is_low_is_wanted(void **state)
{
    (void)state;
    sk_bench_options o = {0};
    sk_result r = of(0.96, 1.2, "shm");
    assert_false(sk_again_wanted(&o, &r));
    r = of(1.2, 0.94, "shm");
    assert_true(sk_again_wanted(&o, &r));
    r.point.equal = SK_HOST_WRONG; /* its times say nothing */
    assert_false(sk_again_wanted(&o, &r));
    r = of(0.5, 0.5, "shm");
    r.host = "linear"; /* forced, not the host's choice */
    assert_false(sk_again_wanted(&o, &r));
    o.conditions.phase = SK_COLD; /* the later calls count alone */
    r = of(0.5, 1, "shm");
    assert_false(sk_again_wanted(&o, &r));
}

static void the_median_of_the_later_ones_counts(void **state)
{
    (void)state;
    sk_bench_options o = {0};
    sk_result r = of(0.5, 1, "first"),
              later[] = {of(1.1, 2, "b"), of(0.9, 4, "a"), of(1.3, 3, "c")};
    sk_again_settle(&o, &r, later, 3);
    assert_true(r.point.time[0].ratio.mid == 1.1 && r.point.time[1].ratio.mid == 3);
    assert_string_equal(r.algorithm, "b"); /* of the time that it was low in */
}

static void a_wrong_result_stays_wrong(void **state)
{
    (void)state;
    sk_bench_options o = {0};
    sk_result r = of(0.5, 1, "first"), later[] = {of(1, 1, "a"), of(1, 1, "b")};
    later[0].point.equal = SK_SKEIN_WRONG;
    sk_again_settle(&o, &r, later, 2);
    assert_int_equal(r.point.equal, SK_SKEIN_WRONG);
}

static void without_later_ones_the_first_stays(void **state)
{
    (void)state;
    sk_bench_options o = {0};
    sk_result r = of(0.5, 1, "first"), none[1];
    sk_again_settle(&o, &r, none, 0);
    assert_true(r.point.time[0].ratio.mid == 0.5);
    assert_string_equal(r.algorithm, "first");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_low_is_wanted),
        cmocka_unit_test(the_median_of_the_later_ones_counts),
        cmocka_unit_test(a_wrong_result_stays_wrong),
        cmocka_unit_test(without_later_ones_the_first_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
