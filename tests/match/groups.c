/* groups.c: several communicators at once: a message on one is never received on another, also for
 * intercommunicators, and when communicators are created and freed. */
#include <stdlib.h>

#include "case.h"

enum { TAG = 3, MSGS = 20 };

/* Messages are sent on one communicator after the other and received in the opposite order of
 * communicators, with any source and any tag. */
void case_communicators_apart(const case_ctx *s)
{
    enum { COMMS = 4 };
    case_ctx on[COMMS];
    for (int c = 0; c < COMMS; c++) {
        on[c] = *s;
        on[c].seed = s->seed + (uint64_t)c;
        MPI_Comm_dup(s->comm, &on[c].comm);
    }
    int to = (s->rank + 1) % s->size, from = (s->rank + s->size - 1) % s->size;
    MPI_Request req[COMMS][MSGS];
    void *buf[COMMS][MSGS];
    for (int c = 0; c < COMMS; c++)
        for (int i = 0; i < MSGS; i++) {
            test_msg l = {s->rank, TAG, i, MIXED_MSG};
            buf[c][i] = must_alloc(MIXED_MSG);
            msg_fill(&on[c], &l, buf[c][i]);
            MPI_Isend(buf[c][i], (int)msg_bytes(&on[c], &l), MPI_BYTE, to, TAG, on[c].comm,
                      &req[c][i]);
        }
    void *got = must_alloc(MIXED_MSG);
    for (int c = COMMS - 1; c >= 0; c--)
        for (int i = 0; i < MSGS; i++) {
            MPI_Status st;
            MPI_Recv(got, MIXED_MSG, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, on[c].comm, &st);
            test_msg l = {from, TAG, i, MIXED_MSG};
            msg_check(&on[c], &l, got, &st);
        }
    MPI_Waitall(COMMS * MSGS, req[0], MPI_STATUSES_IGNORE);
    for (int c = 0; c < COMMS; c++) {
        for (int i = 0; i < MSGS; i++)
            free(buf[c][i]);
        MPI_Comm_free(&on[c].comm);
    }
    free(got);
}

/* Two groups: every rank sends to every rank of the other group. */
void case_intercomm(const case_ctx *s)
{
    MPI_Comm half, between;
    int side = s->rank < (s->size + 1) / 2, theirs;
    MPI_Comm_split(s->comm, side, s->rank, &half);
    MPI_Intercomm_create(half, 0, s->comm, side ? (s->size + 1) / 2 : 0, 77, &between);
    case_ctx b = *s;
    b.comm = between;
    MPI_Comm_rank(between, &b.rank);
    MPI_Comm_remote_size(between, &theirs);
    MPI_Request *req = must_alloc((size_t)theirs * sizeof *req);
    void **buf = must_alloc((size_t)theirs * sizeof *buf);
    for (int round = 0; round < MSGS; round++) {
        test_msg mine = {b.rank, TAG, 2 * round + side, LONG_MSG};
        for (int to = 0; to < theirs; to++) {
            buf[to] = must_alloc(LONG_MSG);
            msg_fill(&b, &mine, buf[to]);
            MPI_Isend(buf[to], (int)msg_bytes(&b, &mine), MPI_BYTE, to, TAG, between, &req[to]);
        }
        void *got = must_alloc(LONG_MSG);
        for (int i = 0; i < theirs; i++) {
            MPI_Status st;
            bool any = round % 2 == 0;
            MPI_Recv(got, LONG_MSG, MPI_BYTE, any ? MPI_ANY_SOURCE : i, TAG, between, &st);
            test_msg l = {st.MPI_SOURCE, TAG, 2 * round + !side, LONG_MSG};
            EXPECT(s, any || st.MPI_SOURCE == i, "from %d, not %d", st.MPI_SOURCE, i);
            msg_check(&b, &l, got, &st);
        }
        free(got);
        MPI_Waitall(theirs, req, MPI_STATUSES_IGNORE);
        for (int to = 0; to < theirs; to++)
            free(buf[to]);
        MPI_Barrier(half); /* keeps the next round of a fast rank from any-source receives */
        MPI_Barrier(between);
    }
    free(req);
    free(buf);
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
}

/* Communicators of random groups, each used once and freed: no message reaches the next one. */
void case_split_churn(const case_ctx *s)
{
    int rounds = case_amount(s, 60);
    for (int round = 0; round < rounds; round++) {
        rng r = rng_seed(s->seed, 5, (uint64_t)round), mine;
        int colours = 1 + rng_below(&r, 3), colour = 0;
        mine = rng_seed(s->seed, 6 + (uint64_t)s->rank, (uint64_t)round);
        colour = rng_below(&mine, colours);
        case_ctx g = *s;
        MPI_Comm_split(s->comm, colour, rng_below(&mine, 100), &g.comm);
        g.seed = s->seed + (uint64_t)(round * 3 + colour);
        MPI_Comm_rank(g.comm, &g.rank);
        MPI_Comm_size(g.comm, &g.size);
        test_msg out = {g.rank, TAG, round, MIXED_MSG};
        test_msg in = {(g.rank + g.size - 1) % g.size, TAG, round, MIXED_MSG};
        void *buf = must_alloc(MIXED_MSG), *got = must_alloc(MIXED_MSG);
        MPI_Request req;
        MPI_Status st;
        msg_fill(&g, &out, buf);
        MPI_Isend(buf, (int)msg_bytes(&g, &out), MPI_BYTE, (g.rank + 1) % g.size, TAG, g.comm,
                  &req);
        MPI_Recv(got, MIXED_MSG, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, g.comm, &st);
        msg_check(&g, &in, got, &st);
        MPI_Wait(&req, MPI_STATUS_IGNORE);
        free(buf);
        free(got);
        MPI_Comm_free(&g.comm);
    }
}
