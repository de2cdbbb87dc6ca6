/* launch.c: see launch.h. */
#include "bench/launch.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run/file.h"
#include "run/launcher.h"

const char *sk_launch_find_launcher(sk_arena *a, sk_flavour mpi)
{
    static const char *const names[][5] = {
        [SK_MPI_OPENMPI] = {"mpirun.openmpi", "mpirun", "mpiexec", "orterun"},
        [SK_MPI_MPICH] = {"mpiexec.mpich", "mpiexec.hydra", "mpiexec", "mpirun"},
    };
    sk_launcher_kind want = mpi == SK_MPI_OPENMPI ? SK_LAUNCHER_OPENMPI : SK_LAUNCHER_HYDRA, kind;
    for (int i = 0; names[mpi][i]; i++) {
        const char *path;
        if (sk_find_program(a, names[mpi][i], NULL, &path) == SK_FIND_OK &&
            sk_launcher_kind_of(a, path, &kind) && kind == want)
            return path;
    }
    return NULL;
}

const char *sk_launch_self(sk_arena *a)
{
    char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    return sk_format(a, "%.*s", n > 0 ? (int)n : 0, path);
}

const char *sk_launch_find_tool(sk_arena *a, const char *name)
{
    static const char *const dirs[] = {"../libexec", "../libexec/skein"};
    const char *bin = sk_dirname(a, sk_launch_self(a));
    for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++) {
        const char *path = sk_format(a, "%s/%s/%s", bin, dirs[i], name);
        char *real = access(path, X_OK) == 0 ? realpath(path, NULL) : NULL;
        if (real) {
            path = sk_format(a, "%s", real);
            free(real);
            return path;
        }
    }
    return NULL;
}

const char *sk_launch_find_program(sk_arena *a, sk_flavour mpi)
{
    return sk_launch_find_tool(a, sk_format(a, "skein-bench-%s", sk_flavour_name(mpi)));
}

static pid_t start(const sk_strlist *command, int *out)
{
    int ends[2];
    if (pipe(ends) != 0)
        return -1;
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM); /* the ranks end with the benchmark */
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        execvp(command->v[0], command->v);
        fprintf(stderr, "skein bench: cannot start %s: %s\n", command->v[0], strerror(errno));
        _exit(127);
    }
    close(ends[1]);
    *out = ends[0];
    if (pid < 0)
        close(ends[0]);
    return pid;
}

static bool ignore_line(void *ctx, char *text)
{
    (void)ctx, (void)text;
    return true;
}

/* Reads lines until the end of the output. False: nothing came for `patience` seconds, or `line` wants no more. */
static bool read_lines(int fd, double patience, bool (*line)(void *ctx, char *text), void *ctx)
{
    char buf[4096];
    size_t used = 0;
    for (;;) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        int ready = poll(&p, 1, (int)(1000 * patience));
        if (ready == 0)
            return false;
        ssize_t got = ready < 0 ? -1 : read(fd, buf + used, sizeof buf - 1 - used);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return true;
        used += (size_t)got;
        char *begin = buf, *end;
        while ((end = memchr(begin, '\n', used - (size_t)(begin - buf)))) {
            *end = '\0';
            if (!line(ctx, begin))
                return false;
            begin = end + 1;
        }
        used -= (size_t)(begin - buf);
        memmove(buf, begin, used);
        if (used == sizeof buf - 1) /* not a line of the measuring program */
            used = 0;
    }
}

int sk_launch_run(const sk_strlist *command, double patience, bool (*line)(void *ctx, char *text),
                  void *ctx)
{
    int out, status;
    pid_t pid = start(command, &out);
    if (pid < 0)
        return SK_LAUNCH_FAILED;
    bool ended = read_lines(out, patience, line, ctx);
    if (!ended) {
        /* The launcher ends its ranks. If it hangs too, it is killed. */
        kill(pid, SIGTERM);
        if (!read_lines(out, 10, ignore_line, ctx))
            kill(pid, SIGKILL);
    }
    close(out);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (!ended)
        return SK_LAUNCH_SILENT;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
