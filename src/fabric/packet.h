/* packet.h: what endpoints say to each other. A packet is a head and, for some types, payload.
 * Whatever comes from outside is checked by sk_packet_read before anybody looks at it. Both ends
 * run on machines of the same byte order: the name of an endpoint says which (address.h).
 *
 * The head is cut after the last field its type needs, so fields stand in the order of how many
 * types need them: a small message with its head fits one line of a cache. To send, fill in an
 * sk_packet (all else zero) and send its first sk_packet_head(type) bytes, then the payload. */
#ifndef SK_PACKET_H
#define SK_PACKET_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef enum sk_packet_type {
    SK_PACKET_EAGER = 1, /* a whole message: payload is its data */
    SK_PACKET_OFFER,     /* a long message, or one without credit: its data waits at the sender
                            (offset and key say where, if exposed) */
    SK_PACKET_ASK,  /* receiver to sender: send me the first `len` bytes of message `token` as data
                       packets for `answer` */
    SK_PACKET_DATA, /* payload: a piece of a message that was asked for, at `offset`, for receive
                       `answer` */
    SK_PACKET_DONE, /* receiver to sender: message `token` was read, or is not wanted (status) */
    SK_PACKET_CREDIT, /* only the credit field of the head counts */
    SK_PACKET_LAST
} sk_packet_type;

enum { SK_PACKET_VERSION = 1 };
enum {
    SK_PACKET_HAS_DATA = 1, /* EAGER, OFFER: cq data is there */
    SK_PACKET_OWN = 2,    /* EAGER, OFFER: kind is Skein's own word; else it follows from the tag */
    SK_PACKET_EXPOSED = 4 /* OFFER: the data can be read by the lane the packet came on */
};

typedef struct sk_packet {
    uint8_t version, type, flags, size_class;
    uint16_t kind, unused; /* kind < SK_MAX_KINDS */
    uint32_t credit; /* any type: bytes of eager data that came from the receiver of this packet and
                        were consumed since the last time; CREDIT ends here */
    uint32_t data;   /* cq data */
    uint64_t tag;
    uint32_t nranks, call; /* EAGER ends here: its len is that of the payload */
    uint64_t len;          /* EAGER, OFFER: of the message; ASK: bytes wanted; DATA: bytes here;
                              DONE: 0 or a (positive) errno */
    uint64_t token;        /* OFFER, ASK, DONE: the sender's name for the message; DONE ends here */
    uint64_t answer;       /* ASK, DATA: the receiver's name for its receive; ASK ends here */
    uint64_t offset;       /* DATA: where it goes; OFFER: sk_lane_source.at; DATA ends here */
    uint64_t key;          /* OFFER: sk_lane_source.key; OFFER ends here */
} sk_packet;

/* Bytes of head that a type has; 0: no such type. At most sizeof(sk_packet). */
size_t sk_packet_head(sk_packet_type type);

/* Check `len` bytes from outside; *head is filled in (fields beyond the type's head are zero, but
 * for EAGER's len), *payload and *paid are what follows. The bytes may lie in memory that others
 * can write: the head is copied first, so what was checked is what *head says. SK_BADARG: it is not
 * a packet: wrong version or type, too short, flags or a kind that do not exist, lengths that
 * contradict each other. */
sk_status sk_packet_read(const void *bytes, size_t len, sk_packet *head, const void **payload,
                         size_t *paid);

#endif
