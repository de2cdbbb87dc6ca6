/* watch.c: see watch.h. Whatever is not certain is not said: ranks on other nodes cannot be heard. */
#include "run/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/settings.h"
#include "report/channel.h"
#include "report/report.h"
#include "run/launcher.h"
#include "run/run.h"

/* A rank that has not come to MPI_Finalize. */
typedef struct watched_rank {
    struct watched_rank *next;
    pid_t pid;
    int counts; /* memory of its counts; -1: none */
    int nranks;
} watched_rank;

struct sk_watch {
    sk_arena *arena;
    int socket;
    watched_rank *ranks;
    sk_report *report; /* to hold the counts */
    bool seen[SK_NNEWS];
    int aborted_by;  /* rank */
    int quiet;       /* ranks that ended without any collective */
    int nranks;      /* of the last job that started */
    bool collective; /* some rank made a collective call */
};

sk_watch *sk_watch_new(sk_arena *a)
{
    sk_watch *w = sk_arena_need(a, sizeof *w);
    struct sockaddr_un at;
    unsigned long id[2] = {0};
    int on = 1, random = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    if (random >= 0 && read(random, id, sizeof id) != (ssize_t)sizeof id)
        id[0] = 0;
    if (random >= 0)
        close(random);
    const char *name = sk_format(a, "skein-run-%d-%lx%lx", (int)getpid(), id[0], id[1]);
    *w = (sk_watch){.arena = a,
                    .socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    if (w->socket < 0)
        return NULL;
    socklen_t len = sk_channel_address(name, &at);
    w->report = sk_report_new(NULL);
    if (!w->report || bind(w->socket, (struct sockaddr *)&at, len) != 0 ||
        setsockopt(w->socket, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0) {
        close(w->socket);
        return NULL;
    }
    setenv(SK_CHANNEL_VAR, name, 1);
    return w;
}

void sk_watch_start(const sk_watch *w)
{
    (void)w;
    const char *where = getenv("SKEIN_REPORT");
    struct stat st;
    if (where && strcmp(where, "1") != 0 && stat(where, &st) == 0 && S_ISREG(st.st_mode))
        unlink(where);
}

int sk_watch_fd(const sk_watch *w)
{
    return w->socket;
}

/* ---- while the job runs ---- */

typedef struct news_from {
    sk_news news;
    struct ucred sender;
    int fd; /* that came along; -1: none */
} news_from;

static bool receive(const sk_watch *w, news_from *out)
{
    union {
        struct cmsghdr head;
        char space[CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))];
    } control;
    struct iovec data = {.iov_base = &out->news, .iov_len = sizeof out->news};
    struct msghdr m = {.msg_iov = &data,
                       .msg_iovlen = 1,
                       .msg_control = &control,
                       .msg_controllen = sizeof control};
    ssize_t got;
    do
        got = recvmsg(w->socket, &m, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return false;
    out->fd = -1;
    out->sender = (struct ucred){.uid = (uid_t)-1};
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
            memcpy(&out->fd, CMSG_DATA(c), sizeof out->fd);
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_CREDENTIALS)
            memcpy(&out->sender, CMSG_DATA(c), sizeof out->sender);
    }
    if (got != (ssize_t)sizeof out->news)
        out->news.kind = SK_NNEWS;
    return true;
}

static void close_fd(int fd)
{
    if (fd >= 0)
        close(fd);
}

static void add_rank(sk_watch *w, const news_from *n)
{
    watched_rank *r = sk_arena_need(w->arena, sizeof *r);
    bool fits = n->news.layout == sk_report_layout(w->report);
    if (!fits)
        close_fd(n->fd);
    *r = (watched_rank){.next = w->ranks,
                        .pid = n->sender.pid,
                        .counts = fits ? n->fd : -1,
                        .nranks = n->news.nranks};
    w->ranks = r;
    w->nranks = n->news.nranks;
}

static void remove_rank(sk_watch *w, const news_from *n)
{
    for (watched_rank **at = &w->ranks; *at; at = &(*at)->next)
        if ((*at)->pid == n->sender.pid) {
            close_fd((*at)->counts);
            *at = (*at)->next;
            break;
        }
    if (n->news.collectives)
        w->collective = true;
    else
        w->quiet++;
}

void sk_watch_read(sk_watch *w)
{
    news_from n;
    while (receive(w, &n)) {
        if (n.sender.uid != getuid() || n.news.kind >= SK_NNEWS) {
            close_fd(n.fd);
            continue;
        }
        w->seen[n.news.kind] = true;
        if (n.news.kind == SK_NEWS_START) {
            add_rank(w, &n);
            continue;
        }
        close_fd(n.fd);
        if (n.news.kind == SK_NEWS_END)
            remove_rank(w, &n);
        else if (n.news.kind == SK_NEWS_ABORT)
            w->aborted_by = n.news.rank;
    }
}

