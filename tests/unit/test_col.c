/* test_col.c: the queues for collectives: when they are made, how many, and what searches then
 * traverse. The expected counts were worked out by hand. */
#include "engine_harness.h"
#include "match/engine/bin.h"

enum { GATHER = 3, REDUCE = 5 };

static const sk_match_config config = {.nranks = 1024, .kc = 8, .kp = 8};

static sk_match_item part(uint16_t kind, uint8_t size, uint32_t call, uint32_t source)
{
    return (sk_match_item){
        .tag = 7, .source = source, .kind = kind, .size = size, .nranks = 64, .call = call};
}

/* One call: receives from n sources in order, then their messages in the opposite one. */
static void call_in_reverse(engine_harness *r, uint16_t kind, uint8_t size, uint32_t call,
                            uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(harness_post(r, part(kind, size, call, i)), -1);
    for (uint32_t i = n; i-- > 0;)
        assert_true(harness_deliver(r, part(kind, size, call, i)) >= 0);
}

static void cap_is_k_times_the_root_of_n(void **state)
{
    (void)state;
    assert_int_equal(sk_bin_cap(1, 1024), 32);
    assert_int_equal(sk_bin_cap(1, 2048), 45);
    assert_int_equal(sk_bin_cap(1, 4096), 64);
    assert_int_equal(sk_bin_cap(8, 1024), 256);
    assert_int_equal(sk_bin_cap(8, 2048), 362);
    assert_int_equal(sk_bin_cap(8, 0), 0);
    assert_int_equal(sk_bin_cap(UINT32_MAX, 1), 65535);
}

/* 8, 7 .. 1 items traversed are 4.5 on average. With 5 queues, only 5, 6 and 7 have another in
 * front. */
static void first_call_is_profiled_and_the_second_gets_queues(void **state)
{
    (void)state;
    engine_harness *r = harness_new(&sk_engine_col_pnp, &config);
    call_in_reverse(r, GATHER, 4, 1, 8);
    assert_int_equal(r->traversed, 36);
    assert_int_equal(harness_stats(r).queues, 0);
    harness_post(r, part(GATHER, 4, 2, 0));
    assert_int_equal(harness_stats(r).queues, 5);
    assert_int_equal(harness_stats(r).queues_coll[SK_POSTED], 5);
    for (uint32_t i = 1; i < 8; i++)
        harness_post(r, part(GATHER, 4, 2, i));
    r->traversed = 0;
    for (uint32_t i = 8; i-- > 0;)
        harness_deliver(r, part(GATHER, 4, 2, i));
    assert_int_equal(r->traversed, 2 + 2 + 2 + 1 + 1 + 1 + 1 + 1);
    harness_free(r);
}

static void unexpected_messages_are_profiled_on_their_own(void **state)
{
    (void)state;
    engine_harness *r = harness_new(&sk_engine_col_pnp, &config);
    for (uint32_t call = 1; call <= 2; call++) {
        for (uint32_t i = 0; i < 8; i++)
            harness_deliver(r, part(GATHER, 4, call, i));
        assert_int_equal(harness_stats(r).queues_coll[SK_UNEXPECTED], call == 1 ? 0 : 5);
        for (uint32_t i = 8; i-- > 0;)
            harness_post(r, part(GATHER, 4, call, i));
    }
    assert_int_equal(r->traversed, 36 + 11);
    assert_int_equal(harness_stats(r).queues_coll[SK_POSTED], 0);
    harness_free(r);
}

/* Of 32 queues the first kind takes all that it wants, which is all; the second shares them. */
static void kind_that_finds_no_queues_left_shares_the_largest_level(void **state)
{
    (void)state;
    sk_match_config tight = {.nranks = 1024, .kc = 1, .kp = 1};
    engine_harness *r = harness_new(&sk_engine_col_pnp, &tight);
    for (uint32_t call = 1; call <= 4; call++)
        call_in_reverse(r, call % 2 ? GATHER : REDUCE, 4, call, 64);
    assert_int_equal(harness_stats(r).queues_coll[SK_POSTED], 32);
    for (uint32_t i = 0; i < 64; i++) {
        harness_post(r, part(GATHER, 4, 5, i));
        harness_post(r, part(REDUCE, 4, 6, i));
    }
    assert_int_equal(harness_stats(r).queues_coll[SK_POSTED], 32);
    r->traversed = 0;
    for (uint32_t i = 64; i-- > 0;)
        assert_int_equal(harness_deliver(r, part(REDUCE, 4, 6, i)), 4 * 128 + 2 * i + 1);
    assert_int_equal(r->traversed, 32 * 4 + 32 * 2);
    harness_free(r);
}

