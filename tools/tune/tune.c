/* tune.c: `skein tune`: measures the host and Skein's algorithms, and writes the tuning file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/launch.h"
#include "bench/options.h"
#include "cli.h"
#include "commands.h"
#include "lab/graph/spec.h"
#include "run/file.h"
#include "run/launcher.h"
#include "tune/app.h"
#include "tune/cells.h"
#include "tune/check.h"
#include "tune/session.h"
#include "tune/show.h"

enum { SECONDS = 120, MOST_JOBS = 32 };

typedef struct tune_options {
    sk_arena *arena;
    int64_t seconds;
    const char *output, *show_file;
    bool show, check, app, all, chosen[SK_NCOLLS], any_chosen, forms[SK_NFORMS];
    sk_numbers bytes;
    sk_strlist graphs;
    sk_flavour mpi;
} tune_options;

enum { SECS = SK_CLI_KEY, SHOW, CHECK, APP, ALL, COLLECTIVE, FORM, BYTES, GRAPH, MPI };

static const struct argp_option options[] = {
    {"seconds", SECS, "N", 0,
     "how long to measure (default: 120); a longer time measures more calls, and better", 0},
    {"output", 'o', "FILE", 0,
     "write or merge into this file (default: SKEIN_TUNING, or skein/tuning in $XDG_CONFIG_HOME or "
     "~/.config)",
     0},
    {"show", SHOW, "FILE", OPTION_ARG_OPTIONAL,
     "measure nothing, but print a tuning file as a table and as plots", 0},
    {"check", CHECK, "FILE", OPTION_ARG_OPTIONAL,
     "measure nothing, but print for each call of a tuning file which algorithm is predicted to be "
     "the "
     "fastest, which was measured to be, and how much longer the former takes",
     0},
    {"app", APP, NULL, 0,
     "the command line has a program: run it first, and measure the calls that it makes", 0},
    {"all-algorithms", ALL, NULL, 0, "also what is predicted to be much slower than the best", 0},
    {"collective", COLLECTIVE, "LIST", 0, "only these collectives", 0},
    {"form", FORM, "LIST", 0,
     "of blocking, nonblocking and persistent calls (default: blocking,nonblocking)", 0},
    {"bytes", BYTES, "LIST", 0, "sizes (default: 8,64,512,4K,32K,256K,2M)", 0},
    {"graph", GRAPH, "GRAPH", 0,
     "neighbours of neighbourhood collectives, as in `skein bench neighbor`; may be repeated "
     "(default: random:0.4 from 4 ranks on)",
     0},
    {"mpi", MPI, "NAME", 0, "openmpi or mpich: the MPI of a launcher such as srun", 0},
    {0}};

static bool take(void *ctx, int key, const char *value);

static const sk_cli cli = {
    .command = "skein tune",
    .args = "[LAUNCHER [OPTION]...]\n--app LAUNCHER [OPTION]... PROGRAM "
            "[ARGUMENT]...\n--show[=FILE]\n--check[=FILE]",
    .about =
        "Measure the collectives of the host MPI and all promising algorithms of Skein on this "
        "machine, by turns in one process, and write a tuning file by which Skein chooses from "
        "then "
        "on. LAUNCHER is the start of a command line without a program, such as mpirun -n 16; "
        "without it all MPIs that are here are measured with 2, 4, ... ranks, up to the number of "
        "cores. A file that exists is merged with. Ctrl-C keeps what was found so far.\vskein(7) "
        "describes the file. Examples: skein tune mpirun -n 8; skein tune --seconds 600 srun -N 4 "
        "--mpi=pmix; skein tune --show",
    .options = options,
    .take = take,
    .stop_at_word = true};

static bool take_collectives(tune_options *o, const char *text)
{
    sk_strlist w = sk_strlist_new(o->arena), valid = sk_strlist_new(o->arena);
    sk_strlist_split(&w, text, ",");
    for (int i = 0; i < SK_NCOLLS; i++)
        sk_strlist_add(&valid, sk_coll_name((sk_coll)i));
    for (int i = 0; i < w.n; i++) {
        if (!sk_strlist_has(&valid, w.v[i]))
            return sk_cli_unknown(&cli, "collective", w.v[i], (const char *const *)valid.v);
        o->chosen[sk_coll_find(w.v[i])] = o->any_chosen = true;
    }
    return o->any_chosen || sk_cli_error(&cli, "--collective takes names, separated by commas");
}

static bool take(void *ctx, int key, const char *value)
{
    tune_options *o = ctx;
    switch (key) {
    case SECS:
        return sk_cli_number(&cli, key, value, 1, 1000000, &o->seconds);
    case 'o':
        o->output = value;
        return true;
    case SHOW:
        o->show_file = value;
        return o->show = true;
    case CHECK:
        o->show_file = value;
        return o->show = o->check = true;
    case APP:
        return o->app = true;
    case ALL:
        return o->all = true;
    case COLLECTIVE:
        return take_collectives(o, value);
    case FORM:
        return sk_forms_choose(&cli, o->arena, value, o->forms);
    case BYTES:
        return sk_cli_numbers(&cli, key, value, 1, 1 << 28, &o->bytes);
    case GRAPH:
        sk_strlist_add(&o->graphs, value);
        return true;
    case MPI:
        o->mpi = sk_flavour_of_name(value);
        return o->mpi == SK_MPI_OPENMPI || o->mpi == SK_MPI_MPICH ||
               sk_cli_error(&cli, "--mpi takes openmpi or mpich, not %s", value);
    default:
        return true;
    }
}

/* ---- the file ---- */

