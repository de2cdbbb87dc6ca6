/* packet.h: the layout of a packet: records, each a header, its bytes, and padding to 8 bytes. */
#ifndef SK_PACKET_H
#define SK_PACKET_H

#include <stdint.h>

typedef struct sk_record {
    int64_t key;
    int64_t len; /* data bytes that follow */
} sk_record;

static inline int64_t sk_record_bytes(int64_t len)
{
    return (int64_t)sizeof(sk_record) + (len + 7) / 8 * 8;
}

static inline int64_t sk_packet_bytes(int records, int64_t bytes)
{
    return records * (int64_t)(sizeof(sk_record) + 7) + bytes;
}

#endif
