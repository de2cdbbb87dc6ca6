/* play.h: local ranks play epochs drawn from a seed, and check all that they read. Every
 * local rank draws the same epochs; each lags at times of its own, so any of them may be ahead. What is
 * read is checked again just before the epoch is passed: until then nobody may use its slots again.
 */
#ifndef PLAY_H
#define PLAY_H

#include <stdio.h>
#include <unistd.h>

#include "shm/cma.h"
#include "shm/epochs.h"
#include "shm/words.h"

typedef struct play {
    int n, epochs;
    uint64_t seed;
    sk_wait_mode mode;
} play;

typedef enum play_kind {
    PLAY_SOME,   /* some local ranks post, some read from some of those */
    PLAY_MEET,   /* all post, all await all */
    PLAY_COMMON, /* the same, with a part of the common slot each */
    PLAY_JOIN,   /* the last to post fills the common slot for all */
    PLAY_EXPORT, /* some post where a buffer of theirs lies, and reuse it when that is quiesced */
    PLAY_KINDS
} play_kind;

typedef struct play_epoch {
    play_kind kind;
    int64_t slot_bytes;
    uint64_t posters;
    bool together; /* though not all post */
} play_epoch;

enum { PLAY_BUFFER = 3000, PLAY_READS = 3, PLAY_LAGS = 32, PLAY_LAG_US = 300 };

typedef struct player {
    const play *p;
    sk_shm *b;
    int me, errors;
    int64_t epoch, first, placed; /* over all collectives: under way, of this collective, known */
    char buffer[2][PLAY_BUFFER];
} player;

/* ---- what is played ---- */

static inline play_epoch play_epoch_of(const player *y, int64_t epoch)
{
    static const int64_t slots[] = {48,  48,   48,   48,    256,    256,
                                    256, 2048, 2048, 16384, 131072, 524288};
    const play *p = y->p;
    int64_t most = slots[words_draw(p->seed, epoch, 1) % (sizeof slots / sizeof slots[0])];
    uint64_t slot_bytes = words_draw(p->seed, epoch, 2), everyone = UINT64_MAX >> (64 - p->n);
    play_epoch t = {.kind = (play_kind)(words_draw(p->seed, epoch, 3) % PLAY_KINDS)};
    if (most > sk_shm_slot_bytes(y->b))
        most = sk_shm_slot_bytes(y->b);
    t.slot_bytes = slot_bytes % 3 == 0 ? most : (int64_t)(slot_bytes % (uint64_t)(most + 1));
    if (t.kind == PLAY_EXPORT)
        t.slot_bytes = (int64_t)sizeof(sk_export_handle);
    t.posters = everyone;
    if (t.kind == PLAY_SOME || t.kind == PLAY_EXPORT)
        t.posters &= words_draw(p->seed, epoch, 4);
    t.together = words_draw(p->seed, epoch, 5) % 2;
    return t;
}

static inline bool play_all(const play_epoch *t)
{
    return t->kind != PLAY_SOME && t->kind != PLAY_EXPORT;
}

static inline void play_lag(const player *y, int64_t salt)
{
    uint64_t draw = words_draw(y->p->seed, y->epoch, 1000 * (y->me + 1) + salt);
    if (draw % PLAY_LAGS == 0)
        usleep((useconds_t)(draw / PLAY_LAGS % PLAY_LAG_US));
}

/* ---- playing it ---- */

static inline void play_check(player *y, bool good, int local_rank, const char *what)
{
    if (!good && y->errors++ == 0)
        fprintf(stderr, "local rank %d of %d, epoch %lld: wrong %s of local rank %d\n", y->me,
                y->p->n, (long long)y->epoch, what, local_rank);
}

/* The number of an epoch in its collective. Epochs get their place as late as that is possible. */
static inline uint32_t play_place(player *y, int64_t epoch)
{
    for (; y->placed <= epoch; y->placed++) {
        play_epoch t = play_epoch_of(y, y->placed);
        sk_shm_epoch(y->b, t.slot_bytes, play_all(&t), play_all(&t) || t.together);
    }
    return (uint32_t)(epoch - y->first);
}

static inline void play_fill(player *y, int64_t epoch)
{
    play_epoch t = play_epoch_of(y, epoch);
    if (!(t.posters >> y->me & 1))
        return;
    uint32_t k = play_place(y, epoch);
    int64_t part = t.slot_bytes / y->p->n;
    sk_shm_open(y->b, k);
    char *slot = sk_shm_slot(y->b, k, y->me);
    if (t.kind == PLAY_EXPORT) {
        sk_export_handle here = sk_cma_export(y->buffer[epoch % 2]);
        words_write(y->buffer[epoch % 2], PLAY_BUFFER, y->me, epoch);
        memcpy(slot, &here, sizeof here);
    } else
        words_write(slot, t.slot_bytes, y->me, epoch);
    if (t.kind == PLAY_COMMON)
        words_write((char *)sk_shm_slot(y->b, k, y->p->n) + y->me * part, part, y->me, epoch);
    play_lag(y, 1);
    sk_shm_post(y->b, k);
}

