/* Regions of the memory that the ranks of a node share: local ranks with mappings of their own, in one
 * thread and as threads. */
#include "unit.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "shm/node_memory.h"
#include "shm/segment.h"

enum { LOCAL_RANKS = 4, PAGE = 4096, CAP = 16 << 20 };

typedef struct node {
    size_t bytes;
    sk_node_memory *of[LOCAL_RANKS];
} node;

static node node_new(size_t bytes)
{
    node n = {.bytes = bytes};
    void *mem;
    sk_segment_handle handle;
    assert_int_equal(sk_segment_make(bytes, &mem, &handle), SK_OK);
    for (int i = 0; i < LOCAL_RANKS; i++) {
        if (i > 0)
            assert_int_equal(sk_segment_map(&handle, bytes, &mem), SK_OK);
        n.of[i] = sk_node_memory_new(mem, bytes, LOCAL_RANKS, i);
        assert_non_null(n.of[i]);
    }
    sk_segment_close(&handle);
    return n;
}

static void node_free(node *n)
{
    for (int i = 0; i < LOCAL_RANKS; i++)
        sk_node_memory_free(n->of[i]);
}

static void regions_do_not_overlap(void **state)
{
    (void)state;
    node n = node_new(sk_node_memory_bytes(LOCAL_RANKS, CAP));
    enum { REGIONS = 12 };
    sk_region region[REGIONS];
    for (int i = 0; i < REGIONS; i++) {
        size_t bytes = (size_t)(i + 1) * 5000;
        region[i] = sk_node_memory_take(n.of[i % LOCAL_RANKS], bytes, 1);
        assert_int_not_equal(region[i].at, 0);
        assert_false(region[i].used);
        char *at = sk_node_memory_at(n.of[i % LOCAL_RANKS], region[i]);
        for (size_t k = 0; k < bytes; k++)
            assert_int_equal(at[k], 0);
        memset(at, i + 1, bytes);
    }
    for (int i = 0; i < REGIONS; i++) { /* as another rank sees them */
        const char *at = sk_node_memory_at(n.of[(i + 1) % LOCAL_RANKS], region[i]);
        for (int k = 0; k < (i + 1) * 5000; k++)
            assert_int_equal(at[k], i + 1);
    }
    node_free(&n);
}

static void a_region_is_free_when_all_its_users_have_released_it(void **state)
{
    (void)state;
    node n = node_new(sk_node_memory_bytes(LOCAL_RANKS, CAP));
    sk_region a = sk_node_memory_take(n.of[0], PAGE, 2);
    sk_region b = sk_node_memory_take(n.of[1], PAGE, 1);
    sk_node_memory_release(n.of[0], a, false);
    sk_region c = sk_node_memory_take(n.of[2], PAGE, 1);
    assert_int_not_equal(c.at, a.at);
    assert_false(c.used);
    sk_node_memory_release(n.of[3], a, false);
    c = sk_node_memory_take(n.of[2], PAGE, 1);
    assert_int_equal(c.at, a.at);
    assert_true(c.used); /* pages that exist come first */
    sk_node_memory_release(n.of[1], b, false);
    node_free(&n);
}

static void a_kept_region_comes_back_as_it_was(void **state)
{
    (void)state;
    node n = node_new(sk_node_memory_bytes(LOCAL_RANKS, CAP));
    sk_region a = sk_node_memory_take(n.of[0], PAGE, 2);
    sk_node_memory_release(n.of[0], a, true);
    assert_false(sk_node_memory_retake(n.of[0], a, 2)); /* not free yet */
    assert_false(sk_node_memory_forget(n.of[0], a));
    sk_node_memory_release(n.of[1], a, true);
    sk_region b = sk_node_memory_take(n.of[2], PAGE, 1);
    assert_int_not_equal(b.at, a.at); /* there is space elsewhere */
    assert_true(sk_node_memory_retake(n.of[0], a, 2));
    sk_node_memory_release(n.of[0], a, false); /* one of its users does not keep it */
    sk_node_memory_release(n.of[1], a, true);
    assert_false(sk_node_memory_retake(n.of[0], a, 2));

    sk_region c = sk_node_memory_take(n.of[0], PAGE, 1);
    sk_node_memory_release(n.of[0], c, true);
    assert_true(sk_node_memory_forget(n.of[0], c));
    assert_false(sk_node_memory_retake(n.of[0], c, 1));
    assert_true(sk_node_memory_forget(n.of[0], c)); /* it is somebody else's by now, or nobody's */
    sk_node_memory_release(n.of[2], b, true);
    node_free(&n);
}

static void what_is_kept_gives_way_when_space_is_short(void **state)
{
    (void)state;
    size_t bytes = sk_node_memory_bytes(LOCAL_RANKS, CAP);
    node n = node_new(bytes);
    enum { KEPT = 3 };
    sk_region kept[KEPT];
    for (int i = 0; i < KEPT; i++)
        kept[i] = sk_node_memory_take(n.of[0], bytes / 4, 1);
    for (int i = 0; i < KEPT; i++)
        sk_node_memory_release(n.of[0], kept[i], true);
    assert_int_equal(sk_node_memory_take(n.of[1], bytes, 1).at, 0);
    sk_region large = sk_node_memory_take(n.of[1], bytes / 2, 1);
    assert_int_not_equal(large.at, 0);
    for (int i = 0; i < KEPT; i++)
        assert_false(sk_node_memory_retake(n.of[0], kept[i], 1));
    node_free(&n);
}

