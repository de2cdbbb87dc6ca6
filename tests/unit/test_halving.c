/* test_halving.c: distance halving: its two forms, the bound on its messages, the paper's
 * equations.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/neighbor/check.h"
#include "lab/neighbor/equations.h"
#include "neighbor/cost/predict.h"
#include "unit.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const sk_pattern_opts opts = {.theta = 4, .friends = 2};

static void assert_method(const char *graph, const char *machine, int n, const sk_pattern_opts *o,
                          unsigned nseeds)
{
    char why[200] = "";
    if (sk_method_fault(SK_METHOD_HALVING, graph, machine, n, o, nseeds, why, sizeof why))
        fail_msg("%s on %s, %d ranks: %s", graph, machine, n, why);
}

static const char *const machines[] = {
    "node:1 core:100",                /* one socket */
    "node:* core:1",                  /* one rank on each */
    "node:* socket:2 core:2",         /* even when there are enough ranks */
    "node:* socket:3 core:4",         /* halves that are no powers of two */
    "node:2 socket:25 core:2",        /* mostly inside nodes */
    "node:7 socket:2 core:9 map:rr",  /* every place is another rank */
    "node:34 socket:3 core:2 map:rr", /* uneven sockets */
    "node:9 socket:3 core:4 map:shuffle:3",
    "node:40 core:3 map:shuffle",
};

static void both_forms_make_the_same_right_patterns(void **state)
{
    (void)state;
    static const char *const graphs[] = {"none",       "all",        "ring",        "to-one",
                                         "from-one",   "some",       "random:0.05", "random:0.2",
                                         "random:0.5", "random:0.9", "moore:1,2",   "moore:2,1"};
    static const int sizes[] = {1, 2, 3, 5, 8, 16, 33, 64, 100};
    for (size_t i = 0; i < COUNT(graphs); i++)
        for (size_t j = 0; j < COUNT(machines); j++)
            for (size_t k = 0; k < COUNT(sizes); k++)
                assert_method(graphs[i], machines[j], sizes[k], &opts, sizes[k] > 40 ? 2 : 5);
}

/* All patterns of a graph, made from the whole of it and checked. */
typedef struct scene {
    sk_global_graph *g;
    sk_machine *m;
    sk_pattern **p;
    int n;
} scene;

static scene scene_of(const char *graph, const char *machine, int n, const sk_pattern_opts *o)
{
    char why[200] = "";
    scene s = {sk_check_graph(graph, n), sk_check_machine(machine, n),
               calloc((size_t)n, sizeof(*s.p)), n};
    assert_int_equal(sk_patterns_by_plan(SK_METHOD_HALVING, s.g, s.m, o, s.p), SK_OK);
    if (sk_patterns_fault(s.g, s.p, n, why, sizeof why))
        fail_msg("%s on %s, %d ranks: %s", graph, machine, n, why);
    return s;
}

static void scene_free(scene *s)
{
    sk_patterns_free(s->p, s->n);
    free(s->p);
    sk_global_graph_free(s->g);
    sk_machine_free(s->m);
}

/* Messages that a rank sends to ranks at this level. */
static int sent(const scene *s, int rank, sk_level level)
{
    const sk_pattern_view *v = sk_pattern_view_get(s->p[rank]);
    int n = 0;
    for (size_t i = 0; i < v->nbundles; i++)
        n += v->bundles[i].out && sk_machine_level(s->m, rank, v->bundles[i].peer) == level;
    return n;
}

static int sent_off(const scene *s, int rank)
{
    return sent(s, rank, SK_NODE) + sent(s, rank, SK_NET);
}

static double mean(const scene *s, int (*count)(const scene *s, int rank))
{
    double sum = 0;
    for (int r = 0; r < s->n; r++)
        sum += count(s, r);
    return sum / s->n;
}

static int sent_in(const scene *s, int rank)
{
    return sent(s, rank, SK_SOCKET);
}

static int halvings(int n, int L)
{
    return (int)ceil(log2((double)n / L));
}

/* Every third rank of "some" has no neighbours. */
static void idle_ranks_carry_nothing(void **state)
{
    (void)state;
    enum { N = 60 };
    bool idle[N];
    sk_pattern_opts o = opts;
    o.idle = idle;
    for (int r = 0; r < N; r++)
        idle[r] = r % 3 == 2;
    for (size_t i = 0; i < COUNT(machines); i++) {
        assert_method("some", machines[i], N, &o, 3);
        scene s = scene_of("some", machines[i], N, &o);
        for (int r = 2; r < N; r += 3)
            assert_int_equal(sk_pattern_view_get(s.p[r])->nbundles, 0);
        scene_free(&s);
    }
    memset(idle, true, sizeof idle);
    assert_method("none", "node:* core:7", N, &o, 2);
}

