/* setup.c: how the ranks of a communicator come to patterns: a state machine that never waits, so
 * that a nonblocking call can start it and go.
 *
 *   wire      the private duplicate is there
 *   locations     once: who sits where, how many neighbours everybody has
 *   notes     edges by level and the sizes of calls; all decide alike which patterns would pay
 *   talk      make them: by the whole graph where it fits in memory, else method by method
 *   loads     what they cost the busiest rank: by this calls choose
 *
 * Without anything to gain it ends after the notes. */
#include <stdlib.h>
#include <string.h>

#include "mpi/hook.h"
#include "mpi/mpi_talk.h"
#include "mpi/topo.h"

typedef enum stage { AT_WIRE, AT_LOCATIONS, AT_NOTES, AT_TALK, AT_LOADS, AT_END } stage;

typedef struct location_note { /* what a rank says of itself */
    sk_location location;
    int32_t cores, targets, sources, traits;
} location_note;

/* Traits: see sk_topo; above them the most edges from this rank to another. */
enum { IDLE = 1, PARALLEL = 2, ALONE = 4, EDGES_SHIFT = 8, MOST_EDGES = 1 << 20 };

enum { NOTE_NEAR, NOTE_SEEN = SK_NLEVELS, NNOTES = SK_NLEVELS + 4 };

typedef struct sk_setup {
    stage at;
    bool asked; /* the messages of this stage are under way */
    bool block; /* this time they may be waited for */
    int tag;
    double since;
    MPI_Request request;
    location_note *locations;
    int64_t notes[NNOTES];
    unsigned make; /* methods to make, a bit each */
    int method;    /* being made; SK_NMETHODS: all at once */
    sk_pattern_opts opts;
    sk_negotiator *negotiator;
    sk_mpi_channel channel;
    sk_load loads[SK_NMETHODS];
} sk_setup;

void sk_setup_free(sk_setup *s)
{
    if (!s)
        return;
    sk_negotiator_free(s->negotiator);
    sk_mpi_channel_end(&s->channel);
    free(s->locations);
    free(s);
}

/* In place, all together. Without good nonblocking ones the request stays MPI_REQUEST_NULL. */
#if SK_HAVE_IALLGATHER
#define START_ALLGATHER(data, bytes, comm, request)                                                \
    PMPI_Iallgather(MPI_IN_PLACE, 0, MPI_BYTE, data, bytes, MPI_BYTE, comm, request)
#define START_ALLREDUCE(data, n, op, comm, request)                                                \
    PMPI_Iallreduce(MPI_IN_PLACE, data, n, MPI_INT64_T, op, comm, request)
#else
#define START_ALLGATHER(data, bytes, comm, request)                                                \
    PMPI_Allgather(MPI_IN_PLACE, 0, MPI_BYTE, data, bytes, MPI_BYTE, comm)
#define START_ALLREDUCE(data, n, op, comm, request)                                                \
    PMPI_Allreduce(MPI_IN_PLACE, data, n, MPI_INT64_T, op, comm)
#endif

/* The request of the stage is over. */
static sk_status answered(sk_setup *s)
{
    int done = 1;
    int rc = s->block ? PMPI_Wait(&s->request, MPI_STATUS_IGNORE)
                      : PMPI_Test(&s->request, &done, MPI_STATUS_IGNORE);
    if (rc != MPI_SUCCESS)
        return SK_WIRE;
    return done ? SK_OK : SK_AGAIN;
}

static sk_status ask(sk_setup *s, int rc)
{
    s->asked = rc == MPI_SUCCESS;
    return s->asked ? SK_OK : SK_WIRE;
}

static void go(sk_setup *s, stage at)
{
    s->at = at;
    s->asked = false;
}

/* ---- locations ---- */

