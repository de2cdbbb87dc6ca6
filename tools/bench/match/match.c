/* match.c: `skein bench match`: compares the matching engines. Reads the options and starts the
 * mode that they select. */
#include "bench/match/match.h"

#include <limits.h>

#include "commands.h"
#include "lab/match/app.h"

enum {
    ENGINE = SK_CLI_KEY,
    DEPTH,
    ORDER,
    SIDE,
    WILD,
    ANY_TAG,
    SOURCES,
    STREAM,
    RANKS,
    STEPS,
    SEED,
    TRACE,
    KC,
    KP,
    THETA,
    THREADS,
    MPI,
    TRANSPORT,
    ROUNDS,
    LIMIT,
    SECONDS,
    CSV,
};

static const struct argp_option options[] = {
    {"engine", ENGINE, "LIST", 0,
     "engines, separated by commas (default: all; with --mpi the default one)", 0},
    {"depth", DEPTH, "LIST", 0,
     "length of the queue (default 1,10,100,...,1000000; --mpi: 100,1000,10000,50000; --threads: "
     "10,1000)",
     0},
    {"order", ORDER, "LIST", 0, "forward, reverse, random: how the queue is emptied (default: all)",
     0},
    {"side", SIDE, "LIST", 0, "posted (receives wait) or unexpected (messages wait; default: both)",
     0},
    {"wild", WILD, "LIST", 0, "per cent of the receives that take any source (default 0,10,100)",
     0},
    {"any-tag", ANY_TAG, NULL, 0, "these receives take any tag, too", 0},
    {"sources", SOURCES, "LIST", 0, "processes that send (default 1024)", 0},
    {"stream", STREAM, "LIST", 0,
     "radix, nbody, miniamr, fds, gather, allreduce, iallgather or all: what a rank of the program "
     "receives",
     0},
    {"ranks", RANKS, "LIST", 0, "processes of the program (default 256,512,1024,2048,4096)", 0},
    {"steps", STEPS, "N", 0, "steps of the program (default: its own number)", 0},
    {"seed", SEED, "N", 0, "of all random numbers (default 1)", 0},
    {"trace", TRACE, "FILE", 0,
     "a file that SKEIN_TRACE made, and the words after it; see `skein help trace`", 0},
    {"kc", KC, "N", 0, "as the setting SKEIN_MATCH_KC", 0},
    {"kp", KP, "N", 0, "as the setting SKEIN_MATCH_KP", 0},
    {"theta", THETA, "N", 0, "as the setting SKEIN_MATCH_THETA", 0},
    {"threads", THREADS, "LIST", 0, "one matcher for so many threads, each with its own tags", 0},
    {"mpi", MPI, NULL, 0,
     "a program of two ranks under mpirun: latency, and queues emptied in reverse order with exact "
     "and with MPI_ANY_SOURCE receives",
     0},
    {"transport", TRANSPORT, "LIST", 0, "with --mpi: ob1, ucx, rxm, skein (default: all)", 0},
    {"rounds", ROUNDS, "N", 0,
     "timed rounds (default 9, with --mpi 3; fewer if one takes too long)", 0},
    {"limit", LIMIT, "N", 0,
     "stop an engine or a point that takes longer than N seconds (default: 0.5 s and 3 us for each "
     "match; streams and --mpi 30 s); the table then says `too long'",
     0},
    {"seconds", SECONDS, "N", 0, "for the timed rounds of one point (default 2, streams 10)", 0},
    {"csv", CSV, "FILE", 0, "write every measured point to FILE", 0},
    {0}};

/* The modes in which an option has a meaning. */
static unsigned modes_of(int key)
{
    enum {
        SYNTHETIC = 1 << SK_MATCH_SYNTHETIC,
        STREAMS = 1 << SK_MATCH_STREAMS,
        REPLAY = SYNTHETIC | STREAMS | 1 << SK_MATCH_TRACES,
        OVER_MPI = 1 << SK_MATCH_MPI,
        THREADED = 1 << SK_MATCH_THREADS,
        ANY = REPLAY | OVER_MPI | THREADED,
    };
    switch (key) {
    case ORDER:
    case SIDE:
    case WILD:
    case ANY_TAG:
    case SOURCES:
        return SYNTHETIC;
    case DEPTH:
        return SYNTHETIC | OVER_MPI | THREADED;
    case RANKS:
    case STEPS:
        return STREAMS;
    case SEED:
        return SYNTHETIC | STREAMS;
    case LIMIT:
        return REPLAY | OVER_MPI;
    case SECONDS:
    case KC:
    case KP:
    case THETA:
        return REPLAY;
    default:
        return ANY;
    }
}

