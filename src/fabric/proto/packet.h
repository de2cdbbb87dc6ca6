/* packet.h: packets between endpoints. A packet is a header and, for some types, payload.
 * sk_packet_read checks every packet from outside before anything else looks at it. Both ends have
 * the same byte order: the name of an endpoint tells it (address.h).
 *
 *   type    direction           meaning                               payload
 *   ------  ------------------  ------------------------------------  --------------------
 *   EAGER   sender to receiver  a whole message                       its data
 *   RTS     sender to receiver  request to send: a long message, or   none
 *                               one without credit; the data stays
 *                               with the sender, exported if the
 *                               lane can read it
 *   CTS     receiver to sender  clear to send: send the first `len`   none
 *                               bytes as DATA for `recv_handle`
 *   DATA    sender to receiver  a segment at `offset`                 the segment
 *   FIN     receiver to sender  the message was received, read, or    none
 *                               rejected (status in `len`)
 *   CREDIT  either              only the credit field counts          none
 *
 * The header ends after the last field that its type needs. Fields stand in the order of how many
 * types need them, so a small message and its header fit one cache line. To send, fill in an
 * sk_packet (all else zero) and send its first sk_packet_header_size(type) bytes, then the payload.
 */
#ifndef SK_PACKET_H
#define SK_PACKET_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef enum sk_packet_type {
    SK_PACKET_EAGER = 1,
    SK_PACKET_RTS,
    SK_PACKET_CTS,
    SK_PACKET_DATA,
    SK_PACKET_FIN,
    SK_PACKET_CREDIT,
    SK_PACKET_LAST
} sk_packet_type;

enum { SK_PACKET_VERSION = 1 };
enum {
    SK_PACKET_HAS_DATA = 1, /* EAGER, RTS: cq data is present */
    SK_PACKET_OWN_KIND = 2, /* EAGER, RTS: kind is set by Skein; else it follows from the tag */
    SK_PACKET_EXPORTED = 4, /* RTS: the lane the packet came on can read the data */
    SK_PACKET_UNTAGGED = 8  /* EAGER, RTS: of fi_msg(3); it has neither tag nor kind */
};

typedef struct sk_packet {
    uint8_t version, type, flags, size_class;
    uint16_t kind, unused; /* kind < SK_MAX_KINDS */
    uint32_t credit; /* any type: bytes of eager credit returned to the receiver of this packet;
                        CREDIT ends here */
    uint32_t data;   /* cq data */
    uint64_t tag;
    uint32_t nranks, call; /* EAGER ends here: its len is that of the payload */
    uint64_t len;          /* EAGER, RTS: of the message; CTS: bytes wanted; DATA: of the segment;
                              FIN: 0 or a (positive) errno */
    uint64_t send_handle;  /* RTS, CTS, FIN: the sender's handle of the message; FIN ends here */
    uint64_t recv_handle;  /* CTS, DATA: the receiver's handle of its receive; CTS ends here */
    uint64_t offset;       /* DATA: of the segment; RTS: sk_lane_source.at; DATA ends here */
    uint64_t key;          /* RTS: sk_lane_source.key; RTS ends here */
} sk_packet;

/* Bytes of the header of a type; 0: no such type. At most sizeof(sk_packet). */
size_t sk_packet_header_size(sk_packet_type type);

/* Check `len` bytes from outside. *head is filled in (fields beyond the type's header are zero,
 * except EAGER's len); *payload and *payload_len are what follows. Others may be able to write the
 * bytes, so the header is copied first: what was checked is what *head says. SK_BADARG: not a
 * packet: wrong version or type, too short, unknown flags or kind, contradicting lengths. */
sk_status sk_packet_read(const void *bytes, size_t len, sk_packet *head, const void **payload,
                         size_t *payload_len);

#endif
