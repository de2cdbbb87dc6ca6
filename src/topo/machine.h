/* machine.h: the node, socket and core of every rank of a communicator. Built from what the ranks
 * find out about themselves, or from a description, so that tests and `skein explain` can use
 * machines that do not exist. Immutable. */
#ifndef SK_MACHINE_H
#define SK_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/copy_prices.h"
#include "base/status.h"

/* What two ranks share. A message costs more from level to level. */
typedef enum sk_level { SK_SOCKET, SK_NODE, SK_NET, SK_NLEVELS } sk_level;
const char *sk_level_name(sk_level level); /* "socket", "node", "net" */

/* Where one rank runs. Any numbers: equal numbers are the same node. Socket and core numbers are
 * unique within a node; core -1: not bound to a core. */
typedef struct sk_location {
    int64_t node;
    int32_t socket, core;
} sk_location;

/* What a message between nodes takes, in bytes that the network passes in the same time; 0: not known. */
typedef struct sk_net_bytes {
    int64_t message;  /* of all ranks of a node, with its software at both ends */
    int64_t software; /* the software of one at one end ... */
    int64_t way;      /* ... and its way between the two */
} sk_net_bytes;

/* `message` of the usual model, each rank on its own core. */
enum { SK_USUAL_MESSAGE_BYTES = 25000 };

typedef struct sk_machine {
    int nranks, nnodes, nsockets; /* nodes and sockets that have ranks */
    int *node, *socket;           /* of each rank, numbered from 0 by position; sockets are numbered
                                   * over all nodes */
    int *core;                    /* as the location says */
    int *rank_at;                 /* the rank at each position. Positions go by node, socket, core,
                                   * rank; nodes and sockets are in the order of their lowest rank */
    int *position;                /* of each rank: the inverse of rank_at */
    int *node_first;   /* nnodes + 1: the ranks of node i are rank_at[node_first[i] ...] */
    int *socket_first; /* nsockets + 1: the same for sockets */
    int *local_ranks;  /* ranks by node, then rank: those of node i are
                                   * local_ranks[node_first[i] ...] */
    int *local_rank;   /* of each rank: its index among the ranks of its node */
    int max_per_node;  /* ranks on the fullest node */
    int max_per_socket;
    int cores;           /* for the ranks of the fullest node; 0: not known. Equal on all ranks */
    bool in_order;       /* rank_at is 0, 1, 2, ... */
    sk_copy_prices copy; /* between ranks of a node; equal on all ranks. Set by the owner */
    sk_net_bytes net;    /* equal on all ranks. Set by the owner */
} sk_machine;

/* `cores`: of a node, 0 when not known. *out is set on success only. */
sk_status sk_machine_new(int nranks, const sk_location *locations, int cores, sk_machine **out);
/* Nodes with equally many ranks, in order, none of which is bound to a core. */
sk_status sk_machine_even(int nranks, int nnodes, int cores, sk_machine **out);

void sk_machine_free(sk_machine *m);

/* "node:60 socket:2 core:18", with an optional "map:seq" (default), "map:rr" (round-robin over
 * nodes), "map:rr-socket" (over sockets), "map:shuffle" or "map:shuffle:SEED". A missing level counts
 * 1. "node:*" takes as many nodes as the ranks need. Fewer ranks than cores fill the machine in the
 * order of the map; more are an error. On failure `err` says what is wrong and what would be
 * right. */
sk_status sk_machine_parse(const char *text, int nranks, sk_machine **out, char *err, size_t size);

/* The ranks of `rank`'s node in rising order, and how many they are. */
static inline const int *sk_machine_local_ranks(const sk_machine *m, int rank, int *n)
{
    const int *first = &m->node_first[m->node[rank]];
    *n = first[1] - first[0];
    return &m->local_ranks[first[0]];
}

/* cores[r]: those that the ranks of rank r's node have together; 0: not known. Nodes differ in their ranks and in their
 * cores, and what counts is how many ranks share a core where most do: m->cores becomes that of a fullest node with
 * as many ranks per core, or the most of all nodes if no node has more ranks than cores. */
void sk_machine_set_cores(sk_machine *m, const int *cores);

/* Are there more ranks than cores on some node? */
static inline bool sk_machine_oversubscribed(const sk_machine *m)
{
    return m->cores > 0 && m->max_per_node > m->cores;
}

static inline sk_level sk_machine_level(const sk_machine *m, int a, int b)
{
    if (m->node[a] != m->node[b])
        return SK_NET;
    return m->socket[a] != m->socket[b] ? SK_NODE : SK_SOCKET;
}

#endif
