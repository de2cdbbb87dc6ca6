/* renamed.c: algorithms whose ranks have taken new names, on machines of all kinds: results still
 * in the order of ranks, scratch within its bound, and what leaves the nodes exactly as foretold.
 *
 *   renamed [--quick] */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "coll/traffic.h"
#include "tap.h"

enum { FAILURES_SHOWN = 5 };

typedef struct job {
    const sk_algo *algo;
    world *w;
    bool quick;
    unsigned nth, nflows;
    long right, wrong;
} job;

static void report(job *j, bool right, const char *what, const char *why)
{
    if (right)
        j->right++;
    else if (j->wrong++ < FAILURES_SHOWN)
        printf("# FAIL %s %s: %s: %s\n", sk_coll_name(j->algo->coll), j->algo->name, what, why);
}

/* ---- machines ---- */

/* Node i of n has i + 1 shares of the ranks; mixed: dealt as long as a node has room. */
static sk_machine *uneven(int p, int nodes, bool mixed)
{
    sk_location *locations = calloc((size_t)p, sizeof *locations);
    int *left = calloc((size_t)nodes, sizeof *left), shares = nodes * (nodes + 1) / 2, sum = 0;
    sk_machine *m = NULL;
    if (!locations || !left)
        abort();
    for (int i = 0; i < nodes; i++)
        sum += left[i] = p * (i + 1) / shares;
    left[0] += p - sum;
    for (int r = 0, node = 0; r < p; r++) {
        while (left[node] == 0)
            node = (node + 1) % nodes;
        left[node]--;
        locations[r] = (sk_location){.node = node, .core = mixed ? -1 : p - r};
        node = mixed ? (node + 1) % nodes : node;
    }
    if (sk_machine_new(p, locations, 0, &m) != SK_OK)
        abort();
    free(locations);
    free(left);
    return m;
}

static sk_machine *by_words(int p, int nodes, const char *map)
{
    char text[96], err[256];
    sk_machine *m = NULL;
    snprintf(text, sizeof text, "node:%d socket:2 core:%d map:%s", nodes,
             (p + 2 * nodes - 1) / (2 * nodes), map);
    if (sk_machine_parse(text, p, &m, err, sizeof err) != SK_OK)
        abort();
    return m;
}

/* The machines of p ranks on some nodes, one after the other; NULL after the last. */
static sk_machine *machine_of(int p, int nodes, int which)
{
    static const char *const maps[] = {"seq", "rr", "rr-socket", "shuffle:3"};
    if (which < 4)
        return by_words(p, nodes, maps[which]);
    return which < 6 ? uneven(p, nodes, which == 5) : NULL;
}

/* ---- right results ---- */

static sk_sched **build(const sk_algo *a, const scene *sc, const sk_machine *m, const sk_rename *r,
                        char *why, size_t size)
{
    sk_sched **scheds = calloc((size_t)sc->k.p, sizeof(sk_sched *));
    int64_t room = 0;
    for (int i = 0; scheds && i < sc->k.p; i++) {
        sk_call c = sk_call_renamed(&sc->call[i], r);
        c.machine = m;
        sk_status st = sk_algo_build(a, &c, &scheds[i]);
        int64_t bound = a->scratch ? a->scratch(&c) : 0;
        int64_t used = st == SK_OK ? sk_sched_view(scheds[i])->scratch : 0;
        if (st != SK_OK)
            snprintf(why, size, "rank %d cannot build: %s", i, sk_status_text(st));
        else if (i > 0 && bound != room)
            snprintf(why, size, "scratch differs between ranks 0 and %d", i);
        else if (used > bound)
            snprintf(why, size, "rank %d uses %" PRId64 " bytes of scratch, the bound is %" PRId64,
                     i, used, bound);
        else {
            room = bound;
            continue;
        }
        scheds_free(scheds, sc->k.p);
        return NULL;
    }
    return scheds;
}

static void try(job *j, const kase *k, const sk_machine *m, const sk_rename *r)
{
    char why[256] = "out of memory", what[256];
    scene *sc = scene_new(k);
    if (!sc)
        abort();
    if (!j->algo->fits || j->algo->fits(&sc->call[0])) {
        sk_sched **scheds = build(j->algo, sc, m, r, why, sizeof why);
        kase_print(k, what, sizeof what);
        report(j, scheds && check_scheds(j->w, sc, scheds, why, sizeof why), what, why);
        scheds_free(scheds, k->p);
    }
    scene_free(sc);
}

static bool is_heavy(sk_coll c)
{
    return c == SK_ALLTOALL || c == SK_ALLTOALLV || c == SK_ALLTOALLW;
}

