/* test_pattern.c: one rank's bundles, as they are collected, frozen, compared, packed and priced. */
#include "neighbor/pattern.h"

#include <stdlib.h>
#include <string.h>

#include "lab/neighbor/check.h"
#include "neighbor/cost/model.h"
#include "neighbor/rankset.h"
#include "unit.h"

static sk_pattern *fresh(void)
{
    sk_pattern *p = sk_pattern_new(8, 3);
    assert_non_null(p);
    return p;
}

static void assert_block(const sk_block *p, int src, int dst)
{
    assert_int_equal(p->src, src);
    assert_int_equal(p->dst, dst);
}

static void hauls_are_sorted_and_parcels_stand_once(void **state)
{
    (void)state;
    sk_pattern *p = fresh();
    sk_pattern_send(p, 1, 5, 2, 5);
    sk_pattern_send(p, 0, 4, 3, 4);
    sk_pattern_send(p, 1, 5, 0, 5);
    sk_pattern_send(p, 1, 5, 2, 5);
    sk_pattern_recv(p, 1, 7, 7, 3);
    sk_pattern_recv(p, 0, 6, 2, 5);
    sk_pattern_recv(p, 0, 6, 0, 5);
    sk_pattern_send(p, 1, 5, 2, 4);
    assert_int_equal(sk_pattern_freeze(p), SK_OK);
    const sk_pattern_view *v = sk_pattern_view_get(p);
    assert_int_equal(v->nranks, 8);
    assert_int_equal(v->rank, 3);
    assert_int_equal(v->nstages, 2);
    assert_int_equal(v->nbundles, 4);
    assert_int_equal(v->nblocks, 7);
    static const sk_bundle want[] = {
        {0, 6, false, 0, 2}, {0, 4, true, 2, 1}, {1, 7, false, 3, 1}, {1, 5, true, 4, 3}};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(v->bundles[i].stage, want[i].stage);
        assert_int_equal(v->bundles[i].peer, want[i].peer);
        assert_int_equal(v->bundles[i].out, want[i].out);
        assert_int_equal(v->bundles[i].first, want[i].first);
        assert_int_equal(v->bundles[i].n, want[i].n);
    }
    assert_block(&v->blocks[0], 0, 5);
    assert_block(&v->blocks[1], 2, 5);
    assert_block(&v->blocks[4], 0, 5);
    assert_block(&v->blocks[5], 2, 4);
    assert_block(&v->blocks[6], 2, 5);
    sk_pattern_free(p);
}

static void an_empty_pattern_is_a_pattern(void **state)
{
    (void)state;
    sk_pattern *p = fresh(), *q = NULL;
    assert_int_equal(sk_pattern_freeze(p), SK_OK);
    assert_int_equal(sk_pattern_view_get(p)->nbundles, 0);
    assert_int_equal(sk_pattern_view_get(p)->nstages, 0);
    int32_t *words = NULL;
    size_t n = 0;
    assert_int_equal(sk_pattern_pack(p, &words, &n), SK_OK);
    assert_int_equal(sk_pattern_unpack(words, n, &q), SK_OK);
    assert_true(sk_pattern_equal(p, q));
    free(words);
    sk_pattern_free(p);
    sk_pattern_free(q);
}

static void parcels_that_cannot_be_are_reported_at_the_end(void **state)
{
    (void)state;
    static const int bad[][4] = {{-1, 4, 3, 4}, {INT32_MAX, 4, 3, 4}, {0, 3, 3, 4}, {0, 8, 3, 4},
                                 {0, -1, 3, 4}, {0, 4, 8, 4},         {0, 4, 4, 4}, {0, 4, 3, -1}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        sk_pattern *p = fresh();
        sk_pattern_send(p, bad[i][0], bad[i][1], bad[i][2], bad[i][3]);
        sk_pattern_send(p, 0, 4, 3, 4);
        assert_int_equal(sk_pattern_freeze(p), SK_BADARG);
        sk_pattern_free(p);
    }
}

static void a_frozen_pattern_stays_as_it_is(void **state)
{
    (void)state;
    sk_pattern *p = fresh();
    sk_pattern_send(p, 0, 4, 3, 4);
    assert_int_equal(sk_pattern_freeze(p), SK_OK);
    assert_int_equal(sk_pattern_freeze(p), SK_OK);
    sk_pattern_send(p, 0, 5, 3, 5);
    assert_int_equal(sk_pattern_view_get(p)->nblocks, 1);
    assert_int_equal(sk_pattern_freeze(p), SK_BADARG);
    sk_pattern_free(p);
}

