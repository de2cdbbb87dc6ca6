/* bites.c: does the verifier bite? Every algorithm of the table gets every mistake at every step;
 * each of these mutants must be found out. Then whole algorithms that are wrong in ways no single
 * step is.
 *
 *   bites [collective [algorithm]] */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "mutate.h"
#include "tap.h"
#include "trail.h"
#include "wrong_algos.h"

typedef struct totals {
    long caught[MUT_COUNT], missed;
} totals;

/* No mistake: must be found right, or the mutants are caught for no good reason. */
static bool is_control(mutation m)
{
    return m == MUT_NONE || m == MUT_SPLIT;
}

static void try_mutant(world *w, const sk_algo *a, const scene *sc, sk_sched *const *scheds,
                       mutation m, int rank, uint32_t step, totals *t)
{
    char why[256] = "", what[256];
    sk_sched **mutant = mutate(sc, scheds, m, rank, step);
    bool right = mutant && check_scheds(w, sc, mutant, why, sizeof why);
    if (!mutant)
        snprintf(why, sizeof why, "freeze refuses it");
    if (right == is_control(m)) {
        t->caught[m]++;
    } else {
        kase_print(&sc->k, what, sizeof what);
        if (t->missed++ < 10)
            printf("# FAIL %s %s: %s at rank %d step %u %s %s\n", a->name, what, mutation_name[m],
                   rank, step, right ? "survives" : "is refused:", why);
    }
    scheds_free(mutant, sc->k.p);
}

typedef struct mistake {
    mutation m;
    int rank;
    uint32_t step;
} mistake;

/* All that would change something, found out before a mutant uses the world. */
static mistake *find_mistakes(const world *w, sk_sched *const *scheds, const trail *tr, size_t *n)
{
    size_t steps = 0;
    for (int r = 0; r < w->p; r++)
        steps += sk_sched_view(scheds[r])->nsteps;
    mistake *list = calloc(steps * MUT_COUNT + 1, sizeof *list);
    if (!list)
        abort();
    *n = 1; /* the first one is none */
    for (int r = 0; r < w->p; r++)
        for (uint32_t i = 0; i < sk_sched_view(scheds[r])->nsteps; i++)
            for (int m = MUT_NONE + 1; m < MUT_COUNT; m++)
                if (mutation_applies(w, scheds, tr, (mutation)m, r, i))
                    list[(*n)++] = (mistake){(mutation)m, r, i};
    return list;
}

static void try_mutants(world *w, const sk_algo *a, const scene *sc, sk_sched *const *scheds,
                        const trail *tr, totals *t)
{
    size_t n;
    mistake *list = find_mistakes(w, scheds, tr, &n);
    for (size_t i = 0; i < n; i++)
        try_mutant(w, a, sc, scheds, list[i].m, list[i].rank, list[i].step, t);
    free(list);
}

static void try_case(world *w, const sk_algo *a, const kase *k, totals *t)
{
    char why[256];
    scene *sc = scene_new(k);
    if (!sc)
        abort();
    if (!a->fits || a->fits(&sc->call[0])) {
        sk_sched **scheds = scheds_build(a, sc, why, sizeof why);
        trail *tr = w->trail = trail_new();
        if (!tr)
            abort();
        if (scheds && world_lay(w, sc, scheds, SHADE_SUM, 0) && world_run(w, scheds) == SK_OK &&
            trail_close(tr, w->users, w->total)) {
            w->trail = NULL;
            try_mutants(w, a, sc, scheds, tr, t);
        } else {
            printf("# FAIL %s cannot run: %s\n", a->name, scheds ? sk_inproc_why(w->local) : why);
            t->missed++;
        }
        w->trail = NULL;
        trail_free(tr);
        scheds_free(scheds, k->p);
    }
    scene_free(sc);
}

static bool fits_without(const sk_algo *a, graph_kind kind, int p)
{
    neighborhoods *h = neighborhoods_new(kind, p, 0);
    kase k = {.coll = a->coll, .p = p, .units = 5, .neighborhoods = h, .combine = 64};
    scene *sc = h ? scene_new(&k) : NULL;
    if (!sc)
        abort();
    bool fits = !a->fits || a->fits(&sc->call[0]);
    scene_free(sc);
    neighborhoods_free(h);
    return fits;
}

/* All blocks are combined where there are sizes: a block that is not is an absent record, and a
 * mistake about an absent record is none. The direct pattern carries none, so blocks may be uneven. */
static void try_neighbors(world *w, const sk_algo *a, totals *t)
{
    static const struct {
        graph_kind kind;
        int p, window;
    } some[] = {{GRAPH_SPARSE, 6, 0}, {GRAPH_DENSE, 5, 2}, {GRAPH_TORUS, 4, 0}};
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        bool shared = !fits_without(a, some[i].kind, some[i].p);
        neighborhoods *h = neighborhoods_new(
            some[i].kind, some[i].p, 10 * (unsigned)i + (shared ? NEIGHBORHOODS_ONE_NODE : 0));
        if (!h)
            abort();
        kase k = {.coll = a->coll,
                  .p = h->p,
                  .units = 5,
                  .lay = LAY_HOLES,
                  .spread = strcmp(a->name, "direct") ? SPREAD_EVEN : SPREAD_UNEVEN,
                  .neighborhoods = h,
                  .combine = 64,
                  .window = some[i].window,
                  .machine = shared ? h->machine : NULL,
                  .slot_bytes = shared ? 4096 : 0,
                  .direct = shared};
        try_case(w, a, &k, t);
        neighborhoods_free(h);
    }
}

