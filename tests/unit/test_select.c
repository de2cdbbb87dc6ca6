/* The choice of an algorithm: the paper's cutoffs, forcing, switching off, and falling back. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <setjmp.h>

#include <cmocka.h>

#include "coll/phase/reduce.h"
#include "neighbor/neighborhood.h"
#include "select/plan.h"
#include "select/select.h"

static const sk_type types[] = {
    {.size = 1, .extent = 1, .true_extent = 1, .contig = true},
    {.size = 8, .extent = 8, .true_extent = 8, .contig = true},
};

static sk_select *with(const char *entry)
{
    char err[256] = "", copy[128] = "";
    strncpy(copy, entry, sizeof copy - 1);
    char *env[] = {copy, NULL};
    sk_select *s = NULL;
    assert_int_equal(sk_select_new(env, &s, err, sizeof err), SK_OK);
    return s;
}

/* A call whose sk_call_bytes is `bytes`: blocks of all kinds are equal here. */
static sk_call call(sk_coll coll, int nranks, int64_t bytes)
{
    sk_call c = {.coll = coll, .nranks = nranks, .types = types, .ntypes = 2};
    c.send = c.recv = (sk_side){.count = bytes, .type = SK_TYPE_BYTE};
    if (coll == SK_ALLGATHERV || coll == SK_REDUCE_SCATTER || coll == SK_REDUCE_SCATTER_BLOCK)
        c.recv.count = bytes / nranks;
    return c;
}

static void chooses_call(const char *entry, sk_call c, const char *algo, const char *why)
{
    sk_select *s = with(entry);
    sk_choice choice;
    sk_select_explain(s, &c, &choice);
    assert_string_equal(choice.algo ? choice.algo->name : "host", algo);
    if (why)
        assert_string_equal(choice.why, why);
    sk_select_free(s);
}

static void chooses(const char *entry, sk_coll coll, int nranks, int64_t bytes, const char *algo,
                    const char *why)
{
    chooses_call(entry, call(coll, nranks, bytes), algo, why);
}

static void bcast_changes_at_12k_and_8_ranks(void **state)
{
    (void)state;
    chooses("", SK_BCAST, 48, 65536, "scatter-doubling",
            "65536 bytes >= 12288 (SKEIN_BCAST_LONG) on 48 >= 8 ranks");
    chooses("", SK_BCAST, 8, 12288, "scatter-doubling", NULL);
    chooses("", SK_BCAST, 8, 12287, "binomial", "12287 bytes < 12288 (SKEIN_BCAST_LONG)");
    chooses("", SK_BCAST, 7, 12288, "binomial", "7 ranks < 8 (SKEIN_BCAST_LONG_RANKS)");
    chooses("SKEIN_BCAST_LONG=64K", SK_BCAST, 48, 65535, "binomial",
            "65535 bytes < 65536 (SKEIN_BCAST_LONG)");
}

/* The formula was fitted to these points: this keeps it there, it is no proof of the formula. */
static void reduce_scatter_cutoff_fits_the_papers_points(void **state)
{
    (void)state;
    static const struct {
        int p;
        double bytes;
    } points[] = {{8, 512}, {16, 512}, {32, 512}, {64, 1500}, {128, 15 * 1024}, {256, 50 * 1024}};
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        double ratio = (double)sk_reduce_scatter_cutoff(points[i].p, NULL) / points[i].bytes;
        assert_true(ratio > 1 / 1.6 && ratio < 1.6);
    }
    for (int p = 1; p < 100000; p++)
        assert_true(sk_reduce_scatter_cutoff(p, NULL) >= 512);
    for (int p = 8; p < 1 << 16; p *= 2)
        assert_true(sk_reduce_scatter_cutoff(2 * p, NULL) >= sk_reduce_scatter_cutoff(p, NULL));
}

