/* options.c: the command line of `skein bench` and `skein bench neighbor`. */
#include "bench/options.h"

#include <string.h>

#include "base/settings.h"
#include "bench/hosts.h"
#include "callspec.h"
#include "cli.h"
#include "coll/algo.h"
#include "lab/graph/spec.h"

enum { MAX_RANKS = 4096, MAX_ROUNDS = 1000, MAX_BYTES = 1 << 30, MAX_SECONDS = 1000000 };
enum { DEFAULT_AGAIN = 3, MAX_AGAIN = 100 };
enum { DEFAULT_CALLS = 30, MAX_CALLS = 10000, MAX_GAP = 1000000, MAX_BUSY = 1024 };

enum {
    GRAPH = SK_CLI_KEY,
    COLLECTIVE,
    BYTES,
    RANKS,
    FORM,
    COLD,
    LIFE,
    OVERLAP,
    GAP,
    BUFFERS,
    BUSY,
    ROUNDS,
    SECONDS,
    AGAIN,
    MPI,
    ALGORITHM,
    ALL_ALGORITHMS,
    AGAINST,
    CSV,
    PLOT,
    FROM,
    PLAIN,
};

static const struct argp_option options[] = {
    {"graph", GRAPH, "GRAPH", 0,
     "for neighbor: random:DELTA[,SEED], moore:D,R or matrix:FILE; may be given again", 0},
    {"collective", COLLECTIVE, "LIST", 0,
     "names separated by commas, or all (default: all; neighbor: allgather)", 0},
    {"bytes", BYTES, "LIST", 0,
     "block or vector sizes, K and M allowed (default: 8,1K,16K,128K,1M; neighbor: "
     "4,256,4K,64K)",
     0},
    {"ranks", RANKS, "LIST", 0, "default 2,4,8,16; MPICH: only those with a core for every rank",
     0},
    {"form", FORM, "LIST", 0,
     "blocking, nonblocking (start and wait), persistent (made once, then start and wait) or all "
     "(default: blocking)",
     0},
    {"cold", COLD, "N", OPTION_ARG_OPTIONAL,
     "calls on a fresh communicator: 1 and 2, and 3 to N (default 30), time per call", 0},
    {"life", LIFE, "N", OPTION_ARG_OPTIONAL,
     "a communicator made, used for N calls (default 30) and freed, as a whole", 0},
    {"overlap", OVERLAP, NULL, 0,
     "nonblocking: computation between start and wait, as long as the host's call or --gap, and "
     "the share that went on at the same time",
     0},
    {"gap", GAP, "US", 0, "computation between the calls of a train, taken off the times", 0},
    {"buffers", BUFFERS, "USE", 0,
     "reused (default), written: what is sent is written before each call, taken off the times, or "
     "fresh: other buffers in each call, out of more than the caches hold",
     0},
    {"busy", BUSY, "N", 0, "with N busy loops beside", 0},
    {"rounds", ROUNDS, "N", 0, "rounds per point (default 21; fewer where a call is slow)", 0},
    {"seconds", SECONDS, "N", 0, "divide N seconds among all points (default: 0.7 s for each)", 0},
    {"again", AGAIN, "N", OPTION_ARG_OPTIONAL,
     "then measure what is below 0.95 N times more (default 3), in a process each and four times "
     "as "
     "long; the median of these counts: what was disturbed once is not low again",
     0},
    {"mpi", MPI, "NAME", 0, "openmpi, mpich or both (default: those installed)", 0},
    {"algorithm", ALGORITHM, "NAME", 0, "force an algorithm of Skein", 0},
    {"all-algorithms", ALL_ALGORITHMS, NULL, 0, "measure every algorithm of Skein", 0},
    {"against", AGAINST, "LIST", 0,
     "measure also with the host's own algorithm forced: best (each of them, the best one "
     "counts), a name such as linear, COLLECTIVE=NAME or COLLECTIVE=NUMBER; not for neighbor",
     0},
    {"csv", CSV, "FILE", 0, "write every measured point to FILE", 0},
    {"plot", PLOT, "FILE", OPTION_ARG_OPTIONAL,
     "also draw the times of single calls over the size, here or in FILE: SVG, by gnuplot where it "
     "is installed, "
     "or its script if FILE ends in .gp",
     0},
    {"from", FROM, "FILE", 0,
     "measure nothing, but show and draw what --csv has written; --collective, --ranks and --mpi "
     "choose from it",
     0},
    {"plain", PLAIN, NULL, 0,
     "the host against itself, without Skein: shows the noise of the machine", 0},
    {0}};