/* SKEIN_TUNING, or the user's. */
static bool find_output(tune_options *o, bool to_read)
{
    static char path[SK_TUNING_PATH];
    const char *given = getenv("SKEIN_TUNING");
    given = given ? given : "";
    if (o->output)
        return true;
    if (to_read ? sk_tuning_find(given, path)
                : (*given && strcmp(given, "off") != 0
                       ? snprintf(path, sizeof path, "%s", given) < (int)sizeof path
                       : sk_tuning_default(path))) {
        o->output = path;
        return true;
    }
    return sk_cli_error(&cli, to_read
                                  ? "there is no tuning file; `skein tune` measures and writes one"
                                  : "no home directory: name a file with --output");
}

/* What is there already; false after a message. */
static bool load(const char *path, sk_tuning *t)
{
    char err[SK_TUNING_PATH + SK_TUNING_ERR];
    return sk_tuning_load(path, t, err, sizeof err) == SK_OK || sk_cli_error(&cli, "%s", err);
}

static bool check(sk_tuning *t, const bool wanted[SK_NCOLLS])
{
    char err[256];
    sk_select *select = NULL;
    if (sk_select_new(environ, &select, err, sizeof err) != SK_OK)
        return sk_cli_error(&cli, "%s", err);
    bool any = sk_tune_check(t, select, wanted);
    sk_select_free(select);
    return any ||
           sk_cli_error(&cli, "no call has two algorithms with measured and predicted times; "
                              "`skein tune --all-algorithms` measures them");
}

static int show(tune_options *o)
{
    bool all[SK_NCOLLS];
    sk_tuning *t = sk_tuning_new();
    o->output = o->show_file ? o->show_file : o->output;
    bool ok = t && find_output(o, true) && load(o->output, t);
    for (int i = 0; i < SK_NCOLLS; i++)
        all[i] = !o->any_chosen || o->chosen[i];
    if (ok && o->check)
        ok = check(t, all);
    else if (ok)
        sk_tune_show(t, all);
    sk_tuning_free(t);
    return ok ? 0 : 1;
}

/* ---- what is measured ---- */

typedef struct tune_job {
    sk_strlist words;
    sk_flavour mpi;
} tune_job;

static bool usable(sk_arena *a, sk_flavour mpi, bool speak)
{
    char lib[4096];
    bool program = sk_launch_find_program(a, mpi),
         library = sk_library_find(sk_flavour_name(mpi), lib, sizeof lib);
    if (speak && !program)
        sk_cli_error(&cli, "no skein-bench-%s beside this command; install Skein as a whole",
                     sk_flavour_name(mpi));
    else if (speak && !library)
        sk_cli_error(&cli, "no %s; install Skein for this MPI", lib);
    return program && library;
}

