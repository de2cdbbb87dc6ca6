/* Epochs: what freeze makes of them, and what it refuses. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- freeze ---- */

static uint32_t kinds_of(const sk_sched *s, uint32_t round, char *out)
{
    static const char names[] = "rscRpPSGlOUETFJMDZ"; /* in the order of sk_step_kind */
    const struct sk_sched_view *v = sk_sched_view(s);
    uint32_t n = 0;
    for (uint32_t i = v->rounds[round].first; i < sk_round_end(&v->rounds[round]); i++)
        out[n++] = names[v->steps[i].kind];
    out[n] = '\0';
    return n;
}

static void a_round_posts_then_opens_then_moves_then_waits(void **state)
{
    (void)state;
    sk_sched *s = unit_sched();
    int t = sk_epoch(s, 64, false), u = sk_epoch(s, 64, true);
    char kinds[32];
    sk_copy(s, bytes_of(SK_SEND, 0, 8), sk_slot(t, 0, 8));
    sk_fence(s);
    sk_take(s, 3, sk_slot(t, 0, 8), bytes_of(SK_RECV, 0, 8));
    sk_copy(s, bytes_of(SK_SEND, 0, 8), sk_slot(u, 8, 8));
    sk_send(s, bytes_of(SK_SEND, 0, 8), 1);
    sk_recv(s, sk_slot(u, 0, 8), 1);
    sk_post(s, t);
    sk_fence(s);
    sk_take(s, -1, sk_common(u, 0, 4), bytes_of(SK_RECV, 8, 4));
    sk_post(s, u);
    assert_int_equal(sk_sched_freeze(s), SK_OK);
    const struct sk_sched_view *v = sk_sched_view(s);
    assert_int_equal(v->nepochs, 2);
    assert_int_equal(v->epochs[0].slot_bytes, 64);
    assert_true(v->epochs[1].all && !v->epochs[0].all);
    kinds_of(s, 0, kinds);
    assert_string_equal(kinds, "Oc");
    kinds_of(s, 1, kinds);
    assert_string_equal(kinds, "UOrscT");
    kinds_of(s, 2, kinds);
    assert_string_equal(kinds, "UT");
    const sk_round *rd = &v->rounds[1];
    assert_int_equal(rd->nhead, 2);
    assert_int_equal(rd->nrecv, 1);
    assert_int_equal(rd->nsend, 1);
    assert_int_equal(rd->nlocal, 1);
    assert_int_equal(rd->nwait, 1);
    assert_int_equal(v->max_transfers, 2);
    sk_sched_free(s);
}

static void what_is_posted_without_writing_is_opened_just_before(void **state)
{
    (void)state;
    sk_sched *s = unit_sched();
    int t = sk_epoch(s, 0, true);
    char kinds[32];
    sk_post(s, t);
    sk_await_local(s, t, 0, 4);
    assert_int_equal(sk_sched_freeze(s), SK_OK);
    kinds_of(s, 0, kinds);
    assert_string_equal(kinds, "OUM");
    sk_sched_free(s);
}

static void a_epoch_is_released_when_no_later_round_uses_it(void **state)
{
    (void)state;
    sk_sched *s = unit_sched();
    int t = sk_epoch(s, 8, false), u = sk_epoch(s, 8, false), unused = sk_epoch(s, 8, false);
    sk_take(s, 1, sk_slot(t, 0, 8), bytes_of(SK_RECV, 0, 8));
    sk_fence(s);
    sk_take(s, 1, sk_slot(u, 0, 8), bytes_of(SK_RECV, 8, 8));
    sk_fence(s);
    sk_quiesce(s, u);
    sk_fence(s);
    sk_send_signal(s, 1);
    assert_int_equal(unused, 2);
    assert_int_equal(sk_sched_freeze(s), SK_OK);
    const sk_round *rounds = sk_sched_view(s)->rounds;
    assert_int_equal(rounds[0].released, 0);
    assert_int_equal(rounds[1].released, 1);
    assert_int_equal(rounds[2].released, 3); /* to quiesce an epoch is no use of it */
    assert_int_equal(rounds[3].released, 3);
    sk_sched_free(s);
}

