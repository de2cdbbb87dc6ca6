/* inproc_inner.h: the data of the in-process wire, and what its files call: inproc.c calls epochs.c,
 * both call slots.c. */
#ifndef SK_INPROC_INNER_H
#define SK_INPROC_INNER_H

#include "lab/inproc/inproc.h"

typedef struct sk_inproc_rank {
    sk_wire wire; /* first member: the wire is cast to sk_inproc_rank */
    sk_inproc *world;
    const sk_type *types;
    int rank;
    int open; /* transfers of this round that are not over */
    bool queued;
    bool waiting; /* for a local rank */
    bool fresh;   /* has seen posts of local ranks in the current round */
    sk_status status;
    struct sk_inproc_node *node; /* the epochs of its node; NULL: this run has none */
    int local_rank;
    uint32_t released; /* epochs */
    sk_status broken;  /* first error of operations that return nothing */
} sk_inproc_rank;

struct sk_inproc {
    sk_inproc_hooks hooks;
    int nranks;
    sk_inproc_rank *wires;
    struct inproc_queue *pairs; /* [to * nranks + from] */
    struct inproc_transfer *pool;
    uint32_t pool_used, pool_cap, pool_free;
    int *ready; /* ring of ranks that can go on, each at most once */
    int ready_first, ready_count;
    int stuck;
    int64_t messages;

    const sk_machine *machine;
    void *memory;                    /* for slots, when given */
    struct sk_inproc_epochs *epochs; /* of the current run, when it has some */
    char why[160];
};

/* Epochs are the same at all local ranks, or the run is refused. */
typedef struct sk_inproc_node {
    const int *local_ranks; /* ranks */
    int n;
    const sk_epoch_info *epochs;
    uint32_t nepochs;
    int64_t *first;        /* of each epoch, and the end: where its slots start, in all slots */
    unsigned char *opened; /* [epoch * n + local rank] */
    unsigned char *posted; /* the same */
    unsigned char *seen;   /* [(epoch * n + by) * n + local rank]: awaited it */
    sk_part *joined;       /* [epoch], in slots */
    int *joins;            /* [epoch], how many local ranks did */
} sk_inproc_node;

typedef struct sk_inproc_exported {
    const void *handle;
    const char *at;
    int64_t len;
} sk_inproc_exported;

typedef struct sk_inproc_epochs {
    sk_inproc_node *nodes;
    int nnodes;
    char *slots;
    int64_t bytes;
    uint16_t *writer; /* of each byte of slots: local rank + 1; 0: nobody */
    sk_inproc_exported *exports;
    int64_t nexports, exports_cap;
    bool own; /* the memory of the slots */
} sk_inproc_epochs;

/* ---- slots.c ---- */

/* Reduce or move `len` bytes from one layout to another, stretch by stretch. */
void sk_inproc_carry(const sk_inproc *l, const sk_type *ft, sk_part from, const sk_type *tt,
                     sk_part to, int64_t len, bool reduce);

void sk_inproc_wake(sk_inproc *l, sk_inproc_rank *w);

/* The rank starts a round: what it has seen of other ranks before may now be passed on. */
void sk_inproc_next_round(sk_inproc_rank *w);

/* Keeps the first reason and reepochs SK_WIRE. */
sk_status sk_inproc_complain(sk_inproc *l, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

int64_t sk_inproc_slot_stride(int64_t bytes);

/* The epochs of a node, from a local rank that has a part in all of them, if there is one. `view`
 * gives the schedule of a rank. */
typedef const struct sk_sched_view *sk_inproc_view(const void *of, int rank);
const struct sk_sched_view *sk_inproc_epochs_of(const sk_machine *m, int node, sk_inproc_view *view,
                                                const void *of);
sk_inproc_view sk_inproc_run_view; /* `of`: an array of runs */

/* The slot of a local rank; of local rank n: the common one. */
static inline char *sk_inproc_slot_at(const sk_inproc_epochs *t, const sk_inproc_node *n,
                                      uint32_t epoch, int local_rank)
{
    return t->slots + n->first[epoch] +
           local_rank * sk_inproc_slot_stride(n->epochs[epoch].slot_bytes);
}

/* NULL: out of memory. */
sk_inproc_epochs *sk_inproc_epochs_new(const sk_machine *m, const sk_run *runs, void *memory);
void sk_inproc_epochs_free(sk_inproc_epochs *t);

/* May this rank read or write this part? Outside slots always. What it may write counts as
 * written. */
sk_status sk_inproc_may_read(sk_inproc_rank *w, sk_part part);
sk_status sk_inproc_may_write(sk_inproc_rank *w, sk_part part);

/* ---- epochs.c: begin and end of a run, and the operations of the wire ---- */

sk_status sk_inproc_begin_epochs(sk_inproc *l, sk_run *runs);
void sk_inproc_end_epochs(sk_inproc *l, sk_run *runs);

sk_status sk_inproc_open(sk_wire *w, uint32_t epoch, bool block);
void *sk_inproc_slot(sk_wire *w, uint32_t buf, int owner);
sk_status sk_inproc_post(sk_wire *w, uint32_t epoch, bool block);
void sk_inproc_export(sk_wire *w, sk_part what, void *handle);
sk_status sk_inproc_await(sk_wire *w, uint32_t epoch, int lo, int hi, bool block);
sk_status sk_inproc_await_rank(sk_wire *w, uint32_t epoch, int rank, bool block);
sk_status sk_inproc_fold(sk_wire *w, uint32_t epoch, int lo, int hi, sk_part slot, sk_part to);
sk_status sk_inproc_join(sk_wire *w, uint32_t epoch, sk_part slot, sk_part to, bool block);
sk_status sk_inproc_read(sk_wire *w, int rank, const void *handle, int64_t at, sk_part to);
sk_status sk_inproc_quiesce(sk_wire *w, uint32_t epoch, bool block);
void sk_inproc_release(sk_wire *w, uint32_t epochs);

#endif
