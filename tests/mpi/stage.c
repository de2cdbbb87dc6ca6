/* stage.c: what a stall works with. Long messages are there because they need the receiver to be
 * sent. */
#include "progress.h"

#include <stdlib.h>
#include <string.h>

void stage_open(stage *st)
{
    st->buf = must_alloc(LONG * sizeof(int));
    for (int i = 0; i < LONG; i++)
        st->buf[i] = st->rank * 100 + i % 89;
    MPI_Comm_dup(st->comm, &st->spare);
    MPI_Comm_split(st->comm, st->rank > 0, 0, &st->half);
    int room = (int)(LONG * sizeof(int)) + MPI_BSEND_OVERHEAD;
    st->attached = must_alloc((size_t)room);
    MPI_Buffer_attach(st->attached, room);
}

void stage_close(stage *st)
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

void stage_check(const stage *st, int from, int n, MPI_Status *s)
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

void send_short(stage *st)
{
    MPI_Send(st->buf, SHORT, MPI_INT, 1 - st->rank, TAG, st->comm);
}

bool stall_matches(const stall *s, const char *prefix)
{
    return strncmp(s->name, prefix, strlen(prefix)) == 0;
}
