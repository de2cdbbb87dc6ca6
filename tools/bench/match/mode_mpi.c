/* mode_mpi.c: `skein bench match --mpi`: the same MPI program over every transport of Open MPI. The
 * transports alternate. One that fails or hangs is noted in the table; the others go on.
 *
 * The result is a table of points (rows) by transports (columns), over several rounds. A point is
 * the latency, or a queue of one depth: posted or unexpected, with exact or any-source receives. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/launch.h"
#include "bench/match/match.h"
#include "bench/stats.h"
#include "commands.h"

/* Seconds without a line of output, beside three times the limit of a point, until a run is taken
 * to hang. */
enum { HANG_SECONDS = 60, MAX_ROUNDS = 1000 };

/* A transport of Open MPI, and how to select it. */
typedef struct mpi_transport {
    const char *name;
    const char *arguments; /* of mpirun, separated by blanks */
    const char *variables; /* NAME=VALUE for the ranks' environment, separated by blanks */
    bool provider;         /* needs libskein-fi.so, which matches with an engine */
} mpi_transport;

/* The ofi MTL comes with a BTL for one-sided messages, which is excluded here. rxm hangs when more
 * receives are posted than FI_OFI_RXM_RX_SIZE. */
#define OFI "--mca pml cm --mca mtl ofi --mca btl ^openib,ofi --mca mtl_ofi_provider_include "

static const mpi_transport transports[] = {
    {.name = "ob1", .arguments = "--mca pml ob1"},
    {.name = "ucx", .arguments = "--mca pml ucx --mca pml_ucx_tls any --mca pml_ucx_devices any"},
    {.name = "rxm", .arguments = OFI "tcp;ofi_rxm", .variables = "FI_OFI_RXM_RX_SIZE=65536"},
    {.name = "skein", .arguments = OFI "skein", .provider = true},
    {0},
};

const char *sk_transport_name(int i)
{
    return transports[i].name;
}

static const mpi_transport *transport_find(const char *name)
{
    for (int i = 0; transports[i].name; i++)
        if (strcmp(transports[i].name, name) == 0)
            return &transports[i];
    return NULL;
}

static void add_variable(sk_strlist *command, const char *assignment)
{
    sk_strlist_add(command, "-x");
    sk_strlist_add(command, assignment);
}

/* Adds the options of mpirun. `engine` NULL: the default. */
static void transport_add(sk_strlist *command, const mpi_transport *t, const char *library,
                          const char *engine)
{
    sk_arena *a = command->arena;
    sk_strlist variables = sk_strlist_new(a);
    sk_strlist_split(command, t->arguments, " ");
    if (t->variables)
        sk_strlist_split(&variables, t->variables, " ");
    for (int i = 0; i < variables.n; i++)
        add_variable(command, variables.v[i]);
    if (!t->provider)
        return;
    add_variable(command, sk_format(a, "FI_PROVIDER_PATH=%s", sk_dirname(a, library)));
    if (engine)
        add_variable(command, sk_format(a, "SKEIN_MATCH=%s", engine));
}

/* The results of one point on one transport. */
typedef struct mpi_cell {
    double *us; /* of each round that gave one */
    int n;
    double late; /* seconds that it would have taken; 0: it was not left out */
    bool wrong;
} mpi_cell;

typedef struct mpi_point {
    char what[16], source[8];
    int depth;
} mpi_point;

typedef struct mpi_column {
    const mpi_transport *transport;
    const char *engine; /* NULL: the default */
    const char *name;   /* of the transport, with the engine if one was given */
    const char *error;  /* why a run failed, or NULL */
    mpi_cell *cells;    /* by point */
} mpi_column;

typedef struct mpi_results {
    sk_arena *arena;
    int rounds, npoints, ncolumns;
    mpi_point *points;
    mpi_column *columns;
} mpi_results;

static void add_point(mpi_results *r, const char *what, const char *source, int depth)
{
    mpi_point *p = &r->points[r->npoints++];
    p->depth = depth;
    snprintf(p->what, sizeof p->what, "%s", what);
    snprintf(p->source, sizeof p->source, "%s", source);
}

/* All points that the program measures for these depths. */
static mpi_results results_new(sk_arena *a, const sk_numbers *depths, int rounds,
                               mpi_column *columns, int ncolumns)
{
    mpi_results r = {.arena = a, .rounds = rounds, .columns = columns, .ncolumns = ncolumns};
    r.points = sk_arena_need(a, (1 + 4 * (size_t)depths->n) * sizeof *r.points);
    add_point(&r, "latency", "exact", 0);
    for (int side = 0; side < 2; side++)
        for (int any = 0; any < 2; any++)
            for (int i = 0; i < depths->n; i++)
                add_point(&r, side ? "unexpected" : "posted", any ? "any" : "exact",
                          (int)depths->v[i]);
    for (int i = 0; i < ncolumns; i++) {
        mpi_cell *cells = sk_arena_need(a, (size_t)r.npoints * sizeof *cells);
        for (int k = 0; k < r.npoints; k++)
            cells[k] = (mpi_cell){.us = sk_arena_need(a, (size_t)rounds * sizeof *cells[k].us)};
        columns[i].cells = cells;
    }
    return r;
}

