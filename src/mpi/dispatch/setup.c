/* setup.c: how the ranks of a communicator agree on patterns: a state machine that never waits, so
 * that a nonblocking call can start it and return.
 *
 *   stage       what happens
 *   GRAPH       once: allgather how many neighbours everybody has
 *   SIZES       allreduce edges by level and the sizes of calls; all ranks decide alike which
 *               patterns would pay
 *   NEGOTIATE   make them: from the whole graph where it fits in memory, else method by method
 *   LOADS       allreduce what they cost the busiest rank; calls choose by this
 *
 * If there is nothing to gain it ends after SIZES. */
#include "mpi/dispatch/setup.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "mpi/state/world.h"
#include "mpi/transport/mpi_channel.h"
#include "mpi/transport/own_coll.h"
#include "neighbor/gather.h"
#include "neighbor/tuning.h"

typedef enum sk_setup_stage {
    AT_GRAPH,
    AT_SIZES,
    AT_NEGOTIATE,
    AT_LOADS,
    AT_VOLUMES,
    AT_END
} sk_setup_stage;

/* What a rank says about its neighbours. */
typedef struct sk_graph_note {
    int32_t targets, sources;
    int32_t traits;
    sk_reach reach;
} sk_graph_note;

/* Bits of sk_graph_note.traits: see sk_topo. Above them the most edges from this rank to another. */
enum { TRAIT_IDLE = 1, TRAIT_PARALLEL = 2, EDGES_SHIFT = 8, MOST_EDGES = 1 << 20 };

/* The words of the SIZES stage: edges by level, then bytes and blocks of both families. */
enum { WORD_EDGES, WORD_SIZES = SK_NLEVELS, NWORDS = SK_NLEVELS + 4 };

typedef struct sk_setup {
    sk_setup_stage at;
    bool sent;   /* the messages of this stage are under way */
    bool block;  /* this time they may be waited for */
    int64_t tag; /* the first of its tags */
    double since;
    sk_own_coll coll;     /* under way */
    sk_graph_note *graph; /* of each rank */
    int64_t words[NWORDS];
    unsigned make; /* methods to make, a bit each */
    int method;    /* being made; SK_NMETHODS: all at once */
    sk_pattern_opts opts;
    sk_negotiator *negotiator;
    sk_mpi_channel channel;
    sk_load loads[SK_NMETHODS];
    sk_volume volumes[SK_NMETHODS];
} sk_setup;

static void free_setup(sk_setup *s)
{
    if (!s)
        return;
    sk_negotiator_free(s->negotiator);
    sk_mpi_channel_end(&s->channel);
    if (s->coll.sched)
        sk_own_coll_end(&s->coll);
    free(s->graph);
    free(s);
}

/* One of the tags of a set-up. */
static int tag_at(const sk_setup *s, const sk_comm *c, int i)
{
    return sk_comm_tag_at(c, (s->tag + i) % sk_proc.tags);
}

static sk_status set_sent(sk_setup *s, sk_status st)
{
    s->sent = st == SK_OK;
    return st;
}

static void go(sk_setup *s, sk_setup_stage at)
{
    s->at = at;
    s->sent = false;
}

/* ---- who sits where, and the degrees of the graph ---- */

static sk_graph_note my_graph_note(const sk_topo *t, const sk_comm *c)
{
    const sk_graph *g = t->graph;
    sk_graph_note note = {.targets = g->ntargets, .sources = g->nsources};
    if (c->machine)
        note.reach = sk_reach_of(g->targets, g->ntargets, c->machine, c->rank);
    if (g->nin + g->nout == 0)
        note.traits |= TRAIT_IDLE;
    if (g->nin_sorted > g->nsources || g->nout_sorted > g->ntargets)
        note.traits |= TRAIT_PARALLEL;
    int edges = sk_graph_parallel(g);
    note.traits |= (edges < MOST_EDGES ? edges : MOST_EDGES) << EDGES_SHIFT;
    return note;
}

