/* play.h: the mates of a board play turns drawn from a seed, and check all that they read. Every
 * mate draws the same turns; each lags at times of its own, so any of them may be ahead. What is
 * read is checked again just before the turn is passed: until then nobody may use its bays again.
 */
#ifndef PLAY_H
#define PLAY_H

#include <stdio.h>
#include <unistd.h>

#include "shm/epochs.h"
#include "shm/cma.h"
#include "shm/words.h"

typedef struct play {
    int n, turns;
    uint64_t seed;
    sk_pause_mode mode;
} play;

typedef enum play_kind {
    PLAY_SOME,   /* some mates publish, some read from some of those */
    PLAY_MEET,   /* all publish, all await all */
    PLAY_COMMON, /* the same, with a part of the common bay each */
    PLAY_JOIN,   /* the last to publish fills the common bay for all */
    PLAY_EXPOSE, /* some publish where a buffer of theirs lies, and reuse it when that is settled */
    PLAY_KINDS
} play_kind;

typedef struct play_turn {
    play_kind kind;
    int64_t room;
    uint64_t publishers;
    bool together; /* though not all publish */
} play_turn;

enum { PLAY_BUFFER = 3000, PLAY_READS = 3, PLAY_LAGS = 32, PLAY_LAG_US = 300 };

typedef struct player {
    const play *p;
    sk_board *b;
    int me, errors;
    int64_t turn, first, placed; /* over all collectives: under way, of this collective, known */
    char buffer[2][PLAY_BUFFER];
} player;

/* ---- what is played ---- */

static inline play_turn play_turn_of(const player *y, int64_t turn)
{
    static const int64_t bays[] = {48,  48,   48,   48,    256,    256,
                                   256, 2048, 2048, 16384, 131072, 524288};
    const play *p = y->p;
    int64_t most = bays[words_draw(p->seed, turn, 1) % (sizeof bays / sizeof bays[0])];
    uint64_t room = words_draw(p->seed, turn, 2), everyone = UINT64_MAX >> (64 - p->n);
    play_turn t = {.kind = (play_kind)(words_draw(p->seed, turn, 3) % PLAY_KINDS)};
    if (most > sk_board_room(y->b))
        most = sk_board_room(y->b);
    t.room = room % 3 == 0 ? most : (int64_t)(room % (uint64_t)(most + 1));
    if (t.kind == PLAY_EXPOSE)
        t.room = (int64_t)sizeof(sk_peek_place);
    t.publishers = everyone;
    if (t.kind == PLAY_SOME || t.kind == PLAY_EXPOSE)
        t.publishers &= words_draw(p->seed, turn, 4);
    t.together = words_draw(p->seed, turn, 5) % 2;
    return t;
}

static inline bool play_all(const play_turn *t)
{
    return t->kind != PLAY_SOME && t->kind != PLAY_EXPOSE;
}

static inline void play_lag(const player *y, int64_t salt)
{
    uint64_t draw = words_draw(y->p->seed, y->turn, 1000 * (y->me + 1) + salt);
    if (draw % PLAY_LAGS == 0)
        usleep((useconds_t)(draw / PLAY_LAGS % PLAY_LAG_US));
}

/* ---- playing it ---- */

static inline void play_check(player *y, bool good, int mate, const char *what)
{
    if (!good && y->errors++ == 0)
        fprintf(stderr, "mate %d of %d, turn %lld: wrong %s of mate %d\n", y->me, y->p->n,
                (long long)y->turn, what, mate);
}

/* The number of a turn in its collective. Turns get their place as late as that is possible. */
static inline uint32_t play_place(player *y, int64_t turn)
{
    for (; y->placed <= turn; y->placed++) {
        play_turn t = play_turn_of(y, y->placed);
        sk_board_turn(y->b, t.room, play_all(&t), play_all(&t) || t.together);
    }
    return (uint32_t)(turn - y->first);
}

static inline void play_fill(player *y, int64_t turn)
{
    play_turn t = play_turn_of(y, turn);
    if (!(t.publishers >> y->me & 1))
        return;
    uint32_t k = play_place(y, turn);
    int64_t part = t.room / y->p->n;
    sk_board_open(y->b, k);
    char *bay = sk_board_bay(y->b, k, y->me);
    if (t.kind == PLAY_EXPOSE) {
        sk_peek_place here = sk_peek_here(y->buffer[turn % 2]);
        words_write(y->buffer[turn % 2], PLAY_BUFFER, y->me, turn);
        memcpy(bay, &here, sizeof here);
    } else
        words_write(bay, t.room, y->me, turn);
    if (t.kind == PLAY_COMMON)
        words_write((char *)sk_board_bay(y->b, k, y->p->n) + y->me * part, part, y->me, turn);
    play_lag(y, 1);
    sk_board_publish(y->b, k);
}

