/* probe.c: looking before receiving, with and without taking the message out of the queue. */
#include <stdlib.h>

#include "scene.h"

enum { TAG = 20, TEXTS = 24, ROUNDS = 3 };

/* Each rank writes to the next one: tags TAG and TAG + 1 in turn, one letter of many bytes. */
static letter written(int from, int i)
{
    return (letter){from, TAG + i % 2, i, i == TEXTS / 2 ? 1 << 22 : MIXED_LETTER};
}

typedef void read_fn(const scene *s, int from);

static void write_and_read(const scene *s, read_fn *read)
{
    int to = (s->rank + 1) % s->size, from = (s->rank + s->size - 1) % s->size;
    MPI_Request req[TEXTS];
    void *text[TEXTS];
    for (int i = 0; i < TEXTS; i++) {
        letter l = written(s->rank, i);
        size_t bytes = letter_length(s, &l);
        text[i] = must_alloc(bytes);
        letter_write(s, &l, text[i]);
        MPI_Isend(text[i], (int)bytes, MPI_BYTE, to, l.tag, s->comm, &req[i]);
    }
    read(s, from);
    MPI_Waitall(TEXTS, req, MPI_STATUSES_IGNORE);
    for (int i = 0; i < TEXTS; i++)
        free(text[i]);
}

static void *room_for(const scene *s, const letter *l, const MPI_Status *st, int *bytes)
{
    MPI_Get_count(st, MPI_BYTE, bytes);
    EXPECT(s, st->MPI_SOURCE == l->from && st->MPI_TAG == l->tag,
           "probe: letter with tag %d from %d, not tag %d from %d", st->MPI_TAG, st->MPI_SOURCE,
           l->tag, l->from);
    return must_alloc((size_t)(*bytes > 0 ? *bytes : 0));
}

static void probe_each(const scene *s, int from, bool blocking)
{
    for (int i = 0; i < TEXTS; i++) {
        letter l = written(from, i);
        bool any = i % 3 != 0;
        int there = blocking, bytes;
        MPI_Status st;
        if (blocking)
            MPI_Probe(any ? MPI_ANY_SOURCE : from, any ? MPI_ANY_TAG : l.tag, s->comm, &st);
        while (!there)
            MPI_Iprobe(any ? MPI_ANY_SOURCE : from, any ? MPI_ANY_TAG : l.tag, s->comm, &there,
                       &st);
        void *got = room_for(s, &l, &st, &bytes);
        MPI_Recv(got, bytes, MPI_BYTE, st.MPI_SOURCE, st.MPI_TAG, s->comm, &st);
        letter_check(s, &l, got, &st);
        free(got);
    }
}

static void probe_blocking(const scene *s, int from)
{
    probe_each(s, from, true);
}

static void probe_polling(const scene *s, int from)
{
    probe_each(s, from, false);
}

void case_probe(const scene *s)
{
    for (int i = 0; i < ROUNDS; i++, MPI_Barrier(s->comm))
        write_and_read(s, probe_blocking);
}

void case_iprobe(const scene *s)
{
    for (int i = 0; i < ROUNDS; i++, MPI_Barrier(s->comm))
        write_and_read(s, probe_polling);
}

/* Takes all letters out of the queue first, and receives them backwards: what was taken is gone for
 * all other receives, and holds its bytes. */
static void take_then_receive(const scene *s, int from)
{
    MPI_Message taken[TEXTS];
    MPI_Status st[TEXTS];
    for (int i = 0; i < TEXTS; i++) {
        int there = 0;
        if (i % 2 == 0)
            MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, s->comm, &taken[i], &st[i]);
        while (i % 2 == 1 && !there)
            MPI_Improbe(from, MPI_ANY_TAG, s->comm, &there, &taken[i], &st[i]);
    }
    int left = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, s->comm, &left, MPI_STATUS_IGNORE);
    EXPECT(s, !left, "a probe sees a letter after all were taken");
    for (int i = TEXTS - 1; i >= 0; i--) {
        letter l = written(from, i);
        int bytes;
        void *got = room_for(s, &l, &st[i], &bytes);
        if (i % 3 == 0)
            MPI_Mrecv(got, bytes, MPI_BYTE, &taken[i], &st[i]);
        else {
            MPI_Request req;
            MPI_Imrecv(got, bytes, MPI_BYTE, &taken[i], &req);
            MPI_Wait(&req, &st[i]);
        }
        EXPECT(s, taken[i] == MPI_MESSAGE_NULL, "a received message is not MPI_MESSAGE_NULL");
        letter_check(s, &l, got, &st[i]);
        free(got);
    }
}

void case_mprobe(const scene *s)
{
    for (int i = 0; i < ROUNDS; i++, MPI_Barrier(s->comm))
        write_and_read(s, take_then_receive);
}

/* Nothing was sent that fits: a probe must say so, every time, and not take what does not fit. */
void case_probe_nobody(const scene *s)
{
    letter l = {s->rank, TAG, 1, SHORT_LETTER};
    char text[SHORT_LETTER];
    MPI_Request req;
    letter_write(s, &l, text);
    MPI_Isend(text, (int)letter_length(s, &l), MPI_BYTE, s->rank, TAG, s->comm, &req);
    for (int i = 0; i < 200; i++) {
        int there = 0;
        MPI_Message m = MPI_MESSAGE_NULL;
        MPI_Iprobe(MPI_ANY_SOURCE, TAG + 1, s->comm, &there, MPI_STATUS_IGNORE);
        EXPECT(s, !there, "iprobe finds a letter that nobody sent");
        MPI_Improbe(s->rank, TAG + 2, s->comm, &there, &m, MPI_STATUS_IGNORE);
        EXPECT(s, !there, "improbe finds a letter that nobody sent");
    }
    letter_receive(s, &l);
    MPI_Wait(&req, MPI_STATUS_IGNORE);
    MPI_Message m;
    MPI_Status st;
    MPI_Mprobe(MPI_PROC_NULL, TAG, s->comm, &m, &st);
    EXPECT(s, m == MPI_MESSAGE_NO_PROC && st.MPI_SOURCE == MPI_PROC_NULL, "mprobe of no process");
    MPI_Mrecv(text, 1, MPI_BYTE, &m, &st);
}
