/* load.h: what a pattern costs a rank, without sizes: messages and blocks per level of the machine.
 */
#ifndef SK_LOAD_H
#define SK_LOAD_H

#include "neighbor/pattern.h"
#include "topo/machine.h"

/* All are counts of one rank, or the largest over all ranks; only int64_t inside, so that ranks
 * agree by an element-wise maximum. Sends and receives are both counted. */
typedef struct sk_load {
    int64_t stages;
    int64_t messages[SK_NLEVELS];
    int64_t allgather_blocks[SK_NLEVELS]; /* allgather: a source once per message */
    int64_t alltoall_blocks[SK_NLEVELS];  /* alltoall */
    /* The longest message between local ranks: 0, there is none. */
    int64_t max_intra_allgather_blocks, max_intra_alltoall_blocks;
} sk_load;

sk_load sk_load_of(const sk_pattern *p, const sk_machine *m);
void sk_load_max(sk_load *into, const sk_load *with);

#endif
