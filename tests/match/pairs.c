/* pairs.c: send-receive in both directions, messages to self, empty messages, MPI_PROC_NULL. */
#include <stdlib.h>

#include "case.h"

enum { TAG = 50, MSGS = 30 };

void case_sendrecv(const case_ctx *s)
{
    void *out = must_alloc(LONG_MSG), *in = must_alloc(LONG_MSG);
    for (int i = 0; i < MSGS; i++) {
        int hop = i % s->size, to = (s->rank + hop) % s->size;
        test_msg mine = {s->rank, TAG, i, LONG_MSG};
        test_msg theirs = {(s->rank + s->size - hop) % s->size, TAG, i, LONG_MSG};
        MPI_Status st;
        msg_fill(s, &mine, out);
        MPI_Sendrecv(out, (int)msg_bytes(s, &mine), MPI_BYTE, to, TAG, in, LONG_MSG, MPI_BYTE,
                     theirs.from, i % 2 ? TAG : MPI_ANY_TAG, s->comm, &st);
        msg_check(s, &theirs, in, &st);
        rng r = rng_seed(s->seed, 1, (uint64_t)s->rank),
            want = rng_seed(s->seed, 1, (uint64_t)theirs.from);
        char *block = out, *expect = in;
        rng_fill(&r, block, 100000);
        rng_fill(&want, expect, 100000);
        MPI_Sendrecv_replace(block, 100000, MPI_BYTE, to, TAG, theirs.from, TAG, s->comm, &st);
        int wrong = 0;
        for (int k = 0; k < 100000; k++)
            wrong += block[k] != expect[k];
        EXPECT(s, wrong == 0, "sendrecv_replace: %d bytes of 100000 are wrong", wrong);
    }
    free(out);
    free(in);
}

/* To self: the receive before the send and after it, with exact and any source. */
void case_self_sends(const case_ctx *s)
{
    void *out = must_alloc(LONG_MSG), *in = must_alloc(LONG_MSG);
    for (int i = 0; i < 4 * MSGS; i++) {
        test_msg l = {s->rank, TAG, i, LONG_MSG};
        int bytes = (int)msg_bytes(s, &l), from = i % 3 ? s->rank : MPI_ANY_SOURCE;
        MPI_Request req[2];
        MPI_Status st[2];
        msg_fill(s, &l, out);
        if (i % 2)
            MPI_Irecv(in, LONG_MSG, MPI_BYTE, from, TAG, s->comm, &req[0]);
        (i % 4 < 2 ? MPI_Isend : MPI_Issend)(out, bytes, MPI_BYTE, s->rank, TAG, s->comm, &req[1]);
        if (i % 2 == 0)
            MPI_Irecv(in, LONG_MSG, MPI_BYTE, from, TAG, s->comm, &req[0]);
        MPI_Waitall(2, req, st);
        msg_check(s, &l, in, &st[0]);
    }
    free(out);
    free(in);
}

/* Empty messages match like others, in order; MPI_PROC_NULL neither sends nor receives. */
void case_empty(const case_ctx *s)
{
    int to = (s->rank + 1) % s->size, from = (s->rank + s->size - 1) % s->size;
    for (int i = 0; i < 200; i++) {
        MPI_Request req;
        MPI_Status st;
        char untouched = 'u';
        int count = -1;
        MPI_Isend(NULL, 0, MPI_INT, to, TAG + i % 3, s->comm, &req);
        MPI_Recv(&untouched, i % 2, MPI_BYTE, i % 5 ? from : MPI_ANY_SOURCE, MPI_ANY_TAG, s->comm,
                 &st);
        MPI_Get_count(&st, MPI_BYTE, &count);
        EXPECT(s,
               count == 0 && untouched == 'u' && st.MPI_SOURCE == from && st.MPI_TAG == TAG + i % 3,
               "empty message %d: %d bytes, tag %d from %d", i, count, st.MPI_TAG, st.MPI_SOURCE);
        MPI_Wait(&req, MPI_STATUS_IGNORE);
        MPI_Sendrecv(&i, 1, MPI_INT, MPI_PROC_NULL, TAG, &untouched, 1, MPI_BYTE, MPI_PROC_NULL,
                     TAG, s->comm, &st);
        EXPECT(s, st.MPI_SOURCE == MPI_PROC_NULL && untouched == 'u', "no process sent something");
    }
}
