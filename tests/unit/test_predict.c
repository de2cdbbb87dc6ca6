#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "lab/graph/spec.h"
#include "lab/neighbor/equations.h"
#include "neighbor/cost/predict.h"

static const sk_pattern_opts opts = {.theta = 4, .friends = 2};

static sk_machine *machine(const char *text, int nranks)
{
    char err[256] = "";
    sk_machine *m = NULL;
    if (sk_machine_parse(text, nranks, &m, err, sizeof err) != SK_OK)
        fail_msg("%s: %s", text, err);
    return m;
}

static void near_to(double got, double want)
{
    if (got < want - 1e-3 || got > want + 1e-3)
        fail_msg("%g is not %g", got, want);
}

/* Worked out by hand: ceil(log2(540 / 18)) = 5 halvings, ceil(log2(2000 / 20)) = 7. */
static void the_equations_are_those_of_the_paper(void **state)
{
    (void)state;
    near_to(sk_equation_off(540, 18, 0.3), 6);
    near_to(sk_equation_off(540, 18, 0.005), 2.61);
    near_to(sk_equation_off(2000, 20, 0.3), 8); /* printed: + 1 */
    near_to(sk_equation_off(16, 16, 0.5), 0);
    near_to(sk_equation_off(32, 16, 1), 2);
    near_to(sk_equation_in(540, 18, 0.3), 18 * (1 - 0.0823543));  /* 0.7^7 */
    near_to(sk_equation_in(2000, 20, 0.3), 20 * (1 - 0.0403536)); /* 0.7^9 */
    near_to(sk_equation_in(2000, 20, 1), 20);
    near_to(sk_equation_in(2000, 20, 0), 0);
    near_to(sk_equation_in_bytes(540, 18, 0.3, 100), 0.3 * 18 * (1 - 0.0823543) * 100);
}

/* ---- against patterns that were made ---- */

static sk_graph_size measure(const sk_global_graph *w, const sk_machine *m)
{
    sk_graph_size g = {.edges = sk_global_graph_edges(w)};
    int *targets = malloc((size_t)m->nranks * sizeof *targets);
    sk_reach *reach = malloc((size_t)m->nranks * sizeof *reach);
    assert_true(targets && reach);
    for (int r = 0; r < m->nranks; r++) {
        int out = sk_global_graph_degree(w, r, false), in = sk_global_graph_degree(w, r, true);
        int64_t most = out > in ? out : in;
        g.most = most > g.most ? most : g.most;
        sk_global_graph_targets(w, r, targets);
        for (int i = 0; i < out; i++)
            g.intra[sk_machine_level(m, r, targets[i])]++;
        reach[r] = sk_reach_of(targets, out, m, r);
    }
    sk_reach_sum(reach, m, &g);
    free(targets);
    free(reach);
    return g;
}

/* The largest load over all ranks. */
static sk_load made(sk_method_id id, const sk_global_graph *w, const sk_machine *m)
{
    int n = m->nranks, *ranks = malloc((size_t)n * sizeof *ranks);
    sk_pattern **patterns = calloc((size_t)n, sizeof(sk_pattern *));
    assert_true(ranks && patterns);
    for (int r = 0; r < n; r++)
        ranks[r] = r;
    assert_int_equal(sk_method_get(id)->plan(w, m, &opts, ranks, n, patterns), SK_OK);
    sk_load most = {0};
    for (int r = 0; r < n; r++) {
        sk_load load = sk_load_of(patterns[r], m);
        sk_load_join(&most, &load);
        sk_pattern_free(patterns[r]);
    }
    free(patterns);
    free(ranks);
    return most;
}

/* Within a factor of 2; one or two more or less are never wrong. */
static void same_size(double got, double want, const char *method, const char *what)
{
    if (got > 2 * want + 2 || want > 2 * got + 2)
        fail_msg("%s: %s is %g, predicted was %g", method, what, want, got);
}

static int64_t total(const int64_t *level)
{
    return level[SK_SOCKET] + level[SK_NODE] + level[SK_NET];
}

