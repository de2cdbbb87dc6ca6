/* Waiting for a flag in every mode, the loop for everything else, and the policy. */
#include "unit.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "shm/waiting.h"

static sk_flag flag; /* `idle` gets no argument */
static struct {
    int asked, after; /* how often; it sets the flag when asked this often */
    uint64_t value;
    uint32_t sleepers; /* when it last was asked */
} idler;

static void set_when_idle(void)
{
    idler.sleepers = atomic_load(&flag.sleepers) & ~SK_FLAG_FENCED;
    if (++idler.asked == idler.after)
        atomic_store(&flag.value, idler.value);
}

static void wait_idly(uint64_t from, uint64_t to, int after, sk_wait_mode mode)
{
    sk_waiting waiting = {.mode = mode, .idle = set_when_idle};
    idler.asked = 0;
    idler.after = after;
    idler.value = to;
    atomic_store(&flag.value, from);
    sk_flag_wait(&flag, to, &waiting);
    assert_true(sk_flag_reached(&flag, to));
    assert_false(sk_flag_reached(&flag, to + 1));
}

static void who_waits_long_is_idle_from_time_to_time(void **state)
{
    (void)state;
    for (int mode = SK_WAIT_SPIN; mode <= SK_WAIT_SLEEP; mode++) {
        wait_idly(0, 1, 5, (sk_wait_mode)mode);
        assert_int_equal(idler.asked, 5);
        assert_int_equal(idler.sleepers, mode != SK_WAIT_SPIN); /* they sleep in the end */
        assert_int_equal(atomic_load(&flag.sleepers) & ~SK_FLAG_FENCED, 0);
    }
}

static void a_flag_that_is_set_is_not_waited_for(void **state)
{
    (void)state;
    for (int mode = SK_WAIT_SPIN; mode <= SK_WAIT_SLEEP; mode++) {
        wait_idly(7, 7, -1, (sk_wait_mode)mode);
        assert_int_equal(idler.asked, 0);
    }
}

static void flags_count_beyond_32_bits(void **state)
{
    (void)state;
    const uint64_t limit = (uint64_t)1 << 32;
    for (int mode = SK_WAIT_SPIN; mode <= SK_WAIT_SLEEP; mode++) {
        wait_idly(limit - 1, limit, 2, (sk_wait_mode)mode);
        wait_idly(limit - 1, limit + 5, 2, (sk_wait_mode)mode);
        wait_idly(0, limit, 2, (sk_wait_mode)mode); /* the same in its lower half */
    }
}

/* ---- waking ---- */

static uint32_t *watched(void)
{
    return (uint32_t *)&flag.value + (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

/* As a waiting rank, but with a very long sleep. */
static void *sleep_soundly(void *errors)
{
    const struct timespec long_time = {.tv_sec = 20};
    atomic_fetch_add(&flag.sleepers, 1);
    while (!sk_flag_reached(&flag, 1))
        if (syscall(SYS_futex, watched(), FUTEX_WAIT, 0, &long_time, NULL, 0) != 0 &&
            errno == ETIMEDOUT)
            *(int *)errors = 1;
    atomic_fetch_sub(&flag.sleepers, 1);
    return NULL;
}

static void who_sleeps_is_woken(void **state)
{
    (void)state;
    enum { SLEEPERS = 3 };
    pthread_t thread[SLEEPERS];
    int errors = 0;
    atomic_store(&flag.value, 0);
    for (int i = 0; i < SLEEPERS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, sleep_soundly, &errors), 0);
    while (atomic_load(&flag.sleepers) < SLEEPERS)
        usleep(100);
    usleep(2000); /* asleep, now */
    sk_flag_set(&flag, 1);
    for (int i = 0; i < SLEEPERS; i++)
        pthread_join(thread[i], NULL);
    assert_int_equal(errors, 0);
}

/* Two ranks wake each other in turn: none is left asleep, and no sleeper is counted in the end. */
static sk_flag ends[2];
enum { ROUNDS = 2000 };

static void *answer(void *waiting)
{
    for (uint64_t i = 1; i <= ROUNDS; i++) {
        sk_flag_wait(&ends[0], i, waiting);
        sk_flag_set(&ends[1], i);
    }
    return NULL;
}

static void flags_go_there_and_back(void **state)
{
    (void)state;
    for (int mode = SK_WAIT_SPIN; mode <= SK_WAIT_SLEEP; mode++) {
        sk_waiting waiting = {.mode = (sk_wait_mode)mode};
        pthread_t thread;
        for (int i = 0; i < 2; i++)
            atomic_store(&ends[i].value, 0);
        assert_int_equal(pthread_create(&thread, NULL, answer, &waiting), 0);
        for (uint64_t i = 1; i <= ROUNDS; i++) {
            sk_flag_set(&ends[0], i);
            sk_flag_wait(&ends[1], i, &waiting);
        }
        pthread_join(thread, NULL);
        assert_int_equal(atomic_load(&ends[0].sleepers) & ~SK_FLAG_FENCED, 0);
        assert_int_equal(atomic_load(&ends[1].sleepers) & ~SK_FLAG_FENCED, 0);
    }
}

/* ---- long waits ---- */

static int64_t clock_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void *set_late(void *unused)
{
    usleep(150000);
    sk_flag_set(&flag, 1);
    return unused;
}

/* The part of a long wait, in percent, in which a rank has used its core. */
static int64_t cpu_of_long_wait(void (*wait)(const sk_waiting *), sk_wait_mode mode)
{
    sk_wait_pace pace = {0};
    pthread_t thread;
    atomic_store(&flag.value, 0);
    int64_t cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID), wall = clock_ns(CLOCK_MONOTONIC);
    assert_int_equal(pthread_create(&thread, NULL, set_late, NULL), 0);
    wait(&(sk_waiting){.mode = mode, .pace = &pace});
    cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
    wall = clock_ns(CLOCK_MONOTONIC) - wall;
    pthread_join(thread, NULL);
    return 100 * cpu / wall;
}

