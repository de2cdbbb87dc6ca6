/* walk_inner.h: the state of a walk, for the files that are the walker: walk.c and messages.c. */
#ifndef SK_WALK_INNER_H
#define SK_WALK_INNER_H

#include "price/channels.h"
#include "price/events.h"
#include "price/walk.h"

/* A message that a rank has, or will have, at a known time. */
typedef struct sk_walk_arrival {
    double at, cost, floor, bytes;
} sk_walk_arrival;

typedef enum sk_walker_state { RUNS, AWAITS_FLAGS, AWAITS_MESSAGES, SKIPS, OVER } sk_walker_state;

typedef struct sk_walker {
    const sk_profile *profile;
    int rank, node, core; /* core: an index in walk.cores; -1: its own */
    sk_walker_state state;
    bool passed; /* it waits no more: it only wanted a core */
    int call;    /* of those in a row */
    uint32_t round, at;
    double t, half; /* now; and when half of a stretch was walked */

    /* of the current round */
    sk_walk_arrival *arrivals;
    int narrivals, cap;
    int pending; /* transfers whose end is not known yet */
    double sent; /* when the last known message of its own is over */

    /* epochs: when they were posted and released; < 0: not yet */
    double *posted, *released;
    uint32_t done; /* epochs that it has released */
    int cursor;    /* while it awaits flags: the first local rank whose flag is not known */
    int next;      /* in the list of those of its node that await flags */
    double latest; /* of the flags that are known */
} sk_walker;

typedef struct sk_walk_port {
    double out, in, memory; /* free from then on */
} sk_walk_port;

typedef struct sk_walk_core {
    double free_at;
    int last; /* walker */
} sk_walk_core;

typedef struct sk_walk {
    const sk_price_case *c;
    const sk_prices *p;
    const sk_classes *classes;
    sk_walker *walkers;
    sk_walk_port *ports; /* of each node */
    sk_walk_core *cores;
    int *waiting; /* of each node: first walker that awaits flags */
    sk_events events;
    sk_channels channels;
    int64_t looks, messages;
    int calls;
    sk_status status;
} sk_walk;

/* Events: a message comes to the port, or a walker goes on. */
static inline void sk_walk_schedule(sk_walk *x, double at, int32_t what)
{
    if (!sk_events_push(&x->events, at, what))
        x->status = SK_NOMEM;
}

static inline void sk_walk_resume_at(sk_walk *x, double at, const sk_walker *w)
{
    sk_walk_schedule(x, at, ~(int32_t)(w - x->walkers));
}

static inline double sk_walk_larger(double a, double b)
{
    return a > b ? a : b;
}

/* A receive, or a send, starts. */
void sk_walk_recv(sk_walk *x, sk_walker *w, const sk_act *act);
void sk_walk_send(sk_walk *x, sk_walker *w, const sk_act *act);

/* A message between nodes comes to the port of its sender's node, later to that of its receiver's: each serves
 * messages as they come. Where ranks of a node are of one class, theirs come together, and this one is the last. */
void sk_walk_pass_port(sk_walk *x, int send, double now);

#endif