/* The launcher that the user names. */
static int given_job(tune_options *o, int n, char **words, tune_job *job)
{
    const char *path;
    sk_launcher_kind kind = SK_NLAUNCHERS;
    job->words = sk_strlist_new(o->arena);
    for (int i = 0; i < n; i++)
        sk_strlist_add(&job->words, words[i]);
    if (sk_find_program(o->arena, words[0], NULL, &path) != SK_FIND_OK) {
        sk_cli_error(
            &cli, "%s: no such program; the start of a command line is wanted, as in mpirun -n 8",
            words[0]);
        return 0;
    }
    job->mpi = o->mpi;
    if (o->mpi == SK_MPI_NONE && sk_launcher_kind_of(o->arena, path, &kind))
        job->mpi = kind == SK_LAUNCHER_OPENMPI ? SK_MPI_OPENMPI
                   : kind == SK_LAUNCHER_HYDRA ? SK_MPI_MPICH
                                               : SK_MPI_NONE;
    if (job->mpi == SK_MPI_NONE) {
        sk_cli_error(&cli, "%s: which MPI does it start? Say --mpi openmpi or --mpi mpich",
                     words[0]);
        return 0;
    }
    return usable(o->arena, job->mpi, true);
}

/* All MPIs here, with 2, 4, ... ranks. */
static int find_jobs(tune_options *o, tune_job *jobs)
{
    int n = 0;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    for (int f = SK_MPI_OPENMPI; f <= SK_MPI_MPICH; f++) {
        const char *launcher = sk_launch_find_launcher(o->arena, (sk_flavour)f);
        if (!launcher || !usable(o->arena, (sk_flavour)f, false) ||
            (o->mpi != SK_MPI_NONE && (int)o->mpi != f))
            continue;
        for (int ranks = 2; n < MOST_JOBS && (ranks == 2 || ranks <= cores); ranks *= 2) {
            tune_job *j = &jobs[n++];
            *j = (tune_job){.words = sk_strlist_new(o->arena), .mpi = (sk_flavour)f};
            sk_strlist_add(&j->words, launcher);
            if (f == SK_MPI_OPENMPI && geteuid() == 0)
                sk_strlist_add(&j->words, "--allow-run-as-root");
            if (f == SK_MPI_OPENMPI)
                sk_strlist_add(&j->words, "--oversubscribe");
            sk_strlist_add(&j->words, "-n");
            sk_strlist_add(&j->words, sk_format(o->arena, "%d", ranks));
        }
    }
    if (!n)
        sk_cli_error(&cli, "no MPI that can be measured is here; name a launcher, as in skein tune "
                           "mpirun -n 8");
    return n;
}

/* All collectives, forms and sizes on the ranks of the session; more than 64 MB in all blocks are too slow. Neighbourhoods
 * have one plan for all forms. */
static sk_tune_cell *make_cells(const tune_options *o, const sk_tune_session *s, bool neighbor,
                                int *n)
{
    const int64_t most = INT64_C(64) << 20;
    sk_tune_cell *cells =
        sk_arena_need(o->arena, (size_t)(SK_NCOLLS * SK_NFORMS * (o->bytes.n + 1)) * sizeof *cells);
    *n = 0;
    for (int k = 0; k < SK_NCOLLS * SK_NFORMS; k++) {
        int coll = k / SK_NFORMS, form = k % SK_NFORMS;
        bool plain = coll != SK_NEIGHBOR_ALLGATHERV && coll != SK_NEIGHBOR_ALLTOALLV &&
                     coll != SK_NEIGHBOR_ALLTOALLW; /* of these sizes are agreed on: too coarse */
        if (sk_coll_neighbor((sk_coll)coll) != neighbor || !plain ||
            (o->any_chosen && !o->chosen[coll]) ||
            !(neighbor ? form == SK_BLOCKING : o->forms[form]))
            continue;
        for (int i = 0; i < (coll == SK_BARRIER ? 1 : o->bytes.n); i++)
            if (o->bytes.v[i] <= most / s->ranks || sk_coll_reduces((sk_coll)coll))
                cells[(*n)++] = (sk_tune_cell){.coll = (sk_coll)coll,
                                               .form = (sk_form)form,
                                               .bytes = coll == SK_BARRIER ? 0 : o->bytes.v[i],
                                               .ranks = s->ranks,
                                               .nodes = s->nodes};
    }
    return cells;
}