static sk_status ask_locations(sk_setup *s, const sk_topo *t, const sk_comm *c)
{
    s->locations = calloc((size_t)c->nranks, sizeof *s->locations);
    if (!s->locations)
        return SK_NOMEM;
    location_note *mine = &s->locations[c->rank];
    int cores = 0;
    mine->location = sk_location_here(&cores);
    mine->cores = cores;
    mine->targets = t->graph->ntargets;
    mine->sources = t->graph->nsources;
    const sk_graph *g = t->graph;
    if (g->nin + g->nout == 0)
        mine->traits |= IDLE;
    if (g->nin_sorted > g->nsources || g->nout_sorted > g->ntargets)
        mine->traits |= PARALLEL;
    if (!sk_hook_works())
        mine->traits |= ALONE;
    int edges = sk_graph_parallel(g);
    mine->traits |= (edges < MOST_EDGES ? edges : MOST_EDGES) << EDGES_SHIFT;
    return ask(s, START_ALLGATHER(s->locations, (int)sizeof *mine, c->wire, &s->request));
}

static sk_status read_locations(const sk_setup *s, sk_topo *t, const sk_comm *c)
{
    size_t n = (size_t)c->nranks;
    sk_location *locations = malloc(n * sizeof *locations);
    t->idle = malloc(n * sizeof *t->idle);
    sk_status st = SK_NOMEM;
    if (!locations || !t->idle)
        goto out;
    int cores = s->locations[0].cores;
    for (size_t i = 0; i < n; i++) {
        const location_note *note = &s->locations[i];
        locations[i] = note->location;
        t->idle[i] = note->traits & IDLE;
        t->lonely |= (note->traits & IDLE) != 0;
        t->parallel |= (note->traits & PARALLEL) != 0;
        t->alone |= (note->traits & ALONE) != 0;
        int edges = note->traits >> EDGES_SHIFT;
        t->neighborhood.parallel =
            edges > t->neighborhood.parallel ? edges : t->neighborhood.parallel;
        cores = note->cores < cores ? note->cores : cores;
        t->size.edges += note->targets;
        int64_t most = note->targets > note->sources ? note->targets : note->sources;
        t->size.most = most > t->size.most ? most : t->size.most;
    }
    st = sk_machine_new(c->nranks, locations, cores, &t->machine);
    t->neighborhood.machine = t->machine;
    t->neighborhood.lonely = t->lonely;
    t->neighborhood.parallel += t->neighborhood.parallel == 0;
out:
    free(locations);
    return st;
}

/* ---- notes ---- */

static sk_status ask_notes(sk_setup *s, sk_topo *t, const sk_comm *c)
{
    memset(s->notes, 0, sizeof s->notes);
    for (int i = 0; i < t->graph->ntargets; i++)
        s->notes[NOTE_NEAR + (int)sk_machine_level(t->machine, c->rank, t->graph->targets[i])]++;
    for (int i = 0; i < 2; i++) {
        s->notes[NOTE_SEEN + 2 * i] = t->seen[i].bytes;
        s->notes[NOTE_SEEN + 2 * i + 1] = t->seen[i].blocks;
        t->seen[i] = (sk_sizes){0};
    }
    return ask(s, START_ALLREDUCE(s->notes, NNOTES, MPI_SUM, c->wire, &s->request));
}

/* A pattern must promise this much to be made: its price is a guess, its making is not free. */
static const double worth = 0.9;
enum { MIDDLING = 256 }; /* bytes of a block, when patterns are made before any call */

static bool pays(const sk_topo *t, int method, const sk_pattern_opts *o, bool distinct,
                 int64_t bytes)
{
    const sk_model *model = sk_select_model(sk_proc.select);
    sk_load direct = sk_predict(SK_BY_DIRECT, t->machine, &t->size, o);
    sk_load load = sk_predict((sk_method_id)method, t->machine, &t->size, o);
    return sk_price(model, t->machine, &load, distinct, bytes) <
           worth * sk_price(model, t->machine, &direct, distinct, bytes);
}

