#include "bench/match/options.h"

#include <limits.h>
#include <string.h>

#include "bench/match/stream.h"
#include "bench/match/transports.h"
#include "bench/match/values.h"
#include "option.h"

/* The modes in which an option means something. */
enum {
    ALONE = 1 << SK_MATCH_SYNTHETIC,
    STREAMS = 1 << SK_MATCH_STREAMS,
    PLAYED = ALONE | STREAMS | 1 << SK_MATCH_TRACES,
    OVER_MPI = 1 << SK_MATCH_MPI,
    THREADED = 1 << SK_MATCH_THREADS,
    ANY = PLAYED | OVER_MPI | THREADED,
};

/* Number, name, whether it takes a value, modes. */
#define OPTIONS(X)                                                                                 \
    X(DEPTH, "--depth", true, ALONE | OVER_MPI | THREADED)                                         \
    X(ORDER, "--order", true, ALONE)                                                               \
    X(WILD, "--wild", true, ALONE)                                                                 \
    X(ANY_TAG, "--any-tag", false, ALONE)                                                          \
    X(SOURCES, "--sources", true, ALONE)                                                           \
    X(SIDE, "--side", true, ALONE)                                                                 \
    X(ENGINE, "--engine", true, ANY)                                                               \
    X(TRACE, "--trace", true, ANY)                                                                 \
    X(STREAM, "--stream", true, ANY)                                                               \
    X(RANKS, "--ranks", true, STREAMS)                                                             \
    X(STEPS, "--steps", true, STREAMS)                                                             \
    X(SEED, "--seed", true, ALONE | STREAMS)                                                       \
    X(MPI, "--mpi", false, ANY)                                                                    \
    X(TRANSPORT, "--transport", true, ANY)                                                         \
    X(THREADS, "--threads", true, ANY)                                                             \
    X(ROUNDS, "--rounds", true, ANY)                                                               \
    X(LIMIT, "--limit", true, PLAYED | OVER_MPI)                                                   \
    X(SECONDS, "--seconds", true, PLAYED)                                                          \
    X(KC, "--kc", true, PLAYED)                                                                    \
    X(KP, "--kp", true, PLAYED)                                                                    \
    X(THETA, "--theta", true, PLAYED)                                                              \
    X(CSV, "--csv", true, ANY)                                                                     \
    X(HELP, "--help", false, ANY)

#define X(id, name, value, modes) id,
enum { OPTIONS(X) NOPTIONS };
#undef X
#define X(id, name, value, modes) {name, value},
static const sk_option table[] = {OPTIONS(X){NULL, false}};
#undef X
#define X(id, name, value, modes) modes,
static const unsigned modes_of[] = {OPTIONS(X)};
#undef X

static sk_strlist names(sk_arena *a, int option)
{
    sk_strlist w = sk_strlist_new(a);
    if (option == ORDER)
        sk_strlist_split(&w, "forward,reverse,random", ",");
    if (option == SIDE)
        sk_strlist_split(&w, "posted,unexpected", ",");
    for (int i = 0; option == ENGINE && sk_engine_name(i); i++)
        sk_strlist_add(&w, sk_engine_name(i));
    for (int i = 0; option == STREAM && sk_app_get(i); i++)
        sk_strlist_add(&w, sk_app_get(i)->name);
    for (int i = 0; option == TRANSPORT && sk_transport_get(i); i++)
        sk_strlist_add(&w, sk_transport_get(i)->name);
    return w;
}

/* Only one of the modes, however often it is named. */
static bool set_mode(sk_match_options *o, sk_match_mode mode, const char *option)
{
    if (o->mode != SK_MATCH_SYNTHETIC && o->mode != mode)
        return !sk_bad_use(SK_MATCH_COMMAND,
                           "%s: only one of --trace, --stream, --mpi and --threads at a time",
                           option);
    o->mode = mode;
    return true;
}

static bool take_number(int option, const char *value, sk_match_options *o)
{
    const char *name = table[option].name;
    int64_t n = 0;
    bool ok = true;
    switch (option) {
    case STEPS:
        return sk_value_number(name, value, 1, 1000000, &o->steps);
    case SEED:
        return sk_value_number(name, value, 0, INT64_MAX, &o->seed);
    case KC:
        return sk_value_number(name, value, 1, 1000000, &o->kc);
    case KP:
        return sk_value_number(name, value, 1, 1000000, &o->kp);
    case THETA:
        return sk_value_number(name, value, 1, INT_MAX, &o->theta);
    case ROUNDS:
        ok = sk_value_number(name, value, 1, 1000, &n);
        o->rounds = (int)n;
        return ok;
    case LIMIT:
        ok = sk_value_number(name, value, 1, 100000, &n);
        o->limit = (double)n;
        return ok;
    default:
        ok = sk_value_number(name, value, 1, 100000, &n);
        o->seconds = (double)n;
        return ok;
    }
}

