#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "coll/algo.h"

static const int64_t counts[] = {2, 0, 3}, offs[] = {100, 7, 50};

/* Rank 1 of three; blocks of two holey elements unless told otherwise. */
static sk_call call_of(sk_coll coll)
{
    return (sk_call){.coll = coll,
                     .nranks = 3,
                     .rank = 1,
                     .send = {.count = 2, .type = HOLEY},
                     .recv = {.count = 2, .type = HOLEY},
                     .types = unit_types,
                     .ntypes = 2};
}

static void assert_span(sk_span s, sk_buf buf, int64_t off, int64_t len)
{
    assert_int_equal(s.buf, buf);
    assert_int_equal(s.off, off);
    assert_int_equal(s.len, len);
}

static void blocks_follow_each_other_by_extent(void **state)
{
    (void)state;
    sk_call c = call_of(SK_ALLTOALL);
    assert_span(sk_send_block(&c, 2), SK_SEND, 48, 12);
    assert_span(sk_recv_block(&c, 1), SK_RECV, 24, 12);
}

static void blocks_stand_at_their_offsets(void **state)
{
    (void)state;
    sk_call c = call_of(SK_ALLGATHERV);
    c.recv.counts = counts;
    c.recv.offs = offs;
    assert_span(sk_recv_block(&c, 0), SK_RECV, 100, 12);
    assert_span(sk_recv_block(&c, 1), SK_RECV, 7, 0);
    assert_span(sk_recv_block(&c, 2), SK_RECV, 50, 18);
    assert_int_equal(sk_call_bytes(&c), 30);
}

static void each_block_may_have_its_type(void **state)
{
    (void)state;
    static const uint32_t types[] = {HOLEY, SK_TYPE_BYTE, SK_TYPE_BYTE};
    sk_call c = call_of(SK_ALLTOALLW);
    c.send = (sk_side){.counts = counts, .offs = offs, .types = types};
    assert_span(sk_send_block(&c, 0), SK_SEND, 100, 12);
    assert_span(sk_send_block(&c, 2), SK_SEND, 50, 3);
    assert_int_equal(sk_send_block(&c, 0).type, HOLEY);
    assert_int_equal(sk_send_block(&c, 2).type, SK_TYPE_BYTE);
}

static void in_place_data_stands_in_the_receive_buffer(void **state)
{
    (void)state;
    static const sk_coll own[] = {SK_GATHER, SK_ALLGATHER};
    for (int i = 0; i < 2; i++) {
        sk_call c = call_of(own[i]);
        c.in_place = true;
        assert_span(sk_send_block(&c, 0), SK_RECV, 24, 12);
    }
    sk_call c = call_of(SK_ALLTOALL);
    c.in_place = true;
    assert_span(sk_send_block(&c, 2), SK_RECV, 48, 12);
    c = call_of(SK_ALLREDUCE);
    c.in_place = true;
    assert_span(sk_send_block(&c, 0), SK_RECV, 0, 12);
    assert_span(sk_send_elems(&c, 1, 1), SK_RECV, 12, 6);
}

static void in_place_scatter_leaves_the_block_in_the_send_buffer(void **state)
{
    (void)state;
    sk_call c = call_of(SK_SCATTER);
    c.in_place = true;
    c.root = 1;
    assert_span(sk_recv_block(&c, 0), SK_SEND, 24, 12);
    assert_span(sk_send_block(&c, 2), SK_SEND, 48, 12);
}

static void reduce_scatter_sums_blocks_and_returns_one(void **state)
{
    (void)state;
    sk_call c = call_of(SK_REDUCE_SCATTER);
    c.recv.counts = counts;
    assert_int_equal(sk_call_elems(&c), 5);
    assert_int_equal(sk_call_bytes(&c), 30);
    assert_span(sk_recv_block(&c, 2), SK_RECV, 0, 18);
    c = call_of(SK_REDUCE_SCATTER_BLOCK);
    assert_int_equal(sk_call_elems(&c), 6);
}