static sk_status send_graph(sk_setup *s, const sk_topo *t, const sk_comm *c)
{
    s->graph = calloc((size_t)c->nranks, sizeof *s->graph);
    if (!s->graph)
        return SK_NOMEM;
    s->graph[c->rank] = my_graph_note(t, c);
    return set_sent(s, sk_own_allgather(&s->coll, c, tag_at(s, c, 0), s->graph, sizeof *s->graph));
}

static sk_status read_graph(const sk_setup *s, sk_topo *t, const sk_comm *c)
{
    sk_reach *reach = malloc((size_t)c->nranks * sizeof *reach);
    t->idle = malloc((size_t)c->nranks * sizeof *t->idle);
    if (!t->idle || !reach || !c->machine) {
        free(reach);
        return SK_NOMEM;
    }
    for (int i = 0; i < c->nranks; i++) {
        const sk_graph_note *note = &s->graph[i];
        t->idle[i] = note->traits & TRAIT_IDLE;
        t->has_isolated |= (note->traits & TRAIT_IDLE) != 0;
        t->has_parallel |= (note->traits & TRAIT_PARALLEL) != 0;
        int edges = note->traits >> EDGES_SHIFT;
        t->neighborhood.parallel =
            edges > t->neighborhood.parallel ? edges : t->neighborhood.parallel;
        t->size.edges += note->targets;
        int64_t most = note->targets > note->sources ? note->targets : note->sources;
        t->size.most = most > t->size.most ? most : t->size.most;
        reach[i] = note->reach;
    }
    sk_reach_sum(reach, c->machine, &t->size);
    free(reach);
    t->no_async_progress = !sk_proc.world->progress_everywhere;
    t->machine = c->machine;
    t->neighborhood.machine = t->machine;
    t->neighborhood.some_idle = t->has_isolated;
    t->neighborhood.most = (int)t->size.most;
    t->neighborhood.parallel += t->neighborhood.parallel == 0;
    return SK_OK;
}

/* ---- sizes, and which patterns would pay ---- */

static sk_status send_sizes(sk_setup *s, sk_topo *t, const sk_comm *c)
{
    memset(s->words, 0, sizeof s->words);
    for (int i = 0; i < t->graph->ntargets; i++)
        s->words[WORD_EDGES + (int)sk_machine_level(t->machine, c->rank, t->graph->targets[i])]++;
    for (int i = 0; i < 2; i++) {
        s->words[WORD_SIZES + 2 * i] = t->seen[i].bytes;
        s->words[WORD_SIZES + 2 * i + 1] = t->seen[i].blocks;
        t->seen[i] = (sk_sizes){0};
    }
    return set_sent(s, sk_own_allreduce(&s->coll, c, tag_at(s, c, 1), s->words, NWORDS, SK_OP_SUM));
}

enum { ASSUMED_BYTES = 256 }; /* of a block, when patterns are made before any call */

static bool pays(const sk_topo *t, int method, const sk_pattern_opts *o, bool distinct,
                 int64_t bytes)
{
    return sk_predict_pays((sk_method_id)method, sk_select_model(sk_proc.select), t->machine,
                           &t->size, o, distinct, bytes);
}

/* Methods that a setting forces on some collective. */
static unsigned forced_methods(const sk_comm *c)
{
    unsigned set = 0;
    for (int coll = 0; coll < SK_NCOLLS; coll++) {
        const sk_algo *a = sk_select_forced(sk_comm_select(c), (sk_coll)coll);
        int method =
            a && sk_coll_neighbor((sk_coll)coll) ? (int)sk_method_find(a->name) : SK_NMETHODS;
        if (method < SK_NMETHODS)
            set |= 1u << method;
    }
    return set;
}

/* The method that measured times advise for a collective with blocks of so many bytes, as a bit; 0: none. */
static unsigned tuned_method(const sk_topo *t, int coll, int64_t bytes)
{
    sk_tuned call = {.coll = (sk_coll)coll,
                     .ranks = t->machine->nranks,
                     .nodes = t->machine->nnodes,
                     .neighbours = (int)t->size.most,
                     .bytes = bytes};
    sk_choice x;
    int method = sk_select_tuned_choice(sk_proc.select, &call, &x)
                     ? (int)sk_method_find(x.algo->name)
                     : SK_NMETHODS;
    return method < SK_NMETHODS ? 1u << method : 0;
}