static void reduce_scatter_changes_by_the_formula(void **state)
{
    (void)state;
    int64_t cutoff = sk_reduce_scatter_cutoff(64, NULL), above = (cutoff / 64 + 1) * 64;
    chooses("", SK_REDUCE_SCATTER, 64, 64, "halving", NULL);
    chooses("", SK_REDUCE_SCATTER_BLOCK, 64, 1 << 20, "halving", NULL);
    chooses("SKEIN_REDUCE_SCATTER_PAIRS=512K", SK_REDUCE_SCATTER, 64, 1 << 20, "pairwise",
            "1048576 bytes >= 524288 (SKEIN_REDUCE_SCATTER_PAIRS)");
    chooses("SKEIN_REDUCE_SCATTER_LONG=128", SK_REDUCE_SCATTER, 64, 64, "doubling", NULL);
    chooses("SKEIN_REDUCE_SCATTER_LONG=64", SK_REDUCE_SCATTER, 64, 64, "halving",
            "64 bytes >= 64 (SKEIN_REDUCE_SCATTER_LONG), the operation commutes");
    sk_call c = call(SK_REDUCE_SCATTER, 64, above);
    c.ordered = true;
    chooses_call("", c, "pairwise", NULL);
    c = call(SK_REDUCE_SCATTER, 64, above - 64);
    c.ordered = true;
    chooses_call("", c, "doubling", NULL);
}

static void long_reductions_are_cut_into_parts(void **state)
{
    (void)state;
    chooses("", SK_ALLREDUCE, 16, 8, "doubling", "8 bytes < 12288 (SKEIN_ALLREDUCE_LONG)");
    chooses("", SK_ALLREDUCE, 16, 65536, "rabenseifner",
            "65536 bytes >= 12288 (SKEIN_ALLREDUCE_LONG)");
    chooses("", SK_ALLREDUCE, 16, 16 << 20, "ring",
            "16777216 bytes >= 8388608 "
            "(SKEIN_ALLREDUCE_RING)");
    chooses("", SK_REDUCE, 16, 8, "binomial", NULL);
    chooses("", SK_REDUCE, 16, 65536, "binomial", "65536 bytes < 131072 (SKEIN_REDUCE_LONG)");
    chooses("", SK_REDUCE, 16, 1 << 20, "rabenseifner", NULL);
    chooses("", SK_REDUCE, 7, 1 << 20, "binomial", "7 ranks < 8 (SKEIN_REDUCE_LONG_RANKS)");
}

static void data_movement_follows_size_and_ranks(void **state)
{
    (void)state;
    chooses("", SK_ALLGATHER, 16, 8, "doubling", NULL);
    chooses(
        "", SK_ALLGATHER, 15, 8, "bruck",
        "120 bytes on each rank < 2097152 (SKEIN_ALLGATHER_LONG), 15 ranks are no power of two");
    chooses("", SK_ALLGATHER, 16, 1 << 20, "neighbour", NULL);
    chooses("", SK_ALLGATHER, 15, 1 << 20, "ring", NULL);
    chooses("", SK_ALLTOALL, 8, 8, "scattered", "8 bytes >= 0 (the formula for this many ranks)");
    chooses("", SK_ALLTOALL, 10, 8, "doubling",
            "800 bytes on all ranks < 1024 "
            "(SKEIN_ALLTOALL_TINY)");
    chooses("", SK_ALLTOALL, 32, 8, "bruck", NULL);
    chooses("", SK_ALLTOALL, 32, 1024, "scattered", NULL);
    chooses("", SK_ALLTOALL, 32, 65536, "pairwise", NULL);
    chooses("", SK_BARRIER, 9, 0, "dissemination", "best for every size and number of ranks");
    chooses("", SK_GATHER, 9, 8, "linear", "8 bytes >= 0 (the formula for this many ranks)");
    chooses("", SK_GATHER, 64, 8, "binomial", "8 bytes < 794 (the formula for this many ranks)");
    chooses("", SK_GATHER, 64, 8192, "linear", NULL);
    chooses("SKEIN_GATHER_LONG=8K", SK_GATHER, 9, 8, "binomial",
            "8 bytes < 8192 (SKEIN_GATHER_LONG)");
    chooses("", SK_SCATTER, 9, 8, "linear", NULL);
    chooses("", SK_SCATTER, 32, 8, "binomial", NULL);
    chooses("", SK_SCATTER, 32, 1 << 20, "linear", NULL);
    chooses("", SK_GATHERV, 9, 0, "linear", "9 ranks < 32 (SKEIN_GATHERV_RANKS)");
    chooses("", SK_GATHERV, 32, 0, "binomial", "32 ranks >= 32 (SKEIN_GATHERV_RANKS)");
    chooses("", SK_SCATTERV, 33, 0, "binomial", NULL);
}

