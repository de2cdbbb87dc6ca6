/* model.h: the load of a pattern (messages and blocks, without sizes), what messages cost on a machine,
 * and from both the price of a call: equations 4 to 8 of the distance-halving paper, with an alpha and
 * a beta for each level of the machine. */
#ifndef SK_MODEL_H
#define SK_MODEL_H

#include "neighbor/pattern.h"
#include "topo/machine.h"

/* What all ranks send and copy together. */
typedef struct sk_volume {
    int64_t messages, allgather_blocks, alltoall_blocks; /* between nodes */
    int64_t allgather_copies, alltoall_copies;           /* as in sk_load */
} sk_volume;

/* The counts of one rank, or the largest over all ranks, and the sums in `all`. Sends and receives are both
 * counted. It contains only int64_t, so that ranks agree on it by element-wise maxima and sums. */
typedef struct sk_load {
    int64_t stages;
    int64_t net_stages, intra_stages; /* those with messages between nodes, and inside a node */
    int64_t messages[SK_NLEVELS];
    int64_t most_messages;                /* of a rank, on all levels */
    int64_t allgather_blocks[SK_NLEVELS]; /* a source counts once per message */
    int64_t alltoall_blocks[SK_NLEVELS];  /* every pair of source and target counts */
    /* Blocks that are copied into shared memory, once for all ranks of the node, and out of it. */
    int64_t allgather_copies, alltoall_copies;
    /* Blocks of the longest message between ranks of a node; 0: there is none. */
    int64_t max_intra_allgather_blocks, max_intra_alltoall_blocks;
    /* Allgather: places in a slot where each source has one (sk_slot_place); the number of ranks where some
     * rank has two sources for one place in a stage. */
    int64_t slot_places;
    sk_volume all;
} sk_load;

/* The place of a source among the blocks that a rank of `node` has for others of its node. Sources that come
 * together from one node, and those of nodes whose distances differ by a multiple of the ranks on `node`, have
 * different ones. That is how the method `node` deals pairs of nodes to ranks. */
int sk_slot_place(const sk_machine *m, int node, int src);

sk_load sk_load_of(const sk_pattern *p, const sk_machine *m);
void sk_load_join(sk_load *into, const sk_load *with); /* the loads of two sets of ranks */

typedef struct sk_model {
    double alpha[SK_NLEVELS]; /* seconds per message */
    double beta[SK_NLEVELS];  /* seconds per byte */
    double copy;              /* seconds per byte within the caches of a core */
    double message;           /* seconds of a core for a message between nodes, at each end */
    double stage;             /* seconds that one more stage costs each rank on a shared core */
    double handshake; /* seconds that a long message waits for its receiver; 0: there and back */
    double port;      /* seconds per byte of a node's port, with the cores' part; 0: beta[SK_NET] */
} sk_model;

/* The default, or a text "socket:0.3us,10GB node:0.5us,8GB net:1.5us,12GB message:0.25us stage:40us port:12GB" in which
 * any part may be missing; a message takes a sixth of its time from node to node then. On failure `err` says
 * what is wrong and shows a right one. */
sk_status sk_model_parse(const char *text, sk_model *out, char *err, size_t size);

/* What was measured on the network, in picoseconds; 0: not known. */
typedef struct sk_network {
    int64_t latency, message, byte, stage, handshake, port;
} sk_network;

/* Known quantities replace those of the model. */
void sk_model_measured(sk_model *m, const sk_network *n, const sk_copy_prices *p);

sk_net_bytes sk_model_net_bytes(const sk_model *m, const sk_machine *on);

/* What of the model concerns the network, as a text of it. Returns `text`. */
const char *sk_model_text(const sk_model *m, char *text, size_t size);

/* Seconds of one call with blocks of `bytes`. `distinct`: alltoall, a block for each pair of source and target. */
double sk_price(const sk_model *m, const sk_machine *on, const sk_load *load, bool distinct,
                int64_t bytes);

/* Prices are right within about a tenth. Another pattern than that of direct messages is worth its making, and its use,
 * if it promises at most this part of their price. */
#define SK_WORTHWHILE 0.9

#endif
