/* provider_match.c: which message a receive gets, and what else can become of both. */
#include "provider.h"

enum { LONG = 100000, MANY = 300 };

static struct fi_context2 ctx[MANY];
static char big[LONG], in[LONG];

/* Lengths that take every way: inside an object, in a buffer, as an offer. */
static size_t length(int i)
{
    static const size_t some[] = {8, 0, 200, LONG, 64, 65, 4000, 20000};
    return some[i % 8];
}

static void order_sender(process *p)
{
    struct fi_cq_tagged_entry e;
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < MANY; i++)
            CHECK_OK(
                fi_tsenddata(p->ep, big, length(i), NULL, (uint64_t)i, p->addr[1], 5, &ctx[i]));
        for (int i = 0; i < MANY; i++) {
            wait_entry(p, &e);
            CHECK(e.flags & FI_SEND);
        }
        barrier(p);
    }
}

/* Messages with one tag match receives in order, whatever their lengths; first the messages come,
 * then the receives, and the other way round. */
static void order(process *p)
{
    struct fi_cq_tagged_entry e;
    fill(big, LONG, 2);
    if (p->rank == 0) {
        order_sender(p);
        return;
    }
    char *to = malloc((size_t)MANY * LONG);
    CHECK(to);
    for (int round = 0; round < 2; round++) {
        memset(to, 0, (size_t)MANY * LONG);
        if (round == 0)
            spin(p, 20);
        for (int i = 0; i < MANY; i++)
            CHECK_OK(fi_trecv(p->ep, to + (size_t)i * LONG, LONG, NULL, p->addr[0], 5, 0, &ctx[i]));
        for (int i = 0; i < MANY; i++) {
            wait_entry(p, &e);
            size_t at = (size_t)((struct fi_context2 *)e.op_context - ctx);
            CHECK(e.data == at && e.len == length((int)at));
            CHECK(filled(to + at * LONG, e.len, 2));
        }
        barrier(p);
    }
    free(to);
}

/* A receive gets the oldest message that fits; a message the oldest receive that fits. */
static void wildcards(process *p)
{
    struct fi_cq_tagged_entry e;
    int v[6] = {0}, me = p->rank;
    if (p->rank != 0) {
        barrier(p);
        CHECK_TAKEN(p, fi_tinjectdata(p->ep, &me, sizeof me, (uint64_t)me, p->addr[0],
                                      0x100 + (uint64_t)me));
        barrier(p);
        barrier(p);
        CHECK_TAKEN(p, fi_tinjectdata(p->ep, &me, sizeof me, (uint64_t)me, p->addr[0],
                                      0x100 + (uint64_t)me));
        barrier(p);
        return;
    }
    /* posted: specific after wildcard must not overtake it */
    CHECK_OK(fi_trecv(p->ep, &v[0], 4, NULL, p->addr[2], 0x100, 0xff, &ctx[0]));
    CHECK_OK(fi_trecv(p->ep, &v[1], 4, NULL, p->addr[2], 0x102, 0, &ctx[1]));
    CHECK_OK(fi_trecv(p->ep, &v[2], 4, NULL, FI_ADDR_UNSPEC, 0x101, 0, &ctx[2]));
    CHECK_OK(fi_trecv(p->ep, &v[3], 4, NULL, FI_ADDR_UNSPEC, 0, ~UINT64_C(0), &ctx[3]));
    barrier(p);
    barrier(p);
    bool seen[4] = {false};
    for (int i = 0; i < 2; i++) {
        wait_entry(p, &e);
        seen[(struct fi_context2 *)e.op_context - ctx] = true;
    }
    CHECK(seen[0] && seen[2] && v[0] == 2 && v[2] == 1);
    CHECK_OK(fi_cancel(&p->ep->fid, &ctx[1]));
    wait_error(p, FI_ECANCELED, NULL);
    CHECK_OK(fi_cancel(&p->ep->fid, &ctx[3]));
    wait_error(p, FI_ECANCELED, NULL);
    barrier(p);
    barrier(p);
    /* unexpected: from 2, of any tag; then whatever is left */
    CHECK_OK(fi_trecv(p->ep, &v[4], 4, NULL, p->addr[2], 0, ~UINT64_C(0), &ctx[4]));
    wait_entry(p, &e);
    CHECK(e.op_context == &ctx[4] && v[4] == 2 && e.tag == 0x102 && e.data == 2);
    CHECK_OK(fi_trecv(p->ep, &v[5], 4, NULL, FI_ADDR_UNSPEC, 0x1ff, 0xff, &ctx[5]));
    wait_entry(p, &e);
    CHECK(e.op_context == &ctx[5] && v[5] == 1 && e.tag == 0x101);
}

