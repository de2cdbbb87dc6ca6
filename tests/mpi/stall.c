/* stall.c: buffers and communicators of a stall. Long messages need the receiver: their send does not
 * complete before the receive is posted. */
#include "progress.h"

#include <stdlib.h>
#include <string.h>

void stall_open(stall_context *st)
{
    st->buf = must_alloc(LONG * sizeof(int));
    for (int i = 0; i < LONG; i++)
        st->buf[i] = st->rank * 100 + i % 89;
    MPI_Comm_dup(st->comm, &st->spare);
    MPI_Comm_split(st->comm, st->rank > 0, 0, &st->half);
    int capacity = (int)(LONG * sizeof(int)) + MPI_BSEND_OVERHEAD;
    st->attached = must_alloc((size_t)capacity);
    MPI_Buffer_attach(st->attached, capacity);
}

void stall_close(stall_context *st)
{
    void *p;
    int n;
    if (st->attached != NULL)
        MPI_Buffer_detach(&p, &n);
    free(st->attached);
    if (st->spare != MPI_COMM_NULL)
        MPI_Comm_free(&st->spare);
    MPI_Comm_free(&st->half);
    free(st->buf);
}

void stall_check(const stall_context *st, int from, int n, MPI_Status *s)
{
    int received = -1, bad = 0;
    MPI_Get_count(s, MPI_INT, &received);
    CHECK(s->MPI_SOURCE == from && s->MPI_TAG == TAG, "source %d tag %d", s->MPI_SOURCE,
          s->MPI_TAG);
    CHECK(received == n, "received %d of %d", received, n);
    for (int i = 0; i < n; i++)
        bad += st->buf[i] != from * 100 + i % 89;
    CHECK(bad == 0, "%d of %d values from rank %d are wrong", bad, n, from);
}

void send_short(stall_context *st)
{
    MPI_Send(st->buf, SHORT, MPI_INT, 1 - st->rank, TAG, st->comm);
}

bool stall_matches(const stall *s, const char *prefix)
{
    return strncmp(s->name, prefix, strlen(prefix)) == 0;
}
