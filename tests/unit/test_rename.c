/* New names for ranks: the paper's functions, mappings that are regular and others, and when names
 * are changed at all. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coll/traffic.h"
#include "select/plan.h"
#include "select/renames.h"

static sk_machine *parse(const char *text, int nranks)
{
    char err[256] = "";
    sk_machine *m = NULL;
    if (sk_machine_parse(text, nranks, &m, err, sizeof err) != SK_OK)
        fail_msg("%s: %s", text, err);
    return m;
}

static sk_machine *regular(int nodes, int on_node, const char *map)
{
    char text[96];
    snprintf(text, sizeof text, "node:%d core:%d map:%s", nodes, on_node, map);
    return parse(text, nodes * on_node);
}

static sk_rename *names(const sk_machine *m, sk_prefers wants)
{
    sk_rename *r = NULL;
    assert_int_equal(sk_rename_new(m, wants, &r), SK_OK);
    return r;
}

static void functions_are_those_of_the_paper(void **state)
{
    (void)state;
    for (int nodes = 1; nodes <= 9; nodes++)
        for (int q = 1; q <= 9; q++)
            for (int p = nodes * q, i = 0; i < p; i++) {
                assert_int_equal(sk_rename_sq(i, nodes, q), i * q % p + i / nodes);
                assert_int_equal(sk_rename_rr(i, nodes, q), i * nodes % p + i / q);
            }
    /* Figure 2: process 2 of 6 on 2 nodes behaves as 1, and talks to 4 and 0. */
    assert_int_equal(sk_rename_sq(2, 2, 3), 1);
    assert_int_equal(sk_rename_rr(2, 2, 3), 4);
    assert_int_equal(sk_rename_rr(0, 2, 3), 0);
}

static void each_function_undoes_the_other(void **state)
{
    (void)state;
    for (int nodes = 1; nodes <= 12; nodes++)
        for (int q = 1; q <= 12; q++)
            for (int i = 0; i < nodes * q; i++) {
                assert_int_equal(sk_rename_rr(sk_rename_sq(i, nodes, q), nodes, q), i);
                assert_int_equal(sk_rename_sq(sk_rename_rr(i, nodes, q), nodes, q), i);
            }
    int large = 46000 * 46000 - 5; /* products of ranks do not overflow */
    assert_int_equal(sk_rename_rr(sk_rename_sq(large, 46000, 46000), 46000, 46000), large);
}

static void mappings_are_recognised(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int p;
        sk_mapping mapping;
    } rows[] = {{"node:4 core:8", 32, SK_MAP_SEQUENTIAL},
                {"node:1 core:5", 5, SK_MAP_SEQUENTIAL},
                {"node:5", 5, SK_MAP_SEQUENTIAL},
                {"node:4 core:8 map:rr", 32, SK_MAP_ROUND_ROBIN},
                {"node:4 socket:2 core:4 map:rr", 32, SK_MAP_ROUND_ROBIN},
                {"node:4 socket:2 core:4 map:rr-socket", 32, SK_MAP_ROUND_ROBIN_SOCKET},
                {"node:1 socket:2 core:4 map:rr-socket", 8, SK_MAP_ROUND_ROBIN_SOCKET},
                {"node:4 core:8 map:shuffle", 32, SK_MAP_IRREGULAR},
                {"node:4 core:8", 31, SK_MAP_IRREGULAR},
                {"node:4 core:8 map:rr", 31, SK_MAP_IRREGULAR}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sk_machine *m = parse(rows[i].text, rows[i].p);
        if (sk_mapping_of(m) != rows[i].mapping)
            fail_msg("%s is %s", rows[i].text, sk_mapping_name(sk_mapping_of(m)));
        sk_machine_free(m);
    }
}

static void assert_same(const sk_rename *a, const sk_rename *b)
{
    assert_int_equal(a->nranks, b->nranks);
    assert_memory_equal(a->name_of, b->name_of, (size_t)a->nranks * sizeof(int));
    assert_memory_equal(a->rank_of, b->rank_of, (size_t)a->nranks * sizeof(int));
}

static void names_by_place_are_those_of_the_functions(void **state)
{
    (void)state;
    for (int nodes = 2; nodes <= 8; nodes++)
        for (int q = 2; q <= 8; q++) {
            sk_machine *rr = regular(nodes, q, "rr"), *seq = regular(nodes, q, "seq");
            sk_rename *sq = NULL, *dealt = NULL;
            assert_int_equal(sk_rename_by_position(rr, SK_PREFERS_SEQUENTIAL, &sq), SK_OK);
            assert_int_equal(sk_rename_by_position(seq, SK_PREFERS_ROUND_ROBIN, &dealt), SK_OK);
            for (int i = 0; i < nodes * q; i++) {
                assert_int_equal(sq->name_of[i], i * q % (nodes * q) + i / nodes);
                assert_int_equal(dealt->name_of[i], i * nodes % (nodes * q) + i / q);
            }
            sk_rename *by_sq = names(rr, SK_PREFERS_SEQUENTIAL);
            sk_rename *by_rr = names(seq, SK_PREFERS_ROUND_ROBIN);
            assert_same(sq, by_sq);
            assert_same(dealt, by_rr);
            sk_rename_free(sq);
            sk_rename_free(dealt);
            sk_rename_free(by_sq);
            sk_rename_free(by_rr);
            sk_machine_free(rr);
            sk_machine_free(seq);
        }
}

