/* Epochs over the in-process wire. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "lab/inproc/inproc.h"

enum { RANKS = 5, ROOM = 64 };

/* Ranks 0, 2, 4 on one node, 1 and 3 on the other. */
typedef struct world {
    sk_inproc *l;
    sk_machine *m;
    sk_sched *s[RANKS];
    sk_run run[RANKS];
    char send[RANKS][ROOM], recv[RANKS][ROOM];
    bool heard[RANKS][RANKS];
} world;

static void hear(void *ctx, int from, int to, uint32_t epoch)
{
    (void)epoch;
    ((world *)ctx)->heard[to][from] = true;
}

static void subtract(void *ctx, const void *in, void *inout, int64_t n)
{
    (void)ctx;
    for (int64_t i = 0; i < n; i++)
        ((char *)inout)[i] = (char)(((const char *)in)[i] - ((char *)inout)[i]);
}

static world *new_world(void)
{
    char err[128];
    world *w = calloc(1, sizeof *w);
    assert_non_null(w);
    w->l = sk_inproc_new(RANKS, &(sk_inproc_hooks){.ctx = w, .reduce = subtract, .see = hear});
    assert_non_null(w->l);
    assert_int_equal(sk_machine_parse("node:2 core:3 map:rr", RANKS, &w->m, err, sizeof err),
                     SK_OK);
    sk_inproc_machine(w->l, w->m);
    for (int r = 0; r < RANKS; r++) {
        w->s[r] = unit_sched();
        for (int i = 0; i < ROOM; i++) {
            w->send[r][i] = (char)(10 * (r + 1) + i);
            w->recv[r][i] = '.';
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
    return sk_inproc_run(w->l, w->run);
}

static void free_world(world *w)
{
    for (int r = 0; r < RANKS; r++)
        sk_sched_free(w->s[r]);
    sk_inproc_free(w->l);
    sk_machine_free(w->m);
    free(w);
}

/* An epoch on all ranks. */
static int epoch_of_all(world *w, int64_t slot_bytes, bool all)
{
    int epoch = 0;
    for (int r = 0; r < RANKS; r++)
        epoch = sk_epoch(w->s[r], slot_bytes, all);
    return epoch;
}

static void fill_and_post(world *w, int rank, int epoch, int64_t n)
{
    sk_copy(w->s[rank], bytes_of(SK_SEND, 0, n), sk_slot(epoch, 0, n));
    sk_fence(w->s[rank]);
    sk_post(w->s[rank], epoch);
}

static void local_ranks_take_what_a_local_rank_posts(void **state)
{
    (void)state;
    world *w = new_world();
    int t = epoch_of_all(w, 8, false);
    fill_and_post(w, 2, t, 8);
    sk_take(w->s[0], 2, sk_slot(t, 1, 4), bytes_of(SK_RECV, 0, 4));
    sk_take(w->s[2], 2, sk_slot(t, 0, 8), bytes_of(SK_RECV, 0, 8)); /* my own, too */
    assert_int_equal(play(w), SK_OK);
    assert_memory_equal(w->recv[0], w->send[2] + 1, 4);
    assert_memory_equal(w->recv[2], w->send[2], 8);
    assert_true(w->heard[0][2] && !w->heard[0][4] && !w->heard[2][0]);
    assert_int_equal(sk_inproc_messages(w->l), 0);
    assert_string_equal(sk_inproc_why(w->l), "");
    free_world(w);
}

static void the_common_slot_is_taken_when_all_have_posted(void **state)
{
    (void)state;
    world *w = new_world();
    int t = epoch_of_all(w, 6, true);
    for (int r = 0; r < RANKS; r++) {
        sk_copy(w->s[r], bytes_of(SK_SEND, 0, 2), sk_common(t, 2 * w->m->local_rank[r], 2));
        sk_fence(w->s[r]);
        sk_post(w->s[r], t);
    }
    sk_take(w->s[0], -1, sk_common(t, 0, 6), bytes_of(SK_RECV, 0, 6));
    sk_take(w->s[3], -1, sk_common(t, 0, 4), bytes_of(SK_RECV, 0, 4));
    assert_int_equal(play(w), SK_OK);
    assert_memory_equal(w->recv[0], ((char[]){10, 11, 30, 31, 50, 51}), 6);
    assert_memory_equal(w->recv[3], ((char[]){20, 21, 40, 41}), 4);
    assert_true(w->heard[0][2] && w->heard[0][4] && !w->heard[0][1] && w->heard[3][1]);
    free_world(w);
}

static void fold_combines_from_the_last_local_rank_down(void **state)
{
    (void)state;
    world *w = new_world();
    int t = epoch_of_all(w, 8, true);
    for (int r = 0; r < RANKS; r++)
        fill_and_post(w, r, t, 2);
    for (int r = 0; r < RANKS; r += 2)
        sk_join_local(w->s[r], sk_slot(t, 0, 2), bytes_of(SK_RECV, 0, 2));
    sk_fold_local(w->s[4], 1, 3, sk_slot(t, 0, 2), bytes_of(SK_RECV, 8, 2));
    assert_int_equal(play(w), SK_OK);
    for (int r = 0; r < RANKS; r += 2)
        assert_memory_equal(w->recv[r], ((char[]){10 - (30 - 50), 11 - (31 - 51)}), 2);
    assert_memory_equal(w->recv[4] + 8, ((char[]){30 - 50, 31 - 51}), 2);
    assert_memory_equal(w->recv[1], "....", 4);
    free_world(w);
}

static void local_ranks_read_what_is_single_copy(void **state)
{
    (void)state;
    world *w = new_world();
    int t = epoch_of_all(w, SK_EXPORT_BYTES, false);
    sk_export(w->s[4], bytes_of(SK_SEND, 3, 9), sk_slot(t, 0, SK_EXPORT_BYTES));
    sk_fence(w->s[4]);
    sk_post(w->s[4], t);
    sk_fence(w->s[4]);
    sk_quiesce(w->s[4], t);
    sk_read(w->s[0], 4, sk_slot(t, 0, SK_EXPORT_BYTES), 2, bytes_of(SK_RECV, 0, 7));
    assert_int_equal(play(w), SK_OK);
    assert_memory_equal(w->recv[0], w->send[4] + 5, 7);
    free_world(w);
}

/* Four epochs, all ranks give and take in each, and fill one while they empty the one before. */
static void epochs_follow_each_other_in_a_pipeline(void **state)
{
    (void)state;
    enum { EPOCHS = 4 };
    world *w = new_world();
    for (int k = 0; k < EPOCHS; k++) {
        int t = epoch_of_all(w, 2, false);
        for (int r = 0; r < RANKS; r++) {
            int n, i = w->m->local_rank[r];
            const int *local_ranks = sk_machine_local_ranks(w->m, r, &n);
            sk_copy(w->s[r], bytes_of(SK_SEND, 2 * k, 2), sk_slot(t, 0, 2));
            sk_fence(w->s[r]);
            sk_post(w->s[r], t);
            sk_take(w->s[r], local_ranks[(i + 1) % n], sk_slot(t, 0, 2),
                    bytes_of(SK_RECV, 2 * k, 2));
        }
    }
    assert_int_equal(play(w), SK_OK);
    for (int r = 0; r < RANKS; r++) {
        int n, i = w->m->local_rank[r];
        const int *local_ranks = sk_machine_local_ranks(w->m, r, &n);
        assert_memory_equal(w->recv[r], w->send[local_ranks[(i + 1) % n]], 2 * EPOCHS);
    }
    free_world(w);
}

/* Slots are used again: who opens the third epoch waits for all to leave the first. */
static void nobody_runs_ahead_by_more_than_two_epochs(void **state)
{
    (void)state;
    world *w = new_world();
    for (int k = 0; k < 3; k++) {
        int t = epoch_of_all(w, 8, false);
        fill_and_post(w, 0, t, 8);
        sk_fence(w->s[0]);
    }
    sk_recv_signal(w->s[2], 0); /* never comes before rank 0 is through */
    sk_send_signal(w->s[0], 2);
    sk_fence(w->s[2]);
    sk_take(w->s[2], 0, sk_slot(0, 0, 8), bytes_of(SK_RECV, 0, 8));
    assert_int_equal(play(w), SK_DEADLOCK);
    assert_int_equal(sk_inproc_stuck(w->l), 2);
    free_world(w);
}

static void a_run_with_an_error_still_posts_and_releases(void **state)
{
    (void)state;
    world *w = new_world();
    int t = epoch_of_all(w, 8, false), u = epoch_of_all(w, 8, false), v = epoch_of_all(w, 8, false);
    sk_send(w->s[0], bytes_of(SK_SEND, 0, 4), RANKS); /* no such rank */
    sk_fence(w->s[0]);
    fill_and_post(w, 0, t, 8);
    fill_and_post(w, 2, t, 8);
    sk_take(w->s[2], 0, sk_slot(t, 0, 8), bytes_of(SK_RECV, 0, 8));
    sk_fence(w->s[2]);
    fill_and_post(w, 2, u, 8);
    fill_and_post(w, 2, v, 8);
    assert_int_equal(play(w), SK_BADARG);
    assert_int_equal(sk_inproc_stuck(w->l), 0);
    assert_int_equal(w->run[0].status, SK_BADARG);
    assert_int_equal(w->run[2].status, SK_OK);
    assert_memory_equal(w->recv[2], w->send[0], 8);
    free_world(w);
}

static void intra_messages_release_between_local_ranks(void **state)
{
    (void)state;
    world *w = new_world();
    epoch_of_all(w, 8, false);
    for (int r = 0; r < RANKS; r += 2) {
        sk_send_intra(w->s[r], bytes_of(SK_SEND, 0, 6), (r + 2) % 6);
        sk_recv_intra(w->s[r], bytes_of(SK_RECV, 0, 6), (r + 4) % 6);
    }
    sk_send_intra(w->s[1], bytes_of(SK_SEND, 8, 3), 3);
    sk_recv_intra(w->s[3], bytes_of(SK_RECV, 5, 3), 1);
    assert_int_equal(play(w), SK_OK);
    for (int r = 0; r < RANKS; r += 2)
        assert_memory_equal(w->recv[r], w->send[(r + 4) % 6], 6);
    assert_memory_equal(w->recv[3] + 5, w->send[1] + 8, 3);
    assert_int_equal(sk_inproc_messages(w->l), 4);
    free_world(w);
}

/* ---- what the in-process wire complains of ---- */

static void complains(world *w, sk_status st, const char *why)
{
    assert_int_equal(play(w), st);
    if (!strstr(sk_inproc_why(w->l), why))
        fail_msg("wanted \"%s\", got \"%s\"", why, sk_inproc_why(w->l));
    free_world(w);
}

static void reading_what_nobody_wrote_is_an_error(void **state)
{
    (void)state;
    world *w = new_world();
    int t = epoch_of_all(w, 8, false);
    fill_and_post(w, 2, t, 4);
    sk_take(w->s[0], 2, sk_slot(t, 0, 5), bytes_of(SK_RECV, 0, 5));
    complains(w, SK_WIRE, "byte 4 of epoch 0, which nobody wrote");
}

static void taking_from_another_node_is_an_error(void **state)
{
    (void)state;
    world *w = new_world();
    int t = epoch_of_all(w, 8, false);
    fill_and_post(w, 1, t, 4);
    sk_take(w->s[0], 1, sk_slot(t, 0, 4), bytes_of(SK_RECV, 0, 4));
    complains(w, SK_WIRE, "of another node");
}

static void a_intra_message_to_another_node_is_an_error(void **state)
{
    (void)state;
    world *w = new_world();
    epoch_of_all(w, 8, false);
    sk_send_intra(w->s[0], bytes_of(SK_SEND, 0, 4), 1);
    complains(w, SK_WIRE, "ranks 0 and 1 are on different nodes");
}

static void a_message_that_is_intra_to_one_end_only_is_an_error(void **state)
{
    (void)state;
    world *w = new_world();
    epoch_of_all(w, 8, false);
    sk_send_intra(w->s[0], bytes_of(SK_SEND, 0, 4), 2);
    sk_recv(w->s[2], bytes_of(SK_RECV, 0, 4), 0);
    complains(w, SK_WIRE, "from rank 0 to rank 2 is through shared memory at one end only");
}

static void waiting_for_what_is_never_posted_is_a_deadlock(void **state)
{
    (void)state;
    world *w = new_world();
    int t = epoch_of_all(w, 8, false);
    sk_take(w->s[0], 2, sk_slot(t, 0, 4), bytes_of(SK_RECV, 0, 4));
    complains(w, SK_DEADLOCK, "");
}

static void common_bytes_of_a_local_rank_are_read_only_after_waiting_for_it(void **state)
{
    (void)state;
    world *w = new_world();
    int t = epoch_of_all(w, 8, true);
    sk_copy(w->s[0], bytes_of(SK_SEND, 0, 4), sk_common(t, 0, 4));
    sk_fence(w->s[0]);
    for (int r = 0; r < RANKS; r++)
        sk_post(w->s[r], t);
    sk_await_local(w->s[2], t, 1, 2); /* itself, not rank 0 */
    sk_fence(w->s[2]);
    sk_copy(w->s[2], sk_common(t, 0, 4), bytes_of(SK_RECV, 0, 4));
    complains(w, SK_WIRE, "rank 2 reads epoch 0 without waiting for rank 0");
}

static void common_bytes_have_one_writer(void **state)
{
    (void)state;
    world *w = new_world();
    int t = epoch_of_all(w, 8, true);
    for (int r = 0; r < 4; r += 2) {
        sk_copy(w->s[r], bytes_of(SK_SEND, 0, 4), sk_common(t, r, 4));
        sk_fence(w->s[r]);
    }
    for (int r = 0; r < RANKS; r++)
        sk_post(w->s[r], t);
    complains(w, SK_WIRE, "ranks 0 and 2 both write byte 2 of epoch 0");
}

static void local_ranks_with_different_epochs_are_refused(void **state)
{
    (void)state;
    for (int how = 0; how < 3; how++) {
        world *w = new_world();
        int t = epoch_of_all(w, 8, false);
        assert_int_equal(t, 0);
        for (int r = 0; r < RANKS; r++)
            if (r != 4 || how < 2) {
                int u = sk_epoch(w->s[r], r == 4 && how == 0 ? 9 : 8, r == 4 && how == 1);
                sk_post(w->s[r], u);
            }
        complains(w, SK_BADARG, "rank 4 and others of its node have different epochs");
    }
}

static void epochs_need_a_machine(void **state)
{
    (void)state;
    world *w = new_world();
    sk_post(w->s[0], epoch_of_all(w, 8, false));
    sk_inproc_machine(w->l, NULL);
    complains(w, SK_BADARG, "no machine");
}

static void all_local_ranks_must_join_and_the_same_bytes(void **state)
{
    (void)state;
    for (int how = 0; how < 2; how++) {
        world *w = new_world();
        int t = epoch_of_all(w, 8, true);
        for (int r = 0; r < RANKS; r++)
            fill_and_post(w, r, t, 8);
        sk_join_local(w->s[0], sk_slot(t, 0, 4), bytes_of(SK_RECV, 0, 4));
        for (int r = 2; how && r < RANKS; r += 2)
            sk_join_local(w->s[r], sk_slot(t, 1, 4), bytes_of(SK_RECV, 0, 4));
        complains(w, SK_WIRE, how ? "joins other bytes" : "not all local ranks join epoch 0");
    }
}

static void a_fold_over_more_local_ranks_than_there_are_is_an_error(void **state)
{
    (void)state;
    world *w = new_world();
    int t = epoch_of_all(w, 8, true);
    for (int r = 0; r < RANKS; r++)
        fill_and_post(w, r, t, 8);
    sk_fold_local(w->s[1], 0, 3, sk_slot(t, 0, 4), bytes_of(SK_RECV, 0, 4));
    complains(w, SK_WIRE, "waits for local rank 2 of 2");
}

static void reading_more_than_is_single_copy_is_an_error(void **state)
{
    (void)state;
    for (int how = 0; how < 2; how++) {
        world *w = new_world();
        int t = epoch_of_all(w, 2 * SK_EXPORT_BYTES, false);
        sk_export(w->s[4], bytes_of(SK_SEND, 0, 9), sk_slot(t, 0, SK_EXPORT_BYTES));
        sk_export(w->s[4], bytes_of(SK_SEND, 0, 9), sk_slot(t, SK_EXPORT_BYTES, SK_EXPORT_BYTES));
        sk_fence(w->s[4]);
        sk_post(w->s[4], t);
        sk_fence(w->s[4]);
        sk_quiesce(w->s[4], t);
        sk_read(w->s[0], 4, sk_slot(t, how, SK_EXPORT_BYTES), 3, bytes_of(SK_RECV, 0, how ? 6 : 7));
        complains(w, SK_WIRE, how ? "where rank 4 exports nothing" : "reads more than rank 4");
    }
}

/* Schedules cannot do this; wires must see it all the same. */
static void posting_twice_is_an_error(void **state)
{
    (void)state;
    world *w = new_world();
    int t = epoch_of_all(w, 8, false);
    sk_post(w->s[0], t);
    for (int r = 0; r < RANKS; r++)
        assert_int_equal(sk_sched_freeze(w->s[r]), SK_OK);
    struct sk_sched_view twice = *sk_sched_view(w->s[0]);
    sk_step steps[] = {twice.steps[0], twice.steps[1], twice.steps[1]};
    sk_round round = {.nhead = 3};
    twice.steps = steps;
    twice.nsteps = 3;
    twice.rounds = &round;
    for (int r = 0; r < RANKS; r++)
        sk_run_init(&w->run[r], w->s[r], sk_inproc_wire(w->l, r, unit_types), NULL, NULL, NULL,
                    NULL);
    w->run[0].sched = &twice;
    assert_int_equal(sk_inproc_run(w->l, w->run), SK_WIRE);
    assert_string_equal(sk_inproc_why(w->l), "rank 0 posts epoch 0 twice");
    free_world(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(local_ranks_take_what_a_local_rank_posts),
        cmocka_unit_test(the_common_slot_is_taken_when_all_have_posted),
        cmocka_unit_test(fold_combines_from_the_last_local_rank_down),
        cmocka_unit_test(local_ranks_read_what_is_single_copy),
        cmocka_unit_test(epochs_follow_each_other_in_a_pipeline),
        cmocka_unit_test(nobody_runs_ahead_by_more_than_two_epochs),
        cmocka_unit_test(a_run_with_an_error_still_posts_and_releases),
        cmocka_unit_test(intra_messages_release_between_local_ranks),
        cmocka_unit_test(a_intra_message_to_another_node_is_an_error),
        cmocka_unit_test(a_message_that_is_intra_to_one_end_only_is_an_error),
        cmocka_unit_test(reading_what_nobody_wrote_is_an_error),
        cmocka_unit_test(taking_from_another_node_is_an_error),
        cmocka_unit_test(waiting_for_what_is_never_posted_is_a_deadlock),
        cmocka_unit_test(common_bytes_of_a_local_rank_are_read_only_after_waiting_for_it),
        cmocka_unit_test(common_bytes_have_one_writer),
        cmocka_unit_test(local_ranks_with_different_epochs_are_refused),
        cmocka_unit_test(epochs_need_a_machine),
        cmocka_unit_test(all_local_ranks_must_join_and_the_same_bytes),
        cmocka_unit_test(a_fold_over_more_local_ranks_than_there_are_is_an_error),
        cmocka_unit_test(reading_more_than_is_single_copy_is_an_error),
        cmocka_unit_test(posting_twice_is_an_error),
    };
    return RUN(tests);
}
