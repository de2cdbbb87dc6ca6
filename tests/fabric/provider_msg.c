/* provider_msg.c: messages without tags, fi_msg(3): they match receives without tags, in order and
 * by their source, and never those with tags. */
#include "provider.h"

#include <signal.h>

enum { LONG = 100000, MANY = 100 };

static struct fi_context2 ctx[MANY];
static char big[LONG], in[LONG];

/* Lengths that take every way: inside an object, in a buffer, by rendezvous. */
static size_t length(int i)
{
    static const size_t some[] = {8, 0, 200, LONG, 64, 65, 4000, 20000};
    return some[i % 8];
}

/* Every way to send meets every way to receive, also with a peer that sends without waiting. */
static void send_all(process *p)
{
    fi_addr_t to = p->addr[1];
    char out[64];
    struct iovec iov[2] = {{out, 20}, {out + 20, 44}};
    struct fi_msg msg = {
        .msg_iov = iov, .iov_count = 2, .addr = to, .context = &ctx[3], .data = 77};
    struct fi_cq_tagged_entry e;
    fill(out, sizeof out, 5);
    CHECK_OK(fi_send(p->ep, out, 64, NULL, to, &ctx[1]));
    wait_entry(p, &e);
    CHECK(e.op_context == &ctx[1] && e.flags & FI_SEND && e.flags & FI_MSG);
    CHECK(!(e.flags & FI_TAGGED));
    CHECK_OK(fi_sendv(p->ep, iov, NULL, 2, to, &ctx[2]));
    wait_context(p, &ctx[2]);
    CHECK_OK(fi_sendmsg(p->ep, &msg, FI_COMPLETION | FI_REMOTE_CQ_DATA));
    wait_context(p, &ctx[3]);
    CHECK_TAKEN(p, fi_inject(p->ep, out, 64, to));
    CHECK_OK(fi_senddata(p->ep, out, 64, NULL, 88, to, &ctx[5]));
    wait_context(p, &ctx[5]);
    CHECK_TAKEN(p, fi_injectdata(p->ep, out, 64, 99, to));
    memset(out, 0, sizeof out); /* inject: it is ours again */
    CHECK_OK(fi_send(p->ep, NULL, 0, NULL, to, &ctx[7]));
    wait_context(p, &ctx[7]);
    spin(p, 5);
    barrier(p);
}

static void send_kinds(process *p)
{
    static const uint64_t data[] = {0, 0, 77, 0, 88, 99, 0};
    char got[64], a[32], b[32];
    struct fi_cq_tagged_entry e;
    struct iovec parts[2] = {{a, 32}, {b, 32}};
    struct fi_msg want = {.msg_iov = parts, .iov_count = 2, .addr = p->addr[0], .context = &ctx[8]};
    if (p->rank == 0) {
        send_all(p);
        return;
    }
    barrier(p); /* all have come before the first receive */
    for (int i = 0; i < 7; i++) {
        memset(got, 0, sizeof got);
        if (i % 3 == 0)
            CHECK_OK(fi_recv(p->ep, got, 64, NULL, p->addr[0], &ctx[8]));
        else if (i % 3 == 1)
            CHECK_OK(fi_recvv(p->ep, parts, NULL, 2, p->addr[0], &ctx[8]));
        else
            CHECK_OK(fi_recvmsg(p->ep, &want, FI_COMPLETION));
        wait_entry(p, &e);
        if (i % 3) {
            memcpy(got, a, 32);
            memcpy(got + 32, b, 32);
        }
        CHECK(e.op_context == &ctx[8] && e.tag == 0);
        CHECK(e.len == (i == 6 ? 0 : 64) && (i == 6 || filled(got, 64, 5)));
        CHECK(e.data == data[i] && !(e.flags & FI_REMOTE_CQ_DATA) == !data[i]);
        CHECK(e.flags & FI_RECV && e.flags & FI_MSG && !(e.flags & (FI_SEND | FI_TAGGED)));
    }
}

/* Messages match receives in order, whatever their lengths: first the messages come, then the
 * receives, and the other way round. */
