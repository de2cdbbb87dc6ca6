/* The layout of the memory, and which rank is last to post: several local ranks in one thread. */
#include "unit.h"

#include <string.h>
#include <sys/mman.h>

#include "shm/local_ranks.h"

/* ---- how much memory ---- */

static void a_cap_bounds_the_memory(void **state)
{
    (void)state;
    for (int n = 1; n <= 300; n++)
        for (int64_t cap = 1 << 12; cap <= (int64_t)1 << 32; cap *= 3) {
            int64_t slot_bytes = -1, more = -1;
            size_t bytes = sk_shm_bytes(n, cap, &slot_bytes);
            assert_true((int64_t)bytes <= cap);
            assert_int_equal(bytes == 0, slot_bytes == 0);
            assert_true(sk_shm_bytes(n, 3 * cap, &more) >= bytes);
            assert_true(more >= slot_bytes);
        }
}

static void less_memory_means_less_room(void **state)
{
    (void)state;
    for (int n = 1; n <= 64; n += 21) {
        int64_t last = INT64_MAX, slot_bytes;
        size_t bytes = sk_shm_bytes(n, INT64_MAX, &slot_bytes);
        for (; bytes > 0; bytes = sk_shm_bytes(n, (int64_t)bytes - 1, &slot_bytes)) {
            int64_t same;
            assert_int_equal(sk_shm_bytes(n, (int64_t)bytes, &same), bytes);
            assert_int_equal(same, slot_bytes);
            assert_true(slot_bytes >= 256 && slot_bytes < last);
            assert_true(bytes >=
                        2 * (size_t)(n + 1) * (size_t)slot_bytes); /* a pipeline needs two */
            last = slot_bytes;
        }
        assert_int_equal(slot_bytes, 0);
    }
}

static void no_cap_below_zero_is_enough(void **state)
{
    (void)state;
    int64_t slot_bytes = 1;
    assert_int_equal(sk_shm_bytes(2, 0, &slot_bytes), 0);
    assert_int_equal(sk_shm_bytes(2, -1, &slot_bytes), 0);
    assert_int_equal(sk_shm_bytes(2, INT64_MIN, &slot_bytes), 0);
    assert_int_equal(slot_bytes, 0);
}

static void a_shm_knows_its_room_and_refuses_other_sizes(void **state)
{
    (void)state;
    for (int64_t cap = INT64_MAX, slot_bytes;;) {
        size_t bytes = sk_shm_bytes(5, cap, &slot_bytes);
        if (!bytes)
            break;
        void *mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        assert_true(mem != MAP_FAILED);
        assert_null(sk_shm_new(mem, bytes - 4096, 5, 0));
        assert_null(sk_shm_new(mem, bytes, 4, 0));
        sk_shm *b = sk_shm_new(mem, bytes, 5, 2);
        assert_non_null(b);
        assert_int_equal(sk_shm_slot_bytes(b), slot_bytes);
        assert_int_equal(sk_shm_nlocal(b), 5);
        assert_int_equal(sk_shm_me(b), 2);
        sk_shm_free(b);
        cap = (int64_t)bytes - 1;
    }
    sk_shm_free(NULL);
}

/* ---- slots ---- */

static const int64_t some_rooms[] = {524288, 524288, 0,    48,     49,    257, 300, 2048,
                                     131072, 131072, 2048, 524288, 16384, 48,  48};
enum { SOME = sizeof some_rooms / sizeof some_rooms[0] };

static unsigned char byte_of(uint32_t epoch, int local_rank)
{
    return (unsigned char)(3 * epoch + (unsigned)local_rank);
}

static void fill_slots(const local_ranks *s, uint32_t epoch, bool all)
{
    for (int me = 0; me < 2; me++) {
        sk_shm_open(s->b[me], epoch);
        memset(sk_shm_slot(s->b[me], epoch, me), byte_of(epoch, me), (size_t)some_rooms[epoch]);
    }
    if (all)
        memset(sk_shm_slot(s->b[0], epoch, 2), byte_of(epoch, 2), (size_t)some_rooms[epoch]);
}

