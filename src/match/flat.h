/* flat.h: the state of the engine `flat`. */
#ifndef SK_FLAT_H
#define SK_FLAT_H

#include "match/flat_pool.h"
#include "match/flat_table.h"
#include "match/queue.h"

enum {
    FLAT_WAYS = 16,
    FLAT_STREAK = 8, /* from here on the next item wanted is thought to be the oldest again */
};

/* A way to look: a class and its tables. */
typedef struct flat_way {
    flat_table table[SK_NSIDES];
    uint64_t known;        /* messages older than this are in their table, others are not */
    uint64_t debt;         /* messages that searches had to look at since it was up to date */
    uint32_t detour;       /* messages looked at in vain in the table of another way, lately */
    bool own;              /* it needs a table of its own for messages */
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
    flat_way *home;   /* whose table messages are put in when they come; NULL: none */
    uint32_t soon;    /* hash of the message that comes soon, by flat_glance */
    sk_link *rest;    /* the oldest in a ring: receives that there is no way for */
    uint32_t nways;
    flat_way ways[FLAT_WAYS];
    flat_pool pool; /* links of messages that are in several tables */
} flat;

/* Whether way `by`, another one, can do for receives of way `w` that look for messages. */
static inline bool flat_way_serves(const flat_way *by, const flat_way *w)
{
    return by != w && !w->own && flat_class_covers(&by->table[0].class, &w->table[0].class);
}

/* The way of a receive, made if need be. NULL: all are taken. */
flat_way *flat_way_of(flat *f, const sk_item *recv);
void flat_way_activate(flat *f, flat_way *w); /* it has its first receive, */
void flat_way_rest(flat *f, flat_way *w);     /* or no receive any more */

/* Receives that there is no way for. */
void flat_rest_add(flat *f, sk_link *link);
void flat_rest_remove(flat *f, sk_link *link);
/* The oldest of them that fits, if it is older than `best`; else `best`, which may be NULL. */
sk_item *flat_rest_find(const flat *f, const sk_item *msg, sk_item *best, uint64_t *looked);

/* Put a receive in its table, as a rule all in line. False: the rule does not hold. */
static inline bool flat_posted_put(flat *f, sk_item *recv)
{
    flat_way *w = f->recent;
    flat_class c = flat_class_of(recv);
    if (!w || !flat_class_equal(&w->table[0].class, &c))
        return false;
    flat_table *t = &w->table[SK_POSTED];
    if (t->keys == 0 || t->keys >= t->limit)
        return false;
    sk_link *link = &recv->link;
    link->item = recv;
    link->index = w;
    recv->queue = link;
    flat_table_put(t, link, recv);
    return true;
}

/* The same for a message: it is in no table, and this one knows all that are older. */
static inline bool flat_message_put(flat_way *w, sk_item *msg)
{
    flat_table *t = &w->table[SK_UNEXPECTED];
    if (t->keys >= t->limit)
        return false;
    sk_link *link = &msg->link;
    link->item = msg;
    link->index = w;
    link->other = NULL;
    msg->queue = link;
    w->known = msg->age + 1;
    flat_table_put(t, link, msg);
    return true;
}

/* flat_posted.c: receives. The oldest that fits a message; the side is not empty. */
sk_item *flat_posted_find(flat *f, const sk_item *msg, uint64_t *looked);
void flat_posted_add(flat *f, sk_item *recv);   /* it is in the list already */
void flat_posted_leave(flat *f, sk_item *recv); /* its table, if it is in one */

/* flat_message.c: the same for messages. */
sk_item *flat_message_find(flat *f, const sk_item *recv, uint64_t *looked);
void flat_message_add(flat *f, sk_item *msg);
void flat_message_leave(flat *f, sk_item *msg);

#endif
