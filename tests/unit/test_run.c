/* The executor over a wire that only takes notes. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "exec/run.h"

typedef struct notes {
    sk_wire wire;
    char text[256];
    int patience;       /* how often finish says SK_AGAIN */
    sk_status finish;   /* what it says then */
    sk_status send;     /* what send says */
    const void *copied; /* address of the last copy's source */
} notes;

static void note(sk_wire *w, const char *what, int peer)
{
    notes *n = (notes *)w;
    size_t at = strlen(n->text);
    snprintf(n->text + at, sizeof n->text - at, peer < 0 ? "%s " : "%s%d ", what, peer);
}

static sk_status do_send(sk_wire *w, sk_part from, int peer)
{
    (void)from;
    note(w, "send", peer);
    return ((notes *)w)->send;
}

static sk_status do_recv(sk_wire *w, sk_part to, int peer, int64_t *got)
{
    (void)to, (void)got;
    note(w, "recv", peer);
    return SK_OK;
}

static sk_status do_finish(sk_wire *w, bool block)
{
    notes *n = (notes *)w;
    if (n->patience-- > 0)
        return SK_AGAIN;
    note(w, block ? "wait" : "test", -1);
    return n->finish;
}

static sk_status do_copy(sk_wire *w, sk_part from, sk_part to)
{
    (void)to;
    ((notes *)w)->copied = from.at;
    note(w, "copy", -1);
    return SK_OK;
}

static sk_status do_reduce(sk_wire *w, sk_part in, sk_part inout)
{
    (void)in, (void)inout;
    note(w, "reduce", -1);
    return SK_OK;
}

static sk_status do_exchange(sk_wire *w, sk_part from, int to_peer, sk_part to, int from_peer)
{
    (void)from, (void)to;
    note(w, "out", to_peer);
    note(w, "in", from_peer);
    return SK_OK;
}

static const sk_wire_ops plain = {
    .send = do_send, .recv = do_recv, .finish = do_finish, .copy = do_copy, .reduce = do_reduce};
static const sk_wire_ops with_exchange = {.send = do_send,
                                          .recv = do_recv,
                                          .finish = do_finish,
                                          .copy = do_copy,
                                          .reduce = do_reduce,
                                          .exchange = do_exchange};

/* An exchange; local steps; an exchange with a local step beside it; only a receive. */
static sk_sched *three_rounds(void)
{
    sk_sched *s = unit_sched();
    sk_send(s, bytes_of(SK_SEND, 0, 4), 1);
    sk_recv(s, bytes_of(SK_RECV, 0, 4), 2);
    sk_fence(s);
    sk_reduce(s, bytes_of(SK_SEND, 0, 4), bytes_of(SK_RECV, 0, 4));
    sk_fence(s);
    sk_send(s, bytes_of(SK_SEND, 0, 4), 3);
    sk_copy(s, bytes_of(SK_SEND, 4, 4), bytes_of(SK_RECV, 4, 4));
    sk_fence(s);
    sk_recv(s, bytes_of(SK_RECV, 0, 4), 4);
    assert_int_equal(sk_sched_freeze(s), SK_OK);
    return s;
}

static void post_starts_messages_and_looks_for_none(void **state)
{
    (void)state;
    notes n = {.wire.ops = &plain};
    sk_sched *s = three_rounds();
    sk_run r;
    sk_run_init(&r, s, &n.wire, NULL, NULL, NULL, NULL);
    assert_int_equal(sk_run_post(&r), SK_AGAIN);
    assert_string_equal(n.text, "recv2 send1 ");
    assert_int_equal(sk_run_poll(&r), SK_OK);
    assert_string_equal(n.text, "recv2 send1 test reduce send3 copy test recv4 test ");
    sk_sched_free(s);
    s = unit_sched(); /* nothing to wait for */
    sk_copy(s, bytes_of(SK_SEND, 4, 4), bytes_of(SK_RECV, 4, 4));
    sk_fence(s);
    sk_copy(s, bytes_of(SK_SEND, 0, 4), bytes_of(SK_RECV, 0, 4));
    assert_int_equal(sk_sched_freeze(s), SK_OK);
    n = (notes){.wire.ops = &plain};
    sk_run_init(&r, s, &n.wire, NULL, NULL, NULL, NULL);
    assert_int_equal(sk_run_post(&r), SK_OK);
    assert_string_equal(n.text, "copy copy ");
    sk_sched_free(s);
}

