#include "unit.h"

#include <string.h>

#include "lab/inproc/inproc.h"

enum { RANKS = 3, ROOM = 64 };

/* A few ranks with small buffers. */
typedef struct world {
    sk_inproc *l;
    sk_sched *s[RANKS];
    sk_run run[RANKS];
    char send[RANKS][ROOM], recv[RANKS][ROOM];
} world;

static world new_world(const sk_inproc_hooks *hooks)
{
    world w = {.l = sk_inproc_new(RANKS, hooks)};
    assert_non_null(w.l);
    for (int r = 0; r < RANKS; r++) {
        w.s[r] = unit_sched();
        for (int i = 0; i < ROOM; i++) {
            w.send[r][i] = (char)(10 * (r + 1) + i);
            w.recv[r][i] = '.';
        }
    }
    return w;
}

static sk_status play(world *w)
{
    for (int r = 0; r < RANKS; r++) {
        assert_int_equal(sk_sched_freeze(w->s[r]), SK_OK);
        sk_run_init(&w->run[r], w->s[r], sk_inproc_wire(w->l, r, unit_types), w->send[r],
                    w->recv[r], NULL, NULL);
    }
    sk_status st = sk_inproc_run(w->l, w->run);
    for (int r = 0; r < RANKS; r++)
        sk_sched_free(w->s[r]);
    return st;
}

static void messages_of_a_pair_keep_their_order(void **state)
{
    (void)state;
    world w = new_world(NULL);
    sk_send(w.s[0], bytes_of(SK_SEND, 0, 2), 1);
    sk_send(w.s[0], bytes_of(SK_SEND, 2, 3), 1);
    sk_recv(w.s[1], bytes_of(SK_RECV, 0, 2), 0);
    sk_fence(w.s[1]);
    sk_recv(w.s[1], bytes_of(SK_RECV, 2, 3), 0);
    assert_int_equal(play(&w), SK_OK);
    assert_memory_equal(w.recv[1], w.send[0], 5);
    assert_int_equal(sk_inproc_messages(w.l), 2);
    assert_int_equal(sk_inproc_stuck(w.l), 0);
    sk_inproc_free(w.l);
}

static void a_send_waits_for_its_receive(void **state)
{
    (void)state;
    world w = new_world(NULL);
    for (int r = 0; r < 2; r++) {
        sk_send(w.s[r], bytes_of(SK_SEND, 0, 2), 1 - r);
        sk_fence(w.s[r]);
        sk_recv(w.s[r], bytes_of(SK_RECV, 0, 2), 1 - r);
    }
    assert_int_equal(play(&w), SK_DEADLOCK);
    assert_int_equal(sk_inproc_stuck(w.l), 2);
    sk_inproc_free(w.l);
}

static void a_message_without_receiver_is_a_deadlock(void **state)
{
    (void)state;
    world w = new_world(NULL);
    sk_send_signal(w.s[0], 2);
    assert_int_equal(play(&w), SK_DEADLOCK);
    assert_int_equal(sk_inproc_stuck(w.l), 1);
    sk_inproc_free(w.l);
}

static void a_world_is_empty_after_a_deadlock(void **state)
{
    (void)state;
    world w = new_world(NULL);
    sk_send(w.s[0], bytes_of(SK_SEND, 0, 2), 1);
    assert_int_equal(play(&w), SK_DEADLOCK);
    world again = new_world(NULL);
    sk_inproc_free(again.l);
    again.l = w.l;
    sk_send(again.s[0], bytes_of(SK_SEND, 5, 2), 1);
    sk_recv(again.s[1], bytes_of(SK_RECV, 0, 2), 0);
    assert_int_equal(play(&again), SK_OK);
    assert_memory_equal(again.recv[1], again.send[0] + 5, 2);
    sk_inproc_free(w.l);
}

static void a_long_message_is_truncated_and_reported(void **state)
{
    (void)state;
    world w = new_world(NULL);
    sk_send(w.s[0], bytes_of(SK_SEND, 0, 8), 1);
    sk_recv(w.s[1], bytes_of(SK_RECV, 0, 5), 0);
    assert_int_equal(play(&w), SK_TRUNCATE);
    assert_int_equal(w.run[1].status, SK_TRUNCATE);
    assert_int_equal(w.run[0].status, SK_OK);
    assert_int_equal(w.recv[1][5], '.');
    sk_inproc_free(w.l);
}

static void a_short_message_is_an_error(void **state)
{
    (void)state;
    world w = new_world(NULL);
    sk_send(w.s[0], bytes_of(SK_SEND, 0, 4), 1);
    sk_recv(w.s[1], bytes_of(SK_RECV, 0, 5), 0);
    assert_int_equal(play(&w), SK_WIRE);
    sk_inproc_free(w.l);
}

static void an_unknown_peer_is_an_error(void **state)
{
    (void)state;
    world w = new_world(NULL);
    sk_send(w.s[0], bytes_of(SK_SEND, 0, 4), RANKS);
    assert_int_equal(play(&w), SK_BADARG);
    sk_inproc_free(w.l);
}