static void bytes_come_from_the_side_that_counts(void **state)
{
    (void)state;
    sk_call c = call_of(SK_SCATTER);
    c.send = (sk_side){0};
    assert_int_equal(sk_call_bytes(&c), 12);
    c = call_of(SK_SCATTER);
    c.root = 1;
    c.recv = (sk_side){0};
    assert_int_equal(sk_call_bytes(&c), 12);
    c = call_of(SK_GATHER);
    c.recv = (sk_side){0};
    assert_int_equal(sk_call_bytes(&c), 12);
    c = call_of(SK_ALLTOALLV);
    assert_int_equal(sk_call_bytes(&c), 0);
}

/* Elements of six bytes. Rank 1 of three sees one block of gatherv and scatterv, the root all. */
static void sizes_are_those_of_the_largest_block(void **state)
{
    (void)state;
    sk_call c = call_of(SK_ALLTOALLV);
    c.send.counts = c.recv.counts = counts;
    c.send.offs = c.recv.offs = offs;
    assert_int_equal(sk_call_bytes(&c), 0);
    assert_int_equal(sk_call_size(&c), 18);
    c = call_of(SK_GATHERV);
    assert_int_equal(sk_call_size(&c), 12);
    c.root = 1;
    c.recv.counts = counts;
    assert_int_equal(sk_call_size(&c), 18);
    c = call_of(SK_SCATTERV);
    assert_int_equal(sk_call_size(&c), 12);
    c.root = 1;
    c.send.counts = counts;
    assert_int_equal(sk_call_size(&c), 18);
    c = call_of(SK_ALLREDUCE);
    assert_int_equal(sk_call_size(&c), sk_call_bytes(&c));
}

static void collectives_are_found_by_name(void **state)
{
    (void)state;
    for (int i = 0; i < SK_NCOLLS; i++) {
        assert_int_equal(sk_coll_find(sk_coll_name((sk_coll)i)), i);
        assert_true(strlen(sk_coll_bytes_mean((sk_coll)i)) > 0);
    }
    assert_int_equal(sk_coll_find("nonesuch"), SK_NCOLLS);
    assert_string_equal(sk_coll_name(SK_NCOLLS), "unknown");
}

static void algorithms_are_found_by_name_and_have_one(void **state)
{
    (void)state;
    bool served[SK_NCOLLS] = {false};
    for (const sk_algo *const *a = sk_algos(); *a; a++) {
        assert_ptr_equal(sk_algo_find((*a)->coll, (*a)->name), *a);
        assert_true((*a)->about && strlen((*a)->about) > 0);
        assert_non_null((*a)->build);
        served[(*a)->coll] = true;
    }
    for (int i = 0; i < SK_NCOLLS; i++)
        assert_true(served[i]);
    assert_null(sk_algo_find(SK_BCAST, "nonesuch"));
}

static void build_broken(sk_sched *s, const sk_call *c)
{
    (void)c;
    sk_send(s, bytes_of(SK_SEND, 0, -1), 0);
}

static void a_failed_build_gives_no_schedule(void **state)
{
    (void)state;
    const sk_algo broken = {.name = "broken", .coll = SK_BCAST, .build = build_broken};
    sk_call c = call_of(SK_BCAST);
    sk_sched *s = NULL;
    assert_int_equal(sk_algo_build(&broken, &c, &s), SK_BADARG);
    assert_null(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_follow_each_other_by_extent),
        cmocka_unit_test(blocks_stand_at_their_offsets),
        cmocka_unit_test(each_block_may_have_its_type),
        cmocka_unit_test(in_place_data_stands_in_the_receive_buffer),
        cmocka_unit_test(in_place_scatter_leaves_the_block_in_the_send_buffer),
        cmocka_unit_test(reduce_scatter_sums_blocks_and_returns_one),
        cmocka_unit_test(bytes_come_from_the_side_that_counts),
        cmocka_unit_test(sizes_are_those_of_the_largest_block),
        cmocka_unit_test(collectives_are_found_by_name),
        cmocka_unit_test(algorithms_are_found_by_name_and_have_one),
        cmocka_unit_test(a_failed_build_gives_no_schedule),
    };
    return RUN(tests);
}
