/* Every engine against `list`, on random operations. SKEIN_MATCH_OPS sets their number,
 * SKEIN_MATCH_SEED where they start. */
#include <stdlib.h>

#include "match_random.h"

enum { OPS = 1500000 };

static void run_random(const op_mix *p, long ops, uint64_t seed)
{
    engine_set *w = engine_set_new(ITEMS, &(sk_match_config){.nranks = p->sources, .theta = 20});
    assert_non_null(w);
    uint64_t r = seed;
    for (long done = 0; done < ops;) {
        done += run_burst(w, p, &r, seed);
        if (chance(&r, 1) || w->nvacant == 0)
            assert_int_equal(engine_set_iterate(w, w->nvacant < ITEMS / 4), SET_NONE);
    }
    assert_int_equal(engine_set_iterate(w, true), SET_NONE);
    engine_set_free(w);
}

static void every_engine_matches_as_list_does(void **state)
{
    (void)state;
    const char *wanted = getenv("SKEIN_MATCH_OPS"), *seed = getenv("SKEIN_MATCH_SEED");
    long ops = wanted ? strtol(wanted, NULL, 10) : OPS;
    for (int i = 0; i < NMIXES; i++)
        run_random(&op_mixes[i], ops / NMIXES,
                   (seed ? strtoull(seed, NULL, 10) : 1) * 2654435761U + (unsigned)i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_engine_matches_as_list_does)};
    return RUN(tests);
}
