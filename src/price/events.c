#include "price/events.h"

#include <stdlib.h>

static bool before(sk_event a, sk_event b)
{
    return a.at < b.at || (a.at <= b.at && a.what < b.what);
}

bool sk_events_push(sk_events *q, double at, int32_t what)
{
    if (q->n == q->cap) {
        uint32_t cap = q->cap ? 2 * q->cap : 256;
        sk_event *heap = realloc(q->heap, cap * sizeof *heap);
        if (!heap)
            return false;
        q->heap = heap;
        q->cap = cap;
    }
    sk_event e = {at, what};
    uint32_t i = q->n++;
    for (; i > 0 && before(e, q->heap[(i - 1) / 2]); i = (i - 1) / 2)
        q->heap[i] = q->heap[(i - 1) / 2];
    q->heap[i] = e;
    return true;
}

bool sk_events_pop(sk_events *q, sk_event *out)
{
    if (q->n == 0)
        return false;
    *out = q->heap[0];
    sk_event e = q->heap[--q->n];
    uint32_t i = 0, child;
    while ((child = 2 * i + 1) < q->n) {
        child += child + 1 < q->n && before(q->heap[child + 1], q->heap[child]);
        if (!before(q->heap[child], e))
            break;
        q->heap[i] = q->heap[child];
        i = child;
    }
    q->heap[i] = e;
    return true;
}

void sk_events_free(sk_events *q)
{
    free(q->heap);
    *q = (sk_events){0};
}
