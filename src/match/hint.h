/* hint.h: what the preload library tells the provider of the same process about the messages that
 * it sends and receives. The preload library exports skein_hint; the provider looks it up by name
 * and works without it. The two libraries share nothing else.
 *
 * The kind of an item decides what can match, so sender and receiver must agree on it. They agree
 * for Skein's own messages only. While Skein sends one, the host may send others inside the same
 * call: it answers synchronous messages and progresses its nonblocking collectives and windows.
 * Hence `own` is a count: the number of Skein's messages to come. The provider decrements it for
 * each message that it has accepted and whose tag is Skein's (sk_hint_consume). All other messages
 * have the kind that they would have without Skein. */
#ifndef SK_MATCH_HINT_H
#define SK_MATCH_HINT_H

#include <stdbool.h>
#include <stdint.h>

#define SK_HINT_SYMBOL "skein_hint"
enum {
    SK_HINT_VERSION = 1,
    SK_HINT_KINDS = 32, /* kinds from here on are the provider's, by the tags of the host */
};

/* The state of the calling thread. Only `own` and `tag` are exact; the rest may be out of date. */
typedef struct sk_hint {
    uint16_t kind; /* 0: no collective is in progress; else 1 + its number in colls.def, or the
                        number after these: set-up */
    uint8_t size;  /* number of bits of the length in bytes */
    uint8_t own;   /* how many of the next sends, receives and probes are Skein's, so that the kind
                        is the same on both ends */
    uint32_t nranks; /* of the communicator */
    uint32_t call;   /* number of the call in this process, from 1; 0: not known */
    uint32_t tag;    /* of Skein's messages, as the MPI program sees tags */
} sk_hint;

/* The hint of the calling thread, and the names of kinds (NULL past the end). */
typedef struct sk_hint_table {
    uint32_t version;
    sk_hint *(*now)(void);
    const char *(*kind_name)(unsigned kind);
} sk_hint_table;

typedef const sk_hint_table *sk_hint_fn(void);

/* The other way round: the provider tells the preload library how to get the counts of its queues for the report:
 * longest, 1000 times the mean length, searches and items compared, of the posted queue and then of the unexpected
 * one. NULL: no longer. */
#define SK_MATCH_COUNTS_SYMBOL "skein_match_counts"
enum { SK_MATCH_COUNTS = 8 };
typedef void sk_match_fill_fn(void *of, int64_t counts[SK_MATCH_COUNTS]);
typedef void sk_match_offer_fn(sk_match_fill_fn *fill, void *of, const char *engine);

/* Whether a message or receive with this tag (of MPI, without the bits that the host adds) is
 * Skein's own. */
static inline bool sk_hint_is_own(const sk_hint *h, uint32_t tag)
{
    return h->own && h->tag == tag;
}

/* An own message was accepted. Do not call it if the host is told to try again. */
static inline void sk_hint_consume(sk_hint *h)
{
    h->own--;
}

#endif
