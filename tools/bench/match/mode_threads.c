/* mode_threads.c: one matcher, several threads. Each thread has its own source and tags, so threads
 * never wait for each other's messages, only for the lock. */
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "bench/match/compare.h"
#include "bench/match/match.h"

enum { PAIRS = 100000, MAX_ROUNDS = 1000 };

typedef struct match_threads {
    sk_matcher *m;
    pthread_barrier_t start;
    uint32_t depth, pairs; /* of each thread */
} match_threads;

typedef struct match_worker {
    match_threads *all;
    uint32_t number;
    sk_match_item *items; /* depth receives, depth messages */
    pthread_t thread;
    double begin, end;
    bool wrong;
} match_worker;

/* Repeats: post `depth` receives, deliver their messages in the same order. */
static void *work(void *arg)
{
    match_worker *w = arg;
    uint32_t depth = w->all->depth;
    sk_match_item *recv = w->items, *msg = w->items + depth;
    for (uint32_t i = 0; i < depth; i++) {
        msg[i] = (sk_match_item){
            .tag = sk_ompi_tag(w->number, (int32_t)i), .source = w->number, .size = 4};
        recv[i] = msg[i];
        recv[i].ignore = SK_OMPI_TAG_PROTOCOL;
    }
    pthread_barrier_wait(&w->all->start);
    w->begin = sk_seconds();
    for (uint32_t pairs = 0; pairs < w->all->pairs; pairs += depth) {
        for (uint32_t i = 0; i < depth; i++)
            w->wrong |= sk_matcher_post(w->all->m, &recv[i]) != NULL;
        for (uint32_t i = 0; i < depth; i++)
            w->wrong |= sk_matcher_deliver(w->all->m, &msg[i]) != &recv[i];
    }
    w->end = sk_seconds();
    return NULL;
}

typedef struct thread_result {
    double ns;        /* per operation of any thread */
    double contended; /* share of the operations */
    bool wrong;
} thread_result;

/* Starts the workers together; measures from the first begin to the last end. */
static sk_status run_workers(match_threads *c, match_worker *workers, int n, double *seconds,
                             bool *wrong)
{
    int started = 0;
    *wrong = false;
    if (pthread_barrier_init(&c->start, NULL, (unsigned)n) != 0)
        return SK_NOMEM;
    while (started < n &&
           pthread_create(&workers[started].thread, NULL, work, &workers[started]) == 0)
        started++;
    if (started < n) { /* the others wait at the barrier and cannot be joined */
        fputs("skein bench match: cannot start that many threads\n", stderr);
        exit(1);
    }
    double begin = INFINITY, end = 0;
    for (int i = 0; i < n; i++) {
        pthread_join(workers[i].thread, NULL);
        *wrong = *wrong || workers[i].wrong;
        begin = fmin(begin, workers[i].begin);
        end = fmax(end, workers[i].end);
    }
    *seconds = end - begin;
    pthread_barrier_destroy(&c->start);
    return SK_OK;
}

/* `locked` false: without the lock, for one thread. */
static sk_status measure(const char *engine, int threads, bool locked, uint32_t depth,
                         thread_result *out)
{
    sk_match_config config = {.nranks = (uint32_t)threads, .threads = locked};
    match_threads c = {.depth = depth, .pairs = PAIRS / (uint32_t)threads};
    match_worker *workers = calloc((size_t)threads, sizeof *workers);
    size_t per = 2 * (size_t)depth;
    sk_match_item *items = calloc((size_t)threads * per, sizeof *items);
    sk_status st = workers && items ? sk_matcher_new(engine, &config, &c.m) : SK_NOMEM;
    for (int i = 0; st == SK_OK && i < threads; i++)
        workers[i] =
            (match_worker){.all = &c, .number = (uint32_t)i, .items = items + (size_t)i * per};
    double seconds = 0;
    if (st == SK_OK)
        st = run_workers(&c, workers, threads, &seconds, &out->wrong);
    if (st == SK_OK) {
        sk_match_stats stats;
        sk_matcher_stats(c.m, &stats);
        sk_search_sums t = sk_search_sums_of(&stats, true); /* every operation is one search */
        out->ns = 1e9 * seconds / (double)t.searches;
        out->contended = (double)stats.contended / (double)t.searches;
    }
    sk_matcher_free(c.m);
    free(workers);
    free(items);
    return st;
}

/* The rounds of one setting alternate with one thread that takes no lock. */
typedef struct thread_row {
    double ns, contended;
    sk_spread ratio; /* without lock / with these threads */
    bool wrong;
} thread_row;

static sk_status measure_row(const char *engine, int threads, uint32_t depth, int rounds,
                             thread_row *out)
{
    double ns[MAX_ROUNDS], contended[MAX_ROUNDS], ratio[MAX_ROUNDS];
    out->wrong = false;
    for (int r = 0; r < rounds; r++) {
        thread_result alone, together;
        sk_status st = measure(engine, 1, false, depth, &alone);
        if (st == SK_OK)
            st = measure(engine, threads, true, depth, &together);
        if (st != SK_OK)
            return st;
        ns[r] = together.ns;
        contended[r] = together.contended;
        ratio[r] = alone.ns / together.ns;
        out->wrong = out->wrong || alone.wrong || together.wrong;
    }
    out->ns = sk_median(ns, rounds);
    out->contended = sk_median(contended, rounds);
    out->ratio = sk_spread_of(ratio, rounds);
    return SK_OK;
}

static int print_row(const sk_match_options *o, const char *engine, int threads, uint32_t depth,
                     FILE *csv)
{
    thread_row c;
    sk_status st = measure_row(engine, threads, depth, o->rounds, &c);
    if (st != SK_OK) {
        fprintf(stderr, "skein bench match: %s: %s\n", engine, sk_status_text(st));
        return 1;
    }
    printf("%-10s %7d %8" PRIu32 "  %9.4g %7.3gx %5.3g..%-5.3g  %8.2f %%%s\n", engine, threads,
           depth, c.ns, c.ratio.mid, c.ratio.lo, c.ratio.hi, 100 * c.contended,
           c.wrong ? "  WRONG" : "");
    fflush(stdout);
    if (csv)
        fprintf(csv, "%s,%d,%" PRIu32 ",%s,%d,%.6g,%.6g,%.6g,%.6g,%.6g\n", engine, threads, depth,
                c.wrong ? "WRONG" : "ok", o->rounds, c.ns, c.ratio.mid, c.ratio.lo, c.ratio.hi,
                c.contended);
    return c.wrong;
}

int sk_mode_threads(const sk_match_options *o, FILE *csv)
{
    int status = 0;
    if (csv)
        fputs("engine,threads,depth,state,rounds,ns,ratio,ratio_p10,ratio_p90,contended\n", csv);
    printf(
        "\none matcher, threads with tags of their own: ns per operation (wall time / operations "
        "of all\nthreads); ratio one thread without lock / these threads; operations that waited "
        "for the lock\n%-10s %7s %8s  %9s %8s %12s  %10s\n",
        "engine", "threads", "depth", "ns", "ratio", "10%..90%", "contended");
    for (int i = 0; i < o->engines.n; i++)
        for (int d = 0; d < o->depths.n; d++)
            for (int t = 0; t < o->threads.n; t++)
                if (print_row(o, o->engines.v[i], (int)o->threads.v[t], (uint32_t)o->depths.v[d],
                              csv))
                    status = 1;
    return status;
}
