/* provider_flow.c: much data, many messages, little memory: everything arrives, nothing waits for
 * ever, and buffers are free when they are said to be. */
#include "provider.h"

enum { FLOOD = 20000, HUGE_LEN = 16 << 20 };

static struct fi_context2 ctx[FLOOD];
static struct fi_context2 last;

/* Both sides send far more than fits, and receive the last one first. */
static void flood(process *p)
{
    struct fi_cq_tagged_entry e;
    fi_addr_t other = p->addr[1 - p->rank];
    static int out[FLOOD][4], in[FLOOD][4];
    int end = 0, sent = 0, came = 0;
    for (int i = 0; i < FLOOD; i++) {
        out[i][0] = out[i][3] = i + p->rank;
        CHECK_OK(fi_tsend(p->ep, out[i], sizeof out[i], NULL, other, 1, &ctx[i]));
    }
    CHECK_OK(fi_tsend(p->ep, &sent, sizeof sent, NULL, other, 2, &last));
    CHECK_OK(fi_trecv(p->ep, &end, sizeof end, NULL, other, 2, 0, &last));
    for (int got = 0; got < 1;) { /* nobody has a receive for tag 1 yet */
        wait_entry(p, &e);
        sent += (e.flags & FI_SEND) != 0;
        got += (e.flags & FI_RECV) != 0;
    }
    for (int i = 0; i < FLOOD; i++)
        CHECK_OK(fi_trecv(p->ep, in[i], sizeof in[i], NULL, other, 1, 0, &ctx[i]));
    while (sent < FLOOD + 1 || came < FLOOD) {
        wait_entry(p, &e);
        sent += (e.flags & FI_SEND) != 0;
        came += (e.flags & FI_RECV) != 0;
    }
    for (int i = 0; i < FLOOD; i++)
        CHECK(in[i][0] == i + 1 - p->rank && in[i][3] == in[i][0]);
}

/* Inject copies, but not without end: the caller is told to try again. */
static void inject(process *p)
{
    struct fi_cq_tagged_entry e;
    char buf[1000];
    enum { N = 3000 };
    if (p->rank == 0) {
        long full = 0;
        for (int i = 0; i < N; i++) {
            ssize_t rc;
            fill(buf, sizeof buf, (unsigned)i);
            while ((rc = fi_tinject(p->ep, buf, sizeof buf, p->addr[1], 1)) == -FI_EAGAIN) {
                full++;
                CHECK(fi_cq_read(p->cq, &e, 1) == -FI_EAGAIN);
            }
            CHECK_OK(rc);
            memset(buf, 0, sizeof buf);
        }
        CHECK(!getenv("SKEIN_UNEXPECTED") || full);
        return;
    }
    spin(p, 50);
    for (int i = 0; i < N; i++) {
        CHECK_OK(fi_trecv(p->ep, buf, sizeof buf, NULL, p->addr[0], 1, 0, &ctx[0]));
        wait_context(p, &ctx[0]);
        CHECK(filled(buf, sizeof buf, (unsigned)i));
    }
}

/* What was injected arrives although its sender makes no progress from then on. */
static void inject_and_leave(process *p)
{
    int v = 5;
    if (p->rank == 0) {
        CHECK_TAKEN(p, fi_tinject(p->ep, &v, sizeof v, p->addr[1], 1));
    } else {
        int in = 0;
        CHECK_OK(fi_trecv(p->ep, &in, sizeof in, NULL, p->addr[0], 1, 0, &ctx[0]));
        wait_context(p, &ctx[0]);
        CHECK(in == v);
    }
    barrier_without_progress();
}

/* As an MPI does it: nonblocking sends are injected while there is room, and sent otherwise. A blocking
 * one that is injected after them gets through, although it is received first. */
static void inject_behind(process *p)
{
    enum { BEFORE = 300, BLOCKING = 100 };
    struct fi_cq_tagged_entry e;
    static char buf[BEFORE][1000];
    char late[1000];
    fill(late, sizeof late, 7);
    if (p->rank == 0) {
        int sent = 0;
        CHECK_TAKEN(p, fi_tinject(p->ep, late, sizeof late, p->addr[1], 3)); /* connects */
        for (int i = 0; i < BEFORE; i++)
            if (fi_tinject(p->ep, buf[i], sizeof buf[i], p->addr[1], 1) == -FI_EAGAIN) {
                CHECK_OK(fi_tsend(p->ep, buf[i], sizeof buf[i], NULL, p->addr[1], 1, &ctx[0]));
                sent++;
            }
        CHECK(sent > 0 && sent < BEFORE);
        for (int i = 0; i < BLOCKING; i++)
            while (fi_tinject(p->ep, late, sizeof late, p->addr[1], 2) == -FI_EAGAIN)
                CHECK(fi_cq_read(p->cq, &e, 1) == -FI_EAGAIN);
        barrier(p);
        for (int i = 0; i < sent; i++)
            wait_entry(p, &e);
        return;
    }
    for (int i = -1; i < BLOCKING + BEFORE; i++) {
        char in[1000] = {0};
        uint64_t tag = i < 0 ? 3 : i < BLOCKING ? 2 : 1;
        CHECK_OK(fi_trecv(p->ep, in, sizeof in, NULL, p->addr[0], tag, 0, &ctx[0]));
        wait_context(p, &ctx[0]);
        CHECK(i >= BLOCKING || filled(in, sizeof in, 7));
        if (i == BLOCKING - 1)
            barrier(p);
    }
}

