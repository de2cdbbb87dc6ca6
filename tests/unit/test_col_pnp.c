/* test_col_pnp.c: the paper's counts, measured through the matcher: a gather to rank 0 reaches the
 * cap of queues, random operations never exceed it, and searches of long queues traverse at most a
 * 40th of the items that one list needs. */
#include <stdlib.h>

#include "match/matcher.h"
#include "unit.h"

enum { GATHER = 3, GATHERV = 4, RANKS = 4096 };

static uint32_t next_random(uint64_t *state, uint32_t below)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(*state >> 33) % below;
}

static void shuffle(uint32_t *order, uint32_t n, uint64_t *random)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t j = next_random(random, i + 1);
        order[i] = order[j];
        order[j] = i;
    }
}

static sk_matcher *matcher_new(const char *engine, const sk_match_config *config)
{
    sk_matcher *m = NULL;
    assert_int_equal(sk_matcher_new(engine, config, &m), SK_OK);
    return m;
}

static sk_match_stats stats_of(const sk_matcher *m)
{
    sk_match_stats s;
    sk_matcher_stats(m, &s);
    return s;
}

typedef struct gather {
    sk_matcher *m;
    uint32_t n, call;
    uint64_t random;
    uint32_t order[RANKS];
    sk_match_item recvs[RANKS], msgs[RANKS];
} gather;

static void deliver(gather *g, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++)
        sk_matcher_deliver(g->m, &g->msgs[g->order[i]]);
}

/* One call at rank 0: `early` messages are there before their receives are posted. */
static void gather_call(gather *g, uint16_t kind, uint8_t size, uint32_t early)
{
    g->call++;
    for (uint32_t i = 0; i < g->n; i++)
        g->recvs[i] = g->msgs[i] = (sk_match_item){
            .tag = kind, .source = i, .kind = kind, .size = size, .nranks = g->n, .call = g->call};
    shuffle(g->order, g->n, &g->random);
    deliver(g, 0, early);
    for (uint32_t i = 0; i < g->n; i++)
        sk_matcher_post(g->m, &g->recvs[i]);
    deliver(g, early, g->n);
    sk_match_stats s = stats_of(g->m);
    assert_int_equal(s.length[SK_POSTED] + s.length[SK_UNEXPECTED], 0);
}

static void gather_to_rank_0_makes_32_45_and_64_queues(void **state)
{
    (void)state;
    static const struct {
        uint32_t n, queues;
    } sizes[] = {{1024, 32}, {2048, 45}, {4096, 64}};
    gather *g = calloc(1, sizeof *g);
    assert_non_null(g);
    for (int i = 0; i < 3; i++) {
        *g = (gather){.n = sizes[i].n, .random = 1};
        g->m = matcher_new("col+pnp", &(sk_match_config){.nranks = g->n, .kc = 1, .kp = 1});
        gather_call(g, GATHER, 4, 0);
        assert_int_equal(stats_of(g->m).queues, 0);
        for (int call = 0; call < 3; call++) {
            gather_call(g, GATHER, 4, 0);
            assert_int_equal(stats_of(g->m).queues, sizes[i].queues);
            assert_int_equal(stats_of(g->m).queues_coll[SK_POSTED], sizes[i].queues);
        }
        sk_matcher_free(g->m);
    }
    free(g);
}

/* Gatherv of all ranks to rank 0, half of the messages before their receives, twice per step with
 * different lengths, as FDS does. */
static uint64_t fds_traversals(const char *engine, uint32_t n)
{
    gather *g = calloc(1, sizeof *g);
    assert_non_null(g);
    *g = (gather){.n = n, .random = 7};
    g->m = matcher_new(engine, &(sk_match_config){.nranks = n, .kc = 8, .kp = 8});
    for (int step = 0; step < 100; step++) {
        gather_call(g, GATHERV, 4, n / 2);
        gather_call(g, GATHERV, 9, n / 2);
    }
    sk_match_stats s = stats_of(g->m);
    sk_matcher_free(g->m);
    free(g);
    return s.kind[GATHERV][SK_POSTED].traversals + s.kind[GATHERV][SK_UNEXPECTED].traversals;
}

static void fds_looks_at_40_times_fewer_items_than_a_list(void **state)
{
    (void)state;
    for (uint32_t n = 1024; n <= 2048; n *= 2) {
        uint64_t list = fds_traversals("list", n), ours = fds_traversals("col+pnp", n);
        print_message("# FDS, %u ranks: list %llu, col+pnp %llu, %.1f times fewer\n", n,
                      (unsigned long long)list, (unsigned long long)ours,
                      (double)list / (double)ours);
        assert_true(list >= 40 * ours);
    }
}

