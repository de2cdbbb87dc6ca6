/* phase_pool.h: the blocks of all ranks on their way through leaders, for allgather(v).
 *
 * The blocks stand in a row, group by group: those of the local ranks of leader 0 of every node, then
 * those of leader 1, and so on. So what a leader brings is one stretch, and what all leaders with
 * its number bring is one, too. The row, or a chunk of it, which is a piece of every block, stands
 * in a pool: the common slot of an epoch, or memory of each rank. */
#ifndef SK_PHASE_POOL_H
#define SK_PHASE_POOL_H

#include "coll/phase/leaders.h"

typedef struct sk_pool {
    sk_row row;
    int *group;             /* k * nodes + 1: where each begins in the row */
    int64_t *at;            /* p + 1: bytes before each piece of the chunk at hand */
    int64_t *counts, *offs; /* for inner calls */
    int64_t piece;          /* most bytes of a block in a chunk */
    int chunks;
    int mine;        /* number of my block in the row */
    int epoch[2];    /* of even and of odd chunks */
    sk_span own[2];  /* or memory of my own, likewise */
    sk_span source;  /* my block, if need be as bytes that can be cut */
    sk_span landing; /* where all blocks are put together, if not in the user's blocks */
} sk_pool;

/* Bytes of every block that have room in an epoch; 0: too few, or no shared memory. */
int64_t sk_pool_piece(const sk_call *c);
int sk_pool_chunks(const sk_call *c);

/* False, and the schedule is marked: out of memory. `open` makes room for the data, `close`
 * delivers it. */
bool sk_pool_layout(sk_pool *x, sk_lead *l);
void sk_pool_open(sk_pool *x, sk_lead *l);
void sk_pool_close(sk_pool *x, sk_lead *l);

/* The chunk at hand: where it stands, and where piece n of it stands. */
void sk_pool_turn_to(sk_pool *x, const sk_lead *l, int chunk);
sk_span sk_pool_all(const sk_pool *x, const sk_lead *l, int chunk);
sk_span sk_pool_part(const sk_pool *x, const sk_lead *l, int chunk, int n);

/* The groups of the leaders with number j, node by node, and the end of the last one. */
static inline const int *sk_pool_groups(const sk_pool *x, const sk_lead *l, int j)
{
    return &x->group[j * l->m->nnodes];
}

/* in and out: in chunks, or all at once by messages. */
void sk_pool_fill(sk_lead *l, void *pool, int chunk);
void sk_pool_empty(sk_lead *l, void *pool, int chunk);
void sk_pool_send_up(sk_lead *l, void *pool, int chunk);
void sk_pool_send_down(sk_lead *l, void *pool, int chunk);

#endif
