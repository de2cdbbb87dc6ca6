/* Packets: rank 0 sends, rank 1 receives. What comes from the wire may be anything. */
#include "unit.h"

#include <string.h>

#include "lab/inproc/inproc.h"
#include "sched/packet.h"

enum { ROOM = 512 };

typedef struct duo {
    sk_sched *s[2];
    sk_run run[2];
    _Alignas(64) char send[2][ROOM], recv[2][ROOM], scratch[2][ROOM];
    int64_t packets[2][16];
} duo;

static duo *new_duo(void)
{
    static duo d; /* too large to hand round, and used by one test at a time */
    memset(&d, 0, sizeof d);
    memset(d.recv, '.', sizeof d.recv);
    for (int r = 0; r < 2; r++)
        d.s[r] = unit_sched();
    return &d;
}

static sk_status run(duo *d)
{
    sk_inproc *l = sk_inproc_new(2, NULL);
    assert_non_null(l);
    for (int r = 0; r < 2; r++) {
        assert_int_equal(sk_sched_freeze(d->s[r]), SK_OK);
        assert_true(sk_sched_view(d->s[r])->scratch <= ROOM);
        sk_run_init(&d->run[r], d->s[r], sk_inproc_wire(l, r, unit_types), d->send[r], d->recv[r],
                    d->scratch[r], d->packets[r]);
    }
    sk_status st = sk_inproc_run(l, d->run);
    sk_inproc_free(l);
    return st;
}

static void end(duo *d)
{
    for (int r = 0; r < 2; r++)
        sk_sched_free(d->s[r]);
}

static sk_status play(duo *d)
{
    sk_status st = run(d);
    end(d);
    return st;
}

static void put(sk_sched *s, int packet, int key, int64_t off, int64_t len)
{
    sk_put(s, packet, key, bytes_of(SK_SEND, off, len));
    sk_fence(s);
}

static void records_arrive_under_their_keys(void **state)
{
    (void)state;
    duo *d = new_duo();
    memcpy(d->send[0], "abcdefghij", 10);
    int out = sk_packet(d->s[0], 3, 10), in = sk_packet(d->s[1], 3, 10);
    put(d->s[0], out, 7, 0, 3);
    put(d->s[0], out, 8, 3, 0);
    put(d->s[0], out, 9, 3, 7);
    sk_packet_send(d->s[0], out, 7, 10, 1);
    sk_packet_recv(d->s[1], in, 0);
    sk_fence(d->s[1]);
    sk_get(d->s[1], in, 9, bytes_of(SK_RECV, 0, 7));
    sk_get(d->s[1], in, 7, bytes_of(SK_RECV, 10, 3));
    assert_int_equal(play(d), SK_OK);
    assert_memory_equal(d->recv[1], "defghij...abc.", 14);
}

static void a_range_of_keys_is_sent_alone(void **state)
{
    (void)state;
    duo *d = new_duo();
    memcpy(d->send[0], "abcdef", 6);
    int out = sk_packet(d->s[0], 3, 6), in = sk_packet(d->s[1], 1, 2);
    for (int k = 0; k < 3; k++)
        put(d->s[0], out, k, 2 * k, 2);
    sk_packet_send(d->s[0], out, 1, 2, 1);
    sk_packet_recv(d->s[1], in, 0);
    sk_fence(d->s[1]);
    for (int k = 0; k < 3; k++)
        sk_get(d->s[1], in, k, bytes_of(SK_RECV, 2 * k, 2));
    assert_int_equal(play(d), SK_OK);
    assert_memory_equal(d->recv[1], "..cd..", 6); /* an absent record is empty */
}

