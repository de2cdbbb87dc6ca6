/* neighbor.c: `skein explain neighbor`: what each method would send for a neighbourhood collective
 * on a given graph and machine.
 *
 * Nothing runs: the patterns of all ranks are planned in this process and counted. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "callspec.h"
#include "cli.h"
#include "commands.h"
#include "lab/graph/spec.h"
#include "lab/neighbor/equations.h"
#include "neighbor/cost/model.h"
#include "neighbor/cost/predict.h"
#include "neighbor/method.h"
#include "neighbor_choice.h"
#include "select/select.h"
#include "topo/global_graph.h"

enum {
    MAX_RANKS = 65536,
    MAX_PEERS = 8,        /* listed for each stage of a rank; a dense graph has hundreds */
    BYTES_PER_EDGE = 256, /* memory for the blocks of the largest pattern while it grows */
};
static const int64_t MAX_BYTES = (int64_t)1 << 40;

typedef struct neighbor_problem {
    /* The command line. Empty machine or model: the default. */
    const char *graph_text, *machine_text, *model_text;
    sk_coll coll;
    int64_t nranks, bytes; /* bytes of a block; -1: not given */
    int64_t rank;          /* whose messages are listed; -1: none */
    int64_t theta, friends;
    sk_pattern_opts opts;

    sk_select *select;
    sk_tool_tuning tuning;
    /* What the texts describe. */
    sk_machine *machine;
    sk_model model;
    sk_global_graph *graph;
    bool *idle; /* by rank: it has no neighbours */
    sk_graph_size size;
    bool distinct; /* alltoall: a block of its own for each neighbour */
} neighbor_problem;

/* What one rank sends: by level, and in all at SK_NLEVELS. */
typedef struct sent_counts {
    int64_t messages[SK_NLEVELS + 1], blocks[SK_NLEVELS + 1];
} sent_counts;

typedef struct method_result {
    const sk_method *method;
    sent_counts total, most; /* over all ranks */
    sk_load load;            /* the largest of all ranks; the model prices it */
    sk_load predicted;       /* the same as predicted before planning */
    double planning;         /* seconds of CPU to plan the patterns of all ranks */
    sk_pattern *shown;       /* of the rank that is listed, or NULL */
} method_result;

/* The command line. */

enum {
    GRAPH = SK_CLI_KEY,
    RANKS,
    BYTES,
    MACHINE,
    COLLECTIVE,
    MODEL,
    THETA,
    FRIENDS,
    CUMULATIVE,
    RANK,
};

static const struct argp_option options[] = {
    {"graph", GRAPH, "GRAPH", 0, "random:DELTA[,SEED], moore:D,R or matrix:FILE", 0},
    {"ranks", RANKS, "P", 0, "ranks of the communicator", 0},
    {"bytes", BYTES, "N", 0, "size of a block; K, M, G may follow", 0},
    {"machine", MACHINE, "TEXT", 0,
     "such as \"node:60 socket:2 core:18\" (default: one node with all ranks); map:rr, "
     "map:rr-socket or map:shuffle[:SEED] may follow",
     0},
    {"collective", COLLECTIVE, "NAME", 0,
     "allgather (default) or alltoall, also in their v and w forms", 0},
    {"model", MODEL, "TEXT", 0,
     "cost of messages, such as \"socket:0.3us,10GB node:0.5us,8GB net:1.5us,12GB message:0.25us "
     "stage:40us\"",
     0},
    {"theta", THETA, "N", 0, "common neighbours that make two ranks friends (default: 4)", 0},
    {"friends", FRIENDS, "K", 0, "ranks in a group of friends (default: 2)", 0},
    {"cumulative", CUMULATIVE, NULL, 0, "combine onloaded neighbours again", 0},
    {"rank", RANK, "R", 0, "list the messages of this rank too", 0},
    {0}};

static bool take(void *ctx, int key, const char *value);

static const sk_cli cli = {
    .command = "skein explain neighbor",
    .args = "--graph=GRAPH --ranks=P --bytes=N",
    .about =
        "Plan a neighbourhood collective by every method of Skein, without an MPI, and show what a "
        "rank sends and how long a call should take.",
    .options = options,
    .take = take};

