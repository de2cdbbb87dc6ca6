/* explain_neighbor_args.c: the command line of `skein explain neighbor`. */
#include <inttypes.h>
#include <stdio.h>

#include "explain_neighbor.h"
#include "option.h"
#include "shape.h"

enum { MOST_RANKS = 65536 };
static const int64_t MOST_BYTES = (int64_t)1 << 40;

typedef enum option {
    GRAPH,
    RANKS,
    BYTES,
    MACHINE,
    COLLECTIVE,
    MODEL,
    THETA,
    FRIENDS,
    CUMULATIVE,
    RANK,
    HELP,
    NOPTIONS
} option;
static const sk_option options[] = {
    {"--graph", true},       {"--ranks", true}, {"--bytes", true}, {"--machine", true},
    {"--collective", true},  {"--model", true}, {"--theta", true}, {"--friends", true},
    {"--cumulative", false}, {"--rank", true},  {"--help", false}, {NULL, false}};

static int usage(FILE *out, int status)
{
    fprintf(out,
            "usage: skein explain neighbor --graph GRAPH --ranks P --bytes N [OPTION]...\n\n"
            "Plans a neighbourhood collective in every way Skein has, without an MPI, and shows\n"
            "what a rank sends and how long a call should take.\n\n"
            "  --graph GRAPH      random:DELTA[,SEED], moore:D,R or matrix:FILE\n"
            "  --ranks P          ranks of the communicator\n"
            "  --bytes N          size of a block; K, M, G may follow\n"
            "  --machine TEXT     such as \"node:60 socket:2 core:18\" (one node with all ranks);\n"
            "                     map:rr, map:rr-socket or map:shuffle[:SEED] may follow\n"
            "  --collective NAME  allgather (default) or alltoall, also in their v and w forms\n"
            "  --model TEXT       cost of messages, such as\n"
            "                     \"socket:0.3us,10GB node:0.5us,8GB net:1.5us,12GB turn:40us\"\n"
            "  --theta N          common neighbours that make two ranks friends (4)\n"
            "  --friends K        ranks in a group of friends (2)\n"
            "  --cumulative       combine onloaded neighbours again\n"
            "  --rank R           list the messages of this rank too\n");
    return status;
}

#define bad(...) sk_bad_use("explain neighbor", __VA_ARGS__)

/* The values as given; numbers are -1 and words NULL where not. */
typedef struct given {
    int64_t number[NOPTIONS];
    const char *word[NOPTIONS];
} given;

static bool is_number(option o)
{
    return o == RANKS || o == BYTES || o == THETA || o == FRIENDS || o == RANK;
}

static int split(int argc, char **argv, given *g)
{
    for (int i = 1; i < argc; i++) {
        const char *value;
        int o = sk_option_take("skein explain neighbor", options, argv, &i, &value);
        if (o == SK_OPTION_BAD)
            return 2;
        if (o == SK_OPTION_WORD)
            return bad("%s is no option; a graph is given as --graph %s", value, value);
        if (o == HELP)
            return usage(stdout, 0);
        g->word[o] = value;
        if (is_number((option)o) && !sk_read_number(value, o == BYTES, &g->number[o]))
            return bad("%s %s: a whole number is wanted", options[o].name, value);
    }
    return -1;
}

static int find_coll(const char *name, sk_coll *out)
{
    const char *colls[SK_NCOLLS + 1] = {0};
    int n = 0;
    for (int i = 0; i < SK_NCOLLS; i++)
        if (sk_coll_neighbor((sk_coll)i))
            colls[n++] = sk_coll_name((sk_coll)i) + sizeof "neighbor_" - 1;
    *out = sk_shape_neighbor_coll(name ? name : "allgather");
    if (*out == SK_NCOLLS)
        return bad("no neighbourhood collective %s; did you mean %s?", name,
                   sk_nearest(name, colls));
    return -1;
}

/* A number that may be left out, between `least` and `most`. */
static int take_number(const given *g, option o, int64_t deflt, int least, int most, int *out)
{
    int64_t n = g->number[o] < 0 ? deflt : g->number[o];
    if (n < least || n > most)
        return bad("%s takes a number from %d to %d, not %" PRId64, options[o].name, least, most,
                   n);
    *out = (int)n;
    return -1;
}

int sk_neighbor_args_read(int argc, char **argv, const sk_settings *set, sk_neighbor_args *out)
{
    given g = {0};
    sk_neighbor_args a = {0};
    for (int i = 0; i < NOPTIONS; i++)
        g.number[i] = -1;
    if (argc == 1)
        return usage(stderr, 2);
    int status = split(argc, argv, &g);
    if (status >= 0)
        return status;
    if (!g.word[GRAPH])
        return bad("--graph is needed: random:DELTA[,SEED], moore:D,R or matrix:FILE");
    if (g.number[RANKS] < 1 || g.number[RANKS] > MOST_RANKS)
        return bad("--ranks from 1 to %d is needed", MOST_RANKS);
    if (g.number[BYTES] < 0 || g.number[BYTES] > MOST_BYTES)
        return bad("--bytes is needed: the size of a block, up to %" PRId64, MOST_BYTES);
    a.graph = g.word[GRAPH];
    a.machine = g.word[MACHINE] ? g.word[MACHINE] : sk_settings_text(set, SK_SET_MACHINE);
    a.model = g.word[MODEL] ? g.word[MODEL] : sk_settings_text(set, SK_SET_MODEL);
    a.nranks = (int)g.number[RANKS];
    a.bytes = g.number[BYTES];
    a.opts.cumulative = g.word[CUMULATIVE] || sk_settings_bool(set, SK_SET_CUMULATIVE);
    status = find_coll(g.word[COLLECTIVE], &a.coll);
    if (status < 0)
        status = take_number(&g, THETA, sk_settings_int(set, SK_SET_THETA), 1, MOST_RANKS,
                             &a.opts.theta);
    if (status < 0)
        status = take_number(&g, FRIENDS, sk_settings_int(set, SK_SET_FRIENDS), 2, MOST_RANKS,
                             &a.opts.friends);
    a.rank = -1;
    if (status < 0 && g.word[RANK])
        status = take_number(&g, RANK, 0, 0, a.nranks - 1, &a.rank);
    if (status >= 0)
        return status;
    *out = a;
    return -1;
}
