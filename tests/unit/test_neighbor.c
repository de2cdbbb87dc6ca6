/* From a pattern and a call to a schedule: where blocks are copied and where not, in which rounds
 * messages go, and what happens when the two ends of an edge disagree. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "coll/algo.h"
#include "lab/inproc/inproc.h"
#include "neighbor/neighborhood.h"

enum { MOST = 8 };

/* One rank's call; the pattern of any method will do. */
typedef struct one {
    sk_graph *graph;
    sk_pattern *pattern;
    sk_neighborhood neighborhood;
    sk_call call;
    int64_t counts[2][MOST], offs[2][MOST];
} one;

static one *new_one(sk_coll coll, int nranks, int rank, int nin, const int *in, int nout,
                    const int *out)
{
    one *o = calloc(1, sizeof *o);
    assert_non_null(o);
    assert_int_equal(sk_graph_new(nranks, rank, nin, in, nout, out, false, &o->graph), SK_OK);
    o->pattern = sk_pattern_new(nranks, rank);
    assert_non_null(o->pattern);
    o->neighborhood = (sk_neighborhood){.base.graph = o->graph, .combine_limit = 16};
    o->call = (sk_call){.coll = coll,
                        .nranks = nranks,
                        .rank = rank,
                        .send = {.count = 4},
                        .recv = {.count = 4},
                        .types = unit_types,
                        .ntypes = 2,
                        .neighborhood = &o->neighborhood.base};
    return o;
}

/* Blocks of these lengths, one after the other. */
static void lengths(one *o, sk_buf side, const int64_t *counts)
{
    sk_side *s = side == SK_SEND ? &o->call.send : &o->call.recv;
    int n = sk_call_nblocks(&o->call, side);
    for (int i = 0, at = 0; i < n; at += (int)counts[i++]) {
        o->counts[side][i] = counts[i];
        o->offs[side][i] = at;
    }
    *s = (sk_side){.counts = o->counts[side], .offs = o->offs[side]};
}

static sk_status try_build(one *o, const char *name, sk_sched **s)
{
    sk_method_id by = sk_method_find(name);
    o->neighborhood.pattern[by] = o->pattern;
    return sk_algo_build(sk_algo_find(o->call.coll, name), &o->call, s);
}

static sk_sched *build(one *o, const char *name)
{
    sk_sched *s = NULL;
    assert_int_equal(sk_pattern_freeze(o->pattern), SK_OK);
    assert_int_equal(try_build(o, name, &s), SK_OK);
    return s;
}

static void free_one(one *o, sk_sched *s)
{
    sk_sched_free(s);
    sk_graph_free(o->graph);
    sk_pattern_free(o->pattern);
    free(o);
}

/* ---- copies ---- */

static void blocks_for_edges_in_a_row_land_in_the_users_buffer(void **state)
{
    (void)state;
    one *o = new_one(SK_NEIGHBOR_ALLGATHER, 5, 0, 3, (int[]){4, 1, 2}, 0, NULL);
    sk_pattern_recv(o->pattern, 0, 3, 1, 0);
    sk_pattern_recv(o->pattern, 0, 3, 2, 0);
    sk_pattern_recv(o->pattern, 0, 4, 4, 0);
    sk_sched *s = build(o, "node");
    sk_sched_stats n = sk_sched_count(s);
    assert_int_equal(n.recvs, 2);
    assert_int_equal(n.recv_bytes, 12);
    assert_int_equal(n.copies, 0);
    assert_int_equal(n.scratch, 0);
    free_one(o, s);
}

static void blocks_for_edges_out_of_order_are_copied(void **state)
{
    (void)state;
    one *o = new_one(SK_NEIGHBOR_ALLGATHER, 5, 0, 3, (int[]){2, 1, 2}, 0, NULL);
    sk_pattern_recv(o->pattern, 0, 3, 1, 0);
    sk_pattern_recv(o->pattern, 0, 3, 2, 0);
    sk_sched *s = build(o, "node");
    sk_sched_stats n = sk_sched_count(s);
    assert_int_equal(n.recvs, 1);
    assert_int_equal(n.recv_bytes, 8);
    assert_int_equal(n.copies, 3); /* source 2 stands in two edges */
    assert_int_equal(n.copy_bytes, 12);
    free_one(o, s);
}

