/* hoods.h: the neighbourhoods of all ranks: graphs on a machine, and the patterns that the methods
 * make for them. How edges match is worked out here without help of src/graph. */
#ifndef VERIFY_HOODS_H
#define VERIFY_HOODS_H

#include "neighbor/hood.h"

typedef enum graph_kind {
    GRAPH_EMPTY,
    GRAPH_SPARSE,   /* random, with parallel edges, loops and slots of nobody */
    GRAPH_DENSE,    /* the same, most pairs */
    GRAPH_SIMPLE,   /* random, without these */
    GRAPH_STAR,     /* one rank sends to and hears from all others */
    GRAPH_COMPLETE, /* all pairs, and loops */
    GRAPH_GRID,     /* Cartesian with borders */
    GRAPH_TORUS,    /* periodic, with dimensions of 1 and 2 */
    GRAPH_TUBE,     /* one dimension periodic, one not */
    GRAPH_COUNT
} graph_kind;

typedef struct hoods {
    graph_kind kind;
    int p;
    unsigned seed;
    const char *on; /* the machine's description */
    sk_machine *machine;
    sk_graph **graph;                  /* of each rank */
    int **from;                        /* of each rank: the out slot that in slot i hears from */
    sk_pattern **pattern[SK_NMETHODS]; /* of each rank */
    sk_load load[SK_NMETHODS];
} hoods;

enum { HOODS_MACHINES = 5, HOODS_ONE_NODE = 3 }; /* seeds modulo 5: all ranks on one node */

/* NULL when something fails. The seed decides machine, options and random graphs. */
hoods *hoods_new(graph_kind kind, int p, unsigned seed);
void hoods_free(hoods *h);

/* What a call of a rank gets. */
sk_hood hoods_of(const hoods *h, int rank, int64_t ride, int window);

/* A rank without any neighbour does not know how large the others' blocks are. */
bool hoods_idle(const hoods *h, int rank);

const char *graph_kind_name(graph_kind kind);

#endif
