/* refuse.c: receives that are cancelled, or whose message is longer than their buffer. Both must
 * leave the queues intact. */
#include <stdlib.h>
#include <string.h>

#include "case.h"

enum { TAG = 80, POSTED = 64 };

static bool is_cancelled(const case_ctx *s, int rank, int i)
{
    rng r = rng_seed(s->seed, (uint64_t)rank, (uint64_t)i);
    return rng_chance(&r, 50);
}

static void cancel_one(const case_ctx *s, MPI_Request *req, int i)
{
    MPI_Status st;
    int was = 0;
    MPI_Cancel(req);
    MPI_Wait(req, &st);
    MPI_Test_cancelled(&st, &was);
    EXPECT(s, was, "receive %d was not cancelled, though nothing was sent", i);
}

/* Half of the posted receives are cancelled; the messages go to the other half, in order. */
void case_cancel(const case_ctx *s)
{
    MPI_Request req[POSTED];
    MPI_Status st;
    char *got = must_alloc((size_t)POSTED * MIXED_MSG);
    int to = (s->rank + 1) % s->size, from = (s->rank + s->size - 1) % s->size, number = 0;
    for (int i = 0; i < POSTED; i++)
        MPI_Irecv(got + (size_t)i * MIXED_MSG, MIXED_MSG, MPI_BYTE, i % 3 ? from : MPI_ANY_SOURCE,
                  i % 5 ? TAG : MPI_ANY_TAG, s->comm, &req[i]);
    for (int i = POSTED - 1; i >= 0; i--)
        if (is_cancelled(s, s->rank, i))
            cancel_one(s, &req[i], i);
    MPI_Barrier(s->comm);
    for (int i = 0; i < POSTED && s->size > 1; i++)
        if (!is_cancelled(s, to, i))
            msg_send(s, &(test_msg){s->rank, TAG, number++, SHORT_MSG}, to);
    number = 0;
    for (int i = 0; i < POSTED; i++) {
        if (is_cancelled(s, s->rank, i))
            continue;
        if (s->size == 1) { /* no sender: these are cancelled, too */
            cancel_one(s, &req[i], i);
            continue;
        }
        MPI_Wait(&req[i], &st);
        msg_check(s, &(test_msg){from, TAG, number++, SHORT_MSG}, got + (size_t)i * MIXED_MSG, &st);
    }
    free(got);
}

static int class_of(int error)
{
    int class;
    MPI_Error_class(error, &class);
    return class;
}

/* The number of methods of receive_as. The last one hangs in Open MPI with threads, over any
 * transport, if the request has failed before the call. */
static int nmethods(const case_ctx *s)
{
#ifdef OPEN_MPI
    return s->threads ? 3 : 4;
#else
    (void)s;
    return 4;
#endif
}

/* Receives up to `capacity` bytes by one of four methods; returns the error. */
static int receive_as(const case_ctx *s, int how, char *to, int capacity, MPI_Request *posted)
{
    MPI_Status st;
    MPI_Message m;
    int error;
    switch (how) {
    case 0:
        return MPI_Recv(to, capacity, MPI_BYTE, 0, TAG, s->comm, &st);
    case 1:
        return MPI_Wait(posted, &st);
    case 2:
        MPI_Mprobe(MPI_ANY_SOURCE, TAG, s->comm, &m, &st);
        return MPI_Mrecv(to, capacity, MPI_BYTE, &m, &st);
    default:
        error = MPI_Waitall(1, posted, &st);
        return error == MPI_ERR_IN_STATUS ? st.MPI_ERROR : error;
    }
}

/* A message of `bytes` bytes into a smaller buffer: MPI_ERR_TRUNCATE, nothing written past the
 * buffer, and the next message arrives unharmed. */
static void too_long(const case_ctx *s, int bytes, int capacity, int how)
{
    char *buf = must_alloc((size_t)bytes);
    MPI_Request req = MPI_REQUEST_NULL;
    memset(buf, s->rank == 0 ? 'x' : 'u', (size_t)bytes);
    if (s->rank == 1 && (how == 1 || how == 3))
        MPI_Irecv(buf, capacity, MPI_BYTE, 0, TAG, s->comm, &req);
    MPI_Barrier(s->comm);
    test_msg next = {0, TAG, bytes, MIXED_MSG};
    if (s->rank == 0) {
        int error = MPI_Send(buf, bytes, MPI_BYTE, 1, TAG, s->comm);
        EXPECT(s, error == MPI_SUCCESS, "the sender of %d bytes gets error %d", bytes, error);
        msg_send(s, &next, 1);
    } else if (s->rank == 1) {
        int error = receive_as(s, how, buf, capacity, &req), past = 0;
        EXPECT(s, class_of(error) == MPI_ERR_TRUNCATE,
               "method %d, %d bytes into %d: error class %d, not %d", how, bytes, capacity,
               class_of(error), MPI_ERR_TRUNCATE);
        for (int i = capacity; i < bytes; i++)
            past += buf[i] != 'u';
        EXPECT(s, past == 0, "method %d, %d bytes into %d: %d bytes written past", how, bytes,
               capacity, past);
        msg_recv(s, &next);
    }
    free(buf);
}

void case_truncation(const case_ctx *s)
{
    static const int bytes[] = {1, 9, 100, 5000, 20000, 300000, 4000000};
    MPI_Comm_set_errhandler(s->comm, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD,
                            MPI_ERRORS_RETURN); /* MPICH asks the world's in waits */
    for (int i = 0; i < 7; i++)
        for (int how = 0; how < nmethods(s); how++) {
            too_long(s, bytes[i], bytes[i] - 1, how);
            too_long(s, bytes[i], bytes[i] / 3, how);
            too_long(s, bytes[i], 0, how);
        }
    MPI_Comm_set_errhandler(s->comm, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}