static bool find_coll(neighbor_problem *x, const char *name)
{
    const char *names[SK_NCOLLS + 1] = {0};
    int n = 0;
    for (int i = 0; i < SK_NCOLLS; i++)
        if (sk_coll_neighbor((sk_coll)i))
            names[n++] = sk_coll_name((sk_coll)i) + sizeof "neighbor_" - 1;
    x->coll = sk_neighbor_coll_find(name);
    return x->coll != SK_NCOLLS || sk_cli_unknown(&cli, "neighbourhood collective", name, names);
}

static bool take(void *ctx, int key, const char *value)
{
    neighbor_problem *x = ctx;
    switch (key) {
    case SK_CLI_WORD:
        return sk_cli_error(&cli, "%s is no option; a graph is given as --graph %s", value, value);
    case GRAPH:
        x->graph_text = value;
        return true;
    case RANKS:
        return sk_cli_number(&cli, key, value, 1, MAX_RANKS, &x->nranks);
    case BYTES:
        return sk_cli_number(&cli, key, value, 0, MAX_BYTES, &x->bytes);
    case MACHINE:
        x->machine_text = value;
        return true;
    case COLLECTIVE:
        return find_coll(x, value);
    case MODEL:
        x->model_text = value;
        return true;
    case THETA:
        return sk_cli_number(&cli, key, value, 1, MAX_RANKS, &x->theta);
    case FRIENDS:
        return sk_cli_number(&cli, key, value, 2, MAX_RANKS, &x->friends);
    case CUMULATIVE:
        x->opts.cumulative = true;
        return true;
    default:
        return sk_cli_number(&cli, key, value, 0, MAX_RANKS - 1, &x->rank);
    }
}

/* The settings stand where an option is not given. */
static neighbor_problem defaults(const sk_settings *set)
{
    return (neighbor_problem){.coll = SK_NEIGHBOR_ALLGATHER,
                              .machine_text = sk_settings_text(set, SK_SET_MACHINE),
                              .model_text = sk_settings_text(set, SK_SET_MODEL),
                              .bytes = -1,
                              .rank = -1,
                              .theta = sk_settings_int(set, SK_SET_THETA),
                              .friends = sk_settings_int(set, SK_SET_FRIENDS),
                              .opts.cumulative = sk_settings_bool(set, SK_SET_CUMULATIVE)};
}

static bool check_options(neighbor_problem *x)
{
    if (!x->graph_text)
        return sk_cli_error(&cli,
                            "--graph is needed: random:DELTA[,SEED], moore:D,R or matrix:FILE");
    if (x->nranks == 0)
        return sk_cli_error(&cli, "--ranks from 1 to %d is needed", MAX_RANKS);
    if (x->bytes < 0)
        return sk_cli_error(&cli, "--bytes is needed: the size of a block, up to %" PRId64,
                            MAX_BYTES);
    if (x->rank >= x->nranks)
        return sk_cli_error(&cli, "--rank takes a number from 0 to %" PRId64 ", not %" PRId64,
                            x->nranks - 1, x->rank);
    x->opts.theta = (int)x->theta;
    x->opts.friends = (int)x->friends;
    x->distinct = x->coll >= SK_NEIGHBOR_ALLTOALL;
    return true;
}

/* The graph, the machine and the model, from their descriptions. */