static void forcing_wins_over_the_rules(void **state)
{
    (void)state;
    chooses("SKEIN_ALLREDUCE=ring", SK_ALLREDUCE, 48, 65536, "ring", "SKEIN_ALLREDUCE=ring");
    chooses("SKEIN_ALLREDUCE=auto", SK_ALLREDUCE, 48, 8, "doubling", NULL);
}

static void a_forced_algorithm_that_does_not_fit_gives_way(void **state)
{
    (void)state;
    sk_call c = call(SK_ALLREDUCE, 16, 64);
    c.ordered = true;
    chooses_call("SKEIN_ALLREDUCE=ring", c, "doubling",
                 "forced ring does not fit this call, 64 bytes < 12288 (SKEIN_ALLREDUCE_LONG)");
}

static void off_leaves_calls_to_the_host(void **state)
{
    (void)state;
    chooses("SKEIN=off", SK_BCAST, 4, 8, "host", "SKEIN=off");
    chooses("SKEIN_BCAST=off", SK_BCAST, 4, 8, "host", "SKEIN_BCAST=off");
    chooses("SKEIN_BCAST=off", SK_ALLREDUCE, 4, 8, "doubling", NULL);
    sk_select *s = with("SKEIN_BCAST=off");
    assert_false(sk_select_enabled(s, SK_BCAST));
    assert_true(sk_select_enabled(s, SK_ALLREDUCE));
    assert_null(sk_select_forced(s, SK_BCAST));
    sk_select_free(s);
}

static void scratch_above_the_cap_takes_another_algorithm(void **state)
{
    (void)state;
    sk_call c = call(SK_ALLREDUCE, 16, 1 << 20);
    sk_select *s = with("SKEIN_MEM=16");
    sk_choice choice;
    sk_select_explain(s, &c, &choice);
    if (choice.algo && choice.algo->scratch)
        assert_true(choice.algo->scratch(&c) <= 16);
    assert_non_null(strstr(choice.why, "needs more scratch than SKEIN_MEM"));
    sk_select_free(s);
}

static void unknown_algorithms_are_answered_with_the_nearest(void **state)
{
    (void)state;
    char err[256] = "", *env[] = {"SKEIN_ALLREDUCE=rign", NULL}, *name[] = {"SKEIN_BCST=x", NULL};
    sk_select *s = NULL;
    assert_int_equal(sk_select_new(env, &s, err, sizeof err), SK_BADARG);
    assert_null(s);
    assert_string_equal(err, "SKEIN_ALLREDUCE=rign: no such algorithm; did you mean ring?");
    assert_int_equal(sk_select_new(name, &s, err, sizeof err), SK_BADARG);
    assert_string_equal(err, "unknown setting SKEIN_BCST; did you mean SKEIN_BCAST?");
}

static void old_names_of_algorithms_still_work_with_a_note(void **state)
{
    (void)state;
    sk_select *s = with("SKEIN_BCAST=shared");
    assert_string_equal(sk_select_forced(s, SK_BCAST)->name, "shm");
    assert_string_equal(sk_settings_notes(sk_select_settings(s)),
                        "SKEIN_BCAST=shared: this algorithm is now called shm\n");
    sk_select_free(s);
    s = with("SKEIN_ALLTOALL=exposed");
    assert_string_equal(sk_select_forced(s, SK_ALLTOALL)->name, "single-copy");
    sk_select_free(s);
    s = with("SKEIN_BCAST=shm");
    assert_string_equal(sk_settings_notes(sk_select_settings(s)), "");
    sk_select_free(s);
    s = with("SKEIN_MODEL=net:1us turn:3us");
    assert_string_equal(sk_settings_notes(sk_select_settings(s)),
                        "SKEIN_MODEL: turn: is now called stage:\n");
    sk_select_free(s);
}

