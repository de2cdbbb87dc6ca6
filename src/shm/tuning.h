/* tuning.h: the sizes and numbers by which shared memory chooses between ways to move data, each with
 * its reason. The layout of the rings is in shm.c, the policy of waiting in waiting.h. */
#ifndef SK_SHM_TUNING_H
#define SK_SHM_TUNING_H

enum {
    /* ---- fifos: copy through chunks, or export the message ---- */

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
    /* Shorter messages are never exported: the copy costs less than the system call that reads
     * them. */
    SK_FIFO_EXPORT_MIN = 128 << 10,
    /* Messages are exported when a rank sends this many bytes at a time: two copies, each through all
     * caches, then take longer than one by the kernel. */
    SK_FIFO_EXPORT_TOTAL = 24 << 20,
    /* The same where waking a rank takes long and this rank receives nothing: the receivers would wait
     * for it longer than they need to read all at once. */
    SK_FIFO_EXPORT_TOTAL_SLOW = 15 * SK_FIFO_EXPORT_MIN,
    /* A rank that waits for one peer only, for less than this, leaves the core to it: the peer copies
     * for others too. */
    SK_FIFO_LEAVE_CORE = 4 * SK_FIFO_EXPORT_MIN,

    /* ---- epochs: how long a rank without a free slot waits ---- */

    /* With this many slots in a ring, or more, a rank that found none free waits until half of them
     * are. With fewer it waits for one: the longer wait would gain little. */
    SK_SHM_MANY_SLOTS = 64,
};

#endif
