/* bench.c: `skein bench`: times Skein's collectives against those of the host MPI. Runs the jobs,
 * reads the points that they print, and prints the results. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/again.h"
#include "bench/busy.h"
#include "bench/csv.h"
#include "bench/jobs.h"
#include "bench/launch.h"
#include "bench/options.h"
#include "bench/plots.h"
#include "bench/results.h"
#include "commands.h"
#include "copy_prices.h"
#include "select/select.h"

enum { DEFAULT_MS = 700, LONGER = 4 };

typedef struct bench_run {
    sk_arena *arena;
    sk_bench_options o;
    const char *launcher[SK_MPI_OTHER], *program[SK_MPI_OTHER];
    sk_select *select;
    FILE *csv;
    double budget; /* seconds per point */
    sk_result *results;
    const sk_job **from; /* the job of each result */
    int nresults, capacity, npoints, done;
    const sk_job *job; /* the running one */
    sk_busy busy;
    bool wrong;
} bench_run;

/* The algorithm that Skein used at a point. */
static const char *algorithm_at(const bench_run *b, const sk_point *p, bool *forced)
{
    *forced = false;
    for (int i = 0; i < b->job->ncolls; i++)
        *forced |= b->job->colls[i] == p->coll && b->job->algos[i];
    return sk_format(b->arena, "%s", p->algorithm);
}

static void show_progress(const bench_run *b, const sk_result *r)
{
    const sk_point *p = &r->point;
    char text[64];
    fprintf(stderr, "[%d/%d] %s %d ranks %s%s%s %s %s, %s", b->done, b->npoints,
            sk_flavour_name(r->mpi), r->nranks, r->graph ? r->graph : "", r->graph ? " " : "",
            sk_form_names[r->form], sk_coll_name(p->coll),
            sk_bytes_text(p->bytes, text, sizeof text), r->algorithm);
    if (!sk_result_auto(r))
        fprintf(stderr, " against %s", r->host);
    for (int t = 0; p->equal != SK_SKEIN_WRONG && t < SK_TIMES; t++)
        fprintf(stderr, "; %s: host %.4g us, Skein %.4g us, %.2fx",
                sk_time_title(&b->o.conditions, t, text, sizeof text), p->time[t].host_us,
                p->time[t].skein_us, p->time[t].ratio.mid);
    fputs(sk_equality_text(p->equal), stderr);
    fputc('\n', stderr);
}

static bool take_line(void *ctx, char *text)
{
    bench_run *b = ctx;
    sk_result r = {.mpi = b->job->mpi,
                   .form = b->job->form,
                   .nranks = b->job->nranks,
                   .graph = b->job->graph,
                   .host = b->job->host_name};
    if (strncmp(text, "skip ", 5) == 0) {
        b->done++;
        fprintf(stderr, "[%d/%d] left out on %d ranks: %s\n", b->done, b->npoints, b->job->nranks,
                text + 5);
        return true;
    }
    if (!sk_point_parse(text, &r.point)) {
        fprintf(stderr, "%s\n", text);
        return true;
    }
    b->done++;
    r.algorithm = algorithm_at(b, &r.point, &r.forced);
    b->wrong = b->wrong || r.point.equal == SK_SKEIN_WRONG;
    if (b->nresults < b->capacity) {
        b->from[b->nresults] = b->job;
        b->results[b->nresults++] = r;
    }
    show_progress(b, &r);
    if (b->csv)
        sk_csv_row(b->csv, &b->o, &r);
    return true;
}

/* Returns 0, or 1 when the run failed. The other jobs still run. */
static int run_job(bench_run *b, const sk_job *j)
{
    int expected = b->done + sk_job_points(j);
    sk_strlist command =
        sk_job_command(b->arena, &b->o, j, b->launcher[j->mpi], b->program[j->mpi], b->budget);
    b->job = j;
    bool wrong_before = b->wrong;
    b->wrong = false;
    int status = sk_launch_run(&command, 60 + 20 * b->budget, take_line, b);
    bool explained = status == 0 || b->wrong;
    b->wrong = b->wrong || wrong_before;
    if (b->done < expected || !explained) {
        fprintf(stderr, "skein bench: %s, %d ranks, host algorithm %s: ", sk_flavour_title(j->mpi),
                j->nranks, j->host_name);
        if (status == SK_LAUNCH_SILENT)
            fprintf(stderr, "no progress for a long time, ended\n");
        else
            fprintf(stderr, "failed with exit status %d, %d points are missing\n", status,
                    expected - b->done);
        b->done = expected;
        /* A forced algorithm of the host may fail; its default must not. */
        return j->host == 0;
    }
    return 0;
}

