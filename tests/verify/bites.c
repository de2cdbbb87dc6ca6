/* bites.c: does the verifier bite? Every algorithm of the table gets every mistake at every step;
 * each of these mutants must be found out. Then whole algorithms that are wrong in ways no single
 * step is. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "mutate.h"
#include "trail.h"
#include "wrong_algos.h"

typedef struct tally {
    long caught[MUT_COUNT], missed;
} tally;

/* No mistake: must be found right, or the mutants are caught for no good reason. */
static bool is_control(mutation m)
{
    return m == MUT_NONE || m == MUT_SPLIT;
}

static void try_mutant(world *w, const sk_algo *a, const scene *sc, sk_sched *const *scheds,
                       mutation m, int rank, uint32_t step, tally *t)
{
    char why[256] = "", what[256];
    sk_sched **mutant = mutate(sc, scheds, m, rank, step);
    if (!mutant)
        abort();
    bool right = check_scheds(w, sc, mutant, why, sizeof why);
    if (right == is_control(m)) {
        t->caught[m]++;
    } else {
        kase_print(&sc->k, what, sizeof what);
        if (t->missed++ < 10)
            printf("  FAIL %s %s: %s at rank %d step %u %s %s\n", a->name, what, mutation_name[m],
                   rank, step, right ? "survives" : "is refused:", why);
    }
    scheds_free(mutant, sc->k.p);
}

static void try_case(world *w, const sk_algo *a, const kase *k, tally *t)
{
    char why[256];
    scene *sc = scene_new(k);
    if (!sc)
        abort();
    if (!a->fits || a->fits(&sc->call[0])) {
        sk_sched **scheds = scheds_build(a, sc, why, sizeof why);
        if (!scheds)
            abort();
        trail *tr = w->trail = trail_new();
        if (!tr || !world_lay(w, sc, scheds, SHADE_SUM, 0) || world_run(w, scheds) ||
            !trail_close(tr, w->users, w->total))
            abort();
        w->trail = NULL;
        try_mutant(w, a, sc, scheds, MUT_NONE, 0, 0, t);
        for (int r = 0; r < k->p; r++)
            for (uint32_t i = 0; i < sk_sched_view(scheds[r])->nsteps; i++)
                for (int m = MUT_NONE + 1; m < MUT_COUNT; m++)
                    if (mutation_applies(sc, scheds, tr, (mutation)m, r, i))
                        try_mutant(w, a, sc, scheds, (mutation)m, r, i, t);
        trail_free(tr);
        scheds_free(scheds, k->p);
    }
    scene_free(sc);
}

/* All blocks ride where there are sizes: a block that does not is an absent record, and a mistake
 * about an absent record is none. The direct pattern carries none, so blocks may be uneven. */
static void try_neighbors(world *w, const sk_algo *a, tally *t)
{
    static const struct {
        graph_kind kind;
        int p, window;
    } some[] = {{GRAPH_SPARSE, 6, 0}, {GRAPH_DENSE, 5, 2}, {GRAPH_TORUS, 4, 0}};
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        hoods *h = hoods_new(some[i].kind, some[i].p, 10 * (unsigned)i);
        if (!h)
            abort();
        kase k = {.coll = a->coll,
                  .p = h->p,
                  .units = 5,
                  .lay = LAY_HOLES,
                  .spread = strcmp(a->name, "direct") ? SPREAD_EVEN : SPREAD_UNEVEN,
                  .hoods = h,
                  .ride = 64,
                  .window = some[i].window};
        try_case(w, a, &k, t);
        hoods_free(h);
    }
}

static void try_algo(world *w, const sk_algo *a, tally *t)
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
}

static long try_wrong_algos(world *w, long *caught)
{
    long missed = 0;
    for (const wrong_algo *x = wrong_algos; x->algo.name; x++) {
        char why[256] = "";
        verdict v = check_algo(w, &x->algo, &x->k, why, sizeof why);
        bool bitten = v == WRONG && strstr(why, x->why);
        printf("%-45s %s\n", x->algo.name, bitten ? why : "");
        if (!bitten)
            printf("  FAIL %s: wanted \"%s\", got \"%s\"\n", x->algo.name, x->why, why);
        *caught += bitten;
        missed += !bitten;
    }
    return missed;
}

int main(void)
{
    world *w = world_new();
    long caught = 0, missed = 0, kinds[MUT_COUNT] = {0};
    for (const sk_algo *const *a = sk_algos(); w && *a; a++) {
        tally t = {0};
        (sk_coll_neighbor((*a)->coll) ? try_neighbors : try_algo)(w, *a, &t);
        printf("%-20s %-17s", sk_coll_name((*a)->coll), (*a)->name);
        long all = 0;
        for (int m = 0; m < MUT_COUNT; m++) {
            all += is_control((mutation)m) ? 0 : t.caught[m];
            kinds[m] += t.caught[m];
        }
        printf("%6ld mutants caught, %ld missed\n", all, t.missed);
        fflush(stdout);
        caught += all;
        missed += t.missed + (all == 0);
    }
    for (int m = 0; m < MUT_COUNT; m++) {
        printf("%-20s %6ld %s\n", mutation_name[m], kinds[m],
               is_control((mutation)m) ? "found right, as they are" : "caught");
        missed += kinds[m] == 0;
    }
    missed += w ? try_wrong_algos(w, &caught) : 1;
    world_free(w);
    printf("%ld passed, %ld failed\n", caught, missed);
    return missed || !caught;
}