static void packets_are_appended_to_what_is_there(void **state)
{
    (void)state;
    duo *d = new_duo();
    memcpy(d->send[0], "ab", 2);
    memcpy(d->send[1], "xy", 2);
    int out = sk_packet(d->s[0], 1, 2), in = sk_packet(d->s[1], 2, 4);
    put(d->s[0], out, 1, 0, 2);
    sk_packet_send(d->s[0], out, 1, 2, 1);
    put(d->s[1], in, 0, 0, 2);
    sk_packet_recv(d->s[1], in, 0);
    sk_fence(d->s[1]);
    sk_get(d->s[1], in, 1, bytes_of(SK_RECV, 0, 2));
    sk_get(d->s[1], in, 0, bytes_of(SK_RECV, 2, 2));
    assert_int_equal(play(d), SK_OK);
    assert_memory_equal(d->recv[1], "abxy", 4);
}

static void several_records_may_be_put_in_one_round(void **state)
{
    (void)state;
    duo *d = new_duo();
    char why[160];
    memcpy(d->send[0], "abcdef", 6);
    int out = sk_packet(d->s[0], 3, 6), in = sk_packet(d->s[1], 3, 6);
    for (int k = 0; k < 3; k++)
        sk_put(d->s[0], out, k, bytes_of(SK_SEND, 2 * k, 2));
    sk_fence(d->s[0]);
    sk_packet_send(d->s[0], out, 0, 3, 1);
    sk_packet_recv(d->s[1], in, 0);
    sk_fence(d->s[1]);
    for (int k = 2; k >= 0; k--)
        sk_get(d->s[1], in, k, bytes_of(SK_RECV, 4 - 2 * k, 2));
    assert_int_equal(run(d), SK_OK);
    assert_memory_equal(d->recv[1], "efcdab", 6);
    assert_int_equal(sk_sched_view(d->s[0])->nrounds, 2);
    assert_true(sk_sched_disjoint(d->s[0], why, sizeof why));
    end(d);
}

/* Rank 1 is the carrier: it sends on, to itself, what it was told to take from rank 0's packet. */
static void relayed_records_keep_their_bytes_under_new_keys(void **state)
{
    (void)state;
    duo *d = new_duo();
    char why[160];
    memcpy(d->send[0], "abcdefghi", 9);
    memcpy(d->send[1], "xy", 2);
    int out = sk_packet(d->s[0], 3, 9), in = sk_packet(d->s[1], 3, 9);
    int on = sk_packet(d->s[1], 4, 11), last = sk_packet(d->s[1], 4, 11);
    for (int k = 0; k < 3; k++)
        sk_put(d->s[0], out, k, bytes_of(SK_SEND, k * (k + 1) / 2, k + 1));
    sk_fence(d->s[0]);
    sk_packet_send(d->s[0], out, 0, 3, 1);
    sk_packet_recv(d->s[1], in, 0);
    sk_fence(d->s[1]);
    sk_relay(d->s[1], in, 2, on, 0);
    sk_put(d->s[1], on, 1, bytes_of(SK_SEND, 0, 2));
    sk_relay(d->s[1], in, 0, on, 2);
    sk_relay(d->s[1], in, 9, on, 3); /* absent there and here */
    sk_fence(d->s[1]);
    sk_packet_send(d->s[1], on, 0, 4, 1);
    sk_packet_recv(d->s[1], last, 1);
    sk_fence(d->s[1]);
    for (int k = 0; k < 4; k++)
        sk_get(d->s[1], last, k, bytes_of(SK_RECV, 4 * k, 3));
    assert_int_equal(run(d), SK_OK);
    assert_memory_equal(d->recv[1], "def.xy..a.......", 16);
    assert_true(sk_sched_disjoint(d->s[1], why, sizeof why));
    end(d);
}

static void a_relay_into_a_full_packet_is_refused(void **state)
{
    (void)state;
    duo *d = new_duo();
    int in = sk_packet(d->s[1], 2, 16), on = sk_packet(d->s[1], 1, 7);
    sk_put(d->s[1], in, 0, bytes_of(SK_SEND, 0, 16));
    sk_fence(d->s[1]);
    sk_relay(d->s[1], in, 0, on, 0);
    assert_int_equal(play(d), SK_TOOBIG);
}