static void huge(process *p)
{
    struct fi_cq_tagged_entry e;
    char *buf = malloc(HUGE_LEN);
    struct iovec parts[3] = {
        {buf, 100}, {buf + 100, HUGE_LEN / 2}, {buf + 100 + HUGE_LEN / 2, HUGE_LEN / 2 - 100}};
    CHECK(buf);
    for (int i = 0; i < 4; i++) { /* whole or in parts, on either side */
        if (p->rank == 0) {
            fill(buf, HUGE_LEN, (unsigned)i);
            CHECK_OK(i & 1 ? fi_tsendv(p->ep, parts, NULL, 3, p->addr[1], 1, &ctx[0])
                           : fi_tsend(p->ep, buf, HUGE_LEN, NULL, p->addr[1], 1, &ctx[0]));
            wait_context(p, &ctx[0]);
            memset(buf, 0, HUGE_LEN);
        } else {
            memset(buf, 0, HUGE_LEN);
            CHECK_OK(i & 2 ? fi_trecvv(p->ep, parts, NULL, 3, p->addr[0], 1, 0, &ctx[0])
                           : fi_trecv(p->ep, buf, HUGE_LEN, NULL, p->addr[0], 1, 0, &ctx[0]));
            wait_entry(p, &e);
            CHECK(e.len == HUGE_LEN && filled(buf, HUGE_LEN, (unsigned)i));
        }
    }
    free(buf);
}

/* All send long messages to all at the same time. */
static void all_to_all(process *p)
{
    enum { LEN = 300000, ROUNDS = 10 };
    struct fi_cq_tagged_entry e;
    char *out = malloc(LEN), *in = malloc((size_t)LEN * MOST);
    CHECK(out && in);
    fill(out, LEN, (unsigned)p->rank);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < p->n; i++) {
            CHECK_OK(fi_trecv(p->ep, in + (size_t)i * LEN, LEN, NULL, p->addr[i], 3, 0, &ctx[i]));
            CHECK_OK(fi_tsend(p->ep, out, LEN, NULL, p->addr[i], 3, &ctx[MOST + i]));
        }
        for (int i = 0; i < 2 * p->n; i++)
            wait_entry(p, &e);
        for (int i = 0; i < p->n; i++)
            CHECK(filled(in + (size_t)i * LEN, LEN, (unsigned)i));
    }
    free(out);
    free(in);
}

/* FI_DELIVERY_COMPLETE and FI_MATCH_COMPLETE wait for the receive, also of short messages. */
static void delivery(process *p)
{
    static const uint64_t how[] = {FI_DELIVERY_COMPLETE, FI_MATCH_COMPLETE};
    static char buf[50000];
    for (int i = 0; i < 4; i++) {
        size_t len = i < 2 ? 10 : sizeof buf;
        struct iovec iov[2] = {{buf, 5}, {buf + 5, len - 5}};
        struct fi_msg_tagged msg = {
            .msg_iov = iov, .iov_count = 2, .addr = p->addr[1], .tag = 1, .context = &ctx[0]};
        if (p->rank == 0) {
            CHECK_OK(fi_tsendmsg(p->ep, &msg, FI_COMPLETION | how[i % 2]));
            spin(p, 20);
            barrier(p);
            wait_context(p, &ctx[0]);
        } else {
            barrier(p);
            CHECK_OK(fi_trecv(p->ep, buf, sizeof buf, NULL, p->addr[0], 1, 0, &ctx[1]));
            wait_context(p, &ctx[1]);
        }
        barrier(p);
    }
}

/* As many posted receives as stock providers hang on, matched from the back. */
static void deep(process *p)
{
    struct fi_cq_tagged_entry e;
    static int in[FLOOD];
    if (p->rank == 0) {
        barrier(p);
        for (int i = FLOOD - 1; i >= 0; i--)
            while (fi_tinject(p->ep, &i, sizeof i, p->addr[1], (uint64_t)i) == -FI_EAGAIN)
                (void)!fi_cq_read(p->cq, &e, 1);
        return;
    }
    for (int i = 0; i < FLOOD; i++)
        CHECK_OK(fi_trecv(p->ep, &in[i], sizeof in[i], NULL, i % 3 ? p->addr[0] : FI_ADDR_UNSPEC,
                          (uint64_t)i, 0, &ctx[i]));
    barrier(p);
    for (int i = 0; i < FLOOD; i++)
        wait_entry(p, &e);
    for (int i = 0; i < FLOOD; i++)
        CHECK(in[i] == i);
}

int main(void)
{
    static const char *const tiny[] = {"SKEIN_UNEXPECTED=1", NULL},
                             *const none[] = {"SKEIN_EAGER=0", NULL},
                             *const packets[] = {"SKEIN_DIRECT=off", NULL};
    run_test("floods_both_ways", 2, NULL, flood, NULL);
    run_test("floods_both_ways_without_room", 2, NULL, flood, tiny);
    run_test("floods_both_ways_of_offers", 2, NULL, flood, none);
    run_test("inject_leaves_the_buffer_free", 2, NULL, inject, NULL);
    run_test("inject_without_room_says_so", 2, NULL, inject, tiny);
    run_test("inject_needs_no_progress_of_its_sender", 2, NULL, inject_and_leave, NULL);
    run_test("inject_does_not_wait_for_earlier_ones", 2, NULL, inject_behind, tiny);
    run_test("sixteen_megabytes", 2, NULL, huge, NULL);
    run_test("sixteen_megabytes_in_packets", 2, NULL, huge, packets);
    run_test("all_to_all", 4, NULL, all_to_all, NULL);
    run_test("all_to_all_in_packets", 4, NULL, all_to_all, packets);
    run_test("delivery_waits_for_the_receive", 2, NULL, delivery, NULL);
    run_test("delivery_in_packets", 2, NULL, delivery, packets);
    run_test("twenty_thousand_receives", 2, NULL, deep, NULL);
    return tap_end();
}
