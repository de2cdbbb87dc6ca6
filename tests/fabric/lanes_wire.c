/* lanes_wire.c: packets and names from outside are checked before use. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/proto/address.h"
#include "fabric/proto/packet.h"
#include "match/matcher.h"
#include "tap.h"

static const char *now;

#define CHECK(cond)                                                                                \
    do {                                                                                           \
        if (!(cond)) {                                                                             \
            printf("# line %d: %s\n", __LINE__, #cond);                                            \
            tap_ok(false, "%s", now);                                                              \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static sk_packet good(int type)
{
    sk_packet p = {.version = SK_PACKET_VERSION, .type = (uint8_t)type, .credit = 7};
    p.tag = 42;
    p.send_handle = 43;
    p.recv_handle = 44;
    return p;
}

static sk_status try_read(const sk_packet *p, size_t more, sk_packet *head, size_t *paid)
{
    unsigned char bytes[sizeof *p + 64] = {0};
    const void *payload;
    size_t len = sk_packet_header_size(p->type);
    memcpy(bytes, p, sizeof *p);
    memset(bytes + len, 9, more);
    sk_status st = sk_packet_read(bytes, len + more, head, &payload, paid);
    if (st == SK_OK && payload != bytes + len)
        return SK_WIRE;
    return st;
}

static void heads_are_short_and_read_back(void)
{
    sk_packet head;
    size_t paid;
    CHECK(sk_packet_header_size(SK_PACKET_EAGER) <= 40 &&
          sk_packet_header_size(SK_PACKET_CREDIT) <= 16);
    CHECK(sk_packet_header_size(SK_PACKET_LAST) == 0 &&
          sk_packet_header_size((sk_packet_type)-1) == 0);
    for (int t = SK_PACKET_EAGER; t < SK_PACKET_LAST; t++) {
        sk_packet p = good(t);
        CHECK(sk_packet_header_size(t) > 0 && sk_packet_header_size(t) <= sizeof p);
        CHECK(try_read(&p, 0, &head, &paid) == SK_OK && paid == 0);
        CHECK(head.type == t && head.credit == 7 && head.key == 0);
    }
    sk_packet p = good(SK_PACKET_EAGER);
    CHECK(try_read(&p, 8, &head, &paid) == SK_OK && paid == 8);
    CHECK(head.len == 8 && head.tag == 42 && head.send_handle == 0 && head.recv_handle == 0);
}

#define REFUSED(TYPE, more, change)                                                                \
    do {                                                                                           \
        sk_packet p = good(TYPE), head = {.tag = 1};                                               \
        size_t paid = 77;                                                                          \
        change;                                                                                    \
        CHECK(try_read(&p, more, &head, &paid) == SK_BADARG);                                      \
        CHECK(head.tag == 1 && paid == 77);                                                        \
    } while (0)

static void packets_that_contradict_themselves_are_refused(void)
{
    REFUSED(SK_PACKET_EAGER, 0, p.version++);
    REFUSED(SK_PACKET_EAGER, 0, p.unused = 1);
    REFUSED(SK_PACKET_EAGER, 0, p.kind = SK_MAX_KINDS);
    REFUSED(SK_PACKET_EAGER, 0, p.size_class = 65);
    REFUSED(SK_PACKET_EAGER, 0, p.flags = SK_PACKET_EXPORTED);
    REFUSED(SK_PACKET_EAGER, 0, p.flags = 0x80);
    REFUSED(SK_PACKET_EAGER, 0, (p.flags = SK_PACKET_UNTAGGED, p.tag = 1));
    REFUSED(SK_PACKET_RTS, 0, (p.flags = SK_PACKET_UNTAGGED | SK_PACKET_OWN_KIND, p.tag = 0));
    REFUSED(SK_PACKET_RTS, 1, (void)0);
    REFUSED(SK_PACKET_RTS, 0, (p.flags = SK_PACKET_EXPORTED, p.len = 2, p.offset = UINT64_MAX));
    REFUSED(SK_PACKET_CTS, 1, (void)0);
    REFUSED(SK_PACKET_DATA, 3, p.len = 4);
    REFUSED(SK_PACKET_DATA, 3, (p.len = 3, p.offset = UINT64_MAX));
    REFUSED(SK_PACKET_FIN, 0, p.len = 1 << 20);
    REFUSED(SK_PACKET_FIN, 1, (void)0);
    REFUSED(SK_PACKET_CREDIT, 1, (void)0);
    REFUSED(SK_PACKET_CREDIT, 0, p.flags = SK_PACKET_HAS_DATA);
}

static void short_packets_and_unknown_types_are_refused(void)
{
    for (int t = 0; t < 256; t++) {
        sk_packet p = good(t), head;
        const void *payload;
        size_t paid;
        size_t need = sk_packet_header_size(t);
        for (size_t len = 0; len <= sizeof p; len++) {
            unsigned char *exact = malloc(len + 1);
            CHECK(exact);
            memcpy(exact, &p, len);
            /* DATA says its own length. */
            bool fits = need && (len == need || (len > need && t == SK_PACKET_EAGER));
            CHECK((sk_packet_read(exact, len, &head, &payload, &paid) == SK_OK) == fits);
            free(exact);
        }
    }
}

