#include "unit.h"

#include <string.h>

static bool disjoint(sk_sched *s, char *why, size_t size)
{
    assert_int_equal(sk_sched_freeze(s), SK_OK);
    bool ok = sk_sched_disjoint(s, why, size);
    sk_sched_free(s);
    return ok;
}

static bool is_disjoint(sk_sched *s)
{
    char why[160];
    return disjoint(s, why, sizeof why);
}

static void two_reads_may_share(void **state)
{
    (void)state;
    sk_sched *s = unit_sched();
    sk_send(s, bytes_of(SK_SEND, 0, 8), 1);
    sk_send(s, bytes_of(SK_SEND, 4, 8), 2);
    sk_copy(s, bytes_of(SK_SEND, 0, 12), bytes_of(SK_RECV, 0, 12));
    assert_true(is_disjoint(s));
}

static void a_read_and_a_write_may_not(void **state)
{
    (void)state;
    char why[160] = "";
    sk_sched *s = unit_sched();
    sk_recv(s, bytes_of(SK_RECV, 0, 8), 1);
    sk_send(s, bytes_of(SK_RECV, 7, 8), 1);
    assert_false(disjoint(s, why, sizeof why));
    assert_non_null(strstr(why, "round 0: steps 0 and 1 both touch buffer 1"));
}

static void two_writes_may_not(void **state)
{
    (void)state;
    sk_sched *s = unit_sched();
    sk_recv(s, bytes_of(SK_SCRATCH, 0, 8), 1);
    sk_recv(s, bytes_of(SK_SCRATCH, 0, 1), 2);
    assert_false(is_disjoint(s));
}

static void a_long_read_is_seen_behind_short_ones(void **state)
{
    (void)state;
    sk_sched *s = unit_sched();
    sk_send(s, bytes_of(SK_RECV, 0, 100), 1);
    sk_send(s, bytes_of(SK_RECV, 10, 1), 1);
    sk_send(s, bytes_of(SK_RECV, 20, 1), 1);
    sk_recv(s, bytes_of(SK_RECV, 99, 1), 1);
    assert_false(is_disjoint(s));
}

static void the_next_round_and_other_buffers_do_not_matter(void **state)
{
    (void)state;
    sk_sched *s = unit_sched();
    sk_recv(s, bytes_of(SK_RECV, 0, 8), 1);
    sk_send(s, bytes_of(SK_SEND, 0, 8), 1);
    sk_send(s, bytes_of(SK_RECV, 8, 8), 1);
    sk_fence(s);
    sk_send(s, bytes_of(SK_RECV, 0, 8), 1);
    assert_true(is_disjoint(s));
}

static void gaps_between_elements_belong_to_nobody(void **state)
{
    (void)state;
    sk_span holey = {.off = 0, .len = 18, .type = HOLEY, .buf = SK_RECV};
    sk_sched *s = unit_sched();
    sk_recv(s, holey, 1);
    sk_recv(s, bytes_of(SK_RECV, 10, 4), 2); /* between bytes 2..9 and 14..21 */
    assert_true(is_disjoint(s));
    s = unit_sched();
    sk_recv(s, holey, 1);
    sk_recv(s, bytes_of(SK_RECV, 10, 5), 2);
    assert_false(is_disjoint(s));
}

static void a_reduction_writes_its_right_operand(void **state)
{
    (void)state;
    sk_sched *s = unit_sched();
    sk_reduce(s, bytes_of(SK_SEND, 0, 8), bytes_of(SK_RECV, 0, 8));
    sk_send(s, bytes_of(SK_SEND, 0, 8), 1);
    assert_true(is_disjoint(s));
    s = unit_sched();
    sk_reduce(s, bytes_of(SK_SEND, 0, 8), bytes_of(SK_RECV, 0, 8));
    sk_send(s, bytes_of(SK_RECV, 0, 8), 1);
    assert_false(is_disjoint(s));
}

static void steps_that_write_a_packet_stand_alone(void **state)
{
    (void)state;
    sk_sched *s = unit_sched();
    int a = sk_packet(s, 2, 8), b = sk_packet(s, 2, 8);
    sk_packet_send(s, a, 0, 1, 1);
    sk_get(s, a, 0, bytes_of(SK_RECV, 0, 4));
    sk_put(s, b, 0, bytes_of(SK_SEND, 0, 4));
    assert_true(is_disjoint(s));
    s = unit_sched();
    a = sk_packet(s, 2, 8);
    sk_packet_recv(s, a, 1);
    sk_put(s, a, 0, bytes_of(SK_SEND, 0, 4));
    assert_false(is_disjoint(s));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_reads_may_share),
        cmocka_unit_test(a_read_and_a_write_may_not),
        cmocka_unit_test(two_writes_may_not),
        cmocka_unit_test(a_long_read_is_seen_behind_short_ones),
        cmocka_unit_test(the_next_round_and_other_buffers_do_not_matter),
        cmocka_unit_test(gaps_between_elements_belong_to_nobody),
        cmocka_unit_test(a_reduction_writes_its_right_operand),
        cmocka_unit_test(steps_that_write_a_packet_stand_alone),
    };
    return RUN(tests);
}
