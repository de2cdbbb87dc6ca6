/* Neighbours that share memory: what is copied, what is taken, which epochs all ranks append, and
 * which messages are left. */
#include "unit.h"

#include <stdlib.h>

#include "coll/algo.h"
#include "lab/neighbor/check.h"
#include "neighbor/neighborhood.h"

enum { MOST = 8, ROOM = 4096 };

/* One rank's call, to be changed before it is built. */
typedef struct one {
    sk_graph *graph;
    sk_machine *machine;
    sk_pattern *pattern;
    sk_neighborhood neighborhood;
    sk_call call;
    int64_t counts[2][MOST], offs[2][MOST];
} one;

static one *new_one(sk_coll coll, const char *on, int nranks, int rank, int nin, const int *in,
                    int nout, const int *out)
{
    one *o = calloc(1, sizeof *o);
    assert_non_null(o);
    assert_int_equal(sk_graph_new(nranks, rank, nin, in, nout, out, false, &o->graph), SK_OK);
    o->machine = sk_check_machine(on, nranks);
    o->pattern = sk_pattern_new(nranks, rank);
    assert_non_null(o->pattern);
    o->neighborhood = (sk_neighborhood){
        .base.graph = o->graph, .machine = o->machine, .combine_limit = 16, .parallel = 1};
    o->call = (sk_call){.coll = coll,
                        .nranks = nranks,
                        .rank = rank,
                        .send = {.count = 4},
                        .recv = {.count = 4},
                        .types = unit_types,
                        .ntypes = 2,
                        .neighborhood = &o->neighborhood.base,
                        .machine = o->machine,
                        .slot_bytes = ROOM,
                        .direct = true};
    return o;
}

