/* threads.c: several threads of each rank send and receive at once: each on a communicator of its
 * own, each with a tag of its own, and all of them taking from the same queue with wildcards. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "scene.h"

enum { THREADS = 4, TAG = 200, ROOT = 0 };

typedef struct worker {
    scene s;
    int number, tag, amount;
    bool any_tag;         /* receives take any tag: the communicator is this thread's alone */
    atomic_int *tickets;  /* messages of the root that are still to come */
    atomic_char *arrived; /* one mark for each */
} worker;

typedef void *work_fn(void *);

static void run_threads(worker *w, work_fn *work)
{
    pthread_t id[THREADS];
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&id[i], NULL, work, &w[i]) != 0)
            MPI_Abort(MPI_COMM_WORLD, 3);
    for (int i = 0; i < THREADS; i++)
        pthread_join(id[i], NULL);
}

/* Round the ring, sends of all kinds under way while the thread waits for the letter before it. */
static void *ring(void *arg)
{
    worker *w = arg;
    const scene *s = &w->s;
    int to = (s->rank + 1) % s->size, from = (s->rank + s->size - 1) % s->size;
    void *out = must_alloc(LONG_LETTER), *in = must_alloc(LONG_LETTER);
    for (int i = 0; i < w->amount; i++) {
        letter mine = {s->rank, w->tag, i, LONG_LETTER}, theirs = {from, w->tag, i, LONG_LETTER};
        int bytes = (int)letter_length(s, &mine);
        MPI_Request req;
        MPI_Status st;
        letter_write(s, &mine, out);
        (i % 3 || host_forgets_acks() ? MPI_Isend : MPI_Issend)(out, bytes, MPI_BYTE, to, w->tag,
                                                                s->comm, &req);
        int source = i % 2 ? from : MPI_ANY_SOURCE,
            tag = w->any_tag && i % 4 < 2 ? MPI_ANY_TAG : w->tag;
        if (i % 5 == 0) {
            MPI_Message m;
            MPI_Mprobe(source, tag, s->comm, &m, &st);
            MPI_Mrecv(in, LONG_LETTER, MPI_BYTE, &m, &st);
        } else
            MPI_Recv(in, LONG_LETTER, MPI_BYTE, source, tag, s->comm, &st);
        letter_check(s, &theirs, in, &st);
        MPI_Wait(&req, MPI_STATUS_IGNORE);
    }
    free(out);
    free(in);
    return NULL;
}

static void make_workers(const scene *s, worker *w, int amount)
{
    for (int i = 0; i < THREADS; i++) {
        w[i] = (worker){.s = *s, .number = i, .tag = TAG + i, .amount = amount};
        w[i].s.seed += (uint64_t)i;
    }
}

void case_threads_apart(const scene *s)
{
    if (!s->threads)
        return;
    worker w[THREADS];
    make_workers(s, w, scene_amount(s, 150));
    for (int i = 0; i < THREADS; i++) {
        MPI_Comm_dup(s->comm, &w[i].s.comm);
        w[i].any_tag = true;
    }
    run_threads(w, ring);
    for (int i = 0; i < THREADS; i++)
        MPI_Comm_free(&w[i].s.comm);
}

void case_threads_tags(const scene *s)
{
    if (!s->threads)
        return;
    worker w[THREADS];
    make_workers(s, w, scene_amount(s, 150));
    run_threads(w, ring);
}

/* A letter starts with its number, put in front of the text. */
static int number_of(const worker *w, const MPI_Status *st, int *newest, const int *got, int count)
{
    int thread = st->MPI_TAG - TAG, from = st->MPI_SOURCE;
    const scene *s = &w->s;
    if (thread < 0 || thread >= THREADS || from < 1 || from >= s->size ||
        count < (int)sizeof *got) {
        scene_fail(s, "a letter of %d bytes with tag %d from %d", count, st->MPI_TAG, from);
        return -1;
    }
    int number = *got, line = from * THREADS + thread;
    if (number < 0 || number >= w->amount || number <= newest[line]) {
        scene_fail(s, "letter %d of thread %d of %d after %d", number, thread, from, newest[line]);
        return -1;
    }
    newest[line] = number;
    return line * w->amount + number;
}

/* A thread that takes whatever comes. Of one sending thread it sees the letters in order. */
static void *take_any(void *arg)
{
    worker *w = arg;
    const scene *s = &w->s;
    size_t lines = (size_t)s->size * THREADS;
    int *newest = must_alloc(lines * sizeof *newest), *got = must_alloc(LONG_LETTER), count;
    memset(newest, -1, lines * sizeof *newest);
    while (atomic_fetch_sub(w->tickets, 1) > 0) {
        MPI_Status st;
        MPI_Message m;
        if (w->number % 2) {
            MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, s->comm, &m, &st);
            MPI_Mrecv(got, LONG_LETTER, MPI_BYTE, &m, &st);
        } else
            MPI_Recv(got, LONG_LETTER, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, s->comm, &st);
        MPI_Get_count(&st, MPI_BYTE, &count);
        int which = number_of(w, &st, newest, got, count);
        if (which >= 0)
            EXPECT(s, atomic_fetch_add(&w->arrived[which], 1) == 0, "letter %d came twice", which);
    }
    free(newest);
    free(got);
    return NULL;
}

static void *send_numbered(void *arg)
{
    worker *w = arg;
    for (int i = 0; i < w->amount; i++) {
        rng r = rng_seed(w->s.seed, (uint64_t)w->s.rank, (uint64_t)i);
        int bytes = (int)sizeof i + (rng_chance(&r, 10) ? 100000 : rng_below(&r, 200));
        int *text = must_alloc((size_t)bytes);
        *text = i;
        MPI_Send(text, bytes, MPI_BYTE, ROOT, w->tag, w->s.comm);
        free(text);
    }
    return NULL;
}

void case_threads_wild(const scene *s)
{
    if (!s->threads)
        return;
    worker w[THREADS];
    int amount = scene_amount(s, 200), all = (s->size - 1) * THREADS * amount;
    atomic_int tickets = all;
    atomic_char *arrived = must_alloc((size_t)(s->size * THREADS * amount));
    make_workers(s, w, amount);
    for (int i = 0; i < THREADS; i++)
        w[i].tickets = &tickets, w[i].arrived = arrived;
    run_threads(w, s->rank == ROOT ? take_any : send_numbered);
    int came = 0;
    for (int i = 0; i < s->size * THREADS * amount; i++)
        came += arrived[i];
    EXPECT(s, s->rank != ROOT || came == all, "%d letters of %d came", came, all);
    free(arrived);
}
