#include "scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "select/select.h"
#include "shade.h"

enum {
    T_BYTE,
    T_12,
    T_4,
    T_HOLE6,
    T_HOLE3,
    T_BACK2,
    T_HOLE12,
    T_NONE,
    T_8,
    T_HOLE8,
    T_BACK8,
    NTYPES
};

const sk_type scene_types[NTYPES] = {
    [T_BYTE] = {.size = 1, .extent = 1, .true_extent = 1, .contig = true},
    [T_12] = {.size = 12, .extent = 12, .true_extent = 12, .contig = true},
    [T_4] = {.size = 4, .extent = 4, .true_extent = 4, .contig = true},
    [T_HOLE6] = {.size = 6, .extent = 11, .true_lb = 1, .true_extent = 9},
    [T_HOLE3] = {.size = 3, .extent = 5, .true_extent = 4},
    [T_BACK2] = {.size = 2, .extent = -7, .true_lb = -1, .true_extent = 4},
    [T_HOLE12] = {.size = 12, .extent = 16, .true_lb = -3, .true_extent = 15},
    [T_NONE] = {.extent = 8},
    [T_8] = {.size = 8, .extent = 8, .true_extent = 8, .contig = true},
    [T_HOLE8] = {.size = 8, .extent = 24, .true_lb = 8, .true_extent = 12},
    [T_BACK8] = {.size = 8, .extent = -20, .true_lb = -3, .true_extent = 11},
};

bool coll_is_rooted(sk_coll c)
{
    return c == SK_BCAST || c == SK_SCATTER || c == SK_SCATTERV || c == SK_GATHER ||
           c == SK_GATHERV || c == SK_REDUCE;
}

bool coll_is_v(sk_coll c)
{
    return c == SK_SCATTERV || c == SK_GATHERV || c == SK_ALLGATHERV || c == SK_ALLTOALLV ||
           c == SK_ALLTOALLW || c == SK_REDUCE_SCATTER || c == SK_NEIGHBOR_ALLGATHERV ||
           c == SK_NEIGHBOR_ALLTOALLV || c == SK_NEIGHBOR_ALLTOALLW;
}

bool coll_reduces(sk_coll c)
{
    return c == SK_REDUCE || c == SK_ALLREDUCE || c == SK_REDUCE_SCATTER ||
           c == SK_REDUCE_SCATTER_BLOCK || c == SK_SCAN || c == SK_EXSCAN;
}

bool coll_has_in_place(sk_coll c)
{
    return c != SK_BARRIER && c != SK_BCAST && !sk_coll_neighbor(c);
}

bool coll_gathers_from_neighbors(sk_coll c)
{
    return c == SK_NEIGHBOR_ALLGATHER || c == SK_NEIGHBOR_ALLGATHERV;
}

static bool coll_has_types(sk_coll c)
{
    return c == SK_ALLTOALLW || c == SK_NEIGHBOR_ALLTOALLW;
}

bool scene_knows(const scene *sc, int rank)
{
    return !sc->k.neighborhoods || !neighborhoods_idle(sc->k.neighborhoods, rank);
}

/* Elements, in units, of the block that rank i gives to rank j, or has for its neighbour number j.
 * In place, what i gives to j is as
 * long as what j gives to i. */
static int64_t block_units(const kase *k, int i, int j)
{
    bool pairs = k->coll == SK_ALLTOALLV || k->coll == SK_ALLTOALLW ||
                 k->coll == SK_NEIGHBOR_ALLTOALLV || k->coll == SK_NEIGHBOR_ALLTOALLW;
    if (!coll_is_v(k->coll) || k->spread == SPREAD_EVEN || k->units == 0)
        return k->units;
    if (!pairs)
        j = 0;
    else if (k->in_place && i > j) {
        int t = i;
        i = j;
        j = t;
    }
    if (k->spread == SPREAD_ONE)
        return i == k->p / 2 && j == (pairs && !k->neighborhoods ? k->p - 1 : 0) ? k->units : 0;
    return (5 * i + 3 * j + k->units) % (2 * k->units + 1);
}

/* Alltoall by doubling holds p^3 blocks. Beyond 200 ranks mixed types have units of 6 bytes, not
 * 12: those of 4 and 12 bytes are left out. Nothing is lost: contiguous types, holes and types that
 * run backwards are all still there, and what an algorithm does with a type does not depend on p.
 * All types meet every p up to 10, and samples of the larger ones. */
static bool is_huge(const kase *k)
{
    return k->coll == SK_ALLTOALL && k->p > 200;
}

