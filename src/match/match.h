/* match.h: posted receives meet arriving messages. A matcher holds two queues, receives that wait
 * for their message and messages that wait for their receive, and keeps MPI's order: a receive gets
 * the oldest message that fits, a message the oldest receive that fits. How it searches is up to
 * its engine (engines.def); the outcome is the same for all of them.
 *
 * Items belong to the caller and hold the links of the engine, so an operation needs no memory of
 * its own. An item must stay where it is while it is queued. */
#ifndef SK_MATCH_H
#define SK_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/status.h"
#include "match/stats.h"

#define SK_ANY_SOURCE UINT32_MAX /* in a receive */
#define SK_ANY_KIND   UINT16_MAX /* in a receive that may fit messages of several kinds */
enum { SK_P2P = 0, SK_MAX_KINDS = 128 };

typedef enum sk_match_side { SK_POSTED, SK_UNEXPECTED, SK_NSIDES } sk_match_side;

/* The place of an item in an index of an engine. */
typedef struct sk_link {
    struct sk_item *item;
    struct sk_link *next, *prev; /* a ring of items with equal keys */
    struct sk_link *other;       /* of the same item, in another index */
    void *index;
    uint32_t hash;
} sk_link;

/* A receive or a message. The caller sets the first part before it is handed in, and leaves it
 * alone while the item is queued. `kind` parts items that can never match: 0 is point-to-point,
 * others are collectives. If a receive fits a message then their kinds are equal, or the receive's
 * is SK_ANY_KIND; the caller sees to that. size, nranks and call describe the collective call an
 * item belongs to: hints for engines that adapt, never looked at for correctness, and not always
 * equal on both ends. */
typedef struct sk_item {
    uint64_t tag;
    uint64_t ignore; /* receive: bits of the tag that may differ; message: 0 */
    uint32_t source; /* small numbers from 0 */
    uint32_t nranks; /* ranks of the communicator; 0: not known */
    uint32_t call;   /* grows with every collective call of this process; 0: not known */
    uint16_t kind;
    uint8_t size; /* size class: number of bits of the length in bytes */

    uint8_t side; /* from here on the matcher's: sk_match_side while queued */
    uint64_t age; /* of all items of the matcher; smaller is older */
    struct sk_item *next, *prev;
    void *queue; /* the engine's, with `more` */
    void *more;
    sk_link link;
} sk_item;

static inline bool sk_item_fits(const sk_item *recv, const sk_item *msg)
{
    return ((recv->tag ^ msg->tag) & ~recv->ignore) == 0 &&
           (recv->source == SK_ANY_SOURCE || recv->source == msg->source) &&
           (recv->kind == SK_ANY_KIND || recv->kind == msg->kind);
}

typedef struct sk_matcher sk_matcher;
typedef struct sk_trace sk_trace; /* trace.h */

typedef struct sk_match_config {
    uint32_t nranks; /* n: processes that may send; the engines' cap of queues is k * sqrt(n) */
    uint32_t kc, kp; /* k = kc + kp: for collectives and point-to-point; 0: default (8) */
    uint32_t theta;  /* length of a queue at which partners are looked for; 0: default (100) */
    bool threads;    /* several threads may call at once: every operation takes a lock */
    sk_trace *trace; /* where operations are recorded; NULL: nowhere */
} sk_match_config;

/* `engine` is a name of engines.def; NULL or "": the default. SK_BADARG: there is no such engine.
 */
sk_status sk_matcher_new(const char *engine, const sk_match_config *config, sk_matcher **out);
void sk_matcher_free(sk_matcher *m); /* items still queued are the caller's: iterate first */
const char *sk_matcher_engine(const sk_matcher *m);

/* The oldest message that fits, taken off its queue; or NULL, and the receive is queued. */
sk_item *sk_matcher_post(sk_matcher *m, sk_item *recv);
/* The oldest receive that fits, taken off its queue; or NULL, and the message is queued. */
sk_item *sk_matcher_deliver(sk_matcher *m, sk_item *msg);
/* A message like this comes soon, and one after it: what its search will look at is fetched into
 * the cache meanwhile. Changes nothing; the second part of the item is not looked at. */
void sk_matcher_glance(sk_matcher *m, const sk_item *msg);
/* The oldest message that the receive would get; it stays queued. `recv` is not kept. */
sk_item *sk_matcher_peek(sk_matcher *m, const sk_item *recv);
/* Take a message off its queue that sk_matcher_peek has found: no receive gets it any more. Where
 * threads post in between, the caller has to lock the two together, or the message may be gone. */
void sk_matcher_claim(sk_matcher *m, sk_item *msg);
/* Take a receive off its queue that was posted. False: it is not queued (it has matched). */
bool sk_matcher_cancel(sk_matcher *m, sk_item *recv);
/* The queued items of a side, in no order: NULL starts. The item returned may be claimed or
 * cancelled only after the next one was asked for. */
sk_item *sk_matcher_next(sk_matcher *m, sk_match_side side, sk_item *after);

/* What happened so far; stats.h. */
void sk_matcher_stats(const sk_matcher *m, sk_match_stats *out);

/* Engines by number, for lists: NULL past the end. */
const char *sk_engine_name(int i);
const char *sk_engine_help(int i);
const char *sk_engine_default(void);

#endif
