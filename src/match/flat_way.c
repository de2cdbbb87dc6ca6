/* flat_way.c: the ways of `flat` to look, and the receives there is none for. Their number is
 * bounded, since a message has to ask all that have receives. */
#include "match/flat.h"

/* A fresh one, or one that nothing is in; what it had known is gone from the queue, so `known`
 * holds. */
static flat_way *way_new(flat *f, const flat_class *c)
{
    flat_way *w = NULL;
    if (f->nways < FLAT_WAYS)
        w = &f->ways[f->nways++];
    for (uint32_t i = 0; !w && i < FLAT_WAYS; i++)
        if (f->ways[i].table[SK_POSTED].keys == 0 && f->ways[i].table[SK_UNEXPECTED].keys == 0)
            w = &f->ways[i];
    if (w) {
        flat_table_init(&w->table[SK_POSTED], c);
        flat_table_init(&w->table[SK_UNEXPECTED], c);
        w->detour = 0;
        w->own = false;
    }
    return w;
}

flat_way *flat_way_of(flat *f, const sk_item *recv)
{
    flat_class c = flat_class_of(recv);
    if (f->recent && flat_class_equal(&f->recent->table[0].class, &c))
        return f->recent;
    for (uint32_t i = 0; i < f->nways; i++)
        if (flat_class_equal(&f->ways[i].table[0].class, &c))
            return f->recent = &f->ways[i];
    return f->recent = way_new(f, &c);
}

void flat_way_activate(flat *f, flat_way *w)
{
    w->next = f->active;
    f->active = w;
}

void flat_way_rest(flat *f, flat_way *w)
{
    flat_way **at = &f->active;
    while (*at != w)
        at = &(*at)->next;
    *at = w->next;
}

void flat_rest_add(flat *f, sk_link *link)
{
    if (!f->rest) {
        f->rest = link->next = link->prev = link;
        return;
    }
    link->next = f->rest;
    link->prev = f->rest->prev;
    link->prev->next = f->rest->prev = link;
}

void flat_rest_remove(flat *f, sk_link *link)
{
    link->prev->next = link->next;
    link->next->prev = link->prev;
    if (f->rest == link)
        f->rest = link->next == link ? NULL : link->next;
}

sk_item *flat_rest_find(const flat *f, const sk_item *msg, sk_item *best, uint64_t *looked)
{
    for (const sk_link *link = f->rest; link && (!best || link->item->age < best->age);) {
        ++*looked;
        if (sk_item_fits(link->item, msg))
            return link->item;
        link = link->next == f->rest ? NULL : link->next;
    }
    return best;
}
