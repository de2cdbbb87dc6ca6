/* lane_shm_process.c: does a process still live? Its number alone does not tell: numbers are used
 * again, and a dead process keeps its own until its parent looks. /proc tells, in a few
 * microseconds. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fabric/lane_shm.h"

typedef struct stat_line {
    char state;
    long threads;
    uint64_t start;
} stat_line;

/* False: there is nothing to read. Fields as in proc(5): the second is a name in parentheses, which
 * may hold anything, so the rest is counted from the last parenthesis. */
static bool stat_read(int32_t pid, stat_line *out)
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
    *out = (stat_line){.state = *at};
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

sk_process sk_process_self(void)
{
    stat_line is = {0};
    sk_process self = {.pid = (int32_t)getpid()};
    if (stat_read(self.pid, &is))
        self.start = is.start;
    return self;
}

bool sk_process_ended(const sk_process *p)
{
    stat_line is;
    if (!stat_read(p->pid, &is))
        return kill((pid_t)p->pid, 0) != 0 && errno == ESRCH;
    if (p->start && is.start != p->start)
        return true;
    /* A first thread that has ended leaves the others running. */
    return (is.state == 'Z' || is.state == 'X') && is.threads <= 1;
}
