/* options.c: see options.h. */
#include "run/options.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/settings.h"
#include "run/check.h"
#include "run/match.h"
#include "select/select.h"

/* Whether words[*i] is --name=VALUE or --name VALUE; *i is left at its last word. */
static bool has_value(char **words, int n, int *i, const char *name, const char **value)
{
    size_t len = strlen(name);
    if (strncmp(words[*i], name, len) != 0 || (words[*i][len] && words[*i][len] != '='))
        return false;
    if (words[*i][len] == '=')
        *value = words[*i] + len + 1;
    else
        *value = *i + 1 < n ? words[++*i] : "";
    return true;
}

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
    o->match = engine;
    return *engine ? SK_RUN_OK : sk_refuse("--match= needs the name of an engine");
}

int sk_run_options_read(sk_arena *a, int argc, char **argv, int first, sk_run_options *o)
{
    static const char *const names[] = {"--report",  "--match", "--mpi", "--lib",
                                        "--dry-run", "--help",  NULL};
    int i = first, status = SK_RUN_OK;
    for (; i < argc && argv[i][0] == '-' && status == SK_RUN_OK; i++) {
        const char *value = NULL;
        if (!strcmp(argv[i], "--"))
            return i + 1;
        if (!strcmp(argv[i], "--dry-run"))
            o->dry_run = true;
        else if (!strcmp(argv[i], "--report") || !strcmp(argv[i], "--report=1"))
            o->report = "1";
        else if (sk_starts_with(argv[i], "--report="))
            status = sk_run_file(a, "report", argv[i] + strlen("--report="), &o->report);
        else if (!strcmp(argv[i], "--match"))
            o->match = "";
        else if (sk_starts_with(argv[i], "--match="))
            status = set_match(argv[i] + strlen("--match="), o);
        else if (has_value(argv, argc, &i, "--lib", &value))
            status = set_lib(a, value, o);
        else if (has_value(argv, argc, &i, "--mpi", &value))
            status = set_mpi(value, o);
        else if (o->trace && has_value(argv, argc, &i, "-o", &value))
            o->trace = value;
        else
            status = sk_refuse("no option %s; did you mean %s? Options of the launcher go after it",
                               argv[i], sk_nearest(argv[i], names));
    }
    return status == SK_RUN_OK ? i : -1;
}

/* With --match, also an engine that only the environment names. */
static int check_engine(const sk_run_options *o)
{
    const char *named = getenv("SKEIN_MATCH");
    if (!o->match)
        return SK_RUN_OK;
    return sk_match_check_engine(*o->match ? o->match : named ? named : "");
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

int sk_run_prepare(sk_strlist *command, const sk_run_options *o, char **words, int n)
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
    return status == SK_RUN_OK ? sk_plan(command, o, words, n) : status;
}

void sk_run_print(char *const *words)
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
