/* explain.c: `skein explain`: which algorithm serves a call, why, and what it and the others send.
 *
 * Nothing runs: the schedules of the ranks are built and counted. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/settings.h"
#include "base/word.h"
#include "callspec.h"
#include "cli.h"
#include "coll/algo.h"
#include "coll/traffic.h"
#include "commands.h"
#include "copy_prices.h"
#include "lab/sched/inspect.h"
#include "parts.h"
#include "plot.h"
#include "plot/plot.h"
#include "pricing.h"
#include "select/renames.h"
#include "shm/shm.h"
#include "tuned.h"

enum {
    MAX_RANKS = 1000000,
    MAX_RANKS_OFF_NODE = 4096, /* all ranks are counted, and most have O(p) steps */
    MAX_STEPS = 1 << 22,       /* counted for one algorithm */
};
static const int64_t MAX_BYTES = (int64_t)1 << 40; /* times the ranks it still fits an int64_t */

typedef struct explanation {
    /* As given on the command line; -1 or NULL: not given. */
    int64_t bytes, count, type_size, root, rank;
    const char *coll_name, *algo_name, *machine_text, *prices_file, *plot_file;
    bool print, show_prices, plot;

    sk_callspec spec;
    const char *bytes_mean; /* what the size of this collective counts */
    const sk_callspec_args *args;
    sk_select *select;
    sk_tool_tuning tuning;
    sk_machine *machine; /* NULL: not known */
    bool assumed;        /* nobody named a machine: all ranks are on this node */
    sk_renames renames;
    sk_choice choice;
    const sk_rename *rename; /* of the chosen algorithm; NULL: none */
    sk_pricing pricing;
    sk_price_range cheapest; /* at the size of the call */
} explanation;

/* The command line. */

enum {
    RANKS = SK_CLI_KEY,
    BYTES,
    COUNT,
    TYPE_SIZE,
    ROOT,
    RANK,
    ORDERED,
    ALGORITHM,
    MACHINE,
    PRINT,
    PLOT,
    PRICES,
    SHOW_PRICES
};

static const struct argp_option options[] = {
    {"ranks", RANKS, "P", 0, "ranks of the communicator", 0},
    {"bytes", BYTES, "N", 0, "size of the call: a block, or the vector; K, M, G may follow", 0},
    {"count", COUNT, "N", 0, "the same in elements", 0},
    {"type-size", TYPE_SIZE, "N", 0,
     "bytes of an element (default: 8 if the size is a multiple of it, else 1)", 0},
    {"root", ROOT, "R", 0, "root of the call (default: 0)", 0},
    {"rank", RANK, "R", 0, "rank whose numbers are shown (default: 0)", 0},
    {"ordered", ORDERED, NULL, 0, "the operation does not commute", 0},
    {"algorithm", ALGORITHM, "NAME", 0, "show this one instead of the one chosen", 0},
    {"machine", MACHINE, "TEXT", 0,
     "such as \"node:8 core:8 map:rr\": show what is sent between nodes; unknown: as before the "
     "ranks "
     "know where they are (default: all ranks on this node)",
     0},
    {"print", PRINT, NULL, 0, "print the schedule of the rank", 0},
    {"plot", PLOT, "FILE", OPTION_ARG_OPTIONAL,
     "instead, draw the predicted time of all algorithms over the size, here or in FILE, as SVG "
     "(by gnuplot where it is installed) or, if its name ends so, as .csv or .gp, gnuplot's script",
     0},
    {"prices", PRICES, "FILE", 0,
     "prices of the model that predicts times, lines such as \"net.latency 1.2 us\"", 0},
    {"show-prices", SHOW_PRICES, NULL, 0, "print the prices used, in the form of FILE", 0},
    {0}};

static bool take(void *ctx, int key, const char *value);

static const sk_cli cli = {
    .command = "skein explain",
    .args = "COLLECTIVE --ranks=P {--bytes=N | --count=N}",
    .about = "Show which algorithm serves a call, why, and what it sends.\v"
             "`skein explain neighbor --help` tells about neighbourhood collectives.",
    .options = options,
    .take = take};

