/* shm_lay.c: the memory of a board: its head, its rings of slots, its chutes. */
#include <stdlib.h>

#include "shm/shm_inner.h"

enum { PAGE = 4096 };

/* Bytes of a slot, from one to the next (some lines more, so that the starts of slots do not all fall
 * on the same lines of a cache), and how many of them, both powers of two. Ring 0 is inside the
 * lines. The `hot` slots serve epochs that all local ranks post or come to together: all at once they
 * fill a cache, so these few come back soon, and of long ones where each local rank reads several only
 * the `hottest`; the `cold` ones are for those who run ahead. Which slot an epoch has follows from its
 * number: so to count an epoch is all that it takes not to use it. */
static const struct {
    int64_t slot, step;
    int hot, hottest, cold;
} rings[NRINGS] = {
    {INLINE, LINE, HOT_LINES, HOT_LINES, SK_SHM_AHEAD},
    {256, 256, HOT_LINES, HOT_LINES, SK_SHM_AHEAD},
    {2048, 2048 + LINE, 16, 16, 64},
    {16384, 16384 + 3 * LINE, 8, 4, 64},
    {131072, 131072 + 5 * LINE, 4, 2, 8},
    {524288, 524288 + 7 * LINE, 2, 2, 2},
};

static size_t whole_pages(size_t bytes)
{
    return (bytes + PAGE - 1) / PAGE * PAGE;
}

/* What one reads in an epoch stands together, local rank after local rank: few pages, in rising order. */
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
    return rings_bytes(n, nrings) + whole_pages(sk_fifos_bytes(n, rings[nrings - 1].slot));
}

size_t sk_shm_bytes(int n, int64_t cap, int64_t *room)
{
    for (int nrings = NRINGS; nrings > 2; nrings--)
        if (bytes_of(n, nrings) <= (size_t)(cap > 0 ? cap : 0)) {
            *room = rings[nrings - 1].slot;
            return bytes_of(n, nrings);
        }
    *room = 0;
    return 0;
}

static void lay_ring(ring *r, int i, char *at, int n)
{
    uint32_t hot = (uint32_t)rings[i].hot;
    r->at = at;
    r->slot = rings[i].slot;
    r->step = rings[i].step;
    r->row = (n + 1) * rings[i].step;
    r->mask[BY_ALL] = hot - 1;
    r->mask[TOGETHER] = (uint32_t)rings[i].hottest - 1;
    r->first[AHEAD] = hot;
    r->mask[AHEAD] = (uint32_t)rings[i].cold - 1;
}

sk_shm *sk_shm_new(void *mem, size_t bytes, int n, int me)
{
    int nrings = NRINGS;
    while (nrings > 2 && bytes_of(n, nrings) != bytes)
        nrings--;
    sk_shm *b = bytes_of(n, nrings) == bytes ? calloc(1, sizeof *b) : NULL;
    if (!b)
        return NULL;
    char *at = mem;
    b->fifos = sk_fifos_new(at + rings_bytes(n, nrings), n, me, rings[nrings - 1].slot);
    if (!b->fifos) {
        free(b);
        return NULL;
    }
    b->mem = mem;
    b->bytes = bytes;
    b->released = (count *)((common *)mem + 1);
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

void sk_shm_set_waiting(sk_shm *b, sk_waiting waiting)
{
    b->waiting = waiting;
}

void sk_shm_enable_cma(sk_shm *b)
{
    sk_fifo_enable_cma(b->fifos);
}

void sk_shm_free(sk_shm *b)
{
    if (!b)
        return;
    sk_segment_unmap(b->mem, b->bytes);
    sk_fifos_free(b->fifos);
    free(b);
}

int64_t sk_shm_slot_bytes(const sk_shm *b)
{
    return rings[b->nrings - 1].slot;
}
