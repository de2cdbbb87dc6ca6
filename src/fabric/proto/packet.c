#include "fabric/proto/packet.h"

#include <stdbool.h>
#include <string.h>

#include "match/matcher.h"

#define UP_TO(field)  (offsetof(sk_packet, field) + sizeof(((sk_packet *)0)->field))
#define MESSAGE_FLAGS (SK_PACKET_HAS_DATA | SK_PACKET_OWN_KIND | SK_PACKET_UNTAGGED)

/* The format of a type: bytes of its header, allowed flags, whether payload follows. */
typedef struct sk_packet_format {
    uint8_t header, flags;
    bool has_payload;
} sk_packet_format;

static const sk_packet_format formats[SK_PACKET_LAST] = {
    [SK_PACKET_EAGER] = {UP_TO(call), MESSAGE_FLAGS, true},
    [SK_PACKET_RTS] = {UP_TO(key), MESSAGE_FLAGS | SK_PACKET_EXPORTED, false},
    [SK_PACKET_CTS] = {UP_TO(recv_handle), 0, false},
    [SK_PACKET_DATA] = {UP_TO(offset), 0, true},
    [SK_PACKET_FIN] = {UP_TO(send_handle), 0, false},
    [SK_PACKET_CREDIT] = {UP_TO(credit), 0, false},
};

enum { MAX_ERRNO = 4095, MAX_SIZE_CLASS = 64 };

_Static_assert(UP_TO(call) <= 40, "a small message and its header fit one cache line");
_Static_assert(UP_TO(key) == sizeof(sk_packet), "no holes at the end");

size_t sk_packet_header_size(sk_packet_type type)
{
    return (unsigned)type < SK_PACKET_LAST ? formats[type].header : 0;
}

/* Are the fields of a header consistent? */
static bool consistent(const sk_packet *p, size_t payload_len)
{
    if (p->unused || p->kind >= SK_MAX_KINDS || p->size_class > MAX_SIZE_CLASS)
        return false;
    if (p->flags & SK_PACKET_UNTAGGED && (p->tag || p->flags & SK_PACKET_OWN_KIND))
        return false;
    switch (p->type) {
    case SK_PACKET_RTS:
        return !(p->flags & SK_PACKET_EXPORTED) || p->len <= UINT64_MAX - p->offset;
    case SK_PACKET_DATA:
        return p->len == payload_len && p->len <= UINT64_MAX - p->offset;
    case SK_PACKET_FIN:
        return p->len <= MAX_ERRNO;
    default:
        return true;
    }
}

sk_status sk_packet_read(const void *bytes, size_t len, sk_packet *head, const void **payload,
                         size_t *payload_len)
{
    sk_packet p = {0};
    if (len < UP_TO(credit))
        return SK_BADARG;
    memcpy(&p, bytes, UP_TO(credit));
    if (p.version != SK_PACKET_VERSION || p.type == 0 || p.type >= SK_PACKET_LAST)
        return SK_BADARG;
    sk_packet_format is = formats[p.type];
    if (len < is.header || (p.flags & ~is.flags) || (!is.has_payload && len != is.header))
        return SK_BADARG;
    memcpy((char *)&p + UP_TO(credit), (const char *)bytes + UP_TO(credit),
           is.header - UP_TO(credit));
    size_t rest = len - is.header;
    if (p.type == SK_PACKET_EAGER)
        p.len = rest;
    if (!consistent(&p, rest))
        return SK_BADARG;
    *head = p;
    *payload = (const char *)bytes + is.header;
    *payload_len = rest;
    return SK_OK;
}