/* An algorithm without a machine and without a bound is the choice of last resort. */
static void every_collective_has_an_algorithm_for_every_call(void **state)
{
    (void)state;
    for (int coll = 0; coll < SK_NEIGHBOR_ALLGATHER; coll++) {
        bool any = false;
        for (const sk_algo *const *a = sk_algos(); *a; a++)
            for (int i = 0; i < SK_RULES_MAX; i++) {
                const sk_rule *r = &(*a)->rule[i];
                any |= (int)(*a)->coll == coll && r->when == SK_WHEN_ANY && !r->from && !r->below &&
                       !r->ranks && !r->nodes;
            }
        if (!any)
            fail_msg("no algorithm for every %s", sk_coll_name((sk_coll)coll));
    }
}

/* The phase among leaders asks the same rules, and obeys the same settings. */
static void parts_of_a_call_are_chosen_by_the_same_rules(void **state)
{
    (void)state;
    static const struct {
        const char *entry;
        sk_coll coll;
        int nranks;
        int64_t bytes;
        const char *algo;
    } cases[] = {
        {"", SK_BCAST, 8, 12288, "scatter-doubling"},
        {"SKEIN_BCAST_LONG=64K", SK_BCAST, 8, 12288, "binomial"},
        {"", SK_ALLREDUCE, 15, 16384, "rabenseifner"},
        {"SKEIN_ALLREDUCE=ring", SK_ALLREDUCE, 15, 2048, "ring"},
        {"SKEIN_ALLREDUCE=leaders", SK_ALLREDUCE, 15, 8, "doubling"}, /* does not fit a part */
        {"SKEIN_ALLREDUCE=off", SK_ALLREDUCE, 15, 8, "doubling"},
        {"", SK_ALLGATHERV, 15, 150, "doubling"}, /* bruck cannot be a part */
        {"", SK_GATHERV, 64, 0, "linear"},        /* nor can what sends packets */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_call c = call(cases[i].coll, cases[i].nranks, cases[i].bytes);
        c.sub = true;
        chooses_call(cases[i].entry, c, cases[i].algo, NULL);
        sk_select *s = with(cases[i].entry);
        const sk_chooser *x = sk_select_chooser(s);
        assert_string_equal(x->choose(x, &c)->name, cases[i].algo);
        sk_select_free(s);
    }
}

/* Leaders send fewer messages and more bytes: they serve longer calls where messages are dear. */
static void leaders_serve_more_where_messages_are_dear(void **state)
{
    (void)state;
    sk_machine *m = NULL;
    char err[128];
    assert_int_equal(sk_machine_parse("node:4 core:4", 16, &m, err, sizeof err), SK_OK);
    sk_call bcast = call(SK_BCAST, 16, 600 << 10), sum = call(SK_ALLREDUCE, 16, 600 << 10);
    bcast.machine = sum.machine = m;
    sum.builtin = true;
    chooses_call("", bcast, "scatter-doubling", NULL);
    m->net.message = 50000;
    chooses_call("", bcast, "leaders", NULL);
    chooses_call("SKEIN_LEADERS_VECTOR=512K", bcast, "scatter-doubling", NULL);
    chooses_call("", sum, "leaders", NULL);
    sum.rounds = true; /* the same bits in each run */
    chooses_call("", sum, "ring", NULL);
    m->net.message = 100; /* never fewer */
    bcast.recv.count = 500 << 10;
    chooses_call("", bcast, "leaders", NULL);
    sk_call blocks = call(SK_ALLTOALL, 16, 11 << 10), scatter = call(SK_SCATTER, 16, 16 << 10);
    blocks.machine = scatter.machine = m;
    m->net.message = 1 << 20;
    chooses_call("", blocks, "leaders", NULL);
    chooses_call("", scatter, "leaders", NULL);
    blocks = call(SK_ALLTOALL, 16, 12 << 10); /* all blocks of two nodes are one message */
    blocks.machine = m;
    chooses_call("", blocks, "scattered", NULL);
    sk_machine_free(m);
}