static void by_flag(const sk_waiting *w)
{
    sk_flag_wait(&flag, 1, w);
}

static void by_flag_long(const sk_waiting *w)
{
    sk_flag_wait_long(&flag, 1, w);
}

static void by_loop(const sk_waiting *w)
{
    SK_WAIT_UNTIL(w->mode, sk_flag_reached(&flag, 1), (void)0);
}

static void a_long_wait_leaves_the_core_to_others(void **state)
{
    (void)state;
    for (int mode = SK_WAIT_SPIN; mode <= SK_WAIT_SLEEP; mode++) {
        assert_true(cpu_of_long_wait(by_flag, (sk_wait_mode)mode) <= 50);
        assert_true(cpu_of_long_wait(by_flag_long, (sk_wait_mode)mode) <= 50);
        assert_true(cpu_of_long_wait(by_loop, (sk_wait_mode)mode) <= 50);
    }
}

/* ---- anything else ---- */

static int tests_made, progress_made;

static bool succeeds_at(int n)
{
    return ++tests_made == n;
}

static void the_loop_tests_first_and_then_makes_progress(void **state)
{
    (void)state;
    for (int mode = SK_WAIT_SPIN; mode <= SK_WAIT_SLEEP; mode++)
        for (int n = 1; n < 5; n++) {
            tests_made = progress_made = 0;
            SK_WAIT_UNTIL((sk_wait_mode)mode, succeeds_at(n), progress_made++);
            assert_int_equal(tests_made, n);
            assert_int_equal(progress_made, n - 1);
        }
}

static void the_mode_follows_the_setting_and_the_ranks_of_the_node(void **state)
{
    (void)state;
    static const char *const names[] = {"spin", "yield", "mixed", "sleep"};
    for (int mode = SK_WAIT_SPIN; mode <= SK_WAIT_SLEEP; mode++)
        assert_int_equal(sk_wait_mode_of(names[mode]), mode);
    unsetenv("OMPI_COMM_WORLD_LOCAL_SIZE");
    unsetenv("PMI_LOCAL_SIZE");
    unsetenv("SLURM_NTASKS_PER_NODE");
    setenv("MPI_LOCALNRANKS", "1", 1);
    assert_int_equal(sk_wait_mode_of("auto"), SK_WAIT_SPIN);
    setenv("OMPI_MCA_mpi_yield_when_idle", "1", 1);
    assert_int_equal(sk_wait_mode_of("auto"), sk_wait_mode_shared());
    assert_int_equal(sk_wait_mode_of("spin"), SK_WAIT_SPIN);
    setenv("OMPI_MCA_mpi_yield_when_idle", "0", 1);
    assert_int_equal(sk_wait_mode_of("auto"), SK_WAIT_SPIN);
    unsetenv("OMPI_MCA_mpi_yield_when_idle");
    setenv("MPI_LOCALNRANKS", "1000000", 1);
    assert_int_equal(sk_wait_mode_of("auto"), sk_wait_mode_shared());
    assert_int_not_equal(sk_wait_mode_shared(), SK_WAIT_SPIN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_waits_long_is_idle_from_time_to_time),
        cmocka_unit_test(a_flag_that_is_set_is_not_waited_for),
        cmocka_unit_test(flags_count_beyond_32_bits),
        cmocka_unit_test(who_sleeps_is_woken),
        cmocka_unit_test(flags_go_there_and_back),
        cmocka_unit_test(a_long_wait_leaves_the_core_to_others),
        cmocka_unit_test(the_loop_tests_first_and_then_makes_progress),
        cmocka_unit_test(the_mode_follows_the_setting_and_the_ranks_of_the_node),
    };
    return RUN(tests);
}
