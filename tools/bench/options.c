#include "bench/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "option.h"
#include "callspec.h"

enum { MAX_RANKS = 4096, MAX_ROUNDS = 1000 };

enum {
    COLLECTIVE,
    BYTES,
    RANKS,
    ROUNDS,
    MPI,
    ALGORITHM,
    ALL_ALGORITHMS,
    AGAINST,
    SECONDS,
    CSV,
    PLAIN,
    GRAPH,
    HELP
};
static const sk_option table[] = {
    {"--collective", true}, {"--bytes", true},     {"--ranks", true},           {"--rounds", true},
    {"--mpi", true},        {"--algorithm", true}, {"--all-algorithms", false}, {"--against", true},
    {"--seconds", true},    {"--csv", true},       {"--plain", false},          {"--graph", true},
    {"--help", false},      {NULL, false}};

/* A whole number, also with K, M or G (of 1024), between lo and hi. */
static bool number(const char *option, const char *text, int64_t lo, int64_t hi, int64_t *out)
{
    char *end;
    errno = 0;
    long long n = strtoll(text, &end, 10);
    int shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
    if (end == text || end[shift > 0] || errno || n < lo || n > hi >> shift)
        return sk_bench_bad("%s takes numbers from %lld to %lld, not %s", option, (long long)lo,
                            (long long)hi, text);
    *out = (int64_t)n << shift;
    return true;
}

static bool numbers(sk_arena *a, const char *option, const char *text, int64_t lo, int64_t hi,
                    int64_t *list, int *n)
{
    sk_strlist w = sk_strlist_new(a);
    sk_strlist_split(&w, text, ",");
    if (w.n == 0 || w.n > SK_BENCH_LIST)
        return sk_bench_bad("%s takes 1 to %d numbers, separated by commas", option, SK_BENCH_LIST);
    *n = w.n;
    for (int i = 0; i < w.n; i++)
        if (!number(option, w.v[i], lo, hi, &list[i]))
            return false;
    return true;
}

static sk_coll find_coll(const sk_bench_options *o, const char *name)
{
    return o->neighbor ? sk_neighbor_coll_find(name) : sk_coll_find(name);
}

static bool collectives(sk_arena *a, const char *text, sk_bench_options *o)
{
    bool chosen[SK_NCOLLS] = {false};
    sk_strlist w = sk_strlist_new(a), valid = sk_strlist_new(a);
    sk_strlist_split(&w, text, ",");
    sk_strlist_add(&valid, "all");
    for (int i = 0; i < SK_NCOLLS; i++)
        if (sk_coll_neighbor((sk_coll)i) == o->neighbor)
            sk_strlist_add(&valid,
                           sk_coll_name((sk_coll)i) + (o->neighbor ? strlen("neighbor_") : 0));
    for (int i = 0; i < w.n; i++) {
        sk_coll coll = find_coll(o, w.v[i]);
        bool all = strcmp(w.v[i], "all") == 0;
        if (coll == SK_NCOLLS && !all)
            return sk_bench_unknown("collective", w.v[i], &valid);
        if (!all && sk_coll_neighbor(coll) != o->neighbor)
            return sk_bench_bad("%s needs a graph: use `skein bench neighbor`", w.v[i]);
        for (int k = 0; k < SK_NCOLLS; k++)
            if (all ? sk_coll_neighbor((sk_coll)k) == o->neighbor : (sk_coll)k == coll)
                chosen[k] = true;
    }
    o->ncolls = 0;
    for (int k = 0; k < SK_NCOLLS; k++)
        if (chosen[k])
            o->colls[o->ncolls++] = (sk_coll)k;
    return o->ncolls > 0 || sk_bench_bad("--collective takes names, separated by commas");
}

static bool mpis(sk_arena *a, const char *text, sk_bench_options *o)
{
    sk_strlist valid = sk_strlist_new(a);
    sk_strlist_split(&valid, "openmpi mpich both", " ");
    if (!sk_strlist_has(&valid, text))
        return sk_bench_unknown("MPI", text, &valid);
    for (int f = SK_MPI_OPENMPI; f <= SK_MPI_MPICH; f++)
        o->mpi[f] = strcmp(text, "both") == 0 || sk_flavour_of_name(text) == (sk_flavour)f;
    return true;
}

static bool take(sk_arena *a, int option, const char *value, sk_bench_options *o)
{
    int64_t n = 0, list[SK_BENCH_LIST] = {0};
    const char *name = table[option].name;
    switch (option) {
    case COLLECTIVE:
        return collectives(a, value, o);
    case BYTES:
        return numbers(a, name, value, 1, (int64_t)1 << 30, o->bytes, &o->nbytes);
    case RANKS:
        if (!numbers(a, name, value, 1, MAX_RANKS, list, &o->nranks))
            return false;
        for (int i = 0; i < o->nranks; i++)
            o->ranks[i] = (int)list[i];
        o->ranks_given = true;
        return true;
    case ROUNDS:
        if (!number(name, value, 1, MAX_ROUNDS, &n))
            return false;
        o->rounds = (int)n;
        return true;
    case SECONDS:
        if (!number(name, value, 1, 1000000, &n))
            return false;
        o->seconds = (double)n;
        return true;
    case MPI:
        return mpis(a, value, o);
    case ALGORITHM:
        o->algorithm = value;
        return true;
    case AGAINST:
        sk_strlist_split(&o->against, value, ",");
        return true;
    case CSV:
        o->csv = value;
        return true;
    case GRAPH:
        sk_strlist_add(&o->graphs, value);
        return true;
    case ALL_ALGORITHMS:
        o->all_algorithms = true;
        return true;
    case PLAIN:
        o->plain = true;
        return true;
    default:
        o->help = true;
        return true;
    }
}

static sk_bench_options defaults(sk_arena *a, bool neighbor)
{
    static const int64_t global_bytes[] = {8, 1024, 16384, 131072, 1048576},
                         neighbor_bytes[] = {4, 256, 4096, 65536};
    sk_bench_options o = {.neighbor = neighbor, .rounds = 21, .nranks = 4, .ranks = {2, 4, 8, 16}};
    o.nbytes = neighbor ? 4 : 5;
    for (int i = 0; i < o.nbytes; i++)
        o.bytes[i] = neighbor ? neighbor_bytes[i] : global_bytes[i];
    o.against = sk_strlist_new(a);
    o.graphs = sk_strlist_new(a);
    collectives(a, neighbor ? "allgather" : "all", &o);
    mpis(a, "both", &o);
    return o;
}

bool sk_bench_options_parse(sk_arena *a, int argc, char **argv, sk_bench_options *out)
{
    bool neighbor = argc > 1 && strcmp(argv[1], "neighbor") == 0;
    sk_bench_options o = defaults(a, neighbor);
    for (int i = 1 + neighbor; i < argc; i++) {
        const char *value;
        int option = sk_option_take("skein bench", table, argv, &i, &value);
        if (option == SK_OPTION_WORD)
            return sk_bench_bad("%s is no option; `skein help bench` lists them", value);
        if (option < 0 || !take(a, option, value, &o))
            return false;
    }
    if (!o.help && !sk_bench_options_check(a, &o))
        return false;
    *out = o;
    return true;
}