static bool take(void *ctx, int key, const char *value);

static const sk_cli cli = {
    .command = "skein bench",
    .about =
        "Time each collective of Skein and of the host MPI alternately in one process, and compare "
        "their results. Progress goes to standard error, the tables to standard output.\n\n"
        "`skein bench neighbor --graph=GRAPH [OPTION...]` measures neighbourhood collectives on "
        "distributed graph communicators; Skein plans in the warm-up. "
        "`skein bench match --help` tells about the benchmark of the matching engines.\v"
        "Exit status: 0 done, 1 a result was wrong or a run failed, 2 wrong usage.",
    .options = options,
    .take = take};

static bool collectives(sk_bench_options *o, const char *text)
{
    bool chosen[SK_NCOLLS] = {false};
    sk_strlist w = sk_strlist_new(o->arena), valid = sk_strlist_new(o->arena);
    sk_strlist_split(&w, text, ",");
    sk_strlist_add(&valid, "all");
    for (int i = 0; i < SK_NCOLLS; i++)
        if (sk_coll_neighbor((sk_coll)i) == o->neighbor)
            sk_strlist_add(&valid,
                           sk_coll_name((sk_coll)i) + (o->neighbor ? strlen("neighbor_") : 0));
    for (int i = 0; i < w.n; i++) {
        sk_coll coll = o->neighbor ? sk_neighbor_coll_find(w.v[i]) : sk_coll_find(w.v[i]);
        bool all = strcmp(w.v[i], "all") == 0;
        if (coll == SK_NCOLLS && !all)
            return sk_cli_unknown(&cli, "collective", w.v[i], (const char *const *)valid.v);
        if (!all && sk_coll_neighbor(coll) != o->neighbor)
            return sk_cli_error(&cli, "%s needs a graph: use `skein bench neighbor`", w.v[i]);
        for (int k = 0; k < SK_NCOLLS; k++)
            if (all ? sk_coll_neighbor((sk_coll)k) == o->neighbor : (sk_coll)k == coll)
                chosen[k] = true;
    }
    o->ncolls = 0;
    for (int k = 0; k < SK_NCOLLS; k++)
        if (chosen[k])
            o->colls[o->ncolls++] = (sk_coll)k;
    return o->ncolls > 0 || sk_cli_error(&cli, "--collective takes names, separated by commas");
}

static bool mpis(sk_bench_options *o, const char *text)
{
    static const char *const valid[] = {"openmpi", "mpich", "both", NULL};
    bool both = strcmp(text, "both") == 0;
    if (!both && sk_flavour_of_name(text) == SK_MPI_NONE)
        return sk_cli_unknown(&cli, "MPI", text, valid);
    for (int f = SK_MPI_OPENMPI; f <= SK_MPI_MPICH; f++)
        o->mpi[f] = both || sk_flavour_of_name(text) == (sk_flavour)f;
    return true;
}

bool sk_forms_choose(const sk_cli *command, sk_arena *a, const char *text, bool forms[SK_NFORMS])
{
    sk_strlist valid = sk_strlist_new(a), chosen;
    for (int i = 0; i < SK_NFORMS; i++)
        sk_strlist_add(&valid, sk_form_names[i]);
    if (!sk_cli_choose(command, "form", text, &valid, &chosen))
        return false;
    for (int i = 0; i < SK_NFORMS; i++)
        forms[i] = sk_strlist_has(&chosen, sk_form_names[i]);
    return true;
}

/* One phase besides the default. `calls`: of those that make communicators, NULL: the default. */
static bool phase(sk_bench_options *o, int key, sk_phase phase, const char *calls)
{
    int64_t n = DEFAULT_CALLS;
    if (o->conditions.phase != SK_WARM && o->conditions.phase != phase)
        return sk_cli_error(&cli, "only one of --cold, --life and --overlap");
    if (calls && !sk_cli_number(&cli, key, calls, 3, MAX_CALLS, &n))
        return false;
    o->conditions.phase = phase;
    o->conditions.calls = (int)n;
    return true;
}

static bool gap(sk_bench_options *o, int key, const char *value)
{
    int64_t us;
    if (!sk_cli_number(&cli, key, value, 1, MAX_GAP, &us))
        return false;
    o->conditions.gap_us = (int)us;
    return true;
}