static uint32_t pick_type(const kase *k, int rank, int side, int block)
{
    static const uint32_t mixed[] = {T_BYTE, T_HOLE6, T_4, T_HOLE3, T_12, T_BACK2, T_HOLE12};
    static const uint32_t mixed6[] = {T_BYTE, T_HOLE6, T_HOLE3, T_BACK2};
    uint64_t h = shade_mix(((uint64_t)rank * 2 + (uint64_t)side) * 4099 + (uint64_t)block + 17);
    bool reduces = coll_reduces(k->coll); /* the standard asks for one type on all ranks there */
    switch (k->lay) {
    case LAY_PLAIN:
        return reduces ? T_8 : T_BYTE;
    case LAY_HOLES:
        return reduces ? T_HOLE8 : T_HOLE6;
    case LAY_MIXED:
        if (is_huge(k))
            return mixed6[h % (sizeof mixed6 / sizeof *mixed6)];
        return reduces ? T_BACK8 : mixed[h % (sizeof mixed / sizeof *mixed)];
    default:
        return T_NONE;
    }
}

/* Data bytes of one unit: the same on all ranks, whatever their types. */
static int64_t unit_bytes(const kase *k)
{
    if (k->lay == LAY_EMPTY)
        return 0;
    if (coll_reduces(k->coll))
        return 8;
    return k->lay == LAY_PLAIN ? 1 : k->lay == LAY_HOLES || is_huge(k) ? 6 : 12;
}

static void extend(side_map *m, sk_span s)
{
    int64_t lo, hi, n = scene_types[s.type].size ? s.len / scene_types[s.type].size : 0;
    sk_type_bounds(&scene_types[s.type], n, &lo, &hi);
    if (lo == hi)
        return;
    bool first = m->lo == m->hi;
    m->lo = first || s.off + lo < m->lo ? s.off + lo : m->lo;
    m->hi = first || s.off + hi > m->hi ? s.off + hi : m->hi;
}

/* Blocks in an order of the rank's own, with gaps: displacements may be anything. */
static void scatter_blocks(const kase *k, int rank, side_map *m, int64_t *offs)
{
    int64_t at = k->lay == LAY_PLAIN ? 0 : 3;
    for (int n = 0; n < m->n; n++) {
        int i = k->lay == LAY_PLAIN ? n : (m->n - 1 - n + rank) % m->n;
        const sk_type *t = &scene_types[m->block[i].type];
        int64_t lo, hi;
        sk_type_bounds(t, t->size ? m->block[i].len / t->size : 0, &lo, &hi);
        m->block[i].off = offs[i] = at - lo;
        at += hi - lo + (k->lay == LAY_PLAIN ? 0 : (i + rank) % 4);
    }
}

typedef int64_t units_of(const kase *k, int rank, int block);

/* One side of one call: `n` blocks, each with its own length and place when `arrays` is set. */
static bool make_side(scene *sc, int rank, int side, int n, bool arrays, units_of *units)
{
    const kase *k = &sc->k;
    sk_call *c = &sc->call[rank];
    sk_side *s = side ? &c->recv : &c->send;
    side_map *m = side ? &sc->recv[rank] : &sc->send[rank];
    size_t words = ((size_t)n + 1) * sizeof(int64_t); /* one at least: a count without blocks */
    m->n = n;
    m->block = sk_arena_get(sc->arena, (size_t)n * sizeof *m->block);
    int64_t *counts = sk_arena_get(sc->arena, words), *offs = sk_arena_get(sc->arena, words);
    uint32_t *types = sk_arena_get(sc->arena, words);
    if (!m->block || !counts || !offs || !types)
        return false;
    for (int i = 0; i < n; i++) {
        types[i] = pick_type(k, rank, side, coll_has_types(k->coll) ? i : 0);
        const sk_type *t = &scene_types[types[i]];
        int64_t bytes = units(k, rank, i) * unit_bytes(k);
        counts[i] = t->size ? bytes / t->size : units(k, rank, i);
        m->block[i] = (sk_span){.off = i * counts[i] * t->extent,
                                .len = bytes,
                                .type = types[i],
                                .buf = side ? SK_RECV : SK_SEND};
    }
    if (arrays)
        scatter_blocks(k, rank, m, offs);
    for (int i = 0; i < n; i++)
        extend(m, m->block[i]);
    if (n == 0)
        types[0] = pick_type(k, rank, side, 0);
    *s = (sk_side){.count = arrays ? 0 : counts[0],
                   .counts = arrays ? counts : NULL,
                   .offs = arrays ? offs : NULL,
                   .type = coll_has_types(k->coll) ? 0 : types[0],
                   .types = coll_has_types(k->coll) ? types : NULL};
    return true;
}

