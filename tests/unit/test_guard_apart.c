/* The guard of calls that must not wait for the other ranks, nonblocking and persistent ones, with made-up times. */
#include "guard_world.h"

/* Calls that must not wait. */
static void make_calls_apart(world *w, int64_t n)
{
    for (int64_t k = 0; k < n; k++) {
        sk_guard_verdict v[RANKS];
        for (int i = 0; i < RANKS; i++)
            v[i] = sk_guard_ask(&w->rank[i], NULL, NULL);
        serve(w, v, 0);
    }
}

/* Starts of a persistent call, which must not wait. Where they are due the ranks agree beside one that the best side
 * serves. */
static void make_starts(world *w, int64_t n)
{
    for (int64_t k = 0; k < n; k++) {
        sk_guard_verdict v[RANKS];
        int64_t all[SK_GUARD_VALUES] = {0}, values[SK_GUARD_VALUES];
        bool due = sk_guard_must_agree(&w->rank[0]);
        assert_int_equal(sk_guard_must_agree(&w->rank[1]), due);
        for (int i = 0; due && i < RANKS; i++) {
            sk_guard_say(&w->rank[i], values);
            for (int j = 0; j < SK_GUARD_VALUES; j++)
                all[j] = values[j] > all[j] ? values[j] : all[j];
        }
        all[SK_GUARD_MEETING] = w->meeting;
        for (int i = 0; i < RANKS; i++)
            v[i] = due ? (sk_guard_verdict){.side = w->rank[i].best}
                       : sk_guard_ask(&w->rank[i], NULL, NULL);
        serve(w, v, 0);
        for (int i = 0; due && i < RANKS; i++)
            w->decided += sk_guard_go_on(&w->rank[i], all) && i == 0;
    }
}

/* The ranks agree; true: it is decided. */
static bool agree(world *w)
{
    bool decided[RANKS];
    w->came = 0;
    for (int i = 0; i < RANKS; i++) {
        sk_guard copy = w->rank[i];
        sk_guard_agree(&copy, note, w);
    }
    for (int i = 0; i < RANKS; i++)
        decided[i] = sk_guard_agree(&w->rank[i], largest, w);
    assert_int_equal(decided[0], decided[1]);
    return decided[0];
}

/* The first look, two rounds of 4, and a start in which the ranks agree after each. */
static void a_faster_host_serves_starts(void **state)
{
    (void)state;
    world w = make(1000000, 500000);
    w.skein[1] = 1200000;
    w.meeting = 50000;
    make_starts(&w, FIRST + 6 + 1 + 4 * 5 + 1);
    assert_int_equal(w.hosts, 3 + 2 * 5);
    assert_int_equal(w.decided, 0);
    make_starts(&w, 1);
    assert_int_equal(w.decided, 1);
    assert_int_equal(sk_guard_last_times(&w.rank[0]).skein, 1200000);
    assert_int_equal(w.rank[0].doubt, 0); /* starts do not meet */
    make_starts(&w, 100);
    assert_int_equal(w.hosts, 3 + 2 * 5 + 100);
}

static void a_slower_host_costs_starts_a_two_hundredth(void **state)
{
    (void)state;
    world w = make(100000, 400000);
    w.meeting = 100000;
    make_starts(&w, 1000000);
    assert_true((double)w.total / (100000.0 * 1000000) - 1 < 1.0 / 190);
    assert_true(w.hosts > 3);
}

static void a_comparison_that_is_put_off_begins_later(void **state)
{
    (void)state;
    world w = make(1000000, 500000);
    make_starts(&w, FIRST);
    for (int i = 0; i < RANKS; i++) {
        assert_true(sk_guard_begins(&w.rank[i]));
        sk_guard_put_off(&w.rank[i], 50);
    }
    make_starts(&w, 50 + 3);
    assert_int_equal(w.hosts, 0);
    make_starts(&w, 100);
    assert_true(w.hosts > 50);
}

static void a_host_that_is_left_serves_no_more(void **state)
{
    (void)state;
    world w = make(1000000, 500000);
    make_starts(&w, 200);
    assert_int_equal(w.rank[0].best, SK_GUARD_HOST);
    for (int i = 0; i < RANKS; i++)
        sk_guard_leave_host(&w.rank[i]);
    int64_t hosts = w.hosts;
    make_starts(&w, 100000);
    assert_int_equal(w.hosts, hosts);
}

