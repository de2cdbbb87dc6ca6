/* shm.c: the layout of the shared memory, and what is rare in epochs. */
#include <stdlib.h>
#include <string.h>

#include "shm/epochs.h"
#include "shm/tuning.h"

/* ---- layout: head, rings of slots, fifos ---- */

enum { PAGE = 4096 };

/* `step` is the distance from a slot to that of the next rank. It is some lines more than the slot,
 * so that the slots do not all start in the same sets of a cache.
 *
 * Which slot an epoch has follows from its number: a rank that does not use an epoch only counts it.
 * `hot` slots serve epochs that all local ranks come to together. They are few, so they are reused
 * soon and stay in the cache. Of these, epochs in which each rank reads several long slots use only
 * the first `hottest`. `cold` slots serve ranks that run ahead: each takes one of the first few again
 * while the others keep pace (SK_SHM_NEAR_SLOTS). All numbers are powers of two. The first epochs of all
 * use fewer: see SK_SHM_YOUNG. */
typedef struct ring_shape {
    int64_t slot, step;
    int hot, hottest, cold;
} ring_shape;

static const ring_shape main_rings[SK_SHM_NRINGS] = {
    {SK_SHM_INLINE, SK_SHM_LINE, SK_SHM_HOT_LINES, SK_SHM_HOT_LINES, SK_SHM_AHEAD},
    {256, 256, SK_SHM_HOT_LINES, SK_SHM_HOT_LINES, SK_SHM_AHEAD},
    {2048, 2048 + SK_SHM_LINE, 16, 16, 64},
    {16384, 16384 + 3 * SK_SHM_LINE, 8, 4, 64},
    {131072, 131072 + 5 * SK_SHM_LINE, 4, 2, 8},
    {524288, 524288 + 7 * SK_SHM_LINE, 2, 2, 2},
};

/* A lane serves one collective after the other, so nobody runs far ahead. */
static const ring_shape lane_rings[SK_SHM_NRINGS] = {
    {SK_SHM_INLINE, SK_SHM_LINE, 16, 16, 64},    {256, 256, 16, 16, 64},
    {2048, 2048 + SK_SHM_LINE, 4, 4, 16},        {16384, 16384 + 3 * SK_SHM_LINE, 4, 4, 16},
    {131072, 131072 + 5 * SK_SHM_LINE, 4, 2, 4}, {524288, 524288 + 7 * SK_SHM_LINE, 2, 2, 2},
};

static size_t whole_pages(size_t bytes)
{
    return (bytes + PAGE - 1) / PAGE * PAGE;
}

/* The slots of one epoch lie together, rank after rank: a reader touches few pages, in rising
 * order. */
static size_t ring_bytes(const ring_shape *ring, int n)
{
    return whole_pages((size_t)(n + 1) * (size_t)ring->step * (size_t)(ring->hot + ring->cold));
}

static uint32_t slots_of(const ring_shape *ring)
{
    return (uint32_t)(ring->hot + ring->cold);
}

static size_t head_bytes(int n)
{
    return whole_pages(sizeof(sk_shm_head) + (size_t)n * sizeof(sk_shm_counter));
}

static size_t rings_bytes(const ring_shape *rings, int n, int nrings)
{
    size_t bytes = head_bytes(n);
    for (int i = 0; i < nrings; i++)
        bytes += ring_bytes(&rings[i], n);
    return bytes;
}

static size_t bytes_of(const ring_shape *rings, int n, int nrings)
{
    return rings_bytes(rings, n, nrings) + whole_pages(sk_fifos_bytes(n, rings[nrings - 1].slot));
}

static size_t bytes_below(const ring_shape *rings, int n, int64_t cap, int64_t *slot_bytes)
{
    for (int nrings = SK_SHM_NRINGS; nrings > 2; nrings--)
        if (bytes_of(rings, n, nrings) <= (size_t)(cap > 0 ? cap : 0)) {
            *slot_bytes = rings[nrings - 1].slot;
            return bytes_of(rings, n, nrings);
        }
    *slot_bytes = 0;
    return 0;
}

size_t sk_shm_bytes(int n, int64_t cap, int64_t *slot_bytes)
{
    return bytes_below(main_rings, n, cap, slot_bytes);
}