static void assert_below_cap(const sk_matcher *m, const sk_match_config *c)
{
    sk_match_stats s = stats_of(m);
    for (int side = 0; side < SK_NSIDES; side++) {
        uint64_t coll = s.queues_coll[side], p2p = s.queues_p2p[side], k = c->kc + c->kp;
        assert_true(coll * coll <= (uint64_t)c->kc * c->kc * c->nranks);
        assert_true(p2p * p2p <= (uint64_t)c->kp * c->kp * c->nranks);
        assert_true((coll + p2p) * (coll + p2p) <= k * k * c->nranks);
    }
}

/* Take an item back, if it still waits, so that it can be used again. */
static void recycle(sk_matcher *m, sk_match_item *item, sk_match_side side)
{
    if (side == SK_POSTED)
        sk_matcher_cancel(m, item);
    else
        sk_matcher_claim(m, item);
}

static void random_traces_never_exceed_the_cap(void **state)
{
    (void)state;
    enum { ITEMS = 3000, OPS = 60000 };
    sk_match_item *items[SK_NSIDES];
    for (int side = 0; side < SK_NSIDES; side++)
        assert_non_null(items[side] = calloc(ITEMS, sizeof(sk_match_item)));
    for (uint64_t seed = 1; seed <= 6; seed++) {
        uint64_t random = seed;
        sk_match_config c = {.nranks = 20 + next_random(&random, 200),
                             .kc = 1 + next_random(&random, 3),
                             .kp = 1 + next_random(&random, 3),
                             .theta = 5 + next_random(&random, 40)};
        sk_matcher *m = matcher_new("col+pnp", &c);
        for (int side = 0; side < SK_NSIDES; side++)
            for (int i = 0; i < ITEMS; i++)
                items[side][i] = (sk_match_item){.side = SK_NSIDES};
        for (uint32_t i = 0; i < OPS; i++) {
            sk_match_side side = next_random(&random, 2) ? SK_POSTED : SK_UNEXPECTED;
            sk_match_item *item = &items[side][i % ITEMS];
            recycle(m, item, side);
            uint32_t low = next_random(&random, c.nranks);
            *item = (sk_match_item){.tag = next_random(&random, 3),
                                    .source = next_random(&random, low + 1),
                                    .kind = (uint16_t)next_random(&random, 6),
                                    .size = (uint8_t)next_random(&random, 4),
                                    .nranks = 1 + next_random(&random, 3),
                                    .call = i / 500 + 1};
            if (side == SK_POSTED)
                sk_matcher_post(m, item);
            else
                sk_matcher_deliver(m, item);
            if (i % 500 == 0)
                assert_below_cap(m, &c);
        }
        assert_below_cap(m, &c);
        assert_true(stats_of(m).queues > 0);
        sk_matcher_free(m);
    }
    free(items[SK_POSTED]);
    free(items[SK_UNEXPECTED]);
}

/* A short queue is the matcher's own list, the same for all engines. */
static void short_queues_cost_what_a_list_costs(void **state)
{
    (void)state;
    uint64_t traversed[2];
    const char *const engines[] = {"list", "col+pnp"};
    for (int e = 0; e < 2; e++) {
        gather *g = calloc(1, sizeof *g);
        assert_non_null(g);
        *g = (gather){.n = 10, .random = 3};
        g->m = matcher_new(engines[e], &(sk_match_config){.nranks = 1024});
        for (int call = 0; call < 50; call++)
            gather_call(g, GATHER, 4, 5);
        sk_match_stats s = stats_of(g->m);
        traversed[e] =
            s.kind[GATHER][SK_POSTED].traversals + s.kind[GATHER][SK_UNEXPECTED].traversals;
        assert_int_equal(s.queues, 0);
        sk_matcher_free(g->m);
        free(g);
    }
    assert_int_equal(traversed[0], traversed[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gather_to_rank_0_makes_32_45_and_64_queues),
        cmocka_unit_test(fds_looks_at_40_times_fewer_items_than_a_list),
        cmocka_unit_test(random_traces_never_exceed_the_cap),
        cmocka_unit_test(short_queues_cost_what_a_list_costs),
    };
    return RUN(tests);
}
