/* phase_share.h: collectives of ranks that all sit on one node, through its shared memory.
 *
 * There mate i is rank i. What is agreed by all ranks decides how data is cut into turns; whether a
 * rank needs a packed copy, because its type may not be cut anywhere, is its own matter.
 *
 * The shape of nearly all of them: fill a turn, fence, publish it and take from it; and as there is
 * no fence after that, the next turn is filled while this one is emptied. */
#ifndef SK_PHASE_SHARE_H
#define SK_PHASE_SHARE_H

#include "coll/phase/row.h"

enum {
    SK_SHARE_CHUNK = 16 << 10,  /* bytes that one turn moves, so that copies in and out overlap */
    SK_SHARE_TURNS = 1 << 10,   /* of more of them, all that there is room for */
    SK_SHARE_FOLD = 64 << 10,   /* reductions wait twice for every chunk: longer ones */
    SK_SHARE_COMMON = 16 << 10, /* most bytes that all ranks together put into the common bay */
    SK_SHARE_SHORT = 4 << 10,   /* longer vectors are combined part by part */
    SK_SHARE_SLOT = 4160,       /* most bytes of a slot, where a bay has many */
    SK_SHARE_SLOTS = 128 << 10, /* and of all slots of a bay */
    SK_SHARE_LINE = 64,
};

/* All ranks on one node, which has shared memory; and they can read each other's memory. */
bool sk_share_fits(const sk_call *c);
bool sk_expose_fits(const sk_call *c);

/* The bytes of a turn: `most`, as far as there is room. Where ranks share cores a turn more is
 * another round of the scheduler, and nothing overlaps: then all the room there is. */
int64_t sk_share_chunk(const sk_call *c, int64_t most);

/* May blocks of so many bytes together go through the common bay, to be taken in one step? That
 * pays where ranks share cores; where each has its own, writing the same cache lines costs more
 * than looking at the bays of all. */
bool sk_share_common(const sk_call *c, int64_t bytes);

/* Before takes from all mates, of a turn that all publish: where ranks share cores, sleep once and
 * not for every mate. */
void sk_share_meet(sk_sched *s, const sk_call *c, int turn);

/* ---- equal blocks dealt out to turns ----
 * Whole blocks, as many as a turn takes, or, of longer ones, even parts of one block. */
typedef struct sk_deal {
    int64_t block;  /* bytes of each */
    int64_t n;      /* blocks */
    int64_t per;    /* blocks in a turn */
    int64_t cuts;   /* turns for a block: 1, unless per is 1 */
    int64_t part;   /* bytes of a block in a turn */
    int64_t nturns; /* 0 when there is nothing to move */
} sk_deal;

typedef struct sk_hand { /* what one turn holds: of blocks [lo, hi) the bytes from `from` on */
    int lo, hi;
    int64_t from, len;
} sk_hand;

sk_deal sk_deal_out(const sk_call *c, int n, int64_t block);
sk_hand sk_deal_hand(const sk_deal *d, int64_t turn);

/* ---- the blocks of all other ranks ----
 * From the one after `but` on, round the end: block i is that of rank but + 1 + i. Where they have
 * to be cut, or stay readable while the user's buffer is written, and cannot as they lie, they
 * stand one after the other in a packed copy. */
typedef struct sk_others {
    sk_row row;
    int n;
    sk_span copy; /* empty: they are used where they lie */
} sk_others;

sk_others sk_others_of(const sk_call *c, sk_buf side, int but);
int sk_others_rank(const sk_others *x, int i);
int sk_others_find(const sk_others *x, int rank);             /* the i of a rank */
void sk_others_loosen(sk_sched *s, sk_others *x, bool force); /* room for the copy, if needed */
sk_span sk_others_block(const sk_others *x, int i);
void sk_others_in(sk_sched *s, const sk_others *x); /* make the copy; deliver it */
void sk_others_out(sk_sched *s, const sk_others *x);

/* What a turn holds of them, into my bay. */
void sk_others_deal(sk_sched *s, const sk_others *x, const sk_deal *d, sk_hand h, int turn);

/* Upper bound of the scratch for n packed blocks. */
int64_t sk_share_scratch(int64_t n, int64_t block);

/* ---- single copy ----
 * My bytes as mates can read them: packed, if they do not lie so. All blocks of the send side, in
 * the order of ranks, likewise. */
sk_span sk_share_plain(sk_sched *s, const sk_call *c, sk_span user);
sk_span sk_share_plain_row(sk_sched *s, const sk_call *c);

/* In a turn with room for SK_PLACE bytes: expose and publish; starts after a fence. Mates read
 * what the place says. Settle starts a round. */
void sk_share_expose(sk_sched *s, int turn, sk_span what);
sk_span sk_share_place(int turn);
void sk_share_settle(sk_sched *s, int turn);

/* ---- blocks whose sizes only their two ends know ----
 * In the bay of its sender each block has a slot of agreed size, and perhaps others of other sizes,
 * each in a turn of its own: of small bays there are more, so that senders can run ahead. A block
 * that is too long for them is a near message, and a very long one a message of the host. Both ends
 * know its size, so both agree, and the others need not know. */
enum { SK_SLOT_SIZES = 3 };

typedef struct sk_slot_row { /* blocks 0 .. n-1 of a row, to or from ranks that follow each other */
    sk_row row;
    int n, first;
} sk_slot_row;

typedef struct sk_slots {
    sk_slot_row out, in;
    int nslots; /* of a bay; block i of `out` has slot i */
    int slot;   /* block i of `in` is in slot (slot - i) of its sender's bay, or in the only one */
    int64_t size[SK_SLOT_SIZES]; /* of slots, rising; 0: there are none */
    int64_t near;                /* 0, or blocks longer than this are messages of the host */
} sk_slots;

/* A tiny block; bytes that come with the bell of their turn; of the smallest bays otherwise. */
enum { SK_SHARE_TINY = 8, SK_SHARE_INLINE = 48, SK_SHARE_SMALL = 256 };

/* Bytes of a slot, if a bay has n of them, at most `most`; 0: there is no room for that. */
int64_t sk_slot_size(const sk_call *c, int n, int64_t most);

/* My own block is copied meanwhile. */
void sk_slots_exchange(sk_sched *s, const sk_call *c, const sk_slots *x, sk_span own,
                       sk_span own_to);

#endif
