/* tuning.h: the sizes and numbers by which shared memory chooses between ways to move data, each with
 * its reason. The layout of the rings is in shm.c, the policy of waiting in waiting.h. */
#ifndef SK_SHM_TUNING_H
#define SK_SHM_TUNING_H

enum {
    /* ---- fifos: copies through chunks ---- */

    /* Most bytes of a chunk. A longer message takes several, so the copy into one overlaps the copy
     * out of the one before. */
    SK_FIFO_CHUNK = 32 << 10,
    /* Chunks of a pool. A message that fits into them is over for its sender before the receiver
     * comes. */
    SK_FIFO_CHUNKS = 16,
    /* The first chunks of a pool. While the receivers keep pace only these are used, and they stay in
     * a cache. */
    SK_FIFO_HOT_CHUNKS = 4,
    /* Chunks for one rank before the next rank gets one: its receiver is woken less often. */
    SK_FIFO_BURST = 8,
    /* A rank that waits for one peer only, for less than this, leaves the core to it: the peer copies
     * for others too. */
    SK_FIFO_LEAVE_CORE = 512 << 10,

    /* ---- epochs: how long a rank without a free slot waits ---- */

    /* With this many slots in a ring, or more, a rank that found none free waits until half of them
     * are. With fewer it waits for one: the longer wait would gain little. */
    SK_SHM_MANY_SLOTS = 64,

    /* Slots of a ring that a rank uses again and again while the others keep pace, or as many as have so
     * many bytes, but two at least: they stay in a cache, and few pages are touched when messages of another
     * size begin. */
    SK_SHM_NEAR_SLOTS = 8,
    SK_SHM_NEAR_BYTES = 128 << 10,

    /* ---- young memory: a page that nobody has touched yet costs more than a copy of it ---- */

    /* Epochs in memory that are young: those of a few dozen calls, some of which take several. */
    SK_SHM_YOUNG = 256,
    /* Bytes of a ring that they use, if that is two slots or more. Sixteen pages cost as much as to adopt
     * a communicator. */
    SK_SHM_YOUNG_BYTES = 64 << 10,
    /* Bytes of the node's memory whose pages are made in MPI_Init, each in a fraction of a millisecond: what some dozen
     * communicators of a few ranks use first, and what MPI_COMM_WORLD, the first, uses in its first few hundred calls. */
    SK_MEMORY_POPULATED = 1 << 20,
    SK_MEMORY_POPULATED_WORLD = 2 << 20,
};

#endif