sk_shm_size sk_shm_size_of(int n, int64_t cap)
{
    enum { LANE_SHARE = 16 }; /* of the memory, at most */
    sk_shm_size s;
    s.lane = bytes_below(lane_rings, n, cap / LANE_SHARE, &s.lane_slot_bytes);
    s.main = bytes_below(main_rings, n, cap - (int64_t)(SK_SHM_LANES * s.lane), &s.slot_bytes);
    return s.main ? s : (sk_shm_size){0};
}

/* The mask of as many slots as fit, at least two. */
static uint32_t mask_within(int64_t one, int64_t bytes)
{
    uint32_t mask = 1;
    while ((int64_t)(2 * mask + 2) * one <= bytes)
        mask = 2 * mask + 1;
    return mask;
}

/* The mask of the short slots that a rank uses while the others keep pace: sixteen pages of them, since the slots of all
 * ranks share pages. More than of long ones, for each look whether one is free costs as much as a short call. */
static uint32_t near_of_short(const ring_shape *shape, int n)
{
    uint32_t all = (uint32_t)shape->cold - 1,
             mask = mask_within((n + 1) * shape->step, SK_SHM_YOUNG_BYTES);
    return (mask | (2 * SK_SHM_NEAR_SLOTS - 1)) & all;
}

static void init_ring(sk_shm_ring *r, const ring_shape *shape, char *mem, int n)
{
    uint32_t hot = (uint32_t)shape->hot;
    r->mem = mem;
    r->slot_bytes = shape->slot;
    r->stride = shape->step;
    r->row = (n + 1) * shape->step;
    r->mask[SK_SHM_BY_ALL] = hot - 1;
    r->mask[SK_SHM_TOGETHER] = (uint32_t)shape->hottest - 1;
    r->first[SK_SHM_RUN_AHEAD] = hot;
    r->mask[SK_SHM_RUN_AHEAD] = (uint32_t)shape->cold - 1;
    r->young = mask_within(r->row, SK_SHM_YOUNG_BYTES);
    r->near = mask_within(r->slot_bytes, SK_SHM_NEAR_BYTES) & (SK_SHM_NEAR_SLOTS - 1);
    if (shape->cold > SK_SHM_MANY_SLOTS) /* short ones, of which a page has many */
        r->near = near_of_short(shape, n);
}

size_t sk_shm_first_bytes(int n)
{
    enum { AHEAD = 2 * PAGE }; /* ranks that run ahead in the first calls get no further */
    const ring_shape *lines = &main_rings[0];
    return head_bytes(n) + whole_pages((size_t)(n + 1) * (size_t)lines->step * (size_t)lines->hot) +
           AHEAD;
}

/* How many rings memory of this size has. */
static int nrings_of(const ring_shape *rings, size_t bytes, int n)
{
    int nrings = SK_SHM_NRINGS;
    while (nrings > 2 && bytes_of(rings, n, nrings) != bytes)
        nrings--;
    return nrings;
}

/* Bytes at the begin of a ring: slots that epochs of all ranks use, and those that ranks use that run ahead while the
 * others keep pace. */
static size_t begin_bytes(const ring_shape *shape, int n)
{
    sk_shm_ring r = {0};
    init_ring(&r, shape, NULL, n);
    uint32_t slots =
        r.slot_bytes == SK_SHM_INLINE ? slots_of(shape) : (uint32_t)shape->hot + r.near + 1;
    return whole_pages((size_t)slots * (size_t)r.row);
}

int sk_shm_first_parts(int n, sk_shm_size size, sk_shm_part part[SK_SHM_PARTS])
{
    enum { MAIN = 4 }; /* rings, of short and middle slots */
    int k = 0;
    size_t at = head_bytes(n);
    part[k++] = (sk_shm_part){0, at + begin_bytes(&main_rings[0], n)};
    for (int lane = 0; lane < SK_SHM_LANES; lane++) {
        size_t from = size.main + (size_t)lane * size.lane;
        part[k++] = (sk_shm_part){from, head_bytes(n) + begin_bytes(&lane_rings[0], n)};
    }
    int nrings = nrings_of(main_rings, size.main, n);
    for (int i = 0; i < nrings && i < MAIN; at += ring_bytes(&main_rings[i++], n))
        if (i)
            part[k++] = (sk_shm_part){at, begin_bytes(&main_rings[i], n)};
    return k;
}