/* Finds the MPIs that can be measured, and prints why the others cannot. */
static bool find_mpis(bench_run *b, bool *mpi)
{
    bool any = false;
    char lib[4096];
    for (int f = SK_MPI_OPENMPI; f <= SK_MPI_MPICH; f++) {
        mpi[f] = false;
        if (!b->o.mpi[f])
            continue;
        const char *title = sk_flavour_title((sk_flavour)f);
        b->launcher[f] = sk_launch_find_launcher(b->arena, (sk_flavour)f);
        b->program[f] = sk_launch_find_program(b->arena, (sk_flavour)f);
        if (!b->launcher[f])
            fprintf(stderr, "skein bench: %s is left out: no launcher of it in PATH\n", title);
        else if (!b->program[f])
            fprintf(stderr, "skein bench: %s is left out: no skein-bench-%s beside this command\n",
                    title, sk_flavour_name((sk_flavour)f));
        else if (!b->o.plain && !sk_library_find(sk_flavour_name((sk_flavour)f), lib, sizeof lib))
            fprintf(stderr, "skein bench: %s is left out: no %s\n", title, lib);
        else
            any = mpi[f] = true;
    }
    return any;
}

static void warn(const bench_run *b, const bool *mpi)
{
    double load;
    const char *left_out = "";
    for (int i = 0; mpi[SK_MPI_MPICH] && i < b->o.ranks.n; i++)
        if (!sk_jobs_take_ranks(&b->o, SK_MPI_MPICH, (int)b->o.ranks.v[i]))
            left_out = sk_format(b->arena, "%s%s%d", left_out, *left_out ? ", " : "",
                                 (int)b->o.ranks.v[i]);
    if (*left_out)
        fprintf(stderr,
                "MPICH with %s ranks is left out: it spins while it waits and needs a core for "
                "each; --ranks asks for it\n",
                left_out);
    if (getloadavg(&load, 1) == 1 && load > 0.5 * (double)sysconf(_SC_NPROCESSORS_ONLN))
        fprintf(stderr, "the machine is busy (load %.1f): expect a wide spread\n", load);
}

/* Tables, and plots if they are wanted. */
static int show(bench_run *b)
{
    char err[256];
    sk_table_print(stdout, &b->o, b->results, b->nresults);
    sk_summary_print(stdout, &b->o, b->results, b->nresults);
    if (!b->o.plot || sk_bench_plot(b->arena, &b->o, b->results, b->nresults, stdout,
                                    b->o.plot_file, err, sizeof err))
        return 0;
    fprintf(stderr, "skein bench: %s\n", err);
    return 1;
}

static int show_file(bench_run *b)
{
    char err[4352];
    b->results = sk_csv_read(&b->o, b->o.from, &b->nresults, err, sizeof err);
    if (b->results)
        return show(b);
    fprintf(stderr, "skein bench: %s\n", err);
    return 1;
}

/* The job that measures the point of a result alone. */
static const sk_job *job_of(const bench_run *b, int result)
{
    const sk_job *j = b->from[result];
    const sk_point *p = &b->results[result].point;
    int k = 0, i = 0;
    while (j->colls[k] != p->coll)
        k++;
    while (i + 1 < j->bytes.n && j->bytes.v[i] != p->bytes)
        i++;
    return sk_job_of_point(b->arena, j, k, i);
}

/* --csv has a row for each point, the one that counts. */
static bool write_csv_anew(const bench_run *b)
{
    rewind(b->csv);
    if (ftruncate(fileno(b->csv), 0) != 0) {
        perror(b->o.csv);
        return false;
    }
    sk_csv_header(b->csv, b->o.neighbor);
    for (int i = 0; i < b->nresults; i++)
        sk_csv_row(b->csv, &b->o, &b->results[i]);
    return true;
}

