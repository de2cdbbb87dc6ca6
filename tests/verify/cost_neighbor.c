/* cost_neighbor.c: messages, bytes, rounds and copies of the neighbourhood algorithms, against what
 * graph and pattern say; and which of them are left where local ranks share memory. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "tap.h"

enum { BLOCK = 24, ROOM = 1 << 16 };

typedef struct facts {
    const sk_algo *algo;
    const neighborhoods *h;
    const sk_call *call;
    sk_sched_stats got;
    long checks, failed;
} facts;

static void equal(facts *f, const char *what, int64_t got, int64_t want)
{
    f->checks++;
    if (got == want)
        return;
    f->failed++;
    printf("# FAIL %s %s %s p=%d rank %d: %s %lld, wanted %lld\n", sk_coll_name(f->algo->coll),
           f->algo->name, graph_kind_name(f->h->kind), f->h->p, f->call->rank, what, (long long)got,
           (long long)want);
}

static bool gathers(const facts *f)
{
    return coll_gathers_from_neighbors(f->algo->coll);
}

static int edges_of_others(const int *ranks, int n, int me)
{
    int others = 0;
    for (int i = 0; i < n; i++)
        others += ranks[i] != SK_PROC_NULL && ranks[i] != me;
    return others;
}

/* One message per neighbour, or per edge where each edge has its own block; what is copied are
 * loops and the blocks of parallel edges of allgather, and nothing is ever packed. */
static void claim_direct(facts *f)
{
    const sk_graph *g = f->h->graph[f->call->rank];
    int in = edges_of_others(g->in, g->nin, g->rank), first;
    int out = gathers(f) ? g->ntargets : edges_of_others(g->out, g->nout, g->rank);
    int loops = sk_graph_in_edges(g, g->rank, &first);
    int recvs = gathers(f) ? g->nsources : in;
    equal(f, "sends", f->got.sends, out);
    equal(f, "receives", f->got.recvs, recvs);
    equal(f, "bytes sent", f->got.send_bytes, (int64_t)out * BLOCK);
    equal(f, "bytes received", f->got.recv_bytes, (int64_t)recvs * BLOCK);
    equal(f, "copies", f->got.copies, loops + in - recvs);
    equal(f, "rounds", f->got.rounds, out + recvs > 0);
    equal(f, "scratch", f->got.scratch, 0);
}

typedef struct bundled {
    int64_t messages, blocks;
} bundled;

/* Equal blocks between local ranks go through shared memory, if all ranks know how long they are. */
static bool is_message(const facts *f, const sk_bundle *bundle)
{
    const sk_call *c = f->call;
    bool shared = c->slot_bytes && !coll_is_v(f->algo->coll) && !sk_neighborhood_of(c)->some_idle;
    return !shared || f->h->machine->node[bundle->peer] != f->h->machine->node[c->rank];
}

static bundled bundle(const facts *f, const sk_pattern_view *v, bool out)
{
    bundled sum = {0};
    for (size_t i = 0; i < v->nbundles; i++) {
        const sk_block *p = &v->blocks[v->bundles[i].first];
        if (v->bundles[i].out != out || !is_message(f, &v->bundles[i]))
            continue;
        sum.messages++;
        for (uint32_t k = 0; k < v->bundles[i].n; k++)
            sum.blocks += k == 0 || !gathers(f) || p[k].src != p[k - 1].src;
    }
    return sum;
}

/* Packets have no length before they are sent. */
static int64_t bytes(const facts *f, int64_t blocks)
{
    return coll_is_v(f->algo->coll) ? 0 : blocks * BLOCK;
}

/* One message per bundle, and one for each parallel edge beyond the first. */
static void claim_pattern(facts *f)
{
    const sk_graph *g = f->h->graph[f->call->rank];
    sk_method_id by = sk_method_find(f->algo->name);
    const sk_pattern_view *v = sk_pattern_view_get(f->h->pattern[by][g->rank]);
    bundled out = bundle(f, v, true), in = bundle(f, v, false);
    int more_out = gathers(f) ? 0 : edges_of_others(g->out, g->nout, g->rank) - g->ntargets;
    int more_in = gathers(f) ? 0 : edges_of_others(g->in, g->nin, g->rank) - g->nsources;
    int stages = more_out + more_in > 0, last = stages ? 0 : -1;
    for (size_t i = 0; i < v->nbundles; i++)
        if (is_message(f, &v->bundles[i]) && v->bundles[i].stage > last) {
            last = v->bundles[i].stage;
            stages++;
        }
    equal(f, "sends", f->got.sends, out.messages + more_out);
    equal(f, "receives", f->got.recvs, in.messages + more_in);
    equal(f, "bytes sent", f->got.send_bytes, bytes(f, out.blocks) + (int64_t)more_out * BLOCK);
    equal(f, "bytes received", f->got.recv_bytes, bytes(f, in.blocks) + (int64_t)more_in * BLOCK);
    equal(f, "rounds", f->got.rounds, stages);
}

