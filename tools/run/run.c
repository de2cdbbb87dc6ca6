/* run.c: `skein run`: put Skein's library into the ranks of an MPI job.
 *
 * The command line is checked and rewritten, then the launcher runs. This process stays: it hears what
 * the ranks see (watch.h), and ends as the launcher ends. */
#include "run/run.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/word.h"
#include "commands.h"
#include "match/matcher.h"
#include "report/channel.h"
#include "report/convert.h"
#include "select/select.h"

enum { REPORT = SK_CLI_KEY, MATCH, MPI, LIB, DRY_RUN, OR_PLAIN };

const struct argp_option sk_run_option_table[] = {
    {"output", 'o', "FILE", 0, "how the names of the files begin (default: skein-trace)", 0},
    {"report", REPORT, "FILE", OPTION_ARG_OPTIONAL,
     "print a table of the collectives when the program ends, or write it to FILE as JSON; html, "
     "or html:FILE: as a "
     "page, with the JSON beside it",
     0},
    {"match", MATCH, "NAME", OPTION_ARG_OPTIONAL,
     "match messages by Skein's libfabric provider, with this engine", 0},
    {"mpi", MPI, "NAME", 0, "openmpi or mpich: do not look at the program", 0},
    {"lib", LIB, "DIR", 0, "take Skein's libraries from DIR", 0},
    {"dry-run", DRY_RUN, NULL, 0, "print the command that would be run", 0},
    {"or-plain", OR_PLAIN, NULL, 0, "run a command that cannot run under Skein without it", 0},
    {0}};

int sk_run_file(sk_arena *a, const char *what, const char *file, const char **out)
{
    char cwd[PATH_MAX];
    if (!*file)
        return sk_refuse("the %s needs a file name", what);
    if (*file != '/' && getcwd(cwd, sizeof cwd))
        file = sk_format(a, "%s/%s", cwd, file);
    const char *dir = sk_dirname(a, file);
    if (access(dir, W_OK) != 0)
        return sk_refuse("cannot write the %s in %s: %s", what, dir, strerror(errno));
    *out = file;
    return SK_RUN_OK;
}

/* --report=html[:FILE]: FILE, and the JSON that it is made from beside it. */
static int set_page(const char *file, sk_run_options *o)
{
    sk_arena *a = o->arena;
    int status = sk_run_file(a, "report", file ? file : "skein-report.html", &o->page);
    if (status != SK_RUN_OK)
        return status;
    size_t n = strlen(o->page);
    bool html = n > 5 && strcmp(o->page + n - 5, ".html") == 0;
    o->report = sk_format(a, "%.*s.json", (int)(html ? n - 5 : n), o->page);
    return SK_RUN_OK;
}

static int set_report(const char *value, sk_run_options *o)
{
    o->page = NULL;
    if (value && (strcmp(value, "html") == 0 || sk_starts_with(value, "html:")))
        return set_page(value[4] ? value + 5 : NULL, o);
    if (value && strcmp(value, "1") != 0)
        return sk_run_file(o->arena, "report", value, &o->report);
    o->report = "1";
    return SK_RUN_OK;
}

static int set_lib(sk_arena *a, const char *dir, sk_run_options *o)
{
    char *real = realpath(dir, NULL); /* ranks may run in another directory */
    if (!real)
        return sk_refuse("--lib %s: %s", dir, strerror(errno));
    o->lib = sk_format(a, "%s", real);
    free(real);
    return SK_RUN_OK;
}

static int set_mpi(const char *name, sk_run_options *o)
{
    o->mpi = sk_flavour_of_name(name);
    return o->mpi != SK_MPI_NONE ? SK_RUN_OK
                                 : sk_refuse("--mpi takes openmpi or mpich, not '%s'", name);
}

static int set_match(const char *engine, sk_run_options *o)
{
    o->match = engine ? engine : "";
    return !engine || *engine ? SK_RUN_OK : sk_refuse("--match= needs the name of an engine");
}

bool sk_run_take(void *ctx, int key, const char *value)
{
    sk_run_options *o = ctx;
    switch (key) {
    case REPORT:
        return set_report(value, o) == SK_RUN_OK;
    case MATCH:
        return set_match(value, o) == SK_RUN_OK;
    case MPI:
        return set_mpi(value, o) == SK_RUN_OK;
    case LIB:
        return set_lib(o->arena, value, o) == SK_RUN_OK;
    case DRY_RUN:
        o->dry_run = true;
        return true;
    case OR_PLAIN:
        o->or_plain = true;
        return true;
    default: /* -o of `skein trace` */
        o->trace = value;
        return true;
    }
}

