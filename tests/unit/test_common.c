/* test_common.c: the common-neighbour pattern: Algorithms 1 and 2, groups, cumulative combining. */
#include <stdlib.h>

#include "lab/neighbor/check.h"
#include "neighbor/method/common/common.h"
#include "unit.h"

static const char *const on = "node:* core:8";

static sk_pattern_opts with(int theta, int friends, bool cumulative)
{
    return (sk_pattern_opts){.theta = theta, .friends = friends, .cumulative = cumulative};
}

static void check(const char *graph, int n, sk_pattern_opts o, unsigned seeds)
{
    char why[200] = "";
    if (sk_method_fault(SK_METHOD_COMMON, graph, on, n, &o, seeds, why, sizeof why))
        fail_msg("%s, %d ranks, theta %d, %d friends, cumulative %d: %s", graph, n, o.theta,
                 o.friends, o.cumulative, why);
}

static void both_forms_make_the_same_right_patterns(void **state)
{
    (void)state;
    static const char *const graphs[] = {"none",       "all",          "ring",        "to-one",
                                         "from-one",   "some",         "random:0.05", "random:0.3",
                                         "random:0.6", "random:0.9,7", "random:1",    "moore:1,2",
                                         "moore:2,1"};
    static const int sizes[] = {1, 2, 3, 5, 8, 16, 33, 64};
    for (size_t i = 0; i < sizeof graphs / sizeof *graphs; i++)
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            check(graphs[i], sizes[k], with(4, 2, false), 4);
            check(graphs[i], sizes[k], with(2, 2, true), 2);
        }
}

static void so_they_do_with_groups_of_any_size(void **state)
{
    (void)state;
    static const char *const graphs[] = {"all", "some", "random:0.5", "random:0.9", "moore:2,2"};
    static const int sizes[] = {2, 5, 16, 33, 64}, friends[] = {3, 4, 5, 8, 64, 1000};
    for (size_t i = 0; i < sizeof graphs / sizeof *graphs; i++)
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
            for (size_t j = 0; j < sizeof friends / sizeof *friends; j++)
                for (int theta = 1; theta <= 4; theta += 3)
                    check(graphs[i], sizes[k], with(theta, friends[j], j % 2 == k % 2), 2);
}

/* Here a plan gives each matrix its own bits, as a negotiator does; in dense graphs they are shared. */
static void so_they_do_on_larger_sparse_graphs(void **state)
{
    (void)state;
    check("moore:2,1", 256, with(4, 2, false), 2);
    check("moore:2,2", 225, with(3, 4, true), 2);
    check("random:0.04", 300, with(2, 2, true), 2);
    check("random:0.2", 150, with(4, 2, false), 2);
}

/* ---- by hand ---- */

static sk_global_graph *graph_of(int n, const int (*edge)[2], int edges)
{
    sk_global_graph *g = sk_global_graph_new(n, edges);
    assert_non_null(g);
    for (int r = 0; r < n; r++) {
        int target[16], k = 0;
        for (int i = 0; i < edges; i++)
            if (edge[i][0] == r)
                target[k++] = edge[i][1];
        assert_int_equal(sk_global_graph_add(g, r, target, k), SK_OK);
    }
    assert_int_equal(sk_global_graph_freeze(g), SK_OK);
    return g;
}

static void assert_same(const sk_pattern *got, sk_pattern *want)
{
    assert_int_equal(sk_pattern_freeze(want), SK_OK);
    assert_true(sk_pattern_equal(got, want));
    sk_pattern_free(want);
}

