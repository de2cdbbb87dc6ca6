/* trace.c: `skein trace`: run a job and record the receives and arrivals of its processes.
 *
 * It is a run with --match and SKEIN_TRACE that lists the files at the end. */
#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "commands.h"
#include "match/trace.h"
#include "run/run.h"

static const sk_cli cli = {
    .command = "skein trace",
    .args = "[--] LAUNCHER [ARGUMENT...]\n[--] PROGRAM [ARGUMENT...]",
    .about =
        "Run an MPI program over Skein's libfabric provider and record every receive and every "
        "arrival of each process, with the length of the queue at that moment, in FILE.PID. "
        "`skein bench match --trace` plays the records again, with any engine.",
    .options = sk_run_option_table,
    .take = sk_run_take,
    .stop_at_word = true};

/* The files of a trace are FILE.PID. */
static void find_files(sk_arena *a, const char *file, sk_strlist *out)
{
    glob_t g;
    if (glob(sk_format(a, "%s.[0-9]*", file), 0, NULL, &g) != 0)
        return;
    for (size_t i = 0; i < g.gl_pathc; i++) {
        const char *pid = strrchr(g.gl_pathv[i], '.') + 1;
        if (!pid[strspn(pid, "0123456789")])
            sk_strlist_add(out, g.gl_pathv[i]);
    }
    globfree(&g);
}

/* Refuses when there are files of an earlier trace: they would be played with the new ones. */
static int check_no_files(sk_arena *a, const char *file)
{
    sk_strlist old = sk_strlist_new(a);
    find_files(a, file, &old);
    if (!old.n)
        return SK_RUN_OK;
    return sk_refuse("there is a trace already, %s; remove %s.* or name another file with -o",
                     old.v[0], file);
}

static int64_t records_of(const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0 || st.st_size < SK_TRACE_HEAD)
        return 0;
    return (st.st_size - SK_TRACE_HEAD) / (int64_t)sizeof(sk_trace_record);
}

/* Prints the files to standard error, apart from the output of the program. */
static void print_files(sk_arena *a, const char *file)
{
    sk_strlist files = sk_strlist_new(a);
    int64_t all = 0;
    find_files(a, file, &files);
    for (int i = 0; i < files.n; i++)
        all += records_of(files.v[i]);
    if (!files.n) {
        fprintf(stderr,
                "skein trace: nothing was recorded: no file %s.PID here; processes on other nodes "
                "write theirs there, and a job that sends nothing has none\n",
                file);
        return;
    }
    fprintf(stderr, "skein trace: %d file%s, %" PRId64 " records:\n", files.n,
            files.n == 1 ? "" : "s", all);
    for (int i = 0; i < files.n; i++)
        fprintf(stderr, "  %s  %" PRId64 " records\n", files.v[i], records_of(files.v[i]));
    fprintf(stderr, "play them again: skein bench match --trace %s.*\n", file);
}

static int trace(const sk_run_options *given, char **words, int n)
{
    sk_run_options o = *given;
    sk_job_end end = {0};
    int status = sk_run_file(o.arena, "trace", o.trace, &o.trace);
    if (status == SK_RUN_OK)
        status = check_no_files(o.arena, o.trace);
    if (status != SK_RUN_OK || !sk_run_job(&o, words, n, &end, &status))
        return status;
    print_files(o.arena, o.trace);
    return sk_job_exit(&end);
}

int sk_cmd_trace(int argc, char **argv)
{
    sk_run_options o = {.arena = sk_arena_new(), .match = "", .trace = "skein-trace"};
    int first, status = SK_RUN_REFUSED;
    program_invocation_name = (char *)cli.command;
    if (!o.arena) {
        fputs("skein: out of memory\n", stderr);
        return 1;
    }
    if (argc == 1)
        sk_cli_help(&cli, stderr);
    else
        status = sk_cli_parse(&cli, &o, argc, argv, &first);
    if (status == SK_CLI_OK)
        status = trace(&o, argv + first, argc - first);
    sk_arena_free(o.arena);
    return status;
}
