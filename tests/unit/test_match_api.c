/* test_match_api.c: the interface of the matcher beside the matches: names, counts, and the
 * constant cost of the engine `flat`. */
#include <stdlib.h>
#include <string.h>

#include "match/matcher.h"
#include "unit.h"

enum { DEPTH = 5000 };

static sk_matcher *matcher(const char *engine)
{
    sk_matcher *m = NULL;
    assert_int_equal(sk_matcher_new(engine, &(sk_match_config){.nranks = 16}, &m), SK_OK);
    return m;
}

static void an_unknown_engine_is_refused(void **state)
{
    (void)state;
    sk_matcher *m = NULL;
    assert_int_equal(sk_matcher_new("lists", &(sk_match_config){0}, &m), SK_BADARG);
    assert_null(m);
}

static void every_engine_has_a_name_and_help_and_can_be_made(void **state)
{
    (void)state;
    bool found = false;
    for (int i = 0; sk_engine_name(i); i++) {
        sk_matcher *m = matcher(sk_engine_name(i));
        assert_string_equal(sk_matcher_engine(m), sk_engine_name(i));
        assert_true(strlen(sk_engine_help(i)) > 0);
        found |= strcmp(sk_engine_name(i), sk_engine_default()) == 0;
        sk_matcher_free(m);
    }
    assert_true(found);
    assert_null(sk_engine_name(-1));
    assert_null(sk_engine_help(1000));
    sk_matcher *m = matcher(NULL);
    assert_string_equal(sk_matcher_engine(m), sk_engine_default());
    sk_matcher_free(m);
}

static void searches_finds_and_lengths_are_counted(void **state)
{
    (void)state;
    for (int e = 0; sk_engine_name(e); e++) {
        sk_matcher *m = matcher(sk_engine_name(e));
        sk_match_item recv[3] = {{.tag = 1}, {.tag = 2, .kind = 5}, {.tag = 9}};
        sk_match_item msg[2] = {{.tag = 2, .kind = 5}, {.tag = 3}};
        for (int i = 0; i < 3; i++)
            assert_null(sk_matcher_post(m, &recv[i]));
        assert_ptr_equal(sk_matcher_deliver(m, &msg[0]), &recv[1]);
        assert_null(sk_matcher_deliver(m, &msg[1]));
        assert_null(sk_matcher_probe(m, &recv[1]));
        assert_ptr_equal(sk_matcher_probe(m, &msg[1]), &msg[1]);
        assert_true(sk_matcher_cancel(m, &recv[0]));
        assert_false(sk_matcher_cancel(m, &recv[0]));
        assert_false(sk_matcher_cancel(m, &recv[1]));
        sk_matcher_claim(m, &msg[1]);
        sk_match_stats s;
        sk_matcher_stats(m, &s);
        assert_int_equal(s.length[SK_POSTED], 1);
        assert_int_equal(s.length[SK_UNEXPECTED], 0);
        assert_int_equal(s.max_length[SK_POSTED], 3);
        assert_int_equal(s.max_length[SK_UNEXPECTED], 1);
        assert_true(s.mean_length[SK_POSTED] == 2.5); /* 3 and 2 */
        const sk_side_stats *p2p = s.kind[0], *five = s.kind[5];
        assert_int_equal(p2p[SK_POSTED].added, 2);
        assert_int_equal(five[SK_POSTED].added, 1);
        assert_int_equal(p2p[SK_UNEXPECTED].added, 1);
        assert_int_equal(five[SK_POSTED].searches, 1);
        assert_int_equal(five[SK_POSTED].found, 1);
        assert_true(five[SK_POSTED].traversals >= 1);
        assert_int_equal(p2p[SK_POSTED].searches, 1);
        assert_int_equal(p2p[SK_POSTED].found, 0);
        assert_int_equal(p2p[SK_UNEXPECTED].searches, 3);
        assert_int_equal(five[SK_UNEXPECTED].searches, 2);
        assert_int_equal(p2p[SK_UNEXPECTED].found, 1);
        assert_true(s.bytes > 0);
        sk_matcher_free(m);
    }
}