static bool take(sk_arena *a, int option, const char *value, sk_match_options *o)
{
    const char *name = table[option].name;
    sk_strlist valid = names(a, option);
    switch (option) {
    case DEPTH:
        return sk_value_numbers(a, name, value, 1, 10000000, &o->depths);
    case WILD:
        return sk_value_numbers(a, name, value, 0, 100, &o->wild);
    case SOURCES:
        return sk_value_numbers(a, name, value, 1, 1000000, &o->sources);
    case RANKS:
        return sk_value_numbers(a, name, value, SK_APP_RANKS, 100000, &o->ranks);
    case THREADS:
        return set_mode(o, SK_MATCH_THREADS, name) &&
               sk_value_numbers(a, name, value, 1, 256, &o->threads);
    case ORDER:
        return sk_value_choose("order", value, &valid, &o->orders);
    case SIDE:
        return sk_value_choose("side", value, &valid, &o->sides);
    case ENGINE:
        return sk_value_choose("engine", value, &valid, &o->engines);
    case STREAM:
        return set_mode(o, SK_MATCH_STREAMS, name) &&
               sk_value_choose("stream", value, &valid, &o->streams);
    case TRANSPORT:
        return set_mode(o, SK_MATCH_MPI, name) &&
               sk_value_choose("transport", value, &valid, &o->transports);
    case TRACE:
        sk_strlist_add(&o->traces, value);
        return set_mode(o, SK_MATCH_TRACES, name);
    case MPI:
        return set_mode(o, SK_MATCH_MPI, name);
    case ANY_TAG:
        o->any_tag = true;
        return true;
    case CSV:
        o->csv = value;
        return true;
    case HELP:
        o->help = true;
        return true;
    default:
        return take_number(option, value, o);
    }
}

static sk_match_options nothing(sk_arena *a)
{
    sk_match_options o = {.seed = 1};
    o.traces = sk_strlist_new(a);
    o.engines = o.orders = o.sides = o.streams = o.transports = o.traces;
    return o;
}

static bool check_mode(const sk_match_options *o, unsigned given)
{
    static const char *const names[] = {"without --stream, --trace, --threads and --mpi",
                                        "with --trace", "with --stream", "with --mpi",
                                        "with --threads"};
    for (int i = 0; i < NOPTIONS; i++)
        if (given >> i & 1 && !(modes_of[i] >> o->mode & 1))
            return !sk_bad_use(SK_MATCH_COMMAND, "%s has no meaning %s", table[i].name,
                               names[o->mode]);
    return true;
}

/* What was left open, as it is right for the mode. */
static void complete(sk_arena *a, sk_match_options *o)
{
    bool mpi = o->mode == SK_MATCH_MPI, threads = o->mode == SK_MATCH_THREADS;
    bool stream = o->mode == SK_MATCH_STREAMS || o->mode == SK_MATCH_TRACES;
    sk_strlist all = names(a, ENGINE);
    if (o->engines.n == 0 && !mpi)
        o->engines = all;
    if (o->orders.n == 0)
        o->orders = names(a, ORDER);
    if (o->sides.n == 0)
        o->sides = names(a, SIDE);
    if (o->transports.n == 0)
        o->transports = names(a, TRANSPORT);
    if (o->depths.n == 0)
        sk_value_numbers(a, "",
                         mpi       ? "100,1000,10000,50000"
                         : threads ? "10,1000"
                                   : "1,10,100,1000,10000,100000,1000000",
                         1, INT_MAX, &o->depths);
    if (o->wild.n == 0)
        sk_value_numbers(a, "", "0,10,100", 0, 100, &o->wild);
    if (o->sources.n == 0)
        sk_value_numbers(a, "", "1024", 1, INT_MAX, &o->sources);
    if (o->ranks.n == 0)
        sk_value_numbers(a, "", "256,512,1024,2048,4096", 1, INT_MAX, &o->ranks);
    if (o->rounds == 0)
        o->rounds = mpi ? 3 : 9;
    if (o->limit == 0 && (mpi || stream))
        o->limit = 30;
    if (o->seconds == 0)
        o->seconds = stream ? 10 : 2;
}

bool sk_match_options_parse(sk_arena *a, int argc, char **argv, sk_match_options *out)
{
    sk_match_options o = nothing(a);
    unsigned given = 0;
    for (int i = 1; i < argc; i++) {
        const char *value;
        int option = sk_option_take("skein " SK_MATCH_COMMAND, table, argv, &i, &value);
        if (option == SK_OPTION_WORD && o.mode == SK_MATCH_TRACES)
            sk_strlist_add(&o.traces, value);
        else if (option == SK_OPTION_WORD)
            return !sk_bad_use(SK_MATCH_COMMAND, "%s is no option; --help lists them", value);
        else if (option < 0 || !take(a, option, value, &o))
            return false;
        else
            given |= 1U << option;
    }
    if (!o.help && !check_mode(&o, given))
        return false;
    complete(a, &o);
    *out = o;
    return true;
}
