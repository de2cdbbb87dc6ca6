/* flat.c: hash tables, one per class of receives (flat_table.h), so that the time of an operation
 * depends neither on the length of a queue nor on its order, with and without wildcards.
 *
 *   posted      each receive is in the table of its class; a message asks each class that has
 *               receives, and takes the oldest answer;
 *   unexpected  a class has a table over all messages once it pays: while its receives find soon
 *               what they look for, they look through the list.
 *
 * Each side is also a list of its items by age. Where items are matched in the order they came, its
 * head is all one needs, and no table is kept: as soon as the head does not fit, the tables take up
 * what was added since they were last used. What a table could not take up, for want of memory, is
 * the youngest part of the list and searched as such. Masks beyond FLAT_WAYS are searched in a list
 * too.
 *
 * cost  constant, growing with the number of classes in use; amortised: a table that was not kept
 *       takes up all that waits at once
 * good for  everything; short queues cost what they cost in `list` */
#include <stdlib.h>

#include "match/engine.h"
#include "match/flat.h"

enum {
    STREAK = 8,   /* from here on the next item wanted is thought to be the oldest again */
    PATIENCE = 2, /* message_search */
};

#define RARE static __attribute__((noinline, cold))

static void *flat_make(const sk_match_config *config)
{
    (void)config;
    return calloc(1, sizeof(flat));
}

static void flat_drop(void *self)
{
    flat *f = self;
    for (uint32_t i = 0; i < f->nways; i++)
        for (int s = 0; s < SK_NSIDES; s++)
            flat_table_drop(&f->ways[i].table[s]);
    flat_pool_drop(&f->pool);
    free(f);
}

static inline flat_way *way_of(flat *f, const sk_item *recv)
{
    flat_class c = flat_class_of(recv);
    flat_way *w = f->recent;
    return w && flat_class_equal(&w->table[0].class, &c) ? w : flat_way_of(f, recv);
}

/* Put a receive in the table of its class. False: out of memory. */
static inline bool posted_index(flat *f, sk_item *recv)
{
    flat_way *w = way_of(f, recv);
    sk_link *link = &recv->link;
    link->item = recv;
    link->other = NULL;
    link->index = w;
    f->recent = w;
    if (!w)
        flat_rest_add(f, link);
    else if (!flat_table_add(&w->table[SK_POSTED], link, recv))
        return false;
    else if (w->table[SK_POSTED].keys == 1 && link->next == link)
        flat_way_activate(f, w);
    recv->queue = link;
    return true;
}

RARE void posted_update(flat *f)
{
    while (f->unknown && posted_index(f, f->unknown))
        f->unknown = f->unknown->next;
}

static inline void posted_add(flat *f, sk_item *recv)
{
    if (f->unknown || f->side[SK_POSTED].streak >= STREAK || !posted_index(f, recv)) {
        if (!f->unknown)
            f->unknown = recv;
    }
}

/* Put a message in the table of a class. False: out of memory. */
static inline bool message_index(flat *f, flat_way *w, sk_item *msg)
{
    sk_link *link = &msg->link;
    if (msg->queue && !(link = flat_pool_get(&f->pool)))
        return false;
    link->item = msg;
    link->other = msg->queue;
    link->index = w;
    if (flat_table_add(&w->table[SK_UNEXPECTED], link, msg)) {
        msg->queue = link;
        w->known = msg->age + 1;
        return true;
    }
    if (link != &msg->link)
        flat_pool_put(&f->pool, link);
    return false;
}

/* The oldest message that the table of a class does not know. The way there counts as looking. */
static sk_item *message_unknown(const flat *f, flat_way *w)
{
    const sk_queue *all = &f->side[SK_UNEXPECTED].all;
    if (all->head->age >= w->known)
        return all->head;
    sk_item *msg = all->tail;
    for (; msg->prev->age >= w->known; msg = msg->prev)
        w->debt++;
    return msg;
}

/* Look through what the table of a class does not know. To take it up costs as much as to look at
 * it PATIENCE times, so that is done when it has been looked at so often. Then the table may know,
 * and what is looked through is what there was no memory for. */
RARE sk_item *message_search(flat *f, flat_way *w, const sk_item *recv, uint64_t *looked)
{
    const flat_table *t = &w->table[SK_UNEXPECTED];
    uint64_t lag = f->side[SK_UNEXPECTED].all.tail->age - w->known + 1, before = *looked;
    sk_item *msg = message_unknown(f, w);
    if (w->debt > PATIENCE * lag) {
        while (msg && message_index(f, w, msg))
            msg = msg->next;
        w->debt = 0;
        const sk_link *link = t->keys ? flat_table_find(t, recv, looked) : NULL;
        if (link)
            return link->item;
    }
    msg = sk_queue_find(msg, SK_UNEXPECTED, recv, looked);
    w->debt += *looked - before;
    return msg;
}

