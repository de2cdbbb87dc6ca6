/* flat.c: hash tables, one per wildcard class, so that the time of an operation depends neither on
 * the length of a queue nor on its order, with and without wildcards.
 *
 * A wildcard class is the set of receives with the same mask (flat_table.h): they ignore the same
 * parts of tag, source and kind.
 *
 *   posted      each receive is in the table of its class. A message searches the table of each
 *               class that has receives and takes the oldest receive found.
 *   unexpected  a class gets a table over all messages once that pays: as long as its receives find
 *               their messages near the head, they search the list. The table of a class whose mask
 *               compares fewer bits is used as well, as long as its rings are short.
 *
 * Each side is also a list of its items by age. If items match in the order they came, the head of
 * the list is enough, and no table is kept. As soon as the head does not match, the tables index
 * what was added since they were last used. Items that a table has no memory for are the youngest
 * part of the list and searched there. Receives beyond SK_FLAT_MAX_CLASSES are searched in a list,
 * too.
 *
 *   cost      constant, growing with the number of classes in use; amortised: a table that was not
 *             kept up to date indexes all queued items at once
 *   good for  everything; short queues cost what they cost in `list` */
#include <stdlib.h>

#include "match/engine.h"
#include "match/engine/flat_table.h"
#include "match/queue.h"

enum {
    HEAD_STREAK = 8,     /* after so many matches of the head, the next is expected there, too */
    INDEX_SHARE = 4,     /* a table indexes what it lacks when a quarter of that has been scanned */
    MAX_MISMATCHES = 64, /* compared in another class's table, before a class gets its own table, */
    MISMATCHES_EACH = 2, /* apart from so many in each search */
    TAG_SAMPLE = 16,     /* messages that tell whether tags differ */
};

#define NOINLINE static __attribute__((noinline))

typedef struct flat_side {
    sk_match_queue all; /* by age */
    uint32_t streak;    /* consecutive searches that the head of the queue matched */
} flat_side;

typedef struct flat_engine {
    flat_side side[SK_NSIDES];
    sk_match_item *unindexed; /* the oldest receive that is neither in a table nor unclassified */
    sk_flat_class *primary;   /* messages are added to its table on arrival; NULL: to none */
    uint32_t next_hash;       /* of the message that was prefetched last */
    sk_match_link *unclassified; /* the oldest in a ring of receives that have no class */
    sk_flat_classes classes;
    sk_flat_pool pool; /* links of messages that are in several tables */
} flat_engine;

/* Whether receives of class `c` may search messages in the table of `by`, another class. */
static inline bool class_covers(const sk_flat_class *by, const sk_flat_class *c)
{
    return by != c && !c->own_table &&
           sk_flat_mask_covers(sk_flat_class_mask(by), sk_flat_class_mask(c));
}

/* Receives without a class. */

static void unclassified_add(flat_engine *f, sk_match_link *link)
{
    if (f->unclassified)
        sk_flat_ring_append(f->unclassified, link);
    else
        f->unclassified = link->next = link->prev = link;
}

static void unclassified_remove(flat_engine *f, sk_match_link *link)
{
    link->prev->next = link->next;
    link->next->prev = link->prev;
    if (f->unclassified == link)
        f->unclassified = link->next == link ? NULL : link->next;
}

/* The oldest of them that matches, if it is older than `best`; else `best`, which may be NULL. */
static sk_match_item *unclassified_find(const flat_engine *f, const sk_match_item *msg,
                                        sk_match_item *best, uint64_t *traversed)
{
    for (const sk_match_link *link = f->unclassified;
         link && (!best || link->item->seq < best->seq);) {
        ++*traversed;
        if (sk_match_fits(link->item, msg))
            return link->item;
        link = link->next == f->unclassified ? NULL : link->next;
    }
    return best;
}

/* The posted queue. */

/* Adds a receive to the table of its class in the usual case: the class is that of the last
 * receive, has receives, and its table need not grow. False: it is another case. */