static void assert_bound(const char *graph, const char *machine, int n, int L)
{
    scene s = scene_of(graph, machine, n, &opts);
    assert_int_equal(s.m->nsockets, n / L);
    for (int r = 0; r < n; r++) {
        if (sent_off(&s, r) > halvings(n, L))
            fail_msg("%s on %s: rank %d sends %d messages off its socket", graph, machine, r,
                     sent_off(&s, r));
        assert_between(sent_in(&s, r), 0, L - 1);
        assert_between(sk_pattern_view_get(s.p[r])->nstages, 0, halvings(n, L) + 1);
    }
    scene_free(&s);
}

/* The bound to be kept is ceil(log2(n / L)) + 1; it is not even reached. */
static void no_rank_sends_more_off_its_socket_than_there_are_halvings(void **state)
{
    (void)state;
    static const char *const graphs[] = {"all",         "to-one",     "from-one",   "some",
                                         "random:0.02", "random:0.3", "random:0.8", "moore:2,2"};
    static const struct {
        const char *machine;
        int n, L;
    } even[] = {
        {"node:4 socket:2 core:4", 32, 4}, {"node:5 socket:3 core:4", 60, 4},
        {"node:3 socket:3 core:7", 63, 7}, {"node:1 socket:8 core:3", 24, 3},
        {"node:13 core:5", 65, 5},         {"node:37 core:1", 37, 1},
        {"node:2 core:30", 60, 30},        {"node:11 socket:5 core:1 map:shuffle", 55, 1},
        {"node:1 core:40", 40, 40},        {"node:6 socket:2 core:6 map:rr", 72, 6},
    };
    for (size_t i = 0; i < COUNT(graphs); i++) {
        for (size_t k = 0; k < COUNT(even); k++)
            assert_bound(graphs[i], even[k].machine, even[k].n, even[k].L);
        assert_bound(graphs[i], "node:15 socket:2 core:18", 540, 18);
    }
    assert_bound("random:0.05", "node:60 socket:2 core:18", 2160, 18);
    assert_bound("random:0.3", "node:60 socket:2 core:18", 2160, 18);
    assert_bound("moore:2,2", "node:60 socket:2 core:18 map:rr", 2160, 18);
}

static const char machine_540[] = "node:15 socket:2 core:18";
enum { N540 = 540, L540 = 18 };

static void assert_within_a_tenth(double is, double should)
{
    if (fabs(is - should) > should / 10)
        fail_msg("%g is not within 10 %% of %g", is, should);
}

/* Equation 1 has one step more than the paper's own example, in which 2000 ranks, 20 on a socket,
 * take 7 = ceil(log2(100)) messages: so its sum with equation 2 is compared, and the halvings. */
static void messages_on_random_graphs_are_those_of_equations_1_and_2(void **state)
{
    (void)state;
    static const struct {
        const char *graph;
        double density;
    } random[] = {{"random:0.3", 0.3},   {"random:0.3,7", 0.3}, {"random:0.5", 0.5},
                  {"random:0.5,7", 0.5}, {"random:0.7", 0.7},   {"random:0.7,7", 0.7}};
    for (size_t i = 0; i < COUNT(random); i++) {
        scene s = scene_of(random[i].graph, machine_540, N540, &opts);
        double off = mean(&s, sent_off), in = mean(&s, sent_in);
        double equation_off = sk_equation_off(N540, L540, random[i].density);
        double equation_in = sk_equation_in(N540, L540, random[i].density);
        assert_within_a_tenth(in, equation_in);
        assert_within_a_tenth(off + in, equation_off + equation_in);
        assert_within_a_tenth(off, halvings(N540, L540));
        scene_free(&s);
    }
}

/* Equation 2 counts one source per step, but as many as 2^steps can meet in a rank. */
static void sparse_random_graphs_send_more_in_the_socket_than_equation_2_counts(void **state)
{
    (void)state;
    static const struct {
        const char *graph;
        double density;
    } random[] = {{"random:0.05", 0.05}, {"random:0.1", 0.1}};
    for (size_t i = 0; i < COUNT(random); i++) {
        scene s = scene_of(random[i].graph, machine_540, N540, &opts);
        double in = mean(&s, sent_in), equation = sk_equation_in(N540, L540, random[i].density);
        double meet = pow(2, halvings(N540, L540));
        double most = (L540 - 1) * (1 - pow(1 - random[i].density, meet));
        print_message("# density %g: %.2f in the socket, equation 2 %.2f, at most %.2f\n",
                      random[i].density, in, equation, most);
        assert_true(in > equation && in < most);
        assert_within_a_tenth(mean(&s, sent_off), halvings(N540, L540));
        scene_free(&s);
    }
}

