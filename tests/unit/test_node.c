/* test_node.c: the per-node pattern: one message per pair of nodes, spread over their ranks. */
#include <stdlib.h>

#include "lab/neighbor/check.h"
#include "neighbor/cost/model.h"
#include "unit.h"

static const sk_pattern_opts opts = {.theta = 4, .friends = 2};

static void assert_method(const char *graph, const char *machine, int n, const sk_pattern_opts *o)
{
    char why[200] = "";
    if (sk_method_fault(SK_METHOD_NODE, graph, machine, n, o, 3, why, sizeof why))
        fail_msg("%s on %s, %d ranks: %s", graph, machine, n, why);
}

static const char *const graphs[] = {"none",      "all",         "ring",       "to-one",
                                     "some",      "random:0.05", "random:0.5", "moore:2,1",
                                     "moore:1,2", "from-one"};
enum { NGRAPHS = sizeof graphs / sizeof *graphs };

static void both_forms_make_the_same_right_patterns(void **state)
{
    (void)state;
    static const char *const machines[] = {
        "node:* core:4",          "node:* core:4 map:rr",
        "node:* core:1",          "node:1 core:61",
        "node:* socket:2 core:3", "node:* core:7 map:shuffle",
        "node:3 core:21 map:rr",  "node:2 socket:2 core:16 map:rr-socket"};
    static const int sizes[] = {1, 2, 3, 7, 16, 29, 61};
    for (size_t i = 0; i < NGRAPHS; i++)
        for (size_t j = 0; j < sizeof machines / sizeof *machines; j++)
            for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
                assert_method(graphs[i], machines[j], sizes[k], &opts);
}

/* Every third rank of "some" has no neighbours. */
static void idle_ranks_carry_nothing(void **state)
{
    (void)state;
    enum { N = 60 };
    bool idle[N];
    for (int r = 0; r < N; r++)
        idle[r] = r % 3 == 2;
    sk_pattern_opts o = opts;
    o.idle = idle;
    static const char *const machines[] = {"node:* core:4", "node:* core:9 map:rr",
                                           "node:* core:3 map:rr", "node:* core:1"};
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        assert_method("some", machines[i], N, &o);
        sk_global_graph *g = sk_check_graph("some", N);
        sk_machine *m = sk_check_machine(machines[i], N);
        sk_pattern *p[N];
        assert_int_equal(sk_patterns_by_plan(SK_METHOD_NODE, g, m, &o, p), SK_OK);
        for (int r = 2; r < N; r += 3)
            assert_int_equal(sk_pattern_view_get(p[r])->nbundles, 0);
        sk_patterns_free(p, N);
        sk_global_graph_free(g);
        sk_machine_free(m);
    }
}

/* Bundles of a rank over the network. */
static int over_network(const sk_pattern *p, const sk_machine *m, bool out)
{
    const sk_pattern_view *v = sk_pattern_view_get(p);
    int n = 0;
    for (size_t i = 0; i < v->nbundles; i++)
        n += v->bundles[i].out == out && m->node[v->rank] != m->node[v->bundles[i].peer];
    return n;
}

static void assert_spread(const char *machine, int n)
{
    sk_global_graph *g = sk_check_graph("all", n);
    sk_machine *m = sk_check_machine(machine, n);
    sk_pattern **p = calloc((size_t)n, sizeof(*p));
    assert_int_equal(sk_patterns_by_plan(SK_METHOD_NODE, g, m, &opts, p), SK_OK);
    int sent = 0, pairs = m->nnodes * (m->nnodes - 1);
    for (int r = 0; r < n; r++) {
        int local_ranks = m->node_first[m->node[r] + 1] - m->node_first[m->node[r]];
        int others = m->nnodes - 1, out = over_network(p[r], m, true);
        int both = out + over_network(p[r], m, false);
        assert_between(out, others / local_ranks, (others + local_ranks - 1) / local_ranks);
        assert_between(both, 2 * others / local_ranks,
                       (2 * others + local_ranks - 1) / local_ranks);
        assert_between(sk_pattern_view_get(p[r])->nstages, 1, 3);
        sent += out;
    }
    assert_int_equal(sent, pairs);
    sk_patterns_free(p, n);
    free(p);
    sk_global_graph_free(g);
    sk_machine_free(m);
}

