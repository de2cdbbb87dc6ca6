/* lanes.c LANE: what holds for every lane, `shm` or `core`. One line per test. */
#include <stdlib.h>

#include "lanes.h"

/* Every length near the borders of lines and parts, then some up to the longest. */
static size_t next_len(size_t len, size_t most)
{
    if (len < 600)
        return len + 1;
    return len == most || len + 97 < most ? len + 97 : most;
}

static void packets_of_all_lengths_arrive_in_order(process *me)
{
    size_t most = me->lane->max_packet;
    uint64_t number = 0;
    me->packet = expect_pattern;
    for (size_t len = 0; len <= most; len = next_len(len, most), number++)
        if (me->rank == 0)
            send_pattern(me, 1, len, number);
    if (me->rank == 1)
        UNTIL(me, me->packets == number);
    CHECK(me->rank == 1 || try_pattern(me, 1, most + 1, 0) == -EMSGSIZE);
    lane_barrier(me, 2);
}

/* The receiver does not poll until the lane is full for its sender; three times. */
static void a_full_lane_says_so_and_recovers(process *me)
{
    uint64_t number = 0;
    me->packet = expect_pattern;
    for (int round = 0; round < 3; round++) {
        _Atomic int *count = &me->shared->value[round];
        if (me->rank == 0) {
            for (int stuck = 0; stuck < 2000;) {
                int err = try_pattern(me, 1, number * 211 % me->lane->max_packet, number);
                CHECK(err == 0 || err == -EAGAIN);
                stuck = err ? stuck + 1 : 0;
                number += err == 0;
                me->ops->poll(me->lane);
                CHECK(number < 1000000);
            }
            atomic_store(count, (int)number);
        }
        lane_barrier_no_poll(me, 2 + 2 * round);
        if (me->rank == 1)
            UNTIL(me, me->packets == (uint64_t)atomic_load(count));
        lane_barrier(me, 3 + 2 * round);
    }
}

static void many_send_to_one(process *me)
{
    enum { EACH = 1500 };
    me->packet = expect_pattern;
    for (uint64_t i = 0; i < EACH && me->rank; i++)
        send_pattern(me, 0, i * (unsigned)me->rank % 300, i);
    if (me->rank == 0)
        UNTIL(me, me->packets == (uint64_t)EACH * (unsigned)(me->n - 1));
    lane_barrier(me, 2);
    for (int i = 1; i < me->n && me->rank == 0; i++)
        CHECK(me->next[i] == EACH);
}

static void all_send_to_all_and_to_themselves(process *me)
{
    enum { EACH = 400 };
    unsigned seed = (unsigned)me->rank + 1;
    me->packet = expect_pattern;
    for (uint64_t i = 0; i < EACH; i++)
        for (int to = 0; to < me->n; to++) {
            size_t len = (size_t)rand_r(&seed) % (rand_r(&seed) % 8 ? 200 : me->lane->max_packet);
            send_pattern(me, to, len, i);
            if (rand_r(&seed) % 5 == 0)
                me->ops->poll(me->lane);
        }
    UNTIL(me, me->packets == (uint64_t)EACH * (unsigned)me->n);
    lane_barrier(me, 2);
}

static void answer(process *me, int from, const unsigned char *data, size_t len)
{
    if (len == 1)
        send_one(me, from, data, 0);
}

static void a_packet_can_be_answered_at_once(process *me)
{
    me->packet = answer;
    for (int i = 0; i < 300 && me->rank == 0; i++) {
        send_all(me, 1, "x", 1);
        UNTIL(me, me->packets == (uint64_t)i + 1);
    }
    lane_barrier(me, 2);
}

/* Read until done: 0 or a negative errno. */
static int read_all(process *me, const sk_lane_source *from, uint64_t skip, void *to, size_t len)
{
    int did, before = me->reads;
    while ((did = me->ops->read(me->lane, me->peer[0], from, skip, to, len, me)) == -EAGAIN)
        yield_if_idle(me->ops->poll(me->lane));
    if (did < 0)
        return did;
    if (did == 0)
        UNTIL(me, me->reads == before + 1);
    return did ? 0 : me->read_status;
}

static sk_lane_source remote;

static void note_source(process *me, int from, const unsigned char *data, size_t len)
{
    (void)me;
    (void)from;
    CHECK(len == sizeof remote);
    memcpy(&remote, data, sizeof remote);
}

static void peers_read_exported_memory(process *me)
{
    enum { MOST = 16 << 20 };
    unsigned char *data = malloc(MOST + 1);
    void *handle = NULL;
    CHECK(data && me->lane->can_read);
    me->packet = note_source;
    pattern_fill(data, MOST, me->rank, 0);
    if (me->rank == 0) {
        sk_lane_source source;
        CHECK(me->ops->export(me->lane, data, MOST, &source, &handle) == 0);
        send_all(me, 1, &source, sizeof source);
    } else {
        UNTIL(me, me->packets == 1);
        static const size_t lens[] = {1, 2, 63, 4097, 65536, 1000003, MOST};
        for (int i = 0; i < 7; i++) {
            size_t skip = i % 2 ? MOST - lens[i] : 0;
            data[lens[i]] = 0x5a;
            CHECK(read_all(me, &remote, skip, data, lens[i]) == 0);
            CHECK(data[lens[i]] == 0x5a);
            for (size_t at = 0; at<lens[i]; at += lens[i]> 70000 ? 4093 : 1) {
                unsigned char want = (unsigned char)((skip + at) * 7 + ((skip + at) >> 8));
                CHECK(data[at] == want);
            }
        }
        CHECK(me->ops->read(me->lane, me->peer[0], &remote, 1, data, MOST, me) == -EINVAL);
        CHECK(me->ops->read(me->lane, me->peer[0], &remote, UINT64_MAX, data, 2, me) == -EINVAL);
        CHECK(me->ops->read(me->lane, 99, &remote, 0, data, 1, me) == -EINVAL);
    }
    lane_barrier(me, 2);
    if (me->rank == 0)
        me->ops->unexport(me->lane, handle);
    free(data);
}