static sk_pattern *random_pattern(unsigned *seed, int blocks)
{
    sk_pattern *p = fresh();
    for (int i = 0; i < blocks; i++) {
        int peer = (4 + rand_r(seed) % 7) % 8, src = rand_r(seed) % 8;
        int dst = (src + 1 + rand_r(seed) % 7) % 8, stage = rand_r(seed) % 4;
        if (rand_r(seed) % 2)
            sk_pattern_send(p, stage, peer, src, dst);
        else
            sk_pattern_recv(p, stage, peer, src, dst);
    }
    assert_int_equal(sk_pattern_freeze(p), SK_OK);
    return p;
}

static void patterns_are_the_same_after_a_journey(void **state)
{
    (void)state;
    unsigned seed = 5;
    for (int i = 0; i < 200; i++) {
        sk_pattern *p = random_pattern(&seed, i), *q = NULL;
        int32_t *words = NULL;
        size_t n = 0;
        assert_int_equal(sk_pattern_pack(p, &words, &n), SK_OK);
        assert_int_equal(sk_pattern_unpack(words, n, &q), SK_OK);
        assert_true(sk_pattern_equal(p, q));
        free(words);
        sk_pattern_free(p);
        sk_pattern_free(q);
    }
}

static void patterns_that_differ_are_not_equal(void **state)
{
    (void)state;
    static const int b[][4] = {{1, 4, 3, 4}, {0, 5, 3, 4}, {0, 4, 2, 4}, {0, 4, 3, 5}};
    sk_pattern *p = fresh();
    sk_pattern_send(p, 0, 4, 3, 4);
    assert_int_equal(sk_pattern_freeze(p), SK_OK);
    for (size_t i = 0; i < 5; i++) {
        sk_pattern *q = fresh();
        if (i < 4)
            sk_pattern_send(q, b[i][0], b[i][1], b[i][2], b[i][3]);
        else
            sk_pattern_recv(q, 0, 4, 3, 4);
        assert_int_equal(sk_pattern_freeze(q), SK_OK);
        assert_false(sk_pattern_equal(p, q));
        sk_pattern_free(q);
    }
    sk_pattern_free(p);
}

/* Sanitizers see reads outside of the words, which are exactly as long as said. */
static void malformed_words_make_no_pattern(void **state)
{
    (void)state;
    unsigned seed = 11;
    int refused = 0;
    for (int i = 0; i < 3000; i++) {
        sk_pattern *p = random_pattern(&seed, 12), *q = NULL;
        int32_t *words = NULL;
        size_t n = 0;
        assert_int_equal(sk_pattern_pack(p, &words, &n), SK_OK);
        static const int32_t odd[] = {-1, 0, 1, 2, 8, 100, INT32_MAX, INT32_MIN};
        words[(size_t)rand_r(&seed) % (i % 2 ? 12 : n)] = odd[rand_r(&seed) % 8];
        size_t cut = i % 3 ? n : (size_t)rand_r(&seed) % (n + 1);
        int32_t *exact = malloc((cut + !cut) * sizeof *exact);
        assert_non_null(exact);
        memcpy(exact, words, cut * sizeof *exact);
        sk_status st = sk_pattern_unpack(exact, cut, &q);
        assert_true(st == SK_OK || st == SK_BADARG);
        refused += st == SK_BADARG;
        sk_pattern_free(q);
        sk_pattern_free(p);
        free(words);
        free(exact);
    }
    assert_true(refused > 1000);
}

static void headers_out_of_range_are_refused(void **state)
{
    (void)state;
    static const int32_t bad[][10] = {
        {0, 0, 0, 0},                          /* no ranks */
        {-5, -6, 0, 0},                        /* fewer than none */
        {8, 8, 0, 0},                          /* rank beyond */
        {8, 3, 1, 1, 0, 4, 2, 1, 3, 4},        /* neither in nor out */
        {8, 3, 1, 1, 0, 4, 1, 0, 3, 4},        /* a block of no bundle */
        {8, 3, 1, 1, INT32_MAX, 4, 1, 1, 3, 4} /* a stage beyond */
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        sk_pattern *p = NULL;
        assert_int_equal(sk_pattern_unpack(bad[i], i < 3 ? 4 : 10, &p), SK_BADARG);
        assert_null(p);
    }
}

static void rank_sets_travel_as_lists_and_as_bits(void **state)
{
    (void)state;
    unsigned seed = 3;
    for (int nranks = 1; nranks < 200; nranks += 1 + nranks / 9)
        for (int of = 1; of < 40; of += 3) {
            int in[200], out[200], n = 0, m = -1;
            for (int r = 0; r < nranks; r++)
                if (rand_r(&seed) % 40 < of)
                    in[n++] = r;
            int32_t *words = malloc(sk_rankset_words(nranks, n) * sizeof *words);
            assert_non_null(words);
            size_t len = sk_rankset_put(words, nranks, in, n);
            assert_int_equal(len, sk_rankset_words(nranks, n));
            assert_true(len <= 1 + ((size_t)nranks + 31) / 32);
            assert_int_equal(sk_rankset_get(words, len, nranks, out, &m), len);
            assert_int_equal(m, n);
            assert_memory_equal(in, out, (size_t)n * sizeof *in);
            assert_int_equal(sk_rankset_get(words, len - 1, nranks, out, &m), 0);
            free(words);
        }
}

