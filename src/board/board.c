#include "board/board.h"

#include <stdlib.h>
#include <string.h>

enum {
    LINE = 64,
    PAGE = 4096,
    INLINE = 48,
    NRINGS = 6,
    HOT_LINES = 128,
    LINES = SK_BOARD_AHEAD + HOT_LINES,
    PLACES = 2 * SK_BOARD_AHEAD,
};

/* Bytes of a bay, from one to the next (some lines more, so that the starts of bays do not all fall
 * on the same lines of a cache), and how many of them. Ring 0 is inside the lines. The first `hot`
 * bays serve turns that all mates publish: all at once they fill a cache, so these few come back
 * soon; the others are for those who run ahead. */
static const struct {
    int64_t bay, step;
    int n, hot;
} rings[NRINGS] = {
    {INLINE, LINE, LINES, HOT_LINES},   {256, 256, LINES, HOT_LINES},
    {2048, 2048 + LINE, 64, 16},        {16384, 16384 + 3 * LINE, 64, 8},
    {131072, 131072 + 5 * LINE, 12, 3}, {524288, 524288 + 7 * LINE, 4, 2},
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

typedef struct place { /* of a turn that is not passed */
    line *lines;       /* of mate 0; those of the others follow */
    char *bays;        /* of mate 0; those of the others follow, the common one last */
    int64_t step;      /* from one to the next */
    uint64_t after;    /* it may be used when all mates have passed this many turns */
    sk_bell *count;    /* of the mates that have published it, if all do, */
    uint64_t arrived;  /* and what it is when they have */
    bool all;
    bool last; /* this mate was the last to publish it */
} place;

struct sk_board {
    void *mem;
    size_t bytes;
    count *passed; /* turns that each mate has left behind */
    int n, me, nrings;
    sk_pause pause;
    uint32_t sign;        /* of the collective under way */
    uint64_t first, next; /* turns: of the collective under way, and without a place yet */
    uint64_t known;       /* all mates are known to have passed this many */
    place turn[PLACES];
    uint64_t arrived[HOT_LINES];
    struct {
        char *at;
        int next[2];          /* bay: for those who run ahead, and for all */
        uint64_t user[LINES]; /* turn that each bay served last, plus 1 */
    } ring[NRINGS];
};

static size_t whole_pages(size_t bytes)
{
    return (bytes + PAGE - 1) / PAGE * PAGE;
}

/* What one reads in a turn stands together, mate after mate: few pages, in rising order. */
static size_t ring_bytes(int n, int ring)
{
    return whole_pages((size_t)(n + 1) * (size_t)rings[ring].step * (size_t)rings[ring].n);
}

static size_t head_bytes(int n)
{
    return whole_pages(sizeof(common) + (size_t)n * sizeof(count));
}

static size_t bytes_of(int n, int nrings)
{
    size_t bytes = head_bytes(n);
    for (int i = 0; i < nrings; i++)
        bytes += ring_bytes(n, i);
    return bytes;
}

size_t sk_board_bytes(int n, int64_t cap, int64_t *room)
{
    for (int nrings = NRINGS; nrings > 2; nrings--)
        if (bytes_of(n, nrings) <= (size_t)(cap > 0 ? cap : 0)) {
            *room = rings[nrings - 1].bay;
            return bytes_of(n, nrings);
        }
    *room = 0;
    return 0;
}

sk_board *sk_board_new(void *mem, size_t bytes, int n, int me)
{
    int nrings = NRINGS;
    while (nrings > 2 && bytes_of(n, nrings) != bytes)
        nrings--;
    sk_board *b = bytes_of(n, nrings) == bytes ? calloc(1, sizeof *b) : NULL;
    if (!b)
        return NULL;
    b->mem = mem;
    b->bytes = bytes;
    b->passed = (count *)((common *)mem + 1);
    b->n = n;
    b->me = me;
    b->nrings = nrings;
    char *at = (char *)mem + head_bytes(n);
    for (int i = 0; i < nrings; i++) {
        b->ring[i].at = at;
        at += ring_bytes(n, i);
    }
    return b;
}

void sk_board_wait_as(sk_board *b, sk_pause pause)
{
    b->pause = pause;
}

void sk_board_free(sk_board *b)
{
    if (!b)
        return;
    sk_segment_unmap(b->mem, b->bytes);
    free(b);
}

int64_t sk_board_room(const sk_board *b)
{
    return rings[b->nrings - 1].bay;
}

int sk_board_mates(const sk_board *b)
{
    return b->n;
}

int sk_board_me(const sk_board *b)
{
    return b->me;
}

static place *place_of(sk_board *b, uint32_t turn)
{
    return &b->turn[(b->first + turn) % PLACES];
}

static void reach(const sk_board *b, sk_bell *bell, uint64_t value)
{
    if (!sk_bell_reached(bell, value))
        sk_bell_wait(bell, value, &b->pause);
}

/* All mates have passed so many turns. Asked for in the order of turns, so that a look at all mates
 * lasts for many questions. */
static void await_passed(sk_board *b, uint64_t turns)
{
    if (b->known >= turns)
        return;
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < b->n; i++) {
        if (i == b->me)
            continue;
        sk_bell *bell = &b->passed[i].bell;
        reach(b, bell, turns);
        uint64_t seen = atomic_load_explicit(&bell->value, memory_order_acquire);
        least = seen < least ? seen : least;
    }
    b->known = least;
}