static void absent_records_are_passed_over_in_any_order(void **state)
{
    (void)state;
    duo *d = new_duo();
    static const int keys[] = {6, 0, 3, 5, 4, 2, 2, 1};
    memcpy(d->send[0], "bdf", 3);
    int out = sk_packet(d->s[0], 3, 3);
    for (int k = 0; k < 3; k++)
        sk_put(d->s[0], out, 2 * k + 1, bytes_of(SK_SEND, k, 1));
    sk_fence(d->s[0]);
    for (int i = 0; i < 8; i++)
        sk_get(d->s[0], out, keys[i], bytes_of(SK_RECV, i, 1));
    assert_int_equal(play(d), SK_OK);
    assert_memory_equal(d->recv[0], "..df...b", 8);
}

/* Steps that may not stand together with an append. */
static void appends_stand_alone_with_appends(void **state)
{
    (void)state;
    for (int bad = 0; bad < 5; bad++) {
        char why[160];
        sk_sched *s = unit_sched();
        int a = sk_packet(s, 2, 16), b = sk_packet(s, 2, 16);
        sk_put(s, a, 0, bytes_of(SK_SEND, 0, 4));
        sk_relay(s, b, 0, a, 1);
        if (bad == 1)
            sk_get(s, a, 0, bytes_of(SK_RECV, 0, 4));
        if (bad == 2)
            sk_packet_recv(s, a, 0);
        if (bad == 3)
            sk_packet_send(s, a, 0, 1, 0);
        if (bad == 4)
            sk_put(s, b, 0, bytes_of(SK_SEND, 0, 4));
        assert_int_equal(sk_sched_freeze(s), SK_OK);
        assert_int_equal(sk_sched_disjoint(s, why, sizeof why), bad == 0);
        sk_sched_free(s);
    }
}

static void a_relay_needs_two_packets(void **state)
{
    (void)state;
    for (int to = 0; to < 2; to++) {
        sk_sched *s = unit_sched();
        sk_relay(s, sk_packet(s, 1, 8), 0, to, 0);
        assert_int_equal(sk_sched_freeze(s), SK_BADARG);
        sk_sched_free(s);
    }
}

static void records_are_packed_and_unpacked(void **state)
{
    (void)state;
    duo *d = new_duo();
    memcpy(d->send[0], "..abc..def..", 12);
    int out = sk_packet(d->s[0], 1, 6), in = sk_packet(d->s[1], 1, 6);
    sk_put(d->s[0], out, 0, (sk_span){.len = 6, .type = HOLEY, .buf = SK_SEND});
    sk_fence(d->s[0]);
    sk_packet_send(d->s[0], out, 0, 1, 1);
    sk_packet_recv(d->s[1], in, 0);
    sk_fence(d->s[1]);
    sk_get(d->s[1], in, 0, (sk_span){.off = 12, .len = 6, .type = HOLEY, .buf = SK_RECV});
    assert_int_equal(play(d), SK_OK);
    assert_memory_equal(d->recv[1], "..............abc..def..", 24);
}

static void a_full_packet_takes_no_more(void **state)
{
    (void)state;
    duo *d = new_duo();
    int out = sk_packet(d->s[0], 1, 8);
    put(d->s[0], out, 0, 0, 8);
    put(d->s[0], out, 1, 0, 8);
    assert_int_equal(play(d), SK_TOOBIG);
}

static void a_packet_longer_than_its_room_is_truncated(void **state)
{
    (void)state;
    duo *d = new_duo();
    int out = sk_packet(d->s[0], 1, 100), in = sk_packet(d->s[1], 1, 10);
    put(d->s[0], out, 0, 0, 100);
    sk_packet_send(d->s[0], out, 0, 1, 1);
    sk_packet_recv(d->s[1], in, 0);
    sk_fence(d->s[1]);
    sk_get(d->s[1], in, 0, bytes_of(SK_RECV, 0, 10));
    assert_int_equal(play(d), SK_TRUNCATE);
    assert_int_equal(d->recv[1][0], '.');
}