static void more_queues_make_a_level_and_fewer_do_not(void **state)
{
    (void)state;
    engine_harness *r = harness_new(&sk_engine_col_list, &config);
    uint32_t call = 1;
    struct {
        uint8_t size;
        uint32_t sources, queues; /* in all, after the second call */
    } steps[] = {{1, 9, 5}, {2, 5, 5}, {3, 9, 5}, {4, 21, 5 + 11}, {5, 11, 5 + 11}};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        uint64_t before = harness_stats(r).queues;
        call_in_reverse(r, GATHER, steps[i].size, call++, steps[i].sources);
        assert_int_equal(harness_stats(r).queues, before);
        call_in_reverse(r, GATHER, steps[i].size, call++, steps[i].sources);
        assert_int_equal(harness_stats(r).queues, steps[i].queues);
    }
    call_in_reverse(r, REDUCE, 1, call++, 9); /* levels are per kind */
    call_in_reverse(r, REDUCE, 1, call++, 9);
    assert_int_equal(harness_stats(r).queues, 5 + 11 + 5);
    harness_free(r);
}

/* A receive left in each of these queues is found in the order of posting, though the profiling
 * queue is searched first. */
static void oldest_wins_across_levels_and_the_profiling_queue(void **state)
{
    (void)state;
    engine_harness *r = harness_new(&sk_engine_col_pnp, &config);
    sk_match_item left = part(GATHER, 1, 2, 1);
    call_in_reverse(r, GATHER, 1, 1, 9);
    left.tag = 99;
    int first = (int)r->used;
    harness_post(r, left); /* level of 5 */
    left.size = 2;
    left.call = 3;
    int second = (int)r->used;
    harness_post(r, left); /* profiling queue */
    call_in_reverse(r, GATHER, 2, 3, 21);
    left.call = 4;
    int third = (int)r->used;
    harness_post(r, left); /* level of 11 or more */
    assert_true(harness_stats(r).queues > 5 + 10);
    left.size = 3;
    left.call = 5;
    left.source = SK_ANY_SOURCE;
    int fourth = (int)r->used;
    harness_post(r, left); /* from any source: profiling queue */
    left.source = 1;
    int found[4];
    for (int i = 0; i < 4; i++)
        found[i] = harness_deliver(r, left);
    assert_int_equal(found[0], first);
    assert_int_equal(found[1], second);
    assert_int_equal(found[2], third);
    assert_int_equal(found[3], fourth);
    harness_free(r);
}

static void any_source_gets_the_oldest_message_of_all_queues(void **state)
{
    (void)state;
    engine_harness *r = harness_new(&sk_engine_col_pnp, &config);
    for (uint32_t call = 1; call <= 2; call++) {
        for (uint32_t i = 0; i < 9; i++)
            harness_deliver(r, part(GATHER, 4, call, i * 7 % 9));
        if (call == 1)
            for (uint32_t i = 9; i-- > 0;)
                harness_post(r, part(GATHER, 4, call, i * 7 % 9));
    }
    assert_int_equal(harness_stats(r).queues_coll[SK_UNEXPECTED], 5);
    for (int i = 0; i < 9; i++)
        assert_int_equal(harness_post(r, part(GATHER, 4, 2, SK_ANY_SOURCE)), 18 + i);
    harness_free(r);
}

static void kinds_of_any_sort_keep_the_order(void **state)
{
    (void)state;
    engine_harness *r = harness_new(&sk_engine_col_pnp, &config);
    sk_match_item wild = part(SK_ANY_KIND, 4, 0, 0);
    harness_deliver(r, part(REDUCE, 4, 1, 0));
    harness_deliver(r, part(SK_P2P, 4, 0, 0));
    harness_deliver(r, part(GATHER, 4, 1, 0));
    for (int i = 0; i < 3; i++)
        assert_int_equal(harness_post(r, wild), i);
    harness_post(r, part(GATHER, 4, 2, 0)); /* 6 */
    harness_post(r, wild);
    harness_post(r, part(GATHER, 4, 2, 0));
    for (int i = 6; i < 9; i++)
        assert_int_equal(harness_deliver(r, part(GATHER, 4, 2, 0)), i);
    harness_free(r);
}

static void without_call_numbers_an_empty_queue_ends_the_first_call(void **state)
{
    (void)state;
    engine_harness *r = harness_new(&sk_engine_col_pnp, &config);
    call_in_reverse(r, GATHER, 4, 0, 8);
    assert_int_equal(harness_stats(r).queues, 0);
    harness_post(r, part(GATHER, 4, 0, 0));
    assert_int_equal(harness_stats(r).queues, 5);
    harness_free(r);
}

