/* The executor and epochs, over a wire that only takes notes. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "exec/epoch_steps.h"

typedef struct notes {
    sk_wire wire;
    char text[512];
    int patience;  /* how often what waits says SK_AGAIN */
    bool blocked;  /* the last one was asked to block */
    bool no_slot;  /* there is none */
    sk_status bad; /* what await says at last */
    char slot[64], theirs[64], common[64];
    const void *copied_from, *copied_to;
    sk_part folded;
} notes;

static void note(sk_wire *w, const char *what, int number)
{
    notes *n = (notes *)w;
    size_t at = strlen(n->text);
    snprintf(n->text + at, sizeof n->text - at, "%s%d ", what, number);
}

static sk_status patient(sk_wire *w, bool block)
{
    ((notes *)w)->blocked = block;
    return ((notes *)w)->patience-- > 0 ? SK_AGAIN : SK_OK;
}

static sk_status do_send(sk_wire *w, sk_part from, int peer)
{
    (void)from;
    note(w, "send", peer);
    return SK_OK;
}

static sk_status do_recv(sk_wire *w, sk_part to, int peer, int64_t *got)
{
    (void)to, (void)got;
    note(w, "recv", peer);
    return SK_OK;
}

static sk_status do_finish(sk_wire *w, bool block)
{
    if (patient(w, block))
        return SK_AGAIN;
    note(w, "finish", 0);
    return SK_OK;
}

static sk_status do_copy(sk_wire *w, sk_part from, sk_part to)
{
    ((notes *)w)->copied_from = from.at;
    ((notes *)w)->copied_to = to.at;
    note(w, "copy", (int)to.len);
    return from.len == to.len ? SK_OK : SK_BADARG;
}

static sk_status do_exchange(sk_wire *w, sk_part from, int to_peer, sk_part to, int from_peer)
{
    (void)from, (void)to;
    note(w, "out", to_peer);
    note(w, "in", from_peer);
    return SK_OK;
}

static sk_status do_open(sk_wire *w, uint32_t epoch, bool block)
{
    if (patient(w, block))
        return SK_AGAIN;
    note(w, "open", (int)epoch);
    return SK_OK;
}

static void *do_slot(sk_wire *w, uint32_t buf, int owner)
{
    notes *n = (notes *)w;
    if (n->no_slot)
        return NULL;
    return (buf & SK_BUF_MASK) == SK_COMMON ? n->common : owner < 0 ? n->slot : n->theirs;
}

static sk_status do_post(sk_wire *w, uint32_t epoch, bool block)
{
    (void)block;
    note(w, "post", (int)epoch);
    return SK_OK;
}

static void do_export(sk_wire *w, sk_part what, void *place)
{
    (void)place;
    note(w, "export", (int)what.len);
}

static sk_status do_await(sk_wire *w, uint32_t epoch, int lo, int hi, bool block)
{
    (void)epoch;
    if (patient(w, block))
        return SK_AGAIN;
    note(w, "await", lo);
    note(w, "to", hi);
    return ((notes *)w)->bad;
}

static sk_status do_await_rank(sk_wire *w, uint32_t epoch, int rank, bool block)
{
    (void)epoch;
    if (patient(w, block))
        return SK_AGAIN;
    note(w, "rank", rank);
    return ((notes *)w)->bad;
}

static sk_status do_fold(sk_wire *w, uint32_t epoch, int lo, int hi, sk_part slot, sk_part to)
{
    (void)epoch, (void)lo, (void)to;
    ((notes *)w)->folded = slot;
    note(w, "fold", hi);
    return SK_OK;
}

static sk_status do_join(sk_wire *w, uint32_t epoch, sk_part slot, sk_part to, bool block)
{
    (void)to;
    if (patient(w, block))
        return SK_AGAIN;
    ((notes *)w)->folded = slot;
    note(w, "join", (int)epoch);
    return SK_OK;
}

static sk_status do_read(sk_wire *w, int rank, const void *place, int64_t at, sk_part to)
{
    (void)rank, (void)to;
    note(w, "read", (int)(at >> 32));
    return place == ((notes *)w)->theirs + 8 ? SK_OK : SK_WIRE;
}