static bool measure(tune_options *o, sk_tune_session *s, sk_tune_launch *l, double seconds)
{
    int n;
    sk_tune_cell *cells = make_cells(o, s, l->graph != NULL, &n);
    sk_tune_cells_order(o->arena, &s->model, cells, n, o->all);
    return sk_tune_measure(s, l, cells, n, seconds);
}

/* The global collectives, then those of each graph; an eighth of the time each. */
static bool run_job(tune_options *o, sk_tune_session *s, const tune_job *j, double seconds)
{
    const double part = 1.0 / 8;
    sk_tune_launch l = {.words = &j->words, .mpi = j->mpi};
    sk_strlist graphs = o->graphs;
    if (!sk_tune_describe(s, &l))
        return false;
    if (graphs.n == 0) {
        graphs = sk_strlist_new(o->arena);
        if (s->ranks >= 4)
            sk_strlist_add(&graphs, "random:0.4");
    }
    fprintf(stderr, "%s, %d ranks on %d node%s\n", s->machine, s->ranks, s->nodes,
            s->nodes == 1 ? "" : "s");
    double around = graphs.n * part < 0.5 ? graphs.n * part : 0.5;
    bool ok = measure(o, s, &l, seconds * (1 - around));
    for (int i = 0; ok && i < graphs.n; i++) {
        l.graph = graphs.v[i];
        ok = measure(o, s, &l, seconds * around / graphs.n);
    }
    return ok;
}

/* ---- a program ---- */

static bool pass_line(void *ctx, char *line)
{
    (void)ctx;
    puts(line);
    return true;
}

/* Runs the program with a report, and leaves only the launcher's words in the job. */
static bool record(tune_options *o, tune_job *job, sk_tune_app *app)
{
    const char *path = NULL, *dir = getenv("TMPDIR");
    sk_launcher_kind kind;
    sk_section *part;
    sk_strlist w = sk_strlist_new(o->arena), launcher = sk_strlist_new(o->arena);
    sk_find_program(o->arena, job->words.v[0], NULL, &path);
    bool found = path && sk_launcher_kind_of(o->arena, path, &kind) &&
                 sk_launcher_words(kind, job->words.v, job->words.n) > 0;
    if (!found || sk_launcher_sections(o->arena, kind, job->words.v, job->words.n, &part) != 1 ||
        part->program == part->end)
        return sk_cli_error(&cli, "--app needs a launcher and one program, as in skein tune --app "
                                  "mpirun -n 8 ./app");
    for (int i = 0; i < part->program; i++)
        sk_strlist_add(&launcher, job->words.v[i]);
    const char *report =
        sk_format(o->arena, "%s/skein-tune.%ld.json", dir && *dir ? dir : "/tmp", (long)getpid());
    sk_strlist_add(&w, sk_launch_self(o->arena));
    sk_strlist_add(&w, "run");
    sk_strlist_add(&w, sk_format(o->arena, "--report=%s", report));
    for (int i = 0; i < job->words.n; i++)
        sk_strlist_add(&w, job->words.v[i]);
    setenv("SKEIN_FIND", "0", 1); /* calls that the host serves have no shape */
    int status = sk_launch_run(&w, 1e6, pass_line, NULL);
    fflush(stdout);
    bool ok = sk_tune_app_read(o->arena, report, app) && app->n > 0;
    unlink(report);
    job->words = launcher;
    if (!ok)
        return sk_cli_error(&cli,
                            "the program ended with status %d and has told of no collective call "
                            "that can be tuned; does it end with MPI_Finalize?",
                            status);
    fprintf(stderr, "the program makes %d different calls\n", app->n);
    return true;
}

/* The neighbourhoods of so many neighbours, or the global collectives. */
static bool measure_part(tune_options *o, sk_tune_session *s, sk_tune_launch *l,
                         const sk_tune_app *app, int neighbours, double seconds_each)
{
    int n = 0;
    sk_tune_cell *cells = sk_arena_need(o->arena, (size_t)app->n * sizeof *cells);
    for (int i = 0; i < app->n; i++)
        if (app->neighbours[i] == neighbours &&
            (neighbours ? app->cells[i].ranks == s->ranks : app->cells[i].ranks <= s->ranks))
            cells[n++] = app->cells[i];
    l->graph = NULL;
    if (neighbours) {
        double part = (double)neighbours / (s->ranks - 1);
        l->graph = sk_format(o->arena, "random:%.4f", part < 1 ? part : 1);
    }
    sk_tune_cells_order(o->arena, &s->model, cells, n, o->all);
    return sk_tune_measure(s, l, cells, n, seconds_each * n);
}