static inline bool posted_put(flat_engine *f, sk_match_item *recv)
{
    sk_flat_class *c = f->classes.last;
    sk_flat_mask mask = sk_flat_mask_of(recv);
    if (!c || !sk_flat_mask_equal(sk_flat_class_mask(c), &mask))
        return false;
    sk_flat_table *t = &c->table[SK_POSTED];
    if (t->nrings == 0 || t->nrings >= t->limit)
        return false;
    sk_match_link *link = &recv->link;
    link->item = recv;
    link->index = c;
    recv->queue = link;
    sk_flat_table_put(t, link, recv);
    return true;
}

/* Adds a receive to the table of its class in all cases. False: out of memory. */
static bool posted_index(flat_engine *f, sk_match_item *recv)
{
    sk_flat_class *c = sk_flat_class_of(&f->classes, recv);
    sk_match_link *link = &recv->link;
    link->item = recv;
    link->index = c;
    if (!c)
        unclassified_add(f, link);
    else if (!sk_flat_table_add(&c->table[SK_POSTED], link, recv))
        return false;
    else if (c->table[SK_POSTED].nrings == 1 && link->next == link)
        sk_flat_class_activate(&f->classes, c);
    recv->queue = link;
    return true;
}

/* Indexes a receive that is already in the list, or leaves it unindexed. */
NOINLINE void posted_add_any(flat_engine *f, sk_match_item *recv)
{
    if (f->side[SK_POSTED].streak >= HEAD_STREAK || !posted_index(f, recv))
        f->unindexed = recv;
}

/* A message searches all classes that have receives. The queue is not empty. */
NOINLINE sk_match_item *posted_find(flat_engine *f, const sk_match_item *msg, uint64_t *traversed)
{
    sk_match_item *best = NULL;
    while (f->unindexed && (posted_put(f, f->unindexed) || posted_index(f, f->unindexed)))
        f->unindexed = f->unindexed->next;
    for (sk_flat_class *c = f->classes.active; c; c = c->next_active) {
        const sk_match_link *link = sk_flat_table_find(&c->table[SK_POSTED], msg, traversed);
        if (link && (!best || link->item->seq < best->seq))
            best = link->item;
    }
    if (f->unclassified)
        best = unclassified_find(f, msg, best, traversed);
    return best || !f->unindexed ? best
                                 : sk_match_queue_find(f->unindexed, SK_POSTED, msg, traversed);
}

/* Removes a receive from its table, if it is in one. */
NOINLINE void posted_unindex(flat_engine *f, sk_match_item *recv)
{
    sk_match_link *link = recv->queue;
    if (recv == f->unindexed)
        f->unindexed = recv->next;
    if (!link)
        return;
    sk_flat_class *c = link->index;
    if (!c) {
        unclassified_remove(f, link);
        return;
    }
    sk_flat_table_remove(&c->table[SK_POSTED], link);
    if (c->table[SK_POSTED].nrings == 0)
        sk_flat_class_deactivate(&f->classes, c);
}

/* The unexpected queue. Messages are added on arrival to one table, that of the primary class, the
 * class last needed. It serves other classes, too, if equal keys there are equal keys here; usually
 * its rings are as short. If they are not, or if the primary class does not serve a class, another
 * table indexes the queued messages. */

/* Adds a message to the table of a class in the usual case: it is in no table yet, all older
 * messages are in this one, and the table need not grow. False: the table must grow. */
static inline bool message_put(sk_flat_class *c, sk_match_item *msg)
{
    sk_flat_table *t = &c->table[SK_UNEXPECTED];
    if (t->nrings >= t->limit)
        return false;
    sk_match_link *link = &msg->link;
    link->item = msg;
    link->index = c;
    link->other = NULL;
    msg->queue = link;
    c->indexed = msg->seq + 1;
    sk_flat_table_put(t, link, msg);
    return true;
}

/* Adds a message to the table of a class in all cases. False: out of memory. */
static bool message_index(flat_engine *f, sk_flat_class *c, sk_match_item *msg)
{
    sk_match_link *link = &msg->link;
    if (msg->queue && !(link = sk_flat_pool_get(&f->pool)))
        return false;
    link->item = msg;
    link->other = msg->queue;
    link->index = c;
    if (sk_flat_table_add(&c->table[SK_UNEXPECTED], link, msg)) {
        msg->queue = link;
        c->indexed = msg->seq + 1;
        return true;
    }
    if (link != &msg->link)
        sk_flat_pool_put(&f->pool, link);
    return false;
}

