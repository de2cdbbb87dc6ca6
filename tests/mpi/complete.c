/* complete.c: see complete.h. */
#include "complete.h"

#include <sched.h>
#include <stdlib.h>

/* Requests of one call of complete_all. */
typedef struct batch {
    MPI_Request *req;
    const bool *message;
    int n, open; /* open: not yet reported complete */
    bool *done;
    MPI_Status *st;
    int *index;
} batch;

static void took(batch *b, int i, MPI_Status *s, const char *call)
{
    CHECK(i >= 0 && i < b->n, "%s reports request %d of %d", call, i, b->n);
    if (i < 0 || i >= b->n)
        return;
    CHECK(!b->done[i], "%s reports request %d twice", call, i);
    b->done[i] = true;
    b->open--;
    if (!b->message[i]) {
        int cancelled = 1;
        PMPI_Test_cancelled(s, &cancelled);
        CHECK(!cancelled, "%s reports a cancelled collective", call);
    }
}

static void each_wait(batch *b)
{
    for (int i = 0; i < b->n; i++)
        MPI_Wait(&b->req[b->index[i]], MPI_STATUS_IGNORE);
}

static void each_test(batch *b)
{
    for (int i = 0; i < b->n; i++)
        for (int flag = 0; !flag; sched_yield())
            MPI_Test(&b->req[b->index[i]], &flag, b->st);
}

static void each_get_status(batch *b)
{
    for (int i = 0; i < b->n; i++) {
        MPI_Request *q = &b->req[b->index[i]];
        for (int flag = 0; !flag; sched_yield())
            MPI_Request_get_status(*q, &flag, b->st);
        int flag = 0;
        MPI_Test(q, &flag, b->st);
        CHECK(flag, "MPI_Test does not know what MPI_Request_get_status reported");
    }
}

static void by_waitall(batch *b)
{
    MPI_Waitall(b->n, b->req, b->st);
}

static void by_waitall_ignore(batch *b)
{
    MPI_Waitall(b->n, b->req, MPI_STATUSES_IGNORE);
}

static void by_testall(batch *b)
{
    for (int flag = 0; !flag; sched_yield())
        MPI_Testall(b->n, b->req, &flag, b->st);
}

static void by_waitany(batch *b)
{
    while (b->open > 0) {
        int i = -1;
        MPI_Waitany(b->n, b->req, &i, b->st);
        took(b, i, b->st, "MPI_Waitany");
    }
    int i = -1;
    MPI_Waitany(b->n, b->req, &i, b->st);
    CHECK(i == MPI_UNDEFINED, "MPI_Waitany without an active request gives %d", i);
}

static void by_testany(batch *b)
{
    for (; b->open > 0; sched_yield()) {
        int i = -1, flag = 0;
        MPI_Testany(b->n, b->req, &i, &flag, b->st);
        if (flag)
            took(b, i, b->st, "MPI_Testany");
        else
            CHECK(i == MPI_UNDEFINED, "MPI_Testany gives index %d and no flag", i);
    }
}

static void by_waitsome(batch *b)
{
    while (b->open > 0) {
        int k = 0;
        MPI_Waitsome(b->n, b->req, &k, b->index, b->st);
        CHECK(k > 0, "MPI_Waitsome gives %d with %d requests open", k, b->open);
        for (int j = 0; j < k; j++)
            took(b, b->index[j], &b->st[j], "MPI_Waitsome");
    }
    int k = 0;
    MPI_Waitsome(b->n, b->req, &k, b->index, MPI_STATUSES_IGNORE);
    CHECK(k == MPI_UNDEFINED, "MPI_Waitsome without an active request gives %d", k);
}

static void by_testsome(batch *b)
{
    for (; b->open > 0; sched_yield()) {
        int k = 0;
        MPI_Testsome(b->n, b->req, &k, b->index, b->st);
        for (int j = 0; j < k; j++)
            took(b, b->index[j], &b->st[j], "MPI_Testsome");
    }
}

static void by_epochs(batch *b)
{
    int flag = 0;
    for (int i = 0; i < b->n; i++)
        MPI_Test(&b->req[b->index[i]], &flag, MPI_STATUS_IGNORE);
    MPI_Waitall(b->n, b->req, b->st);
}

void complete_all(rng *r, MPI_Request *req, const bool *message, int n)
{
    static void (*const ways[])(batch *) = {
        each_wait,  each_test,  each_get_status, by_waitall,  by_testall, by_waitall_ignore,
        by_waitany, by_testany, by_waitsome,     by_testsome, by_epochs};
    batch b = {.req = req, .message = message, .n = n};
    b.done = must_alloc((size_t)n * sizeof *b.done);
    b.st = must_alloc((size_t)(n + 1) * sizeof *b.st);
    b.index = must_alloc((size_t)n * sizeof *b.index);
    for (int i = 0; i < n; i++) {
        b.index[i] = i;
        b.open += req[i] != MPI_REQUEST_NULL;
    }
    rng_shuffle(r, b.index, n);
    ways[rng_below(r, sizeof ways / sizeof ways[0])](&b);
    free(b.done);
    free(b.st);
    free(b.index);
}
