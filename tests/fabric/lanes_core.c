/* lanes_core.c: tests of the lane over a core provider: which provider it takes, that it sleeps and
 * wakes up, that it leaves nothing behind. One line per test. */
#include <stdlib.h>

#include "fabric/lane/core_inner.h"
#include "lanes.h"

static sk_core_lane *lane_of(const process *me)
{
    return (sk_core_lane *)me->lane;
}

static int open_as(const process *me, const char *name, sk_lane **out)
{
    sk_lane_config config = {.id = 31, .events = lane_of(me)->config.events, .core_provider = name};
    return sk_lane_core.open(out, &config);
}

static void providers_that_will_not_do_are_refused(process *me)
{
    static const char *const names[] = {"skein", "nonsense", "tcp;nonsense"};
    sk_lane *other = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        CHECK(open_as(me, names[i], &other) < 0 && !other);
}

static void one_is_chosen_when_none_is_named(process *me)
{
    static const char *const names[] = {"", NULL};
    for (int i = 0; i < 2; i++) {
        sk_lane *other;
        CHECK(open_as(me, names[i], &other) == 0);
        const struct fi_info *info = ((sk_core_lane *)other)->info;
        CHECK(sk_core_usable(info, false) && (info->caps & FI_MSG));
        CHECK(info->ep_attr->type == FI_EP_RDM && other->max_packet == SK_CORE_PACKET);
        other->ops->close(other);
    }
}

static void names_of_another_kind_are_not_reached(process *me)
{
    uint8_t name[SK_ADDRESS_NAMES];
    uint32_t peer;
    memcpy(name, me->shared->proc[0].name, me->shared->proc[0].len);
    name[0] ^= 1;
    CHECK(me->ops->connect(me->lane, 5, name, me->shared->proc[0].len, &peer) == -ENETUNREACH);
    name[0] ^= 1;
    CHECK(me->ops->connect(me->lane, 5, name, me->shared->proc[0].len - 1, &peer) == -ENETUNREACH);
}

static void opening_and_closing_leaves_nothing(process *me)
{
    enum { TIMES = 2000, WARM = 1000, ALLOWED_PAGES = 256 };
    long fds = 0, pages = 0;
    for (int i = 0; i < TIMES; i++) {
        sk_lane *other;
        uint8_t name[SK_ADDRESS_NAMES];
        size_t len = sizeof name;
        uint32_t peer;
        CHECK(open_as(me, "", &other) == 0);
        CHECK(other->ops->get_name(other, name, &len) == 0);
        CHECK(other->ops->connect(other, 5, name, len, &peer) == 0);
        CHECK(((sk_core_lane *)other)->more_recv.all);
        other->ops->close(other);
        if (i == WARM) {
            fds = entries_of("/proc/self/fd");
            pages = resident_pages();
        }
    }
    CHECK(entries_of("/proc/self/fd") == fds);
    CHECK(resident_pages() - pages < ALLOWED_PAGES);
}

/* A lane without connections sleeps. It still receives, and is awake from then on. */
static void a_sleeping_lane_wakes_up(process *me)
{
    sk_lane *sleeper, *caller;
    uint32_t peer;
    size_t len = SK_ADDRESS_NAMES;
    uint8_t name[SK_ADDRESS_NAMES];
    struct iovec part = {"wake up", 7};
    CHECK(open_as(me, lane_of(me)->config.core_provider, &sleeper) == 0);
    CHECK(open_as(me, lane_of(me)->config.core_provider, &caller) == 0);
    me->shared->proc[1].id = 31;
    me->n = 2;
    CHECK(sleeper->ops->get_name(sleeper, name, &len) == 0);
    CHECK(caller->ops->connect(caller, 32, name, len, &peer) == 0);
    CHECK(!((sk_core_lane *)sleeper)->more_recv.all);
    int sent = -EAGAIN;
    while (!me->packets) {
        if (sent == -EAGAIN)
            sent = caller->ops->send(caller, peer, &part, 1);
        CHECK(sent == 0 || sent == -EAGAIN);
        caller->ops->poll(caller);
        sleeper->ops->poll(sleeper);
    }
    CHECK(me->packets == 1 && me->bytes == 7 && ((sk_core_lane *)sleeper)->more_recv.all);
    caller->ops->close(caller);
    sleeper->ops->close(sleeper);
}

/* Packets arrive although their sender closes at once. */
static void closing_waits_for_what_was_sent(process *me)
{
    me->packet = expect_pattern;
    if (me->rank)
        for (uint64_t i = 0; i < 60; i++)
            send_pattern(me, 0, me->lane->max_packet, i);
    else
        UNTIL(me, me->next[1] == 60);
}

static const test tests[] = {
    {.name = "providers_that_will_not_do_are_refused",
     .n = 1,
     .body = providers_that_will_not_do_are_refused},
    {.name = "one_is_chosen_when_none_is_named", .n = 1, .body = one_is_chosen_when_none_is_named},
    {.name = "names_of_another_kind_are_not_reached",
     .n = 1,
     .body = names_of_another_kind_are_not_reached},
    {.name = "a_sleeping_lane_wakes_up", .n = 1, .body = a_sleeping_lane_wakes_up},
    {.name = "closing_waits_for_what_was_sent", .n = 2, .body = closing_waits_for_what_was_sent},
    {.name = "opening_and_closing_leaves_nothing",
     .n = 1,
     .body = opening_and_closing_leaves_nothing},
};

int main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        if (argc < 2 || strcmp(argv[1], tests[i].name) == 0)
            test_run(&tests[i], &sk_lane_core);
    return tap_end();
}
