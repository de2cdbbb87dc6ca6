/* trace.c: `skein trace`: run a job and record what its processes ask of their matching.
 *
 * A run with --match and SKEIN_TRACE. This process stays to tell what was written: it passes
 * signals on to the launcher and ends with its status. */
#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commands.h"
#include "match/trace.h"
#include "match/trace_head.h"
#include "run/check.h"
#include "run/options.h"

static const char usage[] =
    "usage: skein trace [-o FILE] [OPTION]... [--] LAUNCHER [ARGUMENT]...\n"
    "       skein trace [-o FILE] [OPTION]... [--] PROGRAM [ARGUMENT]...\n"
    "\n"
    "Run an MPI program over Skein's libfabric provider and record every receive and every\n"
    "arrival of each process, with the length of the queue it met, in FILE.PID.\n"
    "`skein bench match --trace` plays the records again, with any engine.\n"
    "\n"
    "  -o FILE         how the names of the files begin; skein-trace by "
    "default\n" SK_RUN_OPTIONS_HELP;

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

/* Old files would be played together with the new ones. */
static int check_place(sk_arena *a, const char *file)
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

/* On standard error, so that it does not mix with what the program prints. */
static void tell(sk_arena *a, const char *file)
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

static pid_t start(char *const *words, const sigset_t *before)
{
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    sigprocmask(SIG_SETMASK, before, NULL);
    execvp(words[0], words);
    int e = errno;
    fprintf(stderr, "skein trace: cannot run %s: %s\n", words[0], strerror(e));
    _exit(e == ENOENT ? 127 : 126);
}

/* Until the launcher ends. A signal that the terminal sends reaches it as well, one that was sent
 * to this process alone does not. */
static int wait_for(pid_t pid, const sigset_t *signals)
{
    siginfo_t info;
    int status;
    while (waitpid(pid, &status, WNOHANG) == 0)
        if (sigwaitinfo(signals, &info) > 0 && info.si_signo != SIGCHLD && info.si_code == SI_USER)
            kill(pid, info.si_signo);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int run(char *const *words)
{
    sigset_t signals, before;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    sigaddset(&signals, SIGCHLD);
    sigprocmask(SIG_BLOCK, &signals, &before);
    pid_t pid = start(words, &before);
    if (pid < 0) {
        fprintf(stderr, "skein trace: %s\n", strerror(errno));
        return 1;
    }
    return wait_for(pid, &signals);
}

static int trace(sk_arena *a, int argc, char **argv)
{
    sk_run_options o = {.match = "", .trace = "skein-trace"};
    sk_strlist command = sk_strlist_new(a);
    int first = sk_run_options_read(a, argc, argv, 1, &o);
    int status = first < 0 ? SK_RUN_REFUSED : sk_run_file(a, "trace", o.trace, &o.trace);
    if (status == SK_RUN_OK)
        status = check_place(a, o.trace);
    if (status == SK_RUN_OK)
        status = sk_run_prepare(&command, &o, argv + first, argc - first);
    if (status != SK_RUN_OK)
        return status;
    if (o.dry_run) {
        sk_run_print(command.v);
        return 0;
    }
    status = run(command.v);
    tell(a, o.trace);
    return status;
}

int sk_cmd_trace(int argc, char **argv)
{
    if (argc == 1 || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
        fputs(usage, argc == 1 ? stderr : stdout);
        return argc == 1 ? SK_RUN_REFUSED : 0;
    }
    sk_arena *a = sk_arena_new();
    if (!a) {
        fputs("skein: out of memory\n", stderr);
        return 1;
    }
    int status = trace(a, argc, argv);
    sk_arena_free(a);
    return status;
}
