/* mode_mpi.c: the same MPI program over every transport, by turns. One that fails or hangs is told
 * in the table; the others go on. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/launch.h"
#include "bench/match/modes.h"
#include "bench/match/race.h"
#include "bench/match/transports.h"
#include "commands.h"

enum { PATIENCE = 60 }; /* seconds without a line, and the limit of a point thrice */

typedef struct entrant {
    const sk_transport *transport;
    const char *engine; /* NULL: the default */
} entrant;

typedef struct course {
    sk_arena *a;
    const sk_match_options *o;
    const char *launcher, *program;
    char library[PATH_MAX];
    entrant *entrants;
    sk_race race;
    int now; /* the racer that runs */
} course;

static void take_line(void *ctx, char *line)
{
    course *c = ctx;
    if (!sk_race_take(&c->race, c->now, line))
        fprintf(stderr, "%s\n", line);
}

static const char *depth_list(const course *c)
{
    const char *text = "";
    for (int i = 0; i < c->o->depths.n; i++)
        text = sk_format(c->a, "%s%s%lld", text, i ? "," : "", (long long)c->o->depths.v[i]);
    return text;
}

static sk_strlist command_of(const course *c, const entrant *e)
{
    sk_strlist w = sk_strlist_new(c->a);
    sk_strlist_add(&w, c->launcher);
    if (geteuid() == 0)
        sk_strlist_add(&w, "--allow-run-as-root");
    sk_strlist_add(&w, "--oversubscribe");
    sk_transport_add(&w, e->transport, c->library, e->engine);
    sk_strlist_add(&w, "-n");
    sk_strlist_add(&w, "2");
    sk_strlist_add(&w, c->program);
    sk_strlist_add(&w, depth_list(c));
    sk_strlist_add(&w, sk_format(c->a, "%g", c->o->limit));
    return w;
}

static void run_one(course *c, int i)
{
    sk_racer *r = &c->race.racers[i];
    sk_strlist command = command_of(c, &c->entrants[i]);
    c->now = i;
    int status = sk_launch_run(&command, PATIENCE + 3 * c->o->limit, take_line, c);
    if (status == SK_LAUNCH_SILENT)
        r->trouble = "hung: no result for a long time, ended";
    else if (status != 0)
        r->trouble = sk_format(c->a, "mpirun ended with exit status %d", status);
    if (r->trouble) /* it would only fail again */
        fprintf(stderr, "skein bench match: %s: %s\n", r->name, r->trouble);
}

/* A racer per transport, and one per engine for those that have engines. */
static int enter(course *c)
{
    int n = 0, engines = c->o->engines.n ? c->o->engines.n : 1;
    c->entrants =
        sk_arena_need(c->a, (size_t)(c->o->transports.n * engines + 1) * sizeof *c->entrants);
    for (int i = 0; i < c->o->transports.n; i++) {
        const sk_transport *t = sk_transport_find(c->o->transports.v[i]);
        if (t->provider && !sk_library_find("fi", c->library, sizeof c->library)) {
            fprintf(stderr, "skein bench match: %s is left out: no %s\n", t->name, c->library);
            continue;
        }
        for (int k = 0; k < (t->provider ? engines : 1); k++)
            c->entrants[n++] =
                (entrant){.transport = t,
                          .engine = t->provider && c->o->engines.n ? c->o->engines.v[k] : NULL};
    }
    return n;
}

static bool prepare(course *c)
{
    c->launcher = sk_launch_find_launcher(c->a, SK_MPI_OPENMPI);
    c->program = sk_launch_find_tool(c->a, "skein-match-openmpi");
    if (!c->launcher)
        fputs("skein bench match: no mpirun of Open MPI in PATH\n", stderr);
    else if (!c->program)
        fputs("skein bench match: no skein-match-openmpi beside this command\n", stderr);
    if (!c->launcher || !c->program)
        return false;
    int n = enter(c);
    if (n == 0)
        return false;
    c->race = sk_race_new(c->a, &c->o->depths, c->o->rounds, n);
    for (int i = 0; i < n; i++) {
        const entrant *e = &c->entrants[i];
        c->race.racers[i].name = e->engine ? sk_format(c->a, "%s:%s", e->transport->name, e->engine)
                                           : e->transport->name;
    }
    return true;
}

int sk_mode_mpi(sk_arena *a, const sk_match_options *o, FILE *csv)
{
    course c = {.a = a, .o = o};
    if (!prepare(&c))
        return 1;
    for (int round = 0; round < o->rounds; round++)
        for (int i = 0; i < c.race.nracers; i++) {
            if (c.race.racers[i].trouble)
                continue;
            fprintf(stderr, "[%d/%d] %s\n", round * c.race.nracers + i + 1,
                    o->rounds * c.race.nracers, c.race.racers[i].name);
            run_one(&c, i);
        }
    sk_race_print(stdout, &c.race);
    if (csv)
        sk_race_csv(csv, &c.race);
    return sk_race_wrong(&c.race) || sk_race_empty(&c.race);
}