static void a_chain_of_nodes_serves_few_nodes(void **state)
{
    (void)state;
    sk_machine *few = NULL, *many = NULL;
    char err[128];
    assert_int_equal(sk_machine_parse("node:8 core:2", 16, &few, err, sizeof err), SK_OK);
    assert_int_equal(sk_machine_parse("node:9 core:2", 18, &many, err, sizeof err), SK_OK);
    sk_call c = call(SK_SCAN, 16, 1024), d = call(SK_EXSCAN, 18, 1024);
    c.machine = few;
    d.machine = many;
    c.builtin = d.builtin = true;
    c.slot_bytes = d.slot_bytes = 64 << 10;
    chooses_call("", c, "chain", NULL);
    chooses_call("SKEIN_SCAN_CHAIN_NODES=7", c, "leaders", NULL);
    chooses_call("", d, "leaders", NULL);
    chooses_call("SKEIN_SCAN_CHAIN_NODES=9", d, "chain", NULL);
    chooses_call("SKEIN_SCAN_CHAIN=1K", d, "chain", NULL); /* long vectors, on many nodes too */
    sk_machine_free(few);
    sk_machine_free(many);
}

static bool goes_straight(const char *env, sk_machine *m, sk_coll coll, int64_t bytes)
{
    sk_select *s = with(env);
    sk_plans *ps = sk_plans_new(4);
    sk_plan *plan = NULL;
    sk_call c = call(coll, 8, bytes);
    c.machine = m;
    c.builtin = true;
    assert_non_null(ps);
    assert_int_equal(sk_plans_get(ps, s, &c, &plan), SK_OK);
    bool straight = plan->straight;
    c.in_place = true; /* perhaps at this rank alone */
    assert_int_equal(sk_plans_get(ps, s, &c, &plan), SK_OK);
    assert_int_equal(plan->straight, straight);
    sk_plans_free(ps);
    sk_select_free(s);
    return straight;
}

/* Between nodes the host starts these calls, but not if the user asks for an algorithm. */
static void the_host_sends_blocks_straight_as_well(void **state)
{
    (void)state;
    sk_machine *nodes = NULL, *node = NULL;
    char err[128];
    assert_int_equal(sk_machine_parse("node:2 core:4", 8, &nodes, err, sizeof err), SK_OK);
    assert_int_equal(sk_machine_parse("core:8", 8, &node, err, sizeof err), SK_OK);
    assert_true(goes_straight("", nodes, SK_ALLTOALLV, 8));
    assert_true(goes_straight("", nodes, SK_GATHERV, 8));
    assert_true(goes_straight("", nodes, SK_GATHER, 64 << 10));
    assert_false(goes_straight("", nodes, SK_GATHER, 8)); /* by leaders */
    assert_false(goes_straight("", nodes, SK_REDUCE_SCATTER_BLOCK, 8));
    assert_false(goes_straight("", node, SK_ALLTOALLV, 8));
    assert_false(goes_straight("", NULL, SK_ALLTOALLV, 8));
    assert_false(goes_straight("SKEIN_ALLTOALLV=scattered", nodes, SK_ALLTOALLV, 8));
    sk_machine_free(nodes);
    sk_machine_free(node);
}

/* A network on which a message's software takes as long as 460 bytes, as on the global-collectives paper's. */
static void scatter_goes_straight_where_messages_are_cheap(void **state)
{
    (void)state;
    sk_machine *m = NULL;
    char err[128];
    assert_int_equal(sk_machine_parse("node:32 core:1", 32, &m, err, sizeof err), SK_OK);
    sk_call shorter = call(SK_SCATTER, 32, 128), longer = call(SK_SCATTER, 32, 256);
    shorter.machine = longer.machine = m;
    chooses_call("", longer, "binomial", "256 bytes < 512 (the formula for this many ranks)");
    m->net = (sk_net_bytes){.software = 460, .way = 1150};
    chooses_call("", longer, "linear", "256 bytes >= 179 (the formula for this many ranks)");
    chooses_call("", shorter, "binomial", NULL);
    chooses_call("SKEIN_SCATTER_LONG=1K", longer, "binomial", NULL);
    sk_machine_free(m);
}

