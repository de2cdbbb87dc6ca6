/* local_inner.h: what the files of the in-process wire have in common. */
#ifndef SK_LOCAL_INNER_H
#define SK_LOCAL_INNER_H

#include "lab/inproc/inproc.h"

typedef struct inproc_wire {
    sk_wire wire; /* first: a sk_wire of ours is a inproc_wire */
    sk_inproc *world;
    const sk_type *types;
    int rank;
    int open; /* transfers of this round that are not over */
    bool queued;
    bool waiting; /* for a local rank */
    bool fresh;   /* has heard of local ranks in the current round */
    sk_status status;
    struct inproc_node *node; /* the epochs of its node; NULL: this run has none */
    int local_rank;
    uint32_t released; /* epochs */
    sk_status broken;  /* what operations without a result would say */
} inproc_wire;

struct sk_inproc {
    sk_inproc_hooks hooks;
    int nranks;
    inproc_wire *wires;
    struct pair *pairs; /* [to * nranks + from] */
    struct waiting *pool;
    uint32_t pool_used, pool_cap, pool_free;
    int *ready; /* ring of ranks that can go on; each stands in it at most once */
    int ready_first, ready_count;
    int stuck;
    int64_t messages;

    const sk_machine *machine;
    void *memory;                 /* for slots, when given */
    struct inproc_epochs *epochs; /* of the current run, when it has some */
    char why[160];
};

/* Walk the common stretches of two layouts; reduce or move each. */
void sk_inproc_carry(const sk_inproc *l, const sk_type *ft, sk_part from, const sk_type *tt,
                     sk_part to, int64_t len, bool reduce);

void sk_inproc_wake(sk_inproc *l, inproc_wire *w);

/* What was heard in the last round may be passed on in this one. */
void sk_inproc_next_round(inproc_wire *w);

/* Keeps the first reason; SK_WIRE. */
sk_status sk_inproc_complain(sk_inproc *l, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- epochs: inproc_epochs.c ---- */

sk_status sk_inproc_begin_epochs(sk_inproc *l, sk_run *runs);
void sk_inproc_end_epochs(sk_inproc *l, sk_run *runs);

/* local_guard.c: may this rank do that? Always, outside slots. What it may write counts as written.
 */
sk_status sk_inproc_may_read(inproc_wire *w, sk_part part);
sk_status sk_inproc_may_write(inproc_wire *w, sk_part part);

sk_status sk_inproc_open(sk_wire *w, uint32_t epoch, bool block);
void *sk_inproc_slot(sk_wire *w, uint32_t buf, int owner);
void sk_inproc_post(sk_wire *w, uint32_t epoch);
void sk_inproc_export(sk_wire *w, sk_part what, void *place);
sk_status sk_inproc_await(sk_wire *w, uint32_t epoch, int lo, int hi, bool block);
sk_status sk_inproc_await_rank(sk_wire *w, uint32_t epoch, int rank, bool block);
sk_status sk_inproc_fold(sk_wire *w, uint32_t epoch, int lo, int hi, sk_part slot, sk_part to);
sk_status sk_inproc_join(sk_wire *w, uint32_t epoch, sk_part slot, sk_part to, bool block);
sk_status sk_inproc_read(sk_wire *w, int rank, const void *place, int64_t at, sk_part to);
sk_status sk_inproc_quiesce(sk_wire *w, uint32_t epoch, bool block);
void sk_inproc_release(sk_wire *w, uint32_t epochs);

#endif
