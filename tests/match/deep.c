/* deep.c: queues of many thousands of items, searched in the worst order for a list: from its
 * end. */
#include <stdlib.h>

#include "case.h"

enum { SMALL = 9000, FLUSH = 1, FIRST_TAG = 2 };

/* Rank 0 posts n receives of one number each; rank 1 sends them backwards. */
static void posted(const case_ctx *s, int source)
{
    int n = case_amount(s, SMALL);
    int *value = must_alloc((size_t)n * sizeof *value);
    MPI_Request *req = must_alloc((size_t)n * sizeof *req);
    MPI_Status *st = must_alloc((size_t)n * sizeof *st);
    for (int i = 0; i < n && s->rank == 0; i++)
        MPI_Irecv(&value[i], 1, MPI_INT, source, FIRST_TAG + i, s->comm, &req[i]);
    MPI_Barrier(s->comm);
    for (int i = n - 1; i >= 0 && s->rank == 1; i--) {
        int mine = 3 * i + 1;
        MPI_Send(&mine, 1, MPI_INT, 0, FIRST_TAG + i, s->comm);
    }
    if (s->rank == 0) {
        MPI_Waitall(n, req, st);
        for (int i = 0; i < n; i++)
            EXPECT(s,
                   value[i] == 3 * i + 1 && st[i].MPI_SOURCE == 1 && st[i].MPI_TAG == FIRST_TAG + i,
                   "receive %d of %d got %d with tag %d from %d", i, n, value[i], st[i].MPI_TAG,
                   st[i].MPI_SOURCE);
    }
    free(value);
    free(req);
    free(st);
}

void case_posted(const case_ctx *s)
{
    posted(s, 1);
}

void case_posted_any(const case_ctx *s)
{
    posted(s, MPI_ANY_SOURCE);
}

/* Rank 1 sends n numbers and a last message; rank 0 receives the last message first, then the
 * numbers backwards. */
void case_unexpected(const case_ctx *s)
{
    int n = case_amount(s, SMALL);
    int *value = must_alloc((size_t)n * sizeof *value);
    MPI_Request *req = must_alloc(((size_t)n + 1) * sizeof *req);
    if (s->rank == 1) {
        for (int i = 0; i < n; i++) {
            value[i] = 5 * i + 2;
            MPI_Isend(&value[i], 1, MPI_INT, 0, FIRST_TAG + i, s->comm, &req[i]);
        }
        MPI_Isend(NULL, 0, MPI_INT, 0, FLUSH, s->comm, &req[n]);
        MPI_Waitall(n + 1, req, MPI_STATUSES_IGNORE);
    } else if (s->rank == 0) {
        MPI_Recv(NULL, 0, MPI_INT, 1, FLUSH, s->comm, MPI_STATUS_IGNORE);
        for (int i = n - 1; i >= 0; i--) {
            int got = -1;
            MPI_Recv(&got, 1, MPI_INT, i % 2 ? 1 : MPI_ANY_SOURCE, FIRST_TAG + i, s->comm,
                     MPI_STATUS_IGNORE);
            EXPECT(s, got == 5 * i + 2, "message %d of %d is %d", i, n, got);
        }
    }
    free(value);
    free(req);
}

/* All ranks flood rank 0 with messages that it receives last. Its memory for unexpected messages is
 * bounded, so data must stay at the senders, but the message that is received first must arrive. */
typedef struct flooder {
    char *buf;
    MPI_Request *req;
    int n;
} flooder;

static test_msg flood_msg(int from, int i)
{
    return (test_msg){from, FIRST_TAG, i, i % 1000 == 999 ? LONG_MSG : SHORT_MSG};
}

static void flood_send(const case_ctx *s, flooder *f)
{
    size_t at = 0;
    for (int i = 0; i < f->n; i++) {
        test_msg l = flood_msg(s->rank, i);
        size_t bytes = msg_bytes(s, &l);
        msg_fill(s, &l, f->buf + at);
        MPI_Isend(f->buf + at, (int)bytes, MPI_BYTE, 0, l.tag, s->comm, &f->req[i]);
        at += bytes;
    }
    test_msg last = {s->rank, FLUSH, 0, SHORT_MSG};
    msg_send(s, &last, 0);
    MPI_Waitall(f->n, f->req, MPI_STATUSES_IGNORE);
}

static void flood_recv(const case_ctx *s, const flooder *f)
{
    char *buf = must_alloc(LONG_MSG);
    int *next = must_alloc((size_t)s->size * sizeof *next);
    for (int from = s->size - 1; from > 0; from--)
        msg_recv(s, &(test_msg){from, FLUSH, 0, SHORT_MSG});
    for (int i = 0; i < f->n * (s->size - 1); i++) {
        MPI_Status st;
        MPI_Recv(buf, LONG_MSG, MPI_BYTE, MPI_ANY_SOURCE, FIRST_TAG, s->comm, &st);
        test_msg l = flood_msg(st.MPI_SOURCE, next[st.MPI_SOURCE]++);
        msg_check(s, &l, buf, &st);
    }
    free(next);
    free(buf);
}

void case_flood(const case_ctx *s)
{
    flooder f = {.n = case_amount(s, 20000)};
    size_t most = 0;
    for (int i = 0; i < f.n; i++)
        most += flood_msg(s->rank, i).most;
    if (s->rank == 0)
        flood_recv(s, &f);
    else {
        f.buf = must_alloc(most);
        f.req = must_alloc((size_t)f.n * sizeof *f.req);
        flood_send(s, &f);
        free(f.buf);
        free(f.req);
    }
}