static sk_status do_quiesce(sk_wire *w, uint32_t epoch, bool block)
{
    if (patient(w, block))
        return SK_AGAIN;
    note(w, "quiesce", (int)epoch);
    return SK_OK;
}

static void do_release(sk_wire *w, uint32_t epochs)
{
    note(w, "release", (int)epochs);
}

static const sk_wire_ops ops = {.send = do_send,
                                .recv = do_recv,
                                .finish = do_finish,
                                .copy = do_copy,
                                .exchange = do_exchange,
                                .open = do_open,
                                .slot = do_slot,
                                .post = do_post,
                                .export = do_export,
                                .await = do_await,
                                .await_rank = do_await_rank,
                                .fold = do_fold,
                                .join = do_join,
                                .read = do_read,
                                .quiesce = do_quiesce,
                                .release = do_release};

static sk_status intra_send(sk_wire *w, sk_part from, int peer)
{
    (void)from;
    note(w, "pour", peer);
    return SK_OK;
}

static sk_status intra_recv(sk_wire *w, sk_part to, int peer)
{
    (void)to;
    note(w, "draw", peer);
    return SK_OK;
}

static sk_status intra_finish(sk_wire *w, bool block)
{
    (void)block;
    note(w, "over", 0);
    return ((notes *)w)->bad;
}

static const sk_intra_ops intra = {.send = intra_send, .recv = intra_recv, .finish = intra_finish};

/* A bit of everything, in two epochs. */
static sk_sched *many_steps(void)
{
    sk_sched *s = unit_sched();
    int t = sk_epoch(s, 64, true), u = sk_epoch(s, 64, true);
    sk_copy(s, bytes_of(SK_SEND, 0, 4), sk_slot(t, 0, 4));
    sk_export(s, bytes_of(SK_SEND, 0, 30), sk_slot(t, 8, SK_EXPORT_BYTES));
    sk_fence(s);
    sk_post(s, t);
    sk_send(s, bytes_of(SK_SEND, 0, 4), 3);
    sk_take(s, 2, sk_slot(t, 1, 3), bytes_of(SK_RECV, 0, 3));
    sk_read(s, 2, sk_slot(t, 8, SK_EXPORT_BYTES), 5ll << 32, bytes_of(SK_RECV, 8, 3));
    sk_fold_local(s, 0, 2, sk_slot(t, 6, 4), bytes_of(SK_RECV, 4, 4));
    sk_fence(s);
    sk_quiesce(s, t);
    sk_post(s, u);
    sk_join_local(s, sk_slot(u, 0, 4), bytes_of(SK_RECV, 12, 4));
    sk_await_local(s, u, 0, 3);
    assert_int_equal(sk_sched_freeze(s), SK_OK);
    return s;
}

static const char all_of_it[] = "open0 copy4 export30 "
                                "post0 send3 rank2 copy3 rank2 read5 await0 to2 fold2 finish0 "
                                "release1 open1 post1 quiesce0 join1 await0 to3 release2 ";

static void poll_goes_on_at_the_step_that_was_not_ready(void **state)
{
    (void)state;
    sk_sched *s = many_steps();
    /* Every step that can wait refuses a few times, wherever the patience ends. */
    for (int patience = 0; patience < 20; patience++) {
        notes n = {.wire.ops = &ops, .patience = patience};
        sk_run r;
        sk_run_init(&r, s, &n.wire, NULL, NULL, NULL, NULL);
        int tries = 0;
        sk_status st;
        while ((st = sk_run_poll(&r)) == SK_AGAIN) {
            if (tries++ % 3 == 2) /* let a step or two pass, then refuse again */
                n.patience = -1;
            else
                n.patience = tries % 2;
            assert_false(n.blocked);
        }
        assert_int_equal(st, SK_OK);
        assert_string_equal(n.text, all_of_it);
        assert_int_equal(sk_run_poll(&r), SK_OK); /* over is over */
        assert_string_equal(n.text, all_of_it);
    }
    sk_sched_free(s);
}

static void wait_blocks_and_asks_again(void **state)
{
    (void)state;
    sk_sched *s = many_steps();
    notes n = {.wire.ops = &ops, .patience = 3};
    sk_run r;
    sk_run_init(&r, s, &n.wire, NULL, NULL, NULL, NULL);
    assert_int_equal(sk_run_wait(&r), SK_OK);
    assert_true(n.blocked);
    assert_string_equal(n.text, all_of_it);
    sk_sched_free(s);
}