static bool take(void *ctx, int key, const char *value)
{
    explanation *x = ctx;
    int64_t n;
    switch (key) {
    case SK_CLI_WORD:
        if (x->coll_name)
            return sk_cli_error(&cli, "one collective at a time: %s, %s", x->coll_name, value);
        x->coll_name = value;
        return true;
    case RANKS:
        if (!sk_cli_number(&cli, key, value, 1, MAX_RANKS, &n))
            return false;
        x->spec.nranks = (int)n;
        return true;
    case BYTES:
        return sk_cli_number(&cli, key, value, 0, MAX_BYTES, &x->bytes);
    case COUNT:
        return sk_cli_number(&cli, key, value, 0, MAX_BYTES, &x->count);
    case TYPE_SIZE:
        return sk_cli_number(&cli, key, value, 1, MAX_BYTES, &x->type_size);
    case ROOT:
        return sk_cli_number(&cli, key, value, 0, MAX_RANKS, &x->root);
    case RANK:
        return sk_cli_number(&cli, key, value, 0, MAX_RANKS, &x->rank);
    case ORDERED:
        x->spec.ordered = true;
        return true;
    case ALGORITHM:
        x->algo_name = value;
        return true;
    case MACHINE:
        x->machine_text = value;
        return true;
    case PLOT:
        x->plot = true;
        x->plot_file = value;
        return true;
    case PRICES:
        x->prices_file = value;
        return true;
    case SHOW_PRICES:
        return x->show_prices = true;
    default:
        return x->print = true;
    }
}

static bool find_coll(explanation *x)
{
    const char *names[SK_NCOLLS + 1] = {0};
    for (int i = 0; i < SK_NCOLLS; i++)
        names[i] = sk_coll_name((sk_coll)i);
    x->spec.coll = sk_coll_find(x->coll_name);
    if (x->spec.coll == SK_NCOLLS)
        return sk_cli_unknown(&cli, "collective", x->coll_name, names);
    if (sk_coll_neighbor(x->spec.coll))
        return sk_cli_error(&cli,
                            "%s depends on its graph: use `skein explain neighbor --graph GRAPH "
                            "--collective %s`",
                            x->coll_name, x->coll_name + strlen("neighbor_"));
    return true;
}

static bool find_algo(explanation *x)
{
    enum { MOST = 63 };
    const char *names[MOST + 1] = {0};
    const char *coll = sk_coll_name(x->spec.coll);
    int n = 0;
    x->choice = (sk_choice){.algo = sk_algo_find(x->spec.coll, x->algo_name), .why = "asked for"};
    if (x->choice.algo)
        return true;
    for (const sk_algo *const *a = sk_algos(); *a && n < MOST; a++)
        if ((*a)->coll == x->spec.coll)
            names[n++] = (*a)->name;
    if (n == 0)
        return sk_cli_error(&cli, "%s has no algorithm %s", coll, x->algo_name);
    char hint[256];
    return sk_cli_error(&cli, "%s has no algorithm %s; %s", coll, x->algo_name,
                        sk_suggest(x->algo_name, names, hint, sizeof hint));
}

static bool set_size(explanation *x)
{
    sk_callspec *s = &x->spec;
    int64_t size = x->type_size;
    if (s->coll == SK_BARRIER) {
        s->elem_size = 1;
        return ((x->bytes <= 0 && x->count <= 0) || sk_cli_error(&cli, "a barrier has no bytes")) &&
               (!x->plot || sk_cli_error(&cli, "a barrier has no bytes: there is nothing to plot"));
    }
    if (x->plot && x->bytes < 0 && x->count < 0)
        x->bytes = size > 0 ? size : 8;
    if ((x->bytes < 0) == (x->count < 0))
        return sk_cli_error(&cli, "%s needs --bytes or --count, one of them",
                            sk_coll_name(s->coll));
    if (size < 0)
        size = x->count >= 0 || x->bytes % 8 == 0 ? 8 : 1;
    if (x->bytes >= 0 && x->bytes % size != 0)
        return sk_cli_error(&cli, "%" PRId64 " bytes are no whole number of elements of %" PRId64,
                            x->bytes, size);
    s->elem_size = size;
    s->elems = x->count >= 0 ? x->count : x->bytes / size;
    if (s->elems > MAX_BYTES / size)
        return sk_cli_error(&cli, "more than %" PRId64 " bytes are too many", MAX_BYTES);
    sk_callspec_round(s);
    return true;
}

