/* How far a mate of a board runs ahead, and what it waits for then: two mates in one thread, where
 * the `idle` of the one that waits plays the other. */
#include "unit.h"

#include <string.h>

#include "shm/mates.h"

static struct { /* what `idle` does, and how often it was asked */
    mates *s;
    uint32_t pass; /* turns that mate 1 passes, then: one more every time */
    int asked;
} lazy;

static void pass_when_idle(void)
{
    lazy.asked++;
    sk_board_pass(lazy.s->b[1], lazy.pass++);
}

static void lazy_mate(mates *s, uint32_t pass)
{
    lazy.s = s;
    lazy.pass = pass;
    lazy.asked = 0;
}

static void share(sk_board *b, uint32_t turn, int64_t room)
{
    sk_board_open(b, turn);
    memset(sk_board_bay(b, turn, 0), (int)turn + 1, (size_t)room);
    sk_board_publish(b, turn);
    sk_board_pass(b, turn + 1);
}

static void check_shared(sk_board *b, uint32_t turn, int64_t room)
{
    sk_board_await(b, turn, 0);
    const unsigned char *bay = sk_board_bay(b, turn, 0);
    for (int64_t i = 0; i < room; i++)
        if (bay[i] != (unsigned char)(turn + 1))
            fail_msg("byte %lld of turn %u", (long long)i, turn);
}

/* Until it has to wait for the first turn to be passed, or, if it could run far, until half of the
 * bays are free. All it has published is there then, and the
 * turn that had to wait does no harm to the others. How many these were. */
static uint32_t run_ahead(int64_t room, sk_pause_mode mode)
{
    mates s = mates_new(2, (sk_pause){.mode = mode, .idle = pass_when_idle});
    uint32_t ahead = 0;
    lazy_mate(&s, 1);
    sk_board_turn(s.b[1], room, false, false);
    for (;; ahead++) {
        sk_board_turn(s.b[0], room, false, false);
        sk_board_open(s.b[0], ahead);
        if (lazy.asked > 0) {
            assert_int_equal(lazy.asked, ahead < 64 ? 1 : 1 + ahead / 2);
            break;
        }
        assert_true(ahead < SK_BOARD_AHEAD);
        share(s.b[0], ahead, room);
    }
    if (ahead < SK_BOARD_AHEAD) /* else the turn that waits has the place of turn 0 */
        check_shared(s.b[1], 0, room);
    share(s.b[0], ahead, room);
    for (uint32_t t = (uint32_t)lazy.asked; t <= ahead; t++) { /* those it has not passed */
        sk_board_turn(s.b[1], room, false, false);
        check_shared(s.b[1], t, room);
    }
    mates_free(&s);
    return ahead;
}

static void a_mate_runs_ahead_until_there_is_no_bay_left(void **state)
{
    (void)state;
    const int64_t rooms[] = {0,    1,     48,    49,     256,    257,   2048,
                             2049, 16384, 16385, 131072, 131073, 524288};
    for (unsigned i = 0; i < sizeof rooms / sizeof rooms[0]; i++)
        for (int mode = SK_PAUSE_SPIN; mode <= SK_PAUSE_SLEEP; mode++) {
            uint32_t ahead = run_ahead(rooms[i], (sk_pause_mode)mode);
            assert_in_range(ahead, rooms[i] <= 48 ? SK_BOARD_AHEAD : 2, SK_BOARD_AHEAD);
        }
}

static void publishing_alone_waits_for_the_line_as_well(void **state)
{
    (void)state;
    mates s = mates_new(2, (sk_pause){.mode = SK_PAUSE_SPIN, .idle = pass_when_idle});
    lazy_mate(&s, 1);
    for (uint32_t t = 0; t <= SK_BOARD_AHEAD; t++) {
        assert_int_equal(lazy.asked, 0);
        sk_board_turn(s.b[0], 0, false, false);
        sk_board_publish(s.b[0], t);
        sk_board_pass(s.b[0], t + 1);
    }
    assert_int_equal(lazy.asked, 1 + SK_BOARD_AHEAD / 2);
    mates_free(&s);
}

static void settling_waits_for_the_others_only(void **state)
{
    (void)state;
    mates s = mates_new(2, (sk_pause){.mode = SK_PAUSE_YIELD, .idle = pass_when_idle});
    lazy_mate(&s, 1);
    mates_turn(&s, 8, false);
    mates_turn(&s, 8, false);
    sk_board_settle(s.b[0], 0);
    assert_int_equal(lazy.asked, 1);
    sk_board_settle(s.b[0], 0);
    assert_int_equal(lazy.asked, 1);
    lazy.pass = 2;
    sk_board_settle(s.b[0], 1);
    assert_int_equal(lazy.asked, 2);
    mates_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mate_runs_ahead_until_there_is_no_bay_left),
        cmocka_unit_test(publishing_alone_waits_for_the_line_as_well),
        cmocka_unit_test(settling_waits_for_the_others_only),
    };
    return RUN(tests);
}