/* Every sender has its own numbers: they do not cut the first call short. */
static void numbers_of_senders_end_no_call_that_waits(void **state)
{
    (void)state;
    engine_harness *r = harness_new(&sk_engine_col_pnp, &config);
    for (uint32_t i = 0; i < 8; i++)
        harness_deliver(r, part(GATHER, 4, 100 + i, i));
    for (uint32_t i = 8; i-- > 4;)
        harness_post(r, part(GATHER, 4, 1, i));
    harness_deliver(r, part(GATHER, 4, 200, 9));
    assert_int_equal(harness_stats(r).queues, 0);
    harness_post(r, part(GATHER, 4, 2, 3)); /* the receiver's own numbers do: 8 + 7 + 6 + 5 by 4 */
    assert_int_equal(harness_stats(r).queues_coll[SK_UNEXPECTED], 7);
    harness_free(r);
}

/* Messages of the second call come before the first is over: they are in the new queues, too. */
static void calls_that_piled_up_move_to_the_queues(void **state)
{
    (void)state;
    engine_harness *r = harness_new(&sk_engine_col_pnp, &config);
    for (uint32_t call = 1; call <= 2; call++)
        for (uint32_t i = 0; i < 8; i++)
            harness_deliver(r, part(GATHER, 4, call, i));
    for (uint32_t i = 8; i-- > 0;)
        assert_int_equal(harness_post(r, part(GATHER, 4, 1, i)), i);
    assert_int_equal(r->traversed, 36);
    assert_int_equal(harness_post(r, part(GATHER, 4, 2, 7)), 8 + 7); /* 5 queues from here on */
    r->traversed = 0;
    for (uint32_t i = 7; i-- > 0;)
        assert_int_equal(harness_post(r, part(GATHER, 4, 2, i)), 8 + i);
    assert_int_equal(r->traversed, 2 + 2 + 1 + 1 + 1 + 1 + 1);
    harness_free(r);
}

static void cap_clamps_what_a_call_wants(void **state)
{
    (void)state;
    engine_harness *r =
        harness_new(&sk_engine_col_pnp, &(sk_match_config){.nranks = 50, .kc = 1, .kp = 9});
    call_in_reverse(r, GATHER, 4, 1, 9);
    call_in_reverse(r, GATHER, 4, 2, 9);
    assert_int_equal(harness_stats(r).queues, 5);
    call_in_reverse(r, REDUCE, 4, 3, 9);
    call_in_reverse(r, REDUCE, 4, 4, 9);
    assert_int_equal(harness_stats(r).queues,
                     5); /* of the 2 that are left it wants none: see above */
    harness_free(r);

    r = harness_new(&sk_engine_col_pnp, &(sk_match_config){.nranks = 50, .kc = 1, .kp = 9});
    for (uint32_t call = 1; call <= 4; call++)
        call_in_reverse(r, GATHER, call < 3 ? 4 : 5, call, 90);
    assert_int_equal(harness_stats(r).queues, 7); /* the root of 50 */
    harness_free(r);
}

static void list_pnp_makes_no_queues_for_collectives(void **state)
{
    (void)state;
    engine_harness *r = harness_new(&sk_engine_list_pnp, &config);
    for (uint32_t call = 1; call <= 3; call++)
        call_in_reverse(r, GATHER, 4, call, 200);
    assert_int_equal(harness_stats(r).queues, 0);
    harness_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cap_is_k_times_the_root_of_n),
        cmocka_unit_test(first_call_is_profiled_and_the_second_gets_queues),
        cmocka_unit_test(unexpected_messages_are_profiled_on_their_own),
        cmocka_unit_test(kind_that_finds_no_queues_left_shares_the_largest_level),
        cmocka_unit_test(more_queues_make_a_level_and_fewer_do_not),
        cmocka_unit_test(oldest_wins_across_levels_and_the_profiling_queue),
        cmocka_unit_test(any_source_gets_the_oldest_message_of_all_queues),
        cmocka_unit_test(kinds_of_any_sort_keep_the_order),
        cmocka_unit_test(without_call_numbers_an_empty_queue_ends_the_first_call),
        cmocka_unit_test(numbers_of_senders_end_no_call_that_waits),
        cmocka_unit_test(calls_that_piled_up_move_to_the_queues),
        cmocka_unit_test(cap_clamps_what_a_call_wants),
        cmocka_unit_test(list_pnp_makes_no_queues_for_collectives),
    };
    return RUN(tests);
}