/* The same for all collectives of a family: see sk_topo.seen. */
static unsigned tuned_methods(const sk_topo *t, int family, int64_t bytes)
{
    unsigned set = 0;
    for (int coll = 0; coll < SK_NCOLLS; coll++) {
        bool gathers = coll == SK_NEIGHBOR_ALLGATHER || coll == SK_NEIGHBOR_ALLGATHERV;
        if (sk_coll_neighbor((sk_coll)coll) && gathers == (family == 0))
            set |= tuned_method(t, coll, bytes);
    }
    return set;
}

static int64_t mean_bytes(const sk_setup *s, int family)
{
    int64_t blocks = s->words[WORD_SIZES + 2 * family + 1];
    return blocks ? s->words[WORD_SIZES + 2 * family] / blocks : -1;
}

/* Rounded to a power of two, because each new value makes all plans anew. */
static void set_typical(sk_topo *t, int64_t bytes)
{
    int64_t rounded = 1;
    while (rounded < bytes)
        rounded *= 2;
    if (bytes >= 0 && rounded != t->neighborhood.base.typical) {
        t->neighborhood.base.typical = rounded;
        t->neighborhood.version++;
    }
}

/* The same on every rank. */
static unsigned decide(sk_setup *s, sk_topo *t, const sk_comm *c)
{
    const sk_settings *set = sk_select_settings(sk_proc.select);
    memcpy(t->size.intra, &s->words[WORD_EDGES], sizeof t->size.intra);
    s->opts = (sk_pattern_opts){.theta = (int)sk_settings_int(set, SK_SET_THETA),
                                .friends = (int)sk_settings_int(set, SK_SET_FRIENDS),
                                .cumulative = sk_settings_bool(set, SK_SET_CUMULATIVE),
                                .idle = t->idle};
    unsigned forced = forced_methods(c), make = forced, ever = forced;
    int64_t largest = -1;
    for (int family = 0; family < 2; family++) {
        int64_t bytes = mean_bytes(s, family);
        largest = bytes > largest ? bytes : largest;
        if (bytes >= 0)
            make |= tuned_methods(t, family, bytes) & ~(1u << SK_METHOD_DIRECT);
        for (int i = 0; i < SK_NMETHODS; i++) {
            if (i == SK_METHOD_DIRECT)
                continue;
            if (pays(t, i, &s->opts, family == 1, 1) ||
                pays(t, i, &s->opts, family == 1, SK_NEIGHBOR_SPLIT))
                ever |= 1u << i;
            if ((t->assumed && pays(t, i, &s->opts, family == 1, ASSUMED_BYTES)) ||
                (bytes >= 0 && pays(t, i, &s->opts, family == 1, bytes)))
                make |= 1u << i;
        }
    }
    t->never_pays = (ever | make) == 0;
    set_typical(t, largest);
    for (int i = 0; i < SK_NMETHODS; i++)
        if (t->pattern[i])
            make &= ~(1u << i);
    return make;
}

/* ---- negotiation ---- */

static bool fits_node(const sk_topo *t, const sk_comm *c)
{
    return sk_global_graph_bytes(c->nranks, t->size.edges) <=
           sk_settings_int(sk_select_settings(sk_proc.select), SK_SET_GRAPH_MEM);
}

static sk_status start_negotiation(sk_setup *s, const sk_topo *t, const sk_comm *c, int method)
{
    bool all = method == SK_NMETHODS;
    s->method = method;
    s->negotiator =
        all ? sk_gather_negotiator(t->graph, t->machine, &s->opts, s->make, t->size.edges)
            : sk_method_get((sk_method_id)method)->negotiator(t->graph, t->machine, &s->opts);
    if (!s->negotiator)
        return SK_NOMEM;
    int tag = tag_at(s, c, SK_SETUP_OWN_TAGS + (all ? 0 : method));
    int words_tag = tag_at(s, c, SK_SETUP_OWN_TAGS + SK_NMETHODS + (all ? 0 : method));
    int64_t before = s->channel.messages;
    sk_mpi_channel_end(&s->channel);
    sk_mpi_channel_init(&s->channel, c, tag, words_tag);
    s->channel.messages = before;
    return sk_negotiator_start(s->negotiator, &s->channel.base);
}

