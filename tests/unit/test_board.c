/* The memory of a board, and who is last to publish: several mates in one thread. */
#include "unit.h"

#include <string.h>
#include <sys/mman.h>

#include "shm/mates.h"

/* ---- how much memory ---- */

static void a_cap_bounds_the_memory(void **state)
{
    (void)state;
    for (int n = 1; n <= 300; n++)
        for (int64_t cap = 1 << 12; cap <= (int64_t)1 << 32; cap *= 3) {
            int64_t room = -1, more = -1;
            size_t bytes = sk_board_bytes(n, cap, &room);
            assert_true((int64_t)bytes <= cap);
            assert_int_equal(bytes == 0, room == 0);
            assert_true(sk_board_bytes(n, 3 * cap, &more) >= bytes);
            assert_true(more >= room);
        }
}

static void less_memory_means_less_room(void **state)
{
    (void)state;
    for (int n = 1; n <= 64; n += 21) {
        int64_t last = INT64_MAX, room;
        size_t bytes = sk_board_bytes(n, INT64_MAX, &room);
        for (; bytes > 0; bytes = sk_board_bytes(n, (int64_t)bytes - 1, &room)) {
            int64_t same;
            assert_int_equal(sk_board_bytes(n, (int64_t)bytes, &same), bytes);
            assert_int_equal(same, room);
            assert_true(room >= 256 && room < last);
            assert_true(bytes >= 2 * (size_t)(n + 1) * (size_t)room); /* a pipeline needs two */
            last = room;
        }
        assert_int_equal(room, 0);
    }
}

static void no_cap_below_zero_is_enough(void **state)
{
    (void)state;
    int64_t room = 1;
    assert_int_equal(sk_board_bytes(2, 0, &room), 0);
    assert_int_equal(sk_board_bytes(2, -1, &room), 0);
    assert_int_equal(sk_board_bytes(2, INT64_MIN, &room), 0);
    assert_int_equal(room, 0);
}

static void a_board_knows_its_room_and_refuses_other_sizes(void **state)
{
    (void)state;
    for (int64_t cap = INT64_MAX, room;;) {
        size_t bytes = sk_board_bytes(5, cap, &room);
        if (!bytes)
            break;
        void *mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        assert_true(mem != MAP_FAILED);
        assert_null(sk_board_new(mem, bytes - 4096, 5, 0));
        assert_null(sk_board_new(mem, bytes, 4, 0));
        sk_board *b = sk_board_new(mem, bytes, 5, 2);
        assert_non_null(b);
        assert_int_equal(sk_board_room(b), room);
        assert_int_equal(sk_board_mates(b), 5);
        assert_int_equal(sk_board_me(b), 2);
        sk_board_free(b);
        cap = (int64_t)bytes - 1;
    }
    sk_board_free(NULL);
}

/* ---- bays ---- */

static const int64_t some_rooms[] = {524288, 524288, 0,    48,     49,    257, 300, 2048,
                                     131072, 131072, 2048, 524288, 16384, 48,  48};
enum { SOME = sizeof some_rooms / sizeof some_rooms[0] };

static void fill_bays(const mates *s, uint32_t turn)
{
    for (int mate = 0; mate <= 2; mate++)
        memset(sk_board_bay(s->b[0], turn, mate), (int)(3 * turn) + mate, (size_t)some_rooms[turn]);
}

static void check_bays(const mates *s, uint32_t turn)
{
    for (int mate = 0; mate <= 2; mate++) {
        const unsigned char *bay = sk_board_bay(s->b[1], turn, mate);
        for (int64_t i = 0; i < some_rooms[turn]; i++)
            if (bay[i] != 3 * turn + (unsigned)mate)
                fail_msg("byte %lld of mate %d in turn %u", (long long)i, mate, turn);
    }
}

/* A mate has two at once, no more, and waits for the others before it uses a bay again. */
static void bays_of_two_turns_in_a_row_do_not_overlap(void **state)
{
    (void)state;
    for (int all = 0; all < 3; all++) {
        mates s = mates_new(2, (sk_pause){0});
        for (uint32_t t = 0; t < SOME; t++) {
            mates_turn(&s, some_rooms[t], all == 2 ? t % 2 == 1 : all == 1);
            fill_bays(&s, t);
            if (t == 0)
                continue;
            check_bays(&s, t - 1);
            check_bays(&s, t);
        }
        mates_free(&s);
    }
}

static void turns_that_a_mate_leaves_out_are_counted(void **state)
{
    (void)state;
    mates s = mates_new(2, (sk_pause){0});
    for (int call = 0; call < 3000; call++) {
        for (int i = 0; i < 2; i++)
            sk_board_begin(s.b[i], 0);
        sk_board_turn(s.b[0], call % 300, false, false); /* mate 0 has no part in the second one, */
        sk_board_open(s.b[0], 0);
        memset(sk_board_bay(s.b[0], 0, 0), call, (size_t)(call % 300));
        sk_board_publish(s.b[0], 0);
        sk_board_pass(s.b[0], 1 + call % 3);
        sk_board_turn(s.b[1], call % 300, false, false);
        assert_true(sk_board_await(s.b[1], 0, 0));
        const unsigned char *bay = sk_board_bay(s.b[1], 0, 0);
        for (int i = 0; i < call % 300; i++)
            assert_int_equal(bay[i], call & 255);
        if (call % 2) /* but mate 1 has, at times */
            for (int i = 1; i < 1 + call % 3; i++) {
                sk_board_turn(s.b[1], 60, false, false);
                sk_board_publish(s.b[1], (uint32_t)i);
            }
        sk_board_pass(s.b[1], 1 + call % 3);
    }
    mates_free(&s);
}