static void empty_takes_are_dropped_and_post_and_meet_are_not(void **state)
{
    (void)state;
    sk_sched *s = unit_sched();
    int t = sk_epoch(s, 0, true);
    sk_span none = bytes_of(SK_RECV, 0, 0), holes = {.type = HOLEY, .buf = SK_RECV};
    sk_copy(s, none, sk_slot(t, 0, 0));
    sk_export(s, holes, sk_slot(t, 0, SK_EXPORT_BYTES));
    sk_take(s, 1, sk_slot(t, 0, 0), none);
    sk_fold_local(s, 0, 4, sk_slot(t, 0, 0), none);
    sk_join_local(s, sk_slot(t, 0, 0), none);
    sk_read(s, 1, sk_slot(t, 0, SK_EXPORT_BYTES), 5, holes);
    sk_post(s, t);
    sk_await_local(s, t, 0, 0);
    assert_int_equal(sk_sched_freeze(s), SK_OK);
    assert_int_equal(sk_sched_view(s)->nsteps, 3);
    sk_sched_free(s);
}

static void typed_slots_start_where_their_first_byte_lies(void **state)
{
    (void)state;
    sk_span b = sk_slot_typed(unit_types, HOLEY, 5, 64, 3);
    assert_int_equal(b.off + 2, 64); /* true_lb is 2 */
    assert_int_equal(b.len, 18);
    assert_int_equal(b.type, HOLEY);
    assert_int_equal(sk_buf_epoch(b.buf), 5);
    assert_true(sk_buf_is_slot(b.buf) && !sk_buf_is_slot(SK_SCRATCH));
    assert_int_equal(sk_slot_bytes(&unit_types[HOLEY], 3), 64); /* 32 bytes */
    assert_int_equal(sk_slot_bytes(&unit_types[HOLEY], 6), 128);
    assert_int_equal(sk_slot_bytes(&unit_types[HOLEY], 0), 0);
}

static void counts_of_takes_and_epochs(void **state)
{
    (void)state;
    sk_sched *s = unit_sched();
    int t = sk_epoch(s, 64, true);
    sk_copy(s, bytes_of(SK_SEND, 0, 6), sk_slot(t, 0, 6));
    sk_fence(s);
    sk_post(s, t);
    sk_take(s, 1, sk_slot(t, 0, 6), bytes_of(SK_RECV, 0, 6));
    sk_fold_local(s, 1, 4, sk_slot(t, 0, 6), bytes_of(SK_RECV, 6, 6));
    sk_join_local(s, sk_slot(t, 0, 5), bytes_of(SK_RECV, 12, 5));
    sk_read(s, 1, sk_slot(t, 0, SK_EXPORT_BYTES), 0, bytes_of(SK_RECV, 20, 7));
    assert_int_equal(sk_sched_freeze(s), SK_OK);
    sk_sched_stats n = sk_sched_count(s);
    assert_int_equal(n.epochs, 1);
    assert_int_equal(n.takes, 1 + 3 + 1 + 1);
    assert_int_equal(n.take_bytes, 6 + 18 + 5 + 7);
    assert_int_equal(n.copies, 1);
    assert_int_equal(n.rounds, 0);
    sk_sched_free(s);
}

