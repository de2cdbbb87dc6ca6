/* modes.c: the modes of sends: synchronous, ready, buffered, and persistent requests. */
#include <stdlib.h>
#include <time.h>

#include "case.h"

enum { TAG = 40, MSGS = 30 };

static void nap(long ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

/* A synchronous send completes only after its receive has started. */
void case_ssend_waits(const case_ctx *s)
{
    static const int bytes[] = {0, 8, 4000, 100000, 3000000};
    MPI_Comm aside;
    MPI_Comm_dup(s->comm, &aside);
    for (int i = 0; i < 5; i++) {
        char *buf = must_alloc((size_t)bytes[i]);
        int done = 0;
        MPI_Request req;
        if (s->rank == 0) {
            MPI_Issend(buf, bytes[i], MPI_BYTE, 1, TAG, s->comm, &req);
            for (int k = 0; k < 20; k++, nap(1)) {
                MPI_Test(&req, &done, MPI_STATUS_IGNORE);
                EXPECT(s, !done, "issend of %d bytes is over before its receive", bytes[i]);
            }
            MPI_Send(NULL, 0, MPI_BYTE, 1, TAG, aside);
            MPI_Wait(&req, MPI_STATUS_IGNORE);
        } else if (s->rank == 1) {
            MPI_Recv(NULL, 0, MPI_BYTE, 0, TAG, aside, MPI_STATUS_IGNORE);
            MPI_Recv(buf, bytes[i], MPI_BYTE, 0, TAG, s->comm, MPI_STATUS_IGNORE);
        }
        free(buf);
    }
    MPI_Comm_free(&aside);
}

static void send_as(const case_ctx *s, int how, const test_msg *l, int to)
{
    int bytes = (int)msg_bytes(s, l);
    void *buf = must_alloc((size_t)bytes);
    MPI_Request req = MPI_REQUEST_NULL;
    msg_fill(s, l, buf);
    switch (how) {
    case 0:
        MPI_Ssend(buf, bytes, MPI_BYTE, to, l->tag, s->comm);
        break;
    case 1:
        MPI_Bsend(buf, bytes, MPI_BYTE, to, l->tag, s->comm);
        break;
    case 2:
        MPI_Rsend(buf, bytes, MPI_BYTE, to, l->tag, s->comm);
        break;
    case 3:
        MPI_Issend(buf, bytes, MPI_BYTE, to, l->tag, s->comm, &req);
        break;
    case 4:
        MPI_Ibsend(buf, bytes, MPI_BYTE, to, l->tag, s->comm, &req);
        break;
    case 5:
        MPI_Irsend(buf, bytes, MPI_BYTE, to, l->tag, s->comm, &req);
        break;
    default:
        MPI_Send(buf, bytes, MPI_BYTE, to, l->tag, s->comm);
        break;
    }
    MPI_Wait(&req, MPI_STATUS_IGNORE);
    free(buf);
}

/* Sends of all modes from rank 0 to all others arrive in order. All receives are posted before, as
 * ready sends require. */
void case_send_modes(const case_ctx *s)
{
    int capacity = MSGS * s->size * (LONG_MSG + MPI_BSEND_OVERHEAD), rest;
    void *buffer = must_alloc((size_t)capacity);
    char *got = must_alloc((size_t)MSGS * LONG_MSG);
    MPI_Request req[MSGS];
    MPI_Status st[MSGS];
    MPI_Buffer_attach(buffer, capacity);
    for (int i = 0; i < MSGS && s->rank > 0; i++)
        MPI_Irecv(got + (size_t)i * LONG_MSG, LONG_MSG, MPI_BYTE, 0, TAG, s->comm, &req[i]);
    MPI_Barrier(s->comm);
    for (int i = 0; i < MSGS && s->rank == 0; i++)
        for (int to = 1; to < s->size; to++)
            send_as(s, i % 7, &(test_msg){0, TAG, i, LONG_MSG}, to);
    if (s->rank > 0) {
        MPI_Waitall(MSGS, req, st);
        for (int i = 0; i < MSGS; i++)
            msg_check(s, &(test_msg){0, TAG, i, LONG_MSG}, got + (size_t)i * LONG_MSG, &st[i]);
    }
    MPI_Buffer_detach(&buffer, &rest);
    EXPECT(s, rest == capacity, "detached %d bytes of %d", rest, capacity);
    free(buffer);
    free(got);
}

/* Persistent requests, started many times in changing order. */
void case_persistent(const case_ctx *s)
{
    enum { PAIRS = 6, STARTS = 25 };
    MPI_Request req[2 * PAIRS];
    MPI_Status st[2 * PAIRS];
    char *out = must_alloc((size_t)PAIRS * MIXED_MSG), *in = must_alloc((size_t)PAIRS * MIXED_MSG);
    int to = (s->rank + 1) % s->size, from = (s->rank + s->size - 1) % s->size;
    for (int i = 0; i < PAIRS; i++) {
        test_msg l = {s->rank, TAG + i, i, MIXED_MSG};
        char *buf = out + (size_t)i * MIXED_MSG;
        msg_fill(s, &l, buf);
        MPI_Recv_init(in + (size_t)i * MIXED_MSG, MIXED_MSG, MPI_BYTE,
                      i % 2 ? from : MPI_ANY_SOURCE, TAG + i, s->comm, &req[i]);
        (i % 2 ? MPI_Send_init : MPI_Ssend_init)(buf, (int)msg_bytes(s, &l), MPI_BYTE, to, TAG + i,
                                                 s->comm, &req[PAIRS + i]);
    }
    for (int k = 0; k < STARTS; k++) {
        if (k % 2)
            MPI_Startall(2 * PAIRS, req);
        for (int i = 2 * PAIRS - 1; i >= 0 && k % 2 == 0; i--)
            MPI_Start(&req[i]);
        MPI_Waitall(2 * PAIRS, req, st);
        for (int i = 0; i < PAIRS; i++) {
            test_msg l = {from, TAG + i, i, MIXED_MSG};
            msg_check(s, &l, in + (size_t)i * MIXED_MSG, &st[i]);
            in[(size_t)i * MIXED_MSG] ^= 1; /* the next start must overwrite it */
        }
    }
    for (int i = 0; i < 2 * PAIRS; i++)
        MPI_Request_free(&req[i]);
    free(out);
    free(in);
}