static int64_t own_units(const kase *k, int rank, int block)
{
    (void)block;
    return block_units(k, rank, 0);
}

static int64_t blocks_units(const kase *k, int rank, int block)
{
    (void)rank;
    return block_units(k, block, 0);
}

static int64_t to_units(const kase *k, int rank, int block)
{
    return block_units(k, rank, block);
}

static int64_t from_units(const kase *k, int rank, int block)
{
    return block_units(k, block, rank);
}

static int64_t edge_units_in(const kase *k, int rank, int edge)
{
    int source = k->neighborhoods->graph[rank]->in[edge];
    if (source == SK_PROC_NULL)
        return k->units;
    return block_units(k, source, k->neighborhoods->from[rank][edge]);
}

static int64_t vector_units(const kase *k, int rank, int block)
{
    (void)rank;
    (void)block;
    int64_t sum = 0;
    if (k->coll != SK_REDUCE_SCATTER && k->coll != SK_REDUCE_SCATTER_BLOCK)
        return k->units;
    for (int i = 0; i < k->p; i++)
        sum += block_units(k, i, 0);
    return sum;
}

/* The call says all blocks' counts, the buffer holds one block, or all as one vector in place. */
static bool make_reduce_scatter(scene *sc, int rank)
{
    const kase *k = &sc->k;
    sk_call *c = &sc->call[rank];
    int64_t *counts = sk_arena_get(sc->arena, (size_t)k->p * sizeof *counts);
    if (!counts || !make_side(sc, rank, 0, 1, false, vector_units) ||
        !make_side(sc, rank, 1, 1, false, k->in_place ? vector_units : own_units))
        return false;
    for (int i = 0; i < k->p; i++)
        counts[i] = block_units(k, i, 0);
    sk_span *out = &sc->recv[rank].block[0];
    if (k->in_place) {
        sc->send[rank] = (side_map){0};
        out->len = own_units(k, rank, 0) * unit_bytes(k);
    }
    out->type = c->recv.type = c->send.type;
    c->recv.count = k->coll == SK_REDUCE_SCATTER ? 0 : k->units;
    c->recv.counts = k->coll == SK_REDUCE_SCATTER ? counts : NULL;
    return true;
}

/* Input and result have one type on a rank. In place, the call still tells count and type of the
 * input, but it stands in the receive buffer. */
static bool make_vectors(scene *sc, int rank)
{
    const kase *k = &sc->k;
    sk_call *c = &sc->call[rank];
    if (!make_side(sc, rank, 0, 1, false, vector_units))
        return false;
    if (k->coll == SK_REDUCE && rank != k->root)
        return true;
    side_map *in = &sc->send[rank], *out = &sc->recv[rank];
    c->recv = c->send;
    *out = *in;
    out->block = sk_arena_copy(sc->arena, in->block, sizeof *in->block);
    if (!out->block)
        return false;
    out->block[0].buf = SK_RECV;
    if (c->in_place)
        *in = (side_map){0};
    return true;
}

static bool make_neighbors(scene *sc, int rank)
{
    const kase *k = &sc->k;
    const sk_graph *g = k->neighborhoods->graph[rank];
    bool v = coll_is_v(k->coll), gathers = coll_gathers_from_neighbors(k->coll);
    sc->neighborhood[rank] = neighborhoods_of(k->neighborhoods, rank, k->combine, k->window);
    sc->call[rank].neighborhood = &sc->neighborhood[rank].base;
    return (gathers ? make_side(sc, rank, 0, 1, false, own_units)
                    : make_side(sc, rank, 0, g->nout, v, to_units)) &&
           make_side(sc, rank, 1, g->nin, v, edge_units_in);
}

/* Operations of the standard commute, and their types have one layout everywhere, maybe with holes:
 * those of MINLOC. */
static bool is_builtin(const kase *k)
{
    return coll_reduces(k->coll) && !k->ordered && (k->lay == LAY_PLAIN || k->lay == LAY_HOLES);
}

/* The rules with default settings, for algorithms that are made of others. */
static const sk_chooser *default_chooser(void)
{
    static sk_select *select;
    char err[128];
    if (!select && sk_select_new(NULL, &select, err, sizeof err) != SK_OK)
        abort();
    return sk_select_chooser(select);
}