static void free_one(one *o)
{
    sk_graph_free(o->graph);
    sk_machine_free(o->machine);
    sk_pattern_free(o->pattern);
    free(o);
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

static bool fits(const one *o, const char *name)
{
    const sk_algo *a = sk_algo_find(o->call.coll, name);
    assert_non_null(a);
    return a->fits(&o->call);
}

static sk_sched *build(one *o, const char *name)
{
    sk_sched *s = NULL;
    assert_int_equal(sk_algo_build(sk_algo_find(o->call.coll, name), &o->call, &s), SK_OK);
    return s;
}

static int64_t slot_bytes_of(one *o, const char *name)
{
    sk_sched *s = build(o, name);
    const struct sk_sched_view *v = sk_sched_view(s);
    assert_int_equal(v->nepochs, 1);
    int64_t slot_bytes = v->epochs[0].slot_bytes;
    sk_sched_free(s);
    return slot_bytes;
}

/* A bundle or two of a pattern, and what the ranks agreed on. */
static sk_sched *build_pattern(one *o, const char *name)
{
    sk_method_id by = sk_method_find(name);
    assert_int_equal(sk_pattern_freeze(o->pattern), SK_OK);
    o->neighborhood.pattern[by] = o->pattern;
    sk_load mine = sk_load_of(o->pattern, o->machine);
    sk_load_join(&o->neighborhood.load[by], &mine);
    return build(o, name);
}

static uint32_t count_kind(const sk_sched *s, sk_step_kind kind)
{
    const struct sk_sched_view *v = sk_sched_view(s);
    uint32_t n = 0;
    for (uint32_t i = 0; i < v->nsteps; i++)
        n += v->steps[i].kind == (uint32_t)kind;
    return n;
}

/* ---- one node ---- */

static void allgather_copies_once_and_takes_from_every_source(void **state)
{
    (void)state;
    one *o =
        new_one(SK_NEIGHBOR_ALLGATHER, "core:6", 6, 0, 4, (int[]){4, 0, 2, 4}, 3, (int[]){1, 2, 0});
    sk_sched *s = build(o, "shm");
    sk_sched_stats n = sk_sched_count(s);
    assert_int_equal(n.copies, 2); /* into the slot, and to myself */
    assert_int_equal(n.takes, 3);
    assert_int_equal(n.sends + n.recvs, 0);
    assert_int_equal(n.scratch, 0);
    assert_int_equal(sk_sched_view(s)->nrounds, 2);
    assert_int_equal(sk_sched_view(s)->epochs[0].slot_bytes, 4);
    sk_sched_free(s);
    free_one(o);
}

/* Edge number k to local rank m has place k * local ranks + m. */
static void parallel_edges_have_places_of_their_own(void **state)
{
    (void)state;
    one *o = new_one(SK_NEIGHBOR_ALLTOALL, "core:3", 3, 0, 0, NULL, 3, (int[]){2, 1, 2});
    o->neighborhood.parallel = 2;
    sk_sched *s = build(o, "shm");
    const struct sk_sched_view *v = sk_sched_view(s);
    static const int64_t user[] = {4, 0, 8}, place[] = {4, 8, 20};
    assert_int_equal(v->epochs[0].slot_bytes, 24);
    for (int i = 0; i < 3; i++) {
        const sk_step *st = &v->steps[v->rounds[0].first + v->rounds[0].nhead + (uint32_t)i];
        assert_int_equal(st->kind, SK_STEP_COPY);
        assert_int_equal(st->a.off, user[i]);
        assert_int_equal(st->b.off, place[i]);
    }
    sk_sched_free(s);
    free_one(o);
}

static void who_gives_nothing_posts_nothing(void **state)
{
    (void)state;
    one *o = new_one(SK_NEIGHBOR_ALLTOALL, "core:3", 3, 0, 1, (int[]){1}, 0, NULL);
    sk_sched *s = build(o, "shm");
    assert_int_equal(count_kind(s, SK_STEP_POST), 0);
    assert_int_equal(sk_sched_count(s).takes, 1);
    sk_sched_free(s);
    free_one(o);
}

static void it_fits_one_node_with_room_for_the_blocks(void **state)
{
    (void)state;
    one *o = new_one(SK_NEIGHBOR_ALLTOALL, "node:2 core:2", 4, 0, 0, NULL, 1, (int[]){1});
    assert_false(fits(o, "shm"));
    free_one(o);
    o = new_one(SK_NEIGHBOR_ALLTOALL, "core:4", 4, 0, 0, NULL, 1, (int[]){1});
    assert_true(fits(o, "shm"));
    assert_true(fits(o, "single-copy"));
    o->call.send.count = ROOM / 4 + 1;
    assert_false(fits(o, "shm"));
    assert_true(fits(o, "single-copy"));
    o->call.direct = false;
    assert_false(fits(o, "single-copy"));
    o->neighborhood.some_idle = true; /* longer blocks are then sent */
    assert_true(fits(o, "shm"));
    o->call.slot_bytes = 0;
    assert_false(fits(o, "shm"));
    o->call.slot_bytes = ROOM;
    o->neighborhood.machine = NULL;
    assert_false(fits(o, "shm"));
    free_one(o);
}

/* A rank that knows no size has the epoch as well, but no part in it. */
static void the_epoch_is_there_at_ranks_that_do_not_know_the_size(void **state)
{
    (void)state;
    static const sk_coll colls[] = {SK_NEIGHBOR_ALLGATHER, SK_NEIGHBOR_ALLTOALL};
    for (int i = 0; i < 2; i++) {
        one *o = new_one(colls[i], "core:4", 4, 0, 1, (int[]){2}, 1, (int[]){1});
        one *idle = new_one(colls[i], "core:4", 4, 3, 0, NULL, 0, NULL);
        o->neighborhood.some_idle = idle->neighborhood.some_idle = true;
        assert_int_equal(slot_bytes_of(idle, "shm"), SK_NO_PART);
        assert_int_equal(slot_bytes_of(idle, "single-copy"), SK_NO_PART);
        int64_t places = i == 0 ? 1 : 4, each = o->call.slot_bytes / places;
        for (int64_t n = 1; n <= 100000; n *= 10) {
            o->call.send.count = o->call.recv.count = n;
            assert_int_equal(slot_bytes_of(o, "shm"), places * (n <= each ? n : SK_EXPORT_BYTES));
            assert_int_equal(slot_bytes_of(o, "single-copy"), places * SK_EXPORT_BYTES);
        }
        free_one(o);
        free_one(idle);
    }
}

/* ---- long blocks ---- */

static void single_copy_blocks_are_settled_and_only_gaps_are_packed(void **state)
{
    (void)state;
    for (uint32_t type = 0; type < 2; type++) {
        one *o = new_one(SK_NEIGHBOR_ALLTOALL, "core:4", 4, 0, 1, (int[]){2}, 2, (int[]){1, 2});
        o->call.send.type = type;
        sk_sched *s = build(o, "single-copy");
        assert_int_equal(count_kind(s, SK_STEP_EXPORT), 2);
        assert_int_equal(count_kind(s, SK_STEP_READ), 1);
        assert_int_equal(count_kind(s, SK_STEP_QUIESCE), 1);
        assert_int_equal(sk_sched_count(s).copies, type == HOLEY ? 2 : 0);
        sk_sched_free(s);
        free_one(o);
    }
}

static void only_those_who_export_wait_for_all(void **state)
{
    (void)state;
    one *o = new_one(SK_NEIGHBOR_ALLGATHER, "core:4", 4, 0, 1, (int[]){2}, 0, NULL);
    sk_sched *s = build(o, "single-copy");
    assert_int_equal(count_kind(s, SK_STEP_READ), 1);
    assert_int_equal(count_kind(s, SK_STEP_QUIESCE), 0);
    sk_sched_free(s);
    free_one(o);
}

/* Both ends of an edge know its size, so each block of the v and w forms goes its own way. */
static void blocks_with_sizes_go_by_slot_or_else_are_read_or_sent(void **state)
{
    (void)state;
    for (int direct = 0; direct < 2; direct++) {
        one *o = new_one(SK_NEIGHBOR_ALLTOALLV, "core:4", 4, 0, 0, NULL, 3, (int[]){1, 2, 3});
        o->call.direct = direct;
        lengths(o, SK_SEND, (int64_t[]){7, 0, 3000});
        sk_sched *s = build(o, "shm");
        sk_sched_stats n = sk_sched_count(s);
        assert_int_equal(n.copy_bytes, 7);
        assert_int_equal(n.send_bytes, direct ? 0 : 3000);
        assert_int_equal(count_kind(s, SK_STEP_EXPORT), direct);
        assert_int_equal(count_kind(s, SK_STEP_QUIESCE), direct);
        sk_sched_free(s);
        free_one(o);
    }
}

/* ---- bundles between local ranks ---- */

/* Rank 0 of two nodes of two gets a block from afar, which it hands on to its local rank with its own. */
static one *with_a_local_rank(sk_coll coll)
{
    one *o = new_one(coll, "node:2 core:2", 4, 0, 1, (int[]){1}, 2, (int[]){1, 2});
    sk_pattern_recv(o->pattern, 0, 2, 2, 1);
    sk_pattern_send(o->pattern, 0, 2, 0, 2);
    sk_pattern_send(o->pattern, 2, 1, 0, 1);
    sk_pattern_send(o->pattern, 2, 1, 2, 1);
    sk_pattern_recv(o->pattern, 2, 1, 1, 0);
    return o;
}

static void hauls_between_local_ranks_are_no_messages(void **state)
{
    (void)state;
    static const sk_coll colls[] = {SK_NEIGHBOR_ALLGATHER, SK_NEIGHBOR_ALLTOALL};
    for (int i = 0; i < 2; i++) {
        one *o = with_a_local_rank(colls[i]);
        sk_sched *s = build_pattern(o, "node");
        sk_sched_stats n = sk_sched_count(s);
        assert_int_equal(n.sends, 1);
        assert_int_equal(n.recvs, 1);
        assert_int_equal(n.takes, 1);
        assert_int_equal(n.epochs, 3); /* one for every stage, as all ranks agree */
        assert_int_equal(sk_sched_view(s)->epochs[2].slot_bytes, i == 0 ? 4 * 4 : 2 * 2 * 4);
        sk_sched_free(s);
        free_one(o);
    }
}

static void without_room_or_with_lonely_ranks_they_stay_messages(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        one *o = with_a_local_rank(i == 2 ? SK_NEIGHBOR_ALLGATHERV : SK_NEIGHBOR_ALLGATHER);
        o->call.slot_bytes = i == 0 ? 15 : ROOM;
        o->neighborhood.some_idle = i == 1;
        if (i == 2) {
            lengths(o, SK_SEND, (int64_t[]){4, 4});
            lengths(o, SK_RECV, (int64_t[]){4});
        }
        sk_sched *s = build_pattern(o, "node");
        assert_int_equal(sk_sched_count(s).sends, 2);
        assert_int_equal(sk_sched_count(s).epochs, 0);
        sk_sched_free(s);
        free_one(o);
    }
}