/* From a size on some algorithms send blocks one by one. */
static void try_long(job *j, const sk_machine *m, const sk_rename *r)
{
    sk_coll coll = j->algo->coll;
    kase k = {.coll = coll, .p = m->nranks, .units = SK_USUAL_MESSAGE_BYTES};
    k.lay = (layout)(j->nth++ % LAY_COUNT);
    k.spread = (enum spread)(coll_is_v(coll) ? j->nth % SPREAD_COUNT : 0);
    k.in_place = (int)(j->nth / 2 % 2);
    if ((coll == SK_ALLGATHER || coll == SK_ALLGATHERV) && k.p <= 7 && j->nth % 8 == 0)
        try(j, &k, m, r);
}

/* Some of all kinds of calls, others for each machine. */
static void try_kinds(job *j, const sk_machine *m, const sk_rename *r)
{
    sk_coll coll = j->algo->coll;
    int p = m->nranks;
    int64_t sizes[] = {1, 7, is_heavy(coll) ? 9 : 3 * p + 2, 0};
    unsigned every = (p <= 6 ? 11 : p <= 16 ? 37 : 211) * (j->quick ? 5 : 1);
    for (int lay = 0; lay < (coll == SK_BARRIER ? 1 : LAY_COUNT); lay++)
        for (int n = 0; n < (coll == SK_BARRIER ? 1 : 4); n++)
            for (int in_place = 0; in_place <= coll_has_in_place(coll); in_place++)
                for (int spread = 0; spread < (coll_is_v(coll) ? SPREAD_COUNT : 1); spread++)
                    for (int root = 0; root < (coll_is_rooted(coll) ? p : 1); root++) {
                        kase k = {.coll = coll, .p = p, .root = root, .units = sizes[n]};
                        k.lay = (layout)lay;
                        k.in_place = in_place;
                        k.spread = (enum spread)spread;
                        if (coll == SK_BARRIER || j->nth++ % every == 0)
                            try(j, &k, m, r);
                    }
}

/* ---- what leaves the nodes ---- */

/* Of the schedules of all ranks, counted step by step. */
static sk_traffic counted(const sk_algo *a, const scene *sc, const sk_machine *m,
                          const sk_rename *r)
{
    sk_traffic t = {0};
    sk_off_node sum = {0};
    for (int i = 0; i < sc->k.p; i++) {
        sk_sched *s = NULL;
        sk_call c = r ? sk_call_renamed(&sc->call[i], r) : sc->call[i];
        c.machine = m;
        if (sk_algo_build(a, &c, &s) != SK_OK || sk_traffic_add(&t, s, m, i) != SK_OK)
            abort();
        sk_off_node one = sk_sched_off_node(s, m, i);
        sum.messages += one.messages;
        sum.bytes += one.bytes;
        sk_sched_free(s);
    }
    if (sum.messages != t.sum.messages || sum.bytes != t.sum.bytes)
        abort();
    return t;
}

static sk_off_node foretold(const sk_algo *a, const scene *sc, const sk_machine *m,
                            const sk_rename *r)
{
    sk_off_node out = {0};
    sk_call c = r ? sk_call_renamed(&sc->call[sc->k.p - 1], r) : sc->call[sc->k.p - 1];
    c.machine = m;
    if (sk_algo_off_node(a, &c, &out) != SK_OK)
        abort();
    return out;
}

/* A call whose vector can be cut into p and into a power of two of parts. */
static kase smooth(sk_coll coll, int p, int root)
{
    bool blocks = coll == SK_REDUCE_SCATTER || coll == SK_REDUCE_SCATTER_BLOCK;
    bool vector = coll == SK_BCAST || (coll_reduces(coll) && !blocks);
    int q = 1;
    while (2 * q <= p)
        q *= 2;
    return (kase){.coll = coll, .p = p, .root = root, .units = vector ? p * q : 3};
}

/* The units of a flow are the algorithm's own; one machine tells what they are worth: that on which
 * every rank is a node, so that everything leaves one. */
static void check_flow(job *j, const kase *k, const sk_machine *m, const sk_rename *r)
{
    char what[256], why[256];
    scene *sc = scene_new(k);
    char text[32], err[64];
    sk_machine *apart = NULL;
    snprintf(text, sizeof text, "node:%d", k->p);
    if (!sc || sk_machine_parse(text, k->p, &apart, err, sizeof err) != SK_OK)
        abort();
    sk_traffic all = counted(j->algo, sc, apart, NULL), some = counted(j->algo, sc, m, r);
    sk_off_node all_told = foretold(j->algo, sc, apart, NULL);
    sk_off_node told = foretold(j->algo, sc, m, r);
    kase_print(k, what, sizeof what);
    snprintf(why, sizeof why,
             "%" PRId64 " of %" PRId64 " messages and %" PRId64 " of %" PRId64
             " bytes leave their nodes, foretold were %" PRId64 " of %" PRId64 ", %" PRId64
             " of %" PRId64,
             some.sum.messages, all.sum.messages, some.sum.bytes, all.sum.bytes, told.messages,
             all_told.messages, told.bytes, all_told.bytes);
    /* Empty blocks are not sent, but only even ones are counted as messages. */
    bool messages = k->spread != SPREAD_EVEN ||
                    some.sum.messages * all_told.messages == told.messages * all.sum.messages;
    bool bytes = some.sum.bytes * all_told.bytes == told.bytes * all.sum.bytes;
    report(j, messages && bytes, what, why);
    sk_traffic_free(&all);
    sk_traffic_free(&some);
    sk_machine_free(apart);
    scene_free(sc);
}

