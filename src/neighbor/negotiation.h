/* negotiation.h: how ranks agree on patterns by messages. The part of one rank in such a protocol is a
 * negotiator: a state machine that handles each message that arrives, may send others, and never blocks.
 * So a real rank can negotiate in the background, and thousands of ranks can negotiate inside one process
 * (lab/neighbor/negotiate.h). A channel carries the messages.
 *
 * Protocols have phases, counted from 0 by each negotiator for itself. The first word of every message is
 * its phase. A message that arrives before its phase is kept until the negotiator gets there. Messages
 * from one rank to another keep their order. */
#ifndef SK_NEGOTIATION_H
#define SK_NEGOTIATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "neighbor/pattern.h"

typedef struct sk_channel sk_channel;
struct sk_channel {
    /* words[0] is the phase. The words are copied. A rank may send to itself. */
    sk_status (*send)(sk_channel *ch, int to, const int32_t *words, size_t n);
};

typedef struct sk_negotiator sk_negotiator;
typedef struct sk_negotiator_ops {
    sk_status (*start)(sk_negotiator *p, sk_channel *ch); /* phase 0: send the first messages */
    /* A message of the current phase (words[0] == p->phase). Set p->phase to go on, p->done at the
     * end: when no more messages will come for this negotiator. */
    sk_status (*receive)(sk_negotiator *p, sk_channel *ch, int from, const int32_t *words,
                         size_t n);
    void (*free)(sk_negotiator *p); /* the negotiator and what it owns itself */
} sk_negotiator_ops;

enum { SK_MAX_METHODS = 8 };

typedef struct sk_early sk_early; /* messages kept for a later phase */
struct sk_negotiator {            /* the first member of every negotiator */
    const sk_negotiator_ops *ops;
    int rank, nranks;
    int phase;
    bool done;
    sk_early *early, **early_end; /* both zero at first */
    /* The results, one per method (sk_method_id) or NULL; taken out by the caller. */
    sk_pattern *made[SK_MAX_METHODS];
};

/* Start a negotiator; give it a message. After an error the set-up is over. */
sk_status sk_negotiator_start(sk_negotiator *p, sk_channel *ch);
sk_status sk_negotiator_receive(sk_negotiator *p, sk_channel *ch, int from, const int32_t *words,
                                size_t n);
void sk_negotiator_free(sk_negotiator *p); /* with the results that nobody took out; NULL is fine */

#endif