/* ---- turns ---- */

void sk_board_begin(sk_board *b, uint32_t sign)
{
    b->first = b->next;
    b->sign = sign;
}

/* The next bays of a ring, for one turn. */
static char *take_bays(sk_board *b, int i, uint64_t turn, place *p, int *which)
{
    int hot = rings[i].hot, *next = &b->ring[i].next[p->all];
    int bay = *next + (p->all ? 0 : hot);
    *next = *next + 1 == (p->all ? hot : rings[i].n - hot) ? 0 : *next + 1;
    if (b->ring[i].user[bay] > p->after)
        p->after = b->ring[i].user[bay];
    b->ring[i].user[bay] = turn + 1;
    *which = bay;
    return b->ring[i].at + bay * (b->n + 1) * rings[i].step;
}

void sk_board_turn(sk_board *b, int64_t room, bool all)
{
    uint64_t turn = b->next++;
    place *p = &b->turn[turn % PLACES];
    int which;
    p->after = 0;
    p->all = all;
    p->last = false;
    p->lines = (line *)take_bays(b, 0, turn, p, &which);
    p->step = LINE;
    p->bays = p->lines->bay;
    if (all) {
        p->count = &((common *)b->mem)->arrived[which].bell;
        p->arrived = b->arrived[which] += (uint64_t)b->n;
    }
    if (room <= INLINE)
        return;
    int i = 1;
    while (i < b->nrings - 1 && rings[i].bay < room)
        i++;
    p->step = rings[i].step;
    p->bays = take_bays(b, i, turn, p, &which);
}

void sk_board_open(sk_board *b, uint32_t turn)
{
    await_passed(b, place_of(b, turn)->after);
}

void *sk_board_bay(sk_board *b, uint32_t turn, int mate)
{
    const place *p = place_of(b, turn);
    return p->bays + mate * p->step;
}

/* With a core for every rank each looks at the lines of the others, which hold the data as well; a
 * count would be one more line to pass round. Where cores are shared, one word to look at is less
 * work, and only the last one wakes those who sleep. */
bool sk_board_crowded(const sk_board *b)
{
    return b->pause.mode != SK_PAUSE_SPIN;
}

void sk_board_publish(sk_board *b, uint32_t turn)
{
    uint64_t t = b->first + turn;
    place *p = place_of(b, turn);
    await_passed(b, p->after); /* the line and the count, too, are used again */
    sk_bell *mine = &p->lines[b->me].bell;
    atomic_store_explicit(&mine->sign, b->sign, memory_order_relaxed);
    sk_bell_set(mine, t + 1, &b->pause);
    if (!p->all || !sk_board_crowded(b))
        return;
    if (atomic_fetch_add_explicit(&p->count->value, 1, memory_order_acq_rel) + 1 == p->arrived) {
        p->last = true;
        sk_bell_wake(p->count);
    }
}

bool sk_board_await(sk_board *b, uint32_t turn, int mate)
{
    sk_bell *bell = &place_of(b, turn)->lines[mate].bell;
    reach(b, bell, b->first + turn + 1);
    return atomic_load_explicit(&bell->sign, memory_order_relaxed) == b->sign;
}

bool sk_board_await_range(sk_board *b, uint32_t turn, int lo, int hi)
{
    const place *p = place_of(b, turn);
    if (hi - lo == b->n && p->all && sk_board_crowded(b)) {
        reach(b, p->count, p->arrived);
        return true;
    }
    bool alike = true;
    for (int i = lo; i < hi; i++)
        alike &= sk_board_await(b, turn, i);
    return alike;
}

bool sk_board_was_last(const sk_board *b, uint32_t turn)
{
    return b->turn[(b->first + turn) % PLACES].last;
}

void sk_board_announce(sk_board *b, uint32_t turn)
{
    sk_bell_set(&place_of(b, turn)->lines[b->n].bell, b->first + turn + 1, &b->pause);
}

void sk_board_await_result(sk_board *b, uint32_t turn)
{
    reach(b, &place_of(b, turn)->lines[b->n].bell, b->first + turn + 1);
}

void sk_board_pass(sk_board *b, uint32_t turns)
{
    sk_bell_set(&b->passed[b->me].bell, b->first + turns, &b->pause);
}

void sk_board_settle(sk_board *b, uint32_t turn)
{
    await_passed(b, b->first + turn + 1);
}