static bool check_rank(const char *name, int64_t rank, int nranks)
{
    return rank < nranks ||
           sk_cli_error(&cli, "--%s %" PRId64 " is not among %d ranks", name, rank, nranks);
}

static bool check_options(explanation *x)
{
    sk_callspec *s = &x->spec;
    if (!find_coll(x))
        return false;
    if (s->nranks == 0)
        return sk_cli_error(&cli, "--ranks from 1 to %d is needed", MAX_RANKS);
    if (!set_size(x) || !check_rank("root", x->root, s->nranks) ||
        !check_rank("rank", x->rank, s->nranks) || (x->algo_name && !find_algo(x)))
        return false;
    s->root = (int)x->root;
    x->bytes_mean = sk_coll_bytes_mean(s->coll);
    if (strncmp(x->bytes_mean, "unknown", 7) == 0)
        x->bytes_mean = "one block";
    return true;
}

/* Counting. */

/* The schedule of one rank. `r`: the ranks are renamed; may be NULL. */
static sk_status build(const explanation *x, const sk_algo *a, const sk_rename *r, int rank,
                       sk_sched **out)
{
    sk_call c = sk_callspec_call(x->args, rank);
    if (r)
        c = sk_call_renamed(&c, r);
    return sk_algo_build(a, &c, out);
}

typedef struct value_range {
    int64_t least, most;
    double mean;
} value_range;

/* What the schedules of the ranks send. */
typedef struct sched_counts {
    value_range rounds, sends, send_bytes, reduce_bytes, scratch;
    int ranks;         /* counted; a sample, evenly spread, when there are very many */
    bool unknown_size; /* some messages carry their length with them */
} sched_counts;

static void add_value(value_range *r, int64_t value, int seen)
{
    if (seen == 0 || value < r->least)
        r->least = value;
    if (seen == 0 || value > r->most)
        r->most = value;
    r->mean += ((double)value - r->mean) / (seen + 1);
}

/* Most algorithms have O(p) steps on a rank, so O(p^2) in all: with many ranks a sample is
 * counted. */
static sk_status count_sends(const explanation *x, const sk_algo *a, const sk_rename *r,
                             sched_counts *out)
{
    int nranks = x->spec.nranks;
    int64_t sample = MAX_STEPS / nranks;
    int n = sample < 1 ? 1 : sample < nranks ? (int)sample : nranks;
    sched_counts t = {.ranks = n};
    for (int i = 0; i < n; i++) {
        sk_sched *sched = NULL;
        sk_status st = build(x, a, r, (int)((int64_t)i * nranks / n), &sched);
        if (st != SK_OK)
            return st;
        sk_sched_stats s = sk_sched_count(sched);
        t.unknown_size |= sk_sched_view(sched)->npackets > 0;
        sk_sched_free(sched);
        add_value(&t.rounds, s.rounds, i);
        add_value(&t.sends, s.sends, i);
        add_value(&t.send_bytes, s.send_bytes, i);
        add_value(&t.reduce_bytes, s.reduce_bytes, i);
        add_value(&t.scratch, s.scratch, i);
    }
    *out = t;
    return SK_OK;
}

/* What all ranks send from node to node. */
static sk_status count_off_node(const explanation *x, const sk_rename *r, sk_traffic *t,
                                bool *sizes_known)
{
    sk_status st = SK_OK;
    for (int i = 0; i < x->spec.nranks && st == SK_OK; i++) {
        sk_sched *s = NULL;
        st = build(x, x->choice.algo, r, i, &s);
        if (st == SK_OK) {
            *sizes_known &= sk_sched_view(s)->npackets == 0;
            st = sk_traffic_add(t, s, x->machine, i);
        }
        sk_sched_free(s);
    }
    return st;
}

/* Printing. */

