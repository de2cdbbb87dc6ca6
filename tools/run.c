/* run.c: `skein run`: put Skein's library into the ranks of an MPI job.
 *
 * The command line is checked and rewritten, then this process becomes the launcher: signals and
 * the exit status need no forwarding. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "run/check.h"
#include "run/plan.h"
#include "select/select.h"

static const char usage[] =
    "usage: skein run [OPTION]... [--] LAUNCHER [ARGUMENT]...\n"
    "       skein run [OPTION]... [--] PROGRAM [ARGUMENT]...\n"
    "\n"
    "Run an MPI program with its collectives served by Skein: skein run mpirun -n 8 ./app\n"
    "\n"
    "  --report        print a table of the collectives when the program ends\n"
    "  --report=FILE   write it to FILE as JSON\n"
    "  --mpi=NAME      openmpi or mpich: do not look which MPI the program links\n"
    "  --lib DIR       take Skein's libraries from DIR\n"
    "  --dry-run       print the command that would be run\n"
    "\n"
    "SKEIN_* variables of the environment reach the ranks; `skein info` lists them.\n";

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

/* A file name as given here means the same file in whatever directory the ranks run. */
static int set_report(sk_arena *a, const char *file, sk_run_options *o)
{
    char cwd[PATH_MAX];
    o->report = file;
    if (!strcmp(file, "1"))
        return SK_RUN_OK;
    if (!*file)
        return sk_refuse("--report= needs a file name");
    if (*file != '/' && getcwd(cwd, sizeof cwd))
        o->report = sk_text(a, "%s/%s", cwd, file);
    const char *dir = sk_dir(a, o->report);
    if (access(dir, W_OK) != 0)
        return sk_refuse("cannot write the report in %s: %s", dir, strerror(errno));
    return SK_RUN_OK;
}

/* Returns the index of the first word that is not ours, or -1 after a refusal. */
static int read_options(sk_arena *a, int argc, char **argv, sk_run_options *o)
{
    static const char *const names[] = {"--report", "--mpi", "--lib", "--dry-run", "--help", NULL};
    int i = 1, status = SK_RUN_OK;
    for (; i < argc && argv[i][0] == '-' && status == SK_RUN_OK; i++) {
        const char *value = NULL;
        if (!strcmp(argv[i], "--"))
            return i + 1;
        if (!strcmp(argv[i], "--dry-run")) {
            o->dry_run = true;
        } else if (!strcmp(argv[i], "--report")) {
            o->report = "1";
        } else if (sk_starts(argv[i], "--report=")) {
            status = set_report(a, argv[i] + strlen("--report="), o);
        } else if (has_value(argv, argc, &i, "--lib", &value)) {
            char *real = realpath(value, NULL); /* ranks may run in another directory */
            if (!real)
                status = sk_refuse("--lib %s: %s", value, strerror(errno));
            else
                o->lib = sk_text(a, "%s", real);
            free(real);
        } else if (has_value(argv, argc, &i, "--mpi", &value)) {
            o->mpi = sk_flavour_of_name(value);
            if (o->mpi == SK_MPI_NONE)
                status = sk_refuse("--mpi takes openmpi or mpich, not '%s'", value);
        } else {
            status = sk_refuse("no option %s; did you mean %s? Options of the launcher go after it",
                               argv[i], sk_nearest(argv[i], names));
        }
    }
    return status == SK_RUN_OK ? i : -1;
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

/* As a shell would read it back. */
static void print_command(char *const *words)
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

static int become(char *const *words)
{
    execvp(words[0], words);
    int e = errno;
    fprintf(stderr, "skein run: cannot run %s: %s\n", words[0], strerror(e));
    return e == ENOENT ? 127 : 126; /* what a shell says */
}

static int run(sk_arena *a, int argc, char **argv)
{
    sk_run_options o = {0};
    sk_words command = sk_words_new(a);
    int first = read_options(a, argc, argv, &o);
    if (first < 0)
        return SK_RUN_REFUSED;
    if (first >= argc)
        return sk_refuse("no command to run; write for example: skein run mpirun -n 8 ./app");
    if (o.report)
        setenv("SKEIN_REPORT", o.report, 1);
    int status = check_settings();
    if (status == SK_RUN_OK)
        status = sk_plan(&command, &o, argv + first, argc - first);
    if (status != SK_RUN_OK)
        return status;
    if (!o.dry_run)
        return become(command.v);
    print_command(command.v);
    return 0;
}

int sk_cmd_run(int argc, char **argv)
{
    for (int i = 1; i < argc && argv[i][0] == '-' && strcmp(argv[i], "--") != 0; i++) {
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
            fputs(usage, stdout);
            return 0;
        }
    }
    sk_arena *a = sk_arena_new();
    if (!a) {
        fputs("skein: out of memory\n", stderr);
        return 1;
    }
    int status = run(a, argc, argv);
    sk_arena_free(a);
    return status;
}
