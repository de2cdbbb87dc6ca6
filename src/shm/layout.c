/* board_lay.c: the memory of a board: its head, its rings of bays, its chutes. */
#include <stdlib.h>

#include "shm/shm_inner.h"

enum { PAGE = 4096 };

/* Bytes of a bay, from one to the next (some lines more, so that the starts of bays do not all fall
 * on the same lines of a cache), and how many of them, both powers of two. Ring 0 is inside the
 * lines. The `hot` bays serve turns that all mates publish or come to together: all at once they
 * fill a cache, so these few come back soon, and of long ones where each mate reads several only
 * the `hottest`; the `cold` ones are for those who run ahead. Which bay a turn has follows from its
 * number: so to count a turn is all that it takes not to use it. */
static const struct {
    int64_t bay, step;
    int hot, hottest, cold;
} rings[NRINGS] = {
    {INLINE, LINE, HOT_LINES, HOT_LINES, SK_BOARD_AHEAD},
    {256, 256, HOT_LINES, HOT_LINES, SK_BOARD_AHEAD},
    {2048, 2048 + LINE, 16, 16, 64},
    {16384, 16384 + 3 * LINE, 8, 4, 64},
    {131072, 131072 + 5 * LINE, 4, 2, 8},
    {524288, 524288 + 7 * LINE, 2, 2, 2},
};

static size_t whole_pages(size_t bytes)
{
    return (bytes + PAGE - 1) / PAGE * PAGE;
}

/* What one reads in a turn stands together, mate after mate: few pages, in rising order. */
static size_t ring_bytes(int n, int ring)
{
    return whole_pages((size_t)(n + 1) * (size_t)rings[ring].step *
                       (size_t)(rings[ring].hot + rings[ring].cold));
}

static size_t head_bytes(int n)
{
    return whole_pages(sizeof(common) + (size_t)n * sizeof(count));
}

static size_t rings_bytes(int n, int nrings)
{
    size_t bytes = head_bytes(n);
    for (int i = 0; i < nrings; i++)
        bytes += ring_bytes(n, i);
    return bytes;
}

static size_t bytes_of(int n, int nrings)
{
    return rings_bytes(n, nrings) + whole_pages(sk_chutes_bytes(n, rings[nrings - 1].bay));
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

static void lay_ring(ring *r, int i, char *at, int n)
{
    uint32_t hot = (uint32_t)rings[i].hot;
    r->at = at;
    r->bay = rings[i].bay;
    r->step = rings[i].step;
    r->row = (n + 1) * rings[i].step;
    r->mask[BY_ALL] = hot - 1;
    r->mask[TOGETHER] = (uint32_t)rings[i].hottest - 1;
    r->first[AHEAD] = hot;
    r->mask[AHEAD] = (uint32_t)rings[i].cold - 1;
}

sk_board *sk_board_new(void *mem, size_t bytes, int n, int me)
{
    int nrings = NRINGS;
    while (nrings > 2 && bytes_of(n, nrings) != bytes)
        nrings--;
    sk_board *b = bytes_of(n, nrings) == bytes ? calloc(1, sizeof *b) : NULL;
    if (!b)
        return NULL;
    char *at = mem;
    b->chutes = sk_chutes_new(at + rings_bytes(n, nrings), n, me, rings[nrings - 1].bay);
    if (!b->chutes) {
        free(b);
        return NULL;
    }
    b->mem = mem;
    b->bytes = bytes;
    b->passed = (count *)((common *)mem + 1);
    b->n = n;
    b->me = me;
    b->nrings = nrings;
    at += head_bytes(n);
    for (int i = 0; i < nrings; i++) {
        lay_ring(&b->ring[i], i, at, n);
        at += ring_bytes(n, i);
    }
    return b;
}

void sk_board_wait_as(sk_board *b, sk_pause pause)
{
    b->pause = pause;
}

void sk_board_read_directly(sk_board *b)
{
    sk_chutes_read_directly(b->chutes);
}

void sk_board_free(sk_board *b)
{
    if (!b)
        return;
    sk_segment_unmap(b->mem, b->bytes);
    sk_chutes_free(b->chutes);
    free(b);
}

int64_t sk_board_room(const sk_board *b)
{
    return rings[b->nrings - 1].bay;
}
