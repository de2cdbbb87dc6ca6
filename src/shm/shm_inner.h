/* board_inner.h: what the files of the board have in common: its memory, and what a process keeps
 * of it. */
#ifndef SK_BOARD_INNER_H
#define SK_BOARD_INNER_H

#include "shm/shm.h"
#include "shm/fifo.h"

enum {
    LINE = 64,
    INLINE = 48,
    NRINGS = 6,
    HOT_LINES = 128,
    LINES = SK_BOARD_AHEAD + HOT_LINES,
    PLACES = 4, /* a collective uses two turns at once */
};

/* ---- in shared memory ---- */

typedef struct line { /* announces a turn; a small bay comes with it */
    _Alignas(LINE) sk_bell bell;
    char bay[INLINE];
} line;
_Static_assert(sizeof(line) == LINE, "a line is a cache line");

typedef struct count { /* of the mates that have published a turn, over all turns it served */
    _Alignas(LINE) sk_bell bell;
} count;

typedef struct common { /* what mates have passed follows it, then the rings */
    char segment[SK_SEGMENT_HEAD];
    count arrived[HOT_LINES]; /* by line: of turns that all publish */
} common;

/* ---- of this process ---- */

typedef enum turn_kind {
    AHEAD,    /* who publishes may run ahead of the others */
    BY_ALL,   /* published by all mates */
    TOGETHER, /* not by all, but nobody comes to it long before the others */
    KINDS
} turn_kind;

typedef struct place { /* of one of the turns that were given last */
    line *lines;       /* of mate 0; those of the others follow */
    char *bays;        /* of mate 0; those of the others follow, the common one last */
    int64_t step;      /* from one to the next */
    uint64_t arrived;  /* what its count is when all have published it, if all do */
    uint32_t ring;     /* of its bays, which are these; ring 0: they are in the lines */
    uint32_t bay, line;
    turn_kind kind;
    bool open; /* by this mate */
    bool last; /* this mate was the last to publish it */
} place;

typedef struct ring {
    char *at;
    int64_t bay;       /* its bytes */
    int64_t step, row; /* from a bay to that of the next mate, to those of another turn */
    uint32_t first[KINDS], mask[KINDS]; /* bay: of those for each kind of turn */
} ring;

struct sk_board {
    void *mem;
    size_t bytes;
    count *passed; /* turns that each mate has left behind */
    int n, me, nrings;
    sk_pause pause;
    uint32_t sign;        /* of the collective under way */
    uint64_t first, next; /* turns: of the collective under way, and without a place yet */
    uint64_t known;       /* all mates are known to have passed this many */
    place turn[PLACES];   /* counted from `first`, so that short collectives use the same ones */
    ring ring[NRINGS];
    uint64_t arrived[HOT_LINES];
    uint64_t user[NRINGS][LINES]; /* turn that this mate opened last with each bay, plus 1 */
    sk_chutes *chutes;
};

/* Wait until all mates have passed so many turns. */
void sk_board_await_passed(sk_board *b, uint64_t turns);

/* The same, as a bay was last used so many turns back and is wanted again now. */
void sk_board_await_bay(sk_board *b, uint64_t after, uint64_t now);

/* The bays of a turn that do not fit into its lines. */
SK_HOT void sk_board_place_bays(const sk_board *b, place *p, uint64_t turn, int64_t room);

#endif