/* Open MPI's collectives have negative tags, which MPI_ANY_TAG must not match. */
static void negative_tags(process *p)
{
    uint64_t allgather = 0xfffffff6, any = 0x7fffffff; /* -10; all but the sign may differ */
    int v = 1, w = 2, got[2] = {0};
    struct fi_cq_tagged_entry e;
    if (p->rank == 0) {
        CHECK_TAKEN(p, fi_tinject(p->ep, &v, 4, p->addr[1], allgather));
        CHECK_TAKEN(p, fi_tinject(p->ep, &w, 4, p->addr[1], 3));
        return;
    }
    CHECK_OK(fi_trecv(p->ep, &got[0], 4, NULL, p->addr[0], 0, any, &ctx[0])); /* MPI_ANY_TAG */
    wait_context(p, &ctx[0]);
    CHECK(got[0] == 2);
    CHECK_OK(fi_trecv(p->ep, &got[1], 4, NULL, p->addr[0], 0, ~UINT64_C(0), &ctx[1]));
    wait_entry(p, &e);
    CHECK(e.tag == allgather && got[1] == 1);
}

static void peek(process *p)
{
    struct fi_cq_tagged_entry e;
    struct iovec iov = {in, LONG};
    struct fi_msg_tagged m = {.addr = p->addr[0], .tag = 7, .context = &ctx[0]};
    fill(big, LONG, 9);
    if (p->rank == 0) {
        for (int i = 0; i < 6; i++) {
            size_t len = i % 2 ? LONG : 100;
            CHECK_OK(fi_tsenddata(p->ep, big, len, NULL, (uint64_t)i, p->addr[1], 7, &ctx[i]));
        }
        for (int i = 0; i < 6; i++)
            wait_entry(p, &e);
        barrier(p);
        return;
    }
    m.tag = 8;
    CHECK_OK(fi_trecvmsg(p->ep, &m, FI_PEEK | FI_COMPLETION));
    wait_error(p, FI_ENOMSG, NULL);
    m.tag = 7;
    for (int found = 0; !found;) { /* look until it comes: nobody else progresses */
        struct fi_cq_err_entry err = {0};
        CHECK_OK(fi_trecvmsg(p->ep, &m, FI_PEEK | FI_COMPLETION));
        ssize_t n = fi_cq_read(p->cq, &e, 1);
        if (n == -FI_EAVAIL)
            CHECK(fi_cq_readerr(p->cq, &err, 0) == 1 && err.err == FI_ENOMSG);
        else
            found = n == 1;
    }
    CHECK(e.len == 100 && e.data == 0 && e.tag == 7);
    /* 0 stays; it is claimed, so that the next look finds 1, and so on */
    for (int i = 0; i < 4; i++) {
        uint64_t flags = i < 2 ? FI_CLAIM : FI_DISCARD;
        struct fi_cq_err_entry err = {0};
        ssize_t n;
        do {
            m.context = &ctx[i];
            CHECK_OK(fi_trecvmsg(p->ep, &m, FI_PEEK | flags | FI_COMPLETION));
            n = fi_cq_read(p->cq, &e, 1);
        } while (n == -FI_EAVAIL && fi_cq_readerr(p->cq, &err, 0) == 1 && err.err == FI_ENOMSG);
        CHECK(n == 1 && e.op_context == &ctx[i] && e.data == (uint64_t)i);
        CHECK(e.len == (i % 2 ? LONG : 100));
    }
    for (int i = 4; i < 6; i++) { /* an ordinary receive does not see the claimed ones */
        memset(in, 0, sizeof in);
        CHECK_OK(fi_trecv(p->ep, in, LONG, NULL, p->addr[0], 7, 0, &ctx[i]));
        wait_entry(p, &e);
        CHECK(e.data == (uint64_t)i && filled(in, i % 2 ? LONG : 100, 9));
    }
    m.msg_iov = &iov;
    m.iov_count = 1;
    for (int i = 1; i >= 0; i--) {
        memset(in, 0, sizeof in);
        m.context = &ctx[i];
        CHECK_OK(fi_trecvmsg(p->ep, &m, FI_CLAIM | FI_COMPLETION));
        wait_entry(p, &e);
        CHECK(e.op_context == &ctx[i] && e.data == (uint64_t)i);
        CHECK(e.len == (i % 2 ? LONG : 100) && filled(in, e.len, 9));
    }
    barrier(p);
}