/* In a grid the busiest rank may have more blocks than twice the mean; its time is foreseen all the same. */
static void compare_counts(const sk_load *guess, const sk_load *real, const char *name)
{
    same_size(guess->messages[SK_NET], real->messages[SK_NET], name, "messages off node");
    same_size(total(guess->messages), total(real->messages), name, "messages");
    same_size(total(guess->allgather_blocks), total(real->allgather_blocks), name,
              "allgather blocks");
    same_size(total(guess->alltoall_blocks), total(real->alltoall_blocks), name, "alltoall blocks");
}

static void compare(const char *graph, const char *where, int n)
{
    char err[256] = "";
    sk_machine *m = machine(where, n);
    sk_model model;
    sk_spec *spec = NULL;
    sk_global_graph *w = NULL;
    assert_int_equal(sk_model_parse(NULL, &model, err, sizeof err), SK_OK);
    assert_int_equal(sk_spec_new(graph, n, &spec, err, sizeof err), SK_OK);
    assert_int_equal(sk_spec_whole(spec, &w), SK_OK);
    sk_graph_size g = measure(w, m);
    for (int id = 0; id < SK_NMETHODS; id++) {
        const char *name = sk_method_get((sk_method_id)id)->name;
        bool grid = !strncmp(graph, "moore", 5);
        if (id == SK_METHOD_COMMON && grid)
            continue; /* it does not know that neighbours share neighbours in a grid */
        sk_load real = made((sk_method_id)id, w, m);
        sk_load guess;
        if (!sk_predict((sk_method_id)id, m, &g, &opts, &guess))
            continue; /* it has no predictor */
        same_size(guess.stages, real.stages, name, "stages");
        if (!grid)
            compare_counts(&guess, &real, name);
        for (int64_t bytes = 8; bytes <= 4096; bytes *= 512)
            same_size(1e6 * sk_price(&model, m, &guess, false, bytes),
                      1e6 * sk_price(&model, m, &real, false, bytes), name, "price in us");
    }
    sk_global_graph_free(w);
    sk_spec_free(spec);
    sk_machine_free(m);
}

static void loads_of_random_graphs_are_foreseen(void **state)
{
    (void)state;
    const char *graphs[] = {"random:0.05,1", "random:0.3,1", "random:0.7,1"};
    for (int i = 0; i < 3; i++)
        compare(graphs[i], "node:15 socket:2 core:18", 540);
}

static void loads_on_other_machines_are_foreseen(void **state)
{
    (void)state;
    compare("random:0.3,2", "node:30 core:6", 177);
    compare("random:0.3,2", "core:64", 64);
    compare("random:0.3,2", "node:64", 64);
    compare("random:1", "node:5 socket:2 core:5 map:rr", 47);
}

/* The neighbours of a rank are on few nodes, those of a node on few others: far from random. */
static void loads_of_grids_are_foreseen(void **state)
{
    (void)state;
    compare("moore:2,1", "node:64 socket:2 core:16", 2048);
    compare("moore:2,3", "node:64 socket:2 core:16", 2048);
    compare("moore:3,2", "node:64 socket:2 core:16", 2048);
}

static void nodes_with_targets_are_counted(void **state)
{
    (void)state;
    sk_reach reach[400];
    sk_graph_size g = {0};
    const int targets[] = {1, 2, 3, 5, 9};
    sk_machine *few = machine("node:5 core:2", 10), *many = machine("node:200 core:2", 400);
    for (int r = 0; r < 10; r++)
        reach[r] = sk_reach_of(targets, r == 0 ? 5 : r == 1 ? 2 : 0, few, r);
    sk_reach_sum(reach, few, &g);
    assert_int_equal(g.reached, 3 + 1);
    assert_int_equal(g.peers, 3);
    /* The nodes before and after; two ranks of a node have the same ones. */
    for (int r = 0; r < 400; r++) {
        const int near[] = {(r + 2) % 400, (r + 398) % 400};
        reach[r] = sk_reach_of(near, 2, many, r);
    }
    sk_reach_sum(reach, many, &g);
    assert_int_equal(g.reached, 400 * 2);
    assert_between(g.peers, 200 * 2, 200 * 2);
    /* All of them: nobody knows how many they are, as 64 bits are too few. */
    int all[400];
    for (int r = 0; r < 400; r++)
        all[r] = r;
    for (int r = 0; r < 400; r++)
        reach[r] = sk_reach_of(all, 400, many, r);
    sk_reach_sum(reach, many, &g);
    assert_int_equal(g.reached, 400 * 199);
    assert_int_equal(g.peers, 0);
    sk_machine_free(few);
    sk_machine_free(many);
}

