/* test_stream.c: the generators of streams, and the engines on the paper's applications. */
#include "unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/match/compare.h"
#include "lab/match/app.h"

/* The stream of an application; freed by the caller. */
static sk_stream app(const char *name, uint32_t nranks, int steps)
{
    sk_stream s = {0};
    const sk_app *a = sk_app_find(name);
    assert_non_null(a);
    assert_int_equal(sk_stream_app(a, nranks, steps, 1, &s), SK_OK);
    return s;
}

static sk_replay_result replay(const sk_stream *s, const char *engine)
{
    sk_replay *p;
    sk_replay_result result;
    sk_match_config config = {0};
    assert_int_equal(sk_replay_new(s, &p), SK_OK);
    assert_int_equal(sk_replay_run(p, engine, &config, INFINITY, &result), SK_OK);
    assert_true(result.complete);
    sk_replay_free(p);
    return result;
}

static uint64_t traversals(const sk_match_stats *s)
{
    return sk_search_sums_of(s, true).traversals + sk_search_sums_of(s, false).traversals;
}

static bool there(const char *engine)
{
    for (int i = 0; sk_engine_name(i); i++)
        if (strcmp(sk_engine_name(i), engine) == 0)
            return true;
    return false;
}

/* All engines in turn give the same matches, also when items reuse the memory of others. */
static void assert_agreed(const sk_stream *s)
{
    char err[256] = "";
    sk_comparison k = {.rounds = 2, .limit = INFINITY, .seconds = 60};
    for (int i = 0; sk_engine_name(i) && k.n < SK_COMPARE_MAX; i++)
        k.c[k.n++].engine = sk_engine_name(i);
    assert_int_equal(sk_compare_run(&k, s, err, sizeof err), SK_OK);
    assert_false(sk_compare_wrong(&k));
    for (int i = 0; i < k.n; i++) {
        assert_int_equal(k.c[i].state, SK_COMPARE_OK);
        assert_int_equal(k.c[i].rounds, 2);
        assert_true(k.c[i].ns > 0 && k.c[i].ratio.mid > 0);
    }
}

static void streams_are_the_same_every_time(void **state)
{
    (void)state;
    for (int i = 0; sk_app_get(i); i++) {
        sk_stream a = app(sk_app_get(i)->name, 64, 5), b = app(sk_app_get(i)->name, 64, 5), c;
        assert_int_equal(a.n, b.n);
        assert_memory_equal(a.ops, b.ops, a.n * sizeof *a.ops);
        assert_int_equal(sk_stream_app(sk_app_get(i), 64, 5, 2, &c), SK_OK);
        assert_true(c.n != a.n || memcmp(c.ops, a.ops, a.n * sizeof *a.ops) != 0);
        sk_stream_free(&a);
        sk_stream_free(&b);
        sk_stream_free(&c);
    }
}

static void every_message_of_an_application_meets_its_receive(void **state)
{
    static const uint32_t ranks[] = {SK_APP_MIN_RANKS, 9, 100, 1024};
    (void)state;
    for (int i = 0; sk_app_get(i); i++)
        for (size_t k = 0; k < sizeof ranks / sizeof *ranks; k++) {
            sk_stream s = app(sk_app_get(i)->name, ranks[k], 3);
            sk_replay_result p = replay(&s, "list");
            assert_int_equal(2 * p.matches, s.n);
            assert_int_equal(p.stats.length[SK_POSTED] + p.stats.length[SK_UNEXPECTED], 0);
            for (size_t o = 0; o < s.n; o++) {
                assert_between(s.ops[o].source, 0, ranks[k] - 1);
                assert_between(s.ops[o].kind, 0, SK_NKINDS - 1);
                assert_int_equal(s.ops[o].kind == SK_KIND_P2P, s.ops[o].call == 0);
            }
            sk_stream_free(&s);
        }
}

static void engines_agree_on_applications(void **state)
{
    (void)state;
    for (int i = 0; sk_app_get(i); i++) {
        sk_stream s = app(sk_app_get(i)->name, 256, 10);
        assert_agreed(&s);
        sk_stream_free(&s);
    }
}

static void too_few_ranks_are_refused(void **state)
{
    sk_stream s;
    (void)state;
    assert_int_equal(sk_stream_app(sk_app_get(0), SK_APP_MIN_RANKS - 1, 1, 1, &s), SK_BADARG);
    assert_null(sk_app_find("no such program"));
}

