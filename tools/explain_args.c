#include "explain_args.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/settings.h"
#include "option.h"

enum { MOST_RANKS = 1000000 };
static const int64_t MOST_BYTES = (int64_t)1 << 40; /* times ranks it still fits its field */

typedef enum option {
    RANKS,
    BYTES,
    COUNT,
    TYPE_SIZE,
    ROOT,
    RANK,
    ALGORITHM,
    MACHINE,
    ORDERED,
    PRINT,
    HELP,
    NOPTIONS
} option;
static const sk_option options[] = {
    {"--ranks", true},    {"--bytes", true},  {"--count", true},     {"--type-size", true},
    {"--root", true},     {"--rank", true},   {"--algorithm", true}, {"--machine", true},
    {"--ordered", false}, {"--print", false}, {"--help", false},     {NULL, false}};

static int usage(FILE *out, int status)
{
    fprintf(out,
            "usage: skein explain COLLECTIVE --ranks P [--bytes N | --count N] [OPTION]...\n"
            "       skein explain neighbor --graph GRAPH --ranks P --bytes N [OPTION]...\n\n"
            "  --ranks P         ranks of the communicator\n"
            "  --bytes N         size of the call: a block, or the vector; K, M, G may follow\n"
            "  --count N         the same in elements\n"
            "  --type-size N     bytes of an element (8 where it divides the bytes, else 1)\n"
            "  --root R          root of the call (0)\n"
            "  --rank R          the rank whose numbers are shown (0)\n"
            "  --ordered         the operation does not commute\n"
            "  --algorithm NAME  show this one instead of the one chosen\n"
            "  --machine TEXT    such as \"node:8 core:8 map:rr\": show what leaves its nodes\n"
            "  --print           print the schedule of the rank\n\n"
            "`skein explain neighbor --help` tells of neighbourhood collectives.\n");
    return status;
}

#define bad(...) sk_bad_use("explain", __VA_ARGS__)

/* The values as given, -1 where not; words stay words. */
typedef struct given {
    int64_t number[NOPTIONS];
    const char *coll, *algo, *machine;
} given;

static int take_option(given *g, option o, const char *value)
{
    if (o == ALGORITHM)
        g->algo = value;
    else if (o == MACHINE)
        g->machine = value;
    else if (o == ORDERED || o == PRINT)
        g->number[o] = 1;
    else if (o == HELP)
        return usage(stdout, 0);
    else if (!sk_read_number(value, o == BYTES || o == COUNT, &g->number[o]))
        return bad("%s %s: a whole number is wanted", options[o].name, value);
    return -1;
}

static int split(int argc, char **argv, given *g)
{
    for (int i = 1; i < argc; i++) {
        const char *value;
        int o = sk_option_take("skein explain", options, argv, &i, &value);
        if (o == SK_OPTION_BAD)
            return 2;
        if (o == SK_OPTION_WORD) {
            if (g->coll)
                return bad("one collective at a time: %s, %s", g->coll, value);
            g->coll = value;
            continue;
        }
        int status = take_option(g, (option)o, value);
        if (status >= 0)
            return status;
    }
    return -1;
}

static int find_coll(const given *g, sk_coll *out)
{
    const char *colls[SK_NCOLLS + 1] = {0};
    if (!g->coll)
        return usage(stderr, 2);
    for (int i = 0; i < SK_NCOLLS; i++)
        colls[i] = sk_coll_name((sk_coll)i);
    *out = sk_coll_find(g->coll);
    if (*out == SK_NCOLLS)
        return bad("no collective %s; did you mean %s?", g->coll, sk_nearest(g->coll, colls));
    if (sk_coll_neighbor(*out))
        return bad("%s depends on its graph: use `skein explain neighbor --graph GRAPH "
                   "--collective %s`",
                   g->coll, g->coll + strlen("neighbor_"));
    return -1;
}

static int find_algo(const char *name, sk_coll coll, const sk_algo **out)
{
    const char *algos[64] = {0};
    int n = 0;
    *out = sk_algo_find(coll, name);
    if (*out)
        return -1;
    for (const sk_algo *const *a = sk_algos(); *a && n < 63; a++)
        if ((*a)->coll == coll)
            algos[n++] = (*a)->name;
    if (n == 0)
        return bad("%s has no algorithm %s", sk_coll_name(coll), name);
    return bad("%s has no algorithm %s; did you mean %s?", sk_coll_name(coll), name,
               sk_nearest(name, algos));
}

static int read_size(const int64_t *number, sk_shape *s)
{
    int64_t bytes = number[BYTES], count = number[COUNT], size = number[TYPE_SIZE];
    if (s->coll == SK_BARRIER) {
        s->elem_size = 1;
        return bytes > 0 || count > 0 ? bad("a barrier has no bytes") : -1;
    }
    if ((bytes < 0) == (count < 0))
        return bad("%s needs --bytes or --count, one of them", sk_coll_name(s->coll));
    if (size == 0)
        return bad("--type-size 0: an element has at least one byte");
    if (size < 0)
        size = count >= 0 || bytes % 8 == 0 ? 8 : 1;
    if (bytes >= 0 && bytes % size != 0)
        return bad("%" PRId64 " bytes are no whole number of elements of %" PRId64, bytes, size);
    s->elem_size = size;
    s->elems = count >= 0 ? count : bytes / size;
    if (size > MOST_BYTES || s->elems > MOST_BYTES / size)
        return bad("more than %" PRId64 " bytes are too many", MOST_BYTES);
    return -1;
}

static int read_rank(int64_t number, const char *name, int nranks, int *out)
{
    if (number >= nranks)
        return bad("%s %" PRId64 " is not among %d ranks", name, number, nranks);
    *out = number < 0 ? 0 : (int)number;
    return -1;
}

int sk_explain_args_read(int argc, char **argv, sk_explain_args *out)
{
    given g = {0};
    sk_explain_args a = {0};
    sk_shape *s = &a.shape;
    for (int i = 0; i < NOPTIONS; i++)
        g.number[i] = -1;
    int status = split(argc, argv, &g);
    if (status < 0)
        status = find_coll(&g, &s->coll);
    if (status >= 0)
        return status;
    if (g.number[RANKS] < 1 || g.number[RANKS] > MOST_RANKS)
        return bad("--ranks from 1 to %d is needed", MOST_RANKS);
    s->nranks = (int)g.number[RANKS];
    s->ordered = g.number[ORDERED] == 1;
    status = read_size(g.number, s);
    if (status < 0)
        status = read_rank(g.number[ROOT], "--root", s->nranks, &s->root);
    if (status < 0)
        status = read_rank(g.number[RANK], "--rank", s->nranks, &a.rank);
    if (status < 0 && g.algo)
        status = find_algo(g.algo, s->coll, &a.algo);
    if (status >= 0)
        return status;
    sk_shape_round(s);
    a.print = g.number[PRINT] == 1;
    a.machine = g.machine;
    a.bytes_mean = strncmp(sk_coll_bytes_mean(s->coll), "unknown", 7) == 0
                       ? "one block"
                       : sk_coll_bytes_mean(s->coll);
    *out = a;
    return -1;
}
