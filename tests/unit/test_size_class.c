/* Ranks that agree on the class of sizes which each of them knows only for itself. */
#include "unit.h"

#include <stdlib.h>

#include "select/size_class.h"

enum { RANKS = 3 };
typedef struct world {
    sk_size_class rank[RANKS];
    int64_t meetings, calls;
    int64_t meeting, ns, saved; /* as for sk_size_class_limit */
} world;

/* One call, with sizes of its own at each rank. True: the ranks met before it. */
static bool call(world *w, const int64_t bytes[RANKS])
{
    int64_t most[SK_SIZE_CLASS_VALUES] = {0};
    bool counted[RANKS], same[RANKS];
    w->calls++;
    for (int i = 0; i < RANKS; i++) {
        counted[i] = sk_size_class_count(&w->rank[i], bytes[i]);
        assert_int_equal(counted[i], counted[0]);
    }
    if (counted[0])
        return false;
    for (int i = 0; i < RANKS; i++) {
        int64_t values[SK_SIZE_CLASS_VALUES];
        sk_size_class_ask(&w->rank[i], bytes[i], values);
        for (int k = 0; k < SK_SIZE_CLASS_VALUES; k++)
            most[k] = values[k] > most[k] ? values[k] : most[k];
    }
    for (int i = 0; i < RANKS; i++) {
        same[i] = sk_size_class_agree(&w->rank[i], bytes[i], most);
        sk_size_class_limit(&w->rank[i], w->meeting, w->ns, w->saved);
        assert_int_equal(same[i], same[0]);
        assert_int_equal(w->rank[i].agreed, w->rank[0].agreed);
        assert_int_equal(w->rank[i].left, w->rank[0].left);
    }
    w->meetings++;
    return true;
}

static void calls(world *w, int n, int64_t bytes)
{
    for (int i = 0; i < n; i++)
        call(w, (int64_t[RANKS]){bytes, 0, bytes / 2});
}

static void test_class(void **state)
{
    (void)state;
    assert_int_equal(sk_size_class_of(0), 0);
    assert_int_equal(sk_size_class_of(1), 1);
    assert_int_equal(sk_size_class_of(1023), 10);
    assert_int_equal(sk_size_class_of(1024), 11);
}

/* The first call, 4 later, then after longer and longer pauses up to a bound. */
static void test_pauses(void **state)
{
    (void)state;
    world w = {0};
    int64_t at[6] = {0}, n = 0;
    for (int i = 0; i < 400; i++)
        if (call(&w, (int64_t[RANKS]){8, 8, 8}) && n < 6)
            at[n++] = i;
    const int64_t expected[6] = {0, 4, 20, 84, 148, 212};
    for (int i = 0; i < 6; i++)
        assert_int_equal(at[i], expected[i]);
    assert_int_equal(w.rank[0].agreed, sk_size_class_of(8));
}

/* Meeting takes a part of the time of calls, and of what is saved in them; calls are never all met for. */
static void test_limit(void **state)
{
    (void)state;
    world slow = {.meeting = 1000, .ns = 200000}, fast = {.meeting = 500, .ns = 1000},
          saving = {.meeting = 500, .ns = 1000, .saved = 2000};
    calls(&slow, 1000, 8);
    calls(&fast, 10000, 8);
    calls(&saving, 10000, 8);
    assert_in_range(slow.meetings, 200, 260);
    assert_in_range(fast.meetings, 200, 210);
    assert_in_range(saving.meetings, 620, 640);
}

/* Sizes change for good: it is found when the ranks meet next and once more. */
static void test_change(void **state)
{
    (void)state;
    world w = {0};
    calls(&w, 100, 8);
    calls(&w, 64, 1 << 20);
    assert_int_equal(w.rank[0].agreed, sk_size_class_of(1 << 20));
    calls(&w, 64, 8);
    assert_int_equal(w.rank[0].agreed, sk_size_class_of(8));
}

/* Sizes that go up and down a little are of one class, whatever they were first. */
static void test_near(void **state)
{
    (void)state;
    world w = {0};
    calls(&w, 1, 1000);
    int class = w.rank[0].agreed;
    for (int i = 0; i < 1000; i++)
        calls(&w, 1, 700 + i % 7 * 200);
    assert_int_equal(w.rank[0].agreed, class);
    assert_in_range(w.meetings, 1, 25);
}

/* Sizes that alternate, at one rank only, are mixed, and the ranks do not meet more often for it. */
static void test_mixed(void **state)
{
    (void)state;
    world w = {0};
    for (int i = 0; i < 1000; i++)
        call(&w, (int64_t[RANKS]){8, i % 2 ? 8 : 100000, 8});
    assert_int_equal(w.rank[0].agreed, SK_SIZE_CLASS_MIXED);
    assert_in_range(w.meetings, 1, 25);
    calls(&w, 200, 8);
    assert_int_equal(w.rank[0].agreed, sk_size_class_of(8));
}

/* Phases that are shorter than the pauses are mixed, too; whatever is agreed is so on all ranks. */
static void test_phases(void **state)
{
    (void)state;
    world w = {0};
    for (int i = 0; i < 5000; i++)
        calls(&w, 1, i / 10 % 2 ? 8 : 100000);
    assert_int_equal(w.rank[0].agreed, SK_SIZE_CLASS_MIXED);
    srand(1);
    for (int i = 0; i < 20000; i++) {
        int64_t bytes[RANKS];
        for (int k = 0; k < RANKS; k++)
            bytes[k] = INT64_C(1) << (rand() % (1 + i / 1000));
        call(&w, bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_class),  cmocka_unit_test(test_pauses), cmocka_unit_test(test_limit),
        cmocka_unit_test(test_change), cmocka_unit_test(test_near),   cmocka_unit_test(test_mixed),
        cmocka_unit_test(test_phases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
