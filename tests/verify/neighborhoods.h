/* neighborhoods.h: the neighbourhoods of all ranks: graphs on a machine, and the patterns that the methods
 * make for them. How edges match is worked out here without help of src/graph. */
#ifndef VERIFY_NEIGHBORHOODS_H
#define VERIFY_NEIGHBORHOODS_H

#include "neighbor/neighborhood.h"

typedef enum graph_kind {
    GRAPH_EMPTY,
    GRAPH_SPARSE,   /* random, with parallel edges, loops and edges of nobody */
    GRAPH_DENSE,    /* the same, most pairs */
    GRAPH_SIMPLE,   /* random, without these */
    GRAPH_STAR,     /* one rank sends to and hears from all others */
    GRAPH_COMPLETE, /* all pairs, and loops */
    GRAPH_GRID,     /* Cartesian with borders */
    GRAPH_TORUS,    /* periodic, with dimensions of 1 and 2 */
    GRAPH_TUBE,     /* one dimension periodic, one not */
    GRAPH_COUNT
} graph_kind;

typedef struct neighborhoods {
    graph_kind kind;
    int p;
    unsigned seed;
    const char *on; /* the machine's description */
    sk_machine *machine;
    sk_graph **graph;                  /* of each rank */
    int **from;                        /* of each rank: the out edge that in edge i hears from */
    sk_pattern **pattern[SK_NMETHODS]; /* of each rank */
    sk_load load[SK_NMETHODS];
} neighborhoods;

enum {
    NEIGHBORHOODS_MACHINES = 5,
    NEIGHBORHOODS_ONE_NODE = 3
}; /* seeds modulo 5: all ranks on one node */

/* NULL when something fails. The seed decides machine, options and random graphs. */
neighborhoods *neighborhoods_new(graph_kind kind, int p, unsigned seed);
void neighborhoods_free(neighborhoods *h);

/* What a call of a rank gets. */
sk_neighborhood neighborhoods_of(const neighborhoods *h, int rank, int64_t combine, int window);

/* A rank without any neighbour does not know how large the others' blocks are. */
bool neighborhoods_idle(const neighborhoods *h, int rank);

const char *graph_kind_name(graph_kind kind);

#endif