/* 1 brings its own block and those of 2 and 4. Two go on to 3 as they came, one to 5 with mine. */
static void a_haul_that_came_together_goes_on_without_a_copy(void **state)
{
    (void)state;
    one *o = new_one(SK_NEIGHBOR_ALLGATHER, 6, 0, 1, (int[]){1}, 1, (int[]){5});
    for (int src = 1; src <= 2; src++) {
        sk_pattern_recv(o->pattern, 0, 1, src, 3);
        sk_pattern_send(o->pattern, 1, 3, src, 3);
    }
    sk_pattern_recv(o->pattern, 0, 1, 4, 5);
    sk_pattern_recv(o->pattern, 0, 1, 1, 0);
    sk_pattern_send(o->pattern, 1, 5, 4, 5);
    sk_pattern_send(o->pattern, 1, 5, 0, 5);
    sk_sched *s = build(o, "halving");
    sk_sched_stats n = sk_sched_count(s);
    assert_int_equal(n.recv_bytes, 12); /* 1, 2 and 4; 1 once, though it is for two */
    assert_int_equal(n.sends, 2);
    assert_int_equal(n.send_bytes, 16);
    assert_int_equal(n.copies, 3);    /* 0 and 4 to be sent to 5, and 1 into my edge */
    assert_int_equal(n.scratch, 128); /* what came, and what goes to 5 */
    assert_int_equal(n.rounds, 2);
    free_one(o, s);
}

/* ---- rounds ---- */

static void a_window_keeps_what_is_at_one_distance_together(void **state)
{
    (void)state;
    one *o = new_one(SK_NEIGHBOR_ALLTOALL, 10, 0, 3, (int[]){9, 8, 7}, 4, (int[]){1, 2, 3, 1});
    o->neighborhood.window = 3;
    sk_sched *s = build(o, "direct");
    const struct sk_sched_view *v = sk_sched_view(s);
    /* 1 both ways and the parallel edge; 2 both ways; 3 both ways */
    assert_int_equal(v->nrounds, 3);
    assert_int_equal(v->rounds[0].nsend, 2);
    assert_int_equal(v->rounds[0].nrecv, 1);
    for (uint32_t r = 1; r < 3; r++) {
        assert_int_equal(v->rounds[r].nrecv, 1);
        assert_int_equal(v->rounds[r].nsend, 1);
    }
    assert_int_equal(v->max_transfers, 3);
    free_one(o, s);
}

static void a_haul_goes_before_straight_messages_of_the_pair(void **state)
{
    (void)state;
    one *o = new_one(SK_NEIGHBOR_ALLTOALLV, 3, 0, 0, NULL, 3, (int[]){1, 1, 1});
    lengths(o, SK_SEND, (int64_t[]){20, 3, 0});
    sk_pattern_send(o->pattern, 0, 1, 0, 1);
    sk_sched *s = build(o, "common");
    const struct sk_sched_view *v = sk_sched_view(s);
    assert_int_equal(v->nrounds, 1);
    assert_int_equal(v->rounds[0].nsend, 3); /* the empty one is not sent */
    assert_int_equal(v->steps[0].kind, SK_STEP_PSEND);
    assert_int_equal(v->steps[1].a.len, 20);
    assert_int_equal(v->steps[2].a.len, 3);
    free_one(o, s);
}

/* ---- mistakes ---- */

static void a_pattern_that_sends_what_it_does_not_have_is_refused(void **state)
{
    (void)state;
    for (int epoch = 0; epoch < 2; epoch++) {
        one *o = new_one(SK_NEIGHBOR_ALLTOALL, 4, 0, 1, (int[]){1}, 1, (int[]){1});
        sk_sched *s = NULL;
        sk_pattern_recv(o->pattern, epoch, 1, 1, 2);
        sk_pattern_send(o->pattern, 1, 2, 1, 2);
        assert_int_equal(sk_pattern_freeze(o->pattern), SK_OK);
        assert_int_equal(try_build(o, "halving", &s), epoch == 0 ? SK_OK : SK_BADARG);
        free_one(o, s);
    }
}

