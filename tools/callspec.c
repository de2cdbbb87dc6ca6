#include "callspec.h"

#include <stdio.h>

enum { BYTE, ELEM, NTYPES };

struct sk_callspec_args {
    sk_callspec spec;
    sk_type types[NTYPES];
    int64_t *counts, *offs; /* of the blocks, one per rank */
    uint32_t *block_types;  /* for alltoallw */
};

/* The size of these collectives counts all blocks together. */
static bool splits(sk_coll coll)
{
    return coll == SK_ALLGATHERV || coll == SK_REDUCE_SCATTER || coll == SK_REDUCE_SCATTER_BLOCK;
}

sk_coll sk_neighbor_coll_find(const char *name)
{
    char full[64];
    sk_coll coll = sk_coll_find(name);
    if (coll != SK_NCOLLS && sk_coll_neighbor(coll))
        return coll;
    snprintf(full, sizeof full, "neighbor_%s", name);
    return sk_coll_find(full);
}

void sk_callspec_round(sk_callspec *s)
{
    if (s->coll == SK_REDUCE_SCATTER_BLOCK)
        s->elems = (s->elems + s->nranks - 1) / s->nranks * s->nranks;
}

sk_callspec_args *sk_callspec_args_new(sk_arena *a, const sk_callspec *s)
{
    size_t p = (size_t)s->nranks;
    sk_callspec_args *r = sk_arena_get(a, sizeof *r);
    int64_t *numbers = sk_arena_get(a, 2 * p * sizeof *numbers);
    uint32_t *types = sk_arena_get(a, p * sizeof *types);
    if (!r || !numbers || !types)
        return NULL;
    *r = (sk_callspec_args){
        .spec = *s, .counts = numbers, .offs = numbers + p, .block_types = types};
    r->types[BYTE] = sk_type_byte;
    r->types[ELEM] = (sk_type){
        .size = s->elem_size, .extent = s->elem_size, .true_extent = s->elem_size, .contig = true};
    int64_t off = 0;
    for (int i = 0; i < s->nranks; i++) {
        r->counts[i] =
            splits(s->coll) ? s->elems / s->nranks + (i < s->elems % s->nranks) : s->elems;
        r->offs[i] = off;
        r->block_types[i] = ELEM;
        off += r->counts[i] * s->elem_size;
    }
    return r;
}

static sk_side vector(int64_t count)
{
    return (sk_side){.count = count, .type = ELEM};
}

static sk_side blocks(const sk_callspec_args *r)
{
    return (sk_side){.counts = r->counts, .offs = r->offs, .type = ELEM};
}

sk_call sk_callspec_call(const sk_callspec_args *r, int rank)
{
    const sk_callspec *s = &r->spec;
    bool at_root = rank == s->root;
    sk_call c = {.coll = s->coll,
                 .nranks = s->nranks,
                 .rank = rank,
                 .root = s->root,
                 .ordered = s->ordered,
                 .types = r->types,
                 .ntypes = NTYPES,
                 .machine = s->machine,
                 .slot_bytes = s->slot_bytes,
                 .direct = s->slot_bytes > 0,
                 .builtin = !s->ordered,
                 .chooser = s->chooser};
    switch (s->coll) {
    case SK_BARRIER:
    case SK_NCOLLS:
        break;
    case SK_BCAST:
        c.recv = vector(s->elems);
        break;
    case SK_SCATTER:
    case SK_SCATTERV:
        if (at_root)
            c.send = s->coll == SK_SCATTER ? vector(s->elems) : blocks(r);
        c.recv = vector(s->elems);
        break;
    case SK_GATHER:
    case SK_GATHERV:
        c.send = vector(s->elems);
        if (at_root)
            c.recv = s->coll == SK_GATHER ? vector(s->elems) : blocks(r);
        break;
    case SK_ALLGATHERV:
        c.send = vector(r->counts[rank]);
        c.recv = blocks(r);
        break;
    case SK_ALLTOALLV:
    case SK_ALLTOALLW:
        c.send = c.recv = blocks(r);
        if (s->coll == SK_ALLTOALLW)
            c.send.types = c.recv.types = r->block_types;
        break;
    case SK_REDUCE_SCATTER:
        c.send = vector(s->elems);
        c.recv = blocks(r);
        c.recv.offs = NULL;
        break;
    case SK_REDUCE_SCATTER_BLOCK:
        c.send = vector(s->elems);
        c.recv = vector(s->elems / s->nranks);
        break;
    default: /* one block on each side, or one vector */
        c.send = c.recv = vector(s->elems);
    }
    return c;
}