/* Indexes a message that is already in the list, if the primary table is up to date. */
NOINLINE void message_add_any(flat_engine *f, sk_match_item *msg)
{
    sk_flat_class *c = f->primary;
    /* All older messages are gone. The first message may be older than those that were here before,
     * because the matcher may have kept it meanwhile. */
    for (uint32_t i = 0; !msg->prev && i < f->classes.n; i++)
        f->classes.at[i].indexed = msg->seq;
    if (c && f->side[SK_UNEXPECTED].streak < HEAD_STREAK &&
        (!msg->prev || msg->prev->seq < c->indexed))
        message_index(f, c, msg);
}

/* Removes a message from all its tables. */
NOINLINE void message_unindex(flat_engine *f, sk_match_item *msg)
{
    for (sk_match_link *link = msg->queue, *other; link; link = other) {
        other = link->other;
        sk_flat_table_remove(&((sk_flat_class *)link->index)->table[SK_UNEXPECTED], link);
        if (link != &msg->link)
            sk_flat_pool_put(&f->pool, link);
    }
}

/* Drops the links of a message that belong to classes served by `by`. The link inside the item is
 * the last of the list, and stays so. */
static void message_drop_links(flat_engine *f, const sk_flat_class *by, sk_match_item *msg)
{
    sk_match_link *first = NULL, **last = &first;
    for (sk_match_link *link = msg->queue, *other; link; link = other) {
        other = link->other;
        if (!class_covers(by, link->index)) {
            *last = link;
            last = &link->other;
        } else if (link != &msg->link) {
            sk_flat_pool_put(&f->pool, link);
        }
    }
    *last = NULL;
    msg->queue = first;
}

/* The classes that `by` serves need no table any more: frees the tables and drops their links. */
static void class_supersede(flat_engine *f, const sk_flat_class *by)
{
    bool any = false;
    for (sk_flat_class *c = f->classes.at; c < f->classes.at + f->classes.n; c++)
        if (c->table[SK_UNEXPECTED].nrings && class_covers(by, c)) {
            sk_flat_table_clear(&c->table[SK_UNEXPECTED]);
            c->indexed = 0;
            any = true;
        }
    for (sk_match_item *msg = any ? f->side[SK_UNEXPECTED].all.head : NULL; msg; msg = msg->next)
        message_drop_links(f, by, msg);
}

/* Adds this message and all younger ones to the table of a class. Returns the first that there is
 * no memory for, or NULL. */
static sk_match_item *messages_index(flat_engine *f, sk_flat_class *c, sk_match_item *msg)
{
    class_supersede(f, c);
    while (msg && ((!msg->queue && message_put(c, msg)) || message_index(f, c, msg)))
        msg = msg->next;
    return msg;
}

/* A receive of class `c` searches the table of `by`. If that is another class, the ring also holds
 * messages that do not match. When they are too many, `c` gets a table of its own. */
static sk_match_item *message_find_indexed(const sk_flat_class *by, sk_flat_class *c,
                                           const sk_match_item *recv, uint64_t *traversed)
{
    sk_match_link *first = sk_flat_table_find(&by->table[SK_UNEXPECTED], recv, traversed);
    sk_match_link *link = first;
    if (by == c || !first)
        return first ? first->item : NULL;
    uint32_t mismatches = 0;
    while (link && !sk_match_fits(recv, link->item)) {
        mismatches++;
        link = link->next == first ? NULL : link->next;
    }
    *traversed += mismatches;
    c->mismatches += mismatches;
    c->own_table = c->own_table || c->mismatches > MAX_MISMATCHES;
    c->mismatches -= c->mismatches < MISMATCHES_EACH ? c->mismatches : MISMATCHES_EACH;
    return link ? link->item : NULL;
}

