/* job.c: see job.h. */
#include "run/job.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

static const int passed_on[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,
                                SIGUSR1, SIGUSR2, SIGALRM, SIGCONT};

/* The child becomes the command. If it cannot, it tells why through the pipe. */
static void become(char *const *words, const sigset_t *before, int told)
{
    sigprocmask(SIG_SETMASK, before, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* whoever kills `skein run` means the job */
    execvp(words[0], words);
    int e = errno;
    if (write(told, &e, sizeof e) != (ssize_t)sizeof e)
        _exit(126);
    _exit(127);
}

static pid_t start(char *const *words, const sigset_t *before, int *error)
{
    int fd[2], e = 0;
    if (pipe2(fd, O_CLOEXEC) != 0) {
        *error = errno;
        return -1;
    }
    pid_t pid = fork();
    if (pid == 0)
        become(words, before, fd[1]);
    *error = pid < 0 ? errno : 0;
    close(fd[1]);
    if (pid > 0 && read(fd[0], &e, sizeof e) == (ssize_t)sizeof e) {
        *error = e;
        waitpid(pid, NULL, 0);
        pid = -1;
    }
    close(fd[0]);
    return pid;
}

/* A signal from the terminal reaches the command by itself. */
static void pass_on(int signals, pid_t pid, sk_job_end *end)
{
    struct signalfd_siginfo s;
    while (read(signals, &s, sizeof s) == (ssize_t)sizeof s) {
        int sig = (int)s.ssi_signo;
        if (sig == SIGCHLD || sig == SIGCONT)
            continue;
        if (!end->signal)
            end->signal = sig;
        if (s.ssi_code == SI_USER || s.ssi_code == SI_QUEUE)
            kill(pid, sig);
    }
}

bool sk_job_run(char *const *words, sk_watch *w, sk_job_end *end, int *exit_status)
{
    sigset_t set, before;
    int error = 0;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    for (size_t i = 0; i < sizeof passed_on / sizeof *passed_on; i++)
        sigaddset(&set, passed_on[i]);
    sigprocmask(SIG_BLOCK, &set, &before);
    int signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    pid_t pid = signals < 0 ? -1 : start(words, &before, &error);
    if (pid < 0) {
        fprintf(stderr, "%s: cannot run %s: %s\n", program_invocation_name, words[0],
                strerror(error ? error : errno));
        *exit_status = error == ENOENT ? 127 : 126; /* as a shell does */
        return false;
    }
    struct pollfd fds[] = {{.fd = signals, .events = POLLIN},
                           {.fd = w ? sk_watch_fd(w) : -1, .events = POLLIN}};
    while (waitpid(pid, &end->status, WNOHANG) == 0) {
        poll(fds, 2, -1);
        pass_on(signals, pid, end);
        if (w)
            sk_watch_read(w);
    }
    close(signals);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return true;
}

int sk_job_exit(const sk_job_end *end)
{
    if (!WIFSIGNALED(end->status))
        return WEXITSTATUS(end->status);
    int sig = WTERMSIG(end->status);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0}); /* the command has dumped its own */
    signal(sig, SIG_DFL);
    raise(sig);
    return 128 + sig;
}
