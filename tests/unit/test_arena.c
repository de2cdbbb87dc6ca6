#include "unit.h"

#include <string.h>

#include "base/arena.h"

static void memory_is_zeroed_aligned_and_apart(void **state)
{
    (void)state;
    sk_arena *a = sk_arena_new();
    for (size_t n = 0; n < 3000; n += 7) {
        char *p = sk_arena_get(a, n);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % 16, 0);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(p[i], 0);
        memset(p, 0x5a, n); /* would show in a later block that overlaps */
    }
    sk_arena_free(a);
}

static void earlier_memory_stays_when_the_arena_grows(void **state)
{
    (void)state;
    sk_arena *a = sk_arena_new();
    int *first = sk_arena_get(a, sizeof *first);
    *first = 42;
    for (int i = 0; i < 1000; i++)
        assert_non_null(sk_arena_get(a, 100));
    assert_int_equal(*first, 42);
    sk_arena_free(a);
}

static void copy_holds_the_bytes(void **state)
{
    (void)state;
    sk_arena *a = sk_arena_new();
    assert_string_equal(sk_arena_copy(a, "skein", 6), "skein");
    assert_non_null(sk_arena_copy(a, NULL, 0));
    sk_arena_free(a);
}

static void impossible_sizes_give_null(void **state)
{
    (void)state;
    sk_arena *a = sk_arena_new();
    assert_null(sk_arena_get(a, SIZE_MAX));
    assert_non_null(sk_arena_get(a, 16));
    sk_arena_free(a);
    sk_arena_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_zeroed_aligned_and_apart),
        cmocka_unit_test(earlier_memory_stays_when_the_arena_grows),
        cmocka_unit_test(copy_holds_the_bytes),
        cmocka_unit_test(impossible_sizes_give_null),
    };
    return RUN(tests);
}
