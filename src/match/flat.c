/* flat.c: hash tables, one per class of receives (flat_table.h), so that the time of an operation
 * depends neither on the length of a queue nor on its order, with and without wildcards.
 *
 *   posted      each receive is in the table of its class; a message asks each class that has
 *               receives, and takes the oldest answer;
 *   unexpected  a class has a table over all messages once it pays: while its receives find soon
 *               what they look for, they look through the list. The table of a class with fewer
 *               things that count serves, too, while its rings are short.
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
#include "match/flat.h"

#include <stdlib.h>

#include "match/engine.h"

static void *flat_make(const sk_match_config *config)
{
    (void)config;
    flat *f = calloc(1, sizeof *f);
    for (int s = 0; f && s < SK_NSIDES; s++)
        f->side[s].streak = FLAT_STREAK;
    return f;
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

static sk_item *flat_find(void *self, sk_match_side which, const sk_item *item, uint64_t *looked)
{
    flat *f = self;
    flat_side *s = &f->side[which];
    sk_item *head = s->all.head, *found;
    if (s->streak >= FLAT_STREAK) {
        ++*looked;
        if (which == SK_POSTED ? sk_item_fits(head, item) : sk_item_fits(item, head))
            return head;
    }
    found =
        which == SK_POSTED ? flat_posted_find(f, item, looked) : flat_message_find(f, item, looked);
    s->streak = found == head ? s->streak + 1 : 0;
    return found;
}

static void flat_take(void *self, sk_item *item)
{
    flat *f = self;
    if (item->side == SK_POSTED)
        flat_posted_leave(f, item);
    else
        flat_message_leave(f, item);
    sk_queue_remove(&f->side[item->side].all, item);
}

/* Any case that those below leave out. */
static __attribute__((noinline)) sk_item *grab_other(flat *f, sk_match_side which,
                                                     const sk_item *item, uint64_t *looked)
{
    sk_item *found = flat_find(f, which, item, looked);
    if (found)
        flat_take(f, found);
    return found;
}

/* The oldest item of all may fit, and be in no table. */
static inline sk_item *grab_head(flat *f, sk_match_side which, const sk_item *item,
                                 uint64_t *looked)
{
    flat_side *s = &f->side[which];
    sk_item *head = s->all.head;
    bool fits = which == SK_POSTED ? sk_item_fits(head, item) : sk_item_fits(item, head);
    if (!fits || head->queue)
        return grab_other(f, which, item, looked);
    ++*looked;
    if (which == SK_POSTED)
        f->unknown = head->next;
    sk_queue_remove(&s->all, head);
    return head;
}

/* The oldest item of a slot. */
static inline sk_item *grab_slot(flat_side *s, flat_table *t, flat_slot *slot)
{
    sk_item *found = slot->first->item;
    flat_table_pop(t, slot);
    s->streak = found == s->all.head ? s->streak + 1 : 0;
    sk_queue_remove(&s->all, found);
    return found;
}

static inline sk_item *grab_none(flat_side *s)
{
    s->streak = 0;
    return NULL;
}

static sk_item *posted_grab(void *self, const sk_item *msg, uint64_t *looked)
{
    flat *f = self;
    flat_side *s = &f->side[SK_POSTED];
    flat_slot *best = NULL;
    flat_table *from = NULL;
    uint64_t n = 0;
    if (s->streak >= FLAT_STREAK)
        return grab_head(f, SK_POSTED, msg, looked);
    if (f->unknown || f->rest)
        return grab_other(f, SK_POSTED, msg, looked);
    for (flat_way *w = f->active; w; w = w->next) {
        flat_table *t = &w->table[SK_POSTED];
        if (!flat_table_steady(t))
            return grab_other(f, SK_POSTED, msg, looked);
        flat_slot *slot = flat_table_guess(t, msg);
        if (!slot)
            continue;
        if (!flat_equal(&t->class, slot->first->item, msg))
            return grab_other(f, SK_POSTED, msg, looked);
        n++;
        if (!best || slot->first->item->age < best->first->item->age) {
            best = slot;
            from = t;
        }
    }
    if (best && from->keys == 1)
        return grab_other(f, SK_POSTED, msg, looked);
    *looked += n;
    return best ? grab_slot(s, from, best) : grab_none(s);
}

/* The oldest message of a ring, if that fits, is what a receive gets whose keys are equal if they
 * are equal in this table. */
static sk_item *message_grab(void *self, const sk_item *recv, uint64_t *looked)
{
    flat *f = self;
    flat_side *s = &f->side[SK_UNEXPECTED];
    flat_way *w = f->home;
    flat_class c = flat_class_of(recv);
    if (s->streak >= FLAT_STREAK)
        return grab_head(f, SK_UNEXPECTED, recv, looked);
    if (!w)
        return grab_other(f, SK_UNEXPECTED, recv, looked);
    flat_table *t = &w->table[SK_UNEXPECTED];
    if (!flat_table_steady(t) || t->keys == 1 || !flat_class_covers(&t->class, &c))
        return grab_other(f, SK_UNEXPECTED, recv, looked);
    flat_slot *slot = flat_table_guess(t, recv);
    if (!slot && s->all.tail->age < w->known)
        return grab_none(s);
    if (!slot || !sk_item_fits(recv, slot->first->item) ||
        slot->first->item->queue != &slot->first->item->link)
        return grab_other(f, SK_UNEXPECTED, recv, looked);
    ++*looked;
    return grab_slot(s, t, slot);
}

/* The slot of a message now, and what is in it when the next message is asked for: by then the slot
 * is there. */
static void flat_glance(void *self, const sk_item *msg)
{
    enum { LINE = 64, LINES = 3 }; /* as much of a receive as a match looks at, if it is not long */
    flat *f = self;
    const flat_way *w = f->active;
    if (!w || w->next || f->side[SK_POSTED].streak >= FLAT_STREAK)
        return;
    const flat_table *t = &w->table[SK_POSTED];
    if (!flat_table_steady(t))
        return;
    const sk_link *link = t->now.at[f->soon >> t->now.shift].first;
    if (link)
        for (int i = 0; i < LINES; i++)
            __builtin_prefetch((const char *)link - offsetof(sk_item, link) + (ptrdiff_t)i * LINE);
    f->soon = flat_hash(t, msg);
    __builtin_prefetch(&t->now.at[f->soon >> t->now.shift]);
}

static inline void posted_add(flat *f, sk_item *recv)
{
    if (f->unknown)
        return;
    if (f->side[SK_POSTED].streak >= FLAT_STREAK || !flat_posted_put(f, recv))
        flat_posted_add(f, recv);
}

static inline void message_add(flat *f, sk_item *msg)
{
    const sk_item *before = msg->prev;
    flat_way *w = f->home;
    if (before && (!w || f->side[SK_UNEXPECTED].streak >= FLAT_STREAK || before->age >= w->known))
        return; /* a table that lags waits for the next search */
    if (!before || !flat_message_put(w, msg))
        flat_message_add(f, msg);
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
    .grab = {posted_grab, message_grab},
    .glance = flat_glance,
    .add = flat_add,
    .take = flat_take,
    .next = flat_next,
    .count = flat_count,
};