static void radix_has_short_queues(void **state)
{
    static const uint32_t ranks[] = {256, 1024, 4096};
    (void)state;
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
        sk_stream s = app("radix", ranks[i], 0);
        sk_replay_result p = replay(&s, "list");
        assert_between(p.stats.max_length[SK_POSTED], 2, 10);
        assert_between(p.stats.max_length[SK_UNEXPECTED], 2, 10);
        assert_true(sk_search_sums_of(&p.stats, true).searches * 50 <
                    sk_search_sums_of(&p.stats, false).searches);
        sk_stream_free(&s);
    }
}

static void nbody_is_mostly_point_to_point(void **state)
{
    (void)state;
    sk_stream s = app("nbody", 512, 20);
    sk_replay_result p = replay(&s, "list");
    assert_true(sk_search_sums_of(&p.stats, true).searches >
                5 * sk_search_sums_of(&p.stats, false).searches);
    assert_true(p.stats.max_length[SK_POSTED] > 100);
    sk_stream_free(&s);
}

static void miniamr_is_mostly_allreduce(void **state)
{
    (void)state;
    sk_stream s = app("miniamr", 512, 40);
    sk_replay_result p = replay(&s, "list");
    uint64_t all = sk_search_sums_of(&p.stats, true).searches +
                   sk_search_sums_of(&p.stats, false).searches,
             allreduce = 0;
    for (int side = 0; side < SK_NSIDES; side++)
        allreduce += p.stats.kind[SK_KIND_ALLREDUCE][side].searches;
    assert_true(allreduce > all * 3 / 4);
    for (int side = 0; side < SK_NSIDES; side++)
        assert_between(p.stats.max_length[side], 20, 100);
    sk_stream_free(&s);
}

static void fds_has_a_hot_rank(void **state)
{
    enum { RANKS = 512 };
    (void)state;
    sk_stream s = app("fds", RANKS, 5);
    sk_replay_result p = replay(&s, "list");
    assert_true(p.stats.max_length[SK_POSTED] >= RANKS - 1);
    assert_true(p.stats.max_length[SK_UNEXPECTED] > RANKS);
    assert_true(sk_search_sums_of(&p.stats, true).traversals > 0);
    sk_stream_free(&s);
}

static void col_pnp_searches_fds_forty_times_less(void **state)
{
    (void)state;
    if (!there("col+pnp"))
        skip();
    sk_stream s = app("fds", 1024, 0);
    sk_replay_result list = replay(&s, "list"), own = replay(&s, "col+pnp");
    assert_true(traversals(&list.stats) >= 40 * traversals(&own.stats));
    sk_stream_free(&s);
}

static void queues_stay_below_their_cap(void **state)
{
    static const char *const engines[] = {"col+list", "list+pnp", "col+pnp"};
    enum { K = 16 };
    (void)state;
    for (int i = 0; sk_app_get(i); i++)
        for (uint32_t ranks = 64; ranks <= 1024; ranks *= 4)
            for (size_t e = 0; e < sizeof engines / sizeof *engines; e++) {
                if (!there(engines[e]))
                    continue;
                sk_stream s = app(sk_app_get(i)->name, ranks, 10);
                sk_replay_result p = replay(&s, engines[e]);
                for (int side = 0; side < SK_NSIDES; side++)
                    assert_true((double)(p.stats.queues_coll[side] + p.stats.queues_p2p[side]) <=
                                K * sqrt(ranks));
                sk_stream_free(&s);
            }
}

/* The searches of a list traverse as many items as the order of a synthetic stream implies. */
static void orders_are_what_they_are_called(void **state)
{
    enum { DEPTH = 100, CYCLES = 3 };
    (void)state;
    for (sk_order order = SK_FORWARD; order < SK_NORDERS; order++)
        for (sk_match_side first = SK_POSTED; first < SK_NSIDES; first++) {
            sk_stream s;
            sk_synthetic w = {.depth = DEPTH,
                              .sources = 16,
                              .pairs = CYCLES * DEPTH,
                              .first = first,
                              .order = order,
                              .seed = 1};
            assert_int_equal(sk_stream_synthetic(&w, &s), SK_OK);
            assert_int_equal(s.n, 2 * CYCLES * DEPTH);
            sk_replay_result p = replay(&s, "list");
            assert_int_equal(p.matches, CYCLES * DEPTH);
            assert_int_equal(p.stats.max_length[first], DEPTH);
            assert_int_equal(p.stats.max_length[SK_NSIDES - 1 - first], 0);
            uint64_t traversed = traversals(&p.stats), most = CYCLES * DEPTH * (DEPTH + 1) / 2;
            if (order == SK_FORWARD)
                assert_int_equal(traversed, CYCLES * DEPTH);
            else if (order == SK_REVERSE)
                assert_int_equal(traversed, most);
            else
                assert_between(traversed, most / 3, most * 2 / 3);
            sk_stream_free(&s);
        }
}