static void far_links_are_crossed_in_the_first_steps_only(void **state)
{
    (void)state;
    enum { N = 48, BETWEEN_NODES = 3 };
    static const char *const maps[] = {"node:8 socket:2 core:3", "node:8 socket:2 core:3 map:rr",
                                       "node:8 socket:2 core:3 map:shuffle"};
    for (size_t i = 0; i < COUNT(maps); i++) {
        scene s = scene_of("all", maps[i], N, &opts);
        for (int r = 0; r < N; r++) {
            const sk_pattern_view *v = sk_pattern_view_get(s.p[r]);
            assert_int_equal(sent(&s, r, SK_NET), BETWEEN_NODES);
            assert_int_equal(sent(&s, r, SK_NODE), 1);
            for (size_t k = 0; k < v->nbundles; k++)
                assert_int_equal(v->bundles[k].stage < BETWEEN_NODES,
                                 sk_machine_level(s.m, r, v->bundles[k].peer) == SK_NET);
        }
        scene_free(&s);
    }
}

/* The most even cuts of three nodes with two or three sockets each go through a node. */
static void nodes_are_parted_before_they_are_cut(void **state)
{
    (void)state;
    static const char *const three[] = {"node:3 socket:2 core:6", "node:3 socket:3 core:4"};
    enum { N = 36 };
    for (size_t k = 0; k < COUNT(three); k++) {
        scene s = scene_of("all", three[k], N, &opts);
        for (int r = 0; r < N; r++) {
            const sk_pattern_view *v = sk_pattern_view_get(s.p[r]);
            bool inside = false; /* bundles are in the order of stages */
            for (size_t i = 0; i < v->nbundles; i++) {
                sk_level level = sk_machine_level(s.m, r, v->bundles[i].peer);
                assert_false(inside && level == SK_NET);
                inside |= level == SK_NODE;
            }
            assert_true(inside);
        }
        scene_free(&s);
    }
}

/* Five nodes could be parted in one and four as well. */
static void halves_are_as_even_as_can_be(void **state)
{
    (void)state;
    enum { N = 20, BELOW = 2 };
    scene s = scene_of("all", "node:5 core:4", N, &opts);
    for (int r = 0; r < N; r++) {
        const sk_bundle *h = sk_pattern_view_get(s.p[r])->bundles;
        for (; h->stage == 0; h++)
            assert_true((s.m->node[r] < BELOW) != (s.m->node[h->peer] < BELOW));
    }
    scene_free(&s);
}

static void agents_share_the_load(void **state)
{
    (void)state;
    enum { N = 64, STEPS = 4 };
    scene s = scene_of("random:0.9", "node:8 socket:2 core:4", N, &opts);
    for (int r = 0; r < N; r++) {
        const sk_pattern_view *v = sk_pattern_view_get(s.p[r]);
        int in[STEPS + 1] = {0};
        for (size_t i = 0; i < v->nbundles; i++)
            in[v->bundles[i].stage] += !v->bundles[i].out;
        for (int step = 0; step < STEPS; step++)
            assert_int_equal(in[step], 1);
    }
    scene_free(&s);
}

/* Lists, a signal each way for a pair, what is handed over or not, what local ranks get; the second pass
 * adds a little. */
static void the_protocol_takes_two_signals_for_a_pair(void **state)
{
    (void)state;
    enum { N = 64, STEPS = 4 };
    sk_pattern *p[N];
    sk_channel_count count = {0, 0};
    sk_global_graph *g = sk_check_graph("all", N);
    sk_machine *m = sk_check_machine("node:8 socket:2 core:4", N);
    assert_int_equal(sk_patterns_by_negotiation(SK_METHOD_HALVING, g, m, &opts, 1, p, &count),
                     SK_OK);
    int64_t pairs = 0; /* origin and agent, in all steps */
    for (int step = 0; step < STEPS; step++)
        pairs += N * (N >> (step + 1));
    int64_t known = N * (N - 1) + 2 * pairs + N * 3; /* and within the sockets */
    int64_t handed = STEPS * N;
    assert_between(count.messages, known + handed, known + 2 * handed + pairs / 4);
    sk_patterns_free(p, N);
    sk_global_graph_free(g);
    sk_machine_free(m);
}