static int find_point(const mpi_results *r, const char *what, const char *source, int depth)
{
    for (int i = 0; i < r->npoints; i++)
        if (r->points[i].depth == depth && strcmp(r->points[i].what, what) == 0 &&
            strcmp(r->points[i].source, source) == 0)
            return i;
    return -1;
}

/* Takes a line of the program; false: it is no result. */
static bool results_take(mpi_results *r, int column, const char *line)
{
    char word[8], what[16], source[8];
    int depth;
    double value;
    if (sscanf(line, "%7s %15s %7s %d %lf", word, what, source, &depth, &value) != 5)
        return false;
    int at = find_point(r, what, source, depth);
    if (at < 0)
        return false;
    mpi_cell *c = &r->columns[column].cells[at];
    if (strcmp(word, "late") == 0)
        c->late = value;
    else if (strcmp(word, "wrong") == 0)
        c->wrong = true;
    else if (strcmp(word, "match") == 0 && c->n < r->rounds)
        c->us[c->n++] = value;
    else
        return false;
    return true;
}

static double median(const mpi_cell *c, sk_spread *spread)
{
    double v[MAX_ROUNDS];
    memcpy(v, c->us, (size_t)c->n * sizeof *v);
    *spread = sk_spread_of(v, c->n);
    return spread->mid;
}

/* Microseconds with their spread: 24 columns. */
static void print_cell(FILE *f, const mpi_cell *c, const char *error)
{
    sk_spread s;
    if (c->wrong) {
        fprintf(f, " %8s %14s", "WRONG", "");
    } else if (c->n) {
        char range[32];
        median(c, &s);
        snprintf(range, sizeof range, "%.3g..%.3g", s.lo, s.hi);
        fprintf(f, " %8.3g %-14s", s.mid, range);
    } else if (c->late > 0) {
        fprintf(f, " %8s %14s", "too long", "");
    } else {
        fprintf(f, " %8s %14s", error ? "failed" : "-", "");
    }
}

/* How many times faster the last column is than each other: their median / its median. */
static void print_ratios(FILE *f, const mpi_results *r, int point)
{
    sk_spread s;
    const mpi_cell *own = &r->columns[r->ncolumns - 1].cells[point];
    for (int i = 0; i < r->ncolumns - 1; i++) {
        const mpi_cell *c = &r->columns[i].cells[point];
        if (own->n && c->n && !own->wrong && !c->wrong)
            fprintf(f, " %7.3gx", median(c, &s) / median(own, &s));
        else
            fprintf(f, " %8s", "-");
    }
}

static void results_print(FILE *f, const mpi_results *r)
{
    const char *own = r->columns[r->ncolumns - 1].name;
    fprintf(f,
            "\ntwo ranks, 8-byte messages, queues emptied in reverse order: us per message, median "
            "and 10%%..90%% of %d\nruns of each by turns; on the right how many times faster than "
            "each other %s is\n",
            r->rounds, own);
    fprintf(f, "%-10s %-6s %6s", "", "source", "depth");
    for (int i = 0; i < r->ncolumns; i++)
        fprintf(f, " %23.23s", r->columns[i].name);
    fprintf(f, " |");
    for (int i = 0; i < r->ncolumns - 1; i++)
        fprintf(f, " %8.8s", r->columns[i].name);
    fputc('\n', f);
    for (int p = 0; p < r->npoints; p++) {
        const mpi_point *point = &r->points[p];
        fprintf(f, "%-10s %-6s ", point->what, point->source);
        if (point->depth)
            fprintf(f, "%6d", point->depth);
        else
            fprintf(f, "%6s", "");
        for (int i = 0; i < r->ncolumns; i++)
            print_cell(f, &r->columns[i].cells[p], r->columns[i].error);
        fprintf(f, " |");
        print_ratios(f, r, p);
        fputc('\n', f);
    }
    for (int i = 0; i < r->ncolumns; i++)
        if (r->columns[i].error)
            fprintf(f, "%s: %s\n", r->columns[i].name, r->columns[i].error);
}

static void results_csv(FILE *f, const mpi_results *r)
{
    fputs("transport,what,source,depth,state,runs,us,us_p10,us_p90\n", f);
    for (int i = 0; i < r->ncolumns; i++)
        for (int p = 0; p < r->npoints; p++) {
            const mpi_point *point = &r->points[p];
            const mpi_cell *c = &r->columns[i].cells[p];
            sk_spread s;
            const char *state = c->wrong      ? "WRONG"
                                : c->n        ? "ok"
                                : c->late > 0 ? "too long"
                                              : "failed";
            fprintf(f, "%s,%s,%s,%d,%s,%d,", r->columns[i].name, point->what, point->source,
                    point->depth, state, c->n);
            median(c, &s);
            if (c->n)
                fprintf(f, "%.6g,%.6g,%.6g\n", s.mid, s.lo, s.hi);
            else
                fputs(",,\n", f);
        }
}

