#include "fabric/packet.h"

#include <stdbool.h>
#include <string.h>

#include "match/matcher.h"

#define UP_TO(field) (offsetof(sk_packet, field) + sizeof(((sk_packet *)0)->field))

/* What a type looks like: where its head ends, flags it may have, whether payload follows. */
typedef struct shape {
    uint8_t head, flags;
    bool pays;
} shape;

static const shape shapes[SK_PACKET_LAST] = {
    [SK_PACKET_EAGER] = {UP_TO(call), SK_PACKET_HAS_DATA | SK_PACKET_OWN, true},
    [SK_PACKET_OFFER] = {UP_TO(key), SK_PACKET_HAS_DATA | SK_PACKET_OWN | SK_PACKET_EXPOSED, false},
    [SK_PACKET_ASK] = {UP_TO(answer), 0, false},
    [SK_PACKET_DATA] = {UP_TO(offset), 0, true},
    [SK_PACKET_DONE] = {UP_TO(token), 0, false},
    [SK_PACKET_CREDIT] = {UP_TO(credit), 0, false},
};

enum { MAX_ERRNO = 4095, MAX_SIZE_CLASS = 64 };

_Static_assert(UP_TO(call) <= 40, "a small message and its head fit one line");
_Static_assert(UP_TO(key) == sizeof(sk_packet), "no holes at the end");

size_t sk_packet_head(sk_packet_type type)
{
    return (unsigned)type < SK_PACKET_LAST ? shapes[type].head : 0;
}

/* Do the numbers of a head go together? `paid` is the length of the payload. */
static bool sound(const sk_packet *p, size_t paid)
{
    if (p->unused || p->kind >= SK_MAX_KINDS || p->size_class > MAX_SIZE_CLASS)
        return false;
    switch (p->type) {
    case SK_PACKET_OFFER:
        return !(p->flags & SK_PACKET_EXPOSED) || p->len <= UINT64_MAX - p->offset;
    case SK_PACKET_DATA:
        return p->len == paid && p->len <= UINT64_MAX - p->offset;
    case SK_PACKET_DONE:
        return p->len <= MAX_ERRNO;
    default:
        return true;
    }
}

sk_status sk_packet_read(const void *bytes, size_t len, sk_packet *head, const void **payload,
                         size_t *paid)
{
    sk_packet p = {0};
    if (len < UP_TO(credit))
        return SK_BADARG;
    memcpy(&p, bytes, UP_TO(credit));
    if (p.version != SK_PACKET_VERSION || p.type == 0 || p.type >= SK_PACKET_LAST)
        return SK_BADARG;
    shape is = shapes[p.type];
    if (len < is.head || (p.flags & ~is.flags) || (!is.pays && len != is.head))
        return SK_BADARG;
    memcpy((char *)&p + UP_TO(credit), (const char *)bytes + UP_TO(credit),
           is.head - UP_TO(credit));
    size_t rest = len - is.head;
    if (p.type == SK_PACKET_EAGER)
        p.len = rest;
    if (!sound(&p, rest))
        return SK_BADARG;
    *head = p;
    *payload = (const char *)bytes + is.head;
    *paid = rest;
    return SK_OK;
}