static void two_friends_halve_their_neighbours_by_rank(void **state)
{
    (void)state;
    static const int edges[][2] = {{0, 1}, {0, 2}, {0, 3}, {0, 4}, {0, 5}, {0, 6},
                                   {1, 2}, {1, 3}, {1, 4}, {1, 5}, {1, 7}};
    enum { N = 8 };
    sk_global_graph *g = graph_of(N, edges, sizeof edges / sizeof *edges);
    sk_machine *m = sk_check_machine(on, N);
    sk_pattern_opts o = with(4, 2, false);
    sk_pattern *p[N];
    assert_int_equal(sk_patterns_by_plan(SK_METHOD_COMMON, g, m, &o, p), SK_OK);

    sk_pattern *low = sk_pattern_new(N, 0);
    sk_pattern_send(low, 0, 1, 0, 1); /* combined */
    sk_pattern_send(low, 0, 1, 0, 4);
    sk_pattern_send(low, 0, 1, 0, 5);
    sk_pattern_recv(low, 0, 1, 1, 2);
    sk_pattern_recv(low, 0, 1, 1, 3);
    sk_pattern_send(low, 0, 6, 0, 6); /* not in common */
    for (int src = 0; src < 2; src++) {
        sk_pattern_send(low, 1, 2, src, 2);
        sk_pattern_send(low, 1, 3, src, 3);
    }
    assert_same(p[0], low);

    sk_pattern *target = sk_pattern_new(N, 5);
    sk_pattern_recv(target, 1, 1, 0, 5);
    sk_pattern_recv(target, 1, 1, 1, 5);
    assert_same(p[5], target);
    sk_patterns_free(p, N);
    sk_global_graph_free(g);
    sk_machine_free(m);
}

/* Rank 5 with targets 10 to 15; rank 3 has all of them, rank 1 five, rank 7 four. */
static void choices_follow_algorithm_2(void **state)
{
    (void)state;
    static const int holders[6][4] = {{1, 3, 5, 7}, {1, 3, 5, 7}, {1, 3, 5, 7},
                                      {1, 3, 5, 7}, {1, 3, 5},    {3, 5}};
    static const int many[] = {4, 4, 4, 4, 3, 2};
    int target[] = {10, 11, 12, 13, 14, 15}, count[16] = {0};
    enum { ONE, THREE, SEVEN }; /* columns */
    sk_arena *a = sk_arena_new();
    sk_holder_list holds[16] = {0};
    for (int i = 0; i < 6; i++)
        assert_int_equal(sk_holder_list_init(&holds[target[i]], a, holders[i], many[i]), SK_OK);
    sk_common_matrix *m = sk_common_matrix_new(a, 5, target, 6, holds);
    sk_friend_search s;
    assert_non_null(m);
    assert_int_equal(sk_common_matrix_fill_own(m, a, 4, count), SK_OK);
    assert_int_equal(m->ncolumns, 3);
    assert_true(sk_common_matrix_count(m, 4));
    assert_int_equal(sk_friend_search_init(&s, a, m), SK_OK);

    sk_friend_search_begin(&s);
    sk_friend_search_choose(&s);
    assert_int_equal(s.choice, THREE); /* most in common */
    sk_friend_search_chosen_by(&s, ONE);
    sk_friend_search_chosen_by(&s, SEVEN);
    assert_false(s.paired);
    sk_friend_search_choose(&s);
    assert_int_equal(s.choice, ONE); /* a lower rank that chose this one will do so again */
    sk_friend_search_remove(&s, ONE);
    sk_friend_search_choose(&s);
    assert_int_equal(s.choice, THREE); /* was not given up */
    sk_friend_search_choose(&s);
    assert_int_equal(s.choice, SEVEN); /* but now, as it is lower and did not choose this one */
    sk_friend_search_choose(&s);
    assert_int_equal(s.choice, SEVEN); /* a higher rank is tried again as long as it looks */
    sk_friend_search_chosen_by(&s, THREE);
    sk_friend_search_remove(&s, SEVEN);
    sk_friend_search_choose(&s);
    assert_true(s.terminal); /* nobody is left: rank 3 was given up */

    sk_friend_search_begin(&s);
    sk_friend_search_choose(&s);
    sk_friend_search_chosen_by(&s, THREE);
    assert_true(s.paired);
    sk_arena_free(a);
}