static void the_complete_graph_takes_one_message_per_pair_evenly_spread(void **state)
{
    (void)state;
    assert_spread("node:2 core:8", 16);
    assert_spread("node:5 core:16", 80);
    assert_spread("node:17 core:4", 68);
    assert_spread("node:20 core:3 map:rr", 58); /* uneven: two nodes have two ranks */
    assert_spread("node:7 core:11 map:shuffle", 70);
    assert_spread("node:9 core:1", 9);
}

static void two_thousand_ranks_are_served_with_four_messages_over_the_network_each(void **state)
{
    (void)state;
    enum { N = 2160 };
    sk_global_graph *g = sk_check_graph("random:0.05", N);
    sk_machine *m = sk_check_machine("node:60 socket:2 core:18", N);
    sk_pattern **p = calloc(N, sizeof(*p));
    char why[200] = "";
    assert_int_equal(sk_patterns_by_plan(SK_METHOD_NODE, g, m, &opts, p), SK_OK);
    if (sk_patterns_fault(g, p, N, why, sizeof why))
        fail_msg("%s", why);
    for (int r = 0; r < N; r++)
        assert_between(over_network(p[r], m, true) + over_network(p[r], m, false), 3, 4);
    sk_patterns_free(p, N);
    free(p);
    sk_global_graph_free(g);
    sk_machine_free(m);
}

static void on_one_node_everything_is_direct(void **state)
{
    (void)state;
    enum { N = 24 };
    for (size_t i = 0; i < NGRAPHS; i++) {
        sk_global_graph *g = sk_check_graph(graphs[i], N);
        sk_machine *m = sk_check_machine("node:1 socket:2 core:12", N);
        sk_pattern *p[N], *q[N];
        assert_int_equal(sk_patterns_by_plan(SK_METHOD_NODE, g, m, &opts, p), SK_OK);
        assert_int_equal(sk_patterns_by_plan(SK_METHOD_DIRECT, g, m, &opts, q), SK_OK);
        for (int r = 0; r < N; r++)
            assert_true(sk_pattern_equal(p[r], q[r]));
        sk_patterns_free(p, N);
        sk_patterns_free(q, N);
        sk_global_graph_free(g);
        sk_machine_free(m);
    }
}

/* In a ring each pair of nodes has one block. */
static void a_lone_parcel_between_nodes_goes_straight(void **state)
{
    (void)state;
    enum { N = 24 };
    sk_global_graph *g = sk_check_graph("ring", N);
    sk_machine *m = sk_check_machine("node:* core:5", N);
    sk_pattern *p[N];
    assert_int_equal(sk_patterns_by_plan(SK_METHOD_NODE, g, m, &opts, p), SK_OK);
    for (int r = 0; r < N; r++) {
        const sk_pattern_view *v = sk_pattern_view_get(p[r]);
        assert_int_equal(v->nbundles, 2);
        for (size_t i = 0; i < 2; i++)
            assert_int_equal(v->bundles[i].stage, m->node[r] != m->node[v->bundles[i].peer]);
    }
    sk_patterns_free(p, N);
    sk_global_graph_free(g);
    sk_machine_free(m);
}

static void parties_talk_to_node_local_ranks_only(void **state)
{
    (void)state;
    enum { N = 40, LOCAL_RANKS = 8 };
    sk_global_graph *g = sk_check_graph("random:0.3", N);
    sk_machine *m = sk_check_machine("node:* core:8", N);
    sk_pattern *p[N];
    sk_channel_count count = {0, 0};
    assert_int_equal(sk_patterns_by_negotiation(SK_METHOD_NODE, g, m, &opts, 1, p, &count), SK_OK);
    assert_int_equal(count.messages, 2 * N * (LOCAL_RANKS - 1));
    sk_patterns_free(p, N);
    sk_global_graph_free(g);
    sk_machine_free(m);
}