static void malformed_rank_sets_are_refused(void **state)
{
    (void)state;
    static const int32_t bad[][4] = {{-1, 0, 0, 0},
                                     {41, 0, 0, 0},
                                     {1, 40, 0, 0},
                                     {1, -1, 0, 0},
                                     {3, 1, 0, 0} /* one bit where three should be */,
                                     {3, 7, 1, 0} /* and four */,
                                     {3, 3, 1 << 8, 0} /* rank 40 */};
    int out[40], n = 0;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(sk_rankset_get(bad[i], 4, 40, out, &n), 0);
    static const int32_t twice[] = {2, 9, 9}, down[] = {2, 9, 8}, bits[] = {3, 7, 0};
    assert_int_equal(sk_rankset_get(twice, 3, 90, out, &n), 0);
    assert_int_equal(sk_rankset_get(down, 3, 90, out, &n), 0);
    assert_int_equal(sk_rankset_get(bits, 0, 40, out, &n), 0);
    assert_int_equal(sk_rankset_get(bits, 3, 40, out, &n), 3);
    assert_int_equal(n, 3);
}

static void the_load_counts_messages_blocks_and_parcels_by_level(void **state)
{
    (void)state;
    sk_machine *m = sk_check_machine("node:2 socket:2 core:2", 8);
    sk_pattern *p = fresh(); /* rank 3: socket 1 of node 0, with 2 */
    sk_pattern_send(p, 0, 2, 3, 2);
    sk_pattern_send(p, 0, 2, 3, 7); /* the same block: one for allgather, two for alltoall */
    sk_pattern_recv(p, 0, 0, 0, 3);
    sk_pattern_recv(p, 0, 0, 1, 3);
    sk_pattern_send(p, 2, 6, 3, 6);
    sk_pattern_send(p, 2, 6, 1, 6);
    sk_pattern_send(p, 2, 6, 1, 7);
    assert_int_equal(sk_pattern_freeze(p), SK_OK);
    sk_load l = sk_load_of(p, m), more = {.stages = 1, .messages = {0, 5, 0}};
    assert_int_equal(l.stages, 3);
    static const int64_t messages[] = {1, 1, 1}, allgather[] = {1, 2, 2}, alltoall[] = {2, 2, 3};
    assert_memory_equal(l.messages, messages, sizeof messages);
    assert_memory_equal(l.allgather_blocks, allgather, sizeof allgather);
    assert_memory_equal(l.alltoall_blocks, alltoall, sizeof alltoall);
    assert_int_equal(l.net_stages, 1);
    assert_int_equal(l.intra_stages, 1);
    assert_int_equal(l.most_messages, 3);
    assert_int_equal(l.allgather_copies, 3); /* one into shared memory, two out of it */
    assert_int_equal(l.alltoall_copies, 4);
    assert_int_equal(l.all.messages, 1);
    assert_int_equal(l.all.allgather_blocks, 2);
    assert_int_equal(l.all.alltoall_blocks, 3);
    sk_load_join(&more, &l);
    sk_load_join(&more, &l);
    assert_int_equal(more.all.alltoall_blocks, 6);
    assert_int_equal(more.stages, 3);
    assert_int_equal(more.messages[SK_NODE], 5);
    assert_int_equal(more.messages[SK_NET], 1);
    sk_pattern_free(p);
    sk_machine_free(m);
}

static void methods_are_found_by_name(void **state)
{
    (void)state;
    for (int id = 0; id < SK_NMETHODS; id++)
        assert_int_equal(sk_method_find(sk_method_get((sk_method_id)id)->name), id);
    assert_int_equal(sk_method_find("no such"), SK_NMETHODS);
    assert_int_equal(sk_method_find("node"), SK_METHOD_NODE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hauls_are_sorted_and_parcels_stand_once),
        cmocka_unit_test(an_empty_pattern_is_a_pattern),
        cmocka_unit_test(parcels_that_cannot_be_are_reported_at_the_end),
        cmocka_unit_test(a_frozen_pattern_stays_as_it_is),
        cmocka_unit_test(patterns_are_the_same_after_a_journey),
        cmocka_unit_test(patterns_that_differ_are_not_equal),
        cmocka_unit_test(malformed_words_make_no_pattern),
        cmocka_unit_test(headers_out_of_range_are_refused),
        cmocka_unit_test(rank_sets_travel_as_lists_and_as_bits),
        cmocka_unit_test(malformed_rank_sets_are_refused),
        cmocka_unit_test(the_load_counts_messages_blocks_and_parcels_by_level),
        cmocka_unit_test(methods_are_found_by_name),
    };
    return RUN(tests);
}