/* One process is killed while all send to all. The others are told once and still reach each other. */
static void others_go_on_when_one_is_killed(process *me)
{
    enum { VICTIM = 2, AFTER = 500 };
    uint64_t number[MAX_RANKS] = {0};
    bool lost = false;
    me->packet = expect_pattern;
    while (!lost || !me->gone[VICTIM]) {
        for (int to = 0; to < me->n; to++) {
            int err = try_pattern(me, to, number[to] * 37 % 3000, number[to]);
            CHECK(err == 0 || err == -EAGAIN || (to == VICTIM && err == -EPIPE));
            number[to] += err == 0;
            lost |= err == -EPIPE;
        }
        yield_if_idle(me->ops->poll(me->lane));
    }
    for (int to = 0; to < me->n; to++)
        if (to != VICTIM) {
            for (int more = 0; more < AFTER; more++)
                send_pattern(me, to, 100, number[to]++);
            atomic_store(&me->shared->sent[me->rank][to], number[to]);
        }
    for (int i = 0; i < me->n; i++) {
        _Atomic uint64_t *sent = &me->shared->sent[i][me->rank];
        UNTIL(me, i == VICTIM || (atomic_load(sent) && me->next[i] == atomic_load(sent)));
    }
    atomic_fetch_add(&me->shared->arrived[2], 1);
    UNTIL(me, atomic_load(&me->shared->arrived[2]) == me->n - 1);
    CHECK(me->gone[VICTIM] == 1);
}

/* The packets of a closed peer arrive first, then one event that it is gone. */
static void a_closed_peer_is_gone_after_its_last_packet(process *me)
{
    enum { EACH = 100 };
    me->packet = expect_pattern;
    lane_barrier(me, 2);
    if (me->rank == 1) {
        for (uint64_t i = 0; i < EACH; i++)
            send_pattern(me, 0, 100, i);
        return;
    }
    UNTIL(me, me->next[1] == EACH && (me->gone[1] || try_pattern(me, 1, 1, 0) == -EPIPE));
    UNTIL(me, me->gone[1] == 1);
    CHECK(try_pattern(me, 1, 1, 0) == -EPIPE);
    for (int i = 0; i < 100; i++)
        me->ops->poll(me->lane);
    CHECK(me->gone[1] == 1 && me->next[1] == EACH);
}

static void names_that_lead_nowhere_are_refused(process *me)
{
    uint8_t name[SK_ADDRESS_NAMES];
    size_t len = me->shared->proc[0].len;
    uint32_t peer = 77;
    memcpy(name, me->shared->proc[0].name, len);
    CHECK(me->ops->connect(me->lane, 5, name, 0, &peer) == -EINVAL);
    CHECK(me->ops->connect(me->lane, 5, name, 1, &peer) == -EINVAL);
    memset(name, 0x7f, len);
    CHECK(me->ops->connect(me->lane, 5, name, len, &peer) < 0);
    CHECK(peer == 77);
    CHECK(me->ops->connect(me->lane, me->shared->proc[0].id, me->shared->proc[0].name, len,
                           &peer) == 0);
    CHECK(peer == me->peer[0]);
    len = 1;
    CHECK(me->ops->get_name(me->lane, name, &len) == -ENOSPC);
}

static const test tests[] = {
    {.name = "packets_of_all_lengths_arrive_in_order",
     .n = 2,
     .body = packets_of_all_lengths_arrive_in_order},
    {.name = "a_full_lane_says_so_and_recovers", .n = 2, .body = a_full_lane_says_so_and_recovers},
    {.name = "sixteen_send_to_one", .n = 17, .body = many_send_to_one},
    {.name = "all_send_to_all_and_to_themselves",
     .n = 4,
     .body = all_send_to_all_and_to_themselves},
    {.name = "a_packet_can_be_answered_at_once", .n = 2, .body = a_packet_can_be_answered_at_once},
    {.name = "peers_read_exported_memory", .n = 2, .body = peers_read_exported_memory},
    {.name = "others_go_on_when_one_is_killed",
     .n = 4,
     .body = others_go_on_when_one_is_killed,
     .victim = 2},
    {.name = "a_closed_peer_is_gone_after_its_last_packet",
     .n = 2,
     .body = a_closed_peer_is_gone_after_its_last_packet},
    {.name = "names_that_lead_nowhere_are_refused",
     .n = 1,
     .body = names_that_lead_nowhere_are_refused},
};

int main(int argc, char **argv)
{
    srand((unsigned)getpid());
    if (argc < 2 || (strcmp(argv[1], "shm") != 0 && strcmp(argv[1], "core") != 0)) {
        fprintf(stderr, "usage: lanes shm|core [TEST]\n");
        return 2;
    }
    const sk_lane_ops *ops = argv[1][0] == 's' ? &sk_lane_shm : &sk_lane_core;
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        if (argc < 3 || strcmp(argv[2], tests[i].name) == 0)
            test_run(&tests[i], ops);
    return tap_end();
}