/* ---- counts ---- */

typedef struct totals {
    int64_t total, most;            /* messages sent: in all, by the busiest rank */
    int64_t most_both;              /* sent and received by the busiest rank */
    int64_t edges, degree, degrees; /* the same if all are sent directly */
    int stages;
} totals;

static totals totals_of(const char *graph, int n, sk_pattern_opts o)
{
    sk_global_graph *g = sk_check_graph(graph, n);
    sk_machine *m = sk_check_machine(on, n);
    sk_pattern **p = calloc((size_t)n, sizeof(*p));
    assert_true(g && m && p);
    assert_int_equal(sk_patterns_by_plan(SK_METHOD_COMMON, g, m, &o, p), SK_OK);
    char why[200] = "";
    if (sk_patterns_fault(g, p, n, why, sizeof why))
        fail_msg("%s, %d ranks: %s", graph, n, why);
    totals t = {.edges = sk_global_graph_edges(g)};
    for (int r = 0; r < n; r++) {
        const sk_pattern_view *v = sk_pattern_view_get(p[r]);
        int64_t out = sk_global_graph_degree(g, r, false),
                both = out + sk_global_graph_degree(g, r, true);
        int64_t sent = 0, all = (int64_t)v->nbundles;
        for (size_t i = 0; i < v->nbundles; i++)
            sent += v->bundles[i].out;
        t.total += sent;
        t.most = sent > t.most ? sent : t.most;
        t.most_both = all > t.most_both ? all : t.most_both;
        t.degree = out > t.degree ? out : t.degree;
        t.degrees = both > t.degrees ? both : t.degrees;
        t.stages = v->nstages > t.stages ? v->nstages : t.stages;
    }
    sk_patterns_free(p, n);
    free(p);
    sk_global_graph_free(g);
    sk_machine_free(m);
    return t;
}

static void moore_neighbourhoods_take_fewer_messages(void **state)
{
    (void)state;
    static const struct {
        const char *graph;
        int n;
    } cases[] = {{"moore:2,2", 576},  {"moore:2,2", 2160}, {"moore:2,3", 576}, {"moore:2,3", 2160},
                 {"moore:3,1", 512},  {"moore:3,1", 2160}, {"moore:3,2", 512}, {"moore:3,2", 1728},
                 {"moore:4,1", 1296}, {"moore:4,1", 2160}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        totals t = totals_of(cases[i].graph, cases[i].n, with(4, 2, false));
        assert_int_equal(t.stages, 2);
        assert_true(t.total < t.edges);
        assert_true(t.most < t.degree);
        assert_true(t.most_both < t.degrees);
    }
}

static void larger_groups_and_more_levels_take_fewer_messages(void **state)
{
    (void)state;
    static const char *const graphs[] = {"all", "random:0.7", "random:0.9"};
    for (size_t i = 0; i < sizeof graphs / sizeof *graphs; i++) {
        totals two = totals_of(graphs[i], 200, with(4, 2, false));
        totals three = totals_of(graphs[i], 200, with(4, 3, false));
        totals four = totals_of(graphs[i], 200, with(4, 4, false));
        totals more = totals_of(graphs[i], 200, with(4, 2, true));
        assert_true(two.total < two.edges);
        assert_true(three.total < two.total);
        assert_true(four.total < three.total);
        assert_true(more.total < two.total);
        assert_int_equal(four.stages, 2);
        assert_between(more.stages, 3, 5);
    }
}

static void without_friends_it_is_the_direct_pattern(void **state)
{
    (void)state;
    totals t = totals_of("random:0.5", 40, with(40, 4, true));
    assert_int_equal(t.total, t.edges);
    assert_int_equal(t.stages, 1);
}

