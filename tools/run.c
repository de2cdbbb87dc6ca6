/* run.c: `skein run`: put Skein's library into the ranks of an MPI job.
 *
 * The command line is checked and rewritten, then this process becomes the launcher: signals and
 * the exit status need no forwarding. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "run/check.h"
#include "run/options.h"

static const char usage[] =
    "usage: skein run [OPTION]... [--] LAUNCHER [ARGUMENT]...\n"
    "       skein run [OPTION]... [--] PROGRAM [ARGUMENT]...\n"
    "\n"
    "Run an MPI program with its collectives served by Skein: skein run mpirun -n 8 ./app\n"
    "\n" SK_RUN_OPTIONS_HELP "\n"
    "SKEIN_* variables of the environment reach the ranks; `skein info` lists them.\n";

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
    sk_strlist command = sk_strlist_new(a);
    int first = sk_run_options_read(a, argc, argv, 1, &o);
    if (first < 0)
        return SK_RUN_REFUSED;
    int status = sk_run_prepare(&command, &o, argv + first, argc - first);
    if (status != SK_RUN_OK)
        return status;
    if (!o.dry_run)
        return become(command.v);
    sk_run_print(command.v);
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
