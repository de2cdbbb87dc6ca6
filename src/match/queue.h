/* queue.h: a FIFO list of items, oldest first, linked through the items' own next and prev. */
#ifndef SK_MATCH_QUEUE_H
#define SK_MATCH_QUEUE_H

#include "match/matcher.h"

typedef struct sk_match_queue {
    sk_match_item *head, *tail; /* oldest, youngest */
} sk_match_queue;

static inline void sk_match_queue_push(sk_match_queue *q, sk_match_item *item)
{
    item->next = NULL;
    item->prev = q->tail;
    if (q->tail)
        q->tail->next = item;
    else
        q->head = item;
    q->tail = item;
}

static inline void sk_match_queue_remove(sk_match_queue *q, sk_match_item *item)
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

/* The first item from `at` on that matches `item`. The queue belongs to `side`, `item` to the other
 * side. */
static inline sk_match_item *sk_match_queue_find(sk_match_item *at, sk_match_side side,
                                                 const sk_match_item *item, uint64_t *traversed)
{
    uint64_t n = 0;
    if (side == SK_POSTED) {
        for (; at; at = at->next) {
            n++;
            if (sk_match_fits(at, item))
                break;
        }
    } else {
        for (; at; at = at->next) {
            n++;
            if (sk_match_fits(item, at))
                break;
        }
    }
    *traversed += n;
    return at;
}

#endif
