/* Local ranks that are processes, and what is left when one of them is killed. */
#include "unit.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shm/play.h"

enum { LOCAL_RANKS = 16 };

typedef struct family {
    const play *p;
    sk_segment_handle note;
    void *mem;
    size_t bytes;
    pid_t child[LOCAL_RANKS];
} family;

/* A child has nothing of the parent's but the note. */
static void be_local_rank(const family *f, int me)
{
    void *mem;
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails leaves none behind */
    sk_segment_unmap(f->mem, f->bytes);
    sk_shm *b = NULL;
    if (sk_segment_map(&f->note, f->bytes, &mem) == SK_OK)
        b = sk_shm_new(mem, f->bytes, f->p->n, me);
    int errors = b ? play_local_rank(b, f->p, me) : 1;
    sk_shm_free(b);
    _exit(errors != 0);
}

static family family_new(const play *p)
{
    family f = {.p = p};
    int64_t slot_bytes;
    f.bytes = sk_shm_bytes(p->n, INT64_MAX, &slot_bytes);
    assert_int_equal(sk_segment_make(f.bytes, &f.mem, &f.note), SK_OK);
    fflush(NULL);
    for (int i = 0; i < p->n; i++) {
        f.child[i] = fork();
        assert_true(f.child[i] >= 0);
        if (f.child[i] == 0)
            be_local_rank(&f, i);
    }
    return f;
}

static void play_in_processes(int n, int epochs, sk_wait_mode mode)
{
    play p = {.n = n, .epochs = epochs, .seed = 7 * (unsigned)n + (unsigned)mode, .mode = mode};
    family f = family_new(&p);
    int failed = 0;
    for (int i = 0; i < n; i++) {
        int status = -1;
        waitpid(f.child[i], &status, 0);
        failed += status != 0;
    }
    sk_segment_close(&f.note);
    sk_segment_unmap(f.mem, f.bytes);
    assert_int_equal(failed, 0);
}

static void processes_that_spin_read_what_was_posted(void **state)
{
    (void)state;
    play_in_processes(2, 1000, SK_WAIT_SPIN);
    play_in_processes(3, 300, SK_WAIT_SPIN);
}

static void processes_that_yield_read_what_was_posted(void **state)
{
    (void)state;
    play_in_processes(2, 1000, SK_WAIT_YIELD);
    play_in_processes(16, 300, SK_WAIT_YIELD);
}

static void processes_that_sleep_read_what_was_posted(void **state)
{
    (void)state;
    play_in_processes(2, 1000, SK_WAIT_SLEEP);
    play_in_processes(7, 500, SK_WAIT_SLEEP);
}

/* ---- what is left ---- */

static int entries(const char *dir, const char *part)
{
    int n = 0;
    DIR *d = opendir(dir);
    for (struct dirent *e; d && (e = readdir(d));)
        n += strstr(e->d_name, part) != NULL;
    if (d)
        closedir(d);
    return n;
}

/* Mappings of this process's that are segments. */
static int mapped(void)
{
    char line[512];
    int n = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    assert_non_null(maps);
    while (fgets(line, sizeof line, maps))
        n += strstr(line, "memfd:skein") != NULL;
    fclose(maps);
    return n;
}

/* In the middle: a local rank has come through this many epochs. */
static void await_epochs(const family *f, uint64_t epochs)
{
    void *mem;
    assert_int_equal(sk_segment_map(&f->note, f->bytes, &mem), SK_OK);
    sk_shm *watcher = sk_shm_new(mem, f->bytes, f->p->n, 0);
    assert_non_null(watcher);
    sk_shm_set_waiting(watcher, (sk_waiting){.mode = SK_WAIT_YIELD});
    for (uint64_t i = 0; i < epochs; i++)
        sk_shm_epoch(watcher, 0, false, false);
    sk_shm_quiesce(watcher, (uint32_t)epochs - 1);
    sk_shm_free(watcher);
}

/* Not one of the others ends by itself: each waits for the one that is gone. */
static void local_ranks_wait(const family *f, int killed)
{
    usleep(20000);
    for (int i = 0; i < f->p->n; i++)
        if (i != killed)
            assert_int_equal(waitpid(f->child[i], NULL, WNOHANG), 0);
}

static void a_killed_local_rank_leaves_nothing_behind(void **state)
{
    (void)state;
    int fds = entries("/proc/self/fd", ""), shm = entries("/dev/shm", "skein");
    assert_int_equal(mapped(), 0);
    for (int round = 0; round < 3; round++) {
        play p = {.n = 3, .epochs = 100000000, .seed = 5, .mode = (sk_wait_mode)round};
        family f = family_new(&p);
        assert_int_equal(mapped(), 1);
        await_epochs(&f, 20);
        kill(f.child[round], SIGKILL);
        int status;
        assert_int_equal(waitpid(f.child[round], &status, 0), f.child[round]);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        local_ranks_wait(&f, round);
        for (int i = 0; i < p.n; i++) /* as the launcher does */
            if (i != round) {
                kill(f.child[i], SIGKILL);
                waitpid(f.child[i], NULL, 0);
            }
        sk_shm *b = sk_shm_new(f.mem, f.bytes, p.n, 0);
        assert_non_null(b);
        sk_segment_close(&f.note);
        sk_shm_free(b);
        assert_int_equal(mapped(), 0);
        assert_int_equal(entries("/proc/self/fd", ""), fds);
        assert_int_equal(entries("/dev/shm", "skein"), shm);
    }
}

static void many_segments_come_and_go(void **state)
{
    (void)state;
    int fds = entries("/proc/self/fd", "");
    int64_t slot_bytes;
    size_t bytes = sk_shm_bytes(16, INT64_MAX, &slot_bytes);
    for (int i = 0; i < 2000; i++) {
        sk_segment_handle note;
        void *mem[2];
        assert_int_equal(sk_segment_make(bytes, &mem[0], &note), SK_OK);
        assert_int_equal(sk_segment_map(&note, bytes, &mem[1]), SK_OK);
        sk_segment_close(&note);
        for (int k = 0; k < 2; k++)
            sk_shm_free(sk_shm_new(mem[k], bytes, 16, k));
    }
    assert_int_equal(mapped(), 0);
    assert_int_equal(entries("/proc/self/fd", ""), fds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(processes_that_spin_read_what_was_posted),
        cmocka_unit_test(processes_that_yield_read_what_was_posted),
        cmocka_unit_test(processes_that_sleep_read_what_was_posted),
        cmocka_unit_test(a_killed_local_rank_leaves_nothing_behind),
        cmocka_unit_test(many_segments_come_and_go),
    };
    return RUN(tests);
}