static int check_engine_name(const char *name)
{
    enum { MAX_ENGINES = 64 };
    const char *names[MAX_ENGINES + 1] = {0};
    for (int i = 0; i < MAX_ENGINES && sk_engine_name(i); i++) {
        names[i] = sk_engine_name(i);
        if (!strcmp(name, names[i]))
            return SK_RUN_OK;
    }
    if (!*name)
        return SK_RUN_OK;
    char hint[256];
    return sk_refuse("no matching engine %s; %s", name, sk_suggest(name, names, hint, sizeof hint));
}

/* With --match, checks the engine, also one that only the environment names. */
static int check_engine(const sk_run_options *o)
{
    const char *named = getenv("SKEIN_MATCH");
    if (!o->match)
        return SK_RUN_OK;
    return check_engine_name(*o->match ? o->match : named ? named : "");
}

static int check_settings(void)
{
    char err[512];
    sk_select *s = NULL;
    if (sk_select_new(environ, &s, err, sizeof err) != SK_OK)
        return sk_refuse("%s", err);
    sk_select_free(s);
    return SK_RUN_OK;
}

/* From the options and the command `words` to the command that is run. Checks the settings and puts
 * them into the environment. Returns 0, or the exit status after a refusal. */
static int prepare(sk_strlist *command, const sk_run_options *o, char **words, int n)
{
    if (n <= 0)
        return sk_refuse("no command to run; write for example: skein run mpirun -n 8 ./app");
    if (o->report)
        setenv("SKEIN_REPORT", o->report, 1);
    if (o->trace)
        setenv("SKEIN_TRACE", o->trace, 1);
    int status = check_settings();
    if (status == SK_RUN_OK)
        status = check_engine(o);
    return status == SK_RUN_OK ? sk_run_plan(command, o, words, n) : status;
}

/* Prints the command so that a shell reads it back. */
static void print(char *const *words)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                "_-+=./:,@%^";
    for (int i = 0; words[i]; i++) {
        const char *w = words[i];
        if (i)
            putchar(' ');
        if (*w && !w[strspn(w, plain)]) {
            fputs(w, stdout);
            continue;
        }
        putchar('\'');
        for (; *w; w++)
            fputs(*w == '\'' ? "'\\''" : (char[]){*w, 0}, stdout);
        putchar('\'');
    }
    putchar('\n');
}

/* The report is on this host if rank 0 or this process wrote it. */
static void make_page(const sk_run_options *o)
{
    char err[SK_RUN_ERR];
    if (access(o->report, R_OK) != 0)
        sk_run_note(
            "%s is not here: rank 0 wrote it on its own host; `skein report` makes the page there",
            o->report);
    else if (sk_report_to_page(o->arena, o->report, o->page, err))
        sk_run_note("the report is in %s", o->page);
    else
        sk_run_note("%s", err);
}

bool sk_run_job(const sk_run_options *o, char **words, int n, sk_job_end *end, int *status)
{
    sk_strlist command = sk_strlist_new(o->arena);
    unsetenv(SK_CHANNEL_VAR); /* of another `skein run` around this one */
    sk_watch *w = o->dry_run ? NULL : sk_watch_new(o->arena);
    unsetenv(SK_RUN_AGAIN_VAR);
    *status = prepare(&command, o, words, n);
    if (*status == SK_RUN_REFUSED && o->or_plain && n > 0) {
        sk_run_note("it runs without Skein");
        command = sk_strlist_new(o->arena);
        for (int i = 0; i < n; i++)
            sk_strlist_add(&command, words[i]);
        *status = SK_RUN_OK;
        w = NULL;
    }
    if (*status == SK_RUN_OK && o->dry_run)
        print(command.v);
    if (*status != SK_RUN_OK || o->dry_run)
        return false;
    if (w)
        sk_watch_start(w);
    if (!sk_job_run(command.v, w, end, status))
        return false;
    if (w) /* every launcher of a script has a `skein run` of its own */
        sk_watch_end(w, words, end, getenv(SK_RUN_AGAIN_VAR) != NULL);
    if (o->page)
        make_page(o);
    return true;
}

static const sk_cli cli = {
    .command = "skein run",
    .args = "[--] LAUNCHER [ARGUMENT...]\n[--] PROGRAM [ARGUMENT...]",
    .about =
        "Run an MPI program with its collectives served by Skein: skein run mpirun -n 8 ./app\v"
        "SKEIN_* variables of the environment reach the ranks; `skein info` lists them.",
    .options = sk_run_option_table + 1,
    .take = sk_run_take,
    .stop_at_word = true};

int sk_cmd_run(int argc, char **argv)
{
    sk_run_options o = {.arena = sk_arena_new()};
    int first;
    program_invocation_name = (char *)cli.command;
    if (!o.arena) {
        fputs("skein: out of memory\n", stderr);
        return 1;
    }
    sk_job_end end = {0};
    int status = sk_cli_parse(&cli, &o, argc, argv, &first);
    if (status == SK_CLI_OK && sk_run_job(&o, argv + first, argc - first, &end, &status))
        status = sk_job_exit(&end);
    sk_arena_free(o.arena);
    return status;
}
