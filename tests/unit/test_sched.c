#include "unit.h"

#include <stdlib.h>
#include <string.h>

static void freeze_puts_receives_before_sends_before_local_steps(void **state)
{
    (void)state;
    sk_sched *s = unit_sched();
    sk_copy(s, bytes_of(SK_SEND, 0, 4), bytes_of(SK_RECV, 0, 4));
    sk_send(s, bytes_of(SK_SEND, 0, 4), 3);
    sk_send(s, bytes_of(SK_SEND, 4, 4), 1);
    sk_recv(s, bytes_of(SK_RECV, 4, 4), 2);
    assert_int_equal(sk_sched_freeze(s), SK_OK);
    const struct sk_sched_view *v = sk_sched_view(s);
    assert_int_equal(v->nrounds, 1);
    assert_int_equal(v->rounds[0].nrecv, 1);
    assert_int_equal(v->rounds[0].nsend, 2);
    assert_int_equal(v->rounds[0].nlocal, 1);
    assert_int_equal(v->steps[0].peer, 2);
    assert_int_equal(v->steps[1].peer, 3); /* sends keep their order */
    assert_int_equal(v->steps[2].peer, 1);
    assert_int_equal(v->steps[3].kind, SK_STEP_COPY);
    assert_int_equal(v->max_transfers, 3);
    sk_sched_free(s);
}

static void fences_without_steps_make_no_round(void **state)
{
    (void)state;
    sk_sched *s = unit_sched();
    sk_fence(s);
    sk_fence(s);
    sk_send_signal(s, 1);
    sk_fence(s);
    sk_fence(s);
    sk_recv_signal(s, 1);
    sk_fence(s);
    assert_int_equal(sk_sched_freeze(s), SK_OK);
    assert_int_equal(sk_sched_view(s)->nrounds, 2);
    assert_int_equal(sk_sched_view(s)->rounds[1].first, 1);
    sk_sched_free(s);
}

static void empty_steps_are_dropped_and_signals_are_not(void **state)
{
    (void)state;
    sk_sched *s = unit_sched();
    sk_send(s, bytes_of(SK_SEND, 0, 0), 1);
    sk_recv(s, bytes_of(SK_RECV, 0, 0), 1);
    sk_copy(s, bytes_of(SK_SEND, 0, 0), bytes_of(SK_RECV, 0, 0));
    sk_copy(s, bytes_of(SK_RECV, 8, 4), bytes_of(SK_RECV, 8, 4));
    sk_reduce(s, bytes_of(SK_SEND, 0, 0), bytes_of(SK_RECV, 0, 0));
    sk_send_signal(s, 1);
    assert_int_equal(sk_sched_freeze(s), SK_OK);
    assert_int_equal(sk_sched_view(s)->nsteps, 1);
    sk_sched_free(s);
}

static void an_empty_schedule_freezes(void **state)
{
    (void)state;
    sk_sched *s = unit_sched();
    assert_int_equal(sk_sched_freeze(s), SK_OK);
    assert_int_equal(sk_sched_view(s)->nrounds, 0);
    sk_sched_free(s);
    sk_sched_free(NULL);
}

static void freeze_reports_the_first_failed_append(void **state)
{
    (void)state;
    sk_sched *s = unit_sched();
    sk_send_signal(s, 1);
    sk_scratch(s, -1);                                            /* SK_TOOBIG */
    sk_copy(s, bytes_of(SK_SEND, 0, 4), bytes_of(SK_RECV, 0, 5)); /* SK_BADARG */
    assert_int_equal(sk_sched_freeze(s), SK_TOOBIG);
    sk_sched_free(s);
}

/* Each of these alone must be refused. */
static void lengths_differ(sk_sched *s)
{
    sk_copy(s, bytes_of(SK_SEND, 0, 4), bytes_of(SK_RECV, 0, 5));
}

static void part_of_an_element(sk_sched *s)
{
    sk_send(s, (sk_span){.len = 7, .type = HOLEY}, 1);
}

