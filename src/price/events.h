/* events.h: what happens when, in the order of time. */
#ifndef SK_EVENTS_H
#define SK_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct sk_event {
    double at; /* ns */
    int32_t what;
} sk_event;

/* A heap. Starts as {0}. */
typedef struct sk_events {
    sk_event *heap;
    uint32_t n, cap;
} sk_events;

/* False: out of memory. */
bool sk_events_push(sk_events *q, double at, int32_t what);

/* The earliest; of those at one time the one with the least `what`. False: there is none. */
bool sk_events_pop(sk_events *q, sk_event *out);

void sk_events_free(sk_events *q);

#endif