/* The best side serves until the ranks agree, however many calls there are. */
static void calls_that_must_not_wait_are_held(void **state)
{
    (void)state;
    world w = make(1000000, 500000);
    w.skein[1] = 1100000; /* all ranks decide by that */
    assert_false(agree(&w));
    make_calls_apart(&w, FIRST + 6 + 1000);
    assert_int_equal(w.hosts, 3);
    assert_false(agree(&w));
    make_calls_apart(&w, 2 * 5 + 1000);
    assert_int_equal(w.hosts, 3 + 5);
    assert_false(agree(&w));
    make_calls_apart(&w, 2 * 5 + 1000);
    assert_int_equal(w.hosts, 3 + 2 * 5);
    assert_true(agree(&w));
    assert_int_equal(sk_guard_last_times(&w.rank[0]).skein, 1100000);
    make_calls_apart(&w, 100);
    assert_int_equal(w.hosts, 3 + 2 * 5 + 100);
    w.host[0] = w.host[1] = 2000000; /* the host is held too, until all know better */
    make_calls_apart(&w, 3000);
    assert_int_equal(w.rank[0].best, SK_GUARD_HOST);
    assert_false(agree(&w));
    make_calls_apart(&w, 1000);
    assert_true(agree(&w));
    int64_t hosts = w.hosts;
    make_calls_apart(&w, 100);
    assert_int_equal(w.hosts, hosts);
}

/* Ranks come to the call in which they agree when their own work is done. That is no time of the calls before. */
static void what_is_held_is_not_charged_for_work_since(void **state)
{
    (void)state;
    world w = make(1000000, 500000);
    w.waits[SK_GUARD_SKEIN] = w.waits[SK_GUARD_HOST] = 50000000;
    w.meeting = 10000;
    make_calls_apart(&w, FIRST + 6 + 1);
    for (int i = 0; i < 2; i++) {
        assert_false(agree(&w));
        make_calls_apart(&w, 2 * 5 + 1);
    }
    assert_true(agree(&w));
    assert_int_equal(w.rank[0].best, SK_GUARD_HOST);
    assert_int_equal(w.rank[0].doubt, 0); /* nobody has met while the calls were timed */
}

/* Of two ranks one finds its calls in the cache and does not ask: they say the same after as many calls, and only then. */
static void the_state_counts_calls_that_are_held(void **state)
{
    (void)state;
    world w = make(1000000, 500000);
    make_calls_apart(&w, FIRST + 6 + 1);
    sk_guard *one = &w.rank[0], *other = &w.rank[1];
    assert_true(one->held && other->held);
    assert_true(sk_guard_state(one, 1) == sk_guard_state(other, 1));
    for (int i = 0; i < 5; i++) {
        sk_guard_ask(one, NULL, NULL);
        assert_true(sk_guard_state(one, 1) != sk_guard_state(other, 1));
        assert_true(sk_guard_quiet(other));
        assert_true(sk_guard_state(one, 1) == sk_guard_state(other, 1));
    }
    while (one->best != SK_GUARD_HOST || !one->held) {
        agree(&w);
        make_calls_apart(&w, 2000);
    }
    sk_guard_ask(one, NULL, NULL); /* the host serves, and nothing else changes */
    assert_true(sk_guard_state(one, 1) != sk_guard_state(other, 1));
    sk_guard_ask(other, NULL, NULL);
    assert_true(sk_guard_state(one, 1) == sk_guard_state(other, 1));
}

static void a_comparison_that_is_given_up_begins_anew(void **state)
{
    (void)state;
    world w = make(1000000, 500000);
    for (int times = 0; times < 2; times++) {
        make_calls_apart(&w, times ? 4 : FIRST + 4);
        for (int i = 0; i < RANKS; i++)
            sk_guard_abandon(&w.rank[i]);
    }
    assert_int_equal(w.hosts, 2);
    assert_true(sk_guard_begins(&w.rank[0]));
    make_calls_apart(&w, 6 + 1);
    assert_false(agree(&w));
    make_calls_apart(&w, 2 * 5 + 1);
    assert_false(agree(&w));
    make_calls_apart(&w, 2 * 5 + 1);
    assert_true(agree(&w));
    assert_int_equal(w.rank[1].best, SK_GUARD_HOST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_faster_host_serves_starts),
        cmocka_unit_test(a_slower_host_costs_starts_a_two_hundredth),
        cmocka_unit_test(a_comparison_that_is_put_off_begins_later),
        cmocka_unit_test(a_host_that_is_left_serves_no_more),
        cmocka_unit_test(calls_that_must_not_wait_are_held),
        cmocka_unit_test(what_is_held_is_not_charged_for_work_since),
        cmocka_unit_test(the_state_counts_calls_that_are_held),
        cmocka_unit_test(a_comparison_that_is_given_up_begins_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
