/* talk.h: how ranks agree on patterns by messages. Each rank's part in such a protocol is a party:
 * it is told of each message that came and may send others; it never waits. So thousands of ranks
 * can talk inside one process, and a real rank can talk in the background.
 *
 * Protocols go in phases, counted from 0 by each party for itself (sk_party.phase). Every message
 * names its phase, in its first word; one that comes before its phase is kept back until the party
 * gets there. Messages from one rank to another keep their order. */
#ifndef SK_TALK_H
#define SK_TALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "neighbor/pattern.h"

typedef struct sk_talk sk_talk;
struct sk_talk {
    /* words[0] is the phase. The words are copied. To oneself is fine. */
    sk_status (*send)(sk_talk *t, int to, const int32_t *words, size_t n);
};

typedef struct sk_party sk_party;
typedef struct sk_party_ops {
    sk_status (*start)(sk_party *p, sk_talk *t); /* phase 0: send the first messages */
    /* A message of the current phase (words[0] == p->phase). Set p->phase to go on, p->done at the
     * end: when no more messages will come for this party. */
    sk_status (*take)(sk_party *p, sk_talk *t, int from, const int32_t *words, size_t n);
    void (*free)(sk_party *p); /* what the party itself owns, and the party */
} sk_party_ops;

enum { SK_MOST_METHODS = 8 };

typedef struct sk_early sk_early; /* messages kept back */
struct sk_party {                 /* the first member of every party */
    const sk_party_ops *ops;
    int rank, nranks;
    int phase;
    bool done;
    sk_early *early, **early_end; /* both zero at first */
    /* The results, one per method (sk_method_id) or NULL; taken out by the caller. */
    sk_pattern *made[SK_MOST_METHODS];
};

/* Start a party; hand it a message. An error is the end of the set-up. */
sk_status sk_party_start(sk_party *p, sk_talk *t);
sk_status sk_party_take(sk_party *p, sk_talk *t, int from, const int32_t *words, size_t n);
void sk_party_free(sk_party *p); /* with results that nobody took out; NULL is fine */

/* All parties inside this process, to the end. SK_DEADLOCK when they wait for each other. Which of
 * the messages under way comes next depends on `seed` (0: in order), as on a real network, but the
 * messages of a pair keep their order. */
typedef struct sk_talk_count {
    int64_t messages, words;
} sk_talk_count;
sk_status sk_talk_local(sk_party **parties, int n, unsigned seed, sk_talk_count *count);

#endif
