#include "mpi/dispatch/observe.h"

#include <stdlib.h>
#include <string.h>

#include "mpi/dispatch/clocks.h"
#include "mpi/dispatch/gathered.h"
#include "mpi/state/topo.h"
#include "mpi/state/world.h"

/* ---- start ---- */

void sk_observe_start(void)
{
    if (!sk_proc.reporting || !sk_proc.world || sk_proc.waits)
        return;
    sk_proc.waits = sk_waits_new();
    sk_proc.clock_offset = sk_clocks_compare();
    sk_proc.start = sk_clock();
}

/* ---- calls ---- */

/* Open MPI names what the program does not name. */
static bool is_named(const char *name)
{
    return *name && strncmp(name, "MPI COMMUNICATOR ", strlen("MPI COMMUNICATOR ")) != 0;
}

static void name_of(const sk_comm *c, char name[MPI_MAX_OBJECT_NAME])
{
    int len = 0;
    if (sk_host.Comm_get_name(c->user, name, &len) != MPI_SUCCESS || !is_named(name))
        name[0] = '\0';
}

static uint64_t number_of_ranks(sk_comm *c)
{
    uint64_t number = 1;
    if (c->inter || !sk_comm_find_peers(c) || c->state == SK_COMM_FOREIGN)
        return 0;
    for (int i = 0; i < c->nranks; i++)
        number = sk_random_mix(number + (uint64_t)sk_comm_peer(c, i)) | 1;
    return number;
}

__attribute__((noinline)) static sk_waits_row *find_row(sk_comm *c)
{
    char name[MPI_MAX_OBJECT_NAME] = "";
    name_of(c, name);
    uint64_t ranks = number_of_ranks(c);
    return sk_waits_row_of(sk_proc.waits, ranks, c->nranks, name);
}

static bool same_node(const sk_comm *c, int rank)
{
    const struct sk_world *w = sk_proc.world;
    return w->locations[sk_comm_peer(c, rank)].node == w->locations[w->rank].node;
}

__attribute__((noinline)) static void see_graph(sk_waits_graph *g, const sk_comm *c, int algo)
{
    const sk_graph *graph = c->topo ? c->topo->graph : NULL;
    g->algo = algo;
    if (!graph || g->calls++)
        return;
    g->in = graph->nin_sorted;
    g->out = graph->nout_sorted;
    g->local = 0;
    for (int i = 0; i < graph->nout_sorted; i++)
        g->local += same_node(c, graph->out_sorted[i]);
}

static int64_t ns_of(double seconds)
{
    return (int64_t)(seconds * 1e9);
}

static void lock(void)
{
    if (sk_proc.threads)
        pthread_mutex_lock(&sk_proc.waits_lock);
}

static void unlock(void)
{
    if (sk_proc.threads)
        pthread_mutex_unlock(&sk_proc.waits_lock);
}

static void see(sk_comm *c, sk_coll coll, int algo, double since, double until)
{
    if (!sk_proc.waits)
        return;
    lock();
    sk_report_span(sk_proc.report, coll, ns_of(since - sk_proc.start),
                   ns_of(until - sk_proc.start));
    if (!c->waits)
        c->waits = find_row(c);
    sk_waits_call(c->waits, coll, ns_of(since), ns_of(until - since));
    if (sk_coll_neighbor(coll))
        see_graph(&c->waits->graph, c, algo);
    unlock();
}

double sk_observe_served(const sk_plan *p, sk_comm *c, double since)
{
    double until = sk_clock();
    sk_report_traffic(sk_proc.report, &p->sent);
    if (c)
        see(c, p->algo->coll, p->algo_index, since, until);
    return until - since;
}

double sk_observe_host(sk_comm *c, sk_coll coll, double since)
{
    double until = sk_clock();
    if (c)
        see(c, coll, -1, since, until);
    return until - since;
}

void sk_observe_wait(sk_coll coll, double since)
{
    double until = sk_clock();
    if (!sk_proc.waits || coll == SK_NCOLLS)
        return;
    lock();
    sk_report_span(sk_proc.report, coll, ns_of(since - sk_proc.start),
                   ns_of(until - sk_proc.start));
    sk_waits_wait(sk_proc.waits, ns_of(until - since));
    unlock();
}

/* ---- end ---- */

/* Communicators that got their names after their first calls. */
static void name_late(void)
{
    for (const sk_comm *c = sk_proc.comms; c; c = c->next) {
        char name[MPI_MAX_OBJECT_NAME] = "";
        if (!atomic_load(&c->handle) || !c->waits || c->waits->name[0])
            continue;
        name_of(c, name);
        snprintf(c->waits->name, sizeof c->waits->name, "%.*s", SK_WAITS_NAME - 1, name);
    }
}

void sk_observe_counts(void)
{
    int64_t counts[SK_NMATCH_COUNTS] = {0};
    if (!sk_proc.waits)
        return;
    sk_report_run_ends(sk_proc.report, ns_of(sk_clock() - sk_proc.start));
    if (sk_proc.match_counts) {
        sk_proc.match_counts(sk_proc.match_of, counts);
        sk_report_matching(sk_proc.report, counts);
    }
    name_late();
}

/* The clock of rank 0 by that of this rank, from a comparison at the start and one now. */
static sk_waits_clock clock_of_rank_0(void)
{
    int64_t now = sk_clocks_compare(), then = sk_proc.clock_offset;
    double start = sk_proc.start * 1e9, run = sk_clock() * 1e9 - start;
    sk_waits_clock c = {.drift = run > 0 ? (double)(now - then) / run : 0};
    c.offset = then - (int64_t)(c.drift * start);
    return c;
}

/* Samples of all ranks together, so that rank 0 has little to do: a few megabytes. */
static int samples_of_a_rank(void)
{
    enum { ALL = 1 << 18, LEAST = 16, MOST = 1024 };
    int n = ALL / sk_proc.world_size;
    return n < LEAST ? LEAST : n > MOST ? MOST : n;
}

sk_waits_sum *sk_observe_gather(void)
{
    if (!sk_proc.reporting || !sk_proc.world)
        return NULL;
    size_t bytes = 0;
    sk_waits_clock clock = clock_of_rank_0();
    void *mine =
        sk_proc.waits ? sk_waits_pack(sk_proc.waits, samples_of_a_rank(), clock, &bytes) : NULL;
    sk_gathered all = sk_gather_bytes(mine, mine ? bytes : 0);
    free(mine);
    sk_waits_sum *sum = all.bytes ? sk_waits_sum_new(sk_proc.world_size) : NULL;
    const sk_comm *world = sk_comm_get(MPI_COMM_WORLD);
    for (int i = 0; sum && i < sk_proc.world_size; i++)
        sk_waits_take(sum, i, world && world->machine ? world->machine->node[i] : 0,
                      all.bytes + all.at[i], (size_t)all.counts[i]);
    if (sum)
        sk_waits_finish(sum);
    sk_gathered_free(&all);
    return sum;
}

void sk_observe_end(void)
{
    sk_waits_free(sk_proc.waits);
    sk_proc.waits = NULL;
}
