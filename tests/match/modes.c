/* modes.c: the ways to send: synchronous, ready, buffered, and by requests that are started again
 * and again. */
#include <stdlib.h>
#include <time.h>

#include "scene.h"

enum { TAG = 40, TEXTS = 30 };

static void nap(long ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

/* A synchronous send is over when its receive has begun, not before. */
void case_ssend_waits(const scene *s)
{
    static const int bytes[] = {0, 8, 4000, 100000, 3000000};
    MPI_Comm aside;
    MPI_Comm_dup(s->comm, &aside);
    for (int i = 0; i < 5; i++) {
        char *text = must_alloc((size_t)bytes[i]);
        int done = 0;
        MPI_Request req;
        if (s->rank == 0) {
            MPI_Issend(text, bytes[i], MPI_BYTE, 1, TAG, s->comm, &req);
            for (int k = 0; k < 20; k++, nap(1)) {
                MPI_Test(&req, &done, MPI_STATUS_IGNORE);
                EXPECT(s, !done, "issend of %d bytes is over before its receive", bytes[i]);
            }
            MPI_Send(NULL, 0, MPI_BYTE, 1, TAG, aside);
            MPI_Wait(&req, MPI_STATUS_IGNORE);
        } else if (s->rank == 1) {
            MPI_Recv(NULL, 0, MPI_BYTE, 0, TAG, aside, MPI_STATUS_IGNORE);
            MPI_Recv(text, bytes[i], MPI_BYTE, 0, TAG, s->comm, MPI_STATUS_IGNORE);
        }
        free(text);
    }
    MPI_Comm_free(&aside);
}

static void send_as(const scene *s, int how, const letter *l, int to)
{
    int bytes = (int)letter_length(s, l);
    void *text = must_alloc((size_t)bytes);
    MPI_Request req = MPI_REQUEST_NULL;
    letter_write(s, l, text);
    switch (how) {
    case 0:
        MPI_Ssend(text, bytes, MPI_BYTE, to, l->tag, s->comm);
        break;
    case 1:
        MPI_Bsend(text, bytes, MPI_BYTE, to, l->tag, s->comm);
        break;
    case 2:
        MPI_Rsend(text, bytes, MPI_BYTE, to, l->tag, s->comm);
        break;
    case 3:
        MPI_Issend(text, bytes, MPI_BYTE, to, l->tag, s->comm, &req);
        break;
    case 4:
        MPI_Ibsend(text, bytes, MPI_BYTE, to, l->tag, s->comm, &req);
        break;
    case 5:
        MPI_Irsend(text, bytes, MPI_BYTE, to, l->tag, s->comm, &req);
        break;
    default:
        MPI_Send(text, bytes, MPI_BYTE, to, l->tag, s->comm);
        break;
    }
    MPI_Wait(&req, MPI_STATUS_IGNORE);
    free(text);
}

/* All modes from rank 0 to all others, in one stream: they arrive in order. All receives are posted
 * before, so that ready sends are right. */
void case_send_modes(const scene *s)
{
    int room = TEXTS * s->size * (LONG_LETTER + MPI_BSEND_OVERHEAD), rest;
    void *buffer = must_alloc((size_t)room);
    char *got = must_alloc((size_t)TEXTS * LONG_LETTER);
    MPI_Request req[TEXTS];
    MPI_Status st[TEXTS];
    MPI_Buffer_attach(buffer, room);
    for (int i = 0; i < TEXTS && s->rank > 0; i++)
        MPI_Irecv(got + (size_t)i * LONG_LETTER, LONG_LETTER, MPI_BYTE, 0, TAG, s->comm, &req[i]);
    MPI_Barrier(s->comm);
    for (int i = 0; i < TEXTS && s->rank == 0; i++)
        for (int to = 1; to < s->size; to++)
            send_as(s, i % 7, &(letter){0, TAG, i, LONG_LETTER}, to);
    if (s->rank > 0) {
        MPI_Waitall(TEXTS, req, st);
        for (int i = 0; i < TEXTS; i++)
            letter_check(s, &(letter){0, TAG, i, LONG_LETTER}, got + (size_t)i * LONG_LETTER,
                         &st[i]);
    }
    MPI_Buffer_detach(&buffer, &rest);
    EXPECT(s, rest == room, "detached %d bytes of %d", rest, room);
    free(buffer);
    free(got);
}

/* Requests made once: started many times, in changing order. */
void case_persistent(const scene *s)
{
    enum { PAIRS = 6, STARTS = 25 };
    MPI_Request req[2 * PAIRS];
    MPI_Status st[2 * PAIRS];
    char *out = must_alloc((size_t)PAIRS * MIXED_LETTER),
         *in = must_alloc((size_t)PAIRS * MIXED_LETTER);
    int to = (s->rank + 1) % s->size, from = (s->rank + s->size - 1) % s->size;
    for (int i = 0; i < PAIRS; i++) {
        letter l = {s->rank, TAG + i, i, MIXED_LETTER};
        char *text = out + (size_t)i * MIXED_LETTER;
        letter_write(s, &l, text);
        MPI_Recv_init(in + (size_t)i * MIXED_LETTER, MIXED_LETTER, MPI_BYTE,
                      i % 2 ? from : MPI_ANY_SOURCE, TAG + i, s->comm, &req[i]);
        (i % 2 ? MPI_Send_init : MPI_Ssend_init)(text, (int)letter_length(s, &l), MPI_BYTE, to,
                                                 TAG + i, s->comm, &req[PAIRS + i]);
    }
    for (int k = 0; k < STARTS; k++) {
        if (k % 2)
            MPI_Startall(2 * PAIRS, req);
        for (int i = 2 * PAIRS - 1; i >= 0 && k % 2 == 0; i--)
            MPI_Start(&req[i]);
        MPI_Waitall(2 * PAIRS, req, st);
        for (int i = 0; i < PAIRS; i++) {
            letter l = {from, TAG + i, i, MIXED_LETTER};
            letter_check(s, &l, in + (size_t)i * MIXED_LETTER, &st[i]);
            in[(size_t)i * MIXED_LETTER] ^= 1; /* the next start must write it again */
        }
    }
    for (int i = 0; i < 2 * PAIRS; i++)
        MPI_Request_free(&req[i]);
    free(out);
    free(in);
}