static void take_results(sk_setup *s, sk_topo *t)
{
    for (int i = 0; i < SK_NMETHODS; i++)
        if (s->negotiator->made[i]) {
            t->pattern[i] = s->negotiator->made[i];
            s->negotiator->made[i] = NULL;
        }
    sk_negotiator_free(s->negotiator);
    s->negotiator = NULL;
}

static int next_method(const sk_setup *s, int from)
{
    while (from < SK_NMETHODS && !(s->make >> from & 1))
        from++;
    return from;
}

static sk_status poll_negotiation(sk_setup *s, sk_topo *t, const sk_comm *c)
{
    sk_status st = SK_OK;
    if (!s->sent) {
        s->sent = true;
        st = start_negotiation(s, t, c, fits_node(t, c) ? SK_NMETHODS : next_method(s, 0));
    }
    while (st == SK_OK) {
        st = sk_mpi_channel_poll(&s->channel, s->negotiator, s->block);
        if (st != SK_OK)
            return st;
        take_results(s, t);
        int next = s->method == SK_NMETHODS ? SK_NMETHODS : next_method(s, s->method + 1);
        if (next == SK_NMETHODS)
            return SK_OK;
        st = start_negotiation(s, t, c, next);
    }
    return st;
}

/* ---- loads ---- */

static sk_status send_loads(sk_setup *s, const sk_topo *t, const sk_comm *c)
{
    for (int i = 0; i < SK_NMETHODS; i++)
        s->loads[i] = t->pattern[i] ? sk_load_of(t->pattern[i], t->machine) : (sk_load){0};
    for (int i = 0; i < SK_NMETHODS; i++)
        s->volumes[i] = s->loads[i].all;
    enum { WORDS = sizeof(sk_load) / sizeof(int64_t) };
    return set_sent(s, sk_own_allreduce(&s->coll, c, tag_at(s, c, 2), (int64_t *)s->loads,
                                        SK_NMETHODS * WORDS, SK_OP_MAX));
}

static sk_status send_volumes(sk_setup *s, const sk_comm *c)
{
    enum { WORDS = sizeof(sk_volume) / sizeof(int64_t) };
    return set_sent(s, sk_own_allreduce(&s->coll, c, tag_at(s, c, 3), (int64_t *)s->volumes,
                                        SK_NMETHODS * WORDS, SK_OP_SUM));
}

static int64_t sent(const sk_load *l)
{
    int64_t n = 0;
    for (int i = 0; i < SK_NLEVELS; i++)
        n += l->messages[i];
    return n / 2;
}

/* What the set-up cost and what a call will save: for the report. */
static void account(const sk_setup *s, const sk_topo *t)
{
    const sk_load *direct = &t->neighborhood.load[SK_METHOD_DIRECT], *best = direct;
    const sk_model *model = sk_select_model(sk_proc.select);
    double least = 0, was = 0;
    int64_t bytes = t->neighborhood.base.typical;
    for (int i = 0; i < SK_NMETHODS; i++) {
        if (!t->pattern[i])
            continue;
        double price = sk_price(model, t->machine, &t->neighborhood.load[i], false, bytes);
        if (i == SK_METHOD_DIRECT)
            was = least = price;
        if (price < least) {
            least = price;
            best = &t->neighborhood.load[i];
        }
    }
    double seconds = sk_host.Wtime() - s->since;
    sk_report_setup(sk_proc.report, seconds, s->channel.messages, sent(direct) - sent(best),
                    was > least ? (int64_t)(seconds / (was - least)) + 1 : 0);
}