/* ---- when it has ended ---- */

/* The job may have run on other nodes only, whose ranks cannot be heard. */
static bool may_be_elsewhere(sk_arena *a, char *const *words)
{
    static const char *const batch[] = {
        "SLURM_JOB_ID",    "PBS_NODEFILE", "LSB_JOBID",       "PE_HOSTFILE",
        "COBALT_NODEFILE", "FLUX_URI",     "HYDRA_HOST_FILE", "OMPI_MCA_orte_default_hostfile"};
    for (size_t i = 0; i < sizeof batch / sizeof *batch; i++)
        if (getenv(batch[i]))
            return true;
    for (int i = 0; words[i]; i++) {
        if (sk_listed("H host hosts hostfile hostlist machinefile machines f default-hostfile",
                      sk_launcher_option_name(a, words[i])))
            return true;
        const char *base = sk_basename(words[i]);
        if (sk_listed("srun jsrun aprun prun flux ssh", base))
            return true;
    }
    return false;
}

/* Why Skein saw no call; NULL: it did, or that is not certain. */
static const char *why_nothing(const sk_watch *w, char *const *words, const sk_job_end *end)
{
    sk_arena *a = w->arena;
    if (w->seen[SK_NEWS_OFF])
        return "SKEIN=off, so every call went to the host MPI";
    if (w->seen[SK_NEWS_START])
        return w->quiet && w->quiet == w->nranks && !w->collective
                   ? "the program called MPI_Init, but made no collective call"
                   : NULL;
    if (end->status != 0 || may_be_elsewhere(a, words))
        return NULL;
    return sk_format(a,
                     "no process called MPI_Init with its library: the program uses no MPI or one "
                     "that is linked statically, is setuid, or a script clears LD_PRELOAD%s",
                     sk_setting_on(SK_SET_PMPI)
                         ? ""
                         : "; with SKEIN_PMPI=off Fortran programs on Open MPI are not seen");
}

/* The cells of the ranks that have not ended, merged; returns how many those are. */
static int merge(sk_watch *w)
{
    int n = sk_report_ncells(w->report), counted = 0;
    size_t bytes = (size_t)n * sizeof(int64_t);
    int64_t *merged = sk_arena_need(w->arena, bytes), *one = sk_arena_need(w->arena, bytes);
    memset(merged, 0, bytes);
    for (watched_rank *r = w->ranks; r; r = r->next) {
        if (r->counts < 0 || pread(r->counts, one, bytes, 0) != (ssize_t)bytes)
            continue;
        sk_report_merge(w->report, merged, one); /* widens one of the timelines */
        counted++;
    }
    sk_report_write(w->report, merged);
    return counted;
}

static const char *how_it_ended(const sk_watch *w, const sk_job_end *end)
{
    sk_arena *a = w->arena;
    if (w->seen[SK_NEWS_ABORT])
        return sk_format(a, "MPI_Abort by rank %d", w->aborted_by);
    if (end->signal)
        return sk_format(a, "ended by SIG%s", sigabbrev_np(end->signal));
    if (WIFSIGNALED(end->status))
        return sk_format(a, "the command was ended by SIG%s", sigabbrev_np(WTERMSIG(end->status)));
    if (end->status)
        return sk_format(a, "no MPI_Finalize, exit status %d", WEXITSTATUS(end->status));
    return "no MPI_Finalize";
}

/* The ranks write the report in MPI_Finalize. */
static bool is_missing(const sk_watch *w, const char *where)
{
    struct stat st;
    if (strcmp(where, "1") == 0)
        return !w->seen[SK_NEWS_END] && !w->seen[SK_NEWS_OFF];
    return stat(where, &st) != 0 && errno == ENOENT;
}

static void finish(sk_watch *w, char *const *words, const sk_job_end *end)
{
    const char *where = getenv("SKEIN_REPORT"), *why = why_nothing(w, words, end);
    bool table = where && strcmp(where, "1") == 0;
    if (where && *where && is_missing(w, where)) {
        int counted = merge(w);
        const char *how = counted ? how_it_ended(w, end)
                          : why
                              ? why
                              : sk_format(w->arena, "%s; no rank that has counts was on this node",
                                          how_it_ended(w, end));
        const sk_report_scope of = {.nranks = w->nranks, .counted = counted, .end = how};
        if (sk_report_save(w->report, &of, where) != SK_OK)
            sk_run_note("cannot write the report to %s; it is printed instead", where);
        table = table && !counted;
    } else {
        table = false;
    }
    if (why && !table)
        sk_run_note("Skein served nothing: %s", why);
}

void sk_watch_end(sk_watch *w, char *const *words, const sk_job_end *end, bool others)
{
    sk_watch_read(w);
    if (!others || w->seen[SK_NEWS_START] || w->seen[SK_NEWS_OFF])
        finish(w, words, end);
    close(w->socket);
    sk_report_free(w->report);
}