/* Methods that a collective was told to use. */
static unsigned forced_methods(void)
{
    unsigned set = 0;
    for (int coll = 0; coll < SK_NCOLLS; coll++) {
        const sk_algo *a = sk_select_forced(sk_proc.select, (sk_coll)coll);
        int method =
            a && sk_coll_neighbor((sk_coll)coll) ? (int)sk_method_find(a->name) : SK_NMETHODS;
        if (method < SK_NMETHODS)
            set |= 1u << method;
    }
    return set;
}

static int64_t mean_bytes(const sk_setup *s, int family)
{
    int64_t blocks = s->notes[NOTE_SEEN + 2 * family + 1];
    return blocks ? s->notes[NOTE_SEEN + 2 * family] / blocks : -1;
}

/* Only a change of its power of two counts: each new value makes plans anew. */
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
static unsigned decide(sk_setup *s, sk_topo *t)
{
    const sk_settings *set = sk_select_settings(sk_proc.select);
    memcpy(t->size.intra, &s->notes[NOTE_NEAR], sizeof t->size.intra);
    s->opts = (sk_pattern_opts){.theta = (int)sk_settings_int(set, SK_SET_THETA),
                                .friends = (int)sk_settings_int(set, SK_SET_FRIENDS),
                                .cumulative = sk_settings_bool(set, SK_SET_CUMULATIVE),
                                .idle = t->idle};
    unsigned forced = forced_methods(), make = forced, ever = forced;
    int64_t largest = -1;
    for (int family = 0; family < 2; family++) {
        int64_t bytes = mean_bytes(s, family);
        largest = bytes > largest ? bytes : largest;
        for (int i = 0; i < SK_NMETHODS; i++) {
            if (i == SK_BY_DIRECT)
                continue;
            if (pays(t, i, &s->opts, family == 1, 1))
                ever |= 1u << i;
            if ((t->assumed && pays(t, i, &s->opts, family == 1, MIDDLING)) ||
                (bytes >= 0 && pays(t, i, &s->opts, family == 1, bytes)))
                make |= 1u << i;
        }
    }
    t->settled = (ever | make) == 0;
    set_typical(t, largest);
    for (int i = 0; i < SK_NMETHODS; i++)
        if (t->pattern[i])
            make &= ~(1u << i);
    return make;
}

/* ---- talk ---- */

static bool fits_node(const sk_topo *t, const sk_comm *c)
{
    return sk_global_graph_bytes(c->nranks, t->size.edges) <=
           sk_settings_int(sk_select_settings(sk_proc.select), SK_SET_GRAPH_MEM);
}

