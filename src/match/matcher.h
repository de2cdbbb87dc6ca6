/* matcher.h: matches posted receives with arriving messages.
 *
 * A matcher holds two queues: the posted queue (receives that wait for their message) and the
 * unexpected queue (messages that wait for their receive). It keeps MPI's order: a receive gets the
 * oldest message that matches, a message gets the oldest receive that matches. The engine
 * (engines.def) decides how the queues are searched. All engines give the same matches.
 *
 * Items belong to the caller and hold the links of the engine, so an operation allocates nothing
 * for them. An item must not move while it is queued. */
#ifndef SK_MATCHER_H
#define SK_MATCHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/status.h"

#define SK_ANY_SOURCE UINT32_MAX /* in a receive */
#define SK_ANY_KIND   UINT16_MAX /* in a receive that can match messages of several kinds */
enum { SK_P2P = 0, SK_MAX_KINDS = 128 };

/* The two queues, and the items that wait in them. */
typedef enum sk_match_side { SK_POSTED, SK_UNEXPECTED, SK_NSIDES } sk_match_side;

/* The entry of an item in an index of an engine. */
typedef struct sk_match_link {
    struct sk_match_item *item;
    struct sk_match_link *next, *prev; /* circular list of the items with equal keys */
    struct sk_match_link *other;       /* another entry of the same item, in another index */
    void *index;
    uint32_t hash;
} sk_match_link;

/* A receive or a message. The caller sets the first part before a call and does not change it while
 * the item is queued.
 *
 * `kind` separates items that can never match: 0 is point-to-point, the others are collectives. The
 * caller guarantees that the kinds of a receive and of a message that match are equal, or that the
 * kind of the receive is SK_ANY_KIND.
 *
 * size, nranks and call describe the collective call of an item. They are hints for adaptive
 * engines: they do not decide what matches, and sender and receiver may give different ones. */
typedef struct sk_match_item {
    uint64_t tag;
    uint64_t ignore; /* receive: bits of the tag that may differ; message: 0 */
    uint32_t source; /* small numbers from 0 */
    uint32_t nranks; /* ranks of the communicator; 0: not known */
    uint32_t call;   /* number of the collective call in this process, increasing; 0: not known */
    uint16_t kind;
    uint8_t size; /* size class: number of bits of the length in bytes */

    /* The matcher and its engine own the rest. */
    uint8_t side; /* sk_match_side while queued, else SK_NSIDES */
    uint64_t seq; /* sequence number over all items of the matcher: a smaller one is older */
    struct sk_match_item *next, *prev;
    void *queue; /* of the engine */
    void *quota; /* of the engine */
    sk_match_link link;
} sk_match_item;

static inline bool sk_match_fits(const sk_match_item *recv, const sk_match_item *msg)
{
    return ((recv->tag ^ msg->tag) & ~recv->ignore) == 0 &&
           (recv->source == SK_ANY_SOURCE || recv->source == msg->source) &&
           (recv->kind == SK_ANY_KIND || recv->kind == msg->kind);
}

typedef struct sk_matcher sk_matcher;
typedef struct sk_trace sk_trace; /* trace.h */

typedef struct sk_match_config {
    uint32_t nranks; /* n: processes that may send; engines make at most k * sqrt(n) queues */
    uint32_t kc, kp; /* k = kc + kp: for collectives and point-to-point; 0: default (8) */
    uint32_t theta;  /* length of a shared queue at which partners are searched; 0: default (100) */
    bool threads;    /* several threads may call at once: every operation takes a lock */
    sk_trace *trace; /* records the operations; NULL: none */
} sk_match_config;

/* `engine` is a name of engines.def; NULL or "": the default. SK_BADARG: no such engine. */
sk_status sk_matcher_new(const char *engine, const sk_match_config *config, sk_matcher **out);
/* Does not free queued items. They are the caller's: iterate with sk_matcher_next first. */
void sk_matcher_free(sk_matcher *m);
const char *sk_matcher_engine(const sk_matcher *m);

/* Removes the oldest message that matches from its queue and returns it. NULL: none matches, and
 * the receive is queued. */
sk_match_item *sk_matcher_post(sk_matcher *m, sk_match_item *recv);
/* Removes the oldest receive that matches from its queue and returns it. NULL: none matches, and
 * the message is queued. */
sk_match_item *sk_matcher_deliver(sk_matcher *m, sk_match_item *msg);
/* Announces a message that will be delivered after the next one. Prefetches what its search will
 * read and changes nothing else. Only the caller's part of the item is read. */
void sk_matcher_prefetch(sk_matcher *m, const sk_match_item *msg);
/* Returns the oldest message that the receive would get. The message stays queued, and `recv` is
 * not kept. */
sk_match_item *sk_matcher_probe(sk_matcher *m, const sk_match_item *recv);
/* Removes a message that sk_matcher_probe has found from its queue. If other threads post in
 * between, the caller must lock probe and claim together, or the message may be gone. */
void sk_matcher_claim(sk_matcher *m, sk_match_item *msg);
/* Removes a posted receive from its queue. False: it is not queued, because it has matched. */
bool sk_matcher_cancel(sk_matcher *m, sk_match_item *recv);
/* Iterates over the queued items of a side in no particular order; NULL starts. An item may be
 * claimed or cancelled once the item after it was fetched. */
sk_match_item *sk_matcher_next(sk_matcher *m, sk_match_side side, sk_match_item *after);

/* Statistics. A search is one lookup in one of the two queues. Its traversals are the queued items
 * that it compares, including the one that matches. */
enum { SK_STATS_KINDS = 128, SK_STATS_SIDES = 2 };

/* The posted or the unexpected queue, for the items of one kind. */
typedef struct sk_side_stats {
    uint64_t searches;   /* of this queue */
    uint64_t traversals; /* items compared */
    uint64_t found;      /* searches that found an item */
    uint64_t added;      /* items added to this queue */
} sk_side_stats;

typedef struct sk_match_stats {
    sk_side_stats kind[SK_STATS_KINDS][SK_STATS_SIDES]; /* by kind of the searching or added item;
                                                           SK_ANY_KIND counts as 0 */
    uint64_t length[SK_STATS_SIDES];                    /* now */
    uint64_t max_length[SK_STATS_SIDES];                /* ever */
    double mean_length[SK_STATS_SIDES];                 /* over the searches of that queue */
    uint64_t queues; /* dedicated queues the engine has made, both sides together (list: 0) */
    uint64_t queues_coll[SK_STATS_SIDES], queues_p2p[SK_STATS_SIDES];
    uint64_t bytes;     /* memory of the engine, without the items */
    uint64_t contended; /* operations that had to wait for the lock */
} sk_match_stats;

void sk_matcher_stats(const sk_matcher *m, sk_match_stats *out);
/* Prints them as a table. `kind_name` (may be NULL) gives the names of kinds. */
void sk_match_stats_print(const sk_match_stats *s, const char *engine,
                          const char *(*kind_name)(unsigned kind), FILE *to);

/* Engines by number; NULL past the end. */
const char *sk_engine_name(int i);
const char *sk_engine_help(int i);
const char *sk_engine_default(void);

#endif