static bool buffers(sk_bench_options *o, const char *value)
{
    int use = sk_name_index(sk_buffer_names, value);
    if (use < 0)
        return sk_cli_unknown(&cli, "use of buffers", value, sk_buffer_names);
    o->conditions.buffers = (sk_buffer_use)use;
    return true;
}

static bool take(void *ctx, int key, const char *value)
{
    sk_bench_options *o = ctx;
    switch (key) {
    case SK_CLI_WORD:
        return sk_cli_error(&cli, "%s is no option; `skein help bench` lists them", value);
    case GRAPH:
        sk_strlist_add(&o->graphs, value);
        return true;
    case COLLECTIVE:
        return collectives(o, value);
    case BYTES:
        return sk_cli_numbers(&cli, key, value, 1, MAX_BYTES, &o->bytes);
    case RANKS:
        o->ranks_given = true;
        return sk_cli_numbers(&cli, key, value, 1, MAX_RANKS, &o->ranks);
    case FORM:
        return sk_forms_choose(&cli, o->arena, value, o->forms);
    case COLD:
        return phase(o, key, SK_COLD, value);
    case LIFE:
        return phase(o, key, SK_LIFE, value);
    case OVERLAP:
        return phase(o, key, SK_OVERLAP, NULL);
    case GAP:
        return gap(o, key, value);
    case BUFFERS:
        return buffers(o, value);
    case BUSY:
        return sk_cli_number(&cli, key, value, 1, MAX_BUSY, &o->busy);
    case ROUNDS:
        return sk_cli_number(&cli, key, value, 1, MAX_ROUNDS, &o->rounds);
    case SECONDS:
        return sk_cli_number(&cli, key, value, 1, MAX_SECONDS, &o->seconds);
    case AGAIN:
        o->again = DEFAULT_AGAIN;
        return !value || sk_cli_number(&cli, key, value, 1, MAX_AGAIN, &o->again);
    case MPI:
        return mpis(o, value);
    case ALGORITHM:
        o->algorithm = value;
        return true;
    case ALL_ALGORITHMS:
        o->all_algorithms = true;
        return true;
    case AGAINST:
        sk_strlist_split(&o->against, value, ",");
        return true;
    case CSV:
        o->csv = value;
        return true;
    case PLOT:
        o->plot = true;
        o->plot_file = value;
        return true;
    case FROM:
        o->from = value;
        return true;
    default:
        o->plain = true;
        return true;
    }
}

static sk_bench_options defaults(sk_arena *a, bool neighbor)
{
    sk_bench_options o = {.arena = a,
                          .neighbor = neighbor,
                          .forms = {[SK_BLOCKING] = true},
                          .conditions = {.calls = DEFAULT_CALLS},
                          .rounds = 21,
                          .ranks = {.v = {2, 4, 8, 16}, .n = 4},
                          .bytes = {.v = {8, 1024, 16384, 131072, 1048576}, .n = 5}};
    if (neighbor)
        o.bytes = (sk_numbers){.v = {4, 256, 4096, 65536}, .n = 4};
    o.against = sk_strlist_new(a);
    o.graphs = sk_strlist_new(a);
    collectives(&o, neighbor ? "allgather" : "all");
    mpis(&o, "both");
    return o;
}

/* Whether an item is COLLECTIVE=... for a collective that is not measured. */
static bool names_unmeasured(sk_arena *a, const sk_bench_options *o, const char *item)
{
    const char *equals = strchr(item, '=');
    sk_coll coll =
        equals ? sk_coll_find(sk_format(a, "%.*s", (int)(equals - item), item)) : SK_NCOLLS;
    bool measured = coll == SK_NCOLLS;
    for (int k = 0; k < o->ncolls; k++)
        measured = measured || o->colls[k] == coll;
    return !measured;
}

/* Every item of --against must name an algorithm of a collective and an MPI that are measured. */
static bool check_against(sk_arena *a, const sk_bench_options *o)
{
    sk_strlist valid = sk_strlist_new(a);
    sk_strlist_add(&valid, "best");
    for (int i = 0; i < o->against.n; i++) {
        int n = 0;
        if (names_unmeasured(a, o, o->against.v[i]))
            return sk_cli_error(&cli, "--against %s: --collective leaves that collective out",
                                o->against.v[i]);
        for (int f = SK_MPI_OPENMPI; f <= SK_MPI_MPICH; f++)
            for (int k = 0; o->mpi[f] && k < o->ncolls; k++) {
                sk_strlist names = sk_host_algos(a, (sk_flavour)f, o->colls[k]);
                bool *want = sk_arena_need(a, (size_t)names.n + 1);
                n += sk_host_wanted(a, (sk_flavour)f, o->colls[k], o->against.v[i], want);
                for (int j = 0; j < names.n; j++)
                    sk_strlist_add(
                        &valid, strchr(o->against.v[i], '=')
                                    ? sk_format(a, "%s=%s", sk_coll_name(o->colls[k]), names.v[j])
                                    : names.v[j]);
            }
        if (n == 0)
            return sk_cli_unknown(&cli, "host algorithm", o->against.v[i],
                                  (const char *const *)valid.v);
    }
    return true;
}