static void names_that_fit_are_kept(void **state)
{
    (void)state;
    sk_machine *seq = regular(4, 6, "seq"), *rr = regular(4, 6, "rr"), *apart = parse("node:7", 7);
    assert_null(names(seq, SK_PREFERS_SEQUENTIAL));
    assert_null(names(rr, SK_PREFERS_ROUND_ROBIN));
    assert_null(names(apart, SK_PREFERS_SEQUENTIAL));
    assert_null(names(apart, SK_PREFERS_ROUND_ROBIN));
    assert_null(names(rr, SK_PREFERS_ANY));
    sk_machine_free(seq);
    sk_machine_free(rr);
    sk_machine_free(apart);
}

/* What holds for new names on any machine. */
static void check_names(const sk_machine *m, const sk_rename *r, sk_prefers wants)
{
    int *seen = calloc((size_t)m->nnodes, sizeof *seen), epoch = 0, before = -1;
    assert_non_null(seen);
    assert_int_equal(r->order, wants);
    for (int i = 0; i < m->nranks; i++) {
        int node = m->node[r->rank_of[i]];
        assert_int_equal(r->name_of[r->rank_of[i]], i);
        seen[node]++;
        if (wants == SK_PREFERS_SEQUENTIAL) { /* a node's last rank comes before the next node */
            assert_int_equal(r->rank_of[i], m->rank_at[i]);
            assert_true(node == before || seen[node] == 1);
        } else { /* rounds over the nodes that still have ranks */
            epoch += node <= before || i == 0;
            assert_int_equal(seen[node], epoch);
        }
        before = node;
    }
    for (int i = 0; i < m->nnodes; i++)
        assert_int_equal(seen[i], m->node_first[i + 1] - m->node_first[i]);
    free(seen);
}

static void check_both(const sk_machine *m)
{
    for (int wants = SK_PREFERS_SEQUENTIAL; wants <= SK_PREFERS_ROUND_ROBIN; wants++) {
        sk_rename *r = NULL, *fit = names(m, (sk_prefers)wants);
        assert_int_equal(sk_rename_by_position(m, (sk_prefers)wants, &r), SK_OK);
        check_names(m, r, (sk_prefers)wants);
        if (fit)
            assert_same(r, fit);
        sk_rename_free(r);
        sk_rename_free(fit);
    }
}

