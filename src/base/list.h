/* list.h: doubly linked intrusive lists. A list head is a node that belongs to no object. */
#ifndef SK_LIST_H
#define SK_LIST_H

#include <stdbool.h>
#include <stddef.h>

typedef struct sk_list {
    struct sk_list *next, *prev; /* both NULL: in no list */
} sk_list;

#define SK_LIST_ENTRY(node, type, field) ((type *)((char *)(node)-offsetof(type, field)))

static inline void sk_list_init(sk_list *list)
{
    list->next = list->prev = list;
}

static inline bool sk_list_empty(const sk_list *list)
{
    return list->next == list;
}

static inline bool sk_list_linked(const sk_list *node)
{
    return node->next != NULL;
}

static inline void sk_list_append(sk_list *list, sk_list *node)
{
    node->next = list;
    node->prev = list->prev;
    list->prev->next = node;
    list->prev = node;
}

static inline void sk_list_remove(sk_list *node)
{
    node->next->prev = node->prev;
    node->prev->next = node->next;
    node->next = node->prev = NULL;
}

/* Remove the first node; NULL: the list is empty. */
static inline sk_list *sk_list_pop(sk_list *list)
{
    sk_list *first = list->next;
    if (first == list)
        return NULL;
    sk_list_remove(first);
    return first;
}

/* Move all nodes of `from` to the end of `to`. */
static inline void sk_list_splice(sk_list *to, sk_list *from)
{
    if (sk_list_empty(from))
        return;
    from->next->prev = to->prev;
    to->prev->next = from->next;
    from->prev->next = to;
    to->prev = from->prev;
    sk_list_init(from);
}

#endif