static void print_shows_the_steps_of_epochs(void **state)
{
    (void)state;
    sk_sched *s = unit_sched();
    int t = sk_epoch(s, 64, true);
    sk_copy(s, bytes_of(SK_SEND, 0, 6), sk_slot(t, 0, 6));
    sk_export(s, bytes_of(SK_SEND, 0, 99), sk_slot(t, 48, SK_EXPORT_BYTES));
    sk_fence(s);
    sk_post(s, t);
    sk_take(s, 7, sk_slot(t, 0, 6), bytes_of(SK_RECV, 0, 6));
    sk_fold_local(s, 1, 4, sk_slot(t, 0, 6), bytes_of(SK_RECV, 6, 6));
    sk_join_local(s, sk_slot(t, 0, 5), bytes_of(SK_RECV, 12, 5));
    sk_await_local(s, t, 0, 4);
    sk_read(s, 7, sk_slot(t, 48, SK_EXPORT_BYTES), 1ll << 33, bytes_of(SK_RECV, 20, 7));
    sk_fence(s);
    sk_quiesce(s, t);
    sk_send_intra(s, bytes_of(SK_SEND, 0, 99), 7);
    sk_recv_intra(s, bytes_of(SK_RECV, 1, 98), 6);
    assert_int_equal(sk_sched_freeze(s), SK_OK);
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    sk_sched_print(s, out);
    fclose(out);
    assert_string_equal(text,
                        "round 0\n"
                        "  open            epoch 0\n"
                        "  copy            send[0 +6] to slot 0[0 +6]\n"
                        "  export          send[0 +99] at slot 0[48 +16]\n"
                        "round 1\n"
                        "  post            epoch 0\n"
                        "  take   <- 7     slot 0[0 +6] to recv[0 +6]\n"
                        "  fold   ranks 1..3 slot 0[0 +6] to recv[6 +6]\n"
                        "  join   all ranks slot 0[0 +5] to recv[12 +5]\n"
                        "  await  ranks 0..3 epoch 0\n"
                        "  read   <- 7     from byte 8589934592 of slot 0[48 +16] to recv[20 +7]\n"
                        "round 2\n"
                        "  intra  <- 6     recv[1 +98]\n"
                        "  intra  -> 7     send[0 +99]\n"
                        "  quiesce         epoch 0\n"
                        "epoch 0: slots of 64 bytes, all post\n"
                        "scratch 0 bytes\n");
    free(text);
    sk_sched_free(s);
}

/* ---- what freeze refuses ---- */

static sk_span mine(int64_t n)
{
    return bytes_of(SK_RECV, 0, n);
}

static void unknown_epoch(sk_sched *s)
{
    sk_post(s, 0);
}

static void beyond_the_room(sk_sched *s)
{
    sk_copy(s, mine(8), sk_slot(sk_epoch(s, 15, false), 8, 8));
}

static void before_the_room(sk_sched *s)
{
    sk_copy(s, mine(8), sk_common(sk_epoch(s, 15, false), -1, 8));
}

static void typed_beyond_the_room(sk_sched *s)
{
    int t = sk_epoch(s, 31, false);
    sk_span b = sk_slot_typed(unit_types, HOLEY, t, 0, 3);
    sk_reduce(s, (sk_span){.len = 18, .type = HOLEY}, b);
}

static void unknown_kind_of_slot(sk_sched *s)
{
    int t = sk_epoch(s, 64, false);
    sk_copy(s, mine(8), (sk_span){.len = 8, .buf = (uint32_t)t << SK_BUF_BITS | (SK_COMMON + 1)});
}

static void posted_twice(sk_sched *s)
{
    int t = sk_epoch(s, 64, false);
    sk_post(s, t);
    sk_fence(s);
    sk_post(s, t);
}

static void written_in_the_round_of_posting(sk_sched *s)
{
    int t = sk_epoch(s, 64, false);
    sk_copy(s, mine(8), sk_slot(t, 0, 8));
    sk_post(s, t);
}

static void received_after_posting(sk_sched *s)
{
    int t = sk_epoch(s, 64, false);
    sk_post(s, t);
    sk_fence(s);
    sk_recv(s, sk_common(t, 0, 8), 1);
}

static void all_without_mine(sk_sched *s)
{
    sk_take(s, 1, sk_slot(sk_epoch(s, 64, true), 0, 8), mine(8));
}

static void common_of_a_epoch_that_not_all_post(sk_sched *s)
{
    int t = sk_epoch(s, 64, false);
    sk_post(s, t);
    sk_take(s, -1, sk_common(t, 0, 8), mine(8));
}

static void join_of_a_epoch_that_not_all_post(sk_sched *s)
{
    int t = sk_epoch(s, 64, false);
    sk_post(s, t);
    sk_join_local(s, sk_slot(t, 0, 8), mine(8));
}