static void order(process *p)
{
    struct fi_cq_tagged_entry e;
    fill(big, LONG, 2);
    char *to = p->rank ? malloc((size_t)MANY * LONG) : NULL;
    for (int round = 0; round < 2; round++) {
        if (p->rank && round == 0)
            spin(p, 20);
        if (p->rank)
            memset(to, 0, (size_t)MANY * LONG);
        for (int i = 0; i < MANY; i++)
            CHECK_OK(
                p->rank
                    ? fi_recv(p->ep, to + (size_t)i * LONG, LONG, NULL, FI_ADDR_UNSPEC, &ctx[i])
                    : fi_senddata(p->ep, big, length(i), NULL, (uint64_t)i, p->addr[1], &ctx[i]));
        for (int i = 0; i < MANY; i++) {
            wait_entry(p, &e);
            size_t at = (size_t)((struct fi_context2 *)e.op_context - ctx);
            CHECK(p->rank == 0 ||
                  (e.data == at && e.len == length((int)at) && filled(to + at * LONG, e.len, 2)));
        }
        barrier(p);
    }
    free(to);
}

/* Tagged and untagged messages of equal bytes: neither queue sees the other's, not even a receive
 * that takes every tag. */
static void apart(process *p)
{
    int v[4] = {1, 2, 3, 4}, got[4] = {0};
    if (p->rank == 0) {
        for (int round = 0; round < 2; round++) {
            CHECK_TAKEN(p, fi_inject(p->ep, &v[0], 4, p->addr[1]));
            CHECK_TAKEN(p, fi_tinject(p->ep, &v[1], 4, p->addr[1], 0));
            CHECK_TAKEN(p, fi_tinject(p->ep, &v[2], 4, p->addr[1], 5));
            CHECK_TAKEN(p, fi_inject(p->ep, &v[3], 4, p->addr[1]));
            barrier(p);
            barrier(p);
        }
        return;
    }
    struct fi_cq_tagged_entry e;
    for (int round = 0; round < 2; round++) {
        memset(got, 0, sizeof got);
        if (round == 0)
            barrier(p); /* unexpected first, then posted */
        CHECK_OK(fi_trecv(p->ep, &got[2], 4, NULL, p->addr[0], 5, 0, &ctx[2]));
        CHECK_OK(fi_trecv(p->ep, &got[1], 4, NULL, FI_ADDR_UNSPEC, 0, ~UINT64_C(0), &ctx[1]));
        CHECK_OK(fi_recv(p->ep, &got[0], 4, NULL, p->addr[0], &ctx[0]));
        CHECK_OK(fi_recv(p->ep, &got[3], 4, NULL, FI_ADDR_UNSPEC, &ctx[3]));
        if (round == 1)
            barrier(p);
        for (int i = 0; i < 4; i++) {
            wait_entry(p, &e);
            size_t at = (size_t)((struct fi_context2 *)e.op_context - ctx);
            CHECK(e.flags & (at == 1 || at == 2 ? FI_TAGGED : FI_MSG));
        }
        CHECK(memcmp(v, got, sizeof v) == 0);
        spin(p, 2);
        barrier(p);
    }
}

/* A receive that names its source gets only that one's messages. */
static void directed(process *p)
{
    int me = p->rank, got[4] = {0};
    if (p->rank) {
        barrier(p);
        CHECK_TAKEN(p, fi_inject(p->ep, &me, sizeof me, p->addr[0]));
        barrier(p);
        CHECK_TAKEN(p, fi_inject(p->ep, &me, sizeof me, p->addr[0]));
        barrier(p);
        return;
    }
    struct fi_cq_tagged_entry e;
    CHECK_OK(fi_recv(p->ep, &got[0], 4, NULL, p->addr[2], &ctx[0]));
    CHECK_OK(fi_recv(p->ep, &got[1], 4, NULL, p->addr[1], &ctx[1]));
    barrier(p);
    for (int i = 0; i < 2; i++)
        wait_entry(p, &e);
    CHECK(got[0] == 2 && got[1] == 1);
    barrier(p);
    barrier(p);
    CHECK_OK(fi_recv(p->ep, &got[2], 4, NULL, p->addr[2], &ctx[2]));
    wait_context(p, &ctx[2]);
    CHECK_OK(fi_recv(p->ep, &got[3], 4, NULL, FI_ADDR_UNSPEC, &ctx[3]));
    wait_context(p, &ctx[3]);
    CHECK(got[2] == 2 && got[3] == 1);
}

