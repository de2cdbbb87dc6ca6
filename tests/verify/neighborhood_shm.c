/* neighborhood_shm.c: neighbourhoods that share memory, more of them than `verify` walks through:
 * graphs with loops, parallel edges and ranks without neighbours; one node and several; slots from a
 * few bytes on; blocks that fit, that are read where they lie, and that have to be sent. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "tap.h"

static uint64_t draw(uint64_t *lot, uint64_t n)
{
    *lot = shade_mix(*lot + 0x9e3779b97f4a7c15u);
    return (*lot >> 8) % n;
}

/* A call of this algorithm on this neighbourhood, by lot. Most slots hold the blocks. */
static kase any_call(const sk_algo *a, const neighborhoods *h, uint64_t lot)
{
    static const int64_t units[] = {0, 1, 7, 40, 300},
                         slot_sizes[] = {64, 300, 4096, 1 << 17, 1 << 19};
    return (kase){.coll = a->coll,
                  .p = h->p,
                  .units = units[draw(&lot, 5)],
                  .lay = (layout)draw(&lot, LAY_COUNT),
                  .spread =
                      coll_is_v(a->coll) ? (enum spread)draw(&lot, SPREAD_COUNT) : SPREAD_EVEN,
                  .neighborhoods = h,
                  .combine = (int64_t)draw(&lot, 3) * 200,
                  .window = (int)draw(&lot, 3) * 2,
                  .machine = h->machine,
                  .slot_bytes = slot_sizes[draw(&lot, 5)],
                  .direct = draw(&lot, 2)};
}

typedef struct totals {
    long right, wrong, epochs; /* `epochs`: of those that are right, schedules with epochs */
} totals;

static bool has_epochs(const sk_algo *a, const kase *k)
{
    char why[256];
    scene *sc = scene_new(k);
    sk_sched **scheds = sc ? scheds_build(a, sc, why, sizeof why) : NULL;
    bool some = scheds && sk_sched_view(scheds[0])->nepochs > 0;
    scheds_free(scheds, k->p);
    scene_free(sc);
    return some;
}

static void try(const sk_algo *a, world *w, const kase *k, totals *t)
{
    char why[256], what[256];
    verdict v = check_algo(w, a, k, why, sizeof why);
    t->right += v == RIGHT;
    t->wrong += v == WRONG;
    t->epochs += v == RIGHT && has_epochs(a, k);
    if (v == WRONG && t->wrong < 6) {
        kase_print(k, what, sizeof what);
        printf("# FAIL %s %s: %s\n", a->name, what, why);
    }
}

static totals verify(const sk_algo *a, world *w, int most, int lots)
{
    totals t = {0};
    for (int p = 1; p <= most; p += p < 10 ? 1 : 11)
        for (int i = 0; i < GRAPH_COUNT * NEIGHBORHOODS_MACHINES; i++) {
            neighborhoods *h =
                neighborhoods_new((graph_kind)(i % GRAPH_COUNT), p, (unsigned)(p * 45 + i));
            for (int lot = 0; h && lot < lots; lot++) {
                kase k = any_call(a, h, (uint64_t)((p * 64 + i) * 64 + lot) * 7919);
                try(a, w, &k, &t);
            }
            t.wrong += !h;
            neighborhoods_free(h);
        }
    return t;
}

static bool uses_epochs(const sk_algo *a)
{
    bool equal = a->coll == SK_NEIGHBOR_ALLGATHER || a->coll == SK_NEIGHBOR_ALLTOALL;
    bool own = strcmp(a->name, "shm") == 0 || strcmp(a->name, "single-copy") == 0;
    return own || (equal && strcmp(a->name, "direct") != 0);
}

int main(void)
{
    world *w = world_new();
    bool quick = getenv("SK_VERIFY_QUICK") != NULL;
    if (!w)
        abort();
    for (const sk_algo *const *a = sk_algos(); *a; a++) {
        if (!sk_coll_neighbor((*a)->coll) || !uses_epochs(*a))
            continue;
        totals t = verify(*a, w, quick ? 9 : 32, quick ? 2 : 4);
        tap_ok(t.wrong == 0 && t.epochs > 0, "%s %s: %ld right, %ld of them with epochs, %ld wrong",
               sk_coll_name((*a)->coll), (*a)->name, t.right, t.epochs, t.wrong);
    }
    world_free(w);
    return tap_end();
}
