/* negotiation.h: how ranks agree on patterns by messages. Each rank's part in such a protocol is a negotiator:
 * it is told of each message that came and may send others; it never waits. So thousands of ranks
 * can talk inside one process, and a real rank can talk in the background.
 *
 * Protocols go in phases, counted from 0 by each negotiator for itself (sk_negotiator.phase). Every message
 * names its phase, in its first word; one that comes before its phase is kept back until the negotiator
 * gets there. Messages from one rank to another keep their order. */
#ifndef SK_NEGOTIATION_H
#define SK_NEGOTIATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "neighbor/pattern.h"

typedef struct sk_channel sk_channel;
struct sk_channel {
    /* words[0] is the phase. The words are copied. To oneself is fine. */
    sk_status (*send)(sk_channel *t, int to, const int32_t *words, size_t n);
};

typedef struct sk_negotiator sk_negotiator;
typedef struct sk_negotiator_ops {
    sk_status (*start)(sk_negotiator *p, sk_channel *t); /* phase 0: send the first messages */
    /* A message of the current phase (words[0] == p->phase). Set p->phase to go on, p->done at the
     * end: when no more messages will come for this negotiator. */
    sk_status (*take)(sk_negotiator *p, sk_channel *t, int from, const int32_t *words, size_t n);
    void (*free)(sk_negotiator *p); /* what the negotiator itself owns, and the negotiator */
} sk_negotiator_ops;

enum { SK_MAX_METHODS = 8 };

typedef struct sk_early sk_early; /* messages kept back */
struct sk_negotiator {            /* the first member of every negotiator */
    const sk_negotiator_ops *ops;
    int rank, nranks;
    int phase;
    bool done;
    sk_early *early, **early_end; /* both zero at first */
    /* The results, one per method (sk_method_id) or NULL; taken out by the caller. */
    sk_pattern *made[SK_MAX_METHODS];
};

/* Start a negotiator; hand it a message. An error is the end of the set-up. */
sk_status sk_negotiator_start(sk_negotiator *p, sk_channel *t);
sk_status sk_negotiator_receive(sk_negotiator *p, sk_channel *t, int from, const int32_t *words,
                                size_t n);
void sk_negotiator_free(sk_negotiator *p); /* with results that nobody took out; NULL is fine */

/* All negotiators inside this process, to the end. SK_DEADLOCK when they wait for each other. Which of
 * the messages under way comes next depends on `seed` (0: in order), as on a real network, but the
 * messages of a pair keep their order. */
typedef struct sk_channel_count {
    int64_t messages, words;
} sk_channel_count;
sk_status sk_negotiate_inproc(sk_negotiator **negotiators, int n, unsigned seed,
                              sk_channel_count *count);

#endif