static bool make_call(scene *sc, int rank)
{
    const kase *k = &sc->k;
    sk_call *c = &sc->call[rank];
    bool v = coll_is_v(k->coll), at_root = rank == k->root;
    bool in_place = k->in_place && (!coll_is_rooted(k->coll) || at_root);
    *c = (sk_call){.coll = k->coll,
                   .nranks = k->p,
                   .rank = rank,
                   .root = k->root,
                   .in_place = in_place,
                   .ordered = k->ordered,
                   .types = scene_types,
                   .ntypes = NTYPES,
                   .machine = k->machine,
                   .slot_bytes = k->slot_bytes,
                   .leaders = k->leaders,
                   .direct = k->direct,
                   .builtin = is_builtin(k),
                   .chooser = default_chooser()};
    switch (k->coll) {
    case SK_BARRIER:
    case SK_NCOLLS:
        return true;
    case SK_BCAST:
        return make_side(sc, rank, 1, 1, false, vector_units);
    case SK_SCATTER:
    case SK_SCATTERV:
        return (!at_root || make_side(sc, rank, 0, k->p, v, blocks_units)) &&
               (in_place || make_side(sc, rank, 1, 1, false, own_units));
    case SK_GATHER:
    case SK_GATHERV:
    case SK_ALLGATHER:
    case SK_ALLGATHERV:
        return (in_place || make_side(sc, rank, 0, 1, false, own_units)) &&
               ((coll_is_rooted(k->coll) && !at_root) ||
                make_side(sc, rank, 1, k->p, v, blocks_units));
    case SK_ALLTOALL:
    case SK_ALLTOALLV:
    case SK_ALLTOALLW:
        return (in_place || make_side(sc, rank, 0, k->p, v, to_units)) &&
               make_side(sc, rank, 1, k->p, v, from_units);
    case SK_REDUCE_SCATTER:
    case SK_REDUCE_SCATTER_BLOCK:
        return make_reduce_scatter(sc, rank);
    case SK_NEIGHBOR_ALLGATHER:
    case SK_NEIGHBOR_ALLGATHERV:
    case SK_NEIGHBOR_ALLTOALL:
    case SK_NEIGHBOR_ALLTOALLV:
    case SK_NEIGHBOR_ALLTOALLW:
        return make_neighbors(sc, rank);
    default:
        return make_vectors(sc, rank);
    }
}

scene *scene_new(const kase *k)
{
    sk_arena *arena = sk_arena_new();
    scene *sc = arena ? sk_arena_get(arena, sizeof *sc) : NULL;
    if (!sc)
        goto fail;
    size_t p = (size_t)k->p;
    sc->k = *k;
    sc->arena = arena;
    sc->call = sk_arena_get(arena, p * sizeof *sc->call);
    sc->send = sk_arena_get(arena, p * sizeof *sc->send);
    sc->recv = sk_arena_get(arena, p * sizeof *sc->recv);
    sc->neighborhood = sk_arena_get(arena, p * sizeof *sc->neighborhood);
    if (!sc->call || !sc->send || !sc->recv || !sc->neighborhood)
        goto fail;
    for (int r = 0; r < k->p; r++)
        if (!make_call(sc, r))
            goto fail;
    return sc;
fail:
    sk_arena_free(arena);
    return NULL;
}

void scene_free(scene *s)
{
    if (s)
        sk_arena_free(s->arena);
}

/* " nodes=0112 cores=4 slot_bytes=192 leaders=2 direct" */
static void print_machine(const kase *k, char *out, size_t size)
{
    size_t used = strlen(out);
    used += (size_t)snprintf(out + used, size - used, " nodes=");
    for (int r = 0; r < k->p && used + 1 < size; r++)
        used += (size_t)snprintf(out + used, size - used, "%d", k->machine->node[r]);
    if (used < size)
        snprintf(out + used, size - used, " cores=%d slot_bytes=%lld leaders=%d%s",
                 k->machine->cores, (long long)k->slot_bytes, k->leaders,
                 k->direct ? " direct" : "");
}

void kase_print(const kase *k, char *out, size_t size)
{
    static const char *const lays[] = {"plain", "holes", "mixed", "empty"};
    static const char *const spreads[] = {"even", "uneven", "one"};
    snprintf(out, size, "%s p=%d root=%d units=%lld %s %s%s%s", sk_coll_name(k->coll), k->p,
             k->root, (long long)k->units, lays[k->lay], spreads[k->spread],
             k->in_place ? " in-place" : "", k->ordered ? " ordered" : "");
    size_t used = strlen(out);
    if (k->neighborhoods)
        snprintf(out + used, size - used, " %s seed=%u on \"%s\" combine=%lld window=%d",
                 graph_kind_name(k->neighborhoods->kind), k->neighborhoods->seed,
                 k->neighborhoods->on, (long long)k->combine, k->window);
    if (k->machine)
        print_machine(k, out, size);
}