static bool check_algorithm(sk_arena *a, const sk_bench_options *o)
{
    sk_strlist valid = sk_strlist_new(a);
    for (const sk_algo *const *x = sk_algos(); *x; x++)
        for (int k = 0; k < o->ncolls; k++)
            if ((*x)->coll == o->colls[k])
                sk_strlist_add(&valid, (*x)->name);
    if (!o->algorithm || sk_strlist_has(&valid, o->algorithm))
        return true;
    if (valid.n == 0)
        return sk_cli_error(&cli, "these collectives have no algorithms");
    return sk_cli_unknown(&cli, "algorithm", o->algorithm, (const char *const *)valid.v);
}

/* Checks before the first run that the graphs exist for all numbers of ranks. */
static bool check_graphs(const sk_bench_options *o)
{
    char err[512];
    if (o->graphs.n == 0)
        return sk_cli_error(&cli, "neighbor needs --graph: random:DELTA[,SEED], moore:D,R or "
                                  "matrix:FILE");
    for (int i = 0; i < o->graphs.n; i++)
        for (int k = 0; k < o->ranks.n; k++) {
            sk_spec *spec = NULL;
            if (sk_spec_new(o->graphs.v[i], (int)o->ranks.v[k], &spec, err, sizeof err) != SK_OK)
                return sk_cli_error(&cli, "%s", err);
            sk_spec_free(spec);
        }
    return true;
}

/* Checks that the forms can be measured under these conditions. */
static bool check_conditions(const sk_bench_options *o)
{
    bool only_nonblocking = !o->forms[SK_BLOCKING] && !o->forms[SK_PERSISTENT];
    if (o->conditions.phase == SK_OVERLAP && !only_nonblocking)
        return sk_cli_error(&cli, "--overlap goes with --form=nonblocking");
    if (o->conditions.phase == SK_OVERLAP && o->conditions.buffers == SK_WRITTEN)
        return sk_cli_error(&cli, "--overlap: its computation writes no buffers");
    if (o->forms[SK_PERSISTENT] && o->conditions.buffers == SK_FRESH)
        return sk_cli_error(&cli, "--buffers=fresh: a persistent call keeps its buffers");
    if (!o->forms[SK_BLOCKING] && o->against.n)
        return sk_cli_error(&cli, "--against forces algorithms of the host's blocking calls");
    return true;
}

/* Checks that the options are compatible and name things that exist. */
static bool check_options(sk_arena *a, const sk_bench_options *o)
{
    if (o->all_algorithms && o->algorithm)
        return sk_cli_error(&cli, "--algorithm and --all-algorithms exclude each other");
    if (o->all_algorithms && o->against.n)
        return sk_cli_error(
            &cli, "--against goes with Skein's own choice or --algorithm, not --all-algorithms");
    if (o->plain && (o->all_algorithms || o->algorithm))
        return sk_cli_error(&cli, "--plain runs without Skein: it has no algorithm to force");
    if (!o->neighbor && o->graphs.n)
        return sk_cli_error(&cli, "--graph goes with `skein bench neighbor`");
    if (o->neighbor && o->against.n)
        return sk_cli_error(&cli,
                            "--against: hosts have one way only for neighbourhood collectives");
    return check_conditions(o) && check_against(a, o) && check_algorithm(a, o) &&
           (!o->neighbor || check_graphs(o));
}

int sk_bench_options_parse(sk_arena *a, int argc, char **argv, sk_bench_options *out)
{
    bool neighbor = argc > 1 && strcmp(argv[1], "neighbor") == 0;
    *out = defaults(a, neighbor);
    sk_cli mine = cli;
    if (neighbor)
        mine.command = "skein bench neighbor";
    int status = sk_cli_parse(&mine, out, argc - neighbor, argv + neighbor, NULL);
    if (status == SK_CLI_OK && !check_options(a, out))
        status = SK_CLI_WRONG;
    return status;
}
