/* stress.c [SECONDS]: two processes exchange turns as fast as they can and check every word, in
 * bays that come with their bell and in bays on lines of their own. On machines that order memory
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

typedef enum shape {
    BOTH,    /* both publish and read: in step */
    ONE_WAY, /* one publishes as far ahead as it may, the other reads */
    JOIN,    /* the last fills the common bay for both */
    SHAPES
} shape;

typedef struct trial {
    const char *name;
    shape shape;
    sk_pause_mode mode;
    int64_t room;
} trial;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The first word says whether this is the last turn; mate 0 decides. */
static void put(sk_board *b, const trial *c, int64_t turn, int mate, bool end)
{
    char *bay = sk_board_bay(b, 0, mate);
    uint64_t word = end;
    memcpy(bay, &word, sizeof word);
    words_write(bay + sizeof word, c->room - (int64_t)sizeof word, mate, turn);
}

static bool get(sk_board *b, const trial *c, int64_t turn, int mate, bool *end)
{
    const char *bay = sk_board_bay(b, 0, mate);
    uint64_t word;
    memcpy(&word, bay, sizeof word);
    *end = word == 1;
    return word <= 1 && words_same(bay + sizeof word, c->room - (int64_t)sizeof word, mate, turn);
}

static bool publish(sk_board *b, const trial *c, int64_t turn, int me, double until)
{
    bool end = me == 0 && turn % 64 == 0 && now() > until;
    sk_board_open(b, 0);
    put(b, c, turn, me, end);
    sk_board_publish(b, 0);
    return end;
}

/* A turn, as one of the mates; false: something else was read than was written. */
static bool play_once(sk_board *b, const trial *c, int64_t turn, int me, double until, bool *end)
{
    bool ended = false, good = true;
    if (c->shape != ONE_WAY || me == 0)
        ended = publish(b, c, turn, me, until);
    if (c->shape == JOIN && !sk_board_was_last(b, 0)) {
        sk_board_await_result(b, 0);
        return get(b, c, turn, 2, end);
    }
    if (c->shape == JOIN || me == 1 || c->shape == BOTH) {
        good = sk_board_await(b, 0, 1 - me);
        good &= get(b, c, turn, 1 - me, end);
    }
    *end |= ended;
    if (c->shape == JOIN) {
        put(b, c, turn, 2, *end);
        sk_board_announce(b, 0);
    }
    return good;
}

static int64_t play_all(sk_board *b, const trial *c, int me, double until)
{
    bool good = true, end = false;
    int64_t turn = 0;
    sk_board_wait_as(b, (sk_pause){.mode = c->mode});
    for (; !end; turn++) {
        sk_board_begin(b, 0);
        sk_board_turn(b, c->room, c->shape != ONE_WAY, c->shape != ONE_WAY);
        good &= play_once(b, c, turn, me, until, &end);
        sk_board_pass(b, 1);
    }
    return good ? turn : -1;
}

static int64_t play_forked(const trial *c, double seconds)
{
    int64_t room, turns;
    sk_segment_note note;
    void *mem;
    size_t bytes = sk_board_bytes(2, INT64_MAX, &room);
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
    sk_board *b = sk_board_new(mem, bytes, 2, child == 0);
    turns = b ? play_all(b, c, child == 0, until) : -1;
    if (child == 0)
        _exit(turns < 0);
    int status = -1;
    waitpid(child, &status, 0);
    sk_segment_close(&note);
    sk_board_free(b);
    return status == 0 ? turns : -1;
}

int main(int argc, char **argv)
{
    static const trial trials[] = {
        {"both_spinning_in_the_line", BOTH, SK_PAUSE_SPIN, 48},
        {"both_spinning_beside_the_line", BOTH, SK_PAUSE_SPIN, 256},
        {"one_way_spinning_in_the_line", ONE_WAY, SK_PAUSE_SPIN, 48},
        {"one_way_spinning_beside_the_line", ONE_WAY, SK_PAUSE_SPIN, 256},
        {"both_yielding_in_the_line", BOTH, SK_PAUSE_YIELD, 48},
        {"one_way_sleeping_beside_the_line", ONE_WAY, SK_PAUSE_SLEEP, 256},
        {"both_sleeping_in_the_line", BOTH, SK_PAUSE_SLEEP, 48},
        {"join_yielding_in_the_line", JOIN, SK_PAUSE_YIELD, 48},
        {"join_sleeping_beside_the_line", JOIN, SK_PAUSE_SLEEP, 256},
    };
    enum { N = sizeof trials / sizeof trials[0] };
    double seconds = argc > 1 ? atof(argv[1]) : 4;
    int failed = 0;
    for (int i = 0; i < N; i++) {
        double start = now();
        int64_t turns = play_forked(&trials[i], seconds / N);
        if (turns < 0) {
            printf("FAIL stress_%s: read what was not written, or ended early\n", trials[i].name);
            failed = 1;
        } else
            printf("ok stress_%s (%lld turns, %.0f ns each)\n", trials[i].name, (long long)turns,
                   (now() - start) / (double)turns * 1e9);
    }
    return failed;
}
