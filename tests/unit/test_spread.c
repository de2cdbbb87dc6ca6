/* test_spread.c: a block crosses the network once for each node, to a target that hands it on. */
#include <stdlib.h>

#include "lab/neighbor/check.h"
#include "neighbor/cost/model.h"
#include "unit.h"

static const sk_pattern_opts opts = {.theta = 4, .friends = 2};

static void both_forms_make_the_same_right_patterns(void **state)
{
    (void)state;
    static const char *const graphs[] = {"none",      "all",         "ring",       "to-one",
                                         "some",      "random:0.05", "random:0.5", "moore:2,1",
                                         "moore:1,2", "from-one"};
    static const char *const machines[] = {"node:* core:4",          "node:* core:4 map:rr",
                                           "node:* core:1",          "node:1 core:61",
                                           "node:* socket:2 core:3", "node:* core:7 map:shuffle",
                                           "node:3 core:21 map:rr"};
    static const int sizes[] = {1, 2, 3, 7, 16, 29, 61};
    for (size_t i = 0; i < sizeof graphs / sizeof *graphs; i++)
        for (size_t j = 0; j < sizeof machines / sizeof *machines; j++)
            for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
                char why[200] = "";
                if (sk_method_fault(SK_METHOD_SPREAD, graphs[i], machines[j], sizes[k], &opts, 3,
                                    why, sizeof why))
                    fail_msg("%s on %s, %d ranks: %s", graphs[i], machines[j], sizes[k], why);
            }
}

/* All to all on 8 nodes of 4: a rank sends its block to the 7 other nodes, in 4 parts, and hands on what it
 * receives from them, each to 3 others. */
static void a_block_crosses_the_network_once_per_node(void **state)
{
    (void)state;
    enum { N = 32 };
    sk_global_graph *g = sk_check_graph("all", N);
    sk_machine *m = sk_check_machine("node:8 core:4", N);
    sk_pattern *p[N];
    assert_int_equal(sk_patterns_by_plan(SK_METHOD_SPREAD, g, m, &opts, p), SK_OK);
    for (int r = 0; r < N; r++) {
        sk_load load = sk_load_of(p[r], m);
        assert_int_equal(load.stages, 5);
        assert_int_equal(load.messages[SK_NET], 2 * 7);
        assert_int_equal(load.allgather_blocks[SK_NET], 2 * 7);
        assert_int_equal(load.allgather_blocks[SK_SOCKET], 2 * (3 + 3 * 7));
    }
    sk_patterns_free(p, N);
    sk_global_graph_free(g);
    sk_machine_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_forms_make_the_same_right_patterns),
        cmocka_unit_test(a_block_crosses_the_network_once_per_node),
    };
    return RUN(tests);
}