static void memory_that_is_used_up_comes_back_whole(void **state)
{
    (void)state;
    size_t bytes = sk_node_memory_bytes(LOCAL_RANKS, CAP);
    node n = node_new(bytes);
    enum { MOST = 4000 };
    static sk_region region[MOST];
    for (int round = 0; round < 3; round++) {
        int taken = 0;
        while (taken < MOST && (region[taken] = sk_node_memory_take(n.of[0], PAGE, 1)).at)
            taken++;
        assert_between(taken, 100, MOST - 1);
        for (int from = 0; from < 3; from++) /* so that neighbours meet on both sides */
            for (int i = from; i < taken; i += 3)
                sk_node_memory_release(n.of[1], region[i], i % 2);
    }
    sk_region large = sk_node_memory_take(n.of[0], bytes / 2, 1);
    assert_int_not_equal(large.at, 0);
    assert_int_equal(sk_node_memory_take(n.of[0], bytes, 1).at, 0);
    node_free(&n);
}

static void others_attach_to_what_the_leader_publishes(void **state)
{
    (void)state;
    node n = node_new(sk_node_memory_bytes(LOCAL_RANKS, CAP));
    sk_region a = sk_node_memory_take(n.of[2], PAGE, 3), seen = {0};
    assert_false(sk_node_memory_attach(n.of[0], 2, 7, &seen));
    sk_node_memory_publish(n.of[2], 7, a);
    assert_false(sk_node_memory_attach(n.of[0], 2, 6, &seen)); /* another communicator's number */
    assert_false(sk_node_memory_attach(n.of[0], 1, 7, &seen)); /* another leader */
    assert_true(sk_node_memory_attach(n.of[0], 2, 7, &seen));
    assert_int_equal(seen.at, a.at);
    assert_int_equal(seen.stamp, a.stamp);
    assert_false(sk_node_memory_attached_by(n.of[2], 2));
    assert_true(sk_node_memory_attach(n.of[3], 2, 7, &seen));
    assert_true(sk_node_memory_attached_by(n.of[2], 2));
    sk_node_memory_withdraw(n.of[2]);
    assert_false(sk_node_memory_attach(n.of[1], 2, 7, &seen));
    assert_true(sk_node_memory_attached_by(n.of[2], 0));
    node_free(&n);
}

/* Each thread is a local rank: takes, fills, checks and releases regions of its own. */
typedef struct player {
    sk_node_memory *memory;
    int me, failures;
} player;

static void *play(void *arg)
{
    enum { HELD = 6, ROUNDS = 400 };
    player *p = arg;
    sk_region region[HELD] = {0};
    size_t bytes[HELD] = {0};
    for (int i = 0; i < ROUNDS; i++) {
        int k = (i * 5 + p->me) % HELD;
        if (region[k].at) {
            const char *at = sk_node_memory_at(p->memory, region[k]);
            for (size_t b = 0; b < bytes[k]; b += 97)
                p->failures += at[b] != (char)(p->me * HELD + k);
            sk_node_memory_release(p->memory, region[k], k % 2);
        }
        bytes[k] = (size_t)(1 + (i * 7 + p->me * 3) % 9) * 3000;
        region[k] = sk_node_memory_take(p->memory, bytes[k], 1);
        if (region[k].at)
            memset(sk_node_memory_at(p->memory, region[k]), p->me * HELD + k, bytes[k]);
        else
            p->failures++;
    }
    return NULL;
}

static void ranks_take_and_release_at_the_same_time(void **state)
{
    (void)state;
    node n = node_new(sk_node_memory_bytes(LOCAL_RANKS, CAP));
    pthread_t thread[LOCAL_RANKS];
    player players[LOCAL_RANKS];
    for (int i = 0; i < LOCAL_RANKS; i++) {
        players[i] = (player){n.of[i], i, 0};
        assert_int_equal(pthread_create(&thread[i], NULL, play, &players[i]), 0);
    }
    for (int i = 0; i < LOCAL_RANKS; i++) {
        pthread_join(thread[i], NULL);
        assert_int_equal(players[i].failures, 0);
    }
    node_free(&n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(regions_do_not_overlap),
        cmocka_unit_test(a_region_is_free_when_all_its_users_have_released_it),
        cmocka_unit_test(a_kept_region_comes_back_as_it_was),
        cmocka_unit_test(what_is_kept_gives_way_when_space_is_short),
        cmocka_unit_test(memory_that_is_used_up_comes_back_whole),
        cmocka_unit_test(others_attach_to_what_the_leader_publishes),
        cmocka_unit_test(ranks_take_and_release_at_the_same_time),
    };
    return RUN(tests);
}