static void wait_ends_what_poll_began(void **state)
{
    (void)state;
    sk_sched *s = many_steps();
    notes n = {.wire.ops = &ops, .patience = 1};
    sk_run r;
    sk_run_init(&r, s, &n.wire, NULL, NULL, NULL, NULL);
    assert_int_equal(sk_run_poll(&r), SK_AGAIN);
    assert_int_equal(sk_run_wait(&r), SK_OK);
    assert_string_equal(n.text, all_of_it);
    sk_sched_free(s);
}

static void spans_in_slots_get_their_addresses_from_the_wire(void **state)
{
    (void)state;
    sk_sched *s = unit_sched();
    int t = sk_epoch(s, 64, true);
    char recv[16];
    sk_post(s, t);
    sk_take(s, -1, sk_common(t, 7, 4), bytes_of(SK_RECV, 3, 4));
    sk_fence(s);
    sk_fold_local(s, 0, 2, sk_slot(t, 5, 4), bytes_of(SK_RECV, 8, 4));
    assert_int_equal(sk_sched_freeze(s), SK_OK);
    notes n = {.wire.ops = &ops};
    sk_run r;
    sk_run_init(&r, s, &n.wire, NULL, recv, NULL, NULL);
    assert_int_equal(sk_run_wait(&r), SK_OK);
    assert_string_equal(n.text, "open0 post0 await0 to-1 copy4 await0 to2 fold2 release1 ");
    assert_ptr_equal(n.copied_from, n.common + 7);
    assert_ptr_equal(n.copied_to, recv + 3);
    assert_int_equal((intptr_t)n.folded.at, 5); /* the same in all slots */
    sk_sched_free(s);
}

static void an_error_skips_the_step_and_the_run_goes_on(void **state)
{
    (void)state;
    sk_sched *s = many_steps();
    notes n = {.wire.ops = &ops, .bad = SK_WIRE};
    sk_run r;
    sk_run_init(&r, s, &n.wire, NULL, NULL, NULL, NULL);
    assert_int_equal(sk_run_wait(&r), SK_WIRE);
    assert_string_equal(n.text, "open0 copy4 export30 "
                                "post0 send3 rank2 rank2 await0 to2 finish0 "
                                "release1 open1 post1 quiesce0 join1 await0 to3 release2 ");
    sk_sched_free(s);
}

static void a_wire_without_such_a_slot_gets_no_bytes(void **state)
{
    (void)state;
    sk_sched *s = many_steps();
    notes n = {.wire.ops = &ops, .no_slot = true};
    sk_run r;
    sk_run_init(&r, s, &n.wire, NULL, NULL, NULL, NULL);
    assert_int_equal(sk_run_wait(&r), SK_WIRE);
    assert_non_null(strstr(n.text, "post0"));
    assert_non_null(strstr(n.text, "release2"));
    assert_null(strstr(n.text, "export"));
    assert_null(strstr(n.text, "read"));
    sk_sched_free(s);
}

static void a_round_of_one_message_is_an_exchange_with_epochs_too(void **state)
{
    (void)state;
    sk_sched *s = unit_sched();
    int t = sk_epoch(s, 64, false);
    sk_post(s, t);
    sk_fence(s);
    sk_send(s, bytes_of(SK_SEND, 0, 4), 1);
    sk_recv(s, bytes_of(SK_RECV, 0, 4), 2);
    assert_int_equal(sk_sched_freeze(s), SK_OK);
    notes n = {.wire.ops = &ops};
    sk_run r;
    sk_run_init(&r, s, &n.wire, NULL, NULL, NULL, NULL);
    assert_int_equal(sk_run_wait(&r), SK_OK);
    assert_string_equal(n.text, "open0 post0 release1 out1 in2 ");
    sk_sched_free(s);
}