/* An entry has the blocks of two nodes of 4: 8 places instead of 32. By halving, sources of any nodes meet. */
static void sources_have_few_places_in_a_slot(void **state)
{
    (void)state;
    enum { N = 32 };
    sk_global_graph *g = sk_check_graph("all", N);
    sk_machine *m = sk_check_machine("node:8 core:4", N);
    sk_pattern *p[N];
    for (int i = 0; i < 2; i++) {
        sk_method_id id = i ? SK_METHOD_HALVING : SK_METHOD_NODE;
        sk_load most = {0};
        assert_int_equal(sk_patterns_by_plan(id, g, m, &opts, p), SK_OK);
        for (int r = 0; r < N; r++) {
            sk_load load = sk_load_of(p[r], m);
            sk_load_join(&most, &load);
        }
        assert_int_equal(most.slot_places, i ? N : 8);
        sk_patterns_free(p, N);
    }
    sk_global_graph_free(g);
    sk_machine_free(m);
}

static sk_status swallow(sk_channel *t, int to, const int32_t *words, size_t n)
{
    (void)t, (void)to, (void)words, (void)n;
    return SK_OK;
}

static void malformed_messages_are_refused(void **state)
{
    (void)state;
    static const struct {
        int from;
        size_t n;
        int32_t words[8];
    } bad[] = {
        {1, 1, {0}},               /* nothing said */
        {1, 2, {0, 0}},            /* half of it */
        {1, 4, {0, 0, 0, 0}},      /* more than all */
        {1, 4, {0, 1, 1, 0}},      /* its own neighbour */
        {1, 4, {0, 0, 1, 1}},      /* so as a source */
        {1, 4, {0, -1, 0, 0}},     /* fewer than none */
        {1, 4, {0, 9, 0, 0}},      /* more than there are */
        {1, 5, {0, 2, 7, 0, 0}},   /* bits: three where there should be two */
        {1, 4, {0, 1, 1 << 8, 0}}, /* beyond the last rank */
        {5, 3, {0, 0, 0}},         /* from another node */
        {0, 3, {0, 0, 0}},         /* from myself */
        {1, 3, {-1, 0, 0}},        /* before the beginning */
    };
    sk_channel t = {swallow};
    sk_machine *m = sk_check_machine("node:2 core:4", 8);
    sk_graph *g = NULL;
    assert_int_equal(sk_graph_new(8, 0, 0, NULL, 0, NULL, false, &g), SK_OK);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        sk_negotiator *p = sk_method_get(SK_METHOD_NODE)->negotiator(g, m, &opts);
        int32_t *exact = malloc(bad[i].n * sizeof *exact);
        for (size_t k = 0; k < bad[i].n; k++)
            exact[k] = bad[i].words[k];
        assert_int_equal(sk_negotiator_start(p, &t), SK_OK);
        if (sk_negotiator_receive(p, &t, bad[i].from, exact, bad[i].n) != SK_WIRE)
            fail_msg("case %zu was taken", i);
        free(exact);
        sk_negotiator_free(p);
    }
    sk_negotiator *p = sk_method_get(SK_METHOD_NODE)->negotiator(g, m, &opts);
    int32_t fine[] = {0, 0, 0};
    assert_int_equal(sk_negotiator_start(p, &t), SK_OK);
    assert_int_equal(sk_negotiator_receive(p, &t, 1, fine, 3), SK_OK);
    assert_int_equal(sk_negotiator_receive(p, &t, 1, fine, 3), SK_WIRE); /* twice */
    sk_negotiator_free(p);
    sk_graph_free(g);
    sk_machine_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_forms_make_the_same_right_patterns),
        cmocka_unit_test(idle_ranks_carry_nothing),
        cmocka_unit_test(the_complete_graph_takes_one_message_per_pair_evenly_spread),
        cmocka_unit_test(two_thousand_ranks_are_served_with_four_messages_over_the_network_each),
        cmocka_unit_test(on_one_node_everything_is_direct),
        cmocka_unit_test(a_lone_parcel_between_nodes_goes_straight),
        cmocka_unit_test(parties_talk_to_node_local_ranks_only),
        cmocka_unit_test(sources_have_few_places_in_a_slot),
        cmocka_unit_test(malformed_messages_are_refused),
    };
    return RUN(tests);
}
