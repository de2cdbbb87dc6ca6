/* matcher.h: the inside of a matcher, for match.c and meet.c. */
#ifndef SK_MATCHER_H
#define SK_MATCHER_H

#include <pthread.h>

#include "match/engine.h"
#include "match/queue.h"

/* A queue comes back from the engine with at most this many items. */
enum { SK_FEW = 4 };

typedef struct sk_matcher_side {
    sk_queue brief; /* while the queue is short */
    uint64_t length;
    uint64_t longest; /* ever, but for what the engine's queue has grown since it last shrank */
    uint64_t most;    /* of the length of `brief`: beyond it something has to be done */
    uint64_t sum;     /* of the lengths that searches met */
    bool handed;      /* the engine has it */
} sk_matcher_side;

/* What the searches of one kind did, of one side. */
typedef struct sk_tally {
    uint64_t searches, looked, found;
    uint64_t missed; /* peeks that found nothing; all other searches without a find add an item */
} sk_tally;

struct sk_matcher {
    bool special; /* watched, or a queue is handed over: the short way is closed */
    bool watched; /* by threads or a trace */
    bool threads;
    uint64_t age; /* of the next item; it is also the item's number in the trace */
    sk_matcher_side side[SK_NSIDES];
    const sk_engine *engine;
    void *self; /* the engine's; NULL: it leaves everything to the matcher */
    sk_trace *trace;
    uint64_t contended;
    pthread_mutex_t lock;
    sk_tally tally[SK_STATS_KINDS]
                  [SK_NSIDES]; /* by kind of the searching item, and side searched */
};

static inline void sk_matcher_lock(sk_matcher *m)
{
    if (!m->threads || pthread_mutex_trylock(&m->lock) == 0)
        return;
    pthread_mutex_lock(&m->lock);
    m->contended++;
}

static inline void sk_matcher_unlock(sk_matcher *m)
{
    if (m->threads)
        pthread_mutex_unlock(&m->lock);
}

/* hand.c. The short queue passes `most`: it is the longest ever, or too long for the matcher. */
__attribute__((cold)) void sk_side_longer(sk_matcher *m, sk_matcher_side *s);
/* At most SK_FEW are left: they come back from the engine, sorted by age. */
__attribute__((cold)) void sk_side_take_back(sk_matcher *m, sk_matcher_side *s, sk_match_side side);

#endif
