/* local_guard.c: what ranks may read and write in bays of the in-process wire. */
#include "lab/inproc/slots.h"

typedef struct bay {
    uint32_t turn;
    int owner;      /* n: the common one */
    int64_t lo, hi; /* in all bays */
} bay;

/* The bay that an address is in; false when it is in none of this node. */
static bool find_bay(const local_wire *w, int64_t at, bay *b)
{
    const local_node *n = w->node;
    uint32_t lo = 0, hi = n->nturns;
    if (hi == 0 || at < n->first[0] || at >= n->first[hi])
        return false;
    while (hi - lo > 1) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (n->first[mid] <= at)
            lo = mid;
        else
            hi = mid;
    }
    int64_t stride = sk_local_bay_stride(n->turns[lo].room);
    b->turn = lo;
    b->owner = (int)((at - n->first[lo]) / stride);
    b->lo = n->first[lo] + b->owner * stride;
    b->hi = b->lo + n->turns[lo].room;
    return true;
}

static sk_status read_byte(local_wire *w, const bay *b, int64_t at)
{
    const local_node *n = w->node;
    int writer = w->world->turns->writer[at] - 1;
    size_t row = (size_t)b->turn * (size_t)n->n;
    if (writer < 0)
        return sk_local_complain(w->world, "rank %d reads byte %lld of turn %u, which nobody wrote",
                                 w->rank, (long long)(at - b->lo), b->turn);
    if (writer != w->mate && !n->seen[(row + (size_t)w->mate) * (size_t)n->n + (size_t)writer])
        return sk_local_complain(w->world, "rank %d reads turn %u without waiting for rank %d",
                                 w->rank, b->turn, n->mates[writer]);
    return SK_OK;
}

static sk_status write_byte(local_wire *w, const bay *b, int64_t at)
{
    uint16_t *writer = &w->world->turns->writer[at], me = (uint16_t)(w->mate + 1);
    if (*writer && *writer != me)
        return sk_local_complain(w->world, "ranks %d and %d both write byte %lld of turn %u",
                                 w->node->mates[*writer - 1], w->rank, (long long)(at - b->lo),
                                 b->turn);
    *writer = me;
    return SK_OK;
}

static sk_status may_write_bay(local_wire *w, const bay *b)
{
    const local_node *n = w->node;
    size_t mine = (size_t)b->turn * (size_t)n->n + (size_t)w->mate;
    if (b->owner != w->mate && b->owner != n->n)
        return sk_local_complain(w->world, "rank %d writes the bay of rank %d in turn %u", w->rank,
                                 n->mates[b->owner], b->turn);
    if (!n->opened[mine] || n->published[mine])
        return sk_local_complain(w->world, "rank %d writes turn %u, which is %s", w->rank, b->turn,
                                 n->published[mine] ? "published" : "not open");
    return SK_OK;
}

static sk_status may_touch(local_wire *w, sk_part part, bool write)
{
    const local_turns *t = w->world->turns;
    const sk_type *type = &w->types[part.type];
    bay b = {.lo = 0, .hi = 0};
    sk_status st = SK_OK;
    if (!t || !part.len)
        return SK_OK;
    for (int64_t k = 0, n, place; k < part.len && st == SK_OK; k += n) {
        n = sk_local_stretch(type, k, part.len, &place);
        uintptr_t rel = (uintptr_t)part.at + (uintptr_t)place - (uintptr_t)t->bays;
        if (rel >= (uintptr_t)t->bytes)
            return SK_OK;
        int64_t at = (int64_t)rel;
        if (k == 0) {
            if (!find_bay(w, at, &b))
                return sk_local_complain(w->world, "rank %d touches a bay of another node",
                                         w->rank);
            st = w->passed > b.turn
                     ? sk_local_complain(w->world, "rank %d touches turn %u, which it has passed",
                                         w->rank, b.turn)
                 : write ? may_write_bay(w, &b)
                         : SK_OK;
        }
        if (at < b.lo || at + n > b.hi)
            return sk_local_complain(w->world, "rank %d leaves a bay of turn %u", w->rank, b.turn);
        for (int64_t i = at; i < at + n && st == SK_OK; i++)
            st = write ? write_byte(w, &b, i) : read_byte(w, &b, i);
    }
    return st;
}

sk_status sk_local_may_read(local_wire *w, sk_part part)
{
    return may_touch(w, part, false);
}

sk_status sk_local_may_write(local_wire *w, sk_part part)
{
    return may_touch(w, part, true);
}