static void expect_longest(const sk_matcher *m, uint64_t posted, uint64_t unexpected)
{
    sk_match_stats s;
    sk_matcher_stats(m, &s);
    assert_int_equal(s.max_length[SK_POSTED], posted);
    assert_int_equal(s.max_length[SK_UNEXPECTED], unexpected);
}

static void the_longest_length_is_known_at_any_time(void **state)
{
    (void)state;
    enum { MANY = 300, MORE = 50 };
    static sk_match_item recv[MANY], msg[MANY + MORE];
    for (int e = 0; sk_engine_name(e); e++) {
        sk_matcher *m = matcher(sk_engine_name(e));
        for (unsigned i = 0; i < MANY; i++) {
            msg[i] = recv[i] = (sk_match_item){.tag = i, .source = i % 16};
            assert_null(sk_matcher_deliver(m, &msg[i]));
            expect_longest(m, 0, i + 1);
        }
        for (unsigned i = MANY; i-- > MORE;)
            assert_ptr_equal(sk_matcher_post(m, &recv[i]), &msg[i]);
        for (unsigned i = MANY; i < MANY + MORE; i++) {
            msg[i] = (sk_match_item){.tag = i};
            assert_null(sk_matcher_deliver(m, &msg[i]));
        }
        expect_longest(m, 0, MANY);
        for (unsigned i = MANY; i-- > MORE;)
            assert_null(sk_matcher_post(m, &recv[i]));
        assert_true(sk_matcher_cancel(m, &recv[MORE]));
        expect_longest(m, MANY - MORE, MANY);
        sk_matcher_free(m);
    }
}

typedef sk_match_item maker(unsigned i);

/* All sources with one tag, then with the next. */
static sk_match_item source_by_source(unsigned i)
{
    return (sk_match_item){.tag = i / 16, .source = i % 16};
}

/* All tags from one source, then from the next. */
static sk_match_item tag_by_tag(unsigned i)
{
    return (sk_match_item){.tag = i % (DEPTH / 16), .source = i / (DEPTH / 16)};
}

static sk_match_item all_tags_differ(unsigned i)
{
    return (sk_match_item){.tag = i, .source = i % 16};
}

/* `flat` traverses few items per search, in any order and with any wildcards. */
static void flat_with(maker *make, unsigned any_source, unsigned any_tag, sk_match_side first)
{
    sk_matcher *m = matcher("flat");
    sk_match_item *recv = calloc(DEPTH, sizeof *recv), *msg = calloc(DEPTH, sizeof *msg);
    assert_non_null(recv);
    assert_non_null(msg);
    for (unsigned i = 0; i < DEPTH; i++) {
        msg[i] = make(i);
        recv[i] = msg[i];
        recv[i].ignore = i % 100 < any_tag ? 0xffff : UINT64_C(3) << 32;
        if (i % 100 >= 100 - any_source)
            recv[i].source = SK_ANY_SOURCE;
    }
    for (unsigned i = 0; i < DEPTH; i++)
        first == SK_POSTED ? sk_matcher_post(m, &recv[i]) : sk_matcher_deliver(m, &msg[i]);
    for (unsigned i = DEPTH; i-- > 0;)
        first == SK_POSTED ? sk_matcher_deliver(m, &msg[i]) : sk_matcher_post(m, &recv[i]);
    sk_match_stats s;
    sk_matcher_stats(m, &s);
    assert_int_equal(s.max_length[first], DEPTH);
    assert_between(s.kind[0][first].traversals, 1, 6 * DEPTH);
    sk_matcher_free(m);
    free(recv);
    free(msg);
}

static void flat_looks_at_few_items_at_any_share_of_wildcards(void **state)
{
    (void)state;
    static maker *const makers[] = {source_by_source, tag_by_tag, all_tags_differ};
    static const unsigned shares[][2] = {{0, 0},   {10, 0},  {0, 10},   {10, 10},
                                         {100, 0}, {0, 100}, {100, 100}};
    for (size_t k = 0; k < sizeof makers / sizeof makers[0]; k++)
        for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++) {
            flat_with(makers[k], shares[i][0], shares[i][1], SK_POSTED);
            flat_with(makers[k], shares[i][0], shares[i][1], SK_UNEXPECTED);
        }
}

