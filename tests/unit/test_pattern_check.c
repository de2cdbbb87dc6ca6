/* test_pattern_check.c: the checker of patterns bites: each way to be wrong is found. */
#include "lab/neighbor/check.h"

#include <stdlib.h>
#include <string.h>

#include "unit.h"

enum { N = 4 };

/* 0 -> 3 over the carriers 1 and 2; 0 -> 1 beside it; and one thing that may be wrong. */
typedef void spoil(sk_pattern **p);

static void hop(sk_pattern **p, int stage, int from, int to, int src, int dst)
{
    sk_pattern_send(p[from], stage, to, src, dst);
    sk_pattern_recv(p[to], stage, from, src, dst);
}

static sk_global_graph *two_edges(void)
{
    sk_global_graph *g = sk_global_graph_new(N, 2);
    assert_non_null(g);
    assert_int_equal(sk_global_graph_add(g, 0, (int[]){1, 3}, 2), SK_OK);
    assert_int_equal(sk_global_graph_freeze(g), SK_OK);
    return g;
}

static bool found(spoil *base, spoil *more, char *why, size_t size)
{
    sk_global_graph *g = two_edges();
    sk_pattern *p[N];
    for (int r = 0; r < N; r++)
        p[r] = sk_pattern_new(N, r);
    base(p);
    if (more)
        more(p);
    for (int r = 0; r < N; r++)
        assert_int_equal(sk_pattern_freeze(p[r]), SK_OK);
    bool fault = sk_patterns_fault(g, p, N, why, size);
    sk_patterns_free(p, N);
    sk_global_graph_free(g);
    return fault;
}

static void right(sk_pattern **p)
{
    hop(p, 0, 0, 1, 0, 1);
    hop(p, 0, 0, 1, 0, 3);
    hop(p, 1, 1, 2, 0, 3);
    hop(p, 2, 2, 3, 0, 3);
}

static void stages_swapped(sk_pattern **p)
{
    hop(p, 0, 0, 1, 0, 1);
    hop(p, 0, 0, 1, 0, 3);
    hop(p, 2, 1, 2, 0, 3);
    hop(p, 1, 2, 3, 0, 3);
}

static void same_stage(sk_pattern **p)
{
    hop(p, 0, 0, 1, 0, 1);
    hop(p, 0, 0, 1, 0, 3);
    hop(p, 1, 1, 2, 0, 3);
    hop(p, 1, 2, 3, 0, 3);
}

static void undelivered(sk_pattern **p)
{
    hop(p, 0, 0, 1, 0, 1);
}

static void stranded(sk_pattern **p)
{
    hop(p, 0, 0, 1, 0, 1);
    hop(p, 0, 0, 1, 0, 3);
}

static void other_stage_there(sk_pattern **p)
{
    sk_pattern_send(p[0], 0, 3, 0, 3);
    sk_pattern_recv(p[3], 1, 0, 0, 3);
    hop(p, 0, 0, 1, 0, 1);
}

static void nobody_sends(sk_pattern **p)
{
    sk_pattern_recv(p[3], 0, 0, 0, 3);
    hop(p, 0, 0, 1, 0, 1);
}

static void nobody_listens(sk_pattern **p)
{
    sk_pattern_send(p[0], 0, 3, 0, 3);
    hop(p, 0, 0, 1, 0, 1);
}

static void other_blocks_there(sk_pattern **p)
{
    sk_pattern_send(p[0], 0, 1, 0, 3);
    sk_pattern_recv(p[1], 0, 0, 0, 1);
}

static void twice_to_the_same(sk_pattern **p)
{
    hop(p, 3, 0, 3, 0, 3);
}

static void twice_by_the_same(sk_pattern **p)
{
    hop(p, 1, 0, 2, 0, 3);
}

static void no_such_edge(sk_pattern **p)
{
    hop(p, 0, 2, 0, 2, 0);
}

static void passed_on_after_the_end(sk_pattern **p)
{
    hop(p, 2, 1, 2, 0, 1);
}

static void back_to_the_source(sk_pattern **p)
{
    hop(p, 0, 0, 1, 0, 1);
    hop(p, 0, 0, 1, 0, 3);
    hop(p, 1, 1, 0, 0, 3);
}

static void right_patterns_pass(void **state)
{
    (void)state;
    char why[200] = "";
    if (found(right, NULL, why, sizeof why))
        fail_msg("%s", why);
}

static void every_fault_is_found(void **state)
{
    (void)state;
    static const struct {
        spoil *base, *more;
        const char *word;
    } cases[] = {
        {stages_swapped, NULL, "did not get it before"},
        {same_stage, NULL, "did not get it before"},
        {undelivered, NULL, "1 of 2 edges"},
        {stranded, NULL, "does not send on"},
        {other_stage_there, NULL, "not known there"},
        {nobody_sends, NULL, "not known there"},
        {nobody_listens, NULL, "not known there"},
        {other_blocks_there, NULL, "other blocks there"},
        {right, twice_to_the_same, "twice"},
        {right, twice_by_the_same, "twice"},
        {right, no_such_edge, "no such edge"},
        {right, passed_on_after_the_end, "which is for itself"},
        {back_to_the_source, NULL, "gets its own"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char why[200] = "";
        if (!found(cases[i].base, cases[i].more, why, sizeof why))
            fail_msg("case %zu is not found", i);
        if (!strstr(why, cases[i].word))
            fail_msg("case %zu is called: %s", i, why);
    }
}

static void patterns_of_other_ranks_are_found(void **state)
{
    (void)state;
    sk_global_graph *g = two_edges();
    sk_pattern *p[N];
    char why[200] = "";
    for (int r = 0; r < N; r++) {
        p[r] = sk_pattern_new(N, r ^ 1);
        assert_int_equal(sk_pattern_freeze(p[r]), SK_OK);
    }
    assert_true(sk_patterns_fault(g, p, N, why, sizeof why));
    assert_non_null(strstr(why, "is of rank 1"));
    sk_patterns_free(p, N);
    sk_global_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_patterns_pass),
        cmocka_unit_test(every_fault_is_found),
        cmocka_unit_test(patterns_of_other_ranks_are_found),
    };
    return RUN(tests);
}
