/* kind.h: which messages belong to a collective, and to which. Three witnesses, the first that
 * speaks counts: the preload library of the same process, for messages that are its own (the kind
 * then travels in the packet); Open MPI's tags, of which collectives have negative ones; else it is
 * point-to-point. What a kind follows from is the same on both ends, so items of different kinds
 * never match; a receive whose wildcards cover the deciding bits has SK_ANY_KIND. */
#ifndef SK_KIND_H
#define SK_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fabric/packet.h"
#include "match/hint.h"
#include "match/matcher.h"

typedef struct sk_kinds {
    const sk_hint_table *hints; /* NULL: no preload library here */
} sk_kinds;

void sk_kinds_init(sk_kinds *k);

/* Fill in kind, size_class, nranks, call and the flag SK_PACKET_OWN; tag is there. */
void sk_kind_send(const sk_kinds *k, uint64_t len, sk_packet *head);
/* Fill in kind, size, nranks and call; tag and ignore are there. Is it the preload library's? */
bool sk_kind_recv(const sk_kinds *k, uint64_t len, sk_match_item *recv);
/* One that is the preload library's was accepted. */
void sk_kind_accept(const sk_kinds *k);
/* The kind of a message as it came. */
uint16_t sk_kind_came(const sk_packet *head);

/* A word for a kind, NULL: there is none. For sk_match_stats_print. */
const char *sk_kind_name(unsigned kind);

#endif