/* What a local rank has posted is what it should be. */
static inline void play_look(player *y, const play_epoch *t, uint32_t k, int local_rank)
{
    const char *slot = sk_shm_slot(y->b, k, local_rank);
    if (t->kind != PLAY_EXPORT) {
        play_check(y, words_same(slot, t->slot_bytes, local_rank, y->epoch), local_rank, "slot");
        return;
    }
    char copy[PLAY_BUFFER];
    sk_export_handle there;
    memcpy(&there, slot, sizeof there);
    if (there.pid == (int32_t)getpid())
        memcpy(copy, (const void *)(uintptr_t)there.address, sizeof copy);
    else if (sk_cma_read(there, 0, copy, sizeof copy) != SK_OK)
        return; /* the kernel does not let us */
    play_check(y, words_same(copy, sizeof copy, local_rank, y->epoch), local_rank, "buffer");
}

/* The local rank that a read goes to, or -1. */
static inline int play_source(const player *y, const play_epoch *t, int read)
{
    uint64_t draw = words_draw(y->p->seed, y->epoch, 100 * (y->me + 1) + read);
    int local_rank = (int)(draw % (unsigned)y->p->n);
    return draw >> 32 & 1 && t->posters >> local_rank & 1 ? local_rank : -1;
}

static inline void play_read_some(player *y, const play_epoch *t)
{
    for (int i = 0; i < PLAY_READS; i++) {
        int local_rank = play_source(y, t, i), end = local_rank;
        if (local_rank < 0)
            continue;
        uint32_t k = play_place(y, y->epoch);
        if (i == 0) {
            play_check(y, sk_shm_await(y->b, k, local_rank), local_rank, "signature");
        } else { /* and all who post beside it */
            while (end < y->p->n && t->posters >> end & 1)
                end++;
            play_check(y, sk_shm_await_range(y->b, k, local_rank, end), local_rank, "signature");
            play_look(y, t, k, end - 1);
        }
        play_look(y, t, k, local_rank);
    }
}

static inline void play_read_common(player *y, const play_epoch *t, uint32_t k)
{
    int64_t part = t->slot_bytes / y->p->n;
    const char *common = sk_shm_slot(y->b, k, y->p->n);
    for (int i = 0; i < y->p->n; i++)
        play_check(y, words_same(common + i * part, part, i, y->epoch), i, "part");
}

static inline void play_join(player *y, const play_epoch *t, uint32_t k)
{
    int n = y->p->n;
    char *common = sk_shm_slot(y->b, k, n);
    if (!sk_shm_cores_shared(y->b)) {
        play_check(y, sk_shm_await_range(y->b, k, 0, n), n, "signature");
        return;
    }
    if (sk_shm_was_last(y->b, k)) {
        for (int i = 0; i < n; i++) /* that all are there it knows without another look */
            play_look(y, t, k, i);
        words_write(common, t->slot_bytes, n, y->epoch);
        sk_shm_announce(y->b, k);
    } else
        sk_shm_await_result(y->b, k);
    play_check(y, words_same(common, t->slot_bytes, n, y->epoch), n, "result");
}

static inline void play_read(player *y, const play_epoch *t)
{
    if (!play_all(t)) {
        play_read_some(y, t);
        return;
    }
    uint32_t k = play_place(y, y->epoch);
    if (t->kind == PLAY_JOIN)
        play_join(y, t, k);
    else
        play_check(y, sk_shm_await_range(y->b, k, 0, y->p->n), y->p->n, "signature");
    if (t->kind == PLAY_COMMON)
        play_read_common(y, t, k);
    /* A join is announced, so that only who was last has the others' slots before it. */
    if (t->kind != PLAY_JOIN || !sk_shm_cores_shared(y->b))
        for (int i = 0; i < y->p->n; i++)
            if (t->slot_bytes <= 2048 || play_source(y, t, i) >= 0)
                play_look(y, t, k, i);
}

static inline void play_empty(player *y)
{
    play_epoch t = play_epoch_of(y, y->epoch);
    play_read(y, &t);
    play_lag(y, 2);
    int local_rank = play_source(y, &t, 0);
    if (local_rank >= 0 && (t.kind != PLAY_JOIN || !sk_shm_cores_shared(y->b)))
        play_look(y, &t, play_place(y, y->epoch), local_rank);
    uint32_t k = play_place(y, y->epoch);
    sk_shm_release(y->b, k + 1);
    if (t.kind == PLAY_EXPORT && t.posters >> y->me & 1) {
        sk_shm_quiesce(y->b, k);
        memset(y->buffer[y->epoch % 2], 0xee, PLAY_BUFFER);
    }
}

/* All of it, as one local rank; how much was wrong. Every other collective is a pipeline: an epoch is
 * filled before the one before it is emptied. */
static inline int play_local_rank(sk_shm *b, const play *p, int me)
{
    player y = {.p = p, .b = b, .me = me};
    sk_shm_set_waiting(b, (sk_waiting){.mode = p->mode});
    while (y.epoch < p->epochs) {
        int64_t end = y.epoch + 1 + (int64_t)(words_draw(p->seed, y.epoch, 5) % 100);
        bool pipeline = words_draw(p->seed, y.epoch, 6) & 1;
        sk_shm_begin(b, 0);
        y.first = y.placed = y.epoch;
        if (pipeline)
            play_fill(&y, y.epoch);
        for (; y.epoch < end; y.epoch++) {
            if (!pipeline)
                play_fill(&y, y.epoch);
            else if (y.epoch + 1 < end)
                play_fill(&y, y.epoch + 1);
            play_empty(&y);
        }
    }
    return y.errors;
}

#endif
