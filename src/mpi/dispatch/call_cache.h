/* call_cache.h: the descriptors of recent calls, so that a call just like an earlier one, with equal
 * arguments except for the buffers, takes the short way.
 *
 * Equal handles must mean equal objects. So calls with derived types are cached until any such type is freed. Of an operation
 * of the user a plan only needs to know whether it commutes, which is asked each time. A blocking call is cached once discovery has run on its communicator. A cached call needs
 * nothing before it runs, except for the set-ups of neighbourhood collectives. */
#ifndef SK_CALL_CACHE_H
#define SK_CALL_CACHE_H

#include <string.h>

#include "base/attr.h"
#include "mpi/dispatch/descriptor.h"

enum {
    SK_CALL_SETS = 16,
    SK_CALL_WAYS = 4,
    SK_CALL_ARRAYS = 6,
    SK_CALL_FEW_HANDLES = 3,
    SK_CALL_SEEN = 256,
};

struct sk_call_entry {
    sk_descriptor descriptor;
    int64_t version;      /* of the neighbourhood */
    bool own_op, ordered; /* an operation of the user, which does not commute */
    bool derived;         /* it has types or an operation of the user, */
    uint64_t freed; /* and so many types had been freed when it was planned: sk_proc.types_freed */
    sk_args args;
    uintptr_t distance;
    unsigned buffers; /* sk_call_buffers */
    char *arrays;     /* copies of the user's significant arrays, one after the other; NULL: none */
    uint32_t array_bytes[SK_CALL_ARRAYS]; /* 0: not significant */
    MPI_Datatype few[SK_CALL_FEW_HANDLES];
    MPI_Datatype *handles; /* few, or allocated */
};

/* Calls that fall on the same set, at most so many as it has ways: of a program's few calls all stay. */
struct sk_call_set {
    struct sk_call_entry *way[SK_CALL_WAYS];
    uint32_t mark
        [SK_CALL_WAYS]; /* hashes of their arguments without arrays: most others differ in them */
    unsigned next;      /* the way to be filled next */
};

struct sk_call_cache {
    struct sk_call_set set[SK_CALL_SETS];
    struct sk_call_entry
        *last[SK_PERSISTENT]
             [SK_NCOLLS];        /* found last, by form, of one epoch, of nothing, or the host's;
                                                           * NULL: none */
    uint32_t seen[SK_CALL_SEEN]; /* hashes of calls that were not planned */
};

/* A plan depends on the buffers only in this: in place or not, null or not, and whether data is sent
 * from where it is received, which is so at one distance between the buffers. */
static SK_INLINED unsigned sk_call_buffers(const sk_args *a, uintptr_t distance)
{
    return (a->sbuf == MPI_IN_PLACE) | (a->rbuf == MPI_IN_PLACE) << 1 | (a->sbuf == NULL) << 2 |
           (a->rbuf == NULL) << 3 | ((uintptr_t)a->sbuf - (uintptr_t)a->rbuf == distance) << 4;
}

/* Is the array as it was, at *seen, which goes on to the next? Short ones are compared without a call. No
 * element is shorter than four bytes. Arrays that did not matter then do not matter now. */
static SK_INLINED bool sk_call_same_array(const char **seen, const void *now, uint32_t bytes)
{
    enum { FEW = 64 };
    const char *x = *seen, *y = now;
    uint64_t wx, wy;
    uint32_t hx, hy, i = 0;
    if (!bytes)
        return true;
    *seen += bytes;
    if (!now || bytes > FEW)
        return now && memcmp(x, y, bytes) == 0;
    for (; i + sizeof wx <= bytes; i += (uint32_t)sizeof wx) {
        memcpy(&wx, x + i, sizeof wx);
        memcpy(&wy, y + i, sizeof wy);
        if (wx != wy)
            return false;
    }
    if (i == bytes)
        return true;
    memcpy(&hx, x + i, sizeof hx);
    memcpy(&hy, y + i, sizeof hy);
    return hx == hy;
}

static SK_INLINED bool sk_call_same_arrays(const struct sk_call_entry *p, const sk_args *a)
{
    const char *seen = p->arrays;
    const uint32_t *bytes = p->array_bytes;
    return seen && a->wide == p->args.wide && sk_call_same_array(&seen, a->scounts, bytes[0]) &&
           sk_call_same_array(&seen, a->sdispls, bytes[1]) &&
           sk_call_same_array(&seen, a->rcounts, bytes[2]) &&
           sk_call_same_array(&seen, a->rdispls, bytes[3]) &&
           sk_call_same_array(&seen, a->stypes, bytes[4]) &&
           sk_call_same_array(&seen, a->rtypes, bytes[5]);
}

/* Is it a call just like that one, in the same neighbourhood? Mostly nothing differs, so there is no branch
 * per field. */
static SK_INLINED bool sk_call_entry_matches(const struct sk_call_entry *p, const sk_args *a)
{
    const sk_args *x = &p->args;
    uint64_t differ =
        (uint64_t)(x->scount ^ a->scount) | (uint64_t)(x->rcount ^ a->rcount) |
        ((uintptr_t)x->stype ^ (uintptr_t)a->stype) | ((uintptr_t)x->rtype ^ (uintptr_t)a->rtype) |
        ((uintptr_t)x->op ^ (uintptr_t)a->op) | (uint64_t)(x->root ^ a->root) |
        (x->coll ^ a->coll) | (x->form ^ a->form) | (p->buffers ^ sk_call_buffers(a, p->distance));
    return !differ && (sk_args_has_arrays(a) ? sk_call_same_arrays(p, a) : !p->arrays);
}

/* NULL: take the long way. */
SK_HOT sk_descriptor *sk_call_cache_find(const sk_args *a, const sk_comm *c);

/* Add a call that was just planned. NULL: it is not cached. */
sk_descriptor *sk_call_cache_add(const sk_args *a, sk_comm *c, const sk_mpi_call *call,
                                 sk_plan *plan);

/* A call that the host serves and that is not in the cache: was one just like it seen lately? Then it is worth planning, so
 * that the next one takes the short way. Where sizes change from call to call, planning takes longer than short calls. */
bool sk_call_cache_seen(const sk_args *a, sk_comm *c);

/* The next blocking call takes the long way, where the ranks agree. */
void sk_call_cache_owe(sk_comm *c);

/* It is decided which algorithm serves these calls: forget those that were planned with another. If that is held, the
 * ranks agree in the next blocking call. */
void sk_call_cache_decided(sk_comm *c, const sk_guarded *g);

#endif
