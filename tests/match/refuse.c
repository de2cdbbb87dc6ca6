/* refuse.c: receives that end otherwise: cancelled, or with a message that is longer than their
 * room. Both must leave the queues in order. */
#include <stdlib.h>
#include <string.h>

#include "scene.h"

enum { TAG = 80, POSTED = 64 };

static bool goes(const scene *s, int rank, int i)
{
    rng r = rng_seed(s->seed, (uint64_t)rank, (uint64_t)i);
    return rng_chance(&r, 50);
}

static void cancel_one(const scene *s, MPI_Request *req, int i)
{
    MPI_Status st;
    int was = 0;
    MPI_Cancel(req);
    MPI_Wait(req, &st);
    MPI_Test_cancelled(&st, &was);
    EXPECT(s, was, "receive %d was not cancelled, though nothing was sent", i);
}

/* Half of the posted receives are cancelled; the letters go to the other half, in order. */
void case_cancel(const scene *s)
{
    MPI_Request req[POSTED];
    MPI_Status st;
    char *got = must_alloc((size_t)POSTED * MIXED_LETTER);
    int to = (s->rank + 1) % s->size, from = (s->rank + s->size - 1) % s->size, number = 0;
    for (int i = 0; i < POSTED; i++)
        MPI_Irecv(got + (size_t)i * MIXED_LETTER, MIXED_LETTER, MPI_BYTE,
                  i % 3 ? from : MPI_ANY_SOURCE, i % 5 ? TAG : MPI_ANY_TAG, s->comm, &req[i]);
    for (int i = POSTED - 1; i >= 0; i--)
        if (goes(s, s->rank, i))
            cancel_one(s, &req[i], i);
    MPI_Barrier(s->comm);
    for (int i = 0; i < POSTED && s->size > 1; i++)
        if (!goes(s, to, i))
            letter_send(s, &(letter){s->rank, TAG, number++, SHORT_LETTER}, to);
    number = 0;
    for (int i = 0; i < POSTED; i++) {
        if (goes(s, s->rank, i))
            continue;
        if (s->size == 1) { /* nobody to send: these go too */
            cancel_one(s, &req[i], i);
            continue;
        }
        MPI_Wait(&req[i], &st);
        letter_check(s, &(letter){from, TAG, number++, SHORT_LETTER},
                     got + (size_t)i * MIXED_LETTER, &st);
    }
    free(got);
}

static int class_of(int error)
{
    int class;
    MPI_Error_class(error, &class);
    return class;
}

/* Receives `room` bytes in one of four ways, and gives the error. The last one hangs in Open MPI
 * with threads, whatever the transport, when the request has failed before the call. */
static int ways(const scene *s)
{
#ifdef OPEN_MPI
    return s->threads ? 3 : 4;
#else
    (void)s;
    return 4;
#endif
}

static int receive_as(const scene *s, int how, char *to, int room, MPI_Request *posted)
{
    MPI_Status st;
    MPI_Message m;
    int error;
    switch (how) {
    case 0:
        return MPI_Recv(to, room, MPI_BYTE, 0, TAG, s->comm, &st);
    case 1:
        return MPI_Wait(posted, &st);
    case 2:
        MPI_Mprobe(MPI_ANY_SOURCE, TAG, s->comm, &m, &st);
        return MPI_Mrecv(to, room, MPI_BYTE, &m, &st);
    default:
        error = MPI_Waitall(1, posted, &st);
        return error == MPI_ERR_IN_STATUS ? st.MPI_ERROR : error;
    }
}

/* One message of `bytes` into room for fewer: an error that says so, nothing written past the room,
 * and the next message is untouched by it. */
static void too_long(const scene *s, int bytes, int room, int how)
{
    char *text = must_alloc((size_t)bytes);
    MPI_Request req = MPI_REQUEST_NULL;
    memset(text, s->rank == 0 ? 'x' : 'u', (size_t)bytes);
    if (s->rank == 1 && (how == 1 || how == 3))
        MPI_Irecv(text, room, MPI_BYTE, 0, TAG, s->comm, &req);
    MPI_Barrier(s->comm);
    letter next = {0, TAG, bytes, MIXED_LETTER};
    if (s->rank == 0) {
        int error = MPI_Send(text, bytes, MPI_BYTE, 1, TAG, s->comm);
        EXPECT(s, error == MPI_SUCCESS, "the sender of %d bytes gets error %d", bytes, error);
        letter_send(s, &next, 1);
    } else if (s->rank == 1) {
        int error = receive_as(s, how, text, room, &req), past = 0;
        EXPECT(s, class_of(error) == MPI_ERR_TRUNCATE,
               "way %d, %d bytes into %d: error class %d, not %d", how, bytes, room,
               class_of(error), MPI_ERR_TRUNCATE);
        for (int i = room; i < bytes; i++)
            past += text[i] != 'u';
        EXPECT(s, past == 0, "way %d, %d bytes into %d: %d bytes written past", how, bytes, room,
               past);
        letter_receive(s, &next);
    }
    free(text);
}

void case_truncation(const scene *s)
{
    static const int bytes[] = {1, 9, 100, 5000, 20000, 300000, 4000000};
    MPI_Comm_set_errhandler(s->comm, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD,
                            MPI_ERRORS_RETURN); /* MPICH asks the world's in waits */
    for (int i = 0; i < 7; i++)
        for (int how = 0; how < ways(s); how++) {
            too_long(s, bytes[i], bytes[i] - 1, how);
            too_long(s, bytes[i], bytes[i] / 3, how);
            too_long(s, bytes[i], 0, how);
        }
    MPI_Comm_set_errhandler(s->comm, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}
