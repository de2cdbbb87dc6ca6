/* hint.h: what the preload library tells the provider of the same process about the messages it
 * sends and receives. The preload library exports skein_hint; the provider looks it up by name and
 * works without. This is the only thing the two libraries share.
 *
 * A kind decides whether a message and a receive can meet, so it must hold for both ends. It holds
 * for Skein's own messages only, and while Skein has one sent the host may send others from inside
 * the same call: it answers synchronous messages, goes on with its nonblocking collectives and
 * windows. Hence `own` counts: it stands at the number of Skein's messages to come, and the
 * provider takes one off for each that it has accepted and whose tag is right (sk_hint_take). All
 * others have the kind that they would have without Skein. */
#ifndef SK_HINT_H
#define SK_HINT_H

#include <stdbool.h>
#include <stdint.h>

#define SK_HINT_SYMBOL "skein_hint"
enum {
    SK_HINT_VERSION = 1,
    SK_HINT_KINDS = 32, /* kinds from here on are the provider's, by the tags of the host */
};

/* Of the calling thread, now. What is not own is advice: it may be old. */
typedef struct sk_hint {
    uint16_t kind;   /* 0: no collective is under way; else 1 + its number in colls.def, or the one
                        after these: set-up */
    uint8_t size;    /* number of bits of the length in bytes */
    uint8_t own;     /* so many of the next sends, receives and probes are Skein's, so that the kind
                        holds for both ends */
    uint32_t nranks; /* of the communicator */
    uint32_t call;   /* number of the call in this process, from 1; 0: not known */
    uint32_t tag;    /* of Skein's messages: as the program of an MPI sees tags */
} sk_hint;

/* The hint of the calling thread and the names of kinds (NULL past the end). */
typedef struct sk_hint_table {
    uint32_t version;
    sk_hint *(*now)(void);
    const char *(*kind_name)(unsigned kind);
} sk_hint_table;

typedef const sk_hint_table *sk_hint_fn(void);

/* Whether a message or receive with this tag (of MPI, without the bits that the host adds) is
 * Skein's own. */
static inline bool sk_hint_is_own(const sk_hint *h, uint32_t tag)
{
    return h->own && h->tag == tag;
}

/* It was one, and it has been accepted: not when the host is asked to try again. */
static inline void sk_hint_take(sk_hint *h)
{
    h->own--;
}

#endif
