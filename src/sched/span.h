/* span.h: what a step touches. A span is (buffer, offset, length), never a pointer, so a schedule
 * can be kept and run again on other buffers. */
#ifndef SK_SPAN_H
#define SK_SPAN_H

#include <stdbool.h>
#include <stdint.h>

/* The layout of a datatype as far as planning needs it. Index 0 of every type table is the byte.
 * `contig`: the packed bytes are the memory bytes, so a span of it may be cut anywhere. */
typedef struct sk_type {
    int64_t size;    /* data bytes of one element */
    int64_t extent;  /* memory step from one element to the next */
    int64_t true_lb; /* first byte touched, relative to the element's address */
    int64_t true_extent;
    bool contig;
} sk_type;

enum { SK_TYPE_BYTE = 0 };
extern const sk_type sk_type_byte;

typedef enum sk_buf { SK_SEND, SK_RECV, SK_SCRATCH, SK_NBUFS } sk_buf;

/* The slots of an epoch (see sched.h) are buffers too: a rank's own slot, or the common one. The
 * upper bits hold the epoch. */
enum { SK_SLOT = SK_NBUFS, SK_COMMON, SK_BUF_BITS = 8, SK_BUF_MASK = (1 << SK_BUF_BITS) - 1 };

static inline bool sk_buf_is_slot(uint32_t buf)
{
    return (buf & SK_BUF_MASK) >= SK_SLOT;
}

static inline uint32_t sk_buf_epoch(uint32_t buf)
{
    return buf >> SK_BUF_BITS;
}

/* `off` counts memory bytes from the buffer's address, `len` counts data bytes: a multiple of the
 * type's size, unless the type is contiguous. */
typedef struct sk_span {
    int64_t off;
    int64_t len;
    uint32_t type; /* index in the type table */
    uint32_t buf;  /* sk_buf, or a slot with its epoch */
} sk_span;

/* The memory that `n` elements touch, relative to the address of the first: [*lo, *hi). */
void sk_type_bounds(const sk_type *t, int64_t n, int64_t *lo, int64_t *hi);

/* Memory step over `len` data bytes of a type (whole elements, or any length when contiguous). */
static inline int64_t sk_type_stride(const sk_type *t, int64_t len)
{
    return t->contig || t->size == 0 ? len : len / t->size * t->extent;
}

/* The part [from, from + len) of a span, counted in data bytes. */
sk_span sk_span_cut(const sk_type *types, sk_span s, int64_t from, int64_t len);

/* Lengthen `run` by `next` if that follows it in memory; false: it does not. Any span follows an
 * empty run, and an empty span follows any run. */
bool sk_span_join(const sk_type *types, sk_span *run, sk_span next);

#endif
