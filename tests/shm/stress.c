/* stress.c [SECONDS]: two processes exchange epochs as fast as they can and check every word, in
 * slots in the line of their flag and in slots on lines of their own. On machines that order memory
 * weakly, this is where an order that is missing shows. One line per case, with the rate. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "shm/epochs.h"
#include "shm/words.h"
#include "tap.h"

typedef enum shape {
    BOTH,    /* both post and read: in step */
    ONE_WAY, /* one posts as far ahead as it may, the other reads */
    JOIN,    /* the last fills the common slot for both */
    SHAPES
} shape;

typedef struct trial {
    const char *name;
    shape shape;
    sk_wait_mode mode;
    int64_t slot_bytes;
} trial;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The first word says whether this is the last epoch; local rank 0 decides. */
static void put(sk_shm *b, const trial *c, int64_t epoch, int local_rank, bool end)
{
    char *slot = sk_shm_slot(b, 0, local_rank);
    uint64_t word = end;
    memcpy(slot, &word, sizeof word);
    words_write(slot + sizeof word, c->slot_bytes - (int64_t)sizeof word, local_rank, epoch);
}

static bool get(sk_shm *b, const trial *c, int64_t epoch, int local_rank, bool *end)
{
    const char *slot = sk_shm_slot(b, 0, local_rank);
    uint64_t word;
    memcpy(&word, slot, sizeof word);
    *end = word == 1;
    return word <= 1 &&
           words_same(slot + sizeof word, c->slot_bytes - (int64_t)sizeof word, local_rank, epoch);
}

static bool post(sk_shm *b, const trial *c, int64_t epoch, int me, double until)
{
    bool end = me == 0 && epoch % 64 == 0 && now() > until;
    sk_shm_open(b, 0);
    put(b, c, epoch, me, end);
    sk_shm_post(b, 0);
    return end;
}

/* An epoch, as one of the local ranks; false: something else was read than was written. */
static bool play_once(sk_shm *b, const trial *c, int64_t epoch, int me, double until, bool *end)
{
    bool ended = false, good = true;
    if (c->shape != ONE_WAY || me == 0)
        ended = post(b, c, epoch, me, until);
    if (c->shape == JOIN && !sk_shm_was_last(b, 0)) {
        sk_shm_await_result(b, 0);
        return get(b, c, epoch, 2, end);
    }
    if (c->shape == JOIN || me == 1 || c->shape == BOTH) {
        good = sk_shm_await(b, 0, 1 - me);
        good &= get(b, c, epoch, 1 - me, end);
    }
    *end |= ended;
    if (c->shape == JOIN) {
        put(b, c, epoch, 2, *end);
        sk_shm_announce(b, 0);
    }
    return good;
}

static int64_t play_all(sk_shm *b, const trial *c, int me, double until)
{
    bool good = true, end = false;
    int64_t epoch = 0;
    sk_shm_set_waiting(b, (sk_waiting){.mode = c->mode});
    for (; !end; epoch++) {
        sk_shm_begin(b, 0);
        sk_shm_epoch(b, c->slot_bytes, c->shape != ONE_WAY, c->shape != ONE_WAY);
        good &= play_once(b, c, epoch, me, until, &end);
        sk_shm_release(b, 1);
    }
    return good ? epoch : -1;
}

static int64_t play_forked(const trial *c, double seconds)
{
    int64_t slot_bytes, epochs;
    sk_segment_handle note;
    void *mem;
    size_t bytes = sk_shm_bytes(2, INT64_MAX, &slot_bytes);
    if (sk_segment_make(bytes, &mem, &note) != SK_OK)
        return -1;
    double until = now() + seconds;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (sk_segment_map(&note, bytes, &mem) != SK_OK)
            _exit(1);
    }
    sk_shm *b = sk_shm_new(mem, bytes, 2, child == 0);
    epochs = b ? play_all(b, c, child == 0, until) : -1;
    if (child == 0)
        _exit(epochs < 0);
    int status = -1;
    waitpid(child, &status, 0);
    sk_segment_close(&note);
    sk_shm_free(b);
    return status == 0 ? epochs : -1;
}

int main(int argc, char **argv)
{
    static const trial trials[] = {
        {"both_spinning_in_the_line", BOTH, SK_WAIT_SPIN, 48},
        {"both_spinning_beside_the_line", BOTH, SK_WAIT_SPIN, 256},
        {"one_way_spinning_in_the_line", ONE_WAY, SK_WAIT_SPIN, 48},
        {"one_way_spinning_beside_the_line", ONE_WAY, SK_WAIT_SPIN, 256},
        {"both_yielding_in_the_line", BOTH, SK_WAIT_YIELD, 48},
        {"one_way_sleeping_beside_the_line", ONE_WAY, SK_WAIT_SLEEP, 256},
        {"both_sleeping_in_the_line", BOTH, SK_WAIT_SLEEP, 48},
        {"join_yielding_in_the_line", JOIN, SK_WAIT_YIELD, 48},
        {"join_sleeping_beside_the_line", JOIN, SK_WAIT_SLEEP, 256},
    };
    enum { N = sizeof trials / sizeof trials[0] };
    double seconds = argc > 1 ? atof(argv[1]) : 4;
    for (int i = 0; i < N; i++) {
        double start = now();
        int64_t epochs = play_forked(&trials[i], seconds / N);
        if (epochs < 0) {
            printf("# read what was not written, or ended early\n");
            tap_ok(false, "stress_%s", trials[i].name);
        } else {
            printf("# %lld epochs, %.0f ns each\n", (long long)epochs,
                   (now() - start) / (double)epochs * 1e9);
            tap_ok(true, "stress_%s", trials[i].name);
        }
    }
    return tap_end();
}
