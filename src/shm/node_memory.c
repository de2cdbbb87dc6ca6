#include "shm/node_memory.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/assert.h"
#include "shm/segment.h"
#include "shm/shm.h"
#include "shm/tuning.h"

/* ---- in shared memory ---- */

enum { LINE = 64, PAGE = 4096, BLOCKS = 2048, NUMBER_SHIFT = 48 };

/* A part of the memory: a region in use, or free. In the order of addresses. */
typedef struct memory_block {
    uint64_t start, bytes;
    uint64_t stamp; /* of sk_region; 0 if it is free and not kept */
    int32_t users;  /* 0: free */
    int32_t used;   /* it has served a communicator */
} memory_block;

/* What one local rank publishes: number + 1 and region, or 0. */
typedef struct memory_entry {
    _Alignas(LINE) _Atomic uint64_t region;
    uint64_t stamp;
    _Atomic int attached;
} memory_entry;

typedef struct memory_head {
    char segment[SK_SEGMENT_HEAD];
    _Alignas(LINE) atomic_flag lock; /* protects the rest */
    int nblocks;                     /* 0: not set up yet */
    uint64_t last_stamp;
    memory_block block[BLOCKS];
} memory_head;

/* ---- of this process ---- */

struct sk_node_memory {
    memory_head *head;
    memory_entry *published;
    size_t bytes;
    uint64_t first; /* where regions begin */
    int me;
};

static size_t whole_pages(size_t bytes)
{
    return (bytes + PAGE - 1) / PAGE * PAGE;
}

static size_t head_bytes(int n)
{
    return whole_pages(sizeof(memory_head) + (size_t)n * sizeof(memory_entry));
}

/* Room for MPI_COMM_WORLD and for many communicators as large; smaller ones take less. Only pages that are
 * used count, so this is an address range, not memory; but it is a part of what a process has. */
size_t sk_node_memory_bytes(int n, int64_t cap)
{
    enum { LEAST = 16, MOST = 256 };
    const size_t range = (size_t)1 << (sizeof range > 4 ? 36 : 30);
    size_t one = whole_pages(sk_shm_size_bytes(sk_shm_size_of(n, cap)));
    size_t fit = one ? range / one : 0, large = fit < LEAST ? LEAST : fit > MOST ? MOST : fit;
    return one ? head_bytes(n) + large * one : 0;
}

sk_node_memory *sk_node_memory_new(void *mem, size_t bytes, int n, int me)
{
    sk_node_memory *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    m->head = mem;
    m->published = (memory_entry *)(m->head + 1);
    m->bytes = bytes;
    m->first = head_bytes(n);
    m->me = me;
    return m;
}

/* The local ranks share the work: each begins at another part, and what exists already is only mapped. False: an old
 * kernel, or no memory. Then pages come as they are used. */
static bool populate(const sk_node_memory *m, int n, uint64_t at, size_t bytes)
{
#ifdef MADV_POPULATE_WRITE
    char *from = (char *)m->head + at;
    size_t begin = whole_pages(bytes / (size_t)n * (size_t)m->me);
    begin = begin < bytes ? begin : 0;
    return madvise(from + begin, bytes - begin, MADV_POPULATE_WRITE) == 0 &&
           (!begin || madvise(from, begin, MADV_POPULATE_WRITE) == 0);
#else
    (void)m, (void)n, (void)at, (void)bytes;
    return false;
#endif
}

void sk_node_memory_populate(sk_node_memory *m, int n, int64_t cap)
{
    sk_shm_size size = sk_shm_size_of(n, cap);
    size_t one = whole_pages(sk_shm_size_bytes(size)), first = sk_shm_first_bytes(n), all = 0;
    sk_shm_part part[SK_SHM_PARTS];
    int parts = one ? sk_shm_first_parts(n, size, part) : 0;
    for (int i = 0; i < parts && all < SK_MEMORY_POPULATED_WORLD; i++) {
        size_t left = SK_MEMORY_POPULATED_WORLD - all,
               bytes = part[i].bytes < left ? part[i].bytes : left;
        if (!populate(m, n, m->first + part[i].at, bytes))
            return;
        all += bytes;
    }
    all = first;
    for (uint64_t at = m->first + one; all + first <= SK_MEMORY_POPULATED && at + one <= m->bytes;
         at += one) {
        if (!populate(m, n, at, first))
            return;
        all += first;
    }
}

void sk_node_memory_free(sk_node_memory *m)
{
    if (!m)
        return;
    sk_segment_unmap(m->head, m->bytes);
    free(m);
}

void *sk_node_memory_at(const sk_node_memory *m, sk_region r)
{
    return (char *)m->head + r.at;
}

/* ---- regions ---- */

/* Held for some hundred instructions. A rank that dies in them ends the job. */
static memory_head *lock(sk_node_memory *m)
{
    memory_head *h = m->head;
    while (atomic_flag_test_and_set_explicit(&h->lock, memory_order_acquire))
        sched_yield();
    if (!h->nblocks) {
        h->block[0] = (memory_block){.start = m->first, .bytes = m->bytes - m->first};
        h->nblocks = 1;
    }
    return h;
}

static void unlock(memory_head *h)
{
    atomic_flag_clear_explicit(&h->lock, memory_order_release);
}

