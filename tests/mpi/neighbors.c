/* neighbors.c: random neighbourhood collectives in all forms, on topologies of all kinds, give what
 * the standard says, byte for byte; and calls that are wrong get an error.
 *   neighbors [-c COLLECTIVE] [-f FIRST] [-v] SEED CASES
 *   neighbors errors
 * A failure names its seed and case; `neighbors -v -f CASE SEED 1` replays it alone and shows its
 * calls. A case is two topologies that get batches of calls until each has seen enough of them for
 * the library to have planned for it. */
#include "comms.h"
#include "neighbor_batch.h"
#include "neighbor_errors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ENOUGH = 24 };

static void run_case(scene *s, const comms *bases, const options *o, int number)
{
    test_watch(120, "seed %llu case %d", o->seed, number);
    snprintf(s->where, sizeof s->where, "seed %llu case %d", o->seed, number);
    rng shared = rng_seed(o->seed, (uint64_t)number, 0);
    rng local = rng_seed(o->seed, (uint64_t)number, 1 + (uint64_t)test_rank());
    for (int i = 0; i < TOPOS; i++) {
        int base = rng_chance(&shared, 50) ? 0 : rng_below(&shared, NCOMMS);
        rng deep = rng_seed(rng_next(&shared), (uint64_t)i, 9);
        topo_make(&s->topos[i], &deep, &local, bases->of[base]);
        s->calls[i] = 0;
    }
    while (s->calls[0] < ENOUGH || s->calls[1] < ENOUGH)
        batch_play(s, &shared, &local, false);
    batch_play(s, &shared, &local, true);
    for (int i = 0; i < TOPOS; i++)
        topo_free(&s->topos[i]);
}

static int find(const char *name)
{
    return (int)ncoll_find(name);
}

static void run_cases(const options *o)
{
    scene s = {.only = o->only, .verbose = o->verbose};
    comms bases;
    comms_make(&bases, MPI_COMM_WORLD);
    for (int i = o->first; i < o->first + o->cases; i++)
        run_case(&s, &bases, o, i);
    comms_free(&bases);
    if (s.no_form > 0)
        test_skip("calls in forms that are absent here were made nonblocking");
    if (s.host_mistakes > 0)
        test_skip("alltoalls that this host does wrongly (parallel edges, uneven degrees)");
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv, "neighbors");
    options o;
    if (argc > 1 && strcmp(argv[1], "errors") == 0)
        neighbor_errors();
    else if (read_options(&o, argc, argv, NNCOLLS, find, 10))
        run_cases(&o);
    else
        test_fail("usage: neighbors [-c COLLECTIVE] [-f FIRST] [-v] SEED CASES, or: errors");
    return test_end();
}
