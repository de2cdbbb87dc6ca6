/* chain.h: lists of objects that hold their own links. A list is a link that belongs to no object.
 */
#ifndef SK_CHAIN_H
#define SK_CHAIN_H

#include <stdbool.h>
#include <stddef.h>

typedef struct sk_chain {
    struct sk_chain *next, *prev; /* both NULL: in no list */
} sk_chain;

#define SK_CHAINED(link, type, field) ((type *)((char *)(link)-offsetof(type, field)))

static inline void sk_chain_init(sk_chain *list)
{
    list->next = list->prev = list;
}

static inline bool sk_chain_empty(const sk_chain *list)
{
    return list->next == list;
}

static inline bool sk_chain_in(const sk_chain *link)
{
    return link->next != NULL;
}

static inline void sk_chain_append(sk_chain *list, sk_chain *link)
{
    link->next = list;
    link->prev = list->prev;
    list->prev->next = link;
    list->prev = link;
}

static inline void sk_chain_remove(sk_chain *link)
{
    link->next->prev = link->prev;
    link->prev->next = link->next;
    link->next = link->prev = NULL;
}

/* The first of a list, taken out; NULL: it is empty. */
static inline sk_chain *sk_chain_pop(sk_chain *list)
{
    sk_chain *first = list->next;
    if (first == list)
        return NULL;
    sk_chain_remove(first);
    return first;
}

/* All that is in `from` goes to the end of `to`. */
static inline void sk_chain_move(sk_chain *to, sk_chain *from)
{
    if (sk_chain_empty(from))
        return;
    from->next->prev = to->prev;
    to->prev->next = from->next;
    from->prev->next = to;
    to->prev = from->prev;
    sk_chain_init(from);
}

#endif
