/* intra.h: builders for collectives of ranks that are all on one node, through its shared memory.
 *
 * Local rank i is rank i here. How data is cut into epochs follows from what all ranks agree on.
 * Whether a rank needs a packed copy, because its type may not be cut anywhere, only that rank
 * knows.
 *
 * Nearly all of them do this for each epoch: fill my slot, fence, post the epoch, take from the
 * slots of others. No fence follows, so the next epoch is filled while this one is emptied. */
#ifndef SK_PHASE_INTRA_H
#define SK_PHASE_INTRA_H

#include "coll/claim.h"
#include "coll/phase/blocks.h"
#include "coll/tuning.h"

/* All ranks are on one node that has shared memory. For single copy, they can also read each
 * other's memory. */
bool sk_intra_fits(const sk_call *c);
bool sk_single_copy_fits(const sk_call *c);

/* The bytes of an epoch: `most`, or a slot if that is smaller. Where ranks share cores, nothing
 * overlaps and every epoch costs a round of the scheduler: there an epoch takes a whole slot. */
int64_t sk_intra_epoch_bytes(const sk_call *c, int64_t most);

/* The same for an epoch of so many bytes that flow one way, to or from a root or along a chain: where each
 * rank has a core, the copy out of one overlaps the copy into the next. */
int64_t sk_intra_flow_bytes(const sk_call *c, int64_t bytes);

/* May blocks of so many bytes together go through the common slot, to be taken in one step? That
 * pays where ranks share cores. Where each has its own core, writing the same cache lines costs
 * more than reading the slots of all. */
bool sk_intra_use_common(const sk_call *c, int64_t bytes);

/* Before takes from all local ranks, of an epoch that all post. Where ranks share cores, this
 * sleeps once, instead of once for every local rank. */
void sk_intra_await_all(sk_sched *s, const sk_call *c, int epoch);

/* ---- equal blocks in epochs ----
 * An epoch holds as many whole blocks as it takes, or an even part of one longer block. */
typedef struct sk_chunking {
    int64_t block;   /* bytes of each */
    int64_t n;       /* blocks */
    int64_t per;     /* blocks in an epoch */
    int64_t cuts;    /* epochs for a block: 1, unless per is 1 */
    int64_t part;    /* bytes of a block in an epoch */
    int64_t nepochs; /* 0 when there is nothing to move */
} sk_chunking;

/* What one epoch holds: of blocks [lo, hi), `len` bytes from `from` on. */
typedef struct sk_chunk {
    int lo, hi;
    int64_t from, len;
} sk_chunk;

sk_chunking sk_chunking_of(const sk_call *c, int n, int64_t block);
sk_chunking sk_chunking_one_way(const sk_call *c, int n, int64_t block); /* sk_intra_flow_bytes */
sk_chunk sk_chunking_get(const sk_chunking *d, int64_t epoch);

/* ---- the blocks of all other ranks ----
 * Block i is that of rank but + 1 + i, round the end. Blocks must be copied to be cut, or to stay
 * readable while the user's buffer is written, where their type does not allow it: then they are
 * packed one after the other in `copy`. */
typedef struct sk_others {
    sk_blocks row;
    int n;
    sk_span copy; /* empty: they are used where they lie */
} sk_others;

sk_others sk_others_of(const sk_call *c, sk_buf side, int but);
int sk_others_rank(const sk_others *x, int i);
int sk_others_find(const sk_others *x, int rank); /* the i of a rank */
sk_span sk_others_block(const sk_others *x, int i);

/* Scratch for the copy, if it is needed or forced; fill it; deliver it. */
void sk_others_make_copy(sk_sched *s, sk_others *x, bool force);
void sk_others_pack(sk_sched *s, const sk_others *x);
void sk_others_unpack(sk_sched *s, const sk_others *x);

/* Copy what an epoch holds of them into my slot. */
void sk_others_fill(sk_sched *s, const sk_others *x, const sk_chunking *d, sk_chunk h, int epoch);

/* Upper bound of the scratch for n packed blocks. */
int64_t sk_intra_scratch(int64_t n, int64_t block);

/* ---- single copy ----
 * My bytes as local ranks can read them: packed, if their type has gaps. The same for all blocks
 * of the send side, in the order of ranks. */
sk_span sk_intra_contiguous(sk_sched *s, const sk_call *c, sk_span user);
sk_span sk_intra_contiguous_sends(sk_sched *s, const sk_call *c);

/* In an epoch of SK_EXPORT_BYTES bytes: export a span and post, after a fence. Local ranks read
 * from sk_intra_exported. sk_intra_quiesce, which starts a round, waits until all have read. */
void sk_intra_export(sk_sched *s, int epoch, sk_span what);
sk_span sk_intra_exported(int epoch);
void sk_intra_quiesce(sk_sched *s, int epoch);

/* ---- blocks whose sizes only their two ends know ----
 * In the slot of its sender each block has a cell of an agreed size, and perhaps others of other
 * sizes, each size in its own epoch: there are more small slots than large ones, so that senders
 * can run ahead. A block that is too long for a cell is an intra-node message, and a very long one
 * a message of the host. Both ends know its size, so they agree, and the others need not know. */
enum { SK_CELL_SIZES = 3 };

/* Blocks 0 .. n-1 of a row, to or from ranks that follow each other. */
typedef struct sk_cell_row {
    sk_blocks row;
    int n, first;
} sk_cell_row;

typedef struct sk_cells {
    sk_cell_row out, in;
    int ncells; /* of a slot; block i of `out` has cell i */
    int cell;   /* block i of `in` is in cell (cell - i) of its sender's slot, or in the only one */
    int64_t size[SK_CELL_SIZES]; /* bytes of cells, rising; 0: there are none */
    int64_t to_host;             /* 0, or longer blocks are messages of the host */
} sk_cells;

/* Bytes of a cell, if a slot has n of them, at most `most`; 0: they do not fit. */
int64_t sk_cell_size(const sk_call *c, int n, int64_t most);

/* `own` is copied to `own_to` meanwhile. */
void sk_cells_exchange(sk_sched *s, const sk_call *c, const sk_cells *x, sk_span own,
                       sk_span own_to);

/* What that costs: `out` blocks to send, `in` to receive, and perhaps my own. A long block is a
 * message. */
void sk_intra_claim_cells(const sk_cost_case *k, sk_cost *c, int64_t epochs, int64_t out,
                          int64_t in, bool own);

#endif