static void unknown_type(sk_sched *s)
{
    sk_send(s, (sk_span){.len = 6, .type = 2}, 1);
}

static void unknown_buffer(sk_sched *s)
{
    sk_recv(s, (sk_span){.len = 6, .buf = SK_NBUFS}, 1);
}

static void negative_length(sk_sched *s)
{
    sk_recv(s, bytes_of(SK_RECV, 0, -6), 1);
}

static void negative_peer(sk_sched *s)
{
    sk_send(s, bytes_of(SK_SEND, 0, 1), -2);
}

static void reduce_of_two_types(sk_sched *s)
{
    sk_reduce(s, bytes_of(SK_SEND, 0, 6), (sk_span){.len = 6, .type = HOLEY, .buf = SK_RECV});
}

static void unknown_packet(sk_sched *s)
{
    sk_put(s, 0, 1, bytes_of(SK_SEND, 0, 1));
}

static void bad_steps_are_refused(void **state)
{
    (void)state;
    void (*const bad[])(sk_sched *) = {lengths_differ,      part_of_an_element, unknown_type,
                                       unknown_buffer,      negative_length,    negative_peer,
                                       reduce_of_two_types, unknown_packet};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        sk_sched *s = unit_sched();
        bad[i](s);
        assert_int_equal(sk_sched_freeze(s), SK_BADARG);
        sk_sched_free(s);
    }
}

static void scratch_that_cannot_be_is_too_big(void **state)
{
    (void)state;
    sk_sched *s = unit_sched();
    sk_scratch(s, INT64_MAX - 10);
    assert_int_equal(sk_sched_freeze(s), SK_TOOBIG);
    sk_sched_free(s);
    s = unit_sched();
    sk_packet(s, -1, 0);
    assert_int_equal(sk_sched_freeze(s), SK_TOOBIG);
    sk_sched_free(s);
}

static void a_frozen_schedule_takes_no_more_steps(void **state)
{
    (void)state;
    sk_sched *s = unit_sched();
    sk_send_signal(s, 1);
    assert_int_equal(sk_sched_freeze(s), SK_OK);
    sk_send_signal(s, 1);
    assert_int_equal(sk_sched_view(s)->nsteps, 1);
    sk_sched_free(s);
}

static void scratch_blocks_are_apart_and_aligned(void **state)
{
    (void)state;
    sk_sched *s = unit_sched();
    sk_span a = sk_scratch(s, 5), b = sk_scratch(s, 70), c = sk_scratch_typed(s, HOLEY, 3);
    assert_int_equal(a.off, 0);
    assert_int_equal(b.off, 64);
    assert_int_equal(c.off + 2, 192); /* its first byte, as true_lb is 2 */
    assert_int_equal(c.len, 18);
    assert_int_equal(c.buf, SK_SCRATCH);
    assert_int_equal(sk_sched_freeze(s), SK_OK);
    assert_int_equal(sk_sched_view(s)->scratch, 256);
    sk_sched_free(s);
}

static void many_steps_keep_their_order(void **state)
{
    (void)state;
    sk_sched *s = unit_sched();
    for (int i = 0; i < 1000; i++) {
        sk_send_signal(s, i);
        if (i % 10 == 9)
            sk_fence(s);
    }
    assert_int_equal(sk_sched_freeze(s), SK_OK);
    assert_int_equal(sk_sched_view(s)->nrounds, 100);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(sk_sched_view(s)->steps[i].peer, i);
    sk_sched_free(s);
}