static void print_range(const char *name, int64_t mine, value_range r)
{
    printf("  %-14s %12" PRId64 " %12" PRId64 " %14.1f %12" PRId64 "\n", name, mine, r.least,
           r.mean, r.most);
}

static sk_status print_schedule(const explanation *x)
{
    sk_sched *sched = NULL;
    sk_status st = build(x, x->choice.algo, x->rename, (int)x->rank, &sched);
    if (st == SK_OK) {
        printf("\nschedule of rank %d, %s\n", (int)x->rank, x->choice.algo->name);
        sk_sched_print(sched, stdout);
    }
    sk_sched_free(sched);
    return st;
}

/* The chosen algorithm: the rank that is shown beside least, mean and most of all. */
static sk_status print_chosen(const explanation *x)
{
    sk_sched *sched = NULL;
    sched_counts t;
    sk_status st = build(x, x->choice.algo, x->rename, (int)x->rank, &sched);
    if (st != SK_OK)
        return st;
    sk_sched_stats mine = sk_sched_count(sched);
    sk_sched_free(sched);
    st = count_sends(x, x->choice.algo, x->rename, &t);
    if (st != SK_OK)
        return st;
    char head[32];
    snprintf(head, sizeof head, "rank %d", (int)x->rank);
    printf("\n  %-14s %12s %12s %14s %12s\n", "", head, "least", "mean", "most");
    print_range("rounds", mine.rounds, t.rounds);
    print_range("messages sent", mine.sends, t.sends);
    if (t.unknown_size)
        printf("  %-14s %12s\n", "bytes sent", "the messages carry their own lengths");
    else
        print_range("bytes sent", mine.send_bytes, t.send_bytes);
    if (t.reduce_bytes.most)
        print_range("bytes reduced", mine.reduce_bytes, t.reduce_bytes);
    print_range("scratch bytes", mine.scratch, t.scratch);
    if (t.ranks < x->spec.nranks)
        printf("  (least, mean and most of %d ranks, evenly spread)\n", t.ranks);
    return SK_OK;
}

/* One algorithm of the table of all. */
static sk_status print_algo(explanation *x, const sk_algo *a)
{
    sched_counts t;
    bool chosen = a == x->choice.algo;
    sk_call c = sk_callspec_call(x->args, (int)x->rank);
    printf("%c %-18s", chosen ? '*' : ' ', a->name);
    if (a->fits && !a->fits(&c)) {
        printf(" does not fit this call\n");
        return SK_OK;
    }
    sk_status st = count_sends(x, a, chosen ? x->rename : NULL, &t);
    if (st != SK_OK)
        return st;
    sk_priced priced;
    char time[32] = "~?", each[32] = "";
    bool known = sk_pricing_of(&x->pricing, a, x->spec.elems, &priced);
    if (known)
        sk_plot_time(priced.ns, time + 1, sizeof time - 1);
    if (known && priced.each > 0)
        sk_plot_time(priced.each, each, sizeof each);
    printf(" %8" PRId64 " %9" PRId64, t.rounds.most, t.sends.most);
    if (t.unknown_size)
        printf(" %14s %14s", "?", "?");
    else
        printf(" %14.1f %14" PRId64, t.send_bytes.mean, t.send_bytes.most);
    bool cheapest = a == x->cheapest.algo;
    printf(" %12" PRId64 " %12s", t.scratch.most, known && !priced.exact ? time : time + 1);
    if (*each || cheapest)
        printf(" %12s%s", each, cheapest ? "  cheapest" : "");
    printf("\n");
    return SK_OK;
}

static void print_bytes(int64_t bytes, bool known, int width)
{
    if (known)
        printf(" %*" PRId64, width, bytes);
    else
        printf(" %*s", width, "?");
}

static sk_status print_off_node(const explanation *x, const char *name, const sk_rename *r)
{
    sk_traffic t = {0};
    bool known = true;
    sk_status st = count_off_node(x, r, &t, &known);
    if (st == SK_OK) {
        sk_off_node most = sk_traffic_busiest(&t);
        printf("  %-26s %12" PRId64, name, t.sum.messages);
        print_bytes(t.sum.bytes, known, 16);
        printf(" %14" PRId64, most.messages);
        print_bytes(most.bytes, known, 16);
        printf("\n");
    }
    sk_traffic_free(&t);
    return st;
}

