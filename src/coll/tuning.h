/* tuning.h: the sizes at which builders cut data or change their way, all in one place. They are
 * no choice between algorithms, which is made by rules and settings (algo.h): all ranks use them
 * inside of an algorithm, to agree on how it cuts its data. */
#ifndef SK_TUNING_H
#define SK_TUNING_H

enum {
    SK_CACHE_LINE = 64,

    /* ---- shared memory of one node: phase/intra.h ---- */

    /* Bytes that one epoch moves. Long data goes in several epochs, so that the copy into one
     * overlaps the copies out of the one before. */
    SK_INTRA_CHUNK = 16 << 10,
    /* Where each rank has a core, data that flows one way goes in shorter ones if it is short itself: the
     * receiver follows by one. Each costs a flag, in whose time so many bytes are copied. */
    SK_INTRA_FLAG = 2 << 10,
    SK_INTRA_FLOW_LEAST = 4 << 10,
    /* More epochs than this become a long schedule: then each takes a whole slot. */
    SK_INTRA_EPOCHS = 1 << 10,
    /* The same for reductions. They wait twice for each chunk, so their chunks are longer. */
    SK_INTRA_REDUCE_CHUNK = 64 << 10,
    /* Longer vectors are reduced by all ranks, a part each, at the price of a second epoch. */
    SK_INTRA_REDUCE_SHORT = 4 << 10,
    /* Operands that are read in place come in chunks: so long that a call of the kernel costs little
     * beside its bytes, and so short that two of them stay in a cache of a core. */
    SK_INTRA_READ_CHUNK = 128 << 10,
    SK_INTRA_READ_PAIR = 1 << 20, /* the same by the root of two ranks */
    SK_INTRA_READ_CHUNKS = 256,   /* a scan has no more: a rank may not run further ahead */
    /* Blocks of all ranks together go through the common slot up to this. Beyond it, what is saved
     * by waiting once is less than what it costs that ranks write the same lines. */
    SK_INTRA_COMMON = 16 << 10,
    /* On fewer ranks, if they share cores, rank 0 leaves a barrier first. On more, the turns that it may wait
     * for the others cost more than a root that comes early saves. */
    SK_INTRA_FIRST_RANKS = 8,
    /* Cells for blocks of unknown sizes: bytes of one, and of all in a slot. The odd number of
     * lines keeps short blocks from falling on the same few sets of a cache. */
    SK_INTRA_CELL = 4160,
    SK_INTRA_CELLS = 128 << 10,
    SK_INTRA_TINY = 8,    /* cells for tiny blocks */
    SK_INTRA_INLINE = 48, /* bytes that fit into the line of the flag that announces them */
    SK_INTRA_SMALL = 256, /* bytes of the smallest slots, of which there are the most */
    SK_INTRA_TO_HOST =
        48, /* slots: when all blocks of a rank exceed this, and local ranks cannot read
                            * each other's memory, the host's single copy is faster */

    /* ---- leaders: phase/hier.h ---- */

    /* Long messages go in chunks: one is between the nodes while the next one is collected and the
     * last one handed out. */
    SK_HIER_CHUNK = 128 << 10,
    SK_HIER_CHAIN_CHUNK = 60 << 10, /* along a chain of nodes: TCP sends 64 KB without asking */
    SK_HIER_CHUNKS = 1 << 16,       /* a call with more of them does not fit */
    /* Vectors from here on are reduced by all local ranks, a part each. Below, the second epoch
     * costs more than it saves. Prefixes longer than this go from rank to rank on a node. */
    SK_HIER_REDUCE_SPLIT = 16 << 10,
    SK_HIER_SLICE = 256, /* shorter slices of longer blocks are not worth the epochs */

    /* ---- messages ---- */

    /* Bytes that take as long as the software of a message at one end: 0.25 us at 12.5 GB/s, the customary prices. */
    SK_MESSAGE_SOFTWARE = 3125,
    SK_MESSAGE_WAY = 12500,     /* the same for its way, 1 us */
    SK_MESSAGE_EAGER = 8 << 10, /* a longer one waits for its receiver */
    /* Segments of the pipelined broadcast: a rank receives each and sends it on. */
    SK_CHAIN_SOFTWARE = 2 * SK_MESSAGE_SOFTWARE,
    SK_CHAIN_LEAST = 4 << 10,
    SK_CHAIN_MOST = 256 << 10,
    SK_CHAIN_SEGMENTS = 4096,    /* more are not worth the steps */
    SK_SCATTERED_WINDOW = 32,    /* messages of a rank under way at once */
    SK_TREE_PACKET_BLOCK = 1024, /* scatterv, gatherv: longer blocks go straight to the other end */
};

#endif