/* With one of the roots, another one each time. */
static void check_flows(job *j, const sk_machine *m, const sk_rename *r)
{
    sk_coll coll = j->algo->coll;
    int root = coll_is_rooted(coll) ? (int)(j->nflows++ * 7 % (unsigned)m->nranks) : 0;
    kase k = smooth(coll, m->nranks, root);
    for (int spread = 0; spread < SPREAD_COUNT; spread++) {
        k.spread = (enum spread)spread;
        if (spread == SPREAD_EVEN || coll == SK_ALLGATHERV || coll == SK_REDUCE_SCATTER)
            check_flow(j, &k, m, r);
    }
    k.spread = SPREAD_EVEN;
    k.units = SK_USUAL_MESSAGE_BYTES;
    if ((coll == SK_ALLGATHER || coll == SK_ALLGATHERV) && k.p <= 7)
        check_flow(j, &k, m, r);
}

/* The paper's figure 1: every stage of a ring sends a message from each rank; the names decide how
 * many of them leave a node. */
static void check_ring(job *j, int nodes, int on_node)
{
    char what[64], why[64];
    int p = nodes * on_node;
    kase k = smooth(j->algo->coll, p, 0);
    scene *sc = scene_new(&k);
    sk_machine *m = by_words(p, nodes, "rr");
    sk_rename *r = NULL;
    if (!sc || sk_rename_new(m, SK_PREFERS_SEQUENTIAL, &r) != SK_OK || !r)
        abort();
    sk_traffic before = counted(j->algo, sc, m, NULL), after = counted(j->algo, sc, m, r);
    int stages = j->algo->coll == SK_ALLREDUCE ? 2 * (p - 1) : p - 1;
    snprintf(what, sizeof what, "%d nodes of %d ranks, round-robin", nodes, on_node);
    snprintf(why, sizeof why, "%d stages, not %d", before.nstages, stages);
    report(j, before.nstages == stages && after.nstages == stages, what, why);
    for (int i = 0; i < before.nstages && i < after.nstages; i++) {
        int64_t was = before.stage[i].messages, is = after.stage[i].messages;
        snprintf(why, sizeof why, "stage %d: %" PRId64 " messages, renamed %" PRId64, i, was, is);
        report(j, was == p && is == nodes, what, why);
    }
    sk_traffic_free(&before);
    sk_traffic_free(&after);
    sk_rename_free(r);
    sk_machine_free(m);
    scene_free(sc);
}

static void check_rings(job *j)
{
    for (int nodes = 2; nodes <= 8; nodes++)
        for (int on_node = 2; on_node <= 8; on_node += 1 + (on_node > 3))
            check_ring(j, nodes, on_node);
}

/* ---- all of it ---- */

static void try_machine(job *j, const sk_machine *m)
{
    for (int wants = SK_PREFERS_SEQUENTIAL; wants <= SK_PREFERS_ROUND_ROBIN; wants++) {
        sk_rename *r = NULL;
        if (sk_rename_by_position(m, (sk_prefers)wants, &r) != SK_OK)
            abort();
        try_kinds(j, m, r);
        try_long(j, m, r);
        check_flows(j, m, r);
        sk_rename_free(r);
    }
    check_flows(j, m, NULL);
}

static void try_algo(job *j)
{
    static const int ranks[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 16, 21, 32, 40};
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
        int p = ranks[i], step = j->quick ? 3 : p > 16 ? 2 : 1;
        for (int nodes = 1 + (int)(i % (size_t)step); nodes <= 8 && nodes <= p; nodes += step)
            for (int which = 0;; which++) {
                sk_machine *m = machine_of(p, nodes, which);
                if (!m)
                    break;
                try_machine(j, m);
                sk_machine_free(m);
            }
    }
    if (strcmp(j->algo->name, "ring") == 0)
        check_rings(j);
}

int main(int argc, char **argv)
{
    bool quick = getenv("SK_VERIFY_QUICK") != NULL || (argc > 1 && strcmp(argv[1], "--quick") == 0);
    world *w = world_new();
    if (!w)
        abort();
    for (const sk_algo *const *a = sk_algos(); *a; a++) {
        if ((*a)->prefers == SK_PREFERS_ANY)
            continue;
        job j = {.algo = *a, .w = w, .quick = quick};
        try_algo(&j);
        tap_ok(j.right > 0 && j.wrong == 0, "%s %s, prefers %s: %ld right, %ld wrong",
               sk_coll_name((*a)->coll), (*a)->name, sk_prefers_name((*a)->prefers), j.right,
               j.wrong);
    }
    world_free(w);
    return tap_end();
}
