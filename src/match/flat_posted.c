/* flat_posted.c: receives in `flat`, in every case; flat.c does the usual ones in line. */
#include "match/flat.h"

/* Put a receive in the table of its class. False: out of memory. */
static bool posted_index(flat *f, sk_item *recv)
{
    flat_way *w = flat_way_of(f, recv);
    sk_link *link = &recv->link;
    link->item = recv;
    link->index = w;
    if (!w)
        flat_rest_add(f, link);
    else if (!flat_table_add(&w->table[SK_POSTED], link, recv))
        return false;
    else if (w->table[SK_POSTED].keys == 1 && link->next == link)
        flat_way_activate(f, w);
    recv->queue = link;
    return true;
}

void flat_posted_add(flat *f, sk_item *recv)
{
    if (f->side[SK_POSTED].streak >= FLAT_STREAK || !posted_index(f, recv))
        f->unknown = recv;
}

/* A message asks all classes that have receives. */
sk_item *flat_posted_find(flat *f, const sk_item *msg, uint64_t *looked)
{
    sk_item *best = NULL;
    while (f->unknown && (flat_posted_put(f, f->unknown) || posted_index(f, f->unknown)))
        f->unknown = f->unknown->next;
    for (flat_way *w = f->active; w; w = w->next) {
        const sk_link *link = flat_table_find(&w->table[SK_POSTED], msg, looked);
        if (link && (!best || link->item->age < best->age))
            best = link->item;
    }
    if (f->rest)
        best = flat_rest_find(f, msg, best, looked);
    return best || !f->unknown ? best : sk_queue_find(f->unknown, SK_POSTED, msg, looked);
}

void flat_posted_leave(flat *f, sk_item *recv)
{
    sk_link *link = recv->queue;
    if (recv == f->unknown)
        f->unknown = recv->next;
    if (!link)
        return;
    flat_way *w = link->index;
    if (!w) {
        flat_rest_remove(f, link);
        return;
    }
    flat_table_remove(&w->table[SK_POSTED], link);
    if (w->table[SK_POSTED].keys == 0)
        flat_way_rest(f, w);
}