static void check_slots(const local_ranks *s, uint32_t epoch, bool all)
{
    for (int local_rank = 0; local_rank < (all ? 3 : 2); local_rank++) {
        const unsigned char *slot = sk_shm_slot(s->b[local_rank == 1 ? 0 : 1], epoch, local_rank);
        for (int64_t i = 0; i < some_rooms[epoch]; i++)
            if (slot[i] != byte_of(epoch, local_rank))
                fail_msg("byte %lld of local rank %d in epoch %u", (long long)i, local_rank, epoch);
    }
}

/* A local rank has two at once, no more, and waits for the others before it uses a slot again. */
static void slots_of_two_epochs_in_a_row_do_not_overlap(void **state)
{
    (void)state;
    for (int all = 0; all < 3; all++) {
        local_ranks s = local_ranks_new(2, (sk_waiting){0});
        bool by_all[SOME];
        for (uint32_t t = 0; t < SOME; t++) {
            by_all[t] = all == 2 ? t % 2 == 1 : all == 1;
            local_ranks_epoch(&s, some_rooms[t], by_all[t]);
            fill_slots(&s, t, by_all[t]);
            if (t == 0)
                continue;
            check_slots(&s, t - 1, by_all[t - 1]);
            check_slots(&s, t, by_all[t]);
            for (int i = 0; i < 2; i++)
                sk_shm_release(s.b[i], t);
        }
        local_ranks_free(&s);
    }
}

static void epochs_that_a_local_rank_leaves_out_are_counted(void **state)
{
    (void)state;
    local_ranks s = local_ranks_new(2, (sk_waiting){0});
    for (int call = 0; call < 3000; call++) {
        for (int i = 0; i < 2; i++)
            sk_shm_begin(s.b[i], 0);
        sk_shm_epoch(s.b[0], call % 300, false,
                     false); /* local rank 0 has no part in the second one, */
        sk_shm_open(s.b[0], 0);
        memset(sk_shm_slot(s.b[0], 0, 0), call, (size_t)(call % 300));
        sk_shm_post(s.b[0], 0);
        sk_shm_release(s.b[0], 1 + call % 3);
        sk_shm_epoch(s.b[1], call % 300, false, false);
        assert_true(sk_shm_await(s.b[1], 0, 0));
        const unsigned char *slot = sk_shm_slot(s.b[1], 0, 0);
        for (int i = 0; i < call % 300; i++)
            assert_int_equal(slot[i], call & 255);
        if (call % 2) /* but local rank 1 has, at times */
            for (int i = 1; i < 1 + call % 3; i++) {
                sk_shm_epoch(s.b[1], 60, false, false);
                sk_shm_post(s.b[1], (uint32_t)i);
            }
        sk_shm_release(s.b[1], 1 + call % 3);
    }
    local_ranks_free(&s);
}

/* ---- the last to post ---- */

static void who_posts_last_is_told_so_of_every_epoch(void **state)
{
    (void)state;
    for (int mode = SK_WAIT_YIELD; mode <= SK_WAIT_SLEEP; mode++) {
        local_ranks s = local_ranks_new(3, (sk_waiting){.mode = (sk_wait_mode)mode});
        local_ranks_epoch(&s, 8, true);
        local_ranks_epoch(&s, 8, true);
        for (int i = 0; i < 3; i++) {
            assert_true(sk_shm_cores_shared(s.b[i]));
            sk_shm_post(s.b[i], 0); /* both before anything is asked */
            sk_shm_post(s.b[i], 1);
        }
        for (int i = 0; i < 3; i++)
            for (uint32_t t = 0; t < 2; t++)
                assert_int_equal(sk_shm_was_last(s.b[i], t), i == 2);
        memset(sk_shm_slot(s.b[2], 0, 3), 7, 8);
        sk_shm_announce(s.b[2], 0);
        for (int i = 0; i < 3; i++) {
            sk_shm_await_result(s.b[i], 0);
            sk_shm_await_range(s.b[i], 1, 0, 3);
            assert_memory_equal(sk_shm_slot(s.b[i], 0, 3), "\7\7\7\7\7\7\7\7", 8);
        }
        local_ranks_free(&s);
    }
}