/* Measures again what looks slow: longer, because a point of few long calls is over before Skein has compared them. */
static int measure_again(bench_run *b)
{
    int status = 0, n = b->nresults, low = 0;
    for (int i = 0; i < n; i++)
        low += sk_again_wanted(&b->o, &b->results[i]);
    if (low == 0)
        return 0;
    b->npoints += low * (int)b->o.again;
    fprintf(stderr, "%d points are below 0.95: %d runs more\n", low, low * (int)b->o.again);
    FILE *csv = b->csv;
    double budget = b->budget;
    b->csv = NULL;
    b->budget *= LONGER;
    for (int i = 0; i < n; i++) {
        if (!sk_again_wanted(&b->o, &b->results[i]))
            continue;
        const sk_job *j = job_of(b, i);
        for (int k = 0; k < b->o.again; k++)
            if (run_job(b, j))
                status = 1;
        sk_again_settle(&b->o, &b->results[i], &b->results[n], b->nresults - n);
        b->nresults = n;
    }
    b->csv = csv;
    b->budget = budget;
    return csv && !write_csv_anew(b) ? 1 : status;
}

static int measure(bench_run *b, const sk_job *jobs)
{
    int status = 0, n = 0;
    for (const sk_job *j = jobs; j; j = j->next, n++)
        b->npoints += sk_job_points(j);
    b->budget = b->o.seconds > 0 ? (double)b->o.seconds / b->npoints : 1e-3 * DEFAULT_MS;
    b->capacity = b->npoints + (int)b->o.again;
    b->results = sk_arena_need(b->arena, ((size_t)b->capacity + 1) * sizeof *b->results);
    b->from = sk_arena_need(b->arena, ((size_t)b->capacity + 1) * sizeof(const sk_job *));
    fprintf(stderr, "%d points in %d runs, up to %.2g s each: about %.0f s\n", b->npoints, n,
            b->budget, b->npoints * b->budget + n);
    if (!sk_busy_start(b->arena, (int)b->o.busy, &b->busy)) {
        perror("skein bench: busy loops");
        return 1;
    }
    for (const sk_job *j = jobs; j; j = j->next)
        if (run_job(b, j))
            status = 1;
    if (b->o.again && measure_again(b))
        status = 1;
    sk_busy_end(&b->busy);
    int shown = show(b);
    return b->wrong ? 1 : status ? status : shown;
}

static int prepare_and_measure(bench_run *b)
{
    char err[256];
    bool mpi[SK_MPI_OTHER];
    if (sk_select_new(environ, &b->select, err, sizeof err) != SK_OK) {
        fprintf(stderr, "skein bench: %s\n", err);
        return 2;
    }
    char text[160];
    sk_copy_prices prices;
    if (sk_tool_copy_prices(b->select, &prices)) /* all jobs choose alike */
        setenv("SKEIN_COPY", sk_copy_prices_text(&prices, text, sizeof text), 1);
    if (!find_mpis(b, mpi))
        return 1;
    const sk_job *jobs = sk_jobs_new(b->arena, &b->o, mpi);
    if (!jobs) {
        fprintf(stderr, "skein bench: nothing to measure: no such algorithm fits these ranks\n");
        return 1;
    }
    if (b->o.csv) {
        b->csv = fopen(b->o.csv, "w");
        if (!b->csv) {
            perror(b->o.csv);
            return 1;
        }
        sk_csv_header(b->csv, b->o.neighbor);
    }
    warn(b, mpi);
    return measure(b, jobs);
}

int sk_cmd_bench(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "match") == 0)
        return sk_cmd_bench_match(argc - 1, argv + 1);
    bench_run b = {.arena = sk_arena_new()};
    if (!b.arena) {
        fputs("skein: out of memory\n", stderr);
        return 1;
    }
    int status = sk_bench_options_parse(b.arena, argc, argv, &b.o);
    if (status == SK_CLI_OK)
        status = b.o.from ? show_file(&b) : prepare_and_measure(&b);
    if (b.csv && fclose(b.csv) != 0)
        status = 1;
    if (b.select)
        sk_select_free(b.select);
    sk_arena_free(b.arena);
    return status;
}
