/* rename.h: new names for ranks, for the time of one collective, so that an algorithm made for one
 * mapping of ranks to nodes finds that mapping on a machine that has another one. Neither processes
 * nor data move: a rank does the work of the rank whose name it has.
 *
 * paper  rank-renaming III.2: fSQ and fRR for regular mappings; other mappings need the location of
 *        every rank, which sk_machine has */
#ifndef SK_RENAME_H
#define SK_RENAME_H

#include "topo/machine.h"

/* Regular mappings have the same number of ranks on every node (socket), assigned in this order. */
typedef enum sk_mapping {
    SK_MAP_SEQUENTIAL,         /* a node is filled before the next one */
    SK_MAP_ROUND_ROBIN,        /* over the nodes in turn */
    SK_MAP_ROUND_ROBIN_SOCKET, /* over the sockets in turn */
    SK_MAP_IRREGULAR,
} sk_mapping;

sk_mapping sk_mapping_of(const sk_machine *m);
const char *sk_mapping_name(sk_mapping mapping); /* "sequential", ... */

/* Which mapping an algorithm is made for. */
typedef enum sk_prefers {
    SK_PREFERS_ANY,         /* makes no difference, or ranks must keep their names */
    SK_PREFERS_SEQUENTIAL,  /* neighbours communicate most */
    SK_PREFERS_ROUND_ROBIN, /* ranks far apart communicate most */
} sk_prefers;
const char *sk_prefers_name(sk_prefers wants); /* "any", "sequential", "round-robin" */

/* The paper's functions, for `nodes` nodes of `on_node` ranks: the new name of a rank of a
 * round-robin mapping that makes it sequential, and the other way round. Each is the inverse of the
 * other. */
int sk_rename_sq(int rank, int nodes, int on_node);
int sk_rename_rr(int rank, int nodes, int on_node);

/* A permutation; immutable. */
typedef struct sk_rename {
    sk_prefers order; /* the mapping that the new names have */
    int nranks;
    const int *name_of; /* of each rank */
    const int *rank_of; /* of each name */
} sk_rename;

/* Names with which the machine has the wanted mapping: by the paper's functions where its mapping is
 * regular, else in the order of sk_machine.rank_at, or round-robin over the nodes that still have
 * ranks. *out is set on success only; NULL there: the ranks need no new names. */
sk_status sk_rename_new(const sk_machine *m, sk_prefers wants, sk_rename **out);
void sk_rename_free(sk_rename *r);

/* The same for any machine, without the paper's functions; never NULL. */
sk_status sk_rename_by_position(const sk_machine *m, sk_prefers wants, sk_rename **out);

#endif