/* Is block a the better one to take? One that is not kept; else the smaller one; of two alike the one
 * whose pages exist. */
static bool better(const memory_block *a, const memory_block *b)
{
    if (!a->stamp != !b->stamp)
        return !a->stamp;
    return a->bytes < b->bytes || (a->bytes == b->bytes && a->used);
}

static memory_block *find_free(memory_head *h, uint64_t bytes)
{
    memory_block *best = NULL;
    for (memory_block *b = h->block; b < h->block + h->nblocks; b++)
        if (!b->users && b->bytes >= bytes && (b->bytes == bytes || h->nblocks < BLOCKS) &&
            (!best || better(b, best)))
            best = b;
    return best;
}

static void insert_after(memory_head *h, memory_block *b, memory_block rest)
{
    for (memory_block *at = h->block + h->nblocks; at > b + 1; at--)
        *at = at[-1];
    b[1] = rest;
    h->nblocks++;
}

/* Two free neighbours that are not kept become one. What was never used stays apart: its pages do not
 * exist yet. */
static void merge(memory_head *h, memory_block *b)
{
    memory_block *next = b + 1;
    if (b < h->block || next >= h->block + h->nblocks || b->users || next->users || b->stamp ||
        next->stamp || b->used != next->used)
        return;
    b->bytes += next->bytes;
    h->nblocks--;
    for (memory_block *at = next; at < h->block + h->nblocks; at++)
        *at = at[1];
}

static void merge_around(memory_head *h, memory_block *b)
{
    merge(h, b);
    merge(h, b - 1);
}

/* Nothing fits: keep nothing. */
static void merge_all(memory_head *h)
{
    for (memory_block *b = h->block; b < h->block + h->nblocks; b++)
        if (!b->users)
            b->stamp = 0;
    for (int i = h->nblocks - 2; i >= 0; i--)
        merge(h, h->block + i);
}

sk_region sk_node_memory_take(sk_node_memory *m, size_t bytes, int users)
{
    memory_head *h = lock(m);
    uint64_t want = whole_pages(bytes);
    sk_region r = {0};
    memory_block *b = find_free(h, want);
    if (!b) {
        merge_all(h);
        b = find_free(h, want);
    }
    if (b) {
        if (b->bytes > want) {
            memory_block rest = {
                .start = b->start + want, .bytes = b->bytes - want, .used = b->used};
            insert_after(h, b, rest);
            b->bytes = want;
        }
        r = (sk_region){.at = b->start, .stamp = ++h->last_stamp, .used = b->used};
        b->stamp = r.stamp;
        b->users = users;
        b->used = 1;
    }
    unlock(h);
    return r;
}

/* NULL: it has been merged with another one. */
static memory_block *block_at(memory_head *h, uint64_t at)
{
    for (memory_block *b = h->block; b < h->block + h->nblocks; b++)
        if (b->start == at)
            return b;
    return NULL;
}

void sk_node_memory_release(sk_node_memory *m, sk_region r, bool keep)
{
    memory_head *h = lock(m);
    memory_block *b = block_at(h, r.at);
    SK_ASSERT(b && b->users > 0);
    if (!keep)
        b->stamp = 0;
    if (--b->users == 0)
        merge_around(h, b);
    unlock(h);
}

bool sk_node_memory_retake(sk_node_memory *m, sk_region r, int users)
{
    memory_head *h = lock(m);
    memory_block *b = block_at(h, r.at);
    bool ok = b && b->stamp == r.stamp && !b->users;
    if (ok)
        b->users = users;
    unlock(h);
    return ok;
}

bool sk_node_memory_forget(sk_node_memory *m, sk_region r)
{
    memory_head *h = lock(m);
    memory_block *b = block_at(h, r.at);
    bool kept = b && b->stamp == r.stamp, ok = !kept || !b->users;
    if (kept && ok) {
        b->stamp = 0;
        merge_around(h, b);
    }
    unlock(h);
    return ok;
}

/* ---- publishing ---- */

void sk_node_memory_publish(sk_node_memory *m, int number, sk_region r)
{
    SK_ASSERT(r.at >> NUMBER_SHIFT == 0);
    m->published[m->me].stamp = r.stamp;
    atomic_store_explicit(&m->published[m->me].region,
                          (uint64_t)(number + 1) << NUMBER_SHIFT | r.at, memory_order_release);
}

bool sk_node_memory_attached_by(const sk_node_memory *m, int others)
{
    return atomic_load_explicit(&m->published[m->me].attached, memory_order_acquire) == others;
}

void sk_node_memory_withdraw(sk_node_memory *m)
{
    atomic_store_explicit(&m->published[m->me].attached, 0, memory_order_relaxed);
    atomic_store_explicit(&m->published[m->me].region, 0, memory_order_release);
}

bool sk_node_memory_attach(sk_node_memory *m, int leader, int number, sk_region *r)
{
    memory_entry *b = &m->published[leader];
    uint64_t seen = atomic_load_explicit(&b->region, memory_order_acquire);
    if (seen >> NUMBER_SHIFT != (uint64_t)number + 1)
        return false;
    *r = (sk_region){.at = seen & ((UINT64_C(1) << NUMBER_SHIFT) - 1), .stamp = b->stamp};
    atomic_fetch_add_explicit(&b->attached, 1, memory_order_release);
    return true;
}