static void poll_posts_a_round_once_and_goes_on_when_it_is_over(void **state)
{
    (void)state;
    notes n = {.wire.ops = &plain, .patience = 2};
    sk_sched *s = three_rounds();
    sk_run r;
    sk_run_init(&r, s, &n.wire, NULL, NULL, NULL, NULL);
    assert_int_equal(sk_run_poll(&r), SK_AGAIN);
    assert_int_equal(sk_run_poll(&r), SK_AGAIN);
    assert_string_equal(n.text, "recv2 send1 ");
    assert_int_equal(sk_run_poll(&r), SK_OK);
    assert_string_equal(n.text, "recv2 send1 test reduce send3 copy test recv4 test ");
    assert_int_equal(sk_run_poll(&r), SK_OK);
    assert_int_equal(strlen(n.text), 51);
    sk_sched_free(s);
}

static void wait_uses_exchange_where_a_round_is_no_more(void **state)
{
    (void)state;
    notes n = {.wire.ops = &with_exchange, .patience = 3};
    sk_sched *s = three_rounds();
    sk_run r;
    sk_run_init(&r, s, &n.wire, NULL, NULL, NULL, NULL);
    assert_int_equal(sk_run_wait(&r), SK_OK);
    assert_string_equal(n.text, "out1 in2 reduce send3 copy wait out in4 ");
    sk_sched_free(s);
}

static void wait_ends_what_poll_began(void **state)
{
    (void)state;
    notes n = {.wire.ops = &with_exchange, .patience = 1};
    sk_sched *s = three_rounds();
    sk_run r;
    sk_run_init(&r, s, &n.wire, NULL, NULL, NULL, NULL);
    assert_int_equal(sk_run_poll(&r), SK_AGAIN);
    assert_int_equal(sk_run_wait(&r), SK_OK);
    assert_string_equal(n.text, "recv2 send1 wait reduce send3 copy wait out in4 ");
    sk_sched_free(s);
}

static void the_first_error_is_reported_and_the_run_goes_on(void **state)
{
    (void)state;
    notes n = {.wire.ops = &plain, .send = SK_WIRE, .finish = SK_TRUNCATE};
    sk_sched *s = three_rounds();
    sk_run r;
    sk_run_init(&r, s, &n.wire, NULL, NULL, NULL, NULL);
    assert_int_equal(sk_run_wait(&r), SK_WIRE);
    assert_string_equal(n.text, "recv2 send1 wait reduce send3 copy wait recv4 wait ");
    sk_sched_free(s);
}

static void a_schedule_without_steps_is_over_at_once(void **state)
{
    (void)state;
    notes n = {.wire.ops = &plain};
    sk_sched *s = unit_sched();
    assert_int_equal(sk_sched_freeze(s), SK_OK);
    sk_run r;
    sk_run_init(&r, s, &n.wire, NULL, NULL, NULL, NULL);
    assert_int_equal(sk_run_poll(&r), SK_OK);
    assert_int_equal(sk_run_wait(&r), SK_OK);
    assert_string_equal(n.text, "");
    sk_sched_free(s);
}

static void one_schedule_serves_several_runs_and_buffers(void **state)
{
    (void)state;
    notes n[2] = {{.wire.ops = &plain, .patience = 1}, {.wire.ops = &plain}};
    char buf[2][16];
    sk_sched *s = three_rounds();
    sk_run r[2];
    for (int i = 0; i < 2; i++)
        sk_run_init(&r[i], s, &n[i].wire, buf[i], NULL, NULL, NULL);
    assert_int_equal(sk_run_poll(&r[0]), SK_AGAIN);
    assert_int_equal(sk_run_poll(&r[1]), SK_OK);
    assert_int_equal(sk_run_poll(&r[0]), SK_OK);
    for (int i = 0; i < 2; i++)
        assert_ptr_equal(n[i].copied, buf[i] + 4);
    sk_sched_free(s);
}

static void a_null_buffer_with_real_offsets_gives_real_addresses(void **state)
{
    (void)state;
    char data[8];
    notes n = {.wire.ops = &plain};
    sk_sched *s = unit_sched();
    sk_copy(s, bytes_of(SK_SEND, (int64_t)(intptr_t)data, 8), bytes_of(SK_RECV, 0, 8));
    assert_int_equal(sk_sched_freeze(s), SK_OK);
    sk_run r;
    sk_run_init(&r, s, &n.wire, NULL, NULL, NULL, NULL);
    assert_int_equal(sk_run_poll(&r), SK_OK);
    assert_ptr_equal(n.copied, data);
    sk_sched_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(post_starts_messages_and_looks_for_none),
        cmocka_unit_test(poll_posts_a_round_once_and_goes_on_when_it_is_over),
        cmocka_unit_test(wait_uses_exchange_where_a_round_is_no_more),
        cmocka_unit_test(wait_ends_what_poll_began),
        cmocka_unit_test(the_first_error_is_reported_and_the_run_goes_on),
        cmocka_unit_test(a_schedule_without_steps_is_over_at_once),
        cmocka_unit_test(one_schedule_serves_several_runs_and_buffers),
        cmocka_unit_test(a_null_buffer_with_real_offsets_gives_real_addresses),
    };
    return RUN(tests);
}