static void cancel(process *p)
{
    int v[2] = {0}, t = 0, w = 5;
    if (p->rank == 0) {
        barrier(p);
        CHECK_TAKEN(p, fi_inject(p->ep, &w, 4, p->addr[1]));
        barrier(p);
        return;
    }
    CHECK_OK(fi_trecv(p->ep, &t, 4, NULL, p->addr[0], 0, ~UINT64_C(0), &ctx[2]));
    for (int i = 0; i < 2; i++)
        CHECK_OK(fi_recv(p->ep, &v[i], 4, NULL, p->addr[0], &ctx[i]));
    CHECK_OK(fi_cancel(&p->ep->fid, &ctx[0]));
    struct fi_cq_err_entry err;
    wait_error(p, FI_ECANCELED, &err);
    CHECK(err.op_context == &ctx[0] && err.flags & FI_MSG && !(err.flags & FI_TAGGED));
    CHECK(fi_cancel(&p->ep->fid, &ctx[0]) == -FI_ENOENT);
    barrier(p);
    wait_context(p, &ctx[1]); /* the next in line got the message */
    CHECK(v[0] == 0 && v[1] == 5 && t == 0);
    CHECK_OK(fi_cancel(&p->ep->fid, &ctx[2]));
    wait_error(p, FI_ECANCELED, NULL);
    barrier(p);
}

static void truncation(process *p)
{
    static const size_t lens[] = {50, 1000, LONG, LONG};
    struct fi_cq_tagged_entry e;
    fill(big, LONG, 3);
    for (int i = 0; i < 4; i++) {
        struct fi_cq_err_entry err;
        size_t capacity = i == 3 ? 0 : 20;
        if (p->rank == 0) {
            CHECK_OK(fi_senddata(p->ep, big, lens[i], NULL, 6, p->addr[1], &ctx[i]));
            wait_entry(p, &e);
            continue;
        }
        memset(in, 0, sizeof in);
        CHECK_OK(fi_recv(p->ep, in, capacity, NULL, p->addr[0], &ctx[i]));
        wait_error(p, FI_ETRUNC, &err);
        CHECK(err.op_context == &ctx[i] && err.len == capacity && err.olen == lens[i] - capacity);
        CHECK(err.data == 6 && filled(in, capacity, 3) && in[20] == 0);
    }
}

/* To itself, all lengths, before and after the receive. What is left at the end is freed. */
static void to_self(process *p)
{
    struct fi_cq_tagged_entry e;
    fill(big, LONG, 8);
    for (int i = 0; i < 16; i++) {
        size_t len = length(i);
        memset(in, 0, sizeof in);
        if (i < 8)
            CHECK_OK(fi_recv(p->ep, in, len, NULL, p->addr[0], &ctx[0]));
        CHECK_OK(fi_send(p->ep, big, len, NULL, p->addr[0], &ctx[1]));
        if (i >= 8)
            CHECK_OK(fi_recv(p->ep, in, len, NULL, FI_ADDR_UNSPEC, &ctx[0]));
        wait_entry(p, &e);
        wait_entry(p, &e);
        CHECK(filled(in, len, 8));
    }
    CHECK_TAKEN(p, fi_inject(p->ep, big, 500, p->addr[0]));
    CHECK_OK(fi_send(p->ep, big, LONG, NULL, p->addr[0], &ctx[1]));
    CHECK_OK(fi_trecv(p->ep, in, LONG, NULL, FI_ADDR_UNSPEC, 0, ~UINT64_C(0), &ctx[2]));
}

static void selective(process *p)
{
    char c = 7;
    struct iovec iov = {&c, 1};
    struct fi_msg msg = {
        .msg_iov = &iov, .iov_count = 1, .addr = p->addr[1 - p->rank], .context = &ctx[0]};
    if (p->rank == 0) {
        CHECK_OK(fi_sendmsg(p->ep, &msg, 0));
        spin(p, 5);
        CHECK_OK(fi_sendmsg(p->ep, &msg, FI_COMPLETION));
        wait_context(p, &ctx[0]);
    } else {
        CHECK_OK(fi_recvmsg(p->ep, &msg, 0)); /* this one is silent */
        CHECK_OK(fi_recvmsg(p->ep, &msg, FI_COMPLETION));
        wait_context(p, &ctx[0]);
        spin(p, 5);
    }
}

