/* flat_message.c: messages in `flat`, in every case; flat.c does the usual ones in line.
 *
 * Messages are put in one table when they come, that of the way last needed, `home`. It serves
 * other ways, too, if equal keys there are equal keys here; as a rule the rings are as short. Where
 * they are not, and for a way that `home` does not serve, a further table takes up what waits. */
#include "match/flat.h"

enum {
    PATIENCE = 4,    /* a table takes up what it lacks when a quarter of it has been looked at */
    DETOUR = 64,     /* so many messages looked at in vain are too many, */
    DETOUR_EACH = 2, /* apart from these of each search */
    SAMPLE = 16,     /* messages that tell whether tags differ */
};

/* Put a message in the table of a way. False: out of memory. */
static bool message_index(flat *f, flat_way *w, sk_item *msg)
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

/* All that is older than the first message is gone. It may be older than what was here before: the
 * matcher may have had it meanwhile. */
static void message_first(flat *f, uint64_t age)
{
    for (uint32_t i = 0; i < f->nways; i++)
        f->ways[i].known = age;
}

void flat_message_add(flat *f, sk_item *msg)
{
    flat_way *w = f->home;
    if (!msg->prev)
        message_first(f, msg->age);
    if (w && f->side[SK_UNEXPECTED].streak < FLAT_STREAK &&
        (!msg->prev || msg->prev->age < w->known))
        message_index(f, w, msg);
}

void flat_message_leave(flat *f, sk_item *msg)
{
    for (sk_link *link = msg->queue, *other; link; link = other) {
        other = link->other;
        flat_table_remove(&((flat_way *)link->index)->table[SK_UNEXPECTED], link);
        if (link != &msg->link)
            flat_pool_put(&f->pool, link);
    }
}

/* Drop the links of a message that belong to ways served by `by`. Its own link is the last of all,
 * and stays so. */
static void message_forget(flat *f, const flat_way *by, sk_item *msg)
{
    sk_link *first = NULL, **last = &first;
    for (sk_link *link = msg->queue, *other; link; link = other) {
        other = link->other;
        if (!flat_way_serves(by, link->index)) {
            *last = link;
            last = &link->other;
        } else if (link != &msg->link) {
            flat_pool_put(&f->pool, link);
        }
    }
    *last = NULL;
    msg->queue = first;
}

/* A way begins to serve: others that it serves need no table any more. Their links go with it. */
static void way_supersede(flat *f, const flat_way *by)
{
    bool any = false;
    for (flat_way *w = f->ways; w < f->ways + f->nways; w++)
        if (w->table[SK_UNEXPECTED].keys && flat_way_serves(by, w)) {
            flat_table_drop(&w->table[SK_UNEXPECTED]);
            w->known = 0;
            any = true;
        }
    for (sk_item *msg = any ? f->side[SK_UNEXPECTED].all.head : NULL; msg; msg = msg->next)
        message_forget(f, by, msg);
}

/* Put this message and all younger ones in the table of a way. Those that do not go there for want
 * of memory are the youngest: the oldest of them, or NULL. */
static sk_item *messages_take_up(flat *f, flat_way *w, sk_item *msg)
{
    way_supersede(f, w);
    while (msg && ((!msg->queue && flat_message_put(w, msg)) || message_index(f, w, msg)))
        msg = msg->next;
    return msg;
}

/* A receive of way `w` asks the table of `by`. If that is not its own, the ring holds messages that
 * do not fit, too; when they are too many, `w` shall have a table. */
static sk_item *table_search(const flat_way *by, flat_way *w, const sk_item *recv, uint64_t *looked)
{
    sk_link *first = flat_table_find(&by->table[SK_UNEXPECTED], recv, looked), *link = first;
    if (by == w || !first)
        return first ? first->item : NULL;
    uint32_t vain = 0;
    while (link && !sk_item_fits(recv, link->item)) {
        vain++;
        link = link->next == first ? NULL : link->next;
    }
    *looked += vain;
    w->detour += vain;
    w->own = w->own || w->detour > DETOUR;
    w->detour -= w->detour < DETOUR_EACH ? w->detour : DETOUR_EACH;
    return link ? link->item : NULL;
}

/* The oldest message that the table of a way does not know. The way there counts as looking. */
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

/* Look through what the table does not know. When enough has been looked at the table takes it up;
 * then it may know, and what is left to look through is what there was no memory for. */
static sk_item *list_search(flat *f, flat_way *by, flat_way *w, const sk_item *recv,
                            uint64_t *looked)
{
    uint64_t lag = f->side[SK_UNEXPECTED].all.tail->age - by->known + 1;
    sk_item *first = message_unknown(f, by), *msg = first;
    for (; msg && by->debt < lag / PATIENCE; msg = msg->next) {
        ++*looked;
        by->debt++;
        if (sk_item_fits(recv, msg))
            return msg;
    }
    if (!msg)
        return NULL;
    by->debt = 0;
    sk_item *out = messages_take_up(f, by, first);
    sk_item *found = table_search(by, w, recv, looked);
    return found || !out ? found : sk_queue_find(out, SK_UNEXPECTED, recv, looked);
}

/* Whether the last messages all differ in these bits of their tags. */
static bool tags_differ(const sk_item *last, uint64_t bits)
{
    int n = 0;
    for (const sk_item *a = last; a && n < SAMPLE; a = a->prev, n++)
        for (const sk_item *b = last; b != a; b = b->prev)
            if (((a->tag ^ b->tag) & bits) == 0)
                return false;
    return true;
}

/* The way whose table a receive of way `w` asks. The first of all shall be by tag alone if the last
 * messages differ in that: it serves receives from any source as well. */
static flat_way *message_way(flat *f, flat_way *w, const sk_item *recv)
{
    if (f->home && flat_way_serves(f->home, w))
        return f->home;
    if (f->home || f->nways == FLAT_WAYS ||
        !tags_differ(f->side[SK_UNEXPECTED].all.tail, ~recv->ignore))
        return f->home = w;
    sk_item like = {.ignore = recv->ignore, .source = SK_ANY_SOURCE, .kind = recv->kind};
    return f->home = flat_way_of(f, &like);
}

sk_item *flat_message_find(flat *f, const sk_item *recv, uint64_t *looked)
{
    const sk_queue *all = &f->side[SK_UNEXPECTED].all;
    flat_way *w = flat_way_of(f, recv);
    if (!w)
        return sk_queue_find(all->head, SK_UNEXPECTED, recv, looked);
    flat_way *by = message_way(f, w, recv);
    sk_item *found = table_search(by, w, recv, looked);
    return found || all->tail->age < by->known ? found : list_search(f, by, w, recv, looked);
}