/* Where tags tell messages apart, one table is enough for receives with and without a source. */
static void flat_has_one_table_for_messages_whose_tags_differ(void **state)
{
    (void)state;
    enum { MANY = 1000 };
    static sk_match_item recv[MANY], msg[MANY];
    sk_matcher *m = matcher("flat");
    for (unsigned i = 0; i < MANY; i++) {
        recv[i] = msg[i] = all_tags_differ(i);
        assert_null(sk_matcher_deliver(m, &msg[i]));
    }
    for (unsigned i = MANY; i-- > 0;) {
        if (i % 10 == 0)
            recv[i].source = SK_ANY_SOURCE;
        assert_ptr_equal(sk_matcher_post(m, &recv[i]), &msg[i]);
    }
    sk_match_stats s;
    sk_matcher_stats(m, &s);
    assert_int_equal(s.queues, 1);
    sk_matcher_free(m);
}

/* A queue that was long, became short and is long again holds items that one table indexed and then
 * dropped while another table was in use. */
static void flat_finds_messages_of_a_queue_that_was_long_before(void **state)
{
    (void)state;
    enum { FIRST = 200, THEN = 100, LEFT = 4 };
    static sk_match_item msg[FIRST + THEN], recv[FIRST];
    sk_matcher *m = matcher("flat");
    for (unsigned i = 0; i < FIRST + THEN; i++)
        msg[i] = (sk_match_item){.tag = i, .source = 1};
    for (unsigned i = 0; i < FIRST; i++)
        assert_null(sk_matcher_deliver(m, &msg[i]));
    for (unsigned i = FIRST; i-- > LEFT;) {
        recv[i] = (sk_match_item){.tag = i, .source = i > FIRST / 2 ? 1 : SK_ANY_SOURCE};
        assert_ptr_equal(sk_matcher_post(m, &recv[i]), &msg[i]);
    }
    for (unsigned i = FIRST; i < FIRST + THEN; i++)
        assert_null(sk_matcher_deliver(m, &msg[i]));
    for (unsigned i = LEFT; i-- > 0;) {
        recv[i] = (sk_match_item){.tag = i, .source = 1};
        assert_ptr_equal(sk_matcher_post(m, &recv[i]), &msg[i]);
    }
    sk_matcher_free(m);
}

static const char *name_of(unsigned kind)
{
    return kind == 5 ? "Allgather" : NULL;
}

static void statistics_are_printed_by_kind(void **state)
{
    (void)state;
    sk_matcher *m = matcher("flat");
    sk_match_item recv = {.tag = 1, .kind = 5}, msg = {.tag = 1};
    assert_null(sk_matcher_post(m, &recv));
    assert_null(sk_matcher_deliver(m, &msg));
    sk_match_stats s;
    sk_matcher_stats(m, &s);
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    assert_non_null(to);
    sk_match_stats_print(&s, "flat", name_of, to);
    fclose(to);
    assert_non_null(strstr(text, "engine flat"));
    assert_non_null(strstr(text, "Allgather"));
    assert_non_null(strstr(text, "point-to-point"));
    assert_null(strstr(text, "kind 7"));
    free(text);
    sk_matcher_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_unknown_engine_is_refused),
        cmocka_unit_test(every_engine_has_a_name_and_help_and_can_be_made),
        cmocka_unit_test(searches_finds_and_lengths_are_counted),
        cmocka_unit_test(the_longest_length_is_known_at_any_time),
        cmocka_unit_test(flat_looks_at_few_items_at_any_share_of_wildcards),
        cmocka_unit_test(flat_has_one_table_for_messages_whose_tags_differ),
        cmocka_unit_test(flat_finds_messages_of_a_queue_that_was_long_before),
        cmocka_unit_test(statistics_are_printed_by_kind),
    };
    return RUN(tests);
}