/* ---- the ends of the scale ---- */

static void no_edges_make_no_load(void **state)
{
    (void)state;
    const sk_graph_size none = {0};
    const sk_load nothing = {0};
    for (int n = 1; n <= 3; n++) {
        sk_machine *m = machine("node:3", n);
        for (int id = 0; id < SK_NMETHODS; id++) {
            sk_load load;
            if (!sk_predict((sk_method_id)id, m, &none, &opts, &load))
                continue; /* it has no predictor */
            assert_memory_equal(&load, &nothing, sizeof load);
        }
        sk_machine_free(m);
    }
}

/* One rank sends to all others: far from random, but the counts stay within reason. */
static void a_star_has_some_load_but_not_more_than_direct_edges(void **state)
{
    (void)state;
    for (int n = 2; n <= 200; n += 1 + n / 5) {
        sk_machine *m = machine("node:* core:7", n);
        sk_graph_size g = {.edges = n - 1, .most = n - 1};
        for (int r = 1; r < n; r++)
            g.intra[sk_machine_level(m, 0, r)]++;
        for (int id = 0; id < SK_NMETHODS; id++) {
            sk_load load;
            if (!sk_predict((sk_method_id)id, m, &g, &opts, &load))
                continue; /* it has no predictor */
            assert_between(load.stages, 1, 7);
            assert_between(total(load.messages), 1, 2 * n);
            assert_true(total(load.allgather_blocks) >= 1 && total(load.alltoall_blocks) >= 1);
        }
        sk_machine_free(m);
    }
}

static void direct_sends_along_every_edge(void **state)
{
    (void)state;
    sk_machine *m = machine("node:2 socket:2 core:2", 8);
    /* Complete: each rank has 1 neighbour on its socket, 2 on the other, 4 on the other node. */
    const sk_graph_size g = {.edges = 56, .most = 7, .intra = {8, 16, 32}};
    sk_load load;
    assert_true(sk_predict(SK_METHOD_DIRECT, m, &g, &opts, &load));
    const int64_t want[] = {2, 4, 8};
    assert_int_equal(load.stages, 1);
    assert_memory_equal(load.messages, want, sizeof want);
    assert_memory_equal(load.allgather_blocks, want, sizeof want);
    assert_memory_equal(load.alltoall_blocks, want, sizeof want);
    sk_machine_free(m);
}

static void halving_of_a_complete_graph_doubles(void **state)
{
    (void)state;
    sk_machine *m = machine("node:4 socket:2 core:2", 16);
    const sk_graph_size g = {.edges = 240, .most = 15, .intra = {16, 32, 192}};
    sk_load load;
    assert_true(sk_predict(SK_METHOD_HALVING, m, &g, &opts, &load));
    /* Both ways: two steps off node with 1 and 2 blocks, one step in the node with 4, and then 8
     * blocks to the one local rank; a quarter more for a busy rank. */
    const int64_t messages[] = {2, 3, 5}, allgather[] = {20, 10, 8}, alltoall[] = {20, 20, 40};
    assert_int_equal(load.stages, 4);
    assert_memory_equal(load.messages, messages, sizeof messages);
    assert_memory_equal(load.allgather_blocks, allgather, sizeof allgather);
    assert_memory_equal(load.alltoall_blocks, alltoall, sizeof alltoall);
    sk_machine_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_equations_are_those_of_the_paper),
        cmocka_unit_test(loads_of_random_graphs_are_foreseen),
        cmocka_unit_test(loads_on_other_machines_are_foreseen),
        cmocka_unit_test(loads_of_grids_are_foreseen),
        cmocka_unit_test(nodes_with_targets_are_counted),
        cmocka_unit_test(no_edges_make_no_load),
        cmocka_unit_test(a_star_has_some_load_but_not_more_than_direct_edges),
        cmocka_unit_test(direct_sends_along_every_edge),
        cmocka_unit_test(halving_of_a_complete_graph_doubles),
    };
    return RUN(tests);
}