/* Where ranks share cores and one has many neighbours, equal blocks of allgather stand together. */
static bool stand_together(const facts *f)
{
    int64_t most = 0;
    for (int r = 0; r < f->h->p; r++)
        most = f->h->graph[r]->ntargets > most ? f->h->graph[r]->ntargets : most;
    return f->algo->coll == SK_NEIGHBOR_ALLGATHER && strcmp(f->algo->name, "shm") == 0 &&
           sk_machine_oversubscribed(f->h->machine) && !sk_neighborhood_of(f->call)->some_idle &&
           most >= 12;
}

/* Slots of other ranks, but those that follow each other for ranks that do are one. */
static int runs_of_others(const sk_graph *g)
{
    int n = 0, last = -2, at = -2;
    for (int i = 0; i < g->nin_sorted; i++) {
        int edge = g->in_sorted[i], peer = g->in[edge];
        if (peer == g->rank)
            continue;
        n += peer != last + 1 || edge != at + 1;
        last = peer;
        at = edge;
    }
    return n;
}

/* One epoch and no messages. A block is copied to the slot once, for allgather for all targets
 * together, or not at all, and taken or read once for every edge. */
static void claim_one_node(facts *f)
{
    const sk_graph *g = f->h->graph[f->call->rank];
    int in = edges_of_others(g->in, g->nin, g->rank), first;
    int out = gathers(f) ? g->ntargets > 0 : edges_of_others(g->out, g->nout, g->rank);
    int loops = sk_graph_in_edges(g, g->rank, &first);
    bool single_copy = strcmp(f->algo->name, "single-copy") == 0, together = stand_together(f);
    equal(f, "sends and receives", f->got.sends + f->got.recvs, 0);
    equal(f, "epochs", f->got.epochs, 1);
    equal(f, "copies", f->got.copies, loops + (single_copy ? 0 : together ? 1 : out));
    equal(f, "takes", f->got.takes, together ? runs_of_others(g) : in);
    equal(f, "bytes taken", f->got.take_bytes, (int64_t)in * BLOCK);
    equal(f, "scratch", f->got.scratch, 0);
}

static void measure(facts *f, const neighborhoods *h, int64_t slot_bytes)
{
    char why[256];
    kase k = {.coll = f->algo->coll,
              .p = h->p,
              .units = BLOCK,
              .neighborhoods = h,
              .combine = BLOCK,
              .machine = slot_bytes ? h->machine : NULL,
              .slot_bytes = slot_bytes,
              .direct = slot_bytes > 0};
    scene *sc = scene_new(&k);
    if (sc && !f->algo->fits(&sc->call[0])) {
        scene_free(sc);
        return;
    }
    sk_sched **scheds = sc ? scheds_build(f->algo, sc, why, sizeof why) : NULL;
    if (!scheds)
        abort();
    f->h = h;
    for (int r = 0; r < h->p; r++) {
        f->call = &sc->call[r];
        f->got = sk_sched_count(scheds[r]);
        if (sk_method_find(f->algo->name) == SK_METHOD_DIRECT)
            claim_direct(f);
        else if (sk_method_find(f->algo->name) == SK_NMETHODS)
            claim_one_node(f);
        else
            claim_pattern(f);
    }
    scheds_free(scheds, h->p);
    scene_free(sc);
}

int main(void)
{
    static const int ranks[] = {1, 2, 3, 5, 8, 12, 17, 32, 64};
    size_t algos = 0;
    while (sk_algos()[algos])
        algos++;
    facts *f = calloc(algos, sizeof *f);
    if (!f)
        abort();
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++)
        for (int kind = 0; kind < GRAPH_COUNT; kind++) {
            neighborhoods *h =
                neighborhoods_new((graph_kind)kind, ranks[i], (unsigned)ranks[i] + (unsigned)kind);
            if (!h)
                abort();
            for (const sk_algo *const *a = sk_algos(); *a; a++)
                if (sk_coll_neighbor((*a)->coll)) {
                    facts *one = &f[sk_algo_index(*a)];
                    one->algo = *a;
                    measure(one, h, 0);
                    measure(one, h, ROOM);
                }
            neighborhoods_free(h);
        }
    for (size_t i = 0; i < algos; i++) {
        if (!f[i].algo)
            continue;
        tap_ok(f[i].checks > 0 && f[i].failed == 0, "%s %s: %ld values right, %ld wrong",
               sk_coll_name(f[i].algo->coll), f[i].algo->name, f[i].checks - f[i].failed,
               f[i].failed);
    }
    free(f);
    return tap_end();
}
