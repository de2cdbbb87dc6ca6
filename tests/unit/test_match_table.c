/* test_match_table.c: the hash table of the engine `flat`. */
#include <stdlib.h>

#include "match/engine/flat_table.h"
#include "unit.h"

enum { MANY = 20000 };

static sk_match_item *items;

static int make_items(void **state)
{
    (void)state;
    items = calloc(MANY, sizeof *items);
    return items ? 0 : -1;
}

static int free_items(void **state)
{
    (void)state;
    free(items);
    return 0;
}

static sk_flat_table table_of(const sk_match_item *recv)
{
    sk_flat_table t = {.mask = sk_flat_mask_of(recv)};
    sk_flat_table_clear(&t);
    return t;
}

static void add(sk_flat_table *t, int i)
{
    items[i].seq = (uint64_t)i;
    items[i].link.item = &items[i];
    assert_true(sk_flat_table_add(t, &items[i].link, &items[i]));
}

/* The sum of the distances of buckets from their homes. */
static uint64_t distance(const sk_flat_array *s)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; s->at && i <= s->last; i++)
        if (s->at[i].first)
            sum += (i - (s->at[i].hash >> s->shift)) & s->last;
    return sum;
}

typedef sk_match_item maker(uint64_t i);

static sk_match_item tags_in_sequence(uint64_t i)
{
    return (sk_match_item){.tag = i, .source = 3};
}

static sk_match_item sources_in_sequence(uint64_t i)
{
    return (sk_match_item){.tag = 3, .source = (uint32_t)i};
}

static sk_match_item tags_by_sources(uint64_t i)
{
    return (sk_match_item){.tag = i / 128, .source = (uint32_t)(i % 128)};
}

static sk_match_item tags_far_apart(uint64_t i)
{
    return (sk_match_item){.tag = i << 16, .source = 1};
}

static sk_match_item communicators(uint64_t i)
{
    return (sk_match_item){.tag = i << 34 | 7, .source = 1};
}

static sk_match_item tags_at_the_top(uint64_t i)
{
    return (sk_match_item){.tag = i << 48, .source = 0};
}

static sk_match_item sources_far_apart(uint64_t i)
{
    return (sk_match_item){.tag = 0, .source = (uint32_t)(i << 12)};
}

/* In a table at most half full, random keys are half a bucket from home on average. */
static void patterns_of_keys_spread_like_random_ones(void **state)
{
    (void)state;
    static maker *const makers[] = {
        tags_in_sequence, sources_in_sequence, tags_by_sources,   tags_far_apart,
        communicators,    tags_at_the_top,     sources_far_apart,
    };
    for (size_t m = 0; m < sizeof makers / sizeof makers[0]; m++) {
        sk_flat_table t = table_of(&(sk_match_item){.ignore = UINT64_C(3) << 32});
        for (int i = 0; i < MANY; i++) {
            items[i] = makers[m]((uint64_t)i);
            add(&t, i);
        }
        assert_int_equal(t.nrings, MANY);
        uint64_t traversed = 0, sum = distance(&t.now) + distance(&t.old);
        if (sum > MANY)
            fail_msg("pattern %zu: %llu buckets from their homes", m, (unsigned long long)sum);
        for (int i = 0; i < MANY; i++)
            assert_ptr_equal(sk_flat_table_find(&t, &items[i], &traversed)->item, &items[i]);
        assert_true(traversed < MANY + MANY / 100);
        sk_flat_table_clear(&t);
    }
}

/* Growth is incremental: no operation moves more than so many buckets. */
static void a_table_grows_in_steps(void **state)
{
    (void)state;
    sk_flat_table t = table_of(&(sk_match_item){0});
    bool grew = false;
    for (int i = 0; i < MANY; i++) {
        size_t moved = t.moved;
        bool growing = t.old.at != NULL;
        items[i] = tags_in_sequence((uint64_t)i);
        add(&t, i);
        grew |= growing;
        if (growing && t.old.at)
            assert_true(t.moved - moved <= 128);
    }
    assert_true(grew);
    sk_flat_table_clear(&t);
}

static void equal_keys_keep_their_order(void **state)
{
    (void)state;
    enum { RING = 100 };
    uint64_t traversed = 0;
    sk_flat_table t = table_of(&(sk_match_item){.source = SK_ANY_SOURCE});
    for (int i = 0; i < RING; i++) {
        items[i] = sources_in_sequence((uint64_t)i);
        add(&t, i);
    }
    assert_int_equal(t.nrings, 1);
    for (int i = 1; i < RING; i += 2)
        sk_flat_table_remove(&t, &items[i].link);
    for (int i = 0; i < RING; i += 2) {
        assert_ptr_equal(sk_flat_table_find(&t, &items[0], &traversed)->item, &items[i]);
        sk_flat_table_remove(&t, &items[i].link);
    }
    assert_int_equal(t.nrings, 0);
    sk_flat_table_clear(&t);
}

