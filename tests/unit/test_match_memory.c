/* test_match_memory.c: engines without memory get slower but give the same matches. */
#include <stdlib.h>

#include "match_random.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define OWN_ALLOCATOR 0 /* a sanitizer has its own: nothing fails */
#else
#define OWN_ALLOCATOR 1
#endif

static unsigned failing; /* percent of the allocations */
static unsigned long failed;

#if OWN_ALLOCATOR
static uint64_t dice = 12345;

static bool fails(void)
{
    bool now = failing && next_random(&dice) % 100 < failing;
    failed += now;
    return now;
}

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);

void *malloc(size_t size)
{
    return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    return fails() ? NULL : __libc_realloc(old, size);
}
#endif

static void play_failing(unsigned percent, const op_mix *p)
{
    engine_set *w = engine_set_new(ITEMS, &(sk_match_config){.nranks = p->sources, .theta = 20});
    assert_non_null(w);
    uint64_t r = 77;
    for (long done = 0; done < 30000;) {
        failing = percent;
        done += run_burst(w, p, &r, 77);
        failing = 0; /* the iteration allocates, too */
        if (w->nvacant < ITEMS / 4)
            assert_int_equal(engine_set_iterate(w, true), SET_NONE);
    }
    engine_set_free(w);
}

static void engines_agree_when_allocations_fail(void **state)
{
    (void)state;
    for (int i = 0; i < NMIXES; i++) {
        play_failing(100, &op_mixes[i]);
        play_failing(60, &op_mixes[i]);
    }
    assert_true(failed > 1000 || !OWN_ALLOCATOR);
}

static void a_matcher_that_cannot_be_made_says_so(void **state)
{
    (void)state;
    sk_match_config config = {.nranks = 4};
    for (int i = 0; sk_engine_name(i); i++) {
        sk_matcher *m = NULL;
        failing = 100;
        sk_status st = sk_matcher_new(sk_engine_name(i), &config, &m);
        failing = 0;
        assert_int_equal(st, OWN_ALLOCATOR ? SK_NOMEM : SK_OK);
        assert_true((m == NULL) == OWN_ALLOCATOR);
        if (m)
            sk_matcher_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(engines_agree_when_allocations_fail),
        cmocka_unit_test(a_matcher_that_cannot_be_made_says_so),
    };
    return RUN(tests);
}