/* The block of a source stands once in the slot, at its rank, however many local ranks take it. */
static void local_ranks_read_one_combined_buffer(void **state)
{
    (void)state;
    one *o = new_one(SK_NEIGHBOR_ALLGATHER, "core:4", 4, 1, 0, NULL, 3, (int[]){0, 2, 3});
    sk_pattern_send(o->pattern, 0, 0, 1, 0);
    sk_pattern_send(o->pattern, 0, 2, 1, 2);
    sk_pattern_send(o->pattern, 0, 3, 1, 3);
    sk_sched *s = build_pattern(o, "halving");
    const struct sk_sched_view *v = sk_sched_view(s);
    assert_int_equal(sk_sched_count(s).copies, 1);
    const sk_step *copy = &v->steps[v->rounds[0].first + v->rounds[0].nhead];
    assert_int_equal(copy->b.off, 4);
    sk_sched_free(s);
    free_one(o);
}

static void blocks_that_end_here_are_taken_straight_into_their_edges(void **state)
{
    (void)state;
    one *o = new_one(SK_NEIGHBOR_ALLGATHER, "core:4", 4, 0, 3, (int[]){3, 1, 3}, 0, NULL);
    sk_pattern_recv(o->pattern, 0, 2, 1, 0);
    sk_pattern_recv(o->pattern, 0, 2, 3, 0);
    sk_sched *s = build_pattern(o, "common");
    sk_sched_stats n = sk_sched_count(s);
    assert_int_equal(n.takes, 3); /* source 3 stands in two edges */
    assert_int_equal(n.copies, 0);
    assert_int_equal(n.scratch, 0);
    sk_sched_free(s);
    free_one(o);
}

