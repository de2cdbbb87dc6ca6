/* shm_ring.h: a ring of bytes in shared memory with one writer and one reader.
 *
 * A record takes whole cache lines and starts with a word that holds its length. The writer first
 * stores a zero where the next record will start and stores the record's own word last. So the
 * reader polls the very line in which a small packet arrives, it fetches no shared position first,
 * and it never takes old bytes for a record. The reader publishes its position four times per round
 * of the ring; the writer loads it only when the ring looks full. A writer that is killed at any
 * instruction has sent its last record either entirely or not at all.
 *
 * cost  one cache line moves per packet of up to 56 bytes; no atomic read-modify-write */
#ifndef SK_SHM_RING_H
#define SK_SHM_RING_H

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "fabric/lane/lane.h"

enum {
    SK_RING_LINE = 64,
    SK_RING_WORD = 8,
    SK_RING_BYTES = 64 * 1024,
    /* The longest packet: a record and the gap before it take at most half of the ring. */
    SK_RING_PACKET = SK_RING_BYTES / 4 - SK_RING_WORD
};

enum { SK_RECORD_PACKET = 1, SK_RECORD_GAP = 2 }; /* gap: nothing up to the end of the ring */

/* Positions on both sides count bytes from 0 and never wrap. */
typedef struct sk_ring_writer {
    unsigned char *bytes;
    const _Atomic uint64_t *done; /* the reader's published position */
    uint64_t at, seen;            /* next record; *done as last loaded */
} sk_ring_writer;

typedef struct sk_ring_reader {
    unsigned char *bytes;
    _Atomic uint64_t *done;
    uint64_t at, published; /* next record; value of *done */
} sk_ring_reader;

static inline _Atomic uint64_t *sk_ring_word(unsigned char *bytes, uint64_t at)
{
    return (_Atomic uint64_t *)(void *)(bytes + at % SK_RING_BYTES);
}

/* The first word of a record. It contains the position, so that the reader detects broken writers.
 */
static inline uint64_t sk_ring_mark(uint64_t at, size_t len, unsigned type)
{
    return (at / SK_RING_LINE) << 32 | (uint64_t)len << 2 | type;
}

static inline uint64_t sk_ring_record(size_t len)
{
    return (len + SK_RING_WORD + SK_RING_LINE - 1) / SK_RING_LINE * SK_RING_LINE;
}

/* Is there space for `need` bytes and the zero word behind them? */
static inline bool sk_ring_has_space(sk_ring_writer *w, uint64_t need)
{
    uint64_t end = w->at + need + SK_RING_LINE;
    if (end - w->seen <= SK_RING_BYTES)
        return true;
    w->seen = atomic_load_explicit(w->done, memory_order_acquire);
    return end - w->seen <= SK_RING_BYTES;
}

/* Append a packet of `len` bytes, at most SK_RING_PACKET, gathered from parts. False: no space. */
static inline bool sk_ring_push(sk_ring_writer *w, const struct iovec *part, int nparts, size_t len)
{
    uint64_t need = sk_ring_record(len), left = SK_RING_BYTES - w->at % SK_RING_BYTES;
    uint64_t gap = need > left ? left : 0, start = w->at + gap;
    if (!sk_ring_has_space(w, gap + need))
        return false;
    unsigned char *to = w->bytes + start % SK_RING_BYTES + SK_RING_WORD;
    sk_parts_copy(to, part, nparts);
    atomic_store_explicit(sk_ring_word(w->bytes, start + need), 0, memory_order_relaxed);
    atomic_store_explicit(sk_ring_word(w->bytes, start), sk_ring_mark(start, len, SK_RECORD_PACKET),
                          memory_order_release);
    if (gap)
        atomic_store_explicit(sk_ring_word(w->bytes, w->at), sk_ring_mark(w->at, 0, SK_RECORD_GAP),
                              memory_order_release);
    w->at = start + need;
    return true;
}

static inline bool sk_ring_has_packet(const sk_ring_reader *r)
{
    return atomic_load_explicit(sk_ring_word(r->bytes, r->at), memory_order_relaxed) != 0;
}

/* Find the oldest packet. It stays in the ring until sk_ring_pop. 1: found; 0: none; -EPROTO: the
 * writer is broken. */
static inline int sk_ring_front(sk_ring_reader *r, const void **data, size_t *len)
{
    uint64_t word = atomic_load_explicit(sk_ring_word(r->bytes, r->at), memory_order_acquire);
    if (word == 0)
        return 0;
    uint64_t in = r->at % SK_RING_BYTES;
    if (word == sk_ring_mark(r->at, 0, SK_RECORD_GAP) && in != 0) {
        r->at += SK_RING_BYTES - in;
        in = 0;
        word = atomic_load_explicit(sk_ring_word(r->bytes, r->at), memory_order_acquire);
    }
    size_t is = (uint32_t)word >> 2;
    if (word != sk_ring_mark(r->at, is, SK_RECORD_PACKET) || is > SK_RING_PACKET ||
        in + sk_ring_record(is) > SK_RING_BYTES)
        return -EPROTO;
    *data = r->bytes + in + SK_RING_WORD;
    *len = is;
    return 1;
}

/* Remove the packet that sk_ring_front has found. */
static inline void sk_ring_pop(sk_ring_reader *r, size_t len)
{
    r->at += sk_ring_record(len);
    if (r->at - r->published >= SK_RING_BYTES / 4) {
        r->published = r->at;
        atomic_store_explicit(r->done, r->at, memory_order_release);
    }
}

#endif