/* What p and q hand over to each other for others: at least theta blocks for a pairing. */
static void friends_share_at_least_theta_neighbours(void **state)
{
    (void)state;
    enum { N = 60, THETA = 7 };
    static int passed[N][N];
    sk_global_graph *g = sk_check_graph("random:0.5", N);
    sk_machine *m = sk_check_machine(on, N);
    sk_pattern_opts o = with(THETA, 2, false);
    sk_pattern *p[N];
    assert_int_equal(sk_patterns_by_plan(SK_METHOD_COMMON, g, m, &o, p), SK_OK);
    for (int r = 0; r < N; r++) {
        const sk_pattern_view *v = sk_pattern_view_get(p[r]);
        for (size_t i = 0; i < v->nbundles; i++)
            for (uint32_t k = 0; k < v->bundles[i].n && v->bundles[i].out; k++)
                passed[r][v->bundles[i].peer] +=
                    v->bundles[i].stage == 0 &&
                    v->blocks[v->bundles[i].first + k].dst != v->bundles[i].peer;
    }
    int pairs = 0;
    for (int a = 0; a < N; a++)
        for (int b = 0; b < a; b++) {
            int both = passed[a][b] + passed[b][a], gap = passed[a][b] - passed[b][a];
            pairs += both > 0;
            assert_true(both == 0 || both >= THETA);
            assert_between(gap + N, N - both / THETA, N + both / THETA);
        }
    assert_between(pairs, N / 2, N * N);
    sk_patterns_free(p, N);
    sk_global_graph_free(g);
    sk_machine_free(m);
}

static void ranks_without_neighbours_carry_nothing(void **state)
{
    (void)state;
    enum { N = 63 };
    bool idle[N];
    for (int r = 0; r < N; r++)
        idle[r] = r % 3 == 2;
    sk_global_graph *g = sk_check_graph("some", N);
    sk_machine *m = sk_check_machine(on, N);
    sk_pattern_opts o = with(2, 4, true);
    o.idle = idle;
    sk_pattern *p[N];
    assert_int_equal(sk_patterns_by_plan(SK_METHOD_COMMON, g, m, &o, p), SK_OK);
    for (int r = 0; r < N; r++)
        assert_int_equal(sk_pattern_view_get(p[r])->nbundles == 0, idle[r]);
    sk_patterns_free(p, N);
    sk_global_graph_free(g);
    sk_machine_free(m);
}

static void what_is_said_does_not_depend_on_the_order_of_messages(void **state)
{
    (void)state;
    enum { N = 48 };
    sk_global_graph *g = sk_check_graph("random:0.5", N);
    sk_machine *m = sk_check_machine(on, N);
    sk_pattern_opts o = with(4, 4, true);
    sk_channel_count first = {0, 0};
    for (unsigned seed = 0; seed < 5; seed++) {
        sk_pattern *p[N];
        sk_channel_count count = {0, 0};
        assert_int_equal(sk_patterns_by_negotiation(SK_METHOD_COMMON, g, m, &o, seed, p, &count),
                         SK_OK);
        first = seed ? first : count;
        assert_true(count.messages > N);
        assert_int_equal(count.messages, first.messages);
        assert_int_equal(count.words, first.words);
        sk_patterns_free(p, N);
    }
    sk_global_graph_free(g);
    sk_machine_free(m);
}

/* ---- messages that cannot be ---- */

static sk_status send_nowhere(sk_channel *t, int to, const int32_t *words, size_t n)
{
    (void)t, (void)to, (void)words, (void)n;
    return SK_OK;
}