static void a_pattern_with_pairs_that_are_no_neighbours_is_refused(void **state)
{
    (void)state;
    static const sk_coll colls[] = {SK_NEIGHBOR_ALLTOALL, SK_NEIGHBOR_ALLTOALLV};
    for (int i = 0; i < 4; i++) {
        one *o = new_one(colls[i / 2], 4, 0, 1, (int[]){1}, 1, (int[]){1});
        sk_sched *s = NULL;
        if (i % 2)
            sk_pattern_send(o->pattern, 0, 2, 0, 2);
        else
            sk_pattern_recv(o->pattern, 0, 2, 2, 0);
        assert_int_equal(sk_pattern_freeze(o->pattern), SK_OK);
        assert_int_equal(try_build(o, "node", &s), SK_BADARG);
        free_one(o, s);
    }
}

/* Rank 0 sends to rank 2 over rank 1. */
static sk_status over_a_carrier(int64_t sent, int64_t taken, char *got)
{
    one *o[3];
    sk_sched *s[3];
    sk_run runs[3];
    _Alignas(64) static char send[3][64], recv[3][64], scratch[3][512];
    static int64_t packets[3][8];
    memcpy(send[0], "abcdefghijklmnopqrstuvwxyz", 26);
    memset(recv, '.', sizeof recv);
    o[0] = new_one(SK_NEIGHBOR_ALLTOALLV, 3, 0, 0, NULL, 1, (int[]){2});
    o[1] = new_one(SK_NEIGHBOR_ALLTOALLV, 3, 1, 0, NULL, 0, NULL);
    o[2] = new_one(SK_NEIGHBOR_ALLTOALLV, 3, 2, 1, (int[]){0}, 0, NULL);
    lengths(o[0], SK_SEND, &sent);
    lengths(o[2], SK_RECV, &taken);
    sk_pattern_send(o[0]->pattern, 0, 1, 0, 2);
    sk_pattern_recv(o[1]->pattern, 0, 0, 0, 2);
    sk_pattern_send(o[1]->pattern, 1, 2, 0, 2);
    sk_pattern_recv(o[2]->pattern, 1, 1, 0, 2);
    sk_inproc *l = sk_inproc_new(3, NULL);
    assert_non_null(l);
    for (int r = 0; r < 3; r++) {
        s[r] = build(o[r], "common");
        sk_run_init(&runs[r], s[r], sk_inproc_wire(l, r, unit_types), send[r], recv[r], scratch[r],
                    packets[r]);
    }
    sk_status st = sk_inproc_run(l, runs);
    sk_inproc_free(l);
    for (int r = 0; r < 3; r++)
        free_one(o[r], s[r]);
    memcpy(got, recv[2], 24);
    return st;
}

static void carried_blocks_bring_their_sizes(void **state)
{
    (void)state;
    char got[24];
    assert_int_equal(over_a_carrier(5, 5, got), SK_OK);
    assert_memory_equal(got, "abcde.", 6);
    assert_int_equal(over_a_carrier(16, 16, got), SK_OK);
    assert_memory_equal(got, "abcdefghijklmnop.", 17);
    assert_int_equal(over_a_carrier(20, 20, got), SK_OK); /* straight */
    assert_memory_equal(got, "abcdefghijklmnopqrst.", 21);
    assert_int_equal(over_a_carrier(0, 0, got), SK_OK);
    assert_memory_equal(got, "....", 4);
}

static void a_carried_block_longer_than_its_edge_is_an_error(void **state)
{
    (void)state;
    char got[24];
    assert_int_equal(over_a_carrier(9, 8, got), SK_TRUNCATE);
    assert_memory_equal(got, "........", 8);
    assert_int_equal(over_a_carrier(1, 0, got), SK_TRUNCATE);
    assert_int_equal(over_a_carrier(21, 20, got), SK_TRUNCATE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_for_edges_in_a_row_land_in_the_users_buffer),
        cmocka_unit_test(blocks_for_edges_out_of_order_are_copied),
        cmocka_unit_test(a_haul_that_came_together_goes_on_without_a_copy),
        cmocka_unit_test(a_window_keeps_what_is_at_one_distance_together),
        cmocka_unit_test(a_haul_goes_before_straight_messages_of_the_pair),
        cmocka_unit_test(a_pattern_that_sends_what_it_does_not_have_is_refused),
        cmocka_unit_test(a_pattern_with_pairs_that_are_no_neighbours_is_refused),
        cmocka_unit_test(carried_blocks_bring_their_sizes),
        cmocka_unit_test(a_carried_block_longer_than_its_edge_is_an_error),
    };
    return RUN(tests);
}