static sk_status swallow(sk_channel *t, int to, const int32_t *words, size_t n)
{
    (void)t, (void)to, (void)words, (void)n;
    return SK_OK;
}

/* Rank 0 of 4, a node each, sends to 2 and 3. Its candidates in the first step are these; it is the
 * mirror of 2. */
static sk_negotiator *negotiator_of_four(const sk_graph *g, const sk_machine *m, sk_channel *t,
                                         int messages)
{
    static const struct {
        int from;
        size_t n;
        int32_t words[4];
    } good[] = {
        {3, 3, {0, 1, 0}},                                 /* 3 has the source 0 */
        {2, 3, {0, 1, 0}}, {3, 2, {1, 2}}, {2, 2, {1, 2}}, /* both drop 0 */
        {3, 2, {2, 2}},    {2, 2, {2, 2}},                 /* again */
        {2, 3, {5, 2, 1}},                                 /* hands over 2 -> 1 */
    };
    sk_negotiator *p = sk_method_get(SK_METHOD_HALVING)->negotiator(g, m, &opts);
    assert_non_null(p);
    assert_int_equal(sk_negotiator_start(p, t), SK_OK);
    for (int i = 0; i < messages; i++)
        assert_int_equal(sk_negotiator_receive(p, t, good[i].from, good[i].words, good[i].n),
                         SK_OK);
    return p;
}

static void malformed_messages_are_refused(void **state)
{
    (void)state;
    static const struct {
        int after, from; /* so many good messages */
        size_t n;
        int32_t words[4];
    } bad[] = {
        {0, 3, 1, {0}},       /* no list */
        {0, 3, 2, {0, 1}},    /* half of it */
        {0, 3, 3, {0, 1, 7}}, /* no such rank */
        {0, 1, 2, {0, 0}},    /* from one who is no target */
        {1, 3, 3, {0, 1, 0}}, /* twice */
        {2, 3, 1, {1}},       /* no signal */
        {2, 3, 2, {1, 0}},    /* an agent does not ask */
        {2, 3, 2, {1, 9}},    /* no such signal */
        {2, 1, 2, {1, 2}},    /* from one of the same half */
        {3, 3, 2, {1, 2}},    /* twice */
        {6, 2, 2, {5, 2}},    /* half a block */
        {6, 2, 3, {5, 2, 3}}, /* a block for the other half */
        {6, 2, 3, {5, 2, 4}}, /* for nobody */
        {6, 3, 1, {5}},       /* from one who has another mirror */
    };
    sk_channel t = {swallow};
    sk_machine *m = sk_check_machine("node:4 core:1", 4);
    sk_graph *g = NULL;
    int targets[] = {2, 3};
    assert_int_equal(sk_graph_new(4, 0, 0, NULL, 2, targets, false, &g), SK_OK);
    for (size_t i = 0; i < COUNT(bad); i++) {
        sk_negotiator *p = negotiator_of_four(g, m, &t, bad[i].after);
        int32_t *exact = malloc(bad[i].n * sizeof *exact);
        memcpy(exact, bad[i].words, bad[i].n * sizeof *exact);
        if (sk_negotiator_receive(p, &t, bad[i].from, exact, bad[i].n) != SK_WIRE)
            fail_msg("case %zu was taken", i);
        free(exact);
        sk_negotiator_free(p);
    }
    sk_negotiator_free(negotiator_of_four(g, m, &t, 7));
    sk_graph_free(g);
    sk_machine_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_forms_make_the_same_right_patterns),
        cmocka_unit_test(idle_ranks_carry_nothing),
        cmocka_unit_test(no_rank_sends_more_off_its_socket_than_there_are_halvings),
        cmocka_unit_test(messages_on_random_graphs_are_those_of_equations_1_and_2),
        cmocka_unit_test(sparse_random_graphs_send_more_in_the_socket_than_equation_2_counts),
        cmocka_unit_test(far_links_are_crossed_in_the_first_steps_only),
        cmocka_unit_test(nodes_are_parted_before_they_are_cut),
        cmocka_unit_test(halves_are_as_even_as_can_be),
        cmocka_unit_test(agents_share_the_load),
        cmocka_unit_test(the_protocol_takes_two_signals_for_a_pair),
        cmocka_unit_test(malformed_messages_are_refused),
    };
    return RUN(tests);
}