typedef struct match_command {
    sk_arena *a;
    sk_match_options o;
    uint64_t given; /* bit key - SK_CLI_KEY: the option was given */
} match_command;

static bool take(void *ctx, int key, const char *value);

static const sk_cli cli = {
    .command = "skein bench match",
    .args = "\n--stream=LIST\n--trace=FILE [FILE...]\n--threads=LIST\n--mpi",
    .about =
        "Compare the matching engines: on queues of one depth, on applications (--stream), on "
        "recorded programs (--trace), with several threads (--threads), or as MPI programs "
        "over the provider (--mpi).\n\n"
        "Runs receives and messages through the engines by turns in one process, checks that "
        "all engines give the same matches, and compares each with `list`. Progress goes to "
        "standard error, the tables to standard output.\v"
        "Exit status: 0 done, 1 engines disagree or nothing could be measured, 2 used wrongly.",
    .options = options,
    .take = take};

/* The words that an option accepts. */
static sk_strlist names_of(sk_arena *a, int key)
{
    sk_strlist w = sk_strlist_new(a);
    if (key == ORDER)
        sk_strlist_split(&w, "forward,reverse,random", ",");
    if (key == SIDE)
        sk_strlist_split(&w, "posted,unexpected", ",");
    for (int i = 0; key == ENGINE && sk_engine_name(i); i++)
        sk_strlist_add(&w, sk_engine_name(i));
    for (int i = 0; key == STREAM && sk_app_get(i); i++)
        sk_strlist_add(&w, sk_app_get(i)->name);
    for (int i = 0; key == TRANSPORT && sk_transport_name(i); i++)
        sk_strlist_add(&w, sk_transport_name(i));
    return w;
}

static bool choose(sk_arena *a, int key, const char *what, const char *value, sk_strlist *out)
{
    sk_strlist valid = names_of(a, key);
    return sk_cli_choose(&cli, what, value, &valid, out);
}

/* There is only one mode. The same one may be selected twice. */
static bool set_mode(sk_match_options *o, sk_match_mode mode)
{
    if (o->mode != SK_MATCH_SYNTHETIC && o->mode != mode)
        return sk_cli_error(&cli, "only one of --trace, --stream, --mpi and --threads at a time");
    o->mode = mode;
    return true;
}

static bool take_number(sk_match_options *o, int key, const char *value)
{
    int64_t n = 0;
    switch (key) {
    case STEPS:
        return sk_cli_number(&cli, key, value, 1, 1000000, &o->steps);
    case SEED:
        return sk_cli_number(&cli, key, value, 0, INT64_MAX, &o->seed);
    case KC:
        return sk_cli_number(&cli, key, value, 1, 1000000, &o->kc);
    case KP:
        return sk_cli_number(&cli, key, value, 1, 1000000, &o->kp);
    case THETA:
        return sk_cli_number(&cli, key, value, 1, INT_MAX, &o->theta);
    case ROUNDS:
        if (!sk_cli_number(&cli, key, value, 1, 1000, &n))
            return false;
        o->rounds = (int)n;
        return true;
    default:
        if (!sk_cli_number(&cli, key, value, 1, 100000, &n))
            return false;
        *(key == LIMIT ? &o->limit : &o->seconds) = (double)n;
        return true;
    }
}

static bool take(void *ctx, int key, const char *value)
{
    match_command *m = ctx;
    sk_match_options *o = &m->o;
    if (key != SK_CLI_WORD)
        m->given |= UINT64_C(1) << (key - SK_CLI_KEY);
    switch (key) {
    case SK_CLI_WORD:
        if (o->mode != SK_MATCH_TRACES)
            return sk_cli_error(&cli, "%s is no option; --help lists them", value);
        sk_strlist_add(&o->traces, value);
        return true;
    case TRACE:
        sk_strlist_add(&o->traces, value);
        return set_mode(o, SK_MATCH_TRACES);
    case STREAM:
        return set_mode(o, SK_MATCH_STREAMS) && choose(m->a, key, "stream", value, &o->streams);
    case TRANSPORT:
        return set_mode(o, SK_MATCH_MPI) && choose(m->a, key, "transport", value, &o->transports);
    case MPI:
        return set_mode(o, SK_MATCH_MPI);
    case THREADS:
        return set_mode(o, SK_MATCH_THREADS) &&
               sk_cli_numbers(&cli, key, value, 1, 256, &o->threads);
    case ENGINE:
        return choose(m->a, key, "engine", value, &o->engines);
    case ORDER:
        return choose(m->a, key, "order", value, &o->orders);
    case SIDE:
        return choose(m->a, key, "side", value, &o->sides);
    case DEPTH:
        return sk_cli_numbers(&cli, key, value, 1, 10000000, &o->depths);
    case WILD:
        return sk_cli_numbers(&cli, key, value, 0, 100, &o->wild);
    case SOURCES:
        return sk_cli_numbers(&cli, key, value, 1, 1000000, &o->sources);
    case RANKS:
        return sk_cli_numbers(&cli, key, value, SK_APP_MIN_RANKS, 100000, &o->ranks);
    case ANY_TAG:
        o->any_tag = true;
        return true;
    case CSV:
        o->csv = value;
        return true;
    default:
        return take_number(o, key, value);
    }
}