static void names_read_back(void)
{
    sk_address a, b;
    char shm[8] = "shmshms", core[34] = "a core name of 34 bytes, zeros";
    CHECK(sk_address_make(&a, 5, 6, shm, 8, core, 34) == SK_OK);
    CHECK(sk_address_read(&a, sizeof a, &b, NULL) == SK_OK);
    CHECK(memcmp(sk_address_shm(&b), shm, 8) == 0 && memcmp(sk_address_core(&b), core, 34) == 0);
    CHECK(b.id == 5 && b.node == 6 && sk_address_same_node(&a, &b));
    CHECK(sk_address_make(&a, 5, 6, shm, 8, core, 35) == SK_TOOBIG);
    CHECK(sk_address_make(&a, 0, 6, shm, 8, core, 3) == SK_BADARG);
    CHECK(sk_address_make(&a, 5, 6, NULL, 0, core, 3) == SK_OK);
    CHECK(sk_address_shm(&a) == NULL && !sk_address_same_node(&a, &b));
    CHECK(memcmp(sk_address_core(&a), core, 3) == 0);
}

static void names_of_others_are_refused_with_a_reason(void)
{
    sk_address a, b, out = {.id = 1};
    const char *why = NULL;
    CHECK(sk_address_make(&a, 5, 6, "12345678", 8, NULL, 0) == SK_OK);
    b = a;
    b.magic = __builtin_bswap32(a.magic);
    CHECK(sk_address_read(&b, sizeof b, &out, &why) == SK_BADARG && strstr(why, "byte order"));
    b.magic = a.magic + 1;
    CHECK(sk_address_read(&b, sizeof b, &out, &why) == SK_BADARG && strstr(why, "version"));
    b.magic = 0x12345678;
    CHECK(sk_address_read(&b, sizeof b, &out, &why) == SK_BADARG && strstr(why, "not Skein's"));
    b = a;
    b.core_len = 40;
    CHECK(sk_address_read(&b, sizeof b, &out, &why) == SK_BADARG && strstr(why, "damaged"));
    CHECK(sk_address_read(&a, sizeof a - 1, &out, &why) == SK_BADARG && strstr(why, "short"));
    CHECK(sk_address_read(&a, 0, &out, NULL) == SK_BADARG);
    CHECK(out.id == 1);
}

static void a_node_is_the_same_for_all_its_processes(void)
{
    CHECK(sk_address_node() == sk_address_node());
    CHECK(sk_address_id() != sk_address_id());
}

int main(void)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } tests[] = {
#define TEST(name) {#name, name}
        TEST(heads_are_short_and_read_back),
        TEST(packets_that_contradict_themselves_are_refused),
        TEST(short_packets_and_unknown_types_are_refused),
        TEST(names_read_back),
        TEST(names_of_others_are_refused_with_a_reason),
        TEST(a_node_is_the_same_for_all_its_processes),
    };
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        now = tests[i].name;
        tests[i].run();
        tap_ok(true, "%s", now);
    }
    return tap_end();
}
