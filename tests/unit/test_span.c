#include "unit.h"

static void assert_bounds(sk_type t, int64_t n, int64_t lo, int64_t hi)
{
    int64_t l = -99, h = -99;
    sk_type_bounds(&t, n, &l, &h);
    assert_int_equal(l, lo);
    assert_int_equal(h, hi);
}

static void bounds_cover_first_and_last_element(void **state)
{
    (void)state;
    assert_bounds(sk_type_byte, 5, 0, 5);
    assert_bounds(unit_types[HOLEY], 1, 2, 10);
    assert_bounds(unit_types[HOLEY], 3, 2, 34);
}

static void bounds_follow_a_negative_extent(void **state)
{
    (void)state;
    assert_bounds((sk_type){.size = 2, .extent = -7, .true_lb = -1, .true_extent = 4}, 3, -15, 3);
}

static void bounds_of_nothing_are_empty(void **state)
{
    (void)state;
    assert_bounds(unit_types[HOLEY], 0, 0, 0);
    assert_bounds((sk_type){.extent = 8}, 3, 0, 0);
}

static void stride_is_by_extent(void **state)
{
    (void)state;
    assert_int_equal(sk_type_stride(&unit_types[HOLEY], 18), 36);
    assert_int_equal(sk_type_stride(&sk_type_byte, 18), 18);
    assert_int_equal(sk_type_stride(&(sk_type){.extent = 8}, 0), 0);
}

static void cut_starts_after_whole_elements(void **state)
{
    (void)state;
    sk_span s = {.off = 100, .len = 30, .type = HOLEY, .buf = SK_RECV};
    sk_span cut = sk_span_cut(unit_types, s, 12, 6);
    assert_int_equal(cut.off, 124);
    assert_int_equal(cut.len, 6);
    assert_int_equal(cut.type, HOLEY);
    assert_int_equal(cut.buf, SK_RECV);
    assert_int_equal(sk_span_cut(unit_types, bytes_of(SK_SEND, 7, 9), 4, 2).off, 11);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_cover_first_and_last_element),
        cmocka_unit_test(bounds_follow_a_negative_extent),
        cmocka_unit_test(bounds_of_nothing_are_empty),
        cmocka_unit_test(stride_is_by_extent),
        cmocka_unit_test(cut_starts_after_whole_elements),
    };
    return RUN(tests);
}