static bool results_wrong(const mpi_results *r)
{
    for (int i = 0; i < r->ncolumns; i++)
        for (int p = 0; p < r->npoints; p++)
            if (r->columns[i].cells[p].wrong)
                return true;
    return false;
}

/* No point was measured. */
static bool results_empty(const mpi_results *r)
{
    for (int i = 0; i < r->ncolumns; i++)
        for (int p = 0; p < r->npoints; p++)
            if (r->columns[i].cells[p].n)
                return false;
    return true;
}

typedef struct mpi_bench {
    sk_arena *a;
    const sk_match_options *o;
    const char *launcher, *program;
    char library[PATH_MAX];
    mpi_results results;
    int current; /* the column that runs */
} mpi_bench;

static bool take_line(void *ctx, char *line)
{
    mpi_bench *b = ctx;
    if (!results_take(&b->results, b->current, line))
        fprintf(stderr, "%s\n", line);
    return true;
}

static const char *depth_list(const mpi_bench *b)
{
    const char *text = "";
    for (int i = 0; i < b->o->depths.n; i++)
        text = sk_format(b->a, "%s%s%lld", text, i ? "," : "", (long long)b->o->depths.v[i]);
    return text;
}

static sk_strlist command_of(const mpi_bench *b, const mpi_column *column)
{
    sk_strlist w = sk_strlist_new(b->a);
    sk_strlist_add(&w, b->launcher);
    if (geteuid() == 0)
        sk_strlist_add(&w, "--allow-run-as-root");
    sk_strlist_add(&w, "--oversubscribe");
    transport_add(&w, column->transport, b->library, column->engine);
    sk_strlist_add(&w, "-n");
    sk_strlist_add(&w, "2");
    sk_strlist_add(&w, b->program);
    sk_strlist_add(&w, depth_list(b));
    sk_strlist_add(&w, sk_format(b->a, "%g", b->o->limit));
    return w;
}

static void run_one(mpi_bench *b, int i)
{
    mpi_column *r = &b->results.columns[i];
    sk_strlist command = command_of(b, r);
    b->current = i;
    int status = sk_launch_run(&command, HANG_SECONDS + 3 * b->o->limit, take_line, b);
    if (status == SK_LAUNCH_SILENT)
        r->error = "hung: no result for a long time, ended";
    else if (status != 0)
        r->error = sk_format(b->a, "mpirun ended with exit status %d", status);
    if (r->error) /* sk_mode_mpi does not run it again */
        fprintf(stderr, "skein bench match: %s: %s\n", r->name, r->error);
}

/* Makes a column per transport; for one with engines, a column per engine that was given. */
static int find_columns(mpi_bench *b, mpi_column **out)
{
    const sk_strlist *engines = &b->o->engines;
    int n = 0, nengines = engines->n ? engines->n : 1;
    mpi_column *columns =
        sk_arena_need(b->a, (size_t)(b->o->transports.n * nengines + 1) * sizeof *columns);
    for (int i = 0; i < b->o->transports.n; i++) {
        const mpi_transport *t = transport_find(b->o->transports.v[i]);
        if (t->provider && !sk_library_find("fi", b->library, sizeof b->library)) {
            fprintf(stderr, "skein bench match: %s is left out: no %s\n", t->name, b->library);
            continue;
        }
        for (int k = 0; k < (t->provider ? nengines : 1); k++) {
            const char *engine = t->provider && engines->n ? engines->v[k] : NULL;
            columns[n++] =
                (mpi_column){.transport = t,
                             .engine = engine,
                             .name = engine ? sk_format(b->a, "%s:%s", t->name, engine) : t->name};
        }
    }
    *out = columns;
    return n;
}

static bool prepare(mpi_bench *b)
{
    b->launcher = sk_launch_find_launcher(b->a, SK_MPI_OPENMPI);
    b->program = sk_launch_find_tool(b->a, "skein-match-openmpi");
    if (!b->launcher)
        fputs("skein bench match: no mpirun of Open MPI in PATH\n", stderr);
    else if (!b->program)
        fputs("skein bench match: no skein-match-openmpi beside this command\n", stderr);
    if (!b->launcher || !b->program)
        return false;
    mpi_column *columns;
    int n = find_columns(b, &columns);
    if (n > 0)
        b->results = results_new(b->a, &b->o->depths, b->o->rounds, columns, n);
    return n > 0;
}

int sk_mode_mpi(sk_arena *a, const sk_match_options *o, FILE *csv)
{
    mpi_bench b = {.a = a, .o = o};
    if (!prepare(&b))
        return 1;
    for (int round = 0; round < o->rounds; round++)
        for (int i = 0; i < b.results.ncolumns; i++) {
            if (b.results.columns[i].error)
                continue;
            fprintf(stderr, "[%d/%d] %s\n", round * b.results.ncolumns + i + 1,
                    o->rounds * b.results.ncolumns, b.results.columns[i].name);
            run_one(&b, i);
        }
    results_print(stdout, &b.results);
    if (csv)
        results_csv(csv, &b.results);
    return results_wrong(&b.results) || results_empty(&b.results);
}