/* The oldest message that the table of a class has not indexed. The walk there counts as
 * scanning. */
static sk_match_item *message_first_unindexed(const flat_engine *f, sk_flat_class *c)
{
    const sk_match_queue *all = &f->side[SK_UNEXPECTED].all;
    if (all->head->seq >= c->indexed)
        return all->head;
    sk_match_item *msg = all->tail;
    for (; msg->prev->seq >= c->indexed; msg = msg->prev)
        c->scanned++;
    return msg;
}

/* Scans the messages that the table of `by` has not indexed. When enough have been scanned, the
 * table indexes them and is searched again; then only those are scanned that there was no memory
 * for. */
static sk_match_item *message_scan(flat_engine *f, sk_flat_class *by, sk_flat_class *c,
                                   const sk_match_item *recv, uint64_t *traversed)
{
    uint64_t lag = f->side[SK_UNEXPECTED].all.tail->seq - by->indexed + 1;
    sk_match_item *first = message_first_unindexed(f, by), *msg = first;
    for (; msg && by->scanned < lag / INDEX_SHARE; msg = msg->next) {
        ++*traversed;
        by->scanned++;
        if (sk_match_fits(recv, msg))
            return msg;
    }
    if (!msg)
        return NULL;
    by->scanned = 0;
    sk_match_item *left = messages_index(f, by, first);
    sk_match_item *found = message_find_indexed(by, c, recv, traversed);
    return found || !left ? found : sk_match_queue_find(left, SK_UNEXPECTED, recv, traversed);
}

/* Whether the last messages all differ in these bits of their tags. */
static bool tags_differ(const sk_match_item *last, uint64_t bits)
{
    int n = 0;
    for (const sk_match_item *a = last; a && n < TAG_SAMPLE; a = a->prev, n++)
        for (const sk_match_item *b = last; b != a; b = b->prev)
            if (((a->tag ^ b->tag) & bits) == 0)
                return false;
    return true;
}

/* The class whose table a receive of class `c` searches. The first primary class is the one by tag
 * alone if the last messages differ in their tags: it serves receives from any source, too. */
static sk_flat_class *message_class(flat_engine *f, sk_flat_class *c, const sk_match_item *recv)
{
    if (f->primary && class_covers(f->primary, c))
        return f->primary;
    if (f->primary || f->classes.n == SK_FLAT_MAX_CLASSES ||
        !tags_differ(f->side[SK_UNEXPECTED].all.tail, ~recv->ignore))
        return f->primary = c;
    sk_match_item like = {.ignore = recv->ignore, .source = SK_ANY_SOURCE, .kind = recv->kind};
    return f->primary = sk_flat_class_of(&f->classes, &like);
}

/* The queue is not empty. */
NOINLINE sk_match_item *message_find(flat_engine *f, const sk_match_item *recv, uint64_t *traversed)
{
    const sk_match_queue *all = &f->side[SK_UNEXPECTED].all;
    sk_flat_class *c = sk_flat_class_of(&f->classes, recv);
    if (!c)
        return sk_match_queue_find(all->head, SK_UNEXPECTED, recv, traversed);
    sk_flat_class *by = message_class(f, c, recv);
    sk_match_item *found = message_find_indexed(by, c, recv, traversed);
    if (found || all->tail->seq < by->indexed)
        return found;
    return message_scan(f, by, c, recv, traversed);
}

/* The engine. */

static void *flat_create(const sk_match_config *config)
{
    (void)config;
    flat_engine *f = calloc(1, sizeof *f);
    for (int s = 0; f && s < SK_NSIDES; s++)
        f->side[s].streak = HEAD_STREAK;
    return f;
}

static void flat_destroy(void *self)
{
    flat_engine *f = self;
    for (uint32_t i = 0; i < f->classes.n; i++)
        for (int s = 0; s < SK_NSIDES; s++)
            sk_flat_table_clear(&f->classes.at[i].table[s]);
    sk_flat_pool_clear(&f->pool);
    free(f);
}

