/* trace.c: see trace.h. */
#include "match/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Records are buffered and written together. Only whole records are written, so a killed program
 * leaves no torn record behind. */
enum { BUFFER_RECORDS = 1024 };

struct sk_trace {
    int fd;
    int error; /* errno of the first failure; nothing is written after it */
    uint32_t used;
    uint64_t total;
    sk_trace_record records[BUFFER_RECORDS];
};

static int write_all(int fd, const void *bytes, size_t n)
{
    const char *at = bytes;
    while (n > 0) {
        ssize_t done = write(fd, at, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return errno;
        at += done;
        n -= (size_t)done;
    }
    return 0;
}

sk_status sk_trace_new(const char *path, uint32_t nranks, sk_trace **out)
{
    char head[SK_TRACE_HEAD + 1];
    sk_trace *t = calloc(1, sizeof *t);
    if (!t)
        return SK_NOMEM;
    t->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (t->fd < 0)
        goto fail;
    int n = snprintf(head, sizeof head, SK_TRACE_WORDS, nranks, SK_TRACE_ORDER);
    memset(head + n, ' ', SK_TRACE_HEAD - (size_t)n);
    head[SK_TRACE_HEAD - 1] = '\n';
    errno = write_all(t->fd, head, SK_TRACE_HEAD);
    if (errno != 0) {
        int why = errno;
        close(t->fd);
        errno = why;
        goto fail;
    }
    *out = t;
    return SK_OK;
fail:
    free(t); /* keeps errno */
    return SK_WIRE;
}

static void flush(sk_trace *t)
{
    if (!t->error)
        t->error = write_all(t->fd, t->records, t->used * sizeof *t->records);
    t->used = 0;
}

void sk_trace_write(sk_trace *t, const sk_trace_record *r)
{
    if (t->error)
        return;
    if (t->total == UINT32_MAX) { /* ids are used up */
        flush(t);
        t->error = t->error ? t->error : EFBIG;
        return;
    }
    t->records[t->used++] = *r;
    t->total++;
    if (t->used == BUFFER_RECORDS)
        flush(t);
}

sk_status sk_trace_free(sk_trace *t)
{
    if (!t)
        return SK_OK;
    flush(t);
    if (close(t->fd) != 0 && !t->error)
        t->error = errno;
    int error = t->error;
    free(t);
    errno = error;
    return error ? SK_WIRE : SK_OK;
}