/* What a mate has published is what it should be. */
static inline void play_look(player *y, const play_turn *t, uint32_t k, int mate)
{
    const char *bay = sk_board_bay(y->b, k, mate);
    if (t->kind != PLAY_EXPOSE) {
        play_check(y, words_same(bay, t->room, mate, y->turn), mate, "bay");
        return;
    }
    char copy[PLAY_BUFFER];
    sk_peek_place there;
    memcpy(&there, bay, sizeof there);
    if (there.pid == (int32_t)getpid())
        memcpy(copy, (const void *)(uintptr_t)there.at, sizeof copy);
    else if (sk_peek(there, 0, copy, sizeof copy) != SK_OK)
        return; /* the kernel does not let us */
    play_check(y, words_same(copy, sizeof copy, mate, y->turn), mate, "buffer");
}

/* The mate that a read goes to, or -1. */
static inline int play_source(const player *y, const play_turn *t, int read)
{
    uint64_t draw = words_draw(y->p->seed, y->turn, 100 * (y->me + 1) + read);
    int mate = (int)(draw % (unsigned)y->p->n);
    return draw >> 32 & 1 && t->publishers >> mate & 1 ? mate : -1;
}

static inline void play_read_some(player *y, const play_turn *t)
{
    for (int i = 0; i < PLAY_READS; i++) {
        int mate = play_source(y, t, i), end = mate;
        if (mate < 0)
            continue;
        uint32_t k = play_place(y, y->turn);
        if (i == 0) {
            play_check(y, sk_board_await(y->b, k, mate), mate, "sign");
        } else { /* and all who publish beside it */
            while (end < y->p->n && t->publishers >> end & 1)
                end++;
            play_check(y, sk_board_await_range(y->b, k, mate, end), mate, "sign");
            play_look(y, t, k, end - 1);
        }
        play_look(y, t, k, mate);
    }
}

static inline void play_read_common(player *y, const play_turn *t, uint32_t k)
{
    int64_t part = t->room / y->p->n;
    const char *common = sk_board_bay(y->b, k, y->p->n);
    for (int i = 0; i < y->p->n; i++)
        play_check(y, words_same(common + i * part, part, i, y->turn), i, "part");
}

static inline void play_join(player *y, const play_turn *t, uint32_t k)
{
    int n = y->p->n;
    char *common = sk_board_bay(y->b, k, n);
    if (!sk_board_crowded(y->b)) {
        play_check(y, sk_board_await_range(y->b, k, 0, n), n, "sign");
        return;
    }
    if (sk_board_was_last(y->b, k)) {
        for (int i = 0; i < n; i++) /* that all are there it knows without another look */
            play_look(y, t, k, i);
        words_write(common, t->room, n, y->turn);
        sk_board_announce(y->b, k);
    } else
        sk_board_await_result(y->b, k);
    play_check(y, words_same(common, t->room, n, y->turn), n, "result");
}

static inline void play_read(player *y, const play_turn *t)
{
    if (!play_all(t)) {
        play_read_some(y, t);
        return;
    }
    uint32_t k = play_place(y, y->turn);
    if (t->kind == PLAY_JOIN)
        play_join(y, t, k);
    else
        play_check(y, sk_board_await_range(y->b, k, 0, y->p->n), y->p->n, "sign");
    if (t->kind == PLAY_COMMON)
        play_read_common(y, t, k);
    /* A join is announced, so that only who was last has the others' bays before it. */
    if (t->kind != PLAY_JOIN || !sk_board_crowded(y->b))
        for (int i = 0; i < y->p->n; i++)
            if (t->room <= 2048 || play_source(y, t, i) >= 0)
                play_look(y, t, k, i);
}

static inline void play_empty(player *y)
{
    play_turn t = play_turn_of(y, y->turn);
    play_read(y, &t);
    play_lag(y, 2);
    int mate = play_source(y, &t, 0);
    if (mate >= 0 && (t.kind != PLAY_JOIN || !sk_board_crowded(y->b)))
        play_look(y, &t, play_place(y, y->turn), mate);
    uint32_t k = play_place(y, y->turn);
    sk_board_pass(y->b, k + 1);
    if (t.kind == PLAY_EXPOSE && t.publishers >> y->me & 1) {
        sk_board_settle(y->b, k);
        memset(y->buffer[y->turn % 2], 0xee, PLAY_BUFFER);
    }
}

/* All of it, as one mate; how much was wrong. Every other collective is a pipeline: a turn is
 * filled before the one before it is emptied. */
static inline int play_mate(sk_board *b, const play *p, int me)
{
    player y = {.p = p, .b = b, .me = me};
    sk_board_wait_as(b, (sk_pause){.mode = p->mode});
    while (y.turn < p->turns) {
        int64_t end = y.turn + 1 + (int64_t)(words_draw(p->seed, y.turn, 5) % 100);
        bool pipeline = words_draw(p->seed, y.turn, 6) & 1;
        sk_board_begin(b, 0);
        y.first = y.placed = y.turn;
        if (pipeline)
            play_fill(&y, y.turn);
        for (; y.turn < end; y.turn++) {
            if (!pipeline)
                play_fill(&y, y.turn);
            else if (y.turn + 1 < end)
                play_fill(&y, y.turn + 1);
            play_empty(&y);
        }
    }
    return y.errors;
}

#endif