static void common_before_i_post(sk_sched *s)
{
    int t = sk_epoch(s, 64, true);
    sk_take(s, -1, sk_common(t, 0, 8), mine(8));
    sk_fence(s);
    sk_post(s, t);
}

static void two_joins(sk_sched *s)
{
    int t = sk_epoch(s, 64, true);
    sk_post(s, t);
    sk_join_local(s, sk_slot(t, 0, 8), mine(8));
    sk_join_local(s, sk_slot(t, 8, 8), bytes_of(SK_RECV, 8, 8));
}

static void join_beside_the_common_slot(sk_sched *s)
{
    int t = sk_epoch(s, 64, true);
    sk_copy(s, mine(8), sk_common(t, 0, 8));
    sk_fence(s);
    sk_post(s, t);
    sk_join_local(s, sk_slot(t, 0, 8), mine(8));
}

static void a_epoch_before_the_last_but_one(sk_sched *s)
{
    int t = sk_epoch(s, 64, false), u = sk_epoch(s, 64, false), v = sk_epoch(s, 64, false);
    sk_take(s, 1, sk_slot(u, 0, 8), mine(8));
    sk_take(s, 1, sk_slot(v, 0, 8), bytes_of(SK_RECV, 8, 8));
    sk_fence(s);
    sk_take(s, 1, sk_slot(t, 0, 8), mine(8));
}

static void three_epochs_in_a_round(sk_sched *s)
{
    for (int i = 0; i < 3; i++)
        sk_take(s, 1, sk_slot(sk_epoch(s, 64, false), 0, 8), bytes_of(SK_RECV, 8 * i, 8));
}

static void quiesced_in_the_round_of_a_take(sk_sched *s)
{
    int t = sk_epoch(s, 64, false);
    sk_take(s, 1, sk_slot(t, 0, 8), mine(8));
    sk_quiesce(s, t);
}

static void single_copy_and_never_quiesced(sk_sched *s)
{
    int t = sk_epoch(s, 64, false);
    sk_export(s, mine(8), sk_slot(t, 0, SK_EXPORT_BYTES));
    sk_fence(s);
    sk_post(s, t);
}

static void single_copy_with_holes(sk_sched *s)
{
    int t = sk_epoch(s, 64, false);
    sk_export(s, (sk_span){.len = 6, .type = HOLEY}, sk_slot(t, 0, SK_EXPORT_BYTES));
}

static void a_short_place(sk_sched *s)
{
    sk_read(s, 1, sk_slot(sk_epoch(s, 64, false), 0, SK_EXPORT_BYTES - 1), 0, mine(8));
}

static void read_from_before_the_start(sk_sched *s)
{
    sk_read(s, 1, sk_slot(sk_epoch(s, 64, false), 0, SK_EXPORT_BYTES), -1, mine(8));
}

static void take_from_nobody(sk_sched *s)
{
    sk_take(s, -1, sk_slot(sk_epoch(s, 64, false), 0, 8), mine(8));
}

static void take_from_no_slot(sk_sched *s)
{
    sk_epoch(s, 64, false);
    sk_take(s, 1, bytes_of(SK_SCRATCH, 0, 8), mine(8));
}

static void take_of_another_length(sk_sched *s)
{
    sk_take(s, 1, sk_slot(sk_epoch(s, 64, false), 0, 8), mine(7));
}

static void fold_of_no_local_ranks(sk_sched *s)
{
    sk_fold_local(s, 2, 2, sk_slot(sk_epoch(s, 64, false), 0, 8), mine(8));
}

static void fold_of_the_common_slot(sk_sched *s)
{
    sk_fold_local(s, 0, 2, sk_common(sk_epoch(s, 64, false), 0, 8), mine(8));
}

static void fold_of_two_types(sk_sched *s)
{
    int t = sk_epoch(s, 64, false);
    sk_fold_local(s, 0, 2, sk_slot(t, 0, 6), (sk_span){.len = 6, .type = HOLEY, .buf = SK_RECV});
}

static void local_ranks_below_zero(sk_sched *s)
{
    sk_await_local(s, sk_epoch(s, 64, false), -1, 2);
}

