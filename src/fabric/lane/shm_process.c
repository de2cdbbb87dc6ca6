/* shm_process.c: does a process still exist? The pid alone does not tell: pids are reused, and a
 * dead process keeps its pid until its parent waits for it. /proc/PID/stat tells, in a few
 * microseconds. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fabric/lane/shm_inner.h"

typedef struct sk_proc_stat {
    char state;
    long threads;
    uint64_t start;
} sk_proc_stat;

/* False: there is nothing to read. The fields are those of proc(5). The second is a name in
 * parentheses that may contain anything, so fields are counted from the last parenthesis. */
static bool proc_stat_read(int32_t pid, sk_proc_stat *out)
{
    enum { STATE = 3, THREADS = 20, START = 22 };
    char path[32], text[1024], *at;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t got = read(fd, text, sizeof text - 1);
    close(fd);
    if (got <= 0)
        return false;
    text[got] = 0;
    at = strrchr(text, ')');
    if (!at || at[1] != ' ')
        return false;
    at += 2;
    *out = (sk_proc_stat){.state = *at};
    for (int field = STATE; field < START; field++) {
        at = strchr(at, ' ');
        if (!at)
            return false;
        at++;
        if (field + 1 == THREADS)
            out->threads = strtol(at, NULL, 10);
    }
    out->start = strtoull(at, NULL, 10);
    return true;
}

sk_process_id sk_process_self(void)
{
    sk_proc_stat is = {0};
    sk_process_id self = {.pid = (int32_t)getpid()};
    if (proc_stat_read(self.pid, &is))
        self.start = is.start;
    return self;
}

bool sk_process_ended(const sk_process_id *p)
{
    sk_proc_stat is;
    if (!proc_stat_read(p->pid, &is))
        return kill((pid_t)p->pid, 0) != 0 && errno == ESRCH;
    if (p->start && is.start != p->start)
        return true;
    /* If the main thread has ended, other threads may still run. */
    return (is.state == 'Z' || is.state == 'X') && is.threads <= 1;
}
