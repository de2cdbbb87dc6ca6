/* kind.h: which collective a message belongs to, if any. There are three sources; the first that
 * knows decides: the preload library of the same process, for messages of its own (the kind then
 * travels in the packet); Open MPI's tags, which are negative for collectives; else the message is
 * point-to-point. Sender and receiver derive the kind from the same data, so items of different
 * kinds never match. A receive whose wildcards cover the deciding bits has SK_ANY_KIND. */
#ifndef SK_KIND_H
#define SK_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fabric/proto/packet.h"
#include "match/hint.h"
#include "match/matcher.h"

typedef struct sk_kinds {
    const sk_hint_table *hints; /* NULL: no preload library here */
} sk_kinds;

void sk_kinds_init(sk_kinds *k);

/* Fill in kind, size_class, nranks, call and the flag SK_PACKET_OWN_KIND. The tag must be set. */
void sk_kind_send(const sk_kinds *k, uint64_t len, sk_packet *head);
/* Fill in kind, size, nranks and call; tag and ignore must be set. True: the receive belongs to the
 * preload library. */
bool sk_kind_recv(const sk_kinds *k, uint64_t len, sk_match_item *recv);
/* An operation of the preload library was accepted. */
void sk_kind_accept(const sk_kinds *k);
/* The kind of a message that has arrived. */
uint16_t sk_kind_of_packet(const sk_packet *head);

/* The name of a kind; NULL: there is none. For sk_match_stats_print. */
const char *sk_kind_name(unsigned kind);

#endif