static void intra_messages_have_operations_of_their_own(void **state)
{
    (void)state;
    sk_sched *s = unit_sched();
    int t = sk_epoch(s, 64, false);
    sk_take(s, 2, sk_slot(t, 5, 3), bytes_of(SK_RECV, 0, 3));
    sk_send_intra(s, bytes_of(SK_SEND, 0, 4), 1);
    sk_fence(s);
    sk_recv_intra(s, bytes_of(SK_RECV, 0, 4), 2);
    sk_send(s, bytes_of(SK_SEND, 0, 4), 3);
    sk_fence(s);
    sk_send(s, bytes_of(SK_SEND, 0, 4), 4);
    assert_int_equal(sk_sched_freeze(s), SK_OK);
    for (int bad = 0; bad < 2; bad++) {
        notes n = {.wire.ops = &ops, .wire.intra = &intra, .bad = bad ? SK_TRUNCATE : SK_OK};
        sk_run r;
        sk_run_init(&r, s, &n.wire, NULL, NULL, NULL, NULL);
        assert_int_equal(sk_run_wait(&r), bad ? SK_TRUNCATE : SK_OK);
        assert_string_equal(n.text, bad ? "pour1 rank2 over0 finish0 release1 "
                                          "draw2 send3 over0 finish0 out4 in-1 "
                                        : "pour1 rank2 copy3 over0 finish0 release1 "
                                          "draw2 send3 over0 finish0 out4 in-1 ");
    }
    notes none = {.wire.ops = &ops};
    sk_run r;
    sk_run_init(&r, s, &none.wire, NULL, NULL, NULL, NULL);
    assert_int_equal(sk_run_wait(&r), SK_WIRE);
    sk_sched_free(s);
}

static void straight_schedules_may_be_run_without_asking_the_wire_for_its_functions(void **state)
{
    (void)state;
    sk_sched *s = unit_sched();
    int t = sk_epoch(s, 64, false);
    sk_copy(s, bytes_of(SK_SEND, 0, 4), sk_slot(t, 0, 4));
    sk_fence(s);
    sk_post(s, t);
    sk_take(s, 2, sk_slot(t, 5, 3), bytes_of(SK_RECV, 0, 3));
    assert_int_equal(sk_sched_freeze(s), SK_OK);
    assert_true(sk_sched_view(s)->straight);
    for (int way = 0; way < 3; way++) {
        notes n = {.wire.ops = way == 0 ? NULL : &ops, .patience = way};
        sk_run r;
        sk_run_init(&r, s, &n.wire, NULL, NULL, NULL, NULL);
        if (way == 0)
            assert_int_equal(sk_epoch_straight(&r, &ops, true), SK_OK);
        else if (way == 1)
            assert_int_equal(sk_run_wait(&r), SK_OK);
        else
            while (sk_run_poll(&r) == SK_AGAIN)
                assert_false(n.blocked);
        assert_string_equal(n.text, "open0 copy4 post0 rank2 copy3 release1 ");
    }
    sk_sched_free(s);
}

static void epochs_that_this_rank_has_no_part_in_are_released(void **state)
{
    (void)state;
    sk_sched *s = unit_sched();
    sk_epoch(s, 64, false);
    sk_epoch(s, 64, false);
    assert_int_equal(sk_sched_freeze(s), SK_OK);
    notes n = {.wire.ops = &ops};
    sk_run r;
    sk_run_init(&r, s, &n.wire, NULL, NULL, NULL, NULL);
    assert_int_equal(sk_run_wait(&r), SK_OK);
    assert_string_equal(n.text, "release2 ");
    sk_sched_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(poll_goes_on_at_the_step_that_was_not_ready),
        cmocka_unit_test(wait_blocks_and_asks_again),
        cmocka_unit_test(wait_ends_what_poll_began),
        cmocka_unit_test(spans_in_slots_get_their_addresses_from_the_wire),
        cmocka_unit_test(an_error_skips_the_step_and_the_run_goes_on),
        cmocka_unit_test(a_wire_without_such_a_slot_gets_no_bytes),
        cmocka_unit_test(a_round_of_one_message_is_an_exchange_with_epochs_too),
        cmocka_unit_test(intra_messages_have_operations_of_their_own),
        cmocka_unit_test(straight_schedules_may_be_run_without_asking_the_wire_for_its_functions),
        cmocka_unit_test(epochs_that_this_rank_has_no_part_in_are_released),
    };
    return RUN(tests);
}