static void irregular_machines_get_both_orders(void **state)
{
    (void)state;
    static const char *const words[] = {
        "node:4 core:9 map:shuffle", "node:6 socket:2 core:3 map:shuffle:5", "node:5 core:8 map:rr",
        "node:5 socket:2 core:4", "node:5 socket:2 core:4 map:rr-socket"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        for (int p = 1; p <= 36; p++) {
            sk_machine *m = parse(words[i], p);
            check_both(m);
            sk_machine_free(m);
        }
    /* Of nodes of 4, 1 and 2 ranks that stand in no order. */
    const sk_location locations[] = {{9, 0, 3}, {2, 0, 0}, {9, 0, 1}, {5, 0, 1},
                                     {9, 0, 0}, {5, 0, 0}, {9, 0, 2}};
    sk_machine *m = NULL;
    assert_int_equal(sk_machine_new(7, locations, 0, &m), SK_OK);
    check_both(m);
    sk_rename *seq = names(m, SK_PREFERS_SEQUENTIAL), *rr = names(m, SK_PREFERS_ROUND_ROBIN);
    assert_memory_equal(seq->rank_of, ((int[]){4, 2, 6, 0, 1, 5, 3}), 7 * sizeof(int));
    assert_memory_equal(rr->rank_of, ((int[]){4, 1, 5, 2, 3, 6, 0}), 7 * sizeof(int));
    sk_rename_free(seq);
    sk_rename_free(rr);
    sk_machine_free(m);
}

/* ---- when names are changed ---- */

static const sk_type types[] = {{.size = 1, .extent = 1, .true_extent = 1, .contig = true}};

static sk_call call_on(sk_coll coll, const sk_machine *m, int64_t bytes)
{
    return (sk_call){.coll = coll,
                     .nranks = m->nranks,
                     .send = {.count = bytes},
                     .recv = {.count = bytes},
                     .types = types,
                     .ntypes = 1,
                     .machine = m};
}

static sk_select *settings(const char *entry)
{
    char err[256] = "", copy[64];
    snprintf(copy, sizeof copy, "%s", entry);
    char *env[] = {copy, NULL};
    sk_select *s = NULL;
    assert_int_equal(sk_select_new(env, &s, err, sizeof err), SK_OK);
    return s;
}

/* What the names of a call become: the order, or SK_PREFERS_ANY when they are kept. */
static sk_prefers chosen(const char *entry, const char *algo, const sk_call *c)
{
    sk_renames x = {0};
    sk_select *sel = settings(entry);
    const sk_algo *a = sk_algo_find(c->coll, algo);
    const sk_rename *r = NULL;
    assert_non_null(a);
    assert_int_equal(sk_renames_choose(&x, sel, a, c, &r), SK_OK);
    sk_prefers order = r ? r->order : SK_PREFERS_ANY;
    sk_renames_free(&x);
    sk_select_free(sel);
    return order;
}

static void rings_are_made_sequential(void **state)
{
    (void)state;
    sk_machine *rr = regular(4, 8, "rr"), *seq = regular(4, 8, "seq");
    sk_machine *mixed = regular(4, 8, "shuffle"), *one = regular(1, 8, "seq");
    sk_call c = call_on(SK_ALLREDUCE, rr, 4096), d = call_on(SK_ALLREDUCE, seq, 4096);
    sk_call e = call_on(SK_ALLREDUCE, mixed, 4096), f = call_on(SK_ALLREDUCE, one, 4096);
    assert_int_equal(chosen("SKEIN_RENAME=auto", "ring", &c), SK_PREFERS_SEQUENTIAL);
    assert_int_equal(chosen("SKEIN_RENAME=auto", "ring", &d), SK_PREFERS_ANY);
    assert_int_equal(chosen("SKEIN_RENAME=auto", "ring", &e), SK_PREFERS_SEQUENTIAL);
    assert_int_equal(chosen("SKEIN_RENAME=auto", "ring", &f), SK_PREFERS_ANY);
    assert_int_equal(chosen("SKEIN_RENAME=off", "ring", &c), SK_PREFERS_ANY);
    c.ordered = true;
    assert_int_equal(chosen("SKEIN_RENAME=auto", "doubling", &c), SK_PREFERS_ANY);
    assert_int_equal(chosen("SKEIN_RENAME=on", "doubling", &c), SK_PREFERS_ANY);
    c.machine = NULL;
    assert_int_equal(chosen("SKEIN_RENAME=on", "ring", &c), SK_PREFERS_ANY);
    sk_machine_free(rr);
    sk_machine_free(seq);
    sk_machine_free(mixed);
    sk_machine_free(one);
}

static void doubling_distances_are_made_round_robin(void **state)
{
    (void)state;
    sk_machine *seq = regular(4, 8, "seq"), *odd = regular(3, 8, "rr");
    sk_call c = call_on(SK_ALLGATHER, seq, 64), b = call_on(SK_BARRIER, seq, 0);
    sk_call r = call_on(SK_ALLREDUCE, seq, 64), o = call_on(SK_BARRIER, odd, 0);
    assert_int_equal(chosen("", "doubling", &c), SK_PREFERS_ROUND_ROBIN);
    assert_int_equal(chosen("", "bruck", &c), SK_PREFERS_ROUND_ROBIN);
    assert_int_equal(chosen("", "dissemination", &b), SK_PREFERS_ROUND_ROBIN);
    /* As many vectors leave the nodes under either mapping. */
    assert_int_equal(chosen("", "doubling", &r), SK_PREFERS_ANY);
    assert_int_equal(chosen("SKEIN_RENAME=on", "doubling", &r), SK_PREFERS_ROUND_ROBIN);
    /* On three nodes no distance of a power of two stays on a node. */
    assert_int_equal(chosen("", "dissemination", &o), SK_PREFERS_SEQUENTIAL);
    sk_machine_free(seq);
    sk_machine_free(odd);
}

static void names_are_kept_where_scratch_would_be_too_much(void **state)
{
    (void)state;
    sk_machine *seq = regular(4, 4, "seq");
    sk_call c = call_on(SK_REDUCE_SCATTER_BLOCK, seq, 64);
    c.send.count = 16 * c.recv.count;
    assert_int_equal(chosen("", "halving", &c), SK_PREFERS_ROUND_ROBIN);
    assert_int_equal(chosen("SKEIN_MEM=2K", "halving", &c), SK_PREFERS_ANY);
    sk_machine_free(seq);
}

/* What the schedules of all ranks send from node to node. */
static sk_off_node sent(const sk_algo *a, sk_call c, const sk_rename *r)
{
    sk_off_node sum = {0};
    for (c.rank = 0; c.rank < c.nranks; c.rank++) {
        sk_sched *s = NULL;
        sk_call named = r ? sk_call_renamed(&c, r) : c;
        assert_int_equal(sk_algo_build(a, &named, &s), SK_OK);
        sk_off_node one = sk_sched_off_node(s, c.machine, c.rank);
        sum.messages += one.messages;
        sum.bytes += one.bytes;
        sk_sched_free(s);
    }
    return sum;
}

/* The vectors are no multiple of the ranks. */
static int assert_never_more(const sk_select *sel, const sk_algo *a, const sk_machine *m)
{
    sk_call c = call_on(a->coll, m, 1009);
    sk_renames x = {0};
    const sk_rename *r = NULL;
    c.root = m->nranks / 3;
    assert_int_equal(sk_renames_choose(&x, sel, a, &c, &r), SK_OK);
    if (r && !sk_off_node_less(sent(a, c, r), sent(a, c, NULL)))
        fail_msg("%s %s on %d ranks sends no less when renamed", sk_coll_name(a->coll), a->name,
                 m->nranks);
    bool renamed = r;
    sk_renames_free(&x);
    return renamed;
}

static void new_names_never_send_more(void **state)
{
    (void)state;
    static const char *const words[] = {"node:* core:8",
                                        "node:4 core:10 map:rr",
                                        "node:3 core:16 map:rr",
                                        "node:5 core:8 map:shuffle",
                                        "node:6 socket:2 core:4 map:rr-socket",
                                        "node:8 core:5 map:shuffle:9"};
    sk_select *sel = settings("");
    int renamed = 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        for (int p = 2; p <= 40; p += 1 + p / 12) {
            sk_machine *m = parse(words[i], p);
            for (const sk_algo *const *a = sk_algos(); *a; a++)
                if ((*a)->flow)
                    renamed += assert_never_more(sel, *a, m);
            sk_machine_free(m);
        }
    sk_select_free(sel);
    assert_true(renamed > 1000);
}

static void wants_and_flow_go_together(void **state)
{
    (void)state;
    for (const sk_algo *const *a = sk_algos(); *a; a++)
        assert_int_equal((*a)->prefers != SK_PREFERS_ANY, (*a)->flow != NULL);
}

static void what_must_keep_its_names_cannot_be_renamed(void **state)
{
    (void)state;
    sk_machine *rr = regular(2, 2, "rr");
    sk_call c = call_on(SK_SCAN, rr, 8);
    sk_rename *r = names(rr, SK_PREFERS_SEQUENTIAL);
    sk_call named = sk_call_renamed(&c, r);
    sk_sched *s = NULL;
    assert_int_equal(sk_algo_build(sk_algo_find(SK_SCAN, "linear"), &named, &s), SK_BADARG);
    assert_null(s);
    sk_rename_free(r);
    sk_machine_free(rr);
}

/* Rank 1 of a round-robin mapping is on the second node, as is its neighbour to the right. */
static void plans_have_their_ranks_renamed(void **state)
{
    (void)state;
    sk_machine *rr = regular(2, 3, "rr");
    sk_call c = call_on(SK_ALLREDUCE, rr, 600);
    sk_select *sel = settings("SKEIN_ALLREDUCE=ring");
    sk_plans *ps = sk_plans_new(8);
    sk_plan *plan = NULL;
    c.rank = 1;
    assert_int_equal(sk_plans_get(ps, sel, &c, &plan), SK_OK);
    const struct sk_sched_view *v = sk_sched_view(plan->sched);
    for (uint32_t i = 0; i < v->nsteps; i++)
        if (v->steps[i].kind == SK_STEP_SEND)
            assert_int_equal(v->steps[i].peer, 3);
        else if (v->steps[i].kind == SK_STEP_RECV)
            assert_int_equal(v->steps[i].peer, 4);
    sk_plans_free(ps);
    sk_select_free(sel);
    sk_machine_free(rr);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_are_those_of_the_paper),
        cmocka_unit_test(each_function_undoes_the_other),
        cmocka_unit_test(mappings_are_recognised),
        cmocka_unit_test(names_by_place_are_those_of_the_functions),
        cmocka_unit_test(names_that_fit_are_kept),
        cmocka_unit_test(irregular_machines_get_both_orders),
        cmocka_unit_test(rings_are_made_sequential),
        cmocka_unit_test(doubling_distances_are_made_round_robin),
        cmocka_unit_test(names_are_kept_where_scratch_would_be_too_much),
        cmocka_unit_test(new_names_never_send_more),
        cmocka_unit_test(wants_and_flow_go_together),
        cmocka_unit_test(what_must_keep_its_names_cannot_be_renamed),
        cmocka_unit_test(plans_have_their_ranks_renamed),
    };
    return RUN(tests);
}