static void claim_discard(process *p)
{
    struct fi_cq_tagged_entry e;
    struct fi_msg_tagged m = {.addr = p->addr[0], .tag = 7, .context = &ctx[0]};
    if (p->rank == 0) {
        CHECK_OK(fi_tsend(p->ep, big, 300, NULL, p->addr[1], 7, &ctx[0]));
        wait_context(p, &ctx[0]);
        CHECK_OK(fi_tsend(p->ep, big, LONG, NULL, p->addr[1], 7, &ctx[1]));
        wait_context(p, &ctx[1]);
        return;
    }
    for (int i = 0; i < 2; i++) {
        struct fi_cq_err_entry err = {0};
        ssize_t n;
        do {
            CHECK_OK(fi_trecvmsg(p->ep, &m, FI_PEEK | FI_CLAIM | FI_COMPLETION));
            n = fi_cq_read(p->cq, &e, 1);
        } while (n == -FI_EAVAIL && fi_cq_readerr(p->cq, &err, 0) == 1);
        CHECK(n == 1);
        CHECK_OK(fi_trecvmsg(p->ep, &m, FI_CLAIM | FI_DISCARD | FI_COMPLETION));
        wait_context(p, &ctx[0]);
    }
    CHECK_OK(fi_trecvmsg(p->ep, &m, FI_PEEK | FI_COMPLETION));
    wait_error(p, FI_ENOMSG, NULL);
}

static void cancel(process *p)
{
    int v[3] = {0}, w = 5;
    if (p->rank == 0) {
        barrier(p);
        CHECK_TAKEN(p, fi_tinject(p->ep, &w, 4, p->addr[1], 1));
        barrier(p);
        return;
    }
    for (int i = 0; i < 3; i++)
        CHECK_OK(fi_trecv(p->ep, &v[i], 4, NULL, p->addr[0], 1, 0, &ctx[i]));
    CHECK_OK(fi_cancel(&p->ep->fid, &ctx[0]));
    struct fi_cq_err_entry err;
    wait_error(p, FI_ECANCELED, &err);
    CHECK(err.op_context == &ctx[0]);
    CHECK(fi_cancel(&p->ep->fid, &ctx[0]) == -FI_ENOENT);
    barrier(p);
    wait_context(p, &ctx[1]); /* the next in line got the message */
    CHECK(v[0] == 0 && v[1] == 5);
    CHECK(fi_cancel(&p->ep->fid, &ctx[1]) == -FI_ENOENT);
    CHECK_OK(fi_cancel(&p->ep->fid, &ctx[2]));
    wait_error(p, FI_ECANCELED, NULL);
    barrier(p);
}

static void truncation(process *p)
{
    static const size_t lens[] = {50, 1000, LONG, LONG};
    fill(big, LONG, 3);
    if (p->rank == 0) {
        for (int i = 0; i < 4; i++)
            CHECK_OK(fi_tsenddata(p->ep, big, lens[i], NULL, 6, p->addr[1], 4, &ctx[i]));
        for (int i = 0; i < 4; i++) {
            struct fi_cq_tagged_entry e;
            wait_entry(p, &e);
        }
        return;
    }
    for (int i = 0; i < 4; i++) {
        struct fi_cq_err_entry err;
        size_t capacity = i == 3 ? 0 : 20;
        memset(in, 0, sizeof in);
        CHECK_OK(fi_trecv(p->ep, in, capacity, NULL, p->addr[0], 4, 0, &ctx[i]));
        wait_error(p, FI_ETRUNC, &err);
        CHECK(err.op_context == &ctx[i] && err.len == capacity && err.olen == lens[i] - capacity);
        CHECK(err.tag == 4 && err.data == 6);
        CHECK(filled(in, capacity, 3) && in[20] == 0);
    }
}

