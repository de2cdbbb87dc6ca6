/* main.c: the simulator's command prints a line of CSV for each method and size: the simulated time in us, the
 * price in us by which the library chooses, and messages between nodes. Then a line `skein` for what the library
 * would choose, and `best`. With --setup, for each method: the simulated time in us until all ranks have their
 * patterns, CPU time in us of the busiest rank, messages, bytes, and bytes of memory of a rank; and the us of CPU time from
 * pattern to schedule. */
#include <argp.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers.h"
#include "lab/sim/neighbor.h"
#include "lab/sim/setup.h"

enum { MOST = 32, THETA = 4 };

typedef struct sim_options {
    const char *graph, *machine, *prices, *label;
    int64_t ranks, bytes[MOST];
    const char *method[MOST];
    int nbytes, nmethods;
    bool setup, messages;
} sim_options;

typedef struct sim_result {       /* of a method and each size */
    double price[MOST], us[MOST]; /* its price by the library; its simulated time */
    bool made[MOST];              /* the library would make its pattern */
} sim_result;

static const struct argp_option options[] = {
    {"graph", 'g', "GRAPH", 0, "random:DELTA[,SEED], moore:D,R or matrix:FILE", 0},
    {"ranks", 'n', "P", 0, "ranks", 0},
    {"machine", 'm', "TEXT", 0, "such as \"node:60 socket:2 core:18\"", 0},
    {"prices", 'p', "FILE", 0, "of the cluster, such as sim/niagara.prices", 0},
    {"bytes", 'b', "N,N...", 0, "sizes of a block; K and M may follow", 0},
    {"methods", 'a', "NAME,NAME...", 0,
     "direct, common[:FRIENDS], halving, node ... (default: all)", 0},
    {"setup", 's', NULL, 0,
     "simulate the set-up: by the protocols of the methods; gather:NAME: planned by one rank of "
     "each node",
     0},
    {"messages", 'M', NULL, 0, "no shared memory: ranks of a node send each other messages", 0},
    {"label", 'l', "TEXT", 0, "last column (default: the graph)", 0},
    {0}};

static bool add_sizes(sim_options *o, char *list)
{
    for (char *w = strtok(list, ","); w; w = strtok(NULL, ","))
        if (o->nbytes == MOST || !sk_read_number(w, true, &o->bytes[o->nbytes++]))
            return false;
    return true;
}

static error_t take(int key, char *value, struct argp_state *state)
{
    sim_options *o = state->input;
    switch (key) {
    case 'g':
        o->graph = value;
        return 0;
    case 'm':
        o->machine = value;
        return 0;
    case 'p':
        o->prices = value;
        return 0;
    case 'l':
        o->label = value;
        return 0;
    case 's':
        o->setup = true;
        return 0;
    case 'M':
        o->messages = true;
        return 0;
    case 'n':
        if (!sk_read_number(value, false, &o->ranks))
            argp_error(state, "%s is no number of ranks", value);
        return 0;
    case 'b':
        if (!add_sizes(o, value))
            argp_error(state, "--bytes takes up to %d sizes", MOST);
        return 0;
    case 'a':
        for (char *w = strtok(value, ","); w && o->nmethods < MOST; w = strtok(NULL, ","))
            o->method[o->nmethods++] = w;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static sk_status read_prices(const char *file, sk_prices *p, char *err, size_t size)
{
    enum { LONGEST = 1 << 16 };
    static char text[LONGEST];
    FILE *f = fopen(file, "r");
    if (!f) {
        snprintf(err, size, "%s cannot be read", file);
        return SK_BADARG;
    }
    size_t n = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    text[n] = '\0';
    return sk_prices_read(text, p, err, size);
}

static int failed(const char *what, const char *why)
{
    fprintf(stderr, "skein-sim: %s: %s\n", what, why);
    return 1;
}

static void row(const sim_options *o, const char *series, int i, const sim_result *r,
                int64_t messages, const char *chosen)
{
    printf("%s,%" PRId64 ",%.3f,%.3f,%" PRId64 ",%" PRId64 ",%s,%s\n", series, o->bytes[i],
           r->us[i], r->price[i], messages, o->ranks, chosen, o->label);
    fflush(stdout);
}

/* As sk_select_choose does. */
static int chosen(const sim_options *o, const sim_result *r, int i)
{
    int cheapest = 0;
    for (int k = 1; k < o->nmethods; k++) {
        double limit = r[cheapest].price[i] * (cheapest == 0 ? SK_WORTHWHILE : 1);
        cheapest = r[k].made[i] && r[k].price[i] < limit ? k : cheapest;
    }
    return cheapest;
}

/* What the library would choose, and what is best. The first method is `direct`. */
static void choose(const sim_options *o, const sim_result *r)
{
    for (int i = 0; i < o->nbytes; i++) {
        int cheapest = chosen(o, r, i), best = 0;
        for (int k = 1; k < o->nmethods; k++)
            best = r[k].us[i] < r[best].us[i] ? k : best;
        row(o, "skein", i, &r[cheapest], 0, o->method[cheapest]);
        row(o, "best", i, &r[best], 0, o->method[best]);
    }
}

/* What the library would measure in MPI_Init. */
static sk_network network_of(const sk_prices *p)
{
    enum { PS = 1000 }; /* of a ns */
    const sk_level_prices *net = &p->level[SK_AT_NET];
    return (sk_network){.latency = (int64_t)(PS * (net->send + net->latency + net->recv)),
                        .message = (int64_t)(PS * (net->send + net->recv) / 2),
                        .byte = (int64_t)(PS * p->port_byte)};
}

static sk_copy_prices copies_of(const sk_prices *p)
{
    const double FS = 1e6; /* of a ns */
    const sk_level_prices *socket = &p->level[SK_AT_SOCKET];
    return (sk_copy_prices){.fs = {[SK_PRICE_IN] = (int64_t)(FS * socket->in),
                                   [SK_PRICE_OUT] = (int64_t)(FS * socket->out),
                                   [SK_PRICE_COPY] = (int64_t)(FS * p->copy)}};
}

/* "common:4" is the method `common` with groups of 4 friends. */
static int simulate(const sim_options *o, const sk_sim *s, const char *word, sim_result *out)
{
    char name[32];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, ":"), word);
    const char *k = strchr(word, ':');
    sk_pattern_opts opts = {.theta = THETA, .friends = k ? atoi(k + 1) : 2};
    sk_method_id id = sk_method_find(name);
    sk_sim_method m;
    if (id == SK_NMETHODS)
        return failed(word, "is no method");
    sk_status st = sk_sim_method_new(s, id, &opts, &m);
    if (st != SK_OK)
        return failed(word, sk_status_text(st));
    sk_model model;
    char err[256];
    st = sk_model_parse(NULL, &model, err, sizeof err);
    sk_network network = network_of(s->prices);
    sk_copy_prices copies = copies_of(s->prices);
    sk_model_measured(&model, &network, &copies);
    for (int i = 0; i < o->nbytes && st == SK_OK; i++) {
        sk_priced t;
        st = sk_sim_call(s, &m, o->bytes[i], &t);
        if (st != SK_OK)
            break;
        out->us[i] = t.ns / 1000;
        out->price[i] = 1e6 * sk_price(&model, s->machine, &m.load, false, o->bytes[i]);
        out->made[i] = sk_predict_pays(id, &model, s->machine, &s->size, &opts, false, o->bytes[i]);
        row(o, word, i, out, m.off_node, "");
    }
    sk_sim_method_free(s, &m);
    return st == SK_OK ? 0 : failed(word, sk_status_text(st));
}

