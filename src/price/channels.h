/* channels.h: which message meets which receive. Messages between two ranks keep their order, so a channel
 * is a queue, of messages that no receive waits for or of receives that no message has come for. */
#ifndef SK_CHANNELS_H
#define SK_CHANNELS_H

#include "price/profile.h"

enum { SK_NO_TRANSFER = -1 };

/* A message or a receive that has started. */
typedef struct sk_walk_transfer {
    const sk_act *act;
    int walker; /* that started it */
    int next, match;
    bool left;      /* of a message: it has passed the port of its sender's node */
    double ready;   /* when it started */
    double arrival; /* of a message: when the receiver may have it; < 0: not known yet */
    double floor;   /* of a message: the receive ends no sooner */
} sk_walk_transfer;

typedef struct sk_walk_channel {
    uint64_t key; /* 0: none */
    int head, tail;
} sk_walk_channel;

/* Starts as {0}. */
typedef struct sk_channels {
    sk_walk_channel *table;
    uint32_t cap, n; /* cap is 0 or a power of two */
    sk_walk_transfer *pool;
    int npool, pool_cap, unused;
} sk_channels;

/* Puts a transfer into its channel. Returns its index, or SK_NO_TRANSFER when out of memory. Where the other
 * side is there already, both have each other's index in `match`; otherwise it is SK_NO_TRANSFER. Indices are
 * valid until sk_channels_drop. */
int sk_channels_add(sk_channels *x, uint64_t key, const sk_walk_transfer *t);
void sk_channels_drop(sk_channels *x, int transfer);
void sk_channels_free(sk_channels *x);

#endif
