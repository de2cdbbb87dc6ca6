/* Messages between local ranks: in one thread, where one message at a time can be over
 * before its receiver comes, and local ranks that are threads. */
#include "unit.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "shm/fifo.h"
#include "shm/words.h"

enum { LOCAL_RANKS = 5, MOST = 300000, SHORT = 4096, LONG = 800000 };
#if defined(__SANITIZE_THREAD__)
enum { ROUNDS = 12 };
#else
enum { ROUNDS = 60 };
#endif

typedef struct team {
    void *mem;
    sk_fifos *x[LOCAL_RANKS];
    int n;
} team;

static team team_new(int n, int64_t chunk)
{
    size_t bytes = (sk_fifos_bytes(n, chunk) + 63) / 64 * 64;
    team t = {.mem = aligned_alloc(64, bytes), .n = n};
    assert_non_null(t.mem);
    memset(t.mem, 0, bytes);
    for (int i = 0; i < n; i++) {
        t.x[i] = sk_fifos_new(t.mem, n, i, chunk);
        assert_non_null(t.x[i]);
    }
    return t;
}

static void team_free(team *t)
{
    for (int i = 0; i < t->n; i++)
        sk_fifos_free(t->x[i]);
    free(t->mem);
}

/* ---- in one thread ---- */

static void a_message_that_fits_into_the_stock_need_not_be_received_yet(void **state)
{
    (void)state;
    team t = team_new(2, SHORT);
    char in[3 * SHORT + 5], out[3 * SHORT + 5];
    for (int k = 0; k < 100; k++) {
        int64_t len = 1 + k * (int64_t)(sizeof in - 1) / 99;
        words_write(in, len, k % 2, k);
        sk_fifos_send(t.x[k % 2], 1 - k % 2, in, len);
        assert_true(sk_fifos_finish(t.x[k % 2], &(sk_waiting){0}));
        memset(out, 0, sizeof out);
        sk_fifos_recv(t.x[1 - k % 2], k % 2, out, len);
        assert_true(sk_fifos_finish(t.x[1 - k % 2], &(sk_waiting){0}));
        assert_memory_equal(in, out, len);
        if (len < (int64_t)sizeof out)
            assert_int_equal(out[len], 0);
    }
    team_free(&t);
}

/* The next ones are not harmed. */
static void a_message_of_another_length_is_told(void **state)
{
    (void)state;
    enum { TRIES = 5 };
    static const int64_t sent[TRIES] = {100, 8000, 8000, 4097, 12000},
                         wanted[TRIES] = {101, 7999, 50, 12000, 4096};
    for (int i = 0; i < TRIES; i++) {
        team t = team_new(2, SHORT);
        char in[12000], out[12001];
        for (int k = 0; k < 2; k++) {
            int64_t capacity = k == 0 ? wanted[i] : sent[i],
                    len = capacity < sent[i] ? capacity : sent[i];
            words_write(in, sent[i], 0, k);
            memset(out, 0, sizeof out);
            sk_fifos_send(t.x[0], 1, in, sent[i]);
            assert_true(sk_fifos_finish(t.x[0], &(sk_waiting){0}));
            sk_fifos_recv(t.x[1], 0, out, capacity);
            assert_int_equal(sk_fifos_finish(t.x[1], &(sk_waiting){0}), k == 1);
            assert_memory_equal(in, out, len);
            assert_int_equal(out[len], 0);
        }
        team_free(&t);
    }
}

static void chunks_may_be_as_short_as_a_cache_line(void **state)
{
    (void)state;
    for (int n = 1; n <= 300; n *= 7)
        for (int64_t most = 64; most < 1 << 20; most *= 4)
            assert_true(sk_fifos_bytes(n, most) <= sk_fifos_bytes(n, 4 * most));
    team t = team_new(2, 64);
    char in[1000], out[1000];
    words_write(in, sizeof in, 0, 0);
    sk_fifos_send(t.x[0], 1, in, sizeof in);
    assert_true(sk_fifos_finish(t.x[0], &(sk_waiting){0}));
    sk_fifos_recv(t.x[1], 0, out, sizeof in);
    assert_true(sk_fifos_finish(t.x[1], &(sk_waiting){0}));
    assert_memory_equal(in, out, sizeof in);
    team_free(&t);
}

/* While the sender waits its local rank comes, and gets all at once: of chunks it would get some, and
 * wait for ever. */
static struct {
    team t;
    char *out;
    int64_t capacity;
    int came;
    bool good;
} late;

static void come_late(void)
{
    if (late.came++)
        return;
    sk_fifos_recv(late.t.x[1], 0, late.out, late.capacity);
    late.good = sk_fifos_finish(late.t.x[1], &(sk_waiting){0});
}

static void long_messages_are_read_in_place(void **state)
{
    (void)state;
    char *in = malloc(3 * (size_t)LONG);
    late.out = malloc(3 * (size_t)LONG);
    assert_true(in && late.out);
    for (int mode = SK_WAIT_SPIN; mode <= SK_WAIT_SLEEP; mode++)
        for (int wrong = 0; wrong < 2; wrong++) {
            int64_t len = 3 * LONG;
            late.t = team_new(2, MOST);
            late.capacity = wrong ? len - 1 : len;
            late.came = 0;
            words_write(in, len, mode, wrong);
            sk_fifos_enable_cma(late.t.x[0], LONG);
            sk_fifos_send(late.t.x[0], 1, in, len);
            assert_true(sk_fifos_finish(
                late.t.x[0], &(sk_waiting){.mode = (sk_wait_mode)mode, .idle = come_late}));
            assert_true(late.came > 0);
            assert_int_equal(late.good, !wrong);
            assert_memory_equal(in, late.out, late.capacity);
            team_free(&late.t);
        }
    free(in);
    free(late.out);
}