/* Whatever the choice or a builder reads is in the key of the cache. */
static void plans_of_different_calls_are_different(void **state)
{
    (void)state;
    sk_select *s = with("");
    sk_plans *ps = sk_plans_new(16);
    assert_non_null(ps);
    sk_machine *m = NULL;
    char err[128];
    assert_int_equal(sk_machine_parse("node:2 core:4", 8, &m, err, sizeof err), SK_OK);
    sk_call c = call(SK_ALLREDUCE, 8, 64);
    c.machine = m;
    c.builtin = true;
    sk_plan *plan = NULL;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(sk_plans_get(ps, s, &c, &plan), SK_OK);
        assert_int_equal(sk_plans_count(ps).built, 1);
    }
    sk_call others[] = {c, c, c, c};
    others[0].slot_bytes = 4096;
    others[1].direct = true;
    others[2].leaders = 2;
    others[3].rounds = true;
    for (int i = 0; i < 4; i++) {
        assert_int_equal(sk_plans_get(ps, s, &others[i], &plan), SK_OK);
        assert_int_equal(sk_plans_count(ps).built, i + 2);
    }
    sk_plans_free(ps);
    sk_machine_free(m);
    sk_select_free(s);
}

/* Ranks that disagree would hang: nothing that differs between ranks may show in the choice. */
static void every_rank_chooses_the_same(void **state)
{
    (void)state;
    sk_select *s = with("");
    for (int coll = 0; coll <= SK_EXSCAN; coll++)
        for (int p = 1; p <= 33; p++)
            for (int64_t bytes = 0; bytes < 1 << 20; bytes = bytes * 8 + p) {
                sk_choice first, other;
                sk_call c = call((sk_coll)coll, p, bytes);
                sk_select_explain(s, &c, &first);
                assert_non_null(first.algo);
                assert_true(first.why[0]);
                c.rank = p - 1;
                c.in_place = coll != SK_SCATTER && coll != SK_GATHER;
                sk_select_explain(s, &c, &other);
                assert_ptr_equal(first.algo, other.algo);
                assert_string_equal(first.why, other.why);
            }
    sk_select_free(s);
}

static void is_other(sk_select *s, sk_call c, const char *first, const char *other)
{
    sk_choice choice;
    sk_select_explain(s, &c, &choice);
    assert_string_equal(choice.algo->name, first);
    const sk_algo *a = sk_select_other(s, &c);
    assert_string_equal(a ? a->name : "none", other);
    c.other = true;
    sk_select_explain(s, &c, &choice);
    assert_string_equal(choice.algo->name, a ? other : first);
}

/* What is tried beside the choice: near its cutoff, of the same kind, and nothing where the user chooses. */
static void the_other_algorithm_is_one_that_nearly_holds(void **state)
{
    (void)state;
    char err[256];
    sk_machine *m = NULL;
    assert_int_equal(sk_machine_parse("node:1 core:4", 4, &m, err, sizeof err), SK_OK);
    assert_int_equal(sk_copy_prices_parse("in:0.1ns out:0.1ns copy:0.02ns read:0.1ns reread:0.03ns "
                                          "call:3us",
                                          &m->copy, err, sizeof err),
                     SK_OK);
    sk_select *s = with("");
    sk_call c = call(SK_BCAST, 4, 16 << 10);
    c.machine = m;
    c.slot_bytes = 512 << 10;
    c.direct = true;
    is_other(s, c, "shm", "single-copy");
    c.recv.count = 1 << 20;
    is_other(s, c, "single-copy", "shm");
    c.recv.count = 8; /* nobody reads eight bytes in place */
    is_other(s, c, "shm", "none");
    sk_select_free(s);
    s = with("SKEIN_SINGLE_COPY=1"); /* but if a setting says so it is worth a try to do better */
    is_other(s, c, "single-copy", "shm");
    sk_select_free(s);
    s = with("SKEIN_BCAST=shm");
    is_other(s, c, "shm", "none");
    sk_select_free(s);
    sk_machine_free(m);
    s = with("");
    is_other(s, call(SK_ALLREDUCE, 8, 8), "doubling", "none");
    is_other(s, call(SK_ALLREDUCE, 8, 16 << 10), "rabenseifner", "doubling");
    is_other(s, call(SK_ALLTOALL, 16, 512), "scattered", "bruck");
    is_other(s, call(SK_ALLTOALL, 16, 60 << 10), "scattered", "none"); /* far beyond short blocks */
    sk_select_free(s);
}