/* The paper's phase 2. */
static sk_status schedule_time(const sk_sim *s, sk_method_id id, const sk_pattern_opts *opts,
                               double *ns)
{
    enum { BYTES = 256 };
    sk_sim_method m;
    sk_status st = sk_sim_method_new(s, id, opts, &m);
    if (st != SK_OK)
        return st;
    st = sk_sim_schedule(s, &m, BYTES, ns);
    sk_sim_method_free(s, &m);
    return st;
}

static int simulate_setup(const sim_options *o, const sk_sim *s, const char *word)
{
    bool gather = !strncmp(word, "gather:", 7);
    sk_pattern_opts opts = {.theta = THETA, .friends = 2};
    sk_method_id id = sk_method_find(gather ? word + 7 : word);
    sk_sim_agreed t;
    if (id == SK_NMETHODS)
        return failed(word, "is no method");
    sk_status st = sk_sim_setup(s, gather ? SK_NMETHODS : id, id, &opts, &t);
    if (st != SK_OK)
        return failed(word, sk_status_text(st));
    double schedule;
    st = schedule_time(s, id, &opts, &schedule);
    if (st != SK_OK)
        return failed(word, sk_status_text(st));
    printf("%s,%" PRId64 ",%.1f,%.1f,%" PRId64 ",%" PRId64 ",%.0f,%.1f,%s\n", word, o->ranks,
           t.ns / 1000, t.work / 1000, t.messages, t.bytes, t.memory, schedule / 1000, o->label);
    fflush(stdout);
    return 0;
}

static int simulate_calls(const sim_options *o, const sk_sim *s)
{
    sim_result *r = calloc((size_t)o->nmethods, sizeof *r);
    int rc = !r;
    for (int i = 0; i < o->nmethods && rc == 0; i++)
        rc = simulate(o, s, o->method[i], &r[i]);
    if (rc == 0)
        choose(o, r);
    free(r);
    return rc;
}

int main(int argc, char **argv)
{
    static const struct argp parser = {.options = options, .parser = take};
    sim_options o = {0};
    char err[512] = "";
    sk_prices prices = sk_prices_usual();
    sk_machine *m = NULL;
    sk_sim s;
    argp_parse(&parser, argc, argv, 0, NULL, &o);
    if (!o.graph || !o.machine || o.ranks < 1 || (o.nbytes == 0 && !o.setup))
        return failed("usage", "--graph, --machine, --ranks and --bytes are needed");
    if (o.prices && read_prices(o.prices, &prices, err, sizeof err) != SK_OK)
        return failed(o.prices, err);
    if (sk_machine_parse(o.machine, (int)o.ranks, &m, err, sizeof err) != SK_OK)
        return failed(o.machine, err);
    if (sk_sim_new(o.graph, m, &prices, &s, err, sizeof err) != SK_OK)
        return failed(o.graph, err);
    s.slot_bytes = o.messages ? 0 : s.slot_bytes;
    o.label = o.label ? o.label : o.graph;
    printf("%s\n", o.setup ? "series,x,y,work,messages,bytes,memory,schedule,graph"
                           : "series,x,y,price,messages,ranks,chosen,graph");
    for (int i = 0; i < SK_NMETHODS && o.method[i] == NULL; i++)
        o.method[o.nmethods++] = sk_method_get((sk_method_id)i)->name;
    int rc = 0;
    if (!o.setup)
        rc = simulate_calls(&o, &s);
    for (int i = 0; i < o.nmethods && o.setup && rc == 0; i++)
        rc = simulate_setup(&o, &s, o.method[i]);
    sk_sim_free(&s);
    sk_machine_free(m);
    return rc;
}
