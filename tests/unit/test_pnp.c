/* test_pnp.c: the queues of point-to-point partners: who gets one, when, and what searches then
 * traverse. The expected counts were worked out by hand. */
#include "engine_harness.h"

static const sk_match_config ten = {.nranks = 1024, .theta = 10};

static sk_match_item from(uint32_t source)
{
    return (sk_match_item){.tag = 7, .source = source};
}

/* Post n receives from a source. */
static void posts(engine_harness *r, uint32_t source, int n)
{
    for (int i = 0; i < n; i++)
        assert_int_equal(harness_post(r, from(source)), -1);
}

/* The items traversed for a message that matches no receive. */
static uint64_t misses(engine_harness *r, uint32_t source)
{
    return harness_cost(r, SK_POSTED, (sk_match_item){.tag = 8, .source = source});
}

static void sources_above_the_average_become_partners_at_theta(void **state)
{
    (void)state;
    engine_harness *r = harness_new(&sk_engine_list_pnp, &ten);
    posts(r, 0, 5);
    posts(r, 1, 3);
    posts(r, 2, 1);
    assert_int_equal(harness_stats(r).queues, 0);
    posts(r, 3, 1); /* the tenth: 2.5 on average */
    assert_int_equal(harness_stats(r).queues, 2);
    assert_int_equal(harness_stats(r).queues_p2p[SK_POSTED], 2);
    assert_int_equal(harness_stats(r).queues_p2p[SK_UNEXPECTED], 0);
    harness_free(r);
}

static void equals_make_no_partners_until_the_queue_has_doubled(void **state)
{
    (void)state;
    engine_harness *r = harness_new(&sk_engine_col_pnp, &ten);
    for (uint32_t i = 0; i < 10; i++)
        posts(r, i, 1);
    assert_int_equal(harness_stats(r).queues, 0);
    posts(r, 4, 9);
    assert_int_equal(harness_stats(r).queues, 0);
    posts(r, 4, 1);
    assert_int_equal(harness_stats(r).queues, 1);
    harness_free(r);
}

static void empty_queue_starts_again_with_theta(void **state)
{
    (void)state;
    engine_harness *r = harness_new(&sk_engine_col_pnp, &ten);
    for (uint32_t i = 0; i < 10; i++)
        posts(r, i, 1);
    for (uint32_t i = 0; i < 10; i++)
        assert_int_equal(harness_deliver(r, from(i)), i);
    posts(r, 1, 1);
    posts(r, 4, 9);
    assert_int_equal(harness_stats(r).queues, 1);
    harness_free(r);
}

/* Base queue, shared queues up to the level of partnership, own queue. */
static void search_stops_at_the_level_of_partnership(void **state)
{
    (void)state;
    engine_harness *r = harness_new(&sk_engine_list_pnp, &ten);
    posts(r, 0, 6);
    posts(r, 1, 4); /* base queue: 10; partner: 0 */
    posts(r, 0, 3); /* its own */
    posts(r, 1, 2);
    assert_int_equal(misses(r, 0), 10 + 3);
    assert_int_equal(misses(r, 1), 10 + 2);
    assert_int_equal(misses(r, 9), 10 + 2);
    posts(r, 5, 7);
    posts(r, 6, 1); /* shared queue of level 0: 10; partner: 5, above 10/3 */
    assert_int_equal(harness_stats(r).queues, 2);
    posts(r, 5, 4);
    posts(r, 1, 2);
    assert_int_equal(misses(r, 0), 10 + 3);
    assert_int_equal(misses(r, 5), 10 + 10 + 4);
    assert_int_equal(misses(r, 1), 10 + 10 + 2);
    for (int i = 0; i < 6; i++)
        assert_int_equal(harness_deliver(r, from(0)), i);
    for (int i = 6; i < 10; i++)
        assert_int_equal(harness_deliver(r, from(1)), i);
    assert_int_equal(misses(r, 0), 3); /* the base queue is empty */
    assert_int_equal(misses(r, 5), 10 + 4);
    for (int i = 10; i < 13; i++) {
        assert_int_equal(harness_cost(r, SK_POSTED, from(0)), 1);
        assert_int_equal(harness_deliver(r, from(0)), i);
    }
    harness_free(r);
}

static void partners_stop_at_the_cap(void **state)
{
    (void)state;
    engine_harness *r = harness_new(
        &sk_engine_col_pnp, &(sk_match_config){.nranks = 10, .kc = 9, .kp = 1, .theta = 10});
    for (uint32_t i = 0; i < 4; i++)
        posts(r, i, 2);
    posts(r, 8, 1);
    posts(r, 9, 1); /* four are above the average, the root of 10 is 3 */
    assert_int_equal(harness_stats(r).queues, 3);
    for (int i = 0; i < 50; i++)
        posts(r, 20 + (uint32_t)i % 3 * (uint32_t)(i % 2), 1);
    assert_int_equal(harness_stats(r).queues, 3);
    harness_free(r);
}

static void any_source_keeps_the_order_beside_partners(void **state)
{
    (void)state;
    engine_harness *r = harness_new(&sk_engine_col_pnp, &ten);
    posts(r, 0, 6);
    posts(r, 1, 4);
    posts(r, 0, 1);             /* 10: partner's queue */
    posts(r, SK_ANY_SOURCE, 1); /* 11 */
    posts(r, 0, 1);             /* 12 */
    posts(r, 2, 1);             /* 13: shared queue */
    posts(r, SK_ANY_SOURCE, 1); /* 14 */
    for (int i = 0; i < 6; i++)
        assert_int_equal(harness_deliver(r, from(0)), i);
    assert_int_equal(harness_deliver(r, from(0)), 10);
    assert_int_equal(harness_deliver(r, from(2)), 11);
    assert_int_equal(harness_deliver(r, from(2)), 13);
    assert_int_equal(harness_deliver(r, from(0)), 12);
    assert_int_equal(harness_deliver(r, from(0)), 14);
    harness_free(r);
}

static void any_source_gets_the_oldest_message_of_all_partners(void **state)
{
    (void)state;
    engine_harness *r = harness_new(&sk_engine_list_pnp, &ten);
    static const uint32_t senders[] = {0, 0, 0, 0, 1, 1, 1, 1, 2, 3, 0, 2, 1, 0, 3, 1, 0};
    enum { N = sizeof senders / sizeof senders[0] };
    for (int i = 0; i < N; i++)
        harness_deliver(r, from(senders[i]));
    assert_int_equal(harness_stats(r).queues_p2p[SK_UNEXPECTED], 2);
    for (int i = 0; i < N; i++)
        assert_int_equal(harness_post(r, from(SK_ANY_SOURCE)), i);
    harness_free(r);
}

static void col_list_makes_no_partners(void **state)
{
    (void)state;
    engine_harness *r = harness_new(&sk_engine_col_list, &ten);
    posts(r, 0, 30);
    posts(r, 1, 3);
    assert_int_equal(harness_stats(r).queues, 0);
    harness_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sources_above_the_average_become_partners_at_theta),
        cmocka_unit_test(equals_make_no_partners_until_the_queue_has_doubled),
        cmocka_unit_test(empty_queue_starts_again_with_theta),
        cmocka_unit_test(search_stops_at_the_level_of_partnership),
        cmocka_unit_test(partners_stop_at_the_cap),
        cmocka_unit_test(any_source_keeps_the_order_beside_partners),
        cmocka_unit_test(any_source_gets_the_oldest_message_of_all_partners),
        cmocka_unit_test(col_list_makes_no_partners),
    };
    return RUN(tests);
}
