/* packet.c: libFuzzer target: whatever bytes come, a packet that is accepted keeps its promises.
 * Each input lies in memory of exactly its length, so that a look beyond its end is found. */
#include <stdlib.h>
#include <string.h>

#include "fabric/proto/address.h"
#include "fabric/proto/packet.h"
#include "match/matcher.h"

#define MUST(cond)                                                                                 \
    do {                                                                                           \
        if (!(cond))                                                                               \
            abort();                                                                               \
    } while (0)

static void packet_holds(const unsigned char *bytes, size_t len)
{
    sk_packet p;
    const void *payload;
    size_t paid, head;
    if (sk_packet_read(bytes, len, &p, &payload, &paid) != SK_OK)
        return;
    head = sk_packet_header_size(p.type);
    MUST(head > 0 && head <= len && payload == bytes + head && paid == len - head);
    MUST(p.version == SK_PACKET_VERSION && p.kind < SK_MAX_KINDS && p.size_class <= 64);
    MUST(memcmp(bytes, &p, head) == 0);
    if (p.type == SK_PACKET_EAGER || p.type == SK_PACKET_DATA)
        MUST(p.len == paid);
    else
        MUST(paid == 0);
    if (p.type == SK_PACKET_DATA || (p.flags & SK_PACKET_EXPORTED))
        MUST(p.offset + p.len >= p.offset);
}

static void address_holds(const unsigned char *bytes, size_t len)
{
    sk_address a;
    const char *why = NULL;
    if (sk_address_read(bytes, len, &a, &why) != SK_OK) {
        MUST(why);
        return;
    }
    MUST(a.id != 0 && a.shm_len + a.core_len <= SK_ADDRESS_NAMES);
    MUST(!sk_address_core(&a) ||
         (const uint8_t *)sk_address_core(&a) + a.core_len <= a.names + SK_ADDRESS_NAMES);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t len);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t len)
{
    unsigned char *exact = malloc(len ? len : 1);
    if (!exact)
        return 0;
    memcpy(exact, data, len);
    packet_holds(exact, len);
    address_holds(exact, len);
    free(exact);
    return 0;
}