/* Counters, the lines with the flags, and the fifos. What is in the larger slots does not matter. */
static void clear(const ring_shape *rings, void *mem, size_t bytes, int n)
{
    memset(mem, 0, head_bytes(n) + ring_bytes(&rings[0], n));
    sk_fifos_clear((char *)mem + rings_bytes(rings, n, nrings_of(rings, bytes, n)), n);
}

void sk_shm_clear(void *mem, size_t bytes, int n)
{
    clear(main_rings, mem, bytes, n);
}

void sk_shm_lane_clear(void *mem, size_t bytes, int n)
{
    clear(lane_rings, mem, bytes, n);
}

static sk_shm *new_shm(const ring_shape *rings, void *mem, size_t bytes, int n, int me)
{
    int nrings = nrings_of(rings, bytes, n);
    uint32_t users = 0;
    for (int i = 0; i < nrings; i++)
        users += slots_of(&rings[i]);
    sk_shm *shm = bytes_of(rings, n, nrings) == bytes
                      ? calloc(1, sizeof *shm + users * sizeof shm->user[0])
                      : NULL;
    if (!shm)
        return NULL;
    char *at = mem;
    shm->fifos = sk_fifos_new(at + rings_bytes(rings, n, nrings), n, me, rings[nrings - 1].slot);
    if (!shm->fifos) {
        free(shm);
        return NULL;
    }
    shm->mem = mem;
    shm->bytes = bytes;
    shm->released = (sk_shm_counter *)((sk_shm_head *)mem + 1);
    shm->n = n;
    shm->me = me;
    shm->nrings = nrings;
    at += head_bytes(n);
    users = 0;
    for (int i = 0; i < nrings; i++) {
        init_ring(&shm->ring[i], &rings[i], at, n);
        shm->ring[i].users = users;
        users += slots_of(&rings[i]);
        at += ring_bytes(&rings[i], n);
    }
    return shm;
}

sk_shm *sk_shm_new(void *mem, size_t bytes, int n, int me)
{
    return new_shm(main_rings, mem, bytes, n, me);
}

sk_shm *sk_shm_lane_new(sk_shm *beside, void *mem, size_t bytes)
{
    sk_shm *shm = new_shm(lane_rings, mem, bytes, beside->n, beside->me);
    if (!shm)
        return NULL;
    shm->borrowed = true;
    shm->waiting = beside->waiting;
    sk_fifos_enable_cma_like(shm->fifos, beside->fifos);
    return shm;
}

void sk_shm_leave(sk_shm *shm)
{
    sk_flag_set(&shm->released[shm->me].flag, shm->next);
}

bool sk_shm_all_left(const sk_shm *shm)
{
    for (int i = 0; i < shm->n; i++)
        if (atomic_load_explicit(&shm->released[i].flag.value, memory_order_acquire) != shm->next)
            return false;
    return true;
}

void sk_shm_borrow(sk_shm *shm)
{
    shm->borrowed = true;
}

void sk_shm_set_waiting(sk_shm *shm, sk_waiting waiting)
{
    shm->waiting = waiting;
}

void sk_shm_enable_cma(sk_shm *shm, int64_t from)
{
    sk_fifos_enable_cma(shm->fifos, from);
}

void sk_shm_free(sk_shm *shm)
{
    if (!shm)
        return;
    if (!shm->borrowed)
        sk_segment_unmap(shm->mem, shm->bytes);
    sk_fifos_free(shm->fifos);
    free(shm);
}

int64_t sk_shm_slot_bytes(const sk_shm *shm)
{
    return shm->ring[shm->nrings - 1].slot_bytes;
}

/* ---- epochs ---- */

/* NULL: all other local ranks have released this many epochs; else the counter of the rank that has
 * released the fewest. Callers ask in the order of epochs, so one look at all ranks answers many
 * questions: `known` keeps it. */
static sk_flag *slowest(sk_shm *shm, uint64_t epochs)
{
    sk_flag *found = NULL;
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < shm->n; i++) {
        sk_flag *flag = &shm->released[i].flag;
        uint64_t seen = atomic_load_explicit(&flag->value, memory_order_acquire);
        if (i == shm->me || seen >= least)
            continue;
        least = seen;
        found = flag;
    }
    SK_ASSERT(shm->known <= least); /* released epochs stay released */
    shm->known = least;
    return least < epochs ? found : NULL;
}