/* The counts of epochs are used again and again, also by epochs that not all post. */
static void one_local_rank_is_last_in_every_epoch_that_all_post(void **state)
{
    (void)state;
    local_ranks s = local_ranks_new(3, (sk_waiting){.mode = SK_WAIT_YIELD});
    for (int epoch = 0; epoch < 500; epoch++) {
        bool all = epoch % 3 != 1;
        for (int i = 0; i < 3; i++)
            sk_shm_begin(s.b[i], 0);
        local_ranks_epoch(&s, epoch % 60, all);
        for (int i = 0; i < 3; i++)
            if (all || i != 1)
                sk_shm_post(s.b[(epoch + i) % 3], 0);
        for (int i = 0; i < 3; i++) {
            assert_int_equal(sk_shm_was_last(s.b[(epoch + i) % 3], 0), all && i == 2);
            if (all)
                sk_shm_await_range(s.b[i], 0, 0, 3);
        }
        for (int i = 0; i < 3; i++)
            sk_shm_release(s.b[i], 1);
    }
    local_ranks_free(&s);
}

/* ---- signs ---- */

static void local_ranks_see_that_their_signs_differ(void **state)
{
    (void)state;
    for (int mode = SK_WAIT_SPIN; mode <= SK_WAIT_SLEEP; mode++) {
        local_ranks s = local_ranks_new(3, (sk_waiting){.mode = (sk_wait_mode)mode});
        for (uint32_t call = 0; call < 3; call++) {
            for (int i = 0; i < 3; i++) /* the second call is another at local rank 2 */
                sk_shm_begin(s.b[i], call == 1 && i == 2 ? 99 : call);
            local_ranks_epoch(&s, 8, false);
            for (int i = 0; i < 3; i++)
                sk_shm_post(s.b[i], 0);
            assert_true(sk_shm_await(s.b[0], 0, 1));
            assert_true(sk_shm_await_range(s.b[0], 0, 0, 2));
            assert_int_equal(sk_shm_await(s.b[0], 0, 2), call != 1);
            assert_int_equal(sk_shm_await_range(s.b[1], 0, 0, 3), call != 1);
            assert_int_equal(sk_shm_await(s.b[2], 0, 0), call != 1);
            for (int i = 0; i < 3; i++)
                sk_shm_release(s.b[i], 1);
        }
        local_ranks_free(&s);
    }
}

static void a_local_rank_alone_never_waits(void **state)
{
    (void)state;
    for (int mode = SK_WAIT_SPIN; mode <= SK_WAIT_SLEEP; mode++) {
        local_ranks s = local_ranks_new(1, (sk_waiting){.mode = (sk_wait_mode)mode});
        for (int epoch = 0; epoch < 200; epoch++) {
            sk_shm_begin(s.b[0], 0);
            sk_shm_epoch(s.b[0], 524288, true, true);
            sk_shm_open(s.b[0], 0);
            sk_shm_post(s.b[0], 0);
            sk_shm_release(s.b[0], 1);
            sk_shm_await_range(s.b[0], 0, 0, 1);
            assert_int_equal(sk_shm_was_last(s.b[0], 0), sk_shm_cores_shared(s.b[0]));
            sk_shm_quiesce(s.b[0], 0);
        }
        local_ranks_free(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cap_bounds_the_memory),
        cmocka_unit_test(less_memory_means_less_room),
        cmocka_unit_test(no_cap_below_zero_is_enough),
        cmocka_unit_test(a_shm_knows_its_room_and_refuses_other_sizes),
        cmocka_unit_test(slots_of_two_epochs_in_a_row_do_not_overlap),
        cmocka_unit_test(epochs_that_a_local_rank_leaves_out_are_counted),
        cmocka_unit_test(who_posts_last_is_told_so_of_every_epoch),
        cmocka_unit_test(one_local_rank_is_last_in_every_epoch_that_all_post),
        cmocka_unit_test(local_ranks_see_that_their_signs_differ),
        cmocka_unit_test(a_local_rank_alone_never_waits),
    };
    return RUN(tests);
}
