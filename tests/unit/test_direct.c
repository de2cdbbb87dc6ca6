/* test_direct.c: the direct pattern: one message per edge. */
#include <stdlib.h>

#include "lab/neighbor/check.h"
#include "unit.h"

static const sk_pattern_opts opts = {.theta = 4, .friends = 2};

static void both_forms_make_the_same_right_patterns(void **state)
{
    (void)state;
    static const char *const graphs[] = {"none",      "all",      "ring",        "to-one",
                                         "some",      "from-one", "random:0.05", "random:0.5",
                                         "moore:2,1", "moore:1,2"};
    static const int sizes[] = {1, 2, 3, 7, 16, 61};
    for (size_t i = 0; i < sizeof graphs / sizeof *graphs; i++)
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            char why[200] = "";
            if (sk_method_fault(SK_METHOD_DIRECT, graphs[i], "node:* core:4", sizes[k], &opts, 2,
                                why, sizeof why))
                fail_msg("%s, %d ranks: %s", graphs[i], sizes[k], why);
        }
}

static void there_is_one_message_per_neighbour_and_one_stage(void **state)
{
    (void)state;
    enum { N = 40 };
    sk_global_graph *g = sk_check_graph("random:0.3", N);
    sk_machine *m = sk_check_machine("node:* core:8", N);
    sk_pattern *p[N];
    assert_int_equal(sk_patterns_by_plan(SK_METHOD_DIRECT, g, m, &opts, p), SK_OK);
    for (int r = 0; r < N; r++) {
        const sk_pattern_view *v = sk_pattern_view_get(p[r]);
        int degree = sk_global_graph_degree(g, r, true) + sk_global_graph_degree(g, r, false);
        assert_int_equal(v->nbundles, degree);
        assert_int_equal(v->nblocks, degree);
        assert_int_equal(v->nstages, degree > 0);
    }
    sk_patterns_free(p, N);
    sk_global_graph_free(g);
    sk_machine_free(m);
}

static void parties_say_nothing(void **state)
{
    (void)state;
    enum { N = 30 };
    sk_global_graph *g = sk_check_graph("all", N);
    sk_machine *m = sk_check_machine("node:* core:8", N);
    sk_pattern *p[N];
    sk_channel_count count = {1, 1};
    assert_int_equal(sk_patterns_by_negotiation(SK_METHOD_DIRECT, g, m, &opts, 1, p, &count),
                     SK_OK);
    assert_int_equal(count.messages, 0);
    sk_patterns_free(p, N);
    sk_global_graph_free(g);
    sk_machine_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_forms_make_the_same_right_patterns),
        cmocka_unit_test(there_is_one_message_per_neighbour_and_one_stage),
        cmocka_unit_test(parties_say_nothing),
    };
    return RUN(tests);
}