typedef struct hashed {
    uint32_t hash;
    uint64_t tag;
} hashed;

static int by_hash(const void *a, const void *b)
{
    const hashed *x = a, *y = b;
    return (x->hash > y->hash) - (x->hash < y->hash);
}

/* Two tags whose hashes are equal, for receives from any source: there are some among so many. */
static void find_twins(uint64_t twins[2])
{
    enum { TAGS = 1 << 18 };
    sk_flat_table t = table_of(&(sk_match_item){.source = SK_ANY_SOURCE});
    hashed *all = malloc(TAGS * sizeof *all);
    assert_non_null(all);
    for (uint64_t i = 0; i < TAGS; i++) {
        uint64_t tag = i * i * UINT64_C(0x9e3779b97f4a7c15); /* sequential tags never collide */
        all[i] =
            (hashed){sk_flat_hash(&t, &(sk_match_item){.tag = tag, .source = SK_ANY_SOURCE}), tag};
    }
    qsort(all, TAGS, sizeof *all, by_hash);
    int at = 1;
    while (at < TAGS && (all[at].hash != all[at - 1].hash || all[at].tag == all[at - 1].tag))
        at++;
    assert_true(at < TAGS);
    twins[0] = all[at - 1].tag;
    twins[1] = all[at].tag;
    free(all);
}

static void keys_with_equal_hashes_are_told_apart(void **state)
{
    (void)state;
    enum { OTHERS = 200, FAR = 1 << 30 };
    uint64_t twins[2];
    find_twins(twins);
    for (int side = 0; side < SK_NSIDES; side++) {
        static sk_match_item recv[OTHERS + 2], msg[OTHERS + 2];
        sk_matcher *m = NULL;
        assert_int_equal(sk_matcher_new("flat", &(sk_match_config){0}, &m), SK_OK);
        for (unsigned i = 0; i < OTHERS + 2; i++) {
            recv[i] = msg[i] = (sk_match_item){.tag = i < OTHERS ? FAR + i : twins[i - OTHERS]};
            recv[i].source = SK_ANY_SOURCE;
            assert_null(side == SK_POSTED ? sk_matcher_post(m, &recv[i])
                                          : sk_matcher_deliver(m, &msg[i]));
        }
        for (unsigned i = OTHERS + 2; i-- > 0;) {
            if (side == SK_POSTED)
                assert_ptr_equal(sk_matcher_deliver(m, &msg[i]), &recv[i]);
            else
                assert_ptr_equal(sk_matcher_post(m, &recv[i]), &msg[i]);
            if (i == OTHERS + 1) /* the second twin again, while the first is there */
                assert_null(side == SK_POSTED ? sk_matcher_deliver(m, &msg[i])
                                              : sk_matcher_post(m, &recv[i]));
        }
        sk_matcher_free(m);
    }
}

static void fill_and_drain(sk_flat_table *t, int count)
{
    for (int i = 0; i < count; i++) {
        items[i] = tags_by_sources((uint64_t)i);
        add(t, i);
    }
    for (int i = 0; i < count; i++)
        sk_flat_table_remove(t, &items[i].link);
}

static void a_large_table_that_is_not_needed_any_more_is_given_back(void **state)
{
    (void)state;
    sk_flat_table t = table_of(&(sk_match_item){0});
    fill_and_drain(&t, MANY);
    size_t large = sk_flat_table_bytes(&t);
    assert_true(large >= 2 * MANY * sizeof(sk_flat_bucket));
    for (int i = 0; i < 10; i++)
        fill_and_drain(&t, 10);
    assert_int_equal(sk_flat_table_bytes(&t), large);
    for (int i = 0; i < 100; i++)
        fill_and_drain(&t, 10);
    assert_true(sk_flat_table_bytes(&t) < large / 10);
    sk_flat_table_clear(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(patterns_of_keys_spread_like_random_ones, make_items,
                                        free_items),
        cmocka_unit_test_setup_teardown(a_table_grows_in_steps, make_items, free_items),
        cmocka_unit_test_setup_teardown(equal_keys_keep_their_order, make_items, free_items),
        cmocka_unit_test(keys_with_equal_hashes_are_told_apart),
        cmocka_unit_test_setup_teardown(a_large_table_that_is_not_needed_any_more_is_given_back,
                                        make_items, free_items),
    };
    return RUN(tests);
}