/* For those that know local ranks: one node; two with ranks in epochs; three, of 1, 2 and 3 ranks.
 * Slots are so small that data is cut. */
static void try_machines(world *w, const sk_algo *a, layout lay, totals *t)
{
    static const struct {
        int p, cores;
        const char *nodes;
    } some[] = {{4, 4, "0000"}, {5, 1, "00000"}, {8, 4, "01010101"}, {6, 0, "011222"}};
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        sk_location locations[8] = {{0}};
        sk_machine *m = NULL;
        for (int r = 0; r < some[i].p; r++)
            locations[r].node = some[i].nodes[r];
        if (sk_machine_new(some[i].p, locations, some[i].cores, &m) != SK_OK)
            abort();
        kase k = {.coll = a->coll,
                  .p = some[i].p,
                  .root = coll_is_rooted(a->coll) ? 1 : 0,
                  .lay = lay,
                  .spread = SPREAD_UNEVEN,
                  .machine = m,
                  .direct = true};
        for (int large = 0; large < 2; large++) {
            k.units = large ? 2 * k.p + 1 : 9;
            k.slot_bytes = large ? 4096 : 192;
            try_case(w, a, &k, t);
        }
        sk_machine_free(m);
    }
}

static long caught_by(const totals *t)
{
    long all = 0;
    for (int m = 0; m < MUT_COUNT; m++)
        all += is_control((mutation)m) ? 0 : t->caught[m];
    return all;
}

static void try_algo(world *w, const sk_algo *a, totals *t)
{
    static const int ranks[] = {3, 5, 8};
    for (int i = 0; i < 3; i++)
        for (int ordered = 0; ordered <= coll_reduces(a->coll); ordered++) {
            kase k = {.coll = a->coll, .p = ranks[i], .lay = LAY_HOLES, .spread = SPREAD_UNEVEN};
            k.units = 2 * k.p + 1;
            k.root = coll_is_rooted(a->coll) ? 1 : 0;
            k.ordered = ordered;
            try_case(w, a, &k, t);
            k.units = 130; /* scatterv and gatherv treat large blocks in another way */
            if (coll_is_rooted(a->coll) && coll_is_v(a->coll))
                try_case(w, a, &k, t);
        }
    if (caught_by(t) == 0) /* it fits nowhere without a machine */
        try_machines(w, a, LAY_HOLES, t);
    if (caught_by(t) == 0) /* nor for types with holes */
        try_machines(w, a, LAY_PLAIN, t);
}

static void try_wrong(world *w, const wrong_algo *x, const sk_machine *m)
{
    char why[256] = "";
    kase k = x->k;
    k.machine = m;
    bool bitten = check_algo(w, &x->algo, &k, why, sizeof why) == WRONG && strstr(why, x->why);
    if (!bitten)
        printf("# wanted \"%s\", got \"%s\"\n", x->why, why);
    tap_ok(bitten, "wrong algorithm caught: %s: %s", x->algo.name, x->why);
}

static void try_wrong_algos(world *w)
{
    for (const wrong_algo *x = wrong_algos; x->algo.name; x++)
        try_wrong(w, x, NULL);
    for (const wrong_shared *x = wrong_shareds; x->on; x++) {
        char err[256];
        sk_machine *m = NULL;
        if (sk_machine_parse(x->on, x->wrong.k.p, &m, err, sizeof err) != SK_OK)
            abort();
        try_wrong(w, &x->wrong, m);
        sk_machine_free(m);
    }
}

int main(int argc, char **argv)
{
    const char *coll = argc > 1 ? argv[1] : NULL, *name = argc > 2 ? argv[2] : NULL;
    world *w = world_new();
    long kinds[MUT_COUNT] = {0};
    if (!w)
        abort();
    for (const sk_algo *const *a = sk_algos(); *a; a++) {
        totals t = {0};
        if ((coll && strcmp(coll, sk_coll_name((*a)->coll)) != 0) ||
            (name && strcmp(name, (*a)->name) != 0))
            continue;
        (sk_coll_neighbor((*a)->coll) ? try_neighbors : try_algo)(w, *a, &t);
        long all = caught_by(&t);
        for (int m = 0; m < MUT_COUNT; m++)
            kinds[m] += t.caught[m];
        tap_ok(all > 0 && t.missed == 0, "%s %s: %ld mutants caught, %ld missed",
               sk_coll_name((*a)->coll), (*a)->name, all, t.missed);
    }
    for (int m = 0; m < MUT_COUNT; m++)
        tap_ok(kinds[m] > 0 || coll, "%s: %ld mutants %s", mutation_name[m], kinds[m],
               is_control((mutation)m) ? "found right, as they are" : "caught");
    try_wrong_algos(w);
    world_free(w);
    return tap_end();
}