static bool run_app(tune_options *o, sk_tune_session *s, const tune_job *j, const sk_tune_app *app)
{
    sk_tune_launch l = {.words = &j->words, .mpi = j->mpi};
    double each = s->seconds / app->n;
    bool ok = sk_tune_describe(s, &l) && measure_part(o, s, &l, app, 0, each);
    for (int i = 0; ok && i < app->n; i++) {
        int k = 0;
        while (app->neighbours[k] != app->neighbours[i])
            k++;
        if (k == i && app->neighbours[i]) /* the first with so many */
            ok = measure_part(o, s, &l, app, app->neighbours[i], each);
    }
    return ok;
}

static bool check_graphs(const tune_options *o)
{
    for (int i = 0; i < o->graphs.n; i++) {
        sk_spec *spec = NULL;
        char err[256];
        if (sk_spec_new(o->graphs.v[i], 4, &spec, err, sizeof err) == SK_BADARG)
            return sk_cli_error(&cli, "--graph %s: %s", o->graphs.v[i], err);
        sk_spec_free(spec);
    }
    return true;
}

static int tune(tune_options *o, int nwords, char **words)
{
    char err[256];
    tune_job jobs[MOST_JOBS];
    sk_select *select = NULL;
    sk_tune_session s = {.arena = o->arena, .seconds = (double)o->seconds};
    s.tuning = sk_tuning_new();
    if (!s.tuning || !check_graphs(o) || !find_output(o, false))
        return SK_CLI_WRONG;
    bool existed = access(o->output, F_OK) == 0;
    if (existed && !load(o->output, s.tuning))
        return SK_CLI_WRONG;
    s.path = o->output;
    if (!sk_tune_save(&s)) /* rather now than after two minutes */
        return 1;
    sk_tune_app app = {0};
    if (sk_select_new(environ, &select, err, sizeof err) != SK_OK)
        return sk_cli_error(&cli, "%s", err), SK_CLI_WRONG;
    s.model.select = select;
    int n = nwords ? given_job(o, nwords, words, jobs) : find_jobs(o, jobs);
    bool ok = n > 0 && (!o->app || record(o, &jobs[0], &app));
    sk_tune_session_start(&s);
    if (ok && o->app) {
        ok = run_app(o, &s, &jobs[0], &app);
        n = 0;
    }
    for (int i = 0; i < n && ok; i++)
        ok = run_job(o, &s, &jobs[i], s.seconds / n);
    if (s.ntimes)
        fprintf(stderr, "%d measurements in %s%s; `skein tune --show=%s` shows them\n", s.ntimes,
                s.path, s.interrupted ? ", interrupted" : "", s.path);
    else if (!existed)
        unlink(s.path); /* it would be an empty one */
    sk_select_free(select);
    sk_tuning_free(s.tuning);
    return s.interrupted ? 130 : ok ? 0 : 1;
}

int sk_cmd_tune(int argc, char **argv)
{
    static const int64_t sizes[] = {8, 64, 512, 4096, 32768, 262144, 2097152};
    tune_options o = {.arena = sk_arena_new(), .seconds = SECONDS, .mpi = SK_MPI_NONE};
    int first = argc;
    if (!o.arena) {
        fputs("skein: out of memory\n", stderr);
        return 1;
    }
    o.graphs = sk_strlist_new(o.arena);
    o.forms[SK_BLOCKING] = o.forms[SK_NONBLOCKING] = true;
    o.bytes.n = sizeof sizes / sizeof *sizes;
    memcpy(o.bytes.v, sizes, sizeof sizes);
    int status = sk_cli_parse(&cli, &o, argc, argv, &first);
    if (status == SK_CLI_OK)
        status = o.show ? show(&o) : tune(&o, argc - first, argv + first);
    sk_arena_free(o.arena);
    return status;
}
