/* The guard of blocking calls with made-up times: which side serves, after how many calls, and what finding out costs. */
#include "guard_world.h"

/* One call on all ranks. */
static void call(world *w, int64_t late)
{
    sk_guard_verdict v[RANKS];
    w->came = 0;
    for (int i = 0; i < RANKS; i++) {
        sk_guard copy = w->rank[i];
        sk_guard_ask(&copy, note, w);
    }
    for (int i = 0; i < RANKS; i++)
        v[i] = sk_guard_ask(&w->rank[i], largest, w);
    serve(w, v, late);
}

static void make_calls(world *w, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        call(w, 0);
}

static void a_faster_host_serves_after_fifty_calls(void **state)
{
    (void)state;
    for (int64_t us = 1000; us <= 100000; us *= 10) {
        world w = make(us * 1000, us * 900);
        make_calls(&w, 50);
        int64_t hosts = w.hosts;
        make_calls(&w, 200);
        assert_int_equal(w.hosts, hosts + 200);
    }
}

static void what_the_clock_cannot_tell_stays_with_skein(void **state)
{
    (void)state;
    for (int64_t clock = 24; clock <= 26; clock += 2) {
        world w = make(200, 150);
        w.clock = clock;
        make_calls(&w, 1500);
        assert_int_equal(w.rank[0].best, clock == 24 ? SK_GUARD_HOST : SK_GUARD_SKEIN);
    }
}

/* 20 us of them are 25, an eighth of 200; the look is at 3 of each side. */
static void short_calls_are_compared_when_there_are_more(void **state)
{
    (void)state;
    world w = make(800, 720);
    make_calls(&w, FIRST + 6);
    assert_int_equal(w.hosts, 3);
    make_calls(&w, 1);
    assert_int_equal(sk_guard_last_times(&w.rank[0]).host, 0); /* nothing to report or to learn */
    make_calls(&w, 199 - FIRST);
    assert_int_equal(w.hosts, 3);
    make_calls(&w, 500);
    int64_t hosts = w.hosts;
    make_calls(&w, 100);
    assert_int_equal(w.hosts, hosts + 100);
}

/* In each of Skein's rows of 4 a rank is interrupted once. */
static void an_interrupted_call_does_not_count(void **state)
{
    (void)state;
    world w = make(10000, 11000);
    for (int i = 0; i < 100; i++)
        call(&w, i % 4 ? 0 : 1000000);
    int64_t hosts = w.hosts;
    make_calls(&w, 100);
    assert_int_equal(w.hosts, hosts);
}

static void the_first_calls_are_not_tried(void **state)
{
    (void)state;
    world w = make(1000000, 100000);
    make_calls(&w, FIRST + 3);
    assert_int_equal(w.hosts, 0);
}

/* So many calls of each side at the first look. */
static int64_t look_after(int64_t first)
{
    return first < 192 ? 3 : first > 576 ? 9 : first / 64;
}

/* n calls of each side twice, after the first look. */
static void expect_timed(world *w, int64_t first, int64_t n)
{
    for (int i = 0; i < RANKS; i++) {
        w->rank[i] = sk_guard_new(first);
        sk_guard_compare(&w->rank[i], BOTH);
    }
    int64_t look = look_after(first);
    make_calls(w, first + 2 * look + 4 * (n + 1) - 1);
    int64_t hosts = w->hosts;
    assert_int_equal(hosts, look + 2 * (n + 1) - 1);
    make_calls(w, 100);
    assert_int_equal(w->hosts, hosts + 100);
}

/* Where sizes change the first calls of the host at a look may be long ones. */
static void one_of_many_short_calls_is_alike(void **state)
{
    (void)state;
    enum { MANY = 512, LOOK = 8, LONG = 3 };
    world w = make(4000, 2000);
    for (int i = 0; i < RANKS; i++) {
        w.rank[i] = sk_guard_new(MANY);
        sk_guard_compare(&w.rank[i], BOTH);
    }
    make_calls(&w, MANY + LOOK);
    w.host[0] = w.host[1] = 20000;
    make_calls(&w, LONG);
    w.host[0] = w.host[1] = 2000;
    make_calls(&w, 300);
    assert_int_equal(w.rank[0].best, SK_GUARD_HOST);
}

static void short_calls_are_timed_for_a_millisecond(void **state)
{
    (void)state;
    world w = make(40000, 20000); /* 40 us: 25 calls */
    expect_timed(&w, 4000, 25);
}

static void an_eighth_of_the_calls_is_timed(void **state)
{
    (void)state;
    world w = make(20000, 10000);
    expect_timed(&w, 200, 25);
}

static void a_slower_host_costs_a_two_hundredth(void **state)
{
    (void)state;
    for (int64_t times = 1; times <= 64; times *= 2) {
        world w = make(100000, 100000 * times);
        w.meeting = 50000 * times;
        make_calls(&w, 2000000);
        double more = (double)w.total / (100000.0 * 2000000) - 1;
        assert_true(more < 1.0 / 190);
        assert_true(w.hosts > 0);
    }
}

