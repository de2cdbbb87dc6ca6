/* side.c: see side.h. */
#include "side.h"

#include <stdlib.h>
#include <string.h>

typedef struct reach {
    MPI_Aint lo, hi; /* bytes touched, relative to the buffer's address */
} reach;

static reach reach_of(MPI_Datatype t, int count)
{
    MPI_Aint lb, extent, true_lb, true_extent;
    MPI_Type_get_extent(t, &lb, &extent);
    MPI_Type_get_true_extent(t, &true_lb, &true_extent);
    reach r = {0, 0};
    if (count > 0) {
        r.lo = true_lb;
        r.hi = true_lb + true_extent + extent * (count - 1);
    }
    return r;
}

static void widen(reach *all, reach one, MPI_Aint at)
{
    if (one.lo + at < all->lo)
        all->lo = one.lo + at;
    if (one.hi + at > all->hi)
        all->hi = one.hi + at;
}

/* Memory around the reach; the address passed to MPI stays aligned for any type. */
static void allocate(side *s, reach all)
{
    size_t below = ((size_t)(-all.lo) + 15) / 16 * 16;
    s->size = (GUARD + below + (size_t)all.hi + GUARD + 15) / 16 * 16;
    s->mem = must_alloc(s->size);
    s->before = must_alloc(s->size);
    s->after = must_alloc(s->size);
    s->buf = s->mem + GUARD + below;
}

/* MPICH 4.0.2 cuts the blocks of a long allgatherv by elements, which it takes for equal on all
 * ranks. */
static int divisor(rng *r, int n)
{
    if (test_on_host())
        return n;
    int d = 1 + rng_below(r, n);
    while (n % d != 0)
        d--;
    return d;
}

static MPI_Datatype any_type(rng *r, int unit, int per, int slots, int total)
{
    if (test_on_host())
        return type_make_tame(unit, per);
    return total == 0 && rng_chance(r, 50) ? type_empty(r) : type_make(r, unit, per, slots);
}

/* Where blocks stand, counted in elements: in a shuffled order, with gaps, from below zero on. */
static void scatter_blocks(side *s, rng *r, bool on_top)
{
    int *order = must_alloc((size_t)s->n * sizeof *order);
    /* MPICH 4.0.2 takes no notice of the displacement in an allgatherv over one rank */
    int at = test_on_host() && s->n == 1 ? 0 : rng_below(r, 5) - 2;
    for (int i = 0; i < s->n; i++)
        order[i] = i;
    rng_shuffle(r, order, s->n);
    for (int i = 0; i < s->n; i++) {
        s->displs[order[i]] = at;
        if (!on_top)
            at += s->counts[order[i]] + rng_below(r, 2);
    }
    free(order);
}

static void make_typed(side *s, rng *r, shape how, int unit, const int *units, int grain,
                       bool on_top)
{
    int per = divisor(r, grain), total = 0;
    for (int i = 0; i < s->n; i++) {
        s->counts[i] = units[i] / per;
        total += s->counts[i];
    }
    s->type = any_type(r, unit, per, total + 2 * s->n + 4, total);
    s->owned = true;
    s->count = s->counts[0];
    if (how == S_VBLOCKS)
        scatter_blocks(s, r, on_top);
    else
        for (int i = 0; i < s->n; i++)
            s->displs[i] = i * s->count;
    MPI_Aint lb, extent;
    MPI_Type_get_extent(s->type, &lb, &extent);
    reach all = {0, 0};
    for (int i = 0; i < s->n; i++)
        if (s->counts[i] > 0)
            widen(&all, reach_of(s->type, s->counts[i]), s->displs[i] * extent);
    allocate(s, all);
    if (!test_on_host() && rng_chance(r, 8))
        s->absolute = type_absolute(s->type, s->buf);
}

/* A type for each block; displacements in bytes. */
static void make_each_typed(side *s, rng *r, int unit, const int *units, int grain)
{
    reach all = {0, 0};
    MPI_Aint at = 16 * (rng_below(r, 5) - 2);
    s->types = must_alloc((size_t)s->n * sizeof(MPI_Datatype));
    s->owned = true;
    for (int i = 0; i < s->n; i++) {
        int per = divisor(r, grain);
        s->counts[i] = units[i] / per;
        s->types[i] = any_type(r, unit, per, s->counts[i] + 1, s->counts[i]);
        reach one = reach_of(s->types[i], s->counts[i]);
        at = (at - one.lo + 15) / 16 * 16;
        s->displs[i] = (int)at;
        widen(&all, one, at);
        at += one.hi;
    }
    allocate(s, all);
}

void side_make(side *s, rng *r, shape how, int unit, int n, const int *units, int grain,
               bool read_only)
{
    *s = (side){.n = n, .type = MPI_DATATYPE_NULL, .absolute = MPI_DATATYPE_NULL};
    s->counts = must_alloc((size_t)n * sizeof(int));
    s->displs = must_alloc((size_t)n * sizeof(int));
    if (how == S_WBLOCKS)
        make_each_typed(s, r, unit, units, grain);
    else
        make_typed(s, r, how, unit, units, grain, read_only && rng_chance(r, 10));
}

void side_make_plain(side *s, MPI_Datatype type, int count)
{
    *s = (side){.n = 1, .type = type, .count = count, .absolute = MPI_DATATYPE_NULL};
    reach all = {0, 0};
    widen(&all, reach_of(type, count), 0);
    allocate(s, all);
}

bool side_at_bottom(const side *s)
{
    return s->mem != NULL && s->absolute != MPI_DATATYPE_NULL;
}

void side_free_types(side *s)
{
    if (!s->owned)
        return;
    if (s->types != NULL)
        for (int i = 0; i < s->n; i++)
            MPI_Type_free(&s->types[i]);
    else
        MPI_Type_free(&s->type);
    if (s->absolute != MPI_DATATYPE_NULL)
        MPI_Type_free(&s->absolute);
    s->owned = false;
}

void side_free(side *s)
{
    side_free_types(s);
    free(s->types);
    free(s->counts);
    free(s->displs);
    free(s->mem);
    free(s->before);
    free(s->after);
    *s = (side){0};
}

void side_remember(side *s)
{
    if (s->mem != NULL)
        memcpy(s->before, s->mem, s->size);
}

void side_expect(side *s)
{
    if (s->mem == NULL)
        return;
    memcpy(s->after, s->mem, s->size);
    memcpy(s->mem, s->before, s->size);
}

static void *packed(const side *s, const unsigned char *mem, int elems, int *bytes)
{
    int capacity = 0;
    PMPI_Pack_size(elems, s->type, MPI_COMM_SELF, &capacity);
    void *to = must_alloc((size_t)capacity);
    *bytes = 0;
    type_pack(mem + ((unsigned char *)s->buf - s->mem), elems, s->type, to, capacity, bytes);
    return to;
}

long side_differs(const side *s, int elems)
{
    size_t guard = elems >= 0 ? GUARD : s->size, off = (size_t)((unsigned char *)s->buf - s->mem);
    if (s->mem == NULL)
        return -1;
    for (size_t i = 0; i < s->size; i++) {
        bool inside = i >= guard && i < s->size - GUARD;
        if (!inside && s->mem[i] != s->after[i])
            return (long)i - (long)off;
    }
    if (elems <= 0)
        return -1;
    int n, m;
    char *is = packed(s, s->mem, elems, &n), *should = packed(s, s->after, elems, &m);
    long at = -1;
    for (int i = n - 1; i >= 0; i--)
        if (is[i] != should[i])
            at = i;
    free(is);
    free(should);
    return at;
}