/* The sender copies something else meanwhile. */
static void long_messages_are_read_before_the_sender_waits(void **state)
{
    (void)state;
    char in[2 * SHORT], out[2 * SHORT];
    team t = team_new(2, SHORT);
    words_write(in, sizeof in, 0, 0);
    sk_fifos_enable_cma(t.x[0], SHORT);
    sk_fifos_send(t.x[0], 1, in, sizeof in);
    sk_fifos_recv(t.x[1], 0, out, sizeof out);
    assert_true(sk_fifos_move(t.x[1], &(sk_waiting){0}));
    assert_memory_equal(in, out, sizeof in);
    assert_true(sk_fifos_finish(t.x[0], &(sk_waiting){0}));
    team_free(&t);
}

/* ---- in threads ---- */

typedef struct local_rank {
    sk_fifos *x;
    sk_waiting waiting;
    bool one_sends;
    int n, me, errors;
    uint64_t seed;
    pthread_t thread;
} local_rank;

/* The length of a message, the same at both ends; 0: there is none. */
static int64_t length(const local_rank *m, int from, int to, int round)
{
    uint64_t draw = words_draw(m->seed, round, 100 * from + to);
    if (from == to || draw % 3 == 0 || (m->one_sends && from > 0))
        return 0;
    return 1 + (int64_t)((draw >> 8) % (draw % 3 == 1 ? SHORT : m->one_sends ? LONG : MOST));
}

/* Everybody with everybody, some with nobody. */
static void *play(void *arg)
{
    local_rank *m = arg;
    char *in = malloc((size_t)LOCAL_RANKS * LONG), *out = malloc((size_t)LOCAL_RANKS * LONG);
    for (int round = 0; round < ROUNDS && in && out; round++) {
        for (int i = 0; i < m->n; i++) {
            int64_t give = length(m, m->me, i, round), get = length(m, i, m->me, round);
            words_write(in + (size_t)i * LONG, give, m->me, 100 * round + i);
            if (get)
                sk_fifos_recv(m->x, i, out + (size_t)i * LONG, get);
            if (give)
                sk_fifos_send(m->x, i, in + (size_t)i * LONG, give);
        }
        m->errors += !sk_fifos_finish(m->x, &m->waiting);
        for (int i = 0; i < m->n; i++)
            m->errors += !words_same(out + (size_t)i * LONG, length(m, i, m->me, round), i,
                                     100 * round + m->me);
    }
    m->errors += !in || !out;
    free(in);
    free(out);
    return NULL;
}

static void play_as(sk_wait_mode mode, bool one_sends)
{
    for (int n = 2; n <= LOCAL_RANKS; n++) {
        team t = team_new(n, n % 2 ? SHORT : MOST);
        local_rank m[LOCAL_RANKS];
        for (int i = 0; i < n; i++) {
            if (one_sends)
                sk_fifos_enable_cma(t.x[i], LONG / 4);
            m[i] = (local_rank){.x = t.x[i],
                                .waiting = {.mode = mode},
                                .one_sends = one_sends,
                                .n = n,
                                .me = i,
                                .seed = 7 * (unsigned)n + (unsigned)mode};
            assert_int_equal(pthread_create(&m[i].thread, NULL, play, &m[i]), 0);
        }
        int errors = 0;
        for (int i = 0; i < n; i++) {
            pthread_join(m[i].thread, NULL);
            errors += m[i].errors;
        }
        assert_int_equal(errors, 0);
        team_free(&t);
    }
}

static void threads_that_spin_get_their_messages(void **state)
{
    (void)state;
    play_as(SK_WAIT_SPIN, false);
}

static void threads_that_yield_get_their_messages(void **state)
{
    (void)state;
    play_as(SK_WAIT_YIELD, false);
}

static void threads_that_sleep_get_their_messages(void **state)
{
    (void)state;
    play_as(SK_WAIT_SLEEP, false);
}

/* Some of it in chunks, some in place. */
static void threads_read_what_one_of_them_sends(void **state)
{
    (void)state;
    play_as(SK_WAIT_MIXED, true);
    play_as(SK_WAIT_SLEEP, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_message_that_fits_into_the_stock_need_not_be_received_yet),
        cmocka_unit_test(a_message_of_another_length_is_told),
        cmocka_unit_test(chunks_may_be_as_short_as_a_cache_line),
        cmocka_unit_test(long_messages_are_read_in_place),
        cmocka_unit_test(long_messages_are_read_before_the_sender_waits),
        cmocka_unit_test(threads_that_spin_get_their_messages),
        cmocka_unit_test(threads_that_yield_get_their_messages),
        cmocka_unit_test(threads_that_sleep_get_their_messages),
        cmocka_unit_test(threads_read_what_one_of_them_sends),
    };
    return RUN(tests);
}
