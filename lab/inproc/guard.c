/* local_guard.c: what ranks may read and write in slots of the in-process wire. */
#include "lab/inproc/slots.h"

typedef struct slot {
    uint32_t epoch;
    int owner;      /* n: the common one */
    int64_t lo, hi; /* in all slots */
} slot;

/* The slot that an address is in; false when it is in none of this node. */
static bool find_slot(const inproc_wire *w, int64_t at, slot *b)
{
    const inproc_node *n = w->node;
    uint32_t lo = 0, hi = n->nepochs;
    if (hi == 0 || at < n->first[0] || at >= n->first[hi])
        return false;
    while (hi - lo > 1) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (n->first[mid] <= at)
            lo = mid;
        else
            hi = mid;
    }
    int64_t stride = sk_inproc_slot_stride(n->epochs[lo].slot_bytes);
    b->epoch = lo;
    b->owner = (int)((at - n->first[lo]) / stride);
    b->lo = n->first[lo] + b->owner * stride;
    b->hi = b->lo + n->epochs[lo].slot_bytes;
    return true;
}

static sk_status read_byte(inproc_wire *w, const slot *b, int64_t at)
{
    const inproc_node *n = w->node;
    int writer = w->world->epochs->writer[at] - 1;
    size_t row = (size_t)b->epoch * (size_t)n->n;
    if (writer < 0)
        return sk_inproc_complain(w->world,
                                  "rank %d reads byte %lld of turn %u, which nobody wrote", w->rank,
                                  (long long)(at - b->lo), b->epoch);
    if (writer != w->local_rank &&
        !n->seen[(row + (size_t)w->local_rank) * (size_t)n->n + (size_t)writer])
        return sk_inproc_complain(w->world, "rank %d reads turn %u without waiting for rank %d",
                                  w->rank, b->epoch, n->local_ranks[writer]);
    return SK_OK;
}

static sk_status write_byte(inproc_wire *w, const slot *b, int64_t at)
{
    uint16_t *writer = &w->world->epochs->writer[at], me = (uint16_t)(w->local_rank + 1);
    if (*writer && *writer != me)
        return sk_inproc_complain(w->world, "ranks %d and %d both write byte %lld of turn %u",
                                  w->node->local_ranks[*writer - 1], w->rank,
                                  (long long)(at - b->lo), b->epoch);
    *writer = me;
    return SK_OK;
}

static sk_status may_write_slot(inproc_wire *w, const slot *b)
{
    const inproc_node *n = w->node;
    size_t mine = (size_t)b->epoch * (size_t)n->n + (size_t)w->local_rank;
    if (b->owner != w->local_rank && b->owner != n->n)
        return sk_inproc_complain(w->world, "rank %d writes the bay of rank %d in turn %u", w->rank,
                                  n->local_ranks[b->owner], b->epoch);
    if (!n->opened[mine] || n->posted[mine])
        return sk_inproc_complain(w->world, "rank %d writes turn %u, which is %s", w->rank,
                                  b->epoch, n->posted[mine] ? "published" : "not open");
    return SK_OK;
}

static sk_status may_touch(inproc_wire *w, sk_part part, bool write)
{
    const inproc_epochs *t = w->world->epochs;
    const sk_type *type = &w->types[part.type];
    slot b = {.lo = 0, .hi = 0};
    sk_status st = SK_OK;
    if (!t || !part.len)
        return SK_OK;
    for (int64_t k = 0, n, place; k < part.len && st == SK_OK; k += n) {
        n = sk_inproc_stretch(type, k, part.len, &place);
        uintptr_t rel = (uintptr_t)part.at + (uintptr_t)place - (uintptr_t)t->slots;
        if (rel >= (uintptr_t)t->bytes)
            return SK_OK;
        int64_t at = (int64_t)rel;
        if (k == 0) {
            if (!find_slot(w, at, &b))
                return sk_inproc_complain(w->world, "rank %d touches a bay of another node",
                                          w->rank);
            st = w->released > b.epoch
                     ? sk_inproc_complain(w->world, "rank %d touches turn %u, which it has passed",
                                          w->rank, b.epoch)
                 : write ? may_write_slot(w, &b)
                         : SK_OK;
        }
        if (at < b.lo || at + n > b.hi)
            return sk_inproc_complain(w->world, "rank %d leaves a bay of turn %u", w->rank,
                                      b.epoch);
        for (int64_t i = at; i < at + n && st == SK_OK; i++)
            st = write ? write_byte(w, &b, i) : read_byte(w, &b, i);
    }
    return st;
}

sk_status sk_inproc_may_read(inproc_wire *w, sk_part part)
{
    return may_touch(w, part, false);
}

sk_status sk_inproc_may_write(inproc_wire *w, sk_part part)
{
    return may_touch(w, part, true);
}