static void count_adds_up_messages_and_bytes(void **state)
{
    (void)state;
    sk_sched *s = unit_sched();
    int packet = sk_packet(s, 1, 8);
    sk_copy(s, bytes_of(SK_SEND, 0, 9), bytes_of(SK_RECV, 0, 9));
    sk_put(s, packet, 0, bytes_of(SK_SEND, 0, 8));
    sk_fence(s);
    sk_send(s, bytes_of(SK_SEND, 0, 10), 1);
    sk_recv(s, bytes_of(SK_RECV, 0, 20), 1);
    sk_packet_send(s, packet, 0, 1, 2);
    sk_fence(s);
    sk_reduce(s, bytes_of(SK_SEND, 0, 6), bytes_of(SK_RECV, 0, 6));
    sk_fence(s);
    sk_recv(s, bytes_of(SK_RECV, 0, 3), 1);
    assert_int_equal(sk_sched_freeze(s), SK_OK);
    sk_sched_stats n = sk_sched_count(s);
    assert_int_equal(n.rounds, 2);
    assert_int_equal(n.sends, 2);
    assert_int_equal(n.send_bytes, 10);
    assert_int_equal(n.recvs, 2);
    assert_int_equal(n.recv_bytes, 23);
    assert_int_equal(n.copies, 2);
    assert_int_equal(n.copy_bytes, 17);
    assert_int_equal(n.reduces, 1);
    assert_int_equal(n.reduce_bytes, 6);
    assert_int_equal(n.scratch, sk_sched_view(s)->scratch);
    sk_sched_free(s);
}

static void print_shows_every_step(void **state)
{
    (void)state;
    sk_sched *s = unit_sched();
    int packet = sk_packet(s, 1, 8);
    sk_send(s, bytes_of(SK_SEND, 0, 10), 7);
    sk_recv(s, bytes_of(SK_RECV, 4, 20), 5);
    sk_fence(s);
    sk_reduce(s, bytes_of(SK_SEND, 0, 6), bytes_of(SK_SCRATCH, 64, 6));
    sk_copy(s, bytes_of(SK_SEND, 0, 9), bytes_of(SK_RECV, 0, 9));
    sk_fence(s);
    sk_put(s, packet, 3, bytes_of(SK_SEND, 0, 8));
    sk_fence(s);
    sk_packet_recv(s, packet, 1);
    sk_fence(s);
    sk_packet_send(s, packet, 2, 9, 4);
    sk_get(s, packet, 3, bytes_of(SK_RECV, 0, 8));
    sk_relay(s, packet, 3, sk_packet(s, 1, 8), 6);
    assert_int_equal(sk_sched_freeze(s), SK_OK);
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    sk_sched_print(s, out);
    fclose(out);
    assert_string_equal(text, "round 0\n"
                              "  recv   <- 5     recv[4 +20]\n"
                              "  send   -> 7     send[0 +10]\n"
                              "round 1\n"
                              "  reduce          send[0 +6] to scratch[64 +6]\n"
                              "  copy            send[0 +9] to recv[0 +9]\n"
                              "round 2\n"
                              "  put    packet 0 key 3 from send[0 +8]\n"
                              "round 3\n"
                              "  recv   <- 1     packet 0\n"
                              "round 4\n"
                              "  send   -> 4     packet 0 keys 2..8\n"
                              "  get    packet 0 key 3 to recv[0 +8]\n"
                              "  relay  packet 0 key 3 to packet 1 key 6\n"
                              "scratch 128 bytes\n");
    free(text);
    sk_sched_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(freeze_puts_receives_before_sends_before_local_steps),
        cmocka_unit_test(fences_without_steps_make_no_round),
        cmocka_unit_test(empty_steps_are_dropped_and_signals_are_not),
        cmocka_unit_test(an_empty_schedule_freezes),
        cmocka_unit_test(freeze_reports_the_first_failed_append),
        cmocka_unit_test(bad_steps_are_refused),
        cmocka_unit_test(scratch_that_cannot_be_is_too_big),
        cmocka_unit_test(a_frozen_schedule_takes_no_more_steps),
        cmocka_unit_test(scratch_blocks_are_apart_and_aligned),
        cmocka_unit_test(many_steps_keep_their_order),
        cmocka_unit_test(count_adds_up_messages_and_bytes),
        cmocka_unit_test(print_shows_every_step),
    };
    return RUN(tests);
}