static sk_match_item *flat_find(void *self, sk_match_side side, const sk_match_item *item,
                                uint64_t *traversed)
{
    flat_engine *f = self;
    flat_side *s = &f->side[side];
    sk_match_item *head = s->all.head, *found;
    if (s->streak >= HEAD_STREAK) {
        ++*traversed;
        if (side == SK_POSTED ? sk_match_fits(head, item) : sk_match_fits(item, head))
            return head;
    }
    found = side == SK_POSTED ? posted_find(f, item, traversed) : message_find(f, item, traversed);
    s->streak = found == head ? s->streak + 1 : 0;
    return found;
}

static void flat_remove(void *self, sk_match_item *item)
{
    flat_engine *f = self;
    if (item->side == SK_POSTED)
        posted_unindex(f, item);
    else
        message_unindex(f, item);
    sk_match_queue_remove(&f->side[item->side].all, item);
}

/* The cases that the functions below leave out. */
NOINLINE sk_match_item *extract_any(flat_engine *f, sk_match_side side, const sk_match_item *item,
                                    uint64_t *traversed)
{
    sk_match_item *found = flat_find(f, side, item, traversed);
    if (found)
        flat_remove(f, found);
    return found;
}

/* The head of the queue is expected to match, and not to be in a table. */
static inline sk_match_item *extract_head(flat_engine *f, sk_match_side side,
                                          const sk_match_item *item, uint64_t *traversed)
{
    flat_side *s = &f->side[side];
    sk_match_item *head = s->all.head;
    bool fits = side == SK_POSTED ? sk_match_fits(head, item) : sk_match_fits(item, head);
    if (!fits || head->queue)
        return extract_any(f, side, item, traversed);
    ++*traversed;
    if (side == SK_POSTED)
        f->unindexed = head->next;
    sk_match_queue_remove(&s->all, head);
    return head;
}

/* The oldest item of a bucket. */
static inline sk_match_item *extract_bucket(flat_side *s, sk_flat_table *t, sk_flat_bucket *bucket)
{
    sk_match_item *found = bucket->first->item;
    sk_flat_table_pop(t, bucket);
    s->streak = found == s->all.head ? s->streak + 1 : 0;
    sk_match_queue_remove(&s->all, found);
    return found;
}

static inline sk_match_item *extract_none(flat_side *s)
{
    s->streak = 0;
    return NULL;
}

static sk_match_item *posted_extract(void *self, const sk_match_item *msg, uint64_t *traversed)
{
    flat_engine *f = self;
    flat_side *s = &f->side[SK_POSTED];
    sk_flat_bucket *best = NULL;
    sk_flat_table *from = NULL;
    uint64_t n = 0;
    if (s->streak >= HEAD_STREAK)
        return extract_head(f, SK_POSTED, msg, traversed);
    if (f->unindexed || f->unclassified)
        return extract_any(f, SK_POSTED, msg, traversed);
    for (sk_flat_class *c = f->classes.active; c; c = c->next_active) {
        sk_flat_table *t = &c->table[SK_POSTED];
        if (!sk_flat_table_steady(t))
            return extract_any(f, SK_POSTED, msg, traversed);
        sk_flat_bucket *bucket = sk_flat_table_lookup(t, msg);
        if (!bucket)
            continue;
        if (!sk_flat_key_equal(&t->mask, bucket->first->item, msg))
            return extract_any(f, SK_POSTED, msg, traversed);
        n++;
        if (!best || bucket->first->item->seq < best->first->item->seq) {
            best = bucket;
            from = t;
        }
    }
    if (best && from->nrings == 1)
        return extract_any(f, SK_POSTED, msg, traversed);
    *traversed += n;
    return best ? extract_bucket(s, from, best) : extract_none(s);
}

/* Searches the table of the primary class if its mask covers that of the receive. If the oldest
 * message of the ring matches, it is the oldest of all that match. */
