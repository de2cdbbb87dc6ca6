/* hand.c: who has a queue, the matcher or its engine. */
#include "match/matcher.h"

/* After a side changed hands, or has a new longest length. */
static void side_update(sk_matcher *m, sk_matcher_side *s)
{
    s->most = s->longest < m->engine->brief ? s->longest : m->engine->brief;
    if (!m->watched) /* else threads read it without the lock, and it stays true */
        m->special = m->side[SK_POSTED].handed || m->side[SK_UNEXPECTED].handed;
}

/* The queue gets too long for the matcher. */
static void side_hand_over(sk_matcher *m, sk_matcher_side *s)
{
    for (sk_item *item = s->brief.head, *next; item; item = next) {
        next = item->next;
        m->engine->add(m->self, item);
    }
    s->brief = (sk_queue){0};
    s->handed = true;
}

void sk_side_take_back(sk_matcher *m, sk_matcher_side *s, sk_match_side side)
{
    sk_item *items[SK_FEW];
    int n = 0;
    for (sk_item *item; (item = m->engine->next(m->self, side, NULL)); n++) {
        int at = n;
        m->engine->take(m->self, item);
        for (; at > 0 && items[at - 1]->age > item->age; at--)
            items[at] = items[at - 1];
        items[at] = item;
    }
    for (int i = 0; i < n; i++)
        sk_queue_push(&s->brief, items[i]);
    s->handed = false;
    side_update(m, s);
}

void sk_side_longer(sk_matcher *m, sk_matcher_side *s)
{
    if (s->length > s->longest)
        s->longest = s->length;
    if (s->length > m->engine->brief)
        side_hand_over(m, s);
    side_update(m, s);
}