static void finish(sk_setup *s, sk_topo *t)
{
    memcpy(t->neighborhood.load, s->loads, sizeof t->neighborhood.load);
    for (int i = 0; i < SK_NMETHODS; i++)
        t->neighborhood.load[i].all = s->volumes[i];
    for (int i = 0; i < SK_NMETHODS; i++)
        t->neighborhood.pattern[i] = t->pattern[i];
    t->neighborhood.version++;
    if (s->make)
        account(s, t);
}

/* ---- the state machine ---- */

static sk_status step(sk_setup *s, sk_topo *t, sk_comm *c)
{
    sk_status st = SK_OK;
    switch (s->at) {
    case AT_GRAPH:
        st = s->sent ? SK_OK : send_graph(s, t, c);
        if (st != SK_OK || (st = sk_own_coll_poll(&s->coll, s->block)) != SK_OK)
            return st;
        st = read_graph(s, t, c);
        go(s, AT_SIZES);
        return st;
    case AT_SIZES:
        st = s->sent ? SK_OK : send_sizes(s, t, c);
        if (st != SK_OK || (st = sk_own_coll_poll(&s->coll, s->block)) != SK_OK)
            return st;
        s->make = decide(s, t, c);
        go(s, s->make                                         ? AT_NEGOTIATE
              : t->neighborhood.load[SK_METHOD_DIRECT].stages ? AT_END
                                                              : AT_LOADS);
        return SK_OK;
    case AT_NEGOTIATE:
        st = poll_negotiation(s, t, c);
        if (st == SK_OK)
            go(s, AT_LOADS);
        return st;
    case AT_LOADS:
        st = s->sent ? SK_OK : send_loads(s, t, c);
        if (st != SK_OK || (st = sk_own_coll_poll(&s->coll, s->block)) != SK_OK)
            return st;
        go(s, AT_VOLUMES);
        return SK_OK;
    case AT_VOLUMES:
        st = s->sent ? SK_OK : send_volumes(s, c);
        if (st != SK_OK || (st = sk_own_coll_poll(&s->coll, s->block)) != SK_OK)
            return st;
        finish(s, t);
        go(s, AT_END);
        return SK_OK;
    case AT_END:
        break;
    }
    return SK_OK;
}

static sk_status begin(sk_topo *t)
{
    sk_setup *s = calloc(1, sizeof *s);
    if (!s)
        return SK_NOMEM;
    s->at = t->machine ? AT_SIZES : AT_GRAPH;
    s->tag = t->tag[t->done + 1];
    s->since = sk_host.Wtime();
    t->setup = s;
    return SK_OK;
}

static void end(sk_topo *t)
{
    free_setup(t->setup);
    t->setup = NULL;
}

sk_status sk_setup_poll(sk_topo *t, sk_comm *c, int number, bool block)
{
    SK_ASSERT(sk_process_locked());
    SK_ASSERT(number <= t->requested);
    while (t->done < number && t->status == SK_OK) {
        if (!t->setup) {
            if (t->waiting[t->done] > 0)
                return SK_AGAIN;
            if (t->never_pays)
                t->done++;
            else
                t->status = begin(t);
            continue;
        }
        t->setup->block = block;
        sk_status st = step(t->setup, t, c);
        if (st == SK_AGAIN)
            return st;
        if (st != SK_OK) {
            t->status = st;
            end(t);
        } else if (t->setup->at == AT_END) {
            end(t);
            sk_topo_mark_host_colls(t, c);
            t->done++;
        }
    }
    return t->status;
}

/* SK_AGAIN while a set-up or a call that waits for one is not done. */
static sk_status poll_all(sk_topo *t, sk_comm *c)
{
    pthread_mutex_lock(&sk_proc.lock);
    sk_status st = sk_setup_poll(t, c, t->requested, !sk_proc.threads && sk_host_may_wait());
    if (st == SK_OK && sk_topo_setup_pending(t))
        st = SK_AGAIN;
    pthread_mutex_unlock(&sk_proc.lock);
    return st;
}

sk_status sk_setup_wait(sk_topo *t, sk_comm *c)
{
    sk_status st;
    SK_WAIT_UNTIL(sk_proc.wait, (st = poll_all(t, c)) != SK_AGAIN, sk_progress());
    return st;
}