/* ---- the last to publish ---- */

static void who_publishes_last_is_told_so_of_every_turn(void **state)
{
    (void)state;
    for (int mode = SK_PAUSE_YIELD; mode <= SK_PAUSE_SLEEP; mode++) {
        mates s = mates_new(3, (sk_pause){.mode = (sk_pause_mode)mode});
        mates_turn(&s, 8, true);
        mates_turn(&s, 8, true);
        for (int i = 0; i < 3; i++) {
            assert_true(sk_board_crowded(s.b[i]));
            sk_board_publish(s.b[i], 0); /* both before anything is asked */
            sk_board_publish(s.b[i], 1);
        }
        for (int i = 0; i < 3; i++)
            for (uint32_t t = 0; t < 2; t++)
                assert_int_equal(sk_board_was_last(s.b[i], t), i == 2);
        memset(sk_board_bay(s.b[2], 0, 3), 7, 8);
        sk_board_announce(s.b[2], 0);
        for (int i = 0; i < 3; i++) {
            sk_board_await_result(s.b[i], 0);
            sk_board_await_range(s.b[i], 1, 0, 3);
            assert_memory_equal(sk_board_bay(s.b[i], 0, 3), "\7\7\7\7\7\7\7\7", 8);
        }
        mates_free(&s);
    }
}

/* The counts of turns are used again and again, also by turns that not all publish. */
static void one_mate_is_last_in_every_turn_that_all_publish(void **state)
{
    (void)state;
    mates s = mates_new(3, (sk_pause){.mode = SK_PAUSE_YIELD});
    for (int turn = 0; turn < 500; turn++) {
        bool all = turn % 3 != 1;
        for (int i = 0; i < 3; i++)
            sk_board_begin(s.b[i], 0);
        mates_turn(&s, turn % 60, all);
        for (int i = 0; i < 3; i++)
            if (all || i != 1)
                sk_board_publish(s.b[(turn + i) % 3], 0);
        for (int i = 0; i < 3; i++) {
            assert_int_equal(sk_board_was_last(s.b[(turn + i) % 3], 0), all && i == 2);
            if (all)
                sk_board_await_range(s.b[i], 0, 0, 3);
        }
        for (int i = 0; i < 3; i++)
            sk_board_pass(s.b[i], 1);
    }
    mates_free(&s);
}

/* ---- signs ---- */

static void mates_see_that_their_signs_differ(void **state)
{
    (void)state;
    for (int mode = SK_PAUSE_SPIN; mode <= SK_PAUSE_SLEEP; mode++) {
        mates s = mates_new(3, (sk_pause){.mode = (sk_pause_mode)mode});
        for (uint32_t call = 0; call < 3; call++) {
            for (int i = 0; i < 3; i++) /* the second call is another at mate 2 */
                sk_board_begin(s.b[i], call == 1 && i == 2 ? 99 : call);
            mates_turn(&s, 8, false);
            for (int i = 0; i < 3; i++)
                sk_board_publish(s.b[i], 0);
            assert_true(sk_board_await(s.b[0], 0, 1));
            assert_true(sk_board_await_range(s.b[0], 0, 0, 2));
            assert_int_equal(sk_board_await(s.b[0], 0, 2), call != 1);
            assert_int_equal(sk_board_await_range(s.b[1], 0, 0, 3), call != 1);
            assert_int_equal(sk_board_await(s.b[2], 0, 0), call != 1);
            for (int i = 0; i < 3; i++)
                sk_board_pass(s.b[i], 1);
        }
        mates_free(&s);
    }
}

static void a_mate_alone_never_waits(void **state)
{
    (void)state;
    for (int mode = SK_PAUSE_SPIN; mode <= SK_PAUSE_SLEEP; mode++) {
        mates s = mates_new(1, (sk_pause){.mode = (sk_pause_mode)mode});
        for (int turn = 0; turn < 200; turn++) {
            sk_board_begin(s.b[0], 0);
            sk_board_turn(s.b[0], 524288, true, true);
            sk_board_open(s.b[0], 0);
            sk_board_publish(s.b[0], 0);
            sk_board_pass(s.b[0], 1);
            sk_board_await_range(s.b[0], 0, 0, 1);
            assert_int_equal(sk_board_was_last(s.b[0], 0), sk_board_crowded(s.b[0]));
            sk_board_settle(s.b[0], 0);
        }
        mates_free(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cap_bounds_the_memory),
        cmocka_unit_test(less_memory_means_less_room),
        cmocka_unit_test(no_cap_below_zero_is_enough),
        cmocka_unit_test(a_board_knows_its_room_and_refuses_other_sizes),
        cmocka_unit_test(bays_of_two_turns_in_a_row_do_not_overlap),
        cmocka_unit_test(turns_that_a_mate_leaves_out_are_counted),
        cmocka_unit_test(who_publishes_last_is_told_so_of_every_turn),
        cmocka_unit_test(one_mate_is_last_in_every_turn_that_all_publish),
        cmocka_unit_test(mates_see_that_their_signs_differ),
        cmocka_unit_test(a_mate_alone_never_waits),
    };
    return RUN(tests);
}