static void a_slow_host_is_only_looked_at(void **state)
{
    (void)state;
    world w = make(1000, 1600);
    make_calls(&w, 500);
    assert_int_equal(w.hosts, 3);
    sk_guard_times t = sk_guard_last_times(&w.rank[0]); /* which is a comparison, too */
    assert_int_equal(t.skein, 1000);
    assert_int_equal(t.host, 1600);
}

/* A meeting that takes as long as ten calls is made less often. */
static void agreeing_counts(void **state)
{
    (void)state;
    world w = make(1000, 1600);
    w.meeting = 10000;
    make_calls(&w, 2000);
    assert_int_equal(w.hosts, 3);
}

static void equal_times_stay_with_skein(void **state)
{
    (void)state;
    world w = make(1000000, 960000); /* 4 % are not clear */
    make_calls(&w, 60);
    int64_t hosts = w.hosts;
    make_calls(&w, 100);
    assert_int_equal(w.hosts, hosts);
}

static void the_slowest_rank_counts(void **state)
{
    (void)state;
    world w = make(1000000, 500000);
    w.host[1] = 1200000;
    make_calls(&w, 100);
    assert_int_equal(w.rank[0].best, SK_GUARD_SKEIN);
    assert_true(w.hosts < 10);
}

/* Where ranks run ahead of others, calls are short and the wait comes later. */
static void waiting_after_the_calls_counts(void **state)
{
    (void)state;
    world w = make(1000000, 800000);
    w.waits[SK_GUARD_HOST] = 5000000;
    make_calls(&w, 100);
    assert_int_equal(w.rank[0].best, SK_GUARD_SKEIN);
    w = make(800000, 1000000);
    w.waits[SK_GUARD_SKEIN] = 5000000;
    make_calls(&w, 100);
    assert_int_equal(w.rank[0].best, SK_GUARD_HOST);
}

/* Half a meeting is more than four calls differ by. */
static void what_few_calls_do_not_tell_more_do(void **state)
{
    (void)state;
    world w = make(5800, 3100);
    w.meeting = 20000;
    make_calls(&w, 100);
    assert_int_equal(w.rank[0].best, SK_GUARD_HOST);
    w = make(5800, 5600); /* however many */
    w.meeting = 2000000;
    make_calls(&w, 4000);
    assert_int_equal(w.rank[0].best, SK_GUARD_SKEIN);
}

/* Rank 1 loses its core for a while in one call, whichever it is. */
static void one_long_call_does_not_drop_skein(void **state)
{
    (void)state;
    for (int at = 0; at < 60; at++) {
        world w = make(1000000, 1050000);
        for (int i = 0; i < 60; i++)
            call(&w, i == at ? 50000000 : 0);
        assert_int_equal(w.rank[0].best, SK_GUARD_SKEIN);
    }
}

static void it_returns_when_the_host_becomes_slow(void **state)
{
    (void)state;
    world w = make(1000000, 500000);
    make_calls(&w, 60);
    assert_int_equal(w.rank[0].best, SK_GUARD_HOST);
    w.host[0] = w.host[1] = 2000000;
    make_calls(&w, 3000);
    assert_int_equal(w.rank[0].best, SK_GUARD_SKEIN);
    assert_int_equal(w.rank[1].best, SK_GUARD_SKEIN);
}

/* The first look does not count, two rounds are one comparison, and all ranks know the slowest one's times. */
static void a_comparison_tells_its_times(void **state)
{
    (void)state;
    world w = make(1000000, 500000);
    w.skein[1] = 1200000;
    make_calls(&w, FIRST + 6 + 4 * 5);
    assert_int_equal(w.decided, 0);
    make_calls(&w, 1);
    assert_int_equal(w.decided, 1);
    for (int i = 0; i < RANKS; i++) {
        sk_guard_times t = sk_guard_last_times(&w.rank[i]);
        assert_int_equal(t.skein, 1200000);
        assert_int_equal(t.host, 500000);
    }
    make_calls(&w, 100);
    assert_int_equal(w.decided, 1);
}

static void the_fastest_of_three_serves(void **state)
{
    enum { ALL = BOTH | 1 << SK_GUARD_OTHER, US = 1000000 };
    (void)state;
    for (int k = 0; k < SK_GUARD_SIDES; k++) {
        world w = make_sides(ALL, k == 0 ? 8 * US : 10 * US, k == 1 ? 8 * US : 9 * US,
                             k == 2 ? 8 * US : 30 * US);
        make_calls(&w, 70);
        assert_int_equal(w.rank[0].best, k);
        int64_t hosts = w.hosts, others = w.others;
        make_calls(&w, 200);
        assert_int_equal(w.hosts - hosts, k == SK_GUARD_HOST ? 200 : 0);
        assert_int_equal(w.others - others, k == SK_GUARD_OTHER ? 200 : 0);
    }
}

