/* busy.c: see busy.h. */
#include "bench/busy.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "strlist.h"

/* In a session of its own, because the kernel may divide cores by sessions. */
static void be_busy(pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setsid();
    while (getppid() == parent)
        for (volatile int k = 0; k < 1000000; k++)
            ;
    _exit(0);
}

bool sk_busy_start(sk_arena *a, int n, sk_busy *out)
{
    pid_t parent = getpid();
    *out = (sk_busy){.pids = sk_arena_need(a, ((size_t)n + 1) * sizeof *out->pids)};
    while (out->n < n) {
        pid_t pid = fork();
        if (pid == 0)
            be_busy(parent);
        if (pid < 0) {
            int why = errno;
            sk_busy_end(out);
            errno = why;
            return false;
        }
        out->pids[out->n++] = pid;
    }
    return true;
}

void sk_busy_end(sk_busy *b)
{
    for (int i = 0; i < b->n; i++)
        kill(b->pids[i], SIGKILL);
    for (int i = 0; i < b->n; i++)
        while (waitpid(b->pids[i], NULL, 0) < 0 && errno == EINTR)
            ;
    b->n = 0;
}