static void the_longest_haul_between_local_ranks_is_known(void **state)
{
    (void)state;
    sk_machine *m = sk_check_machine("node:2 socket:2 core:2", 8);
    sk_pattern *p = sk_pattern_new(8, 3);
    assert_non_null(p);
    sk_pattern_send(p, 0, 2, 3, 2);
    sk_pattern_send(p, 0, 2, 3, 7); /* the same block: one for allgather, two for alltoall */
    sk_pattern_recv(p, 0, 0, 0, 3);
    for (int src = 0; src < 3; src++)
        sk_pattern_send(p, 2, 6, src, 6); /* another node */
    assert_int_equal(sk_pattern_freeze(p), SK_OK);
    sk_load l = sk_load_of(p, m);
    assert_int_equal(l.max_intra_allgather_blocks, 1);
    assert_int_equal(l.max_intra_alltoall_blocks, 2);
    sk_pattern_free(p);
    sk_machine_free(m);
}

static void parallel_edges_are_counted_without_loops(void **state)
{
    (void)state;
    one *o = new_one(SK_NEIGHBOR_ALLTOALL, "core:4", 4, 0, 0, NULL, 7,
                     (int[]){0, 2, 0, 1, 2, 0, SK_PROC_NULL});
    assert_int_equal(sk_graph_parallel(o->graph), 2);
    free_one(o);
}

static void short_blocks_stand_together_where_ranks_share_cores(void **state)
{
    (void)state;
    /* Ranks 1, 2 and 3 are one copy, rank 6 another. */
    const int in[] = {1, 2, 3, 6}, out[] = {1};
    one *o = new_one(SK_NEIGHBOR_ALLGATHER, "node:1 core:8", 8, 0, 4, in, 1, out);
    sk_sched *s = build(o, "shm");
    sk_sched_stats apart = sk_sched_count(s);
    sk_sched_free(s);
    o->machine->cores = 2;
    o->neighborhood.load[SK_METHOD_DIRECT].messages[SK_SOCKET] =
        12; /* someone has many neighbours */
    s = build(o, "shm");
    sk_sched_stats together = sk_sched_count(s);
    assert_int_equal(apart.takes, 4);
    assert_int_equal(together.takes, 2);
    assert_int_equal(together.take_bytes, apart.take_bytes);
    assert_int_equal(sk_sched_view(s)->epochs[0].slot_bytes, 8 * sk_call_bytes(&o->call));
    assert_true(sk_sched_view(s)->epochs[0].all);
    sk_sched_free(s);
    free_one(o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allgather_copies_once_and_takes_from_every_source),
        cmocka_unit_test(parallel_edges_have_places_of_their_own),
        cmocka_unit_test(who_gives_nothing_posts_nothing),
        cmocka_unit_test(it_fits_one_node_with_room_for_the_blocks),
        cmocka_unit_test(the_epoch_is_there_at_ranks_that_do_not_know_the_size),
        cmocka_unit_test(single_copy_blocks_are_settled_and_only_gaps_are_packed),
        cmocka_unit_test(only_those_who_export_wait_for_all),
        cmocka_unit_test(blocks_with_sizes_go_by_slot_or_else_are_read_or_sent),
        cmocka_unit_test(hauls_between_local_ranks_are_no_messages),
        cmocka_unit_test(without_room_or_with_lonely_ranks_they_stay_messages),
        cmocka_unit_test(local_ranks_read_one_combined_buffer),
        cmocka_unit_test(blocks_that_end_here_are_taken_straight_into_their_edges),
        cmocka_unit_test(the_longest_haul_between_local_ranks_is_known),
        cmocka_unit_test(parallel_edges_are_counted_without_loops),
        cmocka_unit_test(short_blocks_stand_together_where_ranks_share_cores),
    };
    return RUN(tests);
}
