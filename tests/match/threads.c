/* threads.c: several threads of each rank send and receive at once: each on its own communicator,
 * each with its own tag, and all of them with wildcards on the same queue. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "case.h"

enum { THREADS = 4, TAG = 200, ROOT = 0 };

typedef struct thread_ctx {
    case_ctx s;
    int number, tag, amount;
    bool any_tag;         /* receives have any tag: only this thread uses the communicator */
    atomic_int *tickets;  /* messages that the root has not received yet */
    atomic_char *arrived; /* one mark for each */
} thread_ctx;

typedef void *work_fn(void *);

static void run_threads(thread_ctx *w, work_fn *work)
{
    pthread_t id[THREADS];
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&id[i], NULL, work, &w[i]) != 0)
            MPI_Abort(MPI_COMM_WORLD, 3);
    for (int i = 0; i < THREADS; i++)
        pthread_join(id[i], NULL);
}

/* Sends around the ring in several modes; each thread receives from its predecessor meanwhile. */
static void *ring(void *arg)
{
    thread_ctx *w = arg;
    const case_ctx *s = &w->s;
    int to = (s->rank + 1) % s->size, from = (s->rank + s->size - 1) % s->size;
    void *out = must_alloc(LONG_MSG), *in = must_alloc(LONG_MSG);
    for (int i = 0; i < w->amount; i++) {
        test_msg mine = {s->rank, w->tag, i, LONG_MSG}, theirs = {from, w->tag, i, LONG_MSG};
        int bytes = (int)msg_bytes(s, &mine);
        MPI_Request req;
        MPI_Status st;
        msg_fill(s, &mine, out);
        (i % 3 || host_loses_mrecv_acks() ? MPI_Isend : MPI_Issend)(out, bytes, MPI_BYTE, to,
                                                                    w->tag, s->comm, &req);
        int source = i % 2 ? from : MPI_ANY_SOURCE,
            tag = w->any_tag && i % 4 < 2 ? MPI_ANY_TAG : w->tag;
        if (i % 5 == 0) {
            MPI_Message m;
            MPI_Mprobe(source, tag, s->comm, &m, &st);
            MPI_Mrecv(in, LONG_MSG, MPI_BYTE, &m, &st);
        } else
            MPI_Recv(in, LONG_MSG, MPI_BYTE, source, tag, s->comm, &st);
        msg_check(s, &theirs, in, &st);
        MPI_Wait(&req, MPI_STATUS_IGNORE);
    }
    free(out);
    free(in);
    return NULL;
}

static void make_workers(const case_ctx *s, thread_ctx *w, int amount)
{
    for (int i = 0; i < THREADS; i++) {
        w[i] = (thread_ctx){.s = *s, .number = i, .tag = TAG + i, .amount = amount};
        w[i].s.seed += (uint64_t)i;
    }
}

void case_threads_apart(const case_ctx *s)
{
    if (!s->threads)
        return;
    thread_ctx w[THREADS];
    make_workers(s, w, case_amount(s, 150));
    for (int i = 0; i < THREADS; i++) {
        MPI_Comm_dup(s->comm, &w[i].s.comm);
        w[i].any_tag = true;
    }
    run_threads(w, ring);
    for (int i = 0; i < THREADS; i++)
        MPI_Comm_free(&w[i].s.comm);
}

void case_threads_tags(const case_ctx *s)
{
    if (!s->threads)
        return;
    thread_ctx w[THREADS];
    make_workers(s, w, case_amount(s, 150));
    run_threads(w, ring);
}

/* Reads the number at the start of a message and checks the order. */
static int number_of(const thread_ctx *w, const MPI_Status *st, int *newest, const int *got,
                     int count)
{
    int thread = st->MPI_TAG - TAG, from = st->MPI_SOURCE;
    const case_ctx *s = &w->s;
    if (thread < 0 || thread >= THREADS || from < 1 || from >= s->size ||
        count < (int)sizeof *got) {
        case_fail(s, "a message of %d bytes with tag %d from %d", count, st->MPI_TAG, from);
        return -1;
    }
    int number = *got, line = from * THREADS + thread;
    if (number < 0 || number >= w->amount || number <= newest[line]) {
        case_fail(s, "message %d of thread %d of %d after %d", number, thread, from, newest[line]);
        return -1;
    }
    newest[line] = number;
    return line * w->amount + number;
}

/* A thread that receives any message. Messages of one sending thread come in order. */
static void *recv_any(void *arg)
{
    thread_ctx *w = arg;
    const case_ctx *s = &w->s;
    size_t lines = (size_t)s->size * THREADS;
    int *newest = must_alloc(lines * sizeof *newest), *got = must_alloc(LONG_MSG), count;
    memset(newest, -1, lines * sizeof *newest);
    while (atomic_fetch_sub(w->tickets, 1) > 0) {
        MPI_Status st;
        MPI_Message m;
        if (w->number % 2) {
            MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, s->comm, &m, &st);
            MPI_Mrecv(got, LONG_MSG, MPI_BYTE, &m, &st);
        } else
            MPI_Recv(got, LONG_MSG, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, s->comm, &st);
        MPI_Get_count(&st, MPI_BYTE, &count);
        int which = number_of(w, &st, newest, got, count);
        if (which >= 0)
            EXPECT(s, atomic_fetch_add(&w->arrived[which], 1) == 0, "message %d came twice", which);
    }
    free(newest);
    free(got);
    return NULL;
}

static void *send_numbered(void *arg)
{
    thread_ctx *w = arg;
    for (int i = 0; i < w->amount; i++) {
        rng r = rng_seed(w->s.seed, (uint64_t)w->s.rank, (uint64_t)i);
        int bytes = (int)sizeof i + (rng_chance(&r, 10) ? 100000 : rng_below(&r, 200));
        int *buf = must_alloc((size_t)bytes);
        *buf = i;
        MPI_Send(buf, bytes, MPI_BYTE, ROOT, w->tag, w->s.comm);
        free(buf);
    }
    return NULL;
}

void case_threads_wild(const case_ctx *s)
{
    if (!s->threads)
        return;
    thread_ctx w[THREADS];
    int amount = case_amount(s, 200), all = (s->size - 1) * THREADS * amount;
    atomic_int tickets = all;
    atomic_char *arrived = must_alloc((size_t)(s->size * THREADS * amount));
    make_workers(s, w, amount);
    for (int i = 0; i < THREADS; i++)
        w[i].tickets = &tickets, w[i].arrived = arrived;
    run_threads(w, s->rank == ROOT ? recv_any : send_numbered);
    int came = 0;
    for (int i = 0; i < s->size * THREADS * amount; i++)
        came += arrived[i];
    EXPECT(s, s->rank != ROOT || came == all, "%d messages of %d came", came, all);
    free(arrived);
}