static void refusals(process *p)
{
    char c = 0, more[8192] = {0};
    struct iovec iov[5] = {{&c, 1}, {&c, 1}, {&c, 1}, {&c, 1}, {&c, 1}};
    struct fi_msg msg = {.msg_iov = iov, .iov_count = 1, .addr = p->addr[0], .context = &ctx[0]};
    CHECK(p->info->caps & FI_MSG);
    CHECK(fi_sendv(p->ep, iov, NULL, 5, p->addr[0], &ctx[0]) == -FI_EINVAL);
    CHECK(fi_recvv(p->ep, iov, NULL, 5, p->addr[0], &ctx[0]) == -FI_EINVAL);
    CHECK(fi_inject(p->ep, more, p->info->tx_attr->inject_size + 1, p->addr[0]) == -FI_EINVAL);
    CHECK(fi_sendmsg(p->ep, &msg, FI_FENCE) == -FI_EBADFLAGS);
    CHECK(fi_recvmsg(p->ep, &msg, FI_PEEK) == -FI_EBADFLAGS);
    CHECK(fi_recvmsg(p->ep, &msg, FI_MULTI_RECV) == -FI_EBADFLAGS);
    CHECK(fi_send(p->ep, &c, 1, NULL, 99, &ctx[0]) == -FI_EINVAL);
    CHECK(fi_recv(p->ep, &c, 1, NULL, 99, &ctx[0]) == -FI_EINVAL);
    spin(p, 2);
}

/* Who waits for a peer that is gone is told. */
static void killed(process *p)
{
    int v = 1, w = 0;
    if (p->rank == 1) {
        CHECK_TAKEN(p, fi_inject(p->ep, &v, sizeof v, p->addr[0]));
        spin(p, 50);
        barrier(p);
        leave_barriers(p);
        kill(getpid(), SIGKILL);
    }
    CHECK_OK(fi_recv(p->ep, &w, sizeof w, NULL, p->addr[1], &ctx[0]));
    wait_context(p, &ctx[0]);
    CHECK(w == 1);
    CHECK_OK(fi_recv(p->ep, &w, sizeof w, NULL, p->addr[1], &ctx[1]));
    CHECK_OK(fi_send(p->ep, big, LONG, NULL, p->addr[1], &ctx[2]));
    barrier(p);
    for (int i = 0; i < 2; i++) {
        struct fi_cq_tagged_entry e;
        struct fi_cq_err_entry err = {0};
        ssize_t n;
        while ((n = fi_cq_read(p->cq, &e, 1)) == -FI_EAGAIN)
            ;
        CHECK(n == -FI_EAVAIL && fi_cq_readerr(p->cq, &err, 0) == 1);
        CHECK(err.flags & FI_MSG && err.err != FI_ECANCELED);
    }
    CHECK(fi_inject(p->ep, &v, sizeof v, p->addr[1]) == -FI_ECONNRESET);
}

int main(void)
{
    static const ep_options msg = {.caps = FI_MSG}, plain = {.caps = FI_MSG, .no_context = true},
                            silent = {.caps = FI_MSG, .selective = true};
    run_test("every_send_meets_every_receive", 2, &msg, send_kinds, NULL);
    run_test("nothing_overtakes", 2, &msg, order, NULL);
    run_test("tagged_and_untagged_never_match", 2, &msg, apart, NULL);
    run_test("a_source_that_is_named_counts", 3, &msg, directed, NULL);
    run_test("cancel_takes_one_receive", 2, &msg, cancel, NULL);
    run_test("cancel_takes_one_receive_without_contexts", 2, &plain, cancel, NULL);
    run_test("truncation_tells_what_was_cut", 2, &msg, truncation, NULL);
    run_test("an_endpoint_sends_to_itself", 1, &msg, to_self, NULL);
    run_test("selective_completion_is_silent", 2, &silent, selective, NULL);
    run_test("what_is_not_served_is_refused", 1, &msg, refusals, NULL);
    run_test("a_peer_that_is_gone_is_reported", 2, &msg, killed, NULL);
    return tap_end();
}