/* What leaves the nodes, with the ranks as they are and renamed. */
static sk_status print_machine(const explanation *x)
{
    const sk_machine *m = x->machine;
    const sk_rename *r = x->rename;
    printf("\nmachine  %d node%s, most ranks on one: %d, mapping: %s\n", m->nnodes,
           m->nnodes == 1 ? "" : "s", m->max_per_node, sk_mapping_name(sk_mapping_of(m)));
    if (m->nranks > MAX_RANKS_OFF_NODE) {
        printf("  (messages between nodes are counted for up to %d ranks)\n", MAX_RANKS_OFF_NODE);
        return SK_OK;
    }
    printf("  %-26s %12s %16s %14s %16s\n", "sent from node to node", "messages", "bytes",
           "busiest stage", "bytes");
    sk_status st = print_off_node(x, r ? "ranks as they are" : "ranks are not renamed", NULL);
    if (st == SK_OK && r) {
        char name[48];
        snprintf(name, sizeof name, "renamed: %s", sk_prefers_name(r->order));
        st = print_off_node(x, name, r);
    }
    return st;
}

static sk_status print_all(explanation *x)
{
    const sk_choice *choice = &x->choice;
    const sk_callspec *s = &x->spec;
    sk_status st = SK_OK;
    printf("%s on %d ranks", sk_coll_name(s->coll), s->nranks);
    if (s->coll != SK_BARRIER)
        printf(", %" PRId64 " bytes (%s), elements of %" PRId64 " bytes%s", s->elems * s->elem_size,
               x->bytes_mean, s->elem_size, s->ordered ? ", order kept" : "");
    printf("\nchosen   %s%s%s%s\n",
           choice->host ? "the host MPI for blocking calls, for others " : "",
           choice->algo ? choice->algo->name : "the host MPI", choice->algo ? ": " : "",
           choice->algo && choice->algo->about ? choice->algo->about : "");
    printf("because  %s\n", choice->why);
    if (choice->us > 0)
        printf("tuning   %s: %s\n", x->tuning.path,
               sk_tuning_machine(x->tuning.tuning, x->tuning.machine));
    if (x->assumed)
        printf("machine  all ranks on this node, as `skein run` finds them here; --machine names "
               "another\n");
    else if (!x->machine)
        printf("machine  unknown, as in the first calls on a communicator (SKEIN_FIND)\n");
    if (choice->algo)
        st = sk_explain_parts(x->select, x->args, (int)x->rank, choice->algo, x->rename);
    if (st == SK_OK && choice->algo)
        st = print_chosen(x);
    if (st == SK_OK && choice->algo && x->machine && !x->assumed)
        st = print_machine(x);
    if (st != SK_OK)
        return st;

    printf("\n  %-18s %8s %9s %14s %14s %12s %12s %12s\n", "all algorithms", "rounds", "messages",
           "bytes, mean", "bytes, most", "scratch", "predicted", "in a row");
    for (const sk_algo *const *a = sk_algos(); *a && st == SK_OK; a++)
        if ((*a)->coll == s->coll)
            st = print_algo(x, *a);
    if (st == SK_OK && s->coll != SK_BARRIER)
        sk_pricing_print_range(&x->cheapest, s->elem_size);
    if (st == SK_OK && x->print && choice->algo)
        st = print_schedule(x);
    return st;
}

/* The machine of --machine or of the settings; without both this one, as a node for all ranks. */
static bool read_machine(explanation *x)
{
    char err[256];
    const sk_settings *set = sk_select_settings(x->select);
    const char *text = x->machine_text;
    if (!text)
        text = sk_settings_text(set, SK_SET_MACHINE);
    if (strcmp(text, "unknown") == 0)
        return true;
    x->assumed = !*text && !x->machine_text;
    if (x->assumed) {
        int cores = (int)sysconf(_SC_NPROCESSORS_ONLN);
        if (sk_machine_even(x->spec.nranks, 1, cores, &x->machine) != SK_OK)
            return sk_cli_error(&cli, "out of memory");
    } else if (sk_machine_parse(text, x->spec.nranks, &x->machine, err, sizeof err) != SK_OK)
        return sk_cli_error(&cli, "%s", err);
    sk_select_prices(x->select, &x->machine->copy);
    if (x->assumed)
        sk_tool_copy_prices(x->select, &x->machine->copy);
    x->spec.machine = x->machine;
    x->spec.slot_bytes =
        sk_shm_size_of(x->machine->max_per_node, sk_settings_int(set, SK_SET_SHM)).slot_bytes;
    return true;
}

