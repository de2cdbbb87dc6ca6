/* shm_inner.h: what the files of the board have in common: its memory, and what a process keeps
 * of it. */
#ifndef SK_SHM_INNER_H
#define SK_SHM_INNER_H

#include "shm/fifo.h"
#include "shm/shm.h"

enum {
    LINE = 64,
    INLINE = 48,
    NRINGS = 6,
    HOT_LINES = 128,
    LINES = SK_SHM_AHEAD + HOT_LINES,
    PLACES = 4, /* a collective uses two epochs at once */
};

/* ---- in shared memory ---- */

typedef struct line { /* announces an epoch; a small slot comes with it */
    _Alignas(LINE) sk_flag bell;
    char slot[INLINE];
} line;
_Static_assert(sizeof(line) == LINE, "a line is a cache line");

typedef struct count { /* of the local ranks that have posted an epoch, over all epochs it served */
    _Alignas(LINE) sk_flag bell;
} count;

typedef struct common { /* what local ranks have passed follows it, then the rings */
    char segment[SK_SEGMENT_HEAD];
    count arrived[HOT_LINES]; /* by line: of epochs that all post */
} common;

/* ---- of this process ---- */

typedef enum epoch_kind {
    AHEAD,    /* who posts may run ahead of the others */
    BY_ALL,   /* posted by all local ranks */
    TOGETHER, /* not by all, but nobody comes to it long before the others */
    KINDS
} epoch_kind;

typedef struct place { /* of one of the epochs that were given last */
    line *lines;       /* of local rank 0; those of the others follow */
    char *slots;       /* of local rank 0; those of the others follow, the common one last */
    int64_t step;      /* from one to the next */
    uint64_t arrived;  /* what its count is when all have posted it, if all do */
    uint32_t ring;     /* of its slots, which are these; ring 0: they are in the lines */
    uint32_t slot, line;
    epoch_kind kind;
    bool open; /* by this local rank */
    bool last; /* this local rank was the last to post it */
} place;

typedef struct ring {
    char *at;
    int64_t slot;      /* its bytes */
    int64_t step, row; /* from a slot to that of the next local rank, to those of another epoch */
    uint32_t first[KINDS], mask[KINDS]; /* slot: of those for each kind of epoch */
} ring;

struct sk_shm {
    void *mem;
    size_t bytes;
    count *released; /* epochs that each local rank has left behind */
    int n, me, nrings;
    sk_waiting waiting;
    uint32_t sign;        /* of the collective under way */
    uint64_t first, next; /* epochs: of the collective under way, and without a place yet */
    uint64_t known;       /* all local ranks are known to have passed this many */
    place epoch[PLACES];  /* counted from `first`, so that short collectives use the same ones */
    ring ring[NRINGS];
    uint64_t arrived[HOT_LINES];
    uint64_t user[NRINGS]
                 [LINES]; /* epoch that this local rank opened last with each slot, plus 1 */
    sk_fifos *fifos;
};

/* Wait until all local ranks have passed so many epochs. */
void sk_shm_await_released(sk_shm *b, uint64_t epochs);

/* The same, as a slot was last used so many epochs back and is wanted again now. */
void sk_shm_await_slot(sk_shm *b, uint64_t after, uint64_t now);

/* The slots of an epoch that do not fit into its lines. */
SK_HOT void sk_shm_place_slots(const sk_shm *b, place *p, uint64_t epoch, int64_t room);

#endif