static void a_record_longer_than_its_target_is_truncated(void **state)
{
    (void)state;
    duo *d = new_duo();
    int out = sk_packet(d->s[0], 1, 8), in = sk_packet(d->s[1], 1, 8);
    put(d->s[0], out, 0, 0, 8);
    sk_packet_send(d->s[0], out, 0, 1, 1);
    sk_packet_recv(d->s[1], in, 0);
    sk_fence(d->s[1]);
    sk_get(d->s[1], in, 0, bytes_of(SK_RECV, 0, 7));
    assert_int_equal(play(d), SK_TRUNCATE);
    assert_int_equal(d->recv[1][0], '.');
}

/* Rank 0 sends plain bytes where rank 1 expects a packet, and rank 1 forwards them to itself. */
static void malformed(const void *bytes, int64_t len, const char *want)
{
    duo *d = new_duo();
    memcpy(d->send[0], bytes, (size_t)len);
    int in = sk_packet(d->s[1], 0, 64), again = sk_packet(d->s[1], 0, 128);
    sk_send(d->s[0], bytes_of(SK_SEND, 0, len), 1);
    sk_packet_recv(d->s[1], in, 0);
    sk_fence(d->s[1]);
    sk_get(d->s[1], in, 5, bytes_of(SK_RECV, 0, 8));
    sk_packet_send(d->s[1], in, 0, 100, 1);
    sk_packet_recv(d->s[1], again, 1);
    assert_int_equal(play(d), SK_OK);
    assert_memory_equal(d->recv[1], want, 8);
}

static void malformed_packets_end_at_the_first_bad_record(void **state)
{
    (void)state;
    struct {
        sk_record rec;
        char data[8];
        sk_record next;
        char more[24];
    } p = {{5, 8}, {'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'}, {6, 0}, ""};
    malformed(&p, 40, "abcdefgh");
    p.rec = (sk_record){5, -1};
    malformed(&p, 40, "........");
    p.rec = (sk_record){5, 1000};
    malformed(&p, 40, "........");
    p.rec = (sk_record){5, INT64_MAX};
    malformed(&p, 40, "........");
    p.rec = (sk_record){5, INT64_MIN};
    malformed(&p, 40, "........");
    p.rec = (sk_record){5, 3};
    malformed(&p, 19, "abc....."); /* padding missing */
    malformed(&p, 18, "........"); /* data missing */
    malformed(&p, 15, "........"); /* half a header */
    p.rec = (sk_record){INT64_MIN, 8};
    p.next = (sk_record){5, 25};
    malformed(&p, 64, "........");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_arrive_under_their_keys),
        cmocka_unit_test(a_range_of_keys_is_sent_alone),
        cmocka_unit_test(packets_are_appended_to_what_is_there),
        cmocka_unit_test(several_records_may_be_put_in_one_round),
        cmocka_unit_test(relayed_records_keep_their_bytes_under_new_keys),
        cmocka_unit_test(a_relay_into_a_full_packet_is_refused),
        cmocka_unit_test(absent_records_are_passed_over_in_any_order),
        cmocka_unit_test(appends_stand_alone_with_appends),
        cmocka_unit_test(a_relay_needs_two_packets),
        cmocka_unit_test(records_are_packed_and_unpacked),
        cmocka_unit_test(a_full_packet_takes_no_more),
        cmocka_unit_test(a_packet_longer_than_its_room_is_truncated),
        cmocka_unit_test(a_record_longer_than_its_target_is_truncated),
        cmocka_unit_test(malformed_packets_end_at_the_first_bad_record),
    };
    return RUN(tests);
}
