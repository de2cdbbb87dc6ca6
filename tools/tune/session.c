#include "tune/session.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench/launch.h"

static volatile sig_atomic_t stop;

static void on_signal(int number)
{
    stop = number;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void sk_tune_session_start(sk_tune_session *s)
{
    struct sigaction act = {.sa_handler = on_signal};
    sigaction(SIGINT, &act, NULL);
    sigaction(SIGTERM, &act, NULL);
    s->since = s->saved = now();
    s->model.prices = sk_prices_usual();
    /* Each candidate is used from the first call on, without comparing it or reading an older file. */
    setenv("SKEIN_PMPI", "off", 1);
    setenv("SKEIN_FIND", "0", 1);
    setenv("SKEIN_GUARD", "off", 1);
    setenv("SKEIN_TUNING", "off", 1);
    unsetenv("SKEIN_REPORT");
    unsetenv("SKEIN_LEARN");
}

bool sk_tune_save(sk_tune_session *s)
{
    char err[SK_TUNING_PATH + SK_TUNING_ERR];
    s->saved = now();
    if (sk_tuning_save(s->path, s->tuning, err, sizeof err) == SK_OK)
        return true;
    fprintf(stderr, "skein tune: %s\n", err);
    return false;
}

/* ---- progress ---- */

static void show_progress(const sk_tune_session *s)
{
    enum { WIDTH = 30 };
    char bar[WIDTH + 1];
    double part = (now() - s->since) / s->seconds;
    int full = (int)(WIDTH * (part > 1 ? 1 : part));
    if (!isatty(STDERR_FILENO))
        return;
    memset(bar, '.', WIDTH);
    memset(bar, '#', (size_t)full);
    bar[WIDTH] = '\0';
    fprintf(stderr, "\r[%s] %3.0f %%  ", bar, 100 * (part > 1 ? 1 : part));
    if (s->cells)
        fprintf(stderr, "%-22s %9lld bytes, %d ranks  ",
                sk_form_name(s->cells[s->cell].coll, s->cells[s->cell].form),
                (long long)s->cells[s->cell].bytes, s->cells[s->cell].ranks);
    fflush(stderr);
}

static void end_progress(void)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r%79s\r", "");
}

/* ---- lines of the program ---- */

/* A line of the file, below the machine. */
static void add_line(sk_tune_session *s, const char *line)
{
    char err[SK_TUNING_ERR];
    const char *text = sk_format(s->arena, "skein-tuning %d\nmachine %s\n%s\n", SK_TUNING_VERSION,
                                 s->machine, line);
    if (sk_tuning_read(s->tuning, text, strlen(text), err, sizeof err) != SK_OK)
        fprintf(stderr, "skein tune: %s: %s\n", line, err);
}

static bool take_line(void *ctx, char *line)
{
    enum { SAVE_AFTER = 5 };
    sk_tune_session *s = ctx;
    char err[128];
    if (sk_starts_with(line, "machine ")) {
        snprintf(s->machine, sizeof s->machine, "%s", line + 8);
        s->model.cores = sk_tuning_cores(s->machine);
    } else if (sk_starts_with(line, "price ")) {
        add_line(s, line);
        sk_prices_read(line + 6, &s->model.prices, err, sizeof err);
    } else if (sk_starts_with(line, "time ")) {
        add_line(s, line + 5);
        s->ntimes++;
    } else if (sk_starts_with(line, "cell ")) {
        s->cell = atoi(line + 5);
        if (now() - s->saved > SAVE_AFTER && !sk_tune_save(s))
            s->failed = true;
        show_progress(s);
    } else if (sscanf(line, "layout %d %d %d", &s->ranks, &s->nodes, &s->neighbours) != 3) {
        fprintf(stderr, "%s\n", line);
    }
    return !stop && !s->failed;
}

/* ---- running ---- */

static int run(sk_tune_session *s, const sk_tune_launch *l, const char *const *rest,
               double patience)
{
    sk_strlist w = sk_strlist_new(s->arena);
    sk_strlist_add(&w, sk_launch_self(s->arena));
    sk_strlist_add(&w, "run");
    for (int i = 0; i < l->words->n; i++)
        sk_strlist_add(&w, l->words->v[i]);
    sk_strlist_add(&w, sk_launch_find_program(s->arena, l->mpi));
    for (; *rest; rest++)
        sk_strlist_add(&w, *rest);
    if (l->graph) {
        sk_strlist_add(&w, "--graph");
        sk_strlist_add(&w, l->graph);
    }
    int status = sk_launch_run(&w, patience, take_line, s);
    end_progress();
    s->interrupted = stop != 0;
    return status;
}

static bool explain(const sk_tune_session *s, int status)
{
    if (s->interrupted || s->failed)
        return false;
    if (status == SK_LAUNCH_SILENT)
        fprintf(stderr, "skein tune: no progress for a long time, ended; try fewer ranks, or "
                        "--collective to leave some out\n");
    else if (status != 0)
        fprintf(stderr,
                "skein tune: the launcher ended with status %d; does the same command start "
                "`hostname`?\n",
                status);
    return status == 0;
}

bool sk_tune_describe(sk_tune_session *s, const sk_tune_launch *l)
{
    enum { PATIENCE = 60 };
    const double part = 1.0 / 32,
                 most = 5; /* of the time, for prices; they hold for all ranks and sizes */
    double seconds = s->seconds * part < most ? s->seconds * part : most;
    const char *const rest[] = {"--describe", "--seconds", sk_format(s->arena, "%.3f", seconds),
                                NULL};
    s->machine[0] = '\0';
    s->cells = NULL;
    if (!explain(s, run(s, l, rest, PATIENCE)))
        return false;
    if (s->machine[0] && s->ranks > 1)
        return true;
    fprintf(stderr, "skein tune: %s: the launcher must start at least 2 ranks, as in mpirun -n 4\n",
            l->words->v[0]);
    return false;
}

bool sk_tune_measure(sk_tune_session *s, const sk_tune_launch *l, const sk_tune_cell *cells, int n,
                     double seconds)
{
    const char *const rest[] = {"--seconds", sk_format(s->arena, "%.3f", seconds), "--cells",
                                sk_tune_cells_text(s->arena, cells, n), NULL};
    s->cells = cells;
    s->cell = 0;
    if (n == 0)
        return true;
    bool ok = explain(s, run(s, l, rest, 60 + 2 * seconds));
    return sk_tune_save(s) && ok;
}
