/* groups.c: several communicators at once: what is sent on one is never seen on another, also
 * between two groups, and when communicators come and go. */
#include <stdlib.h>

#include "scene.h"

enum { TAG = 3, TEXTS = 20 };

/* Sent on one communicator first and then on another, and received the other way round by receives
 * that take anything. */
void case_communicators_apart(const scene *s)
{
    enum { COMMS = 4 };
    scene on[COMMS];
    for (int c = 0; c < COMMS; c++) {
        on[c] = *s;
        on[c].seed = s->seed + (uint64_t)c;
        MPI_Comm_dup(s->comm, &on[c].comm);
    }
    int to = (s->rank + 1) % s->size, from = (s->rank + s->size - 1) % s->size;
    MPI_Request req[COMMS][TEXTS];
    void *text[COMMS][TEXTS];
    for (int c = 0; c < COMMS; c++)
        for (int i = 0; i < TEXTS; i++) {
            letter l = {s->rank, TAG, i, MIXED_LETTER};
            text[c][i] = must_alloc(MIXED_LETTER);
            letter_write(&on[c], &l, text[c][i]);
            MPI_Isend(text[c][i], (int)letter_length(&on[c], &l), MPI_BYTE, to, TAG, on[c].comm,
                      &req[c][i]);
        }
    void *got = must_alloc(MIXED_LETTER);
    for (int c = COMMS - 1; c >= 0; c--)
        for (int i = 0; i < TEXTS; i++) {
            MPI_Status st;
            MPI_Recv(got, MIXED_LETTER, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, on[c].comm, &st);
            letter l = {from, TAG, i, MIXED_LETTER};
            letter_check(&on[c], &l, got, &st);
        }
    MPI_Waitall(COMMS * TEXTS, req[0], MPI_STATUSES_IGNORE);
    for (int c = 0; c < COMMS; c++) {
        for (int i = 0; i < TEXTS; i++)
            free(text[c][i]);
        MPI_Comm_free(&on[c].comm);
    }
    free(got);
}

/* Two groups: every rank writes to every rank of the other group; ranks there have other numbers.
 */
void case_intercomm(const scene *s)
{
    MPI_Comm half, between;
    int side = s->rank < (s->size + 1) / 2, theirs;
    MPI_Comm_split(s->comm, side, s->rank, &half);
    MPI_Intercomm_create(half, 0, s->comm, side ? (s->size + 1) / 2 : 0, 77, &between);
    scene b = *s;
    b.comm = between;
    MPI_Comm_rank(between, &b.rank);
    MPI_Comm_remote_size(between, &theirs);
    MPI_Request *req = must_alloc((size_t)theirs * sizeof *req);
    void **text = must_alloc((size_t)theirs * sizeof *text);
    for (int round = 0; round < TEXTS; round++) {
        letter mine = {b.rank, TAG, 2 * round + side, LONG_LETTER};
        for (int to = 0; to < theirs; to++) {
            text[to] = must_alloc(LONG_LETTER);
            letter_write(&b, &mine, text[to]);
            MPI_Isend(text[to], (int)letter_length(&b, &mine), MPI_BYTE, to, TAG, between,
                      &req[to]);
        }
        void *got = must_alloc(LONG_LETTER);
        for (int i = 0; i < theirs; i++) {
            MPI_Status st;
            bool any = round % 2 == 0;
            MPI_Recv(got, LONG_LETTER, MPI_BYTE, any ? MPI_ANY_SOURCE : i, TAG, between, &st);
            letter l = {st.MPI_SOURCE, TAG, 2 * round + !side, LONG_LETTER};
            EXPECT(s, any || st.MPI_SOURCE == i, "from %d, not %d", st.MPI_SOURCE, i);
            letter_check(&b, &l, got, &st);
        }
        free(got);
        MPI_Waitall(theirs, req, MPI_STATUSES_IGNORE);
        for (int to = 0; to < theirs; to++)
            free(text[to]);
        MPI_Barrier(half); /* else a fast rank's next round comes early to a receive from anyone */
        MPI_Barrier(between);
    }
    free(req);
    free(text);
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
}

/* Communicators of random groups, each used and freed at once: no letter strays into the next. */
void case_split_churn(const scene *s)
{
    int rounds = scene_amount(s, 60);
    for (int round = 0; round < rounds; round++) {
        rng r = rng_seed(s->seed, 5, (uint64_t)round), mine;
        int colours = 1 + rng_below(&r, 3), colour = 0;
        mine = rng_seed(s->seed, 6 + (uint64_t)s->rank, (uint64_t)round);
        colour = rng_below(&mine, colours);
        scene g = *s;
        MPI_Comm_split(s->comm, colour, rng_below(&mine, 100), &g.comm);
        g.seed = s->seed + (uint64_t)(round * 3 + colour);
        MPI_Comm_rank(g.comm, &g.rank);
        MPI_Comm_size(g.comm, &g.size);
        letter out = {g.rank, TAG, round, MIXED_LETTER};
        letter in = {(g.rank + g.size - 1) % g.size, TAG, round, MIXED_LETTER};
        void *text = must_alloc(MIXED_LETTER), *got = must_alloc(MIXED_LETTER);
        MPI_Request req;
        MPI_Status st;
        letter_write(&g, &out, text);
        MPI_Isend(text, (int)letter_length(&g, &out), MPI_BYTE, (g.rank + 1) % g.size, TAG, g.comm,
                  &req);
        MPI_Recv(got, MIXED_LETTER, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, g.comm, &st);
        letter_check(&g, &in, got, &st);
        MPI_Wait(&req, MPI_STATUS_IGNORE);
        free(text);
        free(got);
        MPI_Comm_free(&g.comm);
    }
}
