/* threads.c: threads that run collectives on communicators of their own at the same time.
 *   threads SEED CASES        Each thread replays its own random calls, see random.c. */
#include "complete.h"
#include "item.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { THREADS = 4, MOST = 3 };

typedef struct work {
    pthread_t thread;
    MPI_Comm comm;
    uint64_t seed;
    int number, cases;
} work;

static void run_case(const work *w, int n)
{
    uint64_t at = (uint64_t)(n * THREADS + w->number);
    rng shared = rng_seed(w->seed, at, 0), local = rng_seed(w->seed, at, 1 + (uint64_t)test_rank());
    item t[MOST];
    MPI_Request req[MOST] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    static const bool message[MOST];
    char where[80];
    int k = 1 + rng_below(&shared, MOST);
    snprintf(where, sizeof where, "seed %llu case %d thread %d", (unsigned long long)w->seed, n,
             w->number);
    for (int i = 0; i < k; i++) {
        coll c = (coll)rng_below(&shared, NCOLLS);
        form f = (form)rng_below(&shared, NFORMS);
        if (!form_exists(c, f, false) || (f == F_PERSISTENT && test_on_host()))
            f = F_NONBLOCKING;
        item_make(&t[i], &shared, &local, c, f, false, w->comm);
        item_refill(&t[i]);
    }
    for (int i = 0; i < k; i++) {
        item_call(&t[i], &req[i]);
        if (t[i].form == F_PERSISTENT)
            MPI_Start(&req[i]);
    }
    complete_all(&local, req, message, k);
    for (int i = 0; i < k; i++) {
        item_check(&t[i], where);
        if (req[i] != MPI_REQUEST_NULL)
            MPI_Request_free(&req[i]);
        item_free(&t[i]);
    }
}

static void *run(void *arg)
{
    work *w = arg;
    for (int n = 0; n < w->cases; n++)
        run_case(w, n);
    return NULL;
}

int main(int argc, char **argv)
{
    int provided;
    test_begin_thread(&argc, &argv, "threads", MPI_THREAD_MULTIPLE, &provided);
    unsigned long long seed =
        argc > 1 ? strtoull(argv[1], NULL, 10) : (unsigned long long)time(NULL);
    int cases = argc > 2 ? atoi(argv[2]) : 50;
    PMPI_Bcast(&seed, 1, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD);
    if (provided < MPI_THREAD_MULTIPLE) {
        test_skip("this MPI does not provide MPI_THREAD_MULTIPLE");
        return test_end();
    }
    test_watch(200, "%d threads, seed %llu", THREADS, seed);
    work w[THREADS];
    for (int i = 0; i < THREADS; i++) {
        w[i] = (work){.seed = seed, .number = i, .cases = cases};
        MPI_Comm_dup(MPI_COMM_WORLD, &w[i].comm);
        test_adopt(w[i].comm);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_create(&w[i].thread, NULL, run, &w[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(w[i].thread, NULL);
    for (int i = 0; i < THREADS; i++)
        MPI_Comm_free(&w[i].comm);
    return test_end();
}
