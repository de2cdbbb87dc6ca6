/* call.h: one requested collective, free of MPI types, as one rank sees it. */
#ifndef SK_CALL_H
#define SK_CALL_H

#include "sched/span.h"
#include "topo/graph.h"
#include "topo/machine.h"
#include "topo/rename.h"

typedef enum sk_coll {
#define COLL(ID, name, bytes) SK_##ID,
#include "coll/colls.def"
#undef COLL
    SK_NCOLLS
} sk_coll;

typedef enum sk_form { SK_BLOCKING, SK_NONBLOCKING, SK_PERSISTENT, SK_NFORMS } sk_form;

const char *sk_coll_name(sk_coll coll);
const char *sk_coll_bytes_mean(sk_coll coll); /* what sk_call_bytes counts */
sk_coll sk_coll_find(const char *name);       /* SK_NCOLLS when there is none */

/* A call by the name of its function, and back: bcast, ibcast, bcast_init. */
const char *sk_form_name(sk_coll coll, sk_form form);
sk_coll sk_form_find(const char *name, sk_form *form); /* SK_NCOLLS when there is none */

/* One user buffer of a call: blocks, one for each rank or neighbour, or one vector. */
typedef struct sk_side {
    int64_t count;         /* elements of every block, when counts is NULL */
    const int64_t *counts; /* elements of each block */
    const int64_t *offs;   /* byte offset of each block; NULL: equal blocks follow each other */
    uint32_t type;         /* of every block, when types is NULL: an index in the type table */
    const uint32_t *types; /* of each block (alltoallw) */
} sk_side;

/* What a call needs to know of a neighbourhood. It is the first member of sk_neighborhood
 * (neighbor/neighborhood.h), which adds the patterns. */
typedef struct sk_neighborhood_base {
    const sk_graph *graph;
    int64_t typical; /* v and w forms: agreed bytes of a block, for the choice */
} sk_neighborhood_base;

/* Which sides a collective uses:
 *   barrier                        none
 *   bcast                          recv: the message, one vector, also at the root
 *   scatter(v)                     send: blocks (significant at the root); recv: one block
 *   gather(v)                      send: one block; recv: blocks (significant at the root)
 *   allgather(v)                   send: one block; recv: blocks
 *   alltoall(v,w)                  send, recv: blocks
 *   reduce, allreduce, (ex)scan    send: the vector; recv: the same, same count and type
 *   reduce_scatter(_block)         recv: blocks (counts known to all); send: all blocks as one
 *                                  vector
 *   neighbor_allgather(v)          send: one block; recv: a block for each edge of graph.in
 *   neighbor_alltoall(v,w)         send: a block for each edge of graph.out; recv: as allgather
 * A side that is not significant at this rank has count 0 and type byte. */
typedef struct sk_call {
    sk_coll coll;
    sk_form form;
    int nranks, rank;
    int root;      /* 0 where there is none */
    bool in_place; /* MPI_IN_PLACE given at this rank */
    bool ordered;  /* reductions: the operation does not commute */
    sk_side send, recv;
    const sk_type *types; /* types[0] is the byte */
    uint32_t ntypes;
    const sk_neighborhood_base *neighborhood; /* neighbourhood collectives; else NULL */

    /* The machine and what local ranks have in common; the same on all ranks. */
    const sk_machine *machine; /* NULL: not known */
    int64_t slot_bytes;        /* most bytes of a slot; 0: no shared memory */
    bool direct;               /* local ranks can read each other's memory: sk_export */
    bool
        builtin; /* reductions: elements laid out like a type of the standard on all ranks, and an operation of the standard, or
                   * one of the user that commutes */
    bool rounds; /* reductions: the result may depend on the order of operands */
    int leaders; /* of a node, for algorithms with leaders; 0: one */
    bool other;  /* by the algorithm that comes next to the one chosen: sk_select_other */

    /* Chooses the algorithms of calls that are parts of this one; see phase/sub.h. Set by select.
     */
    const struct sk_chooser *chooser;
    bool sub; /* this call is such a part */

    /* NULL, or `rank`, `root` and the indices of blocks are new names of the ranks. The blocks
     * themselves remain those of the ranks that have the names. */
    const sk_rename *rename;
} sk_call;

/* Chooses an algorithm for a call: the rules and the user's settings, which coll does not know.
 * `choose` returns NULL when there is none. */
struct sk_algo;
typedef struct sk_chooser {
    const struct sk_algo *(*choose)(const struct sk_chooser *x, const sk_call *c);
} sk_chooser;

/* The same call in new names. */
sk_call sk_call_renamed(const sk_call *c, const sk_rename *r);

/* The rank that goes by a name. */
static inline int sk_call_rank_of(const sk_call *c, int name)
{
    return c->rename ? c->rename->rank_of[name] : name;
}

static inline bool sk_coll_neighbor(sk_coll coll)
{
    return coll >= SK_NEIGHBOR_ALLGATHER && coll <= SK_NEIGHBOR_ALLTOALLW;
}

/* All ranks know sk_call_bytes of its calls. */
static inline bool sk_coll_sized(sk_coll coll)
{
    return coll != SK_SCATTERV && coll != SK_GATHERV && coll != SK_ALLTOALLV &&
           coll != SK_ALLTOALLW;
}

/* Blocks of any lengths: counts, or types, in arrays. */
static inline bool sk_coll_irregular(sk_coll coll)
{
    return coll == SK_SCATTERV || coll == SK_GATHERV || coll == SK_ALLGATHERV ||
           coll == SK_ALLTOALLV || coll == SK_ALLTOALLW || coll == SK_REDUCE_SCATTER ||
           coll == SK_NEIGHBOR_ALLGATHERV || coll == SK_NEIGHBOR_ALLTOALLV ||
           coll == SK_NEIGHBOR_ALLTOALLW;
}

static inline bool sk_coll_reduces(sk_coll coll)
{
    return coll >= SK_REDUCE && coll <= SK_EXSCAN;
}

/* Entries of the arrays of a side, where it has arrays. */
int sk_call_nblocks(const sk_call *c, sk_buf side);

/* The span of a block of the user's buffers. sk_send_block resolves MPI_IN_PLACE: the data of
 * allgather, gather, reductions and scans is then in the receive buffer. For scatter in place,
 * sk_recv_block at the root is the root's own block of the send buffer, so no copy is made. Only
 * alltoall in place needs a copy: see phase/p2p.c. A side with one vector or
 * block has index 0 only. */
sk_span sk_send_block(const sk_call *c, int i);
sk_span sk_recv_block(const sk_call *c, int i);

/* Reductions: elements [first, first + n) of the vector, as input and as result. For
 * reduce_scatter(_block) the input is the concatenation of all blocks. */
sk_span sk_send_elems(const sk_call *c, int64_t first, int64_t n);
sk_span sk_recv_elems(const sk_call *c, int64_t first, int64_t n);
int64_t sk_call_elems(const sk_call *c); /* elements of the vector */

/* The call is not a part of another one. */
bool sk_call_whole(const sk_call *c);

/* Bytes by which an algorithm is chosen: equal on every rank. Meaning: see colls.def. */
int64_t sk_call_bytes(const sk_call *c);

/* Bytes for the report. Where only some ranks know the counts: the largest block that this rank sends
 * or receives. Otherwise sk_call_bytes. */
int64_t sk_call_size(const sk_call *c);

#endif