/* To itself, all lengths, before and after the receive. */
static void to_self(process *p)
{
    struct fi_cq_tagged_entry e;
    struct iovec parts[2] = {{big, 30}, {big + 30, 470}};
    fill(big, LONG, 8);
    for (int i = 0; i < 16; i++) {
        size_t len = length(i);
        memset(in, 0, sizeof in);
        if (i < 8)
            CHECK_OK(fi_trecv(p->ep, in, len, NULL, p->addr[p->rank], 1, 0, &ctx[0]));
        CHECK_OK(fi_tsend(p->ep, big, len, NULL, p->addr[p->rank], 1, &ctx[1]));
        if (i >= 8)
            CHECK_OK(fi_trecv(p->ep, in, len, NULL, FI_ADDR_UNSPEC, 1, 0, &ctx[0]));
        wait_entry(p, &e);
        wait_entry(p, &e);
        CHECK(filled(in, len, 8));
    }
    CHECK_OK(fi_tsendv(p->ep, parts, NULL, 2, p->addr[p->rank], 2, &ctx[1]));
    CHECK_OK(fi_trecv(p->ep, in, 500, NULL, p->addr[p->rank], 2, 0, &ctx[0]));
    wait_entry(p, &e);
    wait_entry(p, &e);
    CHECK(filled(in, 500, 8));
    CHECK_OK(fi_tsend(p->ep, big, LONG, NULL, p->addr[p->rank], 3, &ctx[1])); /* never received */
}

/* Messages may come before their sender was inserted: short ones can be received, long ones wait
 * for a way back. */
static void late(process *p)
{
    struct fi_cq_tagged_entry e;
    publish_address(p);
    barrier(p);
    fill(big, LONG, 4);
    if (p->rank == 0) {
        CHECK_OK(fi_trecv(p->ep, in, LONG, NULL, FI_ADDR_UNSPEC, 1, 0, &ctx[0]));
        wait_entry(p, &e);
        CHECK(e.len == 10 && filled(in, 10, 4));
        CHECK_OK(fi_trecv(p->ep, in, LONG, NULL, FI_ADDR_UNSPEC, 2, 0, &ctx[0]));
        spin(p, 20);
        insert_addresses(p);
        wait_entry(p, &e);
        CHECK(e.len == LONG && filled(in, LONG, 4));
        CHECK_OK(fi_trecv(p->ep, in, LONG, NULL, p->addr[1], 3, 0, &ctx[0])); /* the same one */
        wait_entry(p, &e);
    } else {
        insert_addresses(p);
        CHECK_OK(fi_tsend(p->ep, big, 10, NULL, p->addr[0], 1, &ctx[0]));
        CHECK_OK(fi_tsend(p->ep, big, LONG, NULL, p->addr[0], 2, &ctx[1]));
        CHECK_OK(fi_tsend(p->ep, big, 10, NULL, p->addr[0], 3, &ctx[2]));
        for (int i = 0; i < 3; i++)
            wait_entry(p, &e);
    }
}

int main(void)
{
    static const ep_options plain = {.no_context = true};
    run_test("nothing_overtakes", 2, NULL, order, NULL);
    run_test("wildcards_get_the_oldest", 3, NULL, wildcards, NULL);
    run_test("wildcards_get_the_oldest_without_contexts", 3, &plain, wildcards, NULL);
    run_test("any_tag_leaves_negative_tags_alone", 2, NULL, negative_tags, NULL);
    run_test("peek_claim_discard", 2, NULL, peek, NULL);
    run_test("claimed_messages_can_be_discarded", 2, NULL, claim_discard, NULL);
    run_test("cancel_takes_one_receive", 2, NULL, cancel, NULL);
    run_test("cancel_takes_one_receive_without_contexts", 2, &plain, cancel, NULL);
    run_test("truncation_tells_what_was_cut", 2, NULL, truncation, NULL);
    run_test("an_endpoint_sends_to_itself", 1, NULL, to_self, NULL);
    run_test("messages_of_strangers_wait", 2, &(ep_options){.late = true}, late, NULL);
    return tap_end();
}