static void await_released(sk_shm *shm, uint64_t epochs)
{
    sk_flag *flag;
    while (shm->known < epochs && (flag = slowest(shm, epochs)))
        sk_flag_wait(flag, epochs, &shm->waiting);
}

bool sk_shm_released_by_all(sk_shm *shm, uint64_t epochs)
{
    return shm->known >= epochs || !slowest(shm, epochs);
}

/* A rank that has run ahead until no slot was free would wait again in each following epoch, for the
 * slowest rank to release one more. So it waits once, until half of the slots are free. With few
 * slots it does not: the wait would be long for little gain, and ranks may fill an epoch before they
 * have emptied the one before it. */
void sk_shm_await_slot(sk_shm *shm, uint64_t after, uint64_t now)
{
    sk_flag *flag = slowest(shm, after);
    if (!flag)
        return;
    if (now - after < SK_SHM_MANY_SLOTS) {
        await_released(shm, after);
        return;
    }
    after += (now - after) / 2;
    while ((flag = slowest(shm, after)))
        sk_flag_wait_long(flag, after, &shm->waiting);
}

/* The number that gives an epoch its slot. A rank that runs ahead takes a near slot if it is free: its
 * pages exist and are in a cache. If it is not, the others do not keep pace, and the next look can wait. */
static uint64_t slot_number(sk_shm *shm, const sk_shm_ring *r, sk_shm_kind kind, uint64_t epoch)
{
    if (kind != SK_SHM_RUN_AHEAD)
        return epoch < SK_SHM_YOUNG ? epoch & r->young : epoch;
    uint64_t user = shm->user[r->users + sk_shm_slot_index(r, epoch & r->near, kind)];
    if (user > shm->known && epoch >= shm->look && slowest(shm, user))
        shm->look = epoch + r->near;
    return user <= shm->known ? epoch & r->near : epoch;
}

void sk_shm_find_slots(sk_shm *shm, sk_shm_epoch_state *e, uint64_t epoch, int64_t slot_bytes)
{
    uint32_t i = 1, last = (uint32_t)shm->nrings - 1;
    while (i < last && shm->ring[i].slot_bytes < slot_bytes)
        i++;
    const sk_shm_ring *r = &shm->ring[i];
    SK_ASSERT(slot_bytes <= r->slot_bytes);
    e->ring = i;
    e->row = sk_shm_slot_index(r, slot_number(shm, r, e->kind, epoch), e->kind);
    e->user = r->users + e->row;
    e->slots = r->mem + e->row * r->row;
    e->stride = r->stride;
}

void sk_shm_quiesce(sk_shm *shm, uint32_t epoch)
{
    await_released(shm, shm->first + epoch + 1);
}

bool sk_shm_is_quiet(sk_shm *shm, uint32_t epoch)
{
    return sk_shm_released_by_all(shm, shm->first + epoch + 1);
}

void sk_shm_share(sk_shm *shm, void *what, size_t bytes)
{
    SK_ASSERT(bytes <= SK_SHM_SHARED);
    sk_shm_begin(shm, 0);
    sk_shm_epoch(shm, (int64_t)bytes, false, false);
    if (shm->me == 0) {
        sk_shm_open(shm, 0);
        memcpy(sk_shm_slot(shm, 0, 0), what, bytes);
        sk_shm_post(shm, 0);
    } else {
        sk_shm_await(shm, 0, 0);
        memcpy(what, sk_shm_slot(shm, 0, 0), bytes);
    }
    sk_shm_release(shm, 1);
}

/* ---- messages ---- */

void sk_shm_send(sk_shm *shm, int local_rank, const void *from, int64_t len)
{
    sk_fifos_send(shm->fifos, local_rank, from, len);
}

void sk_shm_recv(sk_shm *shm, int local_rank, void *to, int64_t len)
{
    sk_fifos_recv(shm->fifos, local_rank, to, len);
}

bool sk_shm_move(sk_shm *shm)
{
    return sk_fifos_move(shm->fifos, &shm->waiting);
}

bool sk_shm_finish(sk_shm *shm)
{
    return sk_fifos_finish(shm->fifos, &shm->waiting);
}