static void common_written_in_a_epoch_that_not_all_post(sk_sched *s)
{
    int t = sk_epoch(s, 64, false);
    sk_copy(s, mine(8), sk_common(t, 0, 8));
    sk_fence(s);
    sk_post(s, t);
}

static void intra_without_epochs(sk_sched *s)
{
    sk_send_intra(s, mine(8), 1);
}

static void intra_with_holes(sk_sched *s)
{
    sk_epoch(s, 64, false);
    sk_recv_intra(s, (sk_span){.len = 6, .type = HOLEY, .buf = SK_RECV}, 1);
}

static void intra_to_nobody(sk_sched *s)
{
    sk_epoch(s, 64, false);
    sk_send_intra(s, mine(8), -2);
}

static void two_intra_to_one_local_rank(sk_sched *s)
{
    sk_epoch(s, 64, false);
    sk_send_intra(s, mine(8), 1);
    sk_send_intra(s, mine(8), 2);
    sk_send_intra(s, mine(4), 1);
}

static void two_intra_from_one_local_rank(sk_sched *s)
{
    sk_epoch(s, 64, false);
    sk_recv_intra(s, bytes_of(SK_RECV, 0, 4), 1);
    sk_recv_intra(s, bytes_of(SK_RECV, 4, 4), 1);
}

static void posted_without_a_part(sk_sched *s)
{
    sk_post(s, sk_epoch(s, SK_NO_PART, false));
}

static void met_without_a_part(sk_sched *s)
{
    sk_await_local(s, sk_epoch(s, SK_NO_PART, false), 0, 2);
}

static void broken_rules_are_refused(void **state)
{
    (void)state;
    void (*const bad[])(sk_sched *) = {unknown_epoch,
                                       beyond_the_room,
                                       before_the_room,
                                       typed_beyond_the_room,
                                       unknown_kind_of_slot,
                                       posted_twice,
                                       written_in_the_round_of_posting,
                                       received_after_posting,
                                       all_without_mine,
                                       common_of_a_epoch_that_not_all_post,
                                       join_of_a_epoch_that_not_all_post,
                                       common_before_i_post,
                                       two_joins,
                                       join_beside_the_common_slot,
                                       a_epoch_before_the_last_but_one,
                                       three_epochs_in_a_round,
                                       quiesced_in_the_round_of_a_take,
                                       single_copy_and_never_quiesced,
                                       single_copy_with_holes,
                                       a_short_place,
                                       read_from_before_the_start,
                                       take_from_nobody,
                                       take_from_no_slot,
                                       take_of_another_length,
                                       fold_of_no_local_ranks,
                                       fold_of_the_common_slot,
                                       fold_of_two_types,
                                       local_ranks_below_zero,
                                       common_written_in_a_epoch_that_not_all_post,
                                       posted_without_a_part,
                                       met_without_a_part,
                                       intra_without_epochs,
                                       intra_with_holes,
                                       intra_to_nobody,
                                       two_intra_to_one_local_rank,
                                       two_intra_from_one_local_rank};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        sk_sched *s = unit_sched();
        bad[i](s);
        if (sk_sched_freeze(s) != SK_BADARG)
            fail_msg("mistake number %zu is not refused", i);
        sk_sched_free(s);
    }
    sk_sched *s = unit_sched();
    sk_epoch(s, SK_NO_PART - 1, false);
    assert_int_equal(sk_sched_freeze(s), SK_TOOBIG);
    sk_sched_free(s);
}

