/* tuning.h: the sizes and numbers by which the lowering chooses between ways to move a block, each with
 * its reason. They are no choice between methods, which is made by the cost model (cost/model.h). All
 * ranks use them, to agree on the way of each block. */
#ifndef SK_NEIGHBOR_TUNING_H
#define SK_NEIGHBOR_TUNING_H

enum {
    /* ---- all neighbours on one node: lowering/shm.c ---- */

    /* Blocks of unknown sizes start at multiples of this in a slot, a cache line. The algorithms fit
     * only if a slot has this much for each block. */
    SK_NEIGHBOR_BLOCK_ALIGN = 64,
    /* Allgather, sizes not known to all ranks: bytes of a slot. A longer block is exported, or sent
     * where ranks cannot read each other's memory. */
    SK_NEIGHBOR_ALLGATHER_SLOT = 128 << 10,
    /* Alltoall, sizes not known to all ranks: a slot has this many times the typical block for each
     * rank, so that also some longer blocks go through it ... */
    SK_NEIGHBOR_TYPICAL_TIMES = 4,
    /* ... but never more than this: longer blocks are exported, or sent. */
    SK_NEIGHBOR_ALLTOALL_BLOCK = 32 << 10,
    /* From this degree on no rank runs far ahead of the others, so the epoch can use the few slots that
     * stay in the cache. With fewer neighbours some ranks wait for few others and do run ahead. */
    SK_NEIGHBOR_IN_STEP = 6,
    /* From this degree on allgather may use the common slot: short blocks share cache lines there, and
     * blocks of consecutive ranks are one copy. But each rank waits for all ranks of the node, which
     * costs more with fewer neighbours. */
    SK_NEIGHBOR_COMMON_SLOT = 12,

    /* ---- bundles of a pattern: lowering/equal.c ---- */

    /* Each stage is an epoch. Patterns with more stages send messages in the node too: wires support
     * only a few more epochs at once. */
    SK_NEIGHBOR_SLOT_STAGES = 48,
    /* Blocks from this length on are not packed: each is a message of its own. Packing copies a byte at both
     * ends, 0.2 ns in all; a message costs about 1.5 us. */
    SK_NEIGHBOR_SPLIT = 8 << 10,
};

#endif
