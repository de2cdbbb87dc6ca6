/* pattern.h: who carries whose blocks to whom, for one rank: the result of planning, without sizes and
 * buffers.
 *
 * A block (src, dst) is the data that src has for dst. It goes from src over any number of carriers to dst,
 * and reaches dst exactly once. A bundle is one message: the blocks that are sent together between this
 * rank and a peer in a stage. For allgather the blocks of one src are the same data, which is sent once in
 * a bundle; for alltoall each is data of its own. A rank may send a block only if it is its own
 * (src == rank) or arrived in an earlier stage. Stages have the same numbers on all ranks. Loops
 * (src == dst) never appear: they are copies. */
#ifndef SK_PATTERN_H
#define SK_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef struct sk_block {
    int32_t src, dst;
} sk_block;

typedef struct sk_bundle {
    int32_t stage, peer;
    bool out;
    uint32_t first, n; /* its blocks, sorted by src, then dst: their order in the message */
} sk_bundle;

typedef struct sk_pattern sk_pattern;

sk_pattern *sk_pattern_new(int nranks, int rank); /* NULL: out of memory */
void sk_pattern_free(sk_pattern *p);

/* Adds a block to the bundle to or from `peer` in `stage`. Errors are reported by freeze. Adding a block to
 * the same bundle twice has no effect. */
void sk_pattern_send(sk_pattern *p, int stage, int peer, int src, int dst);
void sk_pattern_recv(sk_pattern *p, int stage, int peer, int src, int dst);
sk_status sk_pattern_freeze(sk_pattern *p);

typedef struct sk_pattern_view {
    int nranks, rank, nstages; /* nstages: of this rank, at least its last used stage + 1 */
    const sk_bundle *bundles;  /* by stage, in a stage the incoming ones first, then by peer */
    const sk_block *blocks;
    size_t nbundles, nblocks;
} sk_pattern_view;
const sk_pattern_view *sk_pattern_view_get(const sk_pattern *p); /* after freeze */

bool sk_pattern_equal(const sk_pattern *a, const sk_pattern *b);

/* As words, to be sent to another rank. The caller frees the words. */
sk_status sk_pattern_pack(const sk_pattern *p, int32_t **words, size_t *n);
sk_status sk_pattern_unpack(const int32_t *words, size_t n, sk_pattern **out); /* frozen */

#endif
