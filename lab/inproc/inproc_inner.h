/* local_inner.h: what the files of the in-process wire have in common. */
#ifndef SK_LOCAL_INNER_H
#define SK_LOCAL_INNER_H

#include "lab/inproc/inproc.h"

typedef struct local_wire {
    sk_wire wire; /* first: a sk_wire of ours is a local_wire */
    sk_local *world;
    const sk_type *types;
    int rank;
    int open; /* transfers of this round that are not over */
    bool queued;
    bool waiting; /* for a mate */
    bool fresh;   /* has heard of mates in the current round */
    sk_status status;
    struct local_node *node; /* the turns of its node; NULL: this run has none */
    int mate;
    uint32_t passed;  /* turns */
    sk_status broken; /* what operations without a result would say */
} local_wire;

struct sk_local {
    sk_local_hooks hooks;
    int nranks;
    local_wire *wires;
    struct pair *pairs; /* [to * nranks + from] */
    struct waiting *pool;
    uint32_t pool_used, pool_cap, pool_free;
    int *ready; /* ring of ranks that can go on; each stands in it at most once */
    int ready_first, ready_count;
    int stuck;
    int64_t messages;

    const sk_machine *machine;
    void *memory;              /* for bays, when given */
    struct local_turns *turns; /* of the current run, when it has some */
    char why[160];
};

/* Walk the common stretches of two layouts; reduce or move each. */
void sk_local_carry(const sk_local *l, const sk_type *ft, sk_part from, const sk_type *tt,
                    sk_part to, int64_t len, bool reduce);

void sk_local_wake(sk_local *l, local_wire *w);

/* What was heard in the last round may be passed on in this one. */
void sk_local_next_round(local_wire *w);

/* Keeps the first reason; SK_WIRE. */
sk_status sk_local_complain(sk_local *l, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- turns: local_turns.c ---- */

sk_status sk_local_begin_turns(sk_local *l, sk_run *runs);
void sk_local_end_turns(sk_local *l, sk_run *runs);

/* local_guard.c: may this rank do that? Always, outside bays. What it may write counts as written.
 */
sk_status sk_local_may_read(local_wire *w, sk_part part);
sk_status sk_local_may_write(local_wire *w, sk_part part);

sk_status sk_local_open(sk_wire *w, uint32_t turn, bool block);
void *sk_local_bay(sk_wire *w, uint32_t buf, int owner);
void sk_local_publish(sk_wire *w, uint32_t turn);
void sk_local_expose(sk_wire *w, sk_part what, void *place);
sk_status sk_local_await(sk_wire *w, uint32_t turn, int lo, int hi, bool block);
sk_status sk_local_await_rank(sk_wire *w, uint32_t turn, int rank, bool block);
sk_status sk_local_fold(sk_wire *w, uint32_t turn, int lo, int hi, sk_part bay, sk_part to);
sk_status sk_local_join(sk_wire *w, uint32_t turn, sk_part bay, sk_part to, bool block);
sk_status sk_local_read(sk_wire *w, int rank, const void *place, int64_t at, sk_part to);
sk_status sk_local_settle(sk_wire *w, uint32_t turn, bool block);
void sk_local_pass(sk_wire *w, uint32_t turns);

#endif