static bool memory_suffices(const sk_global_graph *g)
{
    double have = 0.8 * (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    return (double)sk_global_graph_edges(g) * BYTES_PER_EDGE < have;
}

static sk_status read_graph(neighbor_problem *x, char *err, size_t size)
{
    sk_spec *spec = NULL;
    sk_status st = sk_spec_new(x->graph_text, (int)x->nranks, &spec, err, size);
    if (st != SK_OK)
        return st;
    st = sk_spec_whole(spec, &x->graph);
    if (st != SK_OK)
        snprintf(err, size, "%s", sk_status_text(st));
    sk_spec_free(spec);
    return st;
}

static sk_status read_machine(neighbor_problem *x, char *err, size_t size)
{
    char one_node[64];
    snprintf(one_node, sizeof one_node, "node:1 core:%d", (int)x->nranks);
    return sk_machine_parse(*x->machine_text ? x->machine_text : one_node, (int)x->nranks,
                            &x->machine, err, size);
}

/* Counts what the ranks agree on before they plan, and finds those without neighbours. */
static sk_status count_edges(neighbor_problem *x)
{
    const sk_global_graph *g = x->graph;
    int p = sk_global_graph_nranks(g);
    int *targets = malloc((size_t)p * sizeof *targets);
    sk_reach *reach = malloc((size_t)p * sizeof *reach);
    x->idle = calloc((size_t)p, sizeof *x->idle);
    if (!targets || !reach || !x->idle) {
        free(targets);
        free(reach);
        return SK_NOMEM;
    }
    x->size = (sk_graph_size){.edges = sk_global_graph_edges(g)};
    for (int r = 0; r < p; r++) {
        int out = sk_global_graph_degree(g, r, false), in = sk_global_graph_degree(g, r, true);
        int more = out > in ? out : in;
        x->idle[r] = more == 0;
        if (more > x->size.most)
            x->size.most = more;
        sk_global_graph_targets(g, r, targets);
        for (int i = 0; i < out; i++)
            x->size.intra[sk_machine_level(x->machine, r, targets[i])]++;
        reach[r] = sk_reach_of(targets, out, x->machine, r);
    }
    sk_reach_sum(reach, x->machine, &x->size);
    x->opts.idle = x->idle;
    free(targets);
    free(reach);
    return SK_OK;
}

/* 0, or the exit status after a message. */
static int read_problem(neighbor_problem *x)
{
    char err[512] = "out of memory";
    if (sk_model_parse(x->model_text, &x->model, err, sizeof err) != SK_OK ||
        read_machine(x, err, sizeof err) != SK_OK || read_graph(x, err, sizeof err) != SK_OK) {
        sk_cli_error(&cli, "%s", err);
        return SK_CLI_WRONG;
    }
    if (!memory_suffices(x->graph)) {
        sk_cli_error(&cli, "%" PRId64 " edges are more than this machine has memory for",
                     sk_global_graph_edges(x->graph));
        return 1;
    }
    if (count_edges(x) != SK_OK) {
        sk_cli_error(&cli, "%s", err);
        return 1;
    }
    return 0;
}

/* Counting. */

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* An allgather message carries each source's block once. Blocks of one source are adjacent. */
static int64_t blocks_of(const sk_pattern_view *v, const sk_bundle *h, bool distinct)
{
    int64_t n = h->n;
    for (uint32_t i = h->first + 1; !distinct && i < h->first + h->n; i++)
        n -= v->blocks[i].src == v->blocks[i - 1].src;
    return n;
}

static sent_counts sent_by(const sk_pattern *p, const sk_machine *m, bool distinct)
{
    const sk_pattern_view *v = sk_pattern_view_get(p);
    sent_counts s = {0};
    for (size_t i = 0; i < v->nbundles; i++) {
        const sk_bundle *h = &v->bundles[i];
        if (!h->out)
            continue;
        sk_level level = sk_machine_level(m, v->rank, h->peer);
        int64_t blocks = blocks_of(v, h, distinct);
        s.messages[level]++;
        s.messages[SK_NLEVELS]++;
        s.blocks[level] += blocks;
        s.blocks[SK_NLEVELS] += blocks;
    }
    return s;
}

static void add_rank(method_result *t, const sent_counts *s)
{
    for (int k = 0; k <= SK_NLEVELS; k++) {
        t->total.messages[k] += s->messages[k];
        t->total.blocks[k] += s->blocks[k];
        if (s->messages[k] > t->most.messages[k])
            t->most.messages[k] = s->messages[k];
        if (s->blocks[k] > t->most.blocks[k])
            t->most.blocks[k] = s->blocks[k];
    }
}

/* Plans for all ranks, counts, and frees all patterns but the one to be shown. */
static sk_status count_method(const neighbor_problem *x, sk_method_id id, method_result *out)
{
    int p = (int)x->nranks;
    int *ranks = malloc((size_t)p * sizeof *ranks);
    sk_pattern **patterns = calloc((size_t)p, sizeof(sk_pattern *));
    method_result t = {.method = sk_method_get(id)};
    sk_status st = SK_NOMEM;
    if (!ranks || !patterns)
        goto out;
    for (int r = 0; r < p; r++)
        ranks[r] = r;
    double begin = cpu_seconds();
    st = t.method->plan(x->graph, x->machine, &x->opts, ranks, p, patterns);
    if (st != SK_OK)
        goto out;
    t.planning = cpu_seconds() - begin;
    sk_predict(id, x->machine, &x->size, &x->opts, &t.predicted);
    for (int r = 0; r < p; r++) {
        sent_counts sent = sent_by(patterns[r], x->machine, x->distinct);
        sk_load load = sk_load_of(patterns[r], x->machine);
        add_rank(&t, &sent);
        sk_load_join(&t.load, &load);
        if (r == x->rank)
            t.shown = patterns[r];
        else
            sk_pattern_free(patterns[r]);
    }
    *out = t;
out:
    free(patterns);
    free(ranks);
    return st;
}

static sk_status count_methods(const neighbor_problem *x, method_result *t)
{
    bool progress = isatty(STDERR_FILENO);
    sk_status st = SK_OK;
    for (int i = 0; i < SK_NMETHODS && st == SK_OK; i++) {
        if (progress)
            fprintf(stderr, "\rplanning: %s\033[K", sk_method_get((sk_method_id)i)->name);
        st = count_method(x, (sk_method_id)i, &t[i]);
    }
    if (progress)
        fprintf(stderr, "\r\033[K");
    return st;
}

/* Seconds of a call with blocks of `bytes`, by the model. */
static double price(const neighbor_problem *x, const sk_load *load, int64_t bytes)
{
    return sk_price(&x->model, x->machine, load, x->distinct, bytes);
}

/* Printing. */

static const char *time_text(double seconds, char *buf, size_t size)
{
    static const char *const units[] = {"us", "ms", "s"};
    double n = 1e6 * seconds;
    int u = 0;
    while (u < 2 && n >= 1000) {
        n /= 1000;
        u++;
    }
    snprintf(buf, size, "%.*f %s", n < 10 ? 2 : n < 100 ? 1 : 0, n, units[u]);
    return buf;
}

/* The method with the lowest price, of those from `first` on. */
static int cheapest(const neighbor_problem *x, const method_result *t, int first)
{
    int best = first;
    for (int i = first + 1; i < SK_NMETHODS; i++)
        if (price(x, &t[i].load, x->bytes) < price(x, &t[best].load, x->bytes))
            best = i;
    return best;
}

static void print_problem(const neighbor_problem *x)
{
    const sk_machine *m = x->machine;
    const sk_model *c = &x->model;
    int64_t all = x->size.edges;
    int p = (int)x->nranks;
    printf("%s on %d ranks, blocks of %" PRId64 " bytes\n", sk_coll_name(x->coll), p, x->bytes);
    printf("graph    %s: %" PRId64 " edges, %.1f per rank, %" PRId64 " at most;", x->graph_text,
           all, (double)all / p, x->size.most);
    for (int k = 0; k < SK_NLEVELS; k++)
        printf(" %s %.1f %%%s", sk_level_name((sk_level)k),
               all ? 100 * (double)x->size.intra[k] / (double)all : 0,
               k + 1 < SK_NLEVELS ? "," : "\n");
    printf("machine  %d nodes, %d sockets; up to %d ranks on a node, %d on a socket%s\n", m->nnodes,
           m->nsockets, m->max_per_node, m->max_per_socket,
           m->in_order ? "" : "; ranks are not in order of location");
    printf("model   ");
    for (int k = 0; k < SK_NLEVELS; k++)
        printf(" %s:%.4gus,%.4gGB", sk_level_name((sk_level)k), 1e6 * c->alpha[k],
               1e-9 / c->beta[k]);
    printf(" stage:%.4gus\n", 1e6 * c->stage);
}

/* One table: messages, or blocks in bytes. */
static void print_sent(const neighbor_problem *x, const method_result *t, int best, bool bytes)
{
    double unit = bytes ? (double)x->bytes : 1;
    printf("\n  %-24s", bytes ? "bytes sent by a rank" : "messages sent by a rank");
    for (int k = 0; k <= SK_NLEVELS; k++)
        printf(" %21s", k < SK_NLEVELS ? sk_level_name((sk_level)k) : "all");
    printf("\n  %-16s %7s", "", "stages");
    for (int k = 0; k <= SK_NLEVELS; k++)
        printf(" %10s %10s", "mean", "most");
    for (int i = 0; i < SK_NMETHODS; i++) {
        printf("\n%c %-16s %7" PRId64, i == best ? '*' : ' ', t[i].method->name, t[i].load.stages);
        for (int k = 0; k <= SK_NLEVELS; k++) {
            const sent_counts *sum = &t[i].total, *most = &t[i].most;
            printf(" %10.1f %10.0f",
                   unit * (double)(bytes ? sum->blocks[k] : sum->messages[k]) / (double)x->nranks,
                   unit * (double)(bytes ? most->blocks[k] : most->messages[k]));
        }
    }
    printf("\n");
}

static void print_times(const neighbor_problem *x, const method_result *t, int best)
{
    char a[32], b[32], c[32];
    printf("\n  %-24s %21s %21s %21s\n", "predicted time of a call", "from the pattern",
           "before planning", "planning all ranks");
    for (int i = 0; i < SK_NMETHODS; i++)
        printf("%c %-24s %21s %21s %21s\n", i == best ? '*' : ' ', t[i].method->name,
               time_text(price(x, &t[i].load, x->bytes), a, sizeof a),
               time_text(price(x, &t[i].predicted, x->bytes), b, sizeof b),
               time_text(t[i].planning, c, sizeof c));
}

/* Compares distance halving with the expectation of the paper, which is for random graphs. */
static void print_equations(const neighbor_problem *x, const method_result *t)
{
    static const char random[] = "random:";
    if (strncmp(x->graph_text, random, sizeof random - 1) != 0)
        return;
    double delta = strtod(x->graph_text + sizeof random - 1, NULL);
    int p = (int)x->nranks, per_socket = x->machine->max_per_socket;
    const sent_counts *sum = &t[SK_METHOD_HALVING].total;
    double in = (double)sum->messages[SK_SOCKET] / p;
    printf("paper    distance halving sends off the socket and in it (equations 1 and 2): "
           "%.1f, %.1f; here %.1f, %.1f\n",
           sk_equation_off(p, per_socket, delta), sk_equation_in(p, per_socket, delta),
           (double)sum->messages[SK_NLEVELS] / p - in, in);
}

/* The block size at which the cheaper one of `other` and direct changes; -1 when it never does.
 * *other_below: `other` is the cheaper one below that size. */
static int64_t break_even(const neighbor_problem *x, const sk_load *direct, const sk_load *other,
                          bool *other_below)
{
    const int64_t most = (int64_t)1 << 32;
    int64_t low = 0, high = 1;
    *other_below = price(x, other, 0) < price(x, direct, 0);
    for (; high <= most; low = high, high *= 2)
        if ((price(x, other, high) < price(x, direct, high)) != *other_below)
            break;
    if (high > most)
        return -1;
    while (high - low > 1) {
        int64_t mid = low + (high - low) / 2;
        if ((price(x, other, mid) < price(x, direct, mid)) == *other_below)
            low = mid;
        else
            high = mid;
    }
    return high;
}

static void print_break_even(const neighbor_problem *x, const method_result *t)
{
    bool below;
    int other = cheapest(x, t, SK_METHOD_DIRECT + 1);
    const char *name = t[other].method->name;
    int64_t at = break_even(x, &t[SK_METHOD_DIRECT].load, &t[other].load, &below);
    if (at >= 0)
        printf("even     %s is cheaper than direct for blocks %s %" PRId64 " bytes\n", name,
               below ? "below" : "from", at);
    else
        printf("even     nowhere: %s is cheaper for blocks of any size\n", below ? name : "direct");
}

/* Prints the messages of one stage and direction, which are adjacent, and returns how many. */
static size_t print_stage(const sk_pattern_view *v, size_t i, const sk_machine *m)
{
    const sk_bundle *h = &v->bundles[i];
    size_t n = 0;
    while (i + n < v->nbundles && h[n].stage == h->stage && h[n].out == h->out)
        n++;
    printf("  stage %-4" PRId32 " %s %4zu:", h->stage, h->out ? "sends to     " : "receives from",
           n);
    for (size_t k = 0; k < n && k < MAX_PEERS; k++)
        printf("%s %" PRId32 " (%s, %" PRIu32 ")", k ? "," : "", h[k].peer,
               sk_level_name(sk_machine_level(m, v->rank, h[k].peer)), h[k].n);
    printf("%s\n", n > MAX_PEERS ? ", ..." : "");
    return n;
}

static void print_rank(const neighbor_problem *x, const method_result *t)
{
    printf("\nrank %d: peer (level, blocks in the message)\n", (int)x->rank);
    for (int i = 0; i < SK_NMETHODS; i++) {
        const sk_pattern_view *v = sk_pattern_view_get(t[i].shown);
        printf("%s%s\n", t[i].method->name, v->nbundles ? "" : ": no messages");
        for (size_t k = 0; k < v->nbundles;)
            k += print_stage(v, k, x->machine);
    }
}

static void print_choice(const neighbor_problem *x, const char *cheapest)
{
    sk_tuned call = {.coll = x->coll,
                     .ranks = (int)x->nranks,
                     .nodes = x->machine->nnodes,
                     .neighbours = (int)x->size.most,
                     .bytes = x->bytes};
    bool busy = x->size.most > 0; /* all ranks: times were measured with such */
    for (int i = 0; i < x->nranks; i++)
        busy &= !x->idle[i];
    sk_explain_neighbor_choice(x->select, &x->tuning, &call, busy, cheapest);
}

static void print_all(const neighbor_problem *x, const method_result *t)
{
    int best = cheapest(x, t, 0);
    print_problem(x);
    print_choice(x, t[best].method->name);
    print_sent(x, t, best, false);
    print_sent(x, t, best, true);
    print_times(x, t, best);
    printf("\n");
    print_break_even(x, t);
    print_equations(x, t);
    if (x->rank >= 0)
        print_rank(x, t);
}

static int explain(neighbor_problem *x)
{
    method_result results[SK_NMETHODS] = {0};
    int status = read_problem(x);
    if (status != 0)
        return status;
    sk_tool_tuning_use(x->select, cli.command, &x->tuning);
    sk_status st = count_methods(x, results);
    if (st == SK_OK)
        print_all(x, results);
    else
        sk_cli_error(&cli, "%s", sk_status_text(st));
    for (int i = 0; i < SK_NMETHODS; i++)
        sk_pattern_free(results[i].shown);
    return st != SK_OK;
}

int sk_cmd_explain_neighbor(int argc, char **argv)
{
    sk_select *sel = NULL;
    char err[256];
    if (sk_select_new(environ, &sel, err, sizeof err) != SK_OK) {
        sk_cli_error(&cli, "%s", err);
        return SK_CLI_WRONG;
    }
    neighbor_problem x = defaults(sk_select_settings(sel));
    x.select = sel;
    int status = SK_CLI_WRONG;
    if (argc == 1)
        sk_cli_help(&cli, stderr);
    else
        status = sk_cli_parse(&cli, &x, argc, argv, NULL);
    if (status == SK_CLI_OK)
        status = check_options(&x) ? explain(&x) : SK_CLI_WRONG;
    free(x.idle);
    sk_global_graph_free(x.graph);
    sk_machine_free(x.machine);
    sk_select_free(sel);
    return status;
}
