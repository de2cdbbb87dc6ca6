/* flat.h: the state of the engine `flat`. */
#ifndef SK_FLAT_H
#define SK_FLAT_H

#include "match/flat_pool.h"
#include "match/flat_table.h"
#include "match/queue.h"

enum { FLAT_WAYS = 16 };

/* A way to look: a class and its tables. */
typedef struct flat_way {
    flat_table table[SK_NSIDES];
    uint64_t known;        /* messages older than this are in their table */
    uint64_t debt;         /* messages that searches had to look at since it was up to date */
    struct flat_way *next; /* of those with receives */
} flat_way;

typedef struct flat_side {
    sk_queue all;    /* by age */
    uint32_t streak; /* searches in a row that the oldest item of all fitted */
} flat_side;

typedef struct flat {
    flat_side side[SK_NSIDES];
    sk_item *unknown; /* the oldest receive that is neither in its table nor in `rest` */
    flat_way *active; /* those with receives */
    flat_way *recent; /* of the last receive; NULL: it had none */
    sk_link *rest;    /* the oldest in a ring: receives that there is no way for */
    uint32_t nways;
    flat_way ways[FLAT_WAYS];
    flat_pool pool; /* links of messages that are in several tables */
} flat;

/* The way of a receive, made if need be. NULL: all are taken. */
flat_way *flat_way_of(flat *f, const sk_item *recv);
void flat_way_activate(flat *f, flat_way *w); /* it has its first receive, */
void flat_way_rest(flat *f, flat_way *w);     /* or no receive any more */

/* Receives that there is no way for. */
void flat_rest_add(flat *f, sk_link *link);
void flat_rest_remove(flat *f, sk_link *link);
/* The oldest of them that fits, if it is older than `best`; else `best`, which may be NULL. */
sk_item *flat_rest_find(const flat *f, const sk_item *msg, sk_item *best, uint64_t *looked);

#endif
