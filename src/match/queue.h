/* queue.h: items in the order they came, linked through their own next and prev. For engines. */
#ifndef SK_QUEUE_H
#define SK_QUEUE_H

#include "match/match.h"

typedef struct sk_queue {
    sk_item *head, *tail; /* oldest, youngest */
} sk_queue;

static inline void sk_queue_push(sk_queue *q, sk_item *item)
{
    item->next = NULL;
    item->prev = q->tail;
    if (q->tail)
        q->tail->next = item;
    else
        q->head = item;
    q->tail = item;
}

static inline void sk_queue_remove(sk_queue *q, sk_item *item)
{
    if (item->prev)
        item->prev->next = item->next;
    else
        q->head = item->next;
    if (item->next)
        item->next->prev = item->prev;
    else
        q->tail = item->prev;
}

/* The first item from `at` on that fits `item`, which is of the other side than `side`. */
static inline sk_item *sk_queue_find(sk_item *at, sk_match_side side, const sk_item *item,
                                     uint64_t *looked)
{
    uint64_t n = 0;
    if (side == SK_POSTED) {
        for (; at; at = at->next) {
            n++;
            if (sk_item_fits(at, item))
                break;
        }
    } else {
        for (; at; at = at->next) {
            n++;
            if (sk_item_fits(item, at))
                break;
        }
    }
    *looked += n;
    return at;
}

#endif