static bool check_mode(const match_command *m)
{
    static const char *const names[] = {"without --stream, --trace, --threads and --mpi",
                                        "with --trace", "with --stream", "with --mpi",
                                        "with --threads"};
    for (const struct argp_option *row = options; row->name; row++)
        if (m->given >> (row->key - SK_CLI_KEY) & 1 && !(modes_of(row->key) >> m->o.mode & 1))
            return sk_cli_error(&cli, "--%s has no meaning %s", row->name, names[m->o.mode]);
    return true;
}

static void default_numbers(sk_numbers *n, int key, const char *value)
{
    if (n->n == 0)
        sk_cli_numbers(&cli, key, value, 0, INT_MAX, n);
}

static void default_names(sk_arena *a, sk_strlist *names, int key)
{
    if (names->n == 0)
        *names = names_of(a, key);
}

/* The defaults of the mode for what was not given. */
static void set_defaults(sk_arena *a, sk_match_options *o)
{
    bool mpi = o->mode == SK_MATCH_MPI, threads = o->mode == SK_MATCH_THREADS;
    bool stream = o->mode == SK_MATCH_STREAMS || o->mode == SK_MATCH_TRACES;
    if (!mpi)
        default_names(a, &o->engines, ENGINE);
    default_names(a, &o->orders, ORDER);
    default_names(a, &o->sides, SIDE);
    default_names(a, &o->transports, TRANSPORT);
    default_numbers(&o->depths, DEPTH,
                    mpi       ? "100,1000,10000,50000"
                    : threads ? "10,1000"
                              : "1,10,100,1000,10000,100000,1000000");
    default_numbers(&o->wild, WILD, "0,10,100");
    default_numbers(&o->sources, SOURCES, "1024");
    default_numbers(&o->ranks, RANKS, "256,512,1024,2048,4096");
    if (o->rounds == 0)
        o->rounds = mpi ? 3 : 9;
    if (o->limit == 0 && (mpi || stream))
        o->limit = 30;
    if (o->seconds == 0)
        o->seconds = stream ? 10 : 2;
}

static int run(sk_arena *a, const sk_match_options *o, FILE *csv)
{
    switch (o->mode) {
    case SK_MATCH_TRACES:
        return sk_mode_traces(o, csv);
    case SK_MATCH_STREAMS:
        return sk_mode_streams(o, csv);
    case SK_MATCH_THREADS:
        return sk_mode_threads(o, csv);
    case SK_MATCH_MPI:
        return sk_mode_mpi(a, o, csv);
    default:
        return sk_mode_synthetic(o, csv);
    }
}

static int parse(match_command *m, int argc, char **argv)
{
    sk_strlist none = sk_strlist_new(m->a);
    m->o = (sk_match_options){.seed = 1,
                              .engines = none,
                              .orders = none,
                              .sides = none,
                              .streams = none,
                              .traces = none,
                              .transports = none};
    int status = sk_cli_parse(&cli, m, argc, argv, NULL);
    if (status == SK_CLI_OK && !check_mode(m))
        return SK_CLI_WRONG;
    set_defaults(m->a, &m->o);
    return status;
}

int sk_cmd_bench_match(int argc, char **argv)
{
    match_command m = {.a = sk_arena_new()};
    FILE *csv = NULL;
    if (!m.a) {
        fputs("skein: out of memory\n", stderr);
        return 1;
    }
    int status = parse(&m, argc, argv);
    if (status != SK_CLI_OK)
        goto out;
    if (m.o.csv && !(csv = fopen(m.o.csv, "w"))) {
        perror(m.o.csv);
        status = 1;
        goto out;
    }
    status = run(m.a, &m.o, csv);
    if (csv && fclose(csv) != 0) {
        perror(m.o.csv);
        status = 1;
    }
out:
    sk_arena_free(m.a);
    return status;
}
