/* probe.c: probes before receives, with and without removal of the message from the queue. */
#include <stdlib.h>

#include "case.h"

enum { TAG = 20, MSGS = 24, ROUNDS = 3 };

/* Each rank sends to the next one, with tags TAG and TAG + 1 in turn; one message is long. */
static test_msg sent_msg(int from, int i)
{
    return (test_msg){from, TAG + i % 2, i, i == MSGS / 2 ? 1 << 22 : MIXED_MSG};
}

typedef void read_fn(const case_ctx *s, int from);

static void write_and_read(const case_ctx *s, read_fn *read)
{
    int to = (s->rank + 1) % s->size, from = (s->rank + s->size - 1) % s->size;
    MPI_Request req[MSGS];
    void *buf[MSGS];
    for (int i = 0; i < MSGS; i++) {
        test_msg l = sent_msg(s->rank, i);
        size_t bytes = msg_bytes(s, &l);
        buf[i] = must_alloc(bytes);
        msg_fill(s, &l, buf[i]);
        MPI_Isend(buf[i], (int)bytes, MPI_BYTE, to, l.tag, s->comm, &req[i]);
    }
    read(s, from);
    MPI_Waitall(MSGS, req, MPI_STATUSES_IGNORE);
    for (int i = 0; i < MSGS; i++)
        free(buf[i]);
}

static void *probe_buffer(const case_ctx *s, const test_msg *l, const MPI_Status *st, int *bytes)
{
    MPI_Get_count(st, MPI_BYTE, bytes);
    EXPECT(s, st->MPI_SOURCE == l->from && st->MPI_TAG == l->tag,
           "probe: message with tag %d from %d, not tag %d from %d", st->MPI_TAG, st->MPI_SOURCE,
           l->tag, l->from);
    return must_alloc((size_t)(*bytes > 0 ? *bytes : 0));
}

static void probe_each(const case_ctx *s, int from, bool blocking)
{
    for (int i = 0; i < MSGS; i++) {
        test_msg l = sent_msg(from, i);
        bool any = i % 3 != 0;
        int there = blocking, bytes;
        MPI_Status st;
        if (blocking)
            MPI_Probe(any ? MPI_ANY_SOURCE : from, any ? MPI_ANY_TAG : l.tag, s->comm, &st);
        while (!there)
            MPI_Iprobe(any ? MPI_ANY_SOURCE : from, any ? MPI_ANY_TAG : l.tag, s->comm, &there,
                       &st);
        void *got = probe_buffer(s, &l, &st, &bytes);
        MPI_Recv(got, bytes, MPI_BYTE, st.MPI_SOURCE, st.MPI_TAG, s->comm, &st);
        msg_check(s, &l, got, &st);
        free(got);
    }
}

static void probe_blocking(const case_ctx *s, int from)
{
    probe_each(s, from, true);
}

static void probe_polling(const case_ctx *s, int from)
{
    probe_each(s, from, false);
}

void case_probe(const case_ctx *s)
{
    for (int i = 0; i < ROUNDS; i++, MPI_Barrier(s->comm))
        write_and_read(s, probe_blocking);
}

void case_iprobe(const case_ctx *s)
{
    for (int i = 0; i < ROUNDS; i++, MPI_Barrier(s->comm))
        write_and_read(s, probe_polling);
}

/* Removes all messages from the queue by mprobe first and receives them backwards: a removed
 * message is invisible for all other receives and keeps its bytes. */
static void mprobe_then_receive(const case_ctx *s, int from)
{
    MPI_Message taken[MSGS];
    MPI_Status st[MSGS];
    for (int i = 0; i < MSGS; i++) {
        int there = 0;
        if (i % 2 == 0)
            MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, s->comm, &taken[i], &st[i]);
        while (i % 2 == 1 && !there)
            MPI_Improbe(from, MPI_ANY_TAG, s->comm, &there, &taken[i], &st[i]);
    }
    int left = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, s->comm, &left, MPI_STATUS_IGNORE);
    EXPECT(s, !left, "a probe sees a message after all were taken");
    for (int i = MSGS - 1; i >= 0; i--) {
        test_msg l = sent_msg(from, i);
        int bytes;
        void *got = probe_buffer(s, &l, &st[i], &bytes);
        if (i % 3 == 0)
            MPI_Mrecv(got, bytes, MPI_BYTE, &taken[i], &st[i]);
        else {
            MPI_Request req;
            MPI_Imrecv(got, bytes, MPI_BYTE, &taken[i], &req);
            MPI_Wait(&req, &st[i]);
        }
        EXPECT(s, taken[i] == MPI_MESSAGE_NULL, "a received message is not MPI_MESSAGE_NULL");
        msg_check(s, &l, got, &st[i]);
        free(got);
    }
}

void case_mprobe(const case_ctx *s)
{
    for (int i = 0; i < ROUNDS; i++, MPI_Barrier(s->comm))
        write_and_read(s, mprobe_then_receive);
}

/* No message matches: every probe must say so and leave other messages alone. */
void case_probe_no_match(const case_ctx *s)
{
    test_msg l = {s->rank, TAG, 1, SHORT_MSG};
    char buf[SHORT_MSG];
    MPI_Request req;
    msg_fill(s, &l, buf);
    MPI_Isend(buf, (int)msg_bytes(s, &l), MPI_BYTE, s->rank, TAG, s->comm, &req);
    for (int i = 0; i < 200; i++) {
        int there = 0;
        MPI_Message m = MPI_MESSAGE_NULL;
        MPI_Iprobe(MPI_ANY_SOURCE, TAG + 1, s->comm, &there, MPI_STATUS_IGNORE);
        EXPECT(s, !there, "iprobe finds a message that nobody sent");
        MPI_Improbe(s->rank, TAG + 2, s->comm, &there, &m, MPI_STATUS_IGNORE);
        EXPECT(s, !there, "improbe finds a message that nobody sent");
    }
    msg_recv(s, &l);
    MPI_Wait(&req, MPI_STATUS_IGNORE);
    MPI_Message m;
    MPI_Status st;
    MPI_Mprobe(MPI_PROC_NULL, TAG, s->comm, &m, &st);
    EXPECT(s, m == MPI_MESSAGE_NO_PROC && st.MPI_SOURCE == MPI_PROC_NULL, "mprobe of no process");
    MPI_Mrecv(buf, 1, MPI_BYTE, &m, &st);
}
