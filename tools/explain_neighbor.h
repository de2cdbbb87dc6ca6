/* explain_neighbor.h: `skein explain neighbor`: what each way to serve a neighbourhood collective
 * would send on a graph and a machine that need not be there. */
#ifndef SK_EXPLAIN_NEIGHBOR_H
#define SK_EXPLAIN_NEIGHBOR_H

#include "base/settings.h"
#include "coll/call.h"
#include "neighbor/cost/model.h"
#include "neighbor/cost/predict.h"
#include "neighbor/method.h"
#include "topo/whole.h"

/* The command; argv[0] is "neighbor". Returns the exit status. */
int sk_explain_neighbor(int argc, char **argv);

typedef struct sk_neighbor_args {
    const char *graph, *machine, *model; /* as given; machine, model: may be empty, the default */
    sk_coll coll;
    int nranks, rank; /* rank: whose messages are listed; -1: nobody's */
    int64_t bytes;    /* of a block */
    sk_pattern_opts opts;
} sk_neighbor_args;

/* -1: go on; else the command ends with this exit status, its message printed. The settings stand
 * where an option does not. The result borrows from both. */
int sk_neighbor_args_read(int argc, char **argv, const sk_settings *set, sk_neighbor_args *out);

/* Everything the words of the command line stand for. */
typedef struct sk_neighbor_scene {
    sk_neighbor_args args;
    sk_machine *machine;
    sk_model model;
    sk_whole *graph;
    bool *idle; /* by rank */
    sk_graph_size size;
    bool distinct; /* alltoall: a block of its own for each neighbour */
} sk_neighbor_scene;

/* -1, or the exit status after a message. */
int sk_neighbor_scene_set(const sk_neighbor_args *args, sk_neighbor_scene *out);
void sk_neighbor_scene_drop(sk_neighbor_scene *s);

/* What one rank sends: by level, and in all at SK_NLEVELS. */
typedef struct sk_sent {
    int64_t messages[SK_NLEVELS + 1], blocks[SK_NLEVELS + 1];
} sk_sent;

typedef struct sk_neighbor_tally {
    const sk_method *method;
    sk_sent total, most; /* over all ranks */
    sk_load load;        /* the largest of all ranks: what is priced */
    sk_load guess;       /* the same before the pattern is made */
    double planning;     /* seconds of CPU for the patterns of all ranks */
    sk_pattern *shown;   /* of args.rank, or NULL */
} sk_neighbor_tally;

/* Plans for all ranks, counts, and drops all patterns but the one to be shown. */
sk_status sk_neighbor_tally_take(const sk_neighbor_scene *s, sk_method_id id,
                                 sk_neighbor_tally *out);

/* Seconds of a call with blocks of `bytes`. */
double sk_neighbor_price(const sk_neighbor_scene *s, const sk_load *load, int64_t bytes);

/* `t`: one for each method. */
void sk_neighbor_print(const sk_neighbor_scene *s, const sk_neighbor_tally *t);
void sk_neighbor_print_rank(const sk_neighbor_scene *s, const sk_neighbor_tally *t);

#endif
