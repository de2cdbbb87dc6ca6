/* phase_share.h: collectives of ranks that all sit on one node, through its shared memory.
 *
 * There local rank i is rank i. What is agreed by all ranks decides how data is cut into epochs; whether a
 * rank needs a packed copy, because its type may not be cut anywhere, is its own matter.
 *
 * The shape of nearly all of them: fill an epoch, fence, post it and take from it; and as there is
 * no fence after that, the next epoch is filled while this one is emptied. */
#ifndef SK_PHASE_SHARE_H
#define SK_PHASE_SHARE_H

#include "coll/claim.h"
#include "coll/phase/blocks.h"

enum {
    SK_INTRA_CHUNK = 16 << 10, /* bytes that one epoch moves, so that copies in and out overlap */
    SK_INTRA_EPOCHS = 1 << 10, /* of more of them, all that there is room for */
    SK_INTRA_REDUCE_CHUNK = 64 << 10, /* reductions wait twice for every chunk: longer ones */
    SK_INTRA_COMMON = 16 << 10, /* most bytes that all ranks together put into the common slot */
    SK_INTRA_REDUCE_SHORT = 4 << 10, /* longer vectors are combined part by part */
    SK_INTRA_CELL = 4160,            /* most bytes of a cell, where a slot has many */
    SK_INTRA_CELLS = 128 << 10,      /* and of all cells of a slot */
    SK_CACHE_LINE = 64,
};

/* All ranks on one node, which has shared memory; and they can read each other's memory. */
bool sk_intra_fits(const sk_call *c);
bool sk_single_copy_fits(const sk_call *c);

/* The bytes of an epoch: `most`, as far as there is room. Where ranks share cores an epoch more is
 * another round of the scheduler, and nothing overlaps: then all the room there is. */
int64_t sk_intra_epoch_bytes(const sk_call *c, int64_t most);

/* May blocks of so many bytes together go through the common slot, to be taken in one step? That
 * pays where ranks share cores; where each has its own, writing the same cache lines costs more
 * than looking at the slots of all. */
bool sk_intra_use_common(const sk_call *c, int64_t bytes);

/* Before takes from all local ranks, of an epoch that all post: where ranks share cores, sleep once and
 * not for every local rank. */
void sk_intra_await_all(sk_sched *s, const sk_call *c, int epoch);

/* ---- equal blocks dealt out to epochs ----
 * Whole blocks, as many as an epoch takes, or, of longer ones, even parts of one block. */
typedef struct sk_chunking {
    int64_t block;  /* bytes of each */
    int64_t n;      /* blocks */
    int64_t per;    /* blocks in an epoch */
    int64_t cuts;   /* epochs for a block: 1, unless per is 1 */
    int64_t part;   /* bytes of a block in an epoch */
    int64_t nturns; /* 0 when there is nothing to move */
} sk_chunking;

typedef struct sk_chunk { /* what one epoch holds: of blocks [lo, hi) the bytes from `from` on */
    int lo, hi;
    int64_t from, len;
} sk_chunk;

sk_chunking sk_chunking_of(const sk_call *c, int n, int64_t block);
sk_chunk sk_chunking_get(const sk_chunking *d, int64_t epoch);

/* ---- the blocks of all other ranks ----
 * From the one after `but` on, round the end: block i is that of rank but + 1 + i. Where they have
 * to be cut, or stay readable while the user's buffer is written, and cannot as they lie, they
 * stand one after the other in a packed copy. */
typedef struct sk_others {
    sk_blocks row;
    int n;
    sk_span copy; /* empty: they are used where they lie */
} sk_others;

sk_others sk_others_of(const sk_call *c, sk_buf side, int but);
int sk_others_rank(const sk_others *x, int i);
int sk_others_find(const sk_others *x, int rank);                /* the i of a rank */
void sk_others_make_copy(sk_sched *s, sk_others *x, bool force); /* room for the copy, if needed */
sk_span sk_others_block(const sk_others *x, int i);
void sk_others_pack(sk_sched *s, const sk_others *x); /* make the copy; deliver it */
void sk_others_unpack(sk_sched *s, const sk_others *x);

/* What an epoch holds of them, into my slot. */
void sk_others_fill(sk_sched *s, const sk_others *x, const sk_chunking *d, sk_chunk h, int epoch);

/* Upper bound of the scratch for n packed blocks. */
int64_t sk_intra_scratch(int64_t n, int64_t block);

/* ---- single copy ----
 * My bytes as local ranks can read them: packed, if they do not lie so. All blocks of the send side, in
 * the order of ranks, likewise. */
sk_span sk_intra_contiguous(sk_sched *s, const sk_call *c, sk_span user);
sk_span sk_intra_contiguous_sends(sk_sched *s, const sk_call *c);

/* In an epoch with room for SK_EXPORT_BYTES bytes: export and post; starts after a fence. Local ranks read
 * what the place says. Settle starts a round. */
void sk_intra_export(sk_sched *s, int epoch, sk_span what);
sk_span sk_intra_exported(int epoch);
void sk_intra_quiesce(sk_sched *s, int epoch);

/* ---- blocks whose sizes only their two ends know ----
 * In the slot of its sender each block has a cell of agreed size, and perhaps others of other sizes,
 * each in an epoch of its own: of small slots there are more, so that senders can run ahead. A block
 * that is too long for them is a near message, and a very long one a message of the host. Both ends
 * know its size, so both agree, and the others need not know. */
enum { SK_CELL_SIZES = 3 };

typedef struct sk_cell_row { /* blocks 0 .. n-1 of a row, to or from ranks that follow each other */
    sk_blocks row;
    int n, first;
} sk_cell_row;

typedef struct sk_cells {
    sk_cell_row out, in;
    int nslots; /* of a slot; block i of `out` has cell i */
    int cell;   /* block i of `in` is in cell (cell - i) of its sender's slot, or in the only one */
    int64_t size[SK_CELL_SIZES]; /* of cells, rising; 0: there are none */
    int64_t intra;               /* 0, or blocks longer than this are messages of the host */
} sk_cells;

/* A tiny block; bytes that come with the bell of their epoch; of the smallest slots otherwise. */
enum { SK_INTRA_TINY = 8, SK_INTRA_INLINE = 48, SK_INTRA_SMALL = 256 };

/* Bytes of a cell, if a slot has n of them, at most `most`; 0: there is no room for that. */
int64_t sk_cell_size(const sk_call *c, int n, int64_t most);

/* What that costs: `out` blocks to send, `in` to receive, and perhaps my own. A long block is a message. */
void sk_intra_claim_cells(const sk_cost_case *k, sk_cost *c, int64_t epochs, int64_t out,
                          int64_t in, bool own);

/* My own block is copied meanwhile. */
void sk_cells_exchange(sk_sched *s, const sk_call *c, const sk_cells *x, sk_span own,
                       sk_span own_to);

#endif
