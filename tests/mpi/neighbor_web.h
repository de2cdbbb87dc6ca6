/* neighbor_web.h: random directed graphs with parallel edges and loops, drawn alike on all ranks,
 * and the topologies made of them. */
#ifndef NEIGHBOR_WEB_H
#define NEIGHBOR_WEB_H

#include "testlib.h"

typedef struct web {
    int n;                /* ranks */
    unsigned char *times; /* edges from s to d: times[s * n + d] */
    char text[60];
} web;

web web_draw(rng *shared, int n);
void web_mirror(web *w); /* as many edges back as forth: what MPI_Graph_create is used for */
void web_free(web *w);
int web_edges(const web *w);
int web_weight(int from, int to); /* that all ranks give to an edge */

/* What one rank says of its neighbours, in an order of its own, with their weights. */
typedef struct lists {
    int nin, nout, *in, *out, *in_weights, *out_weights;
} lists;

lists lists_draw(const web *w, int rank, rng *local);
void lists_free(lists *l);

typedef struct web_how {
    MPI_Info info;
    bool reorder, weighted;
} web_how;

/* Each rank tells of its own edges; or any rank of any edge, drawn alike; or all ranks of all. The
 * communicator is null where the web has fewer ranks than the base. */
MPI_Comm web_adjacent(const lists *l, MPI_Comm base, web_how how);
MPI_Comm web_scattered(const web *w, rng *shared, MPI_Comm base, web_how how);
MPI_Comm web_graph(const web *w, MPI_Comm base, bool reorder);

#endif