static sk_match_item *message_extract(void *self, const sk_match_item *recv, uint64_t *traversed)
{
    flat_engine *f = self;
    flat_side *s = &f->side[SK_UNEXPECTED];
    sk_flat_class *c = f->primary;
    sk_flat_mask mask = sk_flat_mask_of(recv);
    if (s->streak >= HEAD_STREAK)
        return extract_head(f, SK_UNEXPECTED, recv, traversed);
    if (!c)
        return extract_any(f, SK_UNEXPECTED, recv, traversed);
    sk_flat_table *t = &c->table[SK_UNEXPECTED];
    if (!sk_flat_table_steady(t) || t->nrings == 1 || !sk_flat_mask_covers(&t->mask, &mask))
        return extract_any(f, SK_UNEXPECTED, recv, traversed);
    sk_flat_bucket *bucket = sk_flat_table_lookup(t, recv);
    if (!bucket && s->all.tail->seq < c->indexed)
        return extract_none(s);
    if (!bucket || !sk_match_fits(recv, bucket->first->item) ||
        bucket->first->item->queue != &bucket->first->item->link)
        return extract_any(f, SK_UNEXPECTED, recv, traversed);
    ++*traversed;
    return extract_bucket(s, t, bucket);
}

/* Prefetches the bucket of this message, and the receive in the bucket of the message announced
 * before, whose bucket is in the cache by now. */
static void flat_prefetch(void *self, const sk_match_item *msg)
{
    enum { LINE = 64, LINES = 3 }; /* the part of a receive that a match reads, if it is short */
    flat_engine *f = self;
    const sk_flat_class *c = f->classes.active;
    if (!c || c->next_active || f->side[SK_POSTED].streak >= HEAD_STREAK)
        return;
    const sk_flat_table *t = &c->table[SK_POSTED];
    if (!sk_flat_table_steady(t))
        return;
    const sk_match_link *link = t->now.at[f->next_hash >> t->now.shift].first;
    if (link)
        for (int i = 0; i < LINES; i++)
            __builtin_prefetch((const char *)link - offsetof(sk_match_item, link) +
                               (ptrdiff_t)i * LINE);
    f->next_hash = sk_flat_hash(t, msg);
    __builtin_prefetch(&t->now.at[f->next_hash >> t->now.shift]);
}

static inline void posted_add(flat_engine *f, sk_match_item *recv)
{
    if (f->unindexed)
        return;
    if (f->side[SK_POSTED].streak >= HEAD_STREAK || !posted_put(f, recv))
        posted_add_any(f, recv);
}

static inline void message_add(flat_engine *f, sk_match_item *msg)
{
    const sk_match_item *prev = msg->prev;
    sk_flat_class *c = f->primary;
    if (prev && (!c || f->side[SK_UNEXPECTED].streak >= HEAD_STREAK || prev->seq >= c->indexed))
        return; /* a table that is behind waits for the next search */
    if (!prev || !message_put(c, msg))
        message_add_any(f, msg);
}

static void flat_add(void *self, sk_match_item *item)
{
    flat_engine *f = self;
    item->queue = NULL;
    sk_match_queue_push(&f->side[item->side].all, item);
    if (item->side == SK_POSTED)
        posted_add(f, item);
    else
        message_add(f, item);
}

static sk_match_item *flat_next(void *self, sk_match_side side, sk_match_item *after)
{
    flat_engine *f = self;
    return after ? after->next : f->side[side].all.head;
}

static void flat_stats(const void *self, sk_match_stats *out)
{
    const flat_engine *f = self;
    out->bytes = sizeof *f + sk_flat_pool_bytes(&f->pool);
    for (uint32_t i = 0; i < f->classes.n; i++)
        for (int s = 0; s < SK_NSIDES; s++) {
            size_t bytes = sk_flat_table_bytes(&f->classes.at[i].table[s]);
            out->bytes += bytes;
            out->queues += bytes > 0;
        }
}

const sk_engine sk_engine_flat = {
    .name = "flat",
    .help = "hash tables, one per wildcard class; constant time at any length, wildcards or not",
    .short_limit = 64,
    .create = flat_create,
    .destroy = flat_destroy,
    .find = flat_find,
    .extract = {posted_extract, message_extract},
    .prefetch = flat_prefetch,
    .add = flat_add,
    .remove = flat_remove,
    .next = flat_next,
    .stats = flat_stats,
};
