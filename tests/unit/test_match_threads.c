/* test_match_threads.c: threads post, deliver and cancel on one matcher: every item either matches
 * once, is cancelled, or stays queued. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "match/matcher.h"
#include "unit.h"

enum { THREADS = 4, EACH = 5000, KEYS = 37 };

typedef struct thread_item {
    sk_match_item item; /* first: an item pointer is a pointer to its thread_item */
    atomic_int matched, cancelled;
    int queued;
} thread_item;

typedef struct worker {
    sk_matcher *matcher;
    thread_item *recvs, *msgs; /* EACH per thread */
    unsigned number;
    pthread_t thread;
} worker;

static sk_match_item key(unsigned i)
{
    return (sk_match_item){.tag = i % KEYS, .source = i % 5};
}

static void note_match(sk_match_item *mine, sk_match_item *partner)
{
    if (!partner)
        return;
    atomic_fetch_add(&((thread_item *)mine)->matched, 1);
    atomic_fetch_add(&((thread_item *)partner)->matched, 1);
}

/* Every third receive is cancelled a while after it was posted, if it still waits. */
static void *work(void *arg)
{
    worker *w = arg;
    unsigned lag = 3 * (w->number + 1);
    for (unsigned i = 0; i < EACH; i++) {
        thread_item *recv = &w->recvs[i], *msg = &w->msgs[i];
        recv->item = key(i * 7 + w->number);
        if (i % 11 == 0)
            recv->item.source = SK_ANY_SOURCE;
        if (i % 13 == 0)
            recv->item.ignore = UINT64_MAX;
        msg->item = key(i * 5 + w->number);
        note_match(&recv->item, sk_matcher_post(w->matcher, &recv->item));
        note_match(&msg->item, sk_matcher_deliver(w->matcher, &msg->item));
        if (i >= lag && i % 3 == 0) {
            thread_item *old = &w->recvs[i - lag];
            old->cancelled += sk_matcher_cancel(w->matcher, &old->item);
        }
    }
    return NULL;
}

static void check(thread_item *thread_items, const sk_match_stats *stats, sk_match_side side)
{
    uint64_t queued = 0;
    for (int i = 0; i < THREADS * EACH; i++) {
        assert_int_equal(
            thread_items[i].matched + thread_items[i].cancelled + thread_items[i].queued, 1);
        queued += (uint64_t)thread_items[i].queued;
    }
    assert_int_equal(queued, stats->length[side]);
}

static void run_threads(const char *engine)
{
    sk_matcher *m = NULL;
    sk_match_config config = {.nranks = 5, .threads = true};
    thread_item *recvs = calloc(THREADS * EACH, sizeof *recvs);
    thread_item *msgs = calloc(THREADS * EACH, sizeof *msgs);
    assert_non_null(recvs);
    assert_non_null(msgs);
    assert_int_equal(sk_matcher_new(engine, &config, &m), SK_OK);
    worker workers[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] =
            (worker){.matcher = m, .recvs = recvs + i * EACH, .msgs = msgs + i * EACH, .number = i};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(workers[i].thread, NULL);
    for (int side = 0; side < SK_NSIDES; side++)
        for (sk_match_item *item = NULL; (item = sk_matcher_next(m, (sk_match_side)side, item));)
            ((thread_item *)item)->queued++;
    sk_match_stats stats;
    sk_matcher_stats(m, &stats);
    check(recvs, &stats, SK_POSTED);
    check(msgs, &stats, SK_UNEXPECTED);
    sk_matcher_free(m);
    free(recvs);
    free(msgs);
}

static void threads_match_every_item_once(void **state)
{
    (void)state;
    for (int i = 0; sk_engine_name(i); i++)
        run_threads(sk_engine_name(i));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(threads_match_every_item_once)};
    return RUN(tests);
}