/* Its first calls touch memory that nobody has used before. */
static void the_other_is_looked_at_when_it_is_warm(void **state)
{
    (void)state;
    enum { COLD = 8, LOOK = 3 };
    for (int warm = 0; warm < 2; warm++) {
        world w = make_sides(1 << SK_GUARD_SKEIN | 1 << SK_GUARD_OTHER, 20000, 1, 90000);
        for (int i = 0; i < RANKS && warm; i++)
            sk_guard_warm(&w.rank[i], COLD);
        make_calls(&w, FIRST + LOOK + COLD);
        w.other[0] = w.other[1] = 10000;
        make_calls(&w, 100);
        assert_int_equal(w.rank[0].best, warm ? SK_GUARD_OTHER : SK_GUARD_SKEIN);
    }
}

/* But not if the host is faster than Skein. */
static void the_other_may_be_left_for_later(void **state)
{
    (void)state;
    enum { ALL = 1 << SK_GUARD_HOST | 1 << SK_GUARD_OTHER, US = 1000, SOON = 120, SLOW_HOST = 12 };
    for (int host = 8; host <= SLOW_HOST; host += 4) {
        world w = make_sides(ALL, 10 * US, host * US, 5 * US);
        for (int i = 0; i < RANKS; i++)
            sk_guard_leave_other(&w.rank[i]);
        make_calls(&w, SOON);
        assert_int_equal(w.others > 0, host < 10);
        assert_true(w.hosts > 0);
        make_calls(&w, 10000);
        assert_int_equal(w.rank[0].best, SK_GUARD_OTHER);
    }
    world w = make_sides(1 << SK_GUARD_OTHER, 10 * US, 1, 5 * US);
    make_calls(&w, FIRST);
    for (int i = 0; i < RANKS; i++)
        sk_guard_leave_other(&w.rank[i]);
    make_calls(&w, SOON);
    assert_int_equal(w.others, 0);
    make_calls(&w, 1000);
    assert_int_equal(w.rank[0].best, SK_GUARD_OTHER);
}

static void the_other_is_compared_without_the_host(void **state)
{
    (void)state;
    world w = make_sides(1 << SK_GUARD_OTHER, 1000000, 1, 500000);
    make_calls(&w, 200);
    assert_int_equal(w.hosts, 0);
    assert_int_equal(w.rank[0].best, SK_GUARD_OTHER);
    sk_guard_times t = sk_guard_last_times(&w.rank[0]);
    assert_int_equal(t.skein, 500000);
    assert_int_equal(t.host, 0);
    w.other[0] = w.other[1] = 2000000; /* it becomes slow: Skein's first choice serves again */
    make_calls(&w, 3000);
    assert_int_equal(w.rank[0].best, SK_GUARD_SKEIN);
}

static void nobody_to_compare_with_costs_nothing(void **state)
{
    (void)state;
    world w = make_sides(0, 1000, 1, 1);
    make_calls(&w, 1000);
    assert_int_equal(w.hosts + w.others + w.came, 0);
}

/* A host that was said to be faster serves first, and goes on only if it is. */
static void a_host_that_begins_is_compared_too(void **state)
{
    (void)state;
    for (int faster = 0; faster < 2; faster++) {
        world w = make(2000, faster ? 1000 : 4000);
        for (int i = 0; i < RANKS; i++)
            w.rank[i] = sk_guard_new_host(FIRST, 1500);
        make_calls(&w, FIRST);
        assert_int_equal(w.hosts, FIRST);
        make_calls(&w, 400);
        assert_int_equal(w.rank[0].best, faster ? SK_GUARD_HOST : SK_GUARD_SKEIN);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_faster_host_serves_after_fifty_calls),
        cmocka_unit_test(what_the_clock_cannot_tell_stays_with_skein),
        cmocka_unit_test(short_calls_are_compared_when_there_are_more),
        cmocka_unit_test(an_interrupted_call_does_not_count),
        cmocka_unit_test(the_first_calls_are_not_tried),
        cmocka_unit_test(short_calls_are_timed_for_a_millisecond),
        cmocka_unit_test(a_slower_host_costs_a_two_hundredth),
        cmocka_unit_test(a_slow_host_is_only_looked_at),
        cmocka_unit_test(one_of_many_short_calls_is_alike),
        cmocka_unit_test(agreeing_counts),
        cmocka_unit_test(an_eighth_of_the_calls_is_timed),
        cmocka_unit_test(equal_times_stay_with_skein),
        cmocka_unit_test(the_slowest_rank_counts),
        cmocka_unit_test(what_few_calls_do_not_tell_more_do),
        cmocka_unit_test(one_long_call_does_not_drop_skein),
        cmocka_unit_test(it_returns_when_the_host_becomes_slow),
        cmocka_unit_test(a_comparison_tells_its_times),
        cmocka_unit_test(the_fastest_of_three_serves),
        cmocka_unit_test(the_other_is_looked_at_when_it_is_warm),
        cmocka_unit_test(the_other_may_be_left_for_later),
        cmocka_unit_test(the_other_is_compared_without_the_host),
        cmocka_unit_test(nobody_to_compare_with_costs_nothing),
        cmocka_unit_test(a_host_that_begins_is_compared_too),
        cmocka_unit_test(waiting_after_the_calls_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