static void wildcards_are_as_many_as_asked_for(void **state)
{
    static const int shares[] = {0, 10, 100};
    (void)state;
    for (size_t i = 0; i < 3; i++)
        for (int tag = 0; tag < 2; tag++) {
            sk_stream s;
            sk_synthetic w = {.depth = 500,
                              .sources = 128,
                              .pairs = 5000,
                              .first = SK_UNEXPECTED,
                              .order = SK_RANDOM,
                              .wild = shares[i],
                              .any_tag = tag,
                              .seed = 3};
            assert_int_equal(sk_stream_synthetic(&w, &s), SK_OK);
            int wild = 0, open = 0;
            for (size_t o = 0; o < s.n; o++) {
                wild += s.ops[o].source == SK_ANY_SOURCE;
                open += (uint32_t)s.ops[o].ignore != 0;
            }
            assert_between(wild, shares[i] * 50 * 9 / 10, shares[i] * 50 * 11 / 10);
            assert_int_equal(open, tag ? wild : 0);
            sk_replay_result p = replay(&s, "list");
            assert_int_equal(p.matches, 5000);
            assert_agreed(&s);
            sk_stream_free(&s);
        }
}

static void runs_stop_at_their_limit(void **state)
{
    (void)state;
    char err[256] = "";
    sk_stream s;
    sk_synthetic w = {.depth = 200000, .sources = 1, .order = SK_REVERSE};
    sk_comparison k = {.rounds = 1, .limit = 0.05, .seconds = 1, .n = 1, .c = {{.engine = "list"}}};
    assert_int_equal(sk_stream_synthetic(&w, &s), SK_OK);
    assert_int_equal(sk_compare_run(&k, &s, err, sizeof err), SK_OK);
    assert_int_equal(k.c[0].state, SK_COMPARE_TOO_LONG);
    assert_true(k.c[0].first.ops < s.n);
    assert_true(isnan(k.c[0].ns));
    sk_stream_free(&s);
}

static void claims_of_what_has_gone_are_refused(void **state)
{
    (void)state;
    char err[256] = "";
    sk_trace_record ops[] = {
        {.op = SK_TRACE_POST}, {.op = SK_TRACE_DELIVER, .id = 1}, {.op = SK_TRACE_CLAIM, .id = 1}};
    sk_stream s = {.nranks = 1, .ops = ops, .n = 3, .items = 2};
    sk_comparison k = {.rounds = 1, .limit = 1, .seconds = 1, .n = 1, .c = {{.engine = "list"}}};
    assert_int_equal(sk_compare_run(&k, &s, err, sizeof err), SK_BADARG);
    assert_string_equal(err, "it claims or cancels an item that has gone");
    ops[0].tag = 1; /* now the message is queued and may be claimed */
    assert_int_equal(sk_compare_run(&k, &s, err, sizeof err), SK_OK);
    assert_int_equal(k.c[0].first.matches, 1);
}

static void unknown_engines_are_refused(void **state)
{
    (void)state;
    sk_stream s = app("radix", 16, 1);
    sk_replay *p;
    sk_replay_result result;
    sk_match_config config = {0};
    assert_int_equal(sk_replay_new(&s, &p), SK_OK);
    assert_int_equal(sk_replay_run(p, "lost", &config, 1, &result), SK_BADARG);
    sk_replay_free(p);
    sk_stream_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_are_the_same_every_time),
        cmocka_unit_test(every_message_of_an_application_meets_its_receive),
        cmocka_unit_test(engines_agree_on_applications),
        cmocka_unit_test(too_few_ranks_are_refused),
        cmocka_unit_test(radix_has_short_queues),
        cmocka_unit_test(nbody_is_mostly_point_to_point),
        cmocka_unit_test(miniamr_is_mostly_allreduce),
        cmocka_unit_test(fds_has_a_hot_rank),
        cmocka_unit_test(col_pnp_searches_fds_forty_times_less),
        cmocka_unit_test(queues_stay_below_their_cap),
        cmocka_unit_test(orders_are_what_they_are_called),
        cmocka_unit_test(wildcards_are_as_many_as_asked_for),
        cmocka_unit_test(runs_stop_at_their_limit),
        cmocka_unit_test(claims_of_what_has_gone_are_refused),
        cmocka_unit_test(unknown_engines_are_refused),
    };
    return RUN(tests);
}
