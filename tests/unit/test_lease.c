/* Leases of the node's memory: local ranks as threads live through many communicators. In each they run
 * some epochs and messages; the memory goes from one communicator to the next. */
#include "unit.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "shm/epochs.h"
#include "shm/lease.h"
#include "shm/segment.h"

enum { LOCAL_RANKS = 4, PAIR = 2, CAP = 16 << 20, LIVES = 60 };

typedef struct local_rank {
    sk_node_memory *memory;
    sk_leases *leases;
    int me;
    int failures, fresh; /* leases that served nobody before */
} local_rank;

static void give_way(void)
{
    sched_yield();
}

/* What adopt.c does in a communicator of these local ranks, me being the index of this one. */
static sk_lease *begin_life(local_rank *r, const int *ranks, int n, int me, int number)
{
    sk_shm_size size = sk_shm_size_of(n, CAP);
    sk_lease *l;
    if (me == 0) {
        l = sk_lease_take(r->leases, ranks, n, size);
        if (!l)
            return NULL;
        sk_node_memory_publish(r->memory, number, l->region);
        while (!sk_node_memory_attached_by(r->memory, n - 1))
            sched_yield();
        sk_node_memory_withdraw(r->memory);
    } else {
        sk_region region;
        while (!sk_node_memory_attach(r->memory, ranks[0], number, &region))
            sched_yield();
        l = sk_lease_attach(r->leases, region, ranks, n, me, size);
    }
    if (l && l->fresh) {
        r->fresh++;
        sk_shm_set_waiting(l->shm, (sk_waiting){.mode = SK_WAIT_YIELD, .idle = give_way});
    }
    return l;
}

/* Each rank posts a number in its slot and reads those of the others; then a message to the next. */
static int use(sk_shm *shm, int n, int me, int life)
{
    int failures = 0;
    for (int i = 0; i < 3 + life % 5; i++) {
        int64_t bytes = i % 3 == 2 ? 2000 : 8;
        int value = life * 100 + i * 10 + me;
        sk_shm_begin(shm, 1);
        sk_shm_epoch(shm, bytes, true, true);
        sk_shm_open(shm, 0);
        memcpy(sk_shm_slot(shm, 0, me), &value, sizeof value);
        sk_shm_post(shm, 0);
        sk_shm_await_range(shm, 0, 0, n);
        for (int k = 0; k < n; k++) {
            memcpy(&value, sk_shm_slot(shm, 0, k), sizeof value);
            failures += value != life * 100 + i * 10 + k;
        }
        sk_shm_release(shm, 1);
    }
    int out = life * 10 + me, in = -1, from = (me + n - 1) % n;
    sk_shm_send(shm, (me + 1) % n, &out, sizeof out);
    sk_shm_recv(shm, from, &in, sizeof in);
    failures += !sk_shm_finish(shm);
    return failures + (in != life * 10 + from);
}

/* One communicator of all ranks after the other; in between, each pair has one. */
static void *live(void *arg)
{
    local_rank *r = arg;
    int all[LOCAL_RANKS] = {0, 1, 2, 3}, two[PAIR] = {r->me & ~1, r->me | 1};
    for (int life = 0; life < LIVES; life++) {
        bool small = life % 3 == 1;
        int n = small ? PAIR : LOCAL_RANKS, me = small ? r->me & 1 : r->me;
        sk_lease *l = begin_life(r, small ? two : all, n, me, life);
        if (!l) {
            r->failures++;
            return NULL;
        }
        r->failures += use(l->shm, n, me, life);
        if (life % 4 == 1) /* pages of a lane stay as they are, too */
            r->failures += use(sk_lease_lane(r->leases, l, life / 4 % SK_SHM_LANES), n, me, life);
        sk_lease_end(r->leases, l, life % 20 != 19 || r->me != 2); /* one rank fails at times */
    }
    return NULL;
}

