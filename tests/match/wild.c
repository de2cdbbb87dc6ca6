/* wild.c: receives with any source and any tag. Which message such a receive gets is not
 * determined, but the messages of one sender that match are received in the order in which they
 * were sent, and none twice. */
#include <stdlib.h>

#include "case.h"

enum { EACH = 60, FIRST_TAG = 100, TAGS = 5, ROOT = 0 };

static int tag_of(const case_ctx *s, int from, int number)
{
    rng r = rng_seed(s->seed, (uint64_t)from, (uint64_t)number + 1000);
    return FIRST_TAG + rng_below(&r, TAGS);
}

static test_msg nth_msg(const case_ctx *s, int from, int number, bool one_tag)
{
    int tag = one_tag ? FIRST_TAG : tag_of(s, from, number);
    return (test_msg){from, tag, number, MIXED_MSG};
}

/* Starts all sends of this rank to the root. The root sends to itself, too. */
static void post_all(const case_ctx *s, bool one_tag, void **buf, MPI_Request *req)
{
    for (int i = 0; i < EACH; i++) {
        test_msg l = nth_msg(s, s->rank, i, one_tag);
        size_t bytes = msg_bytes(s, &l);
        buf[i] = must_alloc(bytes);
        msg_fill(s, &l, buf[i]);
        MPI_Isend(buf[i], (int)bytes, MPI_BYTE, ROOT, l.tag, s->comm, &req[i]);
    }
}

/* Receives from all ranks. `source` MPI_PROC_NULL means one sender after the other. */
static void recv_all(const case_ctx *s, int source, int tag)
{
    bool in_order = source == MPI_PROC_NULL, one_tag = tag != MPI_ANY_TAG;
    int *next = must_alloc((size_t)s->size * sizeof *next);
    void *buf = must_alloc(MIXED_MSG);
    for (int i = 0; i < EACH * s->size; i++) {
        MPI_Status st;
        MPI_Recv(buf, MIXED_MSG, MPI_BYTE, in_order ? i % s->size : source, tag, s->comm, &st);
        if (st.MPI_SOURCE < 0 || st.MPI_SOURCE >= s->size) {
            case_fail(s, "a message from %d", st.MPI_SOURCE);
            continue;
        }
        test_msg l = nth_msg(s, st.MPI_SOURCE, next[st.MPI_SOURCE]++, one_tag);
        msg_check(s, &l, buf, &st);
    }
    for (int i = 0; i < s->size; i++)
        EXPECT(s, next[i] == EACH, "%d messages of %d, not %d", next[i], i, EACH);
    free(buf);
    free(next);
}

static void finish_all(void **buf, MPI_Request *req)
{
    MPI_Waitall(EACH, req, MPI_STATUSES_IGNORE);
    for (int i = 0; i < EACH; i++)
        free(buf[i]);
}

static void everyone_to_root(const case_ctx *s, int source, int tag)
{
    void *buf[EACH];
    MPI_Request req[EACH];
    post_all(s, tag != MPI_ANY_TAG, buf, req);
    if (s->rank == ROOT)
        recv_all(s, source, tag);
    finish_all(buf, req);
}

void case_any_source(const case_ctx *s)
{
    everyone_to_root(s, MPI_ANY_SOURCE, FIRST_TAG);
}

void case_any_tag(const case_ctx *s)
{
    everyone_to_root(s, MPI_PROC_NULL, MPI_ANY_TAG);
}

void case_any_message(const case_ctx *s)
{
    everyone_to_root(s, MPI_ANY_SOURCE, MPI_ANY_TAG);
}

/* Wildcard receives that are posted after exact ones must not get their messages. Posted are: exact
 * receives for the first tag, any source for the second, any source and any tag for the others. */
static int fit_of(int tag)
{
    return tag == FIRST_TAG ? 0 : tag == FIRST_TAG + 1 ? 1 : 2;
}

static int post_fitting(const case_ctx *s, int fit, char *bufs, MPI_Request *req)
{
    int n = 0;
    for (int from = 0; from < s->size; from++)
        for (int i = 0; i < EACH; i++) {
            int tag = tag_of(s, from, i);
            if (fit_of(tag) != fit)
                continue;
            MPI_Irecv(bufs + (size_t)n * MIXED_MSG, MIXED_MSG, MPI_BYTE,
                      fit == 0 ? from : MPI_ANY_SOURCE, fit == 2 ? MPI_ANY_TAG : tag, s->comm,
                      &req[n]);
            n++;
        }
    return n;
}

static void check_fitting(const case_ctx *s, int fit, int n, const char *bufs, const MPI_Status *st)
{
    int *next = must_alloc((size_t)s->size * sizeof *next);
    for (int k = 0; k < n; k++) {
        int from = st[k].MPI_SOURCE, i;
        for (i = next[from]; i < EACH && fit_of(tag_of(s, from, i)) != fit;)
            i++;
        next[from] = i + 1;
        test_msg l = nth_msg(s, from, i, false);
        msg_check(s, &l, bufs + (size_t)k * MIXED_MSG, &st[k]);
    }
    free(next);
}

void case_exact_before_any(const case_ctx *s)
{
    size_t all = (size_t)s->size * EACH;
    void *buf[EACH];
    MPI_Request sent[EACH];
    if (s->rank == ROOT) {
        char *bufs = must_alloc(all * MIXED_MSG);
        MPI_Request *req = must_alloc(all * sizeof *req);
        MPI_Status *st = must_alloc(all * sizeof *st);
        int upto[4] = {0};
        for (int fit = 0; fit < 3; fit++)
            upto[fit + 1] = upto[fit] + post_fitting(s, fit, bufs + (size_t)upto[fit] * MIXED_MSG,
                                                     req + upto[fit]);
        post_all(s, false, buf, sent);
        MPI_Waitall((int)all, req, st);
        for (int fit = 0; fit < 3; fit++)
            check_fitting(s, fit, upto[fit + 1] - upto[fit], bufs + (size_t)upto[fit] * MIXED_MSG,
                          st + upto[fit]);
        free(bufs);
        free(req);
        free(st);
    } else
        post_all(s, false, buf, sent);
    finish_all(buf, sent);
}