static sk_status start_talk(sk_setup *s, const sk_topo *t, const sk_comm *c, int method)
{
    bool all = method == SK_NMETHODS;
    s->method = method;
    s->negotiator =
        all ? sk_gather_negotiator(t->graph, t->machine, &s->opts, s->make, t->size.edges)
            : sk_method_get((sk_method_id)method)->negotiator(t->graph, t->machine, &s->opts);
    if (!s->negotiator)
        return SK_NOMEM;
    int tag = (int)((s->tag + (all ? 0 : method)) % sk_proc.tags);
    int words_tag = (int)((tag + SK_NMETHODS) % sk_proc.tags);
    int64_t before = s->channel.messages;
    sk_mpi_channel_end(&s->channel);
    sk_mpi_channel_init(&s->channel, c->wire, c->nranks, tag, words_tag);
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

static sk_status poll_talk(sk_setup *s, sk_topo *t, const sk_comm *c)
{
    sk_status st = SK_OK;
    if (!s->asked) {
        s->asked = true;
        st = start_talk(s, t, c, fits_node(t, c) ? SK_NMETHODS : next_method(s, 0));
    }
    while (st == SK_OK) {
        st = sk_mpi_channel_poll(&s->channel, s->negotiator, s->block);
        if (st != SK_OK)
            return st;
        take_results(s, t);
        int next = s->method == SK_NMETHODS ? SK_NMETHODS : next_method(s, s->method + 1);
        if (next == SK_NMETHODS)
            return SK_OK;
        st = start_talk(s, t, c, next);
    }
    return st;
}

/* ---- loads ---- */

static sk_status ask_loads(sk_setup *s, const sk_topo *t, const sk_comm *c)
{
    for (int i = 0; i < SK_NMETHODS; i++)
        s->loads[i] = t->pattern[i] ? sk_load_of(t->pattern[i], t->machine) : (sk_load){0};
    enum { WORDS = sizeof(sk_load) / sizeof(int64_t) };
    return ask(s, START_ALLREDUCE(s->loads, SK_NMETHODS * WORDS, MPI_MAX, c->wire, &s->request));
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
    const sk_load *direct = &t->neighborhood.load[SK_BY_DIRECT], *best = direct;
    const sk_model *model = sk_select_model(sk_proc.select);
    double least = 0, was = 0;
    int64_t bytes = t->neighborhood.base.typical;
    for (int i = 0; i < SK_NMETHODS; i++) {
        if (!t->pattern[i])
            continue;
        double price = sk_price(model, t->machine, &t->neighborhood.load[i], false, bytes);
        if (i == SK_BY_DIRECT)
            was = least = price;
        if (price < least) {
            least = price;
            best = &t->neighborhood.load[i];
        }
    }
    double seconds = PMPI_Wtime() - s->since;
    sk_report_setup(sk_proc.report, seconds, s->channel.messages, sent(direct) - sent(best),
                    was > least ? (int64_t)(seconds / (was - least)) + 1 : 0);
}

static void finish(sk_setup *s, sk_topo *t)
{
    memcpy(t->neighborhood.load, s->loads, sizeof t->neighborhood.load);
    for (int i = 0; i < SK_NMETHODS; i++)
        t->neighborhood.pattern[i] = t->pattern[i];
    t->neighborhood.version++;
    if (s->make)
        account(s, t);
}

/* ---- the machine ---- */

static sk_status step(sk_setup *s, sk_topo *t, sk_comm *c)
{
    sk_status st = SK_OK;
    switch (s->at) {
    case AT_WIRE:
        st = sk_comm_wire(c);
        if (st == SK_OK)
            go(s, t->machine ? AT_NOTES : AT_LOCATIONS);
        return st;
    case AT_LOCATIONS:
        st = s->asked ? answered(s) : ask_locations(s, t, c);
        if (st != SK_OK || !s->locations || s->request != MPI_REQUEST_NULL)
            return st;
        st = read_locations(s, t, c);
        go(s, AT_NOTES);
        return st;
    case AT_NOTES:
        st = s->asked ? answered(s) : ask_notes(s, t, c);
        if (st != SK_OK || s->request != MPI_REQUEST_NULL)
            return st;
        s->make = decide(s, t);
        go(s, s->make ? AT_TALK : t->neighborhood.load[SK_BY_DIRECT].stages ? AT_END : AT_LOADS);
        return SK_OK;
    case AT_TALK:
        st = poll_talk(s, t, c);
        if (st == SK_OK)
            go(s, AT_LOADS);
        return st;
    case AT_LOADS:
        st = s->asked ? answered(s) : ask_loads(s, t, c);
        if (st != SK_OK || s->request != MPI_REQUEST_NULL)
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
    s->request = MPI_REQUEST_NULL;
    s->tag = t->tag[(t->done + 1) % SK_SETUPS];
    s->since = PMPI_Wtime();
    t->setup = s;
    return SK_OK;
}

sk_status sk_topo_poll(sk_topo *t, sk_comm *c, int number, bool block)
{
    while (t->done < number && t->status == SK_OK) {
        if (!t->setup) {
            if (t->waiting[t->done % SK_SETUPS] > 0)
                return SK_AGAIN;
            if (t->settled)
                t->done++;
            else
                t->status = begin(t);
            continue;
        }
        t->setup->block = block;
        sk_status st = step(t->setup, t, c);
        if (st == SK_AGAIN)
            return st;
        if (st != SK_OK)
            t->status = st;
        else if (t->setup->at == AT_END) {
            sk_setup_free(t->setup);
            t->setup = NULL;
            sk_topo_leave(t, c);
            t->done++;
        }
    }
    return t->status;
}