static void ranks_new(local_rank *ranks, int n)
{
    size_t bytes = sk_node_memory_bytes(n, CAP);
    void *mem;
    sk_segment_handle handle;
    assert_int_equal(sk_segment_make(bytes, &mem, &handle), SK_OK);
    for (int i = 0; i < n; i++) {
        if (i > 0)
            assert_int_equal(sk_segment_map(&handle, bytes, &mem), SK_OK);
        ranks[i] = (local_rank){.memory = sk_node_memory_new(mem, bytes, n, i), .me = i};
        assert_non_null(ranks[i].memory);
        ranks[i].leases = sk_leases_new(ranks[i].memory);
        assert_non_null(ranks[i].leases);
    }
    sk_segment_close(&handle);
}

static void ranks_free(local_rank *ranks, int n)
{
    for (int i = 0; i < n; i++) {
        sk_leases_free(ranks[i].leases);
        sk_node_memory_free(ranks[i].memory);
    }
}

static void lives_go_on_in_the_same_memory(void **state)
{
    (void)state;
    local_rank ranks[LOCAL_RANKS];
    pthread_t thread[LOCAL_RANKS];
    ranks_new(ranks, LOCAL_RANKS);
    for (int i = 0; i < LOCAL_RANKS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, live, &ranks[i]), 0);
    for (int i = 0; i < LOCAL_RANKS; i++) {
        pthread_join(thread[i], NULL);
        assert_int_equal(ranks[i].failures, 0);
        /* A leader that comes back before all others have left takes another region. */
        assert_between(ranks[i].fresh, 2 + LIVES / 20 - 1, LIVES / 2);
    }
    ranks_free(ranks, LOCAL_RANKS);
}

/* ---- two ranks, by one thread ---- */

static const int pair[PAIR] = {0, 1};

typedef struct both {
    sk_lease *of[PAIR];
} both;

static sk_shm_size pair_size(void)
{
    return sk_shm_size_of(PAIR, CAP);
}

static both begin_both(local_rank *r)
{
    both l;
    l.of[0] = sk_lease_take(r[0].leases, pair, PAIR, pair_size());
    assert_non_null(l.of[0]);
    l.of[1] = sk_lease_attach(r[1].leases, l.of[0]->region, pair, PAIR, 1, pair_size());
    assert_non_null(l.of[1]);
    assert_int_equal(l.of[0]->fresh, l.of[1]->fresh);
    return l;
}

static void end_both(local_rank *r, both l)
{
    for (int i = 0; i < PAIR; i++)
        sk_lease_end(r[i].leases, l.of[i], true);
}

static void ranks_that_disagree_begin_anew(void **state)
{
    (void)state;
    local_rank r[PAIR];
    ranks_new(r, PAIR);
    both l = begin_both(r);
    uint64_t stamp = l.of[0]->region.stamp;
    sk_shm_begin(l.of[0]->shm, 1);
    sk_shm_epoch(l.of[0]->shm, 8, true, true);
    sk_shm_release(l.of[0]->shm, 1); /* the other one never came to it */
    end_both(r, l);
    l = begin_both(r);
    assert_true(l.of[0]->fresh);
    assert_int_not_equal(l.of[0]->region.stamp, stamp);
    end_both(r, l);
    ranks_free(r, PAIR);
}

static void what_is_cancelled_stays_kept(void **state)
{
    (void)state;
    local_rank r[PAIR];
    ranks_new(r, PAIR);
    end_both(r, begin_both(r));
    sk_lease *l = sk_lease_take(r[0].leases, pair, PAIR, pair_size());
    assert_false(l->fresh);
    uint64_t stamp = l->region.stamp;
    sk_lease_cancel(r[0].leases, l);
    both again = begin_both(r);
    assert_false(again.of[0]->fresh);
    assert_int_equal(again.of[0]->region.stamp, stamp);
    end_both(r, again);
    ranks_free(r, PAIR);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lives_go_on_in_the_same_memory),
        cmocka_unit_test(ranks_that_disagree_begin_anew),
        cmocka_unit_test(what_is_cancelled_stays_kept),
    };
    return RUN(tests);
}