static void a_round_may_have_a_intra_message_each_way_beside_others(void **state)
{
    (void)state;
    sk_sched *s = unit_sched();
    char kinds[32];
    sk_epoch(s, 64, false);
    for (int i = 0; i < 2; i++) {
        sk_send_intra(s, bytes_of(SK_SEND, 0, 8), 1);
        sk_send_intra(s, bytes_of(SK_SEND, 0, 8), 2);
        sk_send_intra(s, bytes_of(SK_SEND, 0, 0), 1); /* nothing */
        sk_recv_intra(s, bytes_of(SK_RECV, 0, 8), 1);
        sk_send(s, bytes_of(SK_SEND, 0, 8), 1);
        sk_send(s, bytes_of(SK_SEND, 0, 8), 1);
        sk_fence(s);
    }
    assert_int_equal(sk_sched_freeze(s), SK_OK);
    for (uint32_t i = 0; i < 2; i++) {
        kinds_of(s, i, kinds);
        assert_string_equal(kinds, "rssss");
    }
    sk_sched_stats n = sk_sched_count(s);
    assert_int_equal(n.sends, 8);
    assert_int_equal(n.recvs, 2);
    assert_false(sk_sched_view(s)->straight);
    sk_sched_free(s);
}

static void what_is_single_copy_may_be_quiesced_or_met_in_a_later_epoch(void **state)
{
    (void)state;
    for (int way = 0; way < 2; way++) {
        sk_sched *s = unit_sched();
        int t = sk_epoch(s, 64, false), u = sk_epoch(s, 0, true);
        sk_export(s, bytes_of(SK_SEND, 0, 8), sk_slot(t, 0, SK_EXPORT_BYTES));
        sk_fence(s);
        sk_post(s, t);
        sk_fence(s);
        sk_post(s, u);
        if (way == 0)
            sk_await_local(s, u, 0, 2);
        sk_fence(s);
        if (way == 1)
            sk_quiesce(s, t);
        assert_int_equal(sk_sched_freeze(s), SK_OK);
        sk_sched_free(s);
    }
}

/* ---- same-round conflicts ---- */

static void slots_are_memory_that_steps_of_a_round_must_not_share(void **state)
{
    (void)state;
    char why[128];
    for (int clash = 0; clash < 2; clash++) {
        sk_sched *s = unit_sched();
        int t = sk_epoch(s, 64, true);
        sk_copy(s, bytes_of(SK_SEND, 0, 8), sk_slot(t, 0, 8));
        sk_copy(s, bytes_of(SK_SEND, 8, 8), clash ? sk_slot(t, 4, 8) : sk_common(t, 4, 8));
        sk_fence(s);
        sk_post(s, t);
        assert_int_equal(sk_sched_freeze(s), SK_OK);
        assert_int_equal(sk_sched_disjoint(s, why, sizeof why), !clash);
        sk_sched_free(s);
    }
}

static void what_is_single_copy_must_not_be_written_before_it_is_quiesced(void **state)
{
    (void)state;
    char why[128];
    for (int late = 0; late < 2; late++) {
        sk_sched *s = unit_sched();
        int t = sk_epoch(s, 64, false);
        sk_export(s, mine(8), sk_slot(t, 0, SK_EXPORT_BYTES));
        sk_fence(s);
        sk_post(s, t);
        sk_fence(s);
        sk_quiesce(s, t);
        if (late)
            sk_fence(s);
        sk_copy(s, bytes_of(SK_SEND, 0, 8), mine(8));
        assert_int_equal(sk_sched_freeze(s), SK_OK);
        assert_int_equal(sk_sched_disjoint(s, why, sizeof why), late);
        sk_sched_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_round_posts_then_opens_then_moves_then_waits),
        cmocka_unit_test(what_is_posted_without_writing_is_opened_just_before),
        cmocka_unit_test(a_epoch_is_released_when_no_later_round_uses_it),
        cmocka_unit_test(empty_takes_are_dropped_and_post_and_meet_are_not),
        cmocka_unit_test(typed_slots_start_where_their_first_byte_lies),
        cmocka_unit_test(counts_of_takes_and_epochs),
        cmocka_unit_test(print_shows_the_steps_of_epochs),
        cmocka_unit_test(broken_rules_are_refused),
        cmocka_unit_test(a_round_may_have_a_intra_message_each_way_beside_others),
        cmocka_unit_test(what_is_single_copy_may_be_quiesced_or_met_in_a_later_epoch),
        cmocka_unit_test(slots_are_memory_that_steps_of_a_round_must_not_share),
        cmocka_unit_test(what_is_single_copy_must_not_be_written_before_it_is_quiesced),
    };
    return RUN(tests);
}
