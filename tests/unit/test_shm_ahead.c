/* How far a local rank runs ahead, and what it waits for then: two local ranks in one thread, where
 * the `idle` of the one that waits plays the other. */
#include "unit.h"

#include <string.h>

#include "shm/local_ranks.h"

static struct { /* what `idle` does, and how often it was asked */
    local_ranks *s;
    uint32_t release; /* epochs that local rank 1 releases: one more every time */
    int asked;
} lazy;

static void release_when_idle(void)
{
    lazy.asked++;
    sk_shm_release(lazy.s->b[1], lazy.release++);
}

static void lazy_local_rank(local_ranks *s, uint32_t release)
{
    lazy.s = s;
    lazy.release = release;
    lazy.asked = 0;
}

static void share(sk_shm *b, uint32_t epoch, int64_t slot_bytes)
{
    sk_shm_open(b, epoch);
    memset(sk_shm_slot(b, epoch, 0), (int)epoch + 1, (size_t)slot_bytes);
    sk_shm_post(b, epoch);
    sk_shm_release(b, epoch + 1);
}

static void check_shared(sk_shm *b, uint32_t epoch, int64_t slot_bytes)
{
    sk_shm_await(b, epoch, 0);
    const unsigned char *slot = sk_shm_slot(b, epoch, 0);
    for (int64_t i = 0; i < slot_bytes; i++)
        if (slot[i] != (unsigned char)(epoch + 1))
            fail_msg("byte %lld of epoch %u", (long long)i, epoch);
}

/* Until it has to wait for the first epoch to be released, or, if it could run far, until half of the
 * slots are free. All it has posted is there then, and the
 * epoch that had to wait does no harm to the others. How many these were. */
static uint32_t run_ahead(int64_t slot_bytes, sk_wait_mode mode)
{
    local_ranks s = local_ranks_new(2, (sk_waiting){.mode = mode, .idle = release_when_idle});
    uint32_t ahead = 0;
    lazy_local_rank(&s, 1);
    sk_shm_epoch(s.b[1], slot_bytes, false, false);
    for (;; ahead++) {
        sk_shm_epoch(s.b[0], slot_bytes, false, false);
        sk_shm_open(s.b[0], ahead);
        if (lazy.asked > 0) {
            assert_int_equal(lazy.asked, ahead < 64 ? 1 : 1 + ahead / 2);
            break;
        }
        assert_true(ahead < SK_SHM_AHEAD);
        share(s.b[0], ahead, slot_bytes);
    }
    if (ahead < SK_SHM_AHEAD) /* else the epoch that waits has the place of epoch 0 */
        check_shared(s.b[1], 0, slot_bytes);
    share(s.b[0], ahead, slot_bytes);
    for (uint32_t t = (uint32_t)lazy.asked; t <= ahead; t++) { /* those it has not released */
        sk_shm_epoch(s.b[1], slot_bytes, false, false);
        check_shared(s.b[1], t, slot_bytes);
    }
    local_ranks_free(&s);
    return ahead;
}

static void a_local_rank_runs_ahead_until_there_is_no_slot_left(void **state)
{
    (void)state;
    const int64_t slot_sizes[] = {0,    1,     48,    49,     256,    257,   2048,
                                  2049, 16384, 16385, 131072, 131073, 524288};
    for (unsigned i = 0; i < sizeof slot_sizes / sizeof slot_sizes[0]; i++)
        for (int mode = SK_WAIT_SPIN; mode <= SK_WAIT_SLEEP; mode++) {
            uint32_t ahead = run_ahead(slot_sizes[i], (sk_wait_mode)mode);
            assert_between(ahead, slot_sizes[i] <= 48 ? SK_SHM_AHEAD : 2, SK_SHM_AHEAD);
        }
}

/* While the other local rank keeps pace few slots are used, so few pages are touched; when it does not,
 * more are. */
static void few_slots_are_used_while_the_others_keep_pace(void **state)
{
    (void)state;
    enum { CALLS = 1000, LATE = 20, BYTES = 16384, NEAR = 8 };
    local_ranks s = local_ranks_new(2, (sk_waiting){0});
    const void *seen[CALLS];
    int nseen = 0;
    for (uint32_t t = 0; t < CALLS + LATE; t++) {
        sk_shm_epoch(s.b[0], BYTES, false, false);
        sk_shm_open(s.b[0], t);
        const void *slot = sk_shm_slot(s.b[0], t, 0);
        int i = 0;
        while (i < nseen && seen[i] != slot)
            i++;
        if (i == nseen)
            seen[nseen++] = slot;
        share(s.b[0], t, BYTES);
        if (t >= CALLS)
            continue;
        sk_shm_epoch(s.b[1], BYTES, false, false);
        check_shared(s.b[1], t, BYTES);
        sk_shm_release(s.b[1], t + 1);
        assert_between(nseen, 1, NEAR + 1);
    }
    assert_between(nseen, LATE - NEAR, LATE + NEAR);
    local_ranks_free(&s);
}

static void posting_alone_waits_for_the_line_as_well(void **state)
{
    (void)state;
    local_ranks s =
        local_ranks_new(2, (sk_waiting){.mode = SK_WAIT_SPIN, .idle = release_when_idle});
    lazy_local_rank(&s, 1);
    for (uint32_t t = 0; t <= SK_SHM_AHEAD; t++) {
        assert_int_equal(lazy.asked, 0);
        sk_shm_epoch(s.b[0], 0, false, false);
        sk_shm_post(s.b[0], t);
        sk_shm_release(s.b[0], t + 1);
    }
    assert_int_equal(lazy.asked, 1 + SK_SHM_AHEAD / 2);
    local_ranks_free(&s);
}

static void quiescing_waits_for_the_others_only(void **state)
{
    (void)state;
    local_ranks s =
        local_ranks_new(2, (sk_waiting){.mode = SK_WAIT_YIELD, .idle = release_when_idle});
    lazy_local_rank(&s, 1);
    local_ranks_epoch(&s, 8, false);
    local_ranks_epoch(&s, 8, false);
    sk_shm_quiesce(s.b[0], 0);
    assert_int_equal(lazy.asked, 1);
    sk_shm_quiesce(s.b[0], 0);
    assert_int_equal(lazy.asked, 1);
    lazy.release = 2;
    sk_shm_quiesce(s.b[0], 1);
    assert_int_equal(lazy.asked, 2);
    local_ranks_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_local_rank_runs_ahead_until_there_is_no_slot_left),
        cmocka_unit_test(few_slots_are_used_while_the_others_keep_pace),
        cmocka_unit_test(posting_alone_waits_for_the_line_as_well),
        cmocka_unit_test(quiescing_waits_for_the_others_only),
    };
    return RUN(tests);
}