static void a_strange_message_is_an_error(void **state)
{
    (void)state;
    static const int in[] = {1, 2}, out[] = {1, 3};
    static const int32_t good[] = {0, ~0, ~2}, without_me[] = {0, ~2, ~4};
    static const int32_t no_rank[] = {0, ~0, ~9}, too_long[] = {0, 0, 5, 0, 2};
    static const struct {
        int from;
        const int32_t *words;
        size_t n;
        sk_status want;
    } cases[] = {{1, good, 3, SK_OK},
                 {2, good, 3, SK_WIRE}, /* no target */
                 {1, without_me, 3, SK_WIRE},
                 {1, no_rank, 3, SK_WIRE},
                 {1, too_long, 5, SK_WIRE}};
    sk_machine *m = sk_check_machine(on, 8);
    sk_pattern_opts o = with(4, 2, false);
    sk_channel channel = {send_nowhere};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_graph *g;
        assert_int_equal(sk_graph_new(8, 0, 2, in, 2, out, false, &g), SK_OK);
        sk_negotiator *p = sk_method_get(SK_METHOD_COMMON)->negotiator(g, m, &o);
        assert_non_null(p);
        assert_int_equal(sk_negotiator_start(p, &channel), SK_OK);
        assert_int_equal(
            sk_negotiator_receive(p, &channel, cases[i].from, cases[i].words, cases[i].n),
            cases[i].want);
        sk_negotiator_free(p);
        sk_graph_free(g);
    }
    sk_machine_free(m);
}

/* ---- counts kept as bit planes ---- */

static void planes_count_what_a_loop_counts(void **state)
{
    (void)state;
    enum { ROWS = 200, WORDS = 3, COLUMNS = 64 * WORDS };
    static uint64_t row[ROWS][WORDS], at[WORDS * 8], set[WORDS];
    uint64_t *rows[ROWS];
    unsigned seed = 1, want[COLUMNS] = {0};
    for (int n = 0; n <= ROWS; n++) {
        sk_bit_planes p = {.n = sk_bit_planes_for(n), .words = WORDS, .at = at};
        sk_bit_planes_sum(&p, rows, n);
        sk_bit_planes_at_least(&p, (unsigned)n / 2 + 1, set);
        for (int i = 0; i < COLUMNS; i++) {
            assert_int_equal(sk_bit_planes_get(&p, i), want[i]);
            assert_int_equal(sk_bits_has(set, i), want[i] >= (unsigned)n / 2 + 1);
        }
        for (int w = 0; w < WORDS; w++) {
            unsigned most, best = 0;
            uint64_t top = sk_bit_planes_top(&p, w, 0xff00ff00ff00ff00u, &most), same = 0;
            for (int i = 0; i < 64; i++)
                if (i / 8 % 2 && want[64 * w + i] > best)
                    best = want[64 * w + i];
            for (int i = 0; i < 64; i++)
                if (i / 8 % 2 && want[64 * w + i] == best)
                    same |= (uint64_t)1 << i;
            assert_int_equal(most, best);
            assert_true(top == same);
        }
        for (int i = 0; i < COLUMNS && n < ROWS; i++)
            if (rand_r(&seed) % 5 < 2) {
                sk_bits_add(row[n], i);
                want[i]++;
            }
        if (n < ROWS)
            rows[n] = row[n];
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_forms_make_the_same_right_patterns),
        cmocka_unit_test(so_they_do_with_groups_of_any_size),
        cmocka_unit_test(so_they_do_on_larger_sparse_graphs),
        cmocka_unit_test(two_friends_halve_their_neighbours_by_rank),
        cmocka_unit_test(choices_follow_algorithm_2),
        cmocka_unit_test(moore_neighbourhoods_take_fewer_messages),
        cmocka_unit_test(larger_groups_and_more_levels_take_fewer_messages),
        cmocka_unit_test(without_friends_it_is_the_direct_pattern),
        cmocka_unit_test(friends_share_at_least_theta_neighbours),
        cmocka_unit_test(ranks_without_neighbours_carry_nothing),
        cmocka_unit_test(what_is_said_does_not_depend_on_the_order_of_messages),
        cmocka_unit_test(a_strange_message_is_an_error),
        cmocka_unit_test(planes_count_what_a_loop_counts),
    };
    return RUN(tests);
}