/* The usual prices, those of copies that were measured, and what a file says. */
static bool read_prices(explanation *x)
{
    char err[256];
    sk_prices p = sk_prices_usual();
    if (x->machine)
        sk_prices_measured(&p, &x->machine->copy);
    sk_tool_tuning_prices(&x->tuning, cli.command, &p);
    if (x->prices_file && !sk_pricing_load(x->prices_file, &p, err, sizeof err))
        return sk_cli_error(&cli, "%s: %s", x->prices_file, err);
    sk_pricing_init(&x->pricing, x->select, &x->spec, &p);
    return true;
}

static sk_status choose(explanation *x, char *err, size_t size)
{
    sk_call c = sk_callspec_call(x->args, (int)x->rank);
    const sk_algo *wanted = x->choice.algo;
    if (wanted && wanted->fits && !wanted->fits(&c)) {
        snprintf(err, size, "%s does not fit this call", wanted->name);
        return SK_BADARG;
    }
    if (!wanted)
        sk_select_explain(x->select, &c, &x->choice);
    if (!x->choice.algo)
        return SK_OK;
    sk_status st = sk_renames_choose(&x->renames, x->select, x->choice.algo, &c, &x->rename);
    sk_renames_explain(x->rename, x->choice.why, sizeof x->choice.why);
    return st;
}

static int explain(explanation *x, sk_arena *arena)
{
    char err[256] = "out of memory";
    sk_status st = sk_select_new(environ, &x->select, err, sizeof err);
    if (st == SK_OK)
        sk_tool_tuning_use(x->select, cli.command, &x->tuning);
    if (st == SK_OK && !read_machine(x))
        return SK_CLI_WRONG;
    x->spec.chooser = st == SK_OK ? sk_select_chooser(x->select) : NULL;
    x->args = arena ? sk_callspec_args_new(arena, &x->spec) : NULL;
    if (st == SK_OK)
        st = x->args ? choose(x, err, sizeof err) : SK_NOMEM;
    if (st != SK_OK) {
        sk_cli_error(&cli, "%s", err);
        return 1;
    }
    if (!read_prices(x))
        return SK_CLI_WRONG;
    if (x->show_prices)
        sk_prices_print(&x->pricing.prices, stdout);
    if (x->plot && !sk_plot_prices(&x->pricing, x->plot_file, err, sizeof err))
        return !sk_cli_error(&cli, "%s", err);
    if (x->show_prices || x->plot)
        return 0;
    x->cheapest = sk_pricing_range(&x->pricing, x->spec.elems);
    x->pricing.calls = SK_PRICING_ROW;
    st = print_all(x);
    if (st != SK_OK)
        fprintf(stderr, "\n%s: %s\n", cli.command, sk_status_text(st));
    return st != SK_OK;
}

int sk_cmd_explain(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "neighbor") == 0)
        return sk_cmd_explain_neighbor(argc - 1, argv + 1);
    explanation x = {.bytes = -1, .count = -1, .type_size = -1};
    int status = sk_cli_parse(&cli, &x, argc, argv, NULL);
    if (status != SK_CLI_OK)
        return status;
    if (!x.coll_name) {
        sk_cli_help(&cli, stderr);
        return SK_CLI_WRONG;
    }
    if (!check_options(&x))
        return SK_CLI_WRONG;
    sk_arena *arena = sk_arena_new();
    status = explain(&x, arena);
    sk_renames_free(&x.renames);
    sk_machine_free(x.machine);
    sk_select_free(x.select);
    sk_arena_free(arena);
    return status;
}