/* All that is older than the first message is gone. It may be older than what was here before: the
 * matcher may have had it meanwhile. */
RARE void message_first(flat *f, uint64_t age)
{
    for (uint32_t i = 0; i < f->nways; i++)
        f->ways[i].known = age;
}

/* The class that was last looked for will be again. A table that lags waits for the next search. */
static inline void message_add(flat *f, sk_item *msg)
{
    flat_way *w = f->recent;
    if (!msg->prev)
        message_first(f, msg->age);
    if (w && f->side[SK_UNEXPECTED].streak < STREAK && (!msg->prev || msg->prev->age < w->known))
        message_index(f, w, msg);
}

/* A message asks all classes that have receives. */
static inline sk_item *posted_find(flat *f, const sk_item *msg, uint64_t *looked)
{
    sk_item *best = NULL;
    if (f->unknown)
        posted_update(f);
    for (flat_way *w = f->active; w; w = w->next) {
        const sk_link *link = flat_table_find(&w->table[SK_POSTED], msg, looked);
        if (link && (!best || link->item->age < best->age))
            best = link->item;
    }
    if (f->rest)
        best = flat_rest_find(f, msg, best, looked);
    return best || !f->unknown ? best : sk_queue_find(f->unknown, SK_POSTED, msg, looked);
}

/* A receive asks its own class. */
static inline sk_item *message_find(flat *f, const sk_item *recv, uint64_t *looked)
{
    const sk_queue *all = &f->side[SK_UNEXPECTED].all;
    flat_way *w = f->recent = way_of(f, recv);
    if (!w)
        return sk_queue_find(all->head, SK_UNEXPECTED, recv, looked);
    const flat_table *t = &w->table[SK_UNEXPECTED];
    const sk_link *link = t->keys ? flat_table_find(t, recv, looked) : NULL;
    if (link)
        return link->item;
    return all->tail->age < w->known ? NULL : message_search(f, w, recv, looked);
}

static sk_item *flat_find(void *self, sk_match_side which, const sk_item *item, uint64_t *looked)
{
    flat *f = self;
    flat_side *s = &f->side[which];
    sk_item *head = s->all.head, *found;
    if (s->streak >= STREAK) {
        ++*looked;
        if (which == SK_POSTED ? sk_item_fits(head, item) : sk_item_fits(item, head))
            return head;
    }
    found = which == SK_POSTED ? posted_find(f, item, looked) : message_find(f, item, looked);
    s->streak = found == head ? s->streak + 1 : 0;
    return found;
}

static void flat_add(void *self, sk_item *item)
{
    flat *f = self;
    item->queue = NULL;
    sk_queue_push(&f->side[item->side].all, item);
    if (item->side == SK_POSTED)
        posted_add(f, item);
    else
        message_add(f, item);
}

/* Take an item's further links out of their tables. */
RARE void flat_unlink(flat *f, sk_item *item, sk_link *link)
{
    for (sk_link *other; link; link = other) {
        other = link->other;
        flat_table_remove(&((flat_way *)link->index)->table[item->side], link);
        if (link != &item->link)
            flat_pool_put(&f->pool, link);
    }
}

static void flat_take(void *self, sk_item *item)
{
    flat *f = self;
    sk_link *link = item->queue;
    sk_queue_remove(&f->side[item->side].all, item);
    if (item == f->unknown)
        f->unknown = item->next;
    if (!link)
        return;
    flat_way *w = link->index;
    if (!w) {
        flat_rest_remove(f, link);
    } else if (link != &item->link) {
        flat_unlink(f, item, link);
    } else {
        flat_table *t = &w->table[item->side];
        flat_table_remove(t, link);
        if (t->keys == 0 && item->side == SK_POSTED)
            flat_way_rest(f, w);
    }
}

static sk_item *flat_next(void *self, sk_match_side which, sk_item *after)
{
    flat *f = self;
    return after ? after->next : f->side[which].all.head;
}

static void flat_count(const void *self, sk_match_stats *out)
{
    const flat *f = self;
    out->bytes = sizeof *f + flat_pool_bytes(&f->pool);
    for (uint32_t i = 0; i < f->nways; i++)
        for (int s = 0; s < SK_NSIDES; s++) {
            size_t bytes = flat_table_bytes(&f->ways[i].table[s]);
            out->bytes += bytes;
            out->queues += bytes > 0;
        }
}

const sk_engine sk_engine_flat = {
    .name = "flat",
    .help = "hash tables, one per way to look; constant time at any length, wildcards or not",
    .brief = 64,
    .make = flat_make,
    .drop = flat_drop,
    .find = flat_find,
    .add = flat_add,
    .take = flat_take,
    .next = flat_next,
    .count = flat_count,
};
