/* Local ranks that are threads: over one mapping, so that the thread sanitizer sees what
 * they share, and over one each, as processes have. */
#include "unit.h"

#include <pthread.h>
#include <sys/mman.h>

#include "shm/play.h"

enum { LOCAL_RANKS = 16, FEW = 70 }; /* epochs that use every line again */
#if defined(__SANITIZE_THREAD__)
enum { SLOWER = 10, ONE_MAPPING = true }; /* another mapping would be other memory to it */
#else
enum { SLOWER = 1, ONE_MAPPING = false };
#endif

typedef struct local_rank {
    const play *p;
    sk_shm *b;
    int me, errors;
    pthread_t thread;
} local_rank;

static void *run_local_rank(void *arg)
{
    local_rank *m = arg;
    m->errors = play_local_rank(m->b, m->p, m->me);
    return NULL;
}

/* Each sk_shm unmaps its memory. Where they share one mapping it must be mapped again. */
static void free_shms(local_rank *local_ranks, int n, void *shared, size_t bytes)
{
    for (int i = 0; i < n; i++) {
        if (shared && i > 0)
            assert_ptr_equal(mmap(shared, bytes, PROT_NONE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE,
                                  -1, 0),
                             shared);
        sk_shm_free(local_ranks[i].b);
    }
}

/* The smallest memory, or the largest. */
static size_t bytes_for(int n, bool small)
{
    int64_t slot_bytes;
    size_t bytes = sk_shm_bytes(n, INT64_MAX, &slot_bytes), less;
    while (small && (less = sk_shm_bytes(n, (int64_t)bytes - 1, &slot_bytes)) > 0)
        bytes = less;
    return bytes;
}

static void play_in_threads(const play *p, bool small, bool share)
{
    local_rank local_ranks[LOCAL_RANKS] = {0};
    sk_segment_handle note;
    void *mem;
    size_t bytes = bytes_for(p->n, small);
    assert_int_equal(sk_segment_make(bytes, &mem, &note), SK_OK);
    for (int i = 0; i < p->n; i++) {
        void *mine = mem;
        if (i > 0 && !share)
            assert_int_equal(sk_segment_map(&note, bytes, &mine), SK_OK);
        local_ranks[i] = (local_rank){.p = p, .me = i, .b = sk_shm_new(mine, bytes, p->n, i)};
        assert_non_null(local_ranks[i].b);
    }
    sk_segment_close(&note);
    for (int i = 0; i < p->n; i++)
        assert_int_equal(
            pthread_create(&local_ranks[i].thread, NULL, run_local_rank, &local_ranks[i]), 0);
    int errors = 0;
    for (int i = 0; i < p->n; i++) {
        pthread_join(local_ranks[i].thread, NULL);
        errors += local_ranks[i].errors;
    }
    free_shms(local_ranks, p->n, share ? mem : NULL, bytes);
    assert_int_equal(errors, 0);
}

static void play_as(sk_wait_mode mode)
{
    static const struct {
        int n, epochs;
    } sizes[] = {{2, 2000}, {3, 1200}, {7, 500}, {16, 300}};
    for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        play p = {.n = sizes[i].n, .seed = 40 + 3 * i + (unsigned)mode, .mode = mode};
        p.epochs = FEW + (sizes[i].epochs - FEW) / SLOWER;
        play_in_threads(&p, false, true);
        p.seed += 100;
        play_in_threads(&p, true, ONE_MAPPING);
    }
}

static void threads_that_spin_read_what_was_posted(void **state)
{
    (void)state;
    play_as(SK_WAIT_SPIN);
}

static void threads_that_yield_read_what_was_posted(void **state)
{
    (void)state;
    play_as(SK_WAIT_YIELD);
}

static void threads_that_sleep_read_what_was_posted(void **state)
{
    (void)state;
    play_as(SK_WAIT_SLEEP);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_that_spin_read_what_was_posted),
        cmocka_unit_test(threads_that_yield_read_what_was_posted),
        cmocka_unit_test(threads_that_sleep_read_what_was_posted),
    };
    return RUN(tests);
}