static void a_rank_may_send_to_itself(void **state)
{
    (void)state;
    world w = new_world(NULL);
    sk_send(w.s[1], bytes_of(SK_SEND, 3, 4), 1);
    sk_recv(w.s[1], bytes_of(SK_RECV, 0, 4), 1);
    assert_int_equal(play(&w), SK_OK);
    assert_memory_equal(w.recv[1], w.send[1] + 3, 4);
    sk_inproc_free(w.l);
}

static void a_hole_stays_untouched(void **state)
{
    (void)state;
    world w = new_world(NULL);
    sk_send(w.s[0], bytes_of(SK_SEND, 0, 12), 1);
    sk_recv(w.s[1], (sk_span){.len = 12, .type = HOLEY, .buf = SK_RECV}, 0);
    memcpy(w.send[0], "abcdefghijkl", 12);
    assert_int_equal(play(&w), SK_OK);
    assert_memory_equal(w.recv[1], "..abc..def....ghi..jkl..", 24);
    sk_inproc_free(w.l);
}

static void stretches_join_to_the_whole(void **state)
{
    (void)state;
    int64_t offset, k = 0, n;
    static const int64_t offsets[] = {2, 7, 14, 19};
    for (int i = 0; i < 4; i++, k += n) {
        n = sk_inproc_stretch(&unit_types[HOLEY], k, 12, &offset);
        assert_int_equal(n, 3);
        assert_int_equal(offset, offsets[i]);
    }
    assert_int_equal(sk_inproc_stretch(&unit_types[HOLEY], 7, 8, &offset), 1);
    assert_int_equal(offset, 15);
    assert_int_equal(sk_inproc_stretch(&sk_type_byte, 7, 20, &offset), 13);
    assert_int_equal(offset, 7);
}

static void subtract(void *ctx, const void *in, void *inout, int64_t n)
{
    ++*(int *)ctx;
    for (int64_t i = 0; i < n; i++)
        ((char *)inout)[i] = (char)(((const char *)in)[i] - ((char *)inout)[i]);
}

static void reduce_takes_the_left_operand_first(void **state)
{
    (void)state;
    int calls = 0;
    world w = new_world(&(sk_inproc_hooks){.ctx = &calls, .reduce = subtract});
    sk_reduce(w.s[0], bytes_of(SK_SEND, 0, 2), bytes_of(SK_RECV, 0, 2));
    memcpy(w.send[0], "\x09\x08", 2);
    memcpy(w.recv[0], "\x02\x03", 2);
    assert_int_equal(play(&w), SK_OK);
    assert_memory_equal(w.recv[0], "\x07\x05", 2);
    assert_int_equal(calls, 1);
    sk_inproc_free(w.l);
}

static void reduce_without_an_operation_fails(void **state)
{
    (void)state;
    world w = new_world(NULL);
    sk_reduce(w.s[0], bytes_of(SK_SEND, 0, 2), bytes_of(SK_RECV, 0, 2));
    assert_int_equal(play(&w), SK_BADARG);
    sk_inproc_free(w.l);
}

static void a_thousand_ranks_release_a_token_round(void **state)
{
    (void)state;
    enum { P = 1024 };
    static sk_sched *s[P];
    static sk_run runs[P];
    static char token[P];
    sk_inproc *l = sk_inproc_new(P, NULL);
    for (int r = 0; r < P; r++) {
        s[r] = unit_sched();
        if (r)
            sk_recv(s[r], bytes_of(SK_RECV, 0, 1), r - 1);
        sk_fence(s[r]);
        if (r < P - 1)
            sk_send(s[r], bytes_of(SK_RECV, 0, 1), r + 1);
        assert_int_equal(sk_sched_freeze(s[r]), SK_OK);
        sk_run_init(&runs[r], s[r], sk_inproc_wire(l, r, unit_types), NULL, &token[r], NULL, NULL);
    }
    token[0] = 'x';
    assert_int_equal(sk_inproc_run(l, runs), SK_OK);
    assert_int_equal(token[P - 1], 'x');
    for (int r = 0; r < P; r++)
        sk_sched_free(s[r]);
    sk_inproc_free(l);
    sk_inproc_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_of_a_pair_keep_their_order),
        cmocka_unit_test(a_send_waits_for_its_receive),
        cmocka_unit_test(a_message_without_receiver_is_a_deadlock),
        cmocka_unit_test(a_world_is_empty_after_a_deadlock),
        cmocka_unit_test(a_long_message_is_truncated_and_reported),
        cmocka_unit_test(a_short_message_is_an_error),
        cmocka_unit_test(an_unknown_peer_is_an_error),
        cmocka_unit_test(a_rank_may_send_to_itself),
        cmocka_unit_test(a_hole_stays_untouched),
        cmocka_unit_test(stretches_join_to_the_whole),
        cmocka_unit_test(reduce_takes_the_left_operand_first),
        cmocka_unit_test(reduce_without_an_operation_fails),
        cmocka_unit_test(a_thousand_ranks_release_a_token_round),
    };
    return RUN(tests);
}
