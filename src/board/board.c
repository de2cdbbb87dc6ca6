#include "board/board.h"

#include <stdlib.h>
#include <string.h>

enum { LINE = 64, PAGE = 4096, AHEAD = SK_BOARD_AHEAD, INLINE = 48, NRINGS = 6 };

/* Bytes of a bay, from one to the next (some lines more, so that the starts of bays do not all fall
 * on the same lines of a cache), and how many of them. Ring 0 is inside the lines. The first `hot`
 * bays serve turns that all mates publish: all at once they fill a cache, so these few come back
 * soon; the others are for those who run ahead. */
static const struct {
    int64_t bay, step;
    int n, hot;
} rings[NRINGS] = {
    {INLINE, LINE, AHEAD, 0},           {256, 256, AHEAD, 64},
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
    count arrived[AHEAD];
} common;

/* ---- of this process ---- */

typedef struct place { /* of a turn that is not passed */
    char *bays;        /* of mate 0; those of the others follow, the common one last */
    int64_t step;      /* from one to the next */
    uint64_t after;    /* it may be used when all mates have passed this many turns */
    uint64_t arrived;  /* what the count is when all have published it */
    bool all;
    bool last; /* this mate was the last to publish it */
} place;

struct sk_board {
    void *mem;
    size_t bytes;
    count *passed; /* turns that each mate has left behind */
    line *lines;   /* of mate 0 in turn 0, of the others, of turn 1, ... */
    int n, me, nrings;
    sk_pause pause;
    uint32_t sign;        /* of the collective under way */
    uint64_t first, next; /* turns: of the collective under way, and without a place yet */
    uint64_t known;       /* all mates are known to have passed this many */
    place turn[AHEAD];
    uint64_t arrived[AHEAD];
    struct {
        char *at;
        int next[2];          /* bay: for those who run ahead, and for all */
        uint64_t user[AHEAD]; /* turn that each bay served last, plus 1 */
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
    b->lines = (line *)at;
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

static line *line_of(const sk_board *b, uint64_t turn, int mate)
{
    return &b->lines[turn % AHEAD * (uint64_t)(b->n + 1) + (uint64_t)mate];
}

static sk_bell *count_of(const sk_board *b, uint64_t turn)
{
    return &((common *)b->mem)->arrived[turn % AHEAD].bell;
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

static void take_bays(sk_board *b, int64_t room, uint64_t turn, place *p)
{
    int i = 1;
    while (i < b->nrings - 1 && rings[i].bay < room)
        i++;
    int hot = rings[i].hot, *next = &b->ring[i].next[p->all];
    int bay = *next + (p->all ? 0 : hot);
    *next = *next + 1 == (p->all ? hot : rings[i].n - hot) ? 0 : *next + 1;
    if (b->ring[i].user[bay] > p->after)
        p->after = b->ring[i].user[bay];
    b->ring[i].user[bay] = turn + 1;
    p->step = rings[i].step;
    p->bays = b->ring[i].at + bay * (b->n + 1) * p->step;
}

void sk_board_turn(sk_board *b, int64_t room, bool all)
{
    uint64_t turn = b->next++;
    place *p = &b->turn[turn % AHEAD];
    p->after = turn < AHEAD ? 0 : turn - AHEAD + 1;
    p->all = all;
    p->last = false;
    if (all)
        p->arrived = b->arrived[turn % AHEAD] += (uint64_t)b->n;
    if (room <= INLINE) {
        p->step = LINE;
        p->bays = line_of(b, turn, 0)->bay;
    } else
        take_bays(b, room, turn, p);
}

void sk_board_open(sk_board *b, uint32_t turn)
{
    await_passed(b, b->turn[(b->first + turn) % AHEAD].after);
}

void *sk_board_bay(sk_board *b, uint32_t turn, int mate)
{
    const place *p = &b->turn[(b->first + turn) % AHEAD];
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
    place *p = &b->turn[t % AHEAD];
    await_passed(b, p->after); /* the line and the count, too, are used again */
    sk_bell *mine = &line_of(b, t, b->me)->bell;
    atomic_store_explicit(&mine->sign, b->sign, memory_order_relaxed);
    sk_bell_set(mine, t + 1, &b->pause);
    if (!p->all || !sk_board_crowded(b))
        return;
    sk_bell *bell = count_of(b, t);
    if (atomic_fetch_add_explicit(&bell->value, 1, memory_order_acq_rel) + 1 == p->arrived) {
        p->last = true;
        sk_bell_wake(bell);
    }
}

bool sk_board_await(sk_board *b, uint32_t turn, int mate)
{
    uint64_t t = b->first + turn;
    sk_bell *bell = &line_of(b, t, mate)->bell;
    reach(b, bell, t + 1);
    return atomic_load_explicit(&bell->sign, memory_order_relaxed) == b->sign;
}

bool sk_board_await_range(sk_board *b, uint32_t turn, int lo, int hi)
{
    uint64_t t = b->first + turn;
    if (hi - lo == b->n && b->turn[t % AHEAD].all && sk_board_crowded(b)) {
        reach(b, count_of(b, t), b->turn[t % AHEAD].arrived);
        return true;
    }
    bool alike = true;
    for (int i = lo; i < hi; i++)
        alike &= sk_board_await(b, turn, i);
    return alike;
}

bool sk_board_was_last(const sk_board *b, uint32_t turn)
{
    return b->turn[(b->first + turn) % AHEAD].last;
}

void sk_board_announce(sk_board *b, uint32_t turn)
{
    uint64_t t = b->first + turn;
    sk_bell_set(&line_of(b, t, b->n)->bell, t + 1, &b->pause);
}

void sk_board_await_result(sk_board *b, uint32_t turn)
{
    uint64_t t = b->first + turn;
    reach(b, &line_of(b, t, b->n)->bell, t + 1);
}

void sk_board_pass(sk_board *b, uint32_t turns)
{
    sk_bell_set(&b->passed[b->me].bell, b->first + turns, &b->pause);
}

void sk_board_settle(sk_board *b, uint32_t turn)
{
    await_passed(b, b->first + turn + 1);
}