/* 4 ranks on 2 nodes. Halving sends two messages of 60 blocks, direct a hundred of one. */
static void neighbours_take_the_cheapest_pattern(void **state)
{
    (void)state;
    sk_select *s = with("SKEIN_MODEL=net:1us,1GB node:1us,1GB socket:1us,1GB");
    sk_machine *machine = NULL;
    sk_graph *graph = NULL;
    sk_pattern *any = sk_pattern_new(4, 0);
    char err[128];
    const int all[] = {1, 2, 3};
    assert_int_equal(sk_machine_parse("node:2 core:2", 4, &machine, err, sizeof err), SK_OK);
    assert_int_equal(sk_graph_new(4, 0, 3, all, 3, all, false, &graph), SK_OK);
    assert_int_equal(sk_pattern_freeze(any), SK_OK);
    sk_neighborhood neighborhood = {.base = {graph, 64}, .machine = machine};
    neighborhood.pattern[SK_METHOD_DIRECT] = neighborhood.pattern[SK_METHOD_HALVING] = any;
    neighborhood.load[SK_METHOD_DIRECT] =
        (sk_load){.stages = 1, .messages = {0, 0, 100}, .allgather_blocks = {0, 0, 100}};
    neighborhood.load[SK_METHOD_HALVING] =
        (sk_load){.stages = 2, .messages = {0, 0, 2}, .allgather_blocks = {0, 0, 120}};
    sk_choice choice;
    for (int bytes = 1; bytes < 1 << 20; bytes *= 4) {
        sk_call c = call(SK_NEIGHBOR_ALLGATHER, 4, bytes);
        c.neighborhood = &neighborhood.base;
        sk_select_explain(s, &c, &choice);
        /* a + 100 a / 6 + 2 (100 m + 12800) b = 2 a + 2 a / 6 + 120 m b + 2 (120 m + 256) b, b = a / 1000:
         * even at m = 253. */
        assert_string_equal(choice.algo->name, bytes < 253 ? "halving" : "direct");
    }
    sk_call v = call(SK_NEIGHBOR_ALLTOALLV, 4, 1 << 20);
    v.neighborhood = &neighborhood.base; /* goes by what was agreed, not by its own size */
    sk_select_explain(s, &v, &choice);
    assert_string_equal(choice.algo->name, "halving");
    sk_pattern_free(any);
    sk_graph_free(graph);
    sk_machine_free(machine);
    sk_select_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bcast_changes_at_12k_and_8_ranks),
        cmocka_unit_test(reduce_scatter_cutoff_fits_the_papers_points),
        cmocka_unit_test(reduce_scatter_changes_by_the_formula),
        cmocka_unit_test(long_reductions_are_cut_into_parts),
        cmocka_unit_test(data_movement_follows_size_and_ranks),
        cmocka_unit_test(forcing_wins_over_the_rules),
        cmocka_unit_test(a_forced_algorithm_that_does_not_fit_gives_way),
        cmocka_unit_test(off_leaves_calls_to_the_host),
        cmocka_unit_test(scratch_above_the_cap_takes_another_algorithm),
        cmocka_unit_test(unknown_algorithms_are_answered_with_the_nearest),
        cmocka_unit_test(old_names_of_algorithms_still_work_with_a_note),
        cmocka_unit_test(every_collective_has_an_algorithm_for_every_call),
        cmocka_unit_test(parts_of_a_call_are_chosen_by_the_same_rules),
        cmocka_unit_test(leaders_serve_more_where_messages_are_dear),
        cmocka_unit_test(a_chain_of_nodes_serves_few_nodes),
        cmocka_unit_test(the_host_sends_blocks_straight_as_well),
        cmocka_unit_test(scatter_goes_straight_where_messages_are_cheap),
        cmocka_unit_test(plans_of_different_calls_are_different),
        cmocka_unit_test(every_rank_chooses_the_same),
        cmocka_unit_test(the_other_algorithm_is_one_that_nearly_holds),
        cmocka_unit_test(neighbours_take_the_cheapest_pattern),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
