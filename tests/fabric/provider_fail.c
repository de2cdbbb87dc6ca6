/* provider_fail.c: a peer ends without a word. Those who wait for it are told; nothing else breaks.
 */
#include "provider.h"

#include <dirent.h>
#include <signal.h>
#include <time.h>

enum { LONG = 200000, MANY = 50 };

static struct fi_context2 ctx[4 * MANY];
static char big[LONG], in[LONG];

static void die(process *p)
{
    leave_barriers(p);
    kill(getpid(), SIGKILL);
}

/* The errors of what waits for rank 1, in any order; others complete well. */
static void collect(process *p, int errors, int good)
{
    while (errors || good) {
        struct fi_cq_tagged_entry e;
        struct fi_cq_err_entry err = {0};
        ssize_t n = fi_cq_read(p->cq, &e, 1);
        if (n == 1) {
            good--;
        } else if (n == -FI_EAVAIL) {
            CHECK(fi_cq_readerr(p->cq, &err, 0) == 1);
            CHECK(err.err != FI_ECANCELED && err.err != FI_ETRUNC && err.op_context);
            errors--;
        } else {
            CHECK(n == -FI_EAGAIN);
        }
        CHECK(errors >= 0 && good >= 0);
    }
}

/* Rank 1 has not answered offers, has offered itself, and is waited for. */
static void killed(process *p)
{
    int v = 1, w = 0;
    if (p->rank == 1) {
        CHECK_OK(fi_tsend(p->ep, big, LONG, NULL, p->addr[0], 9, &ctx[0]));
        CHECK_TAKEN(p, fi_tinject(p->ep, &v, sizeof v, p->addr[0], 8));
        spin(p, 50);
        barrier(p);
        die(p);
    }
    if (p->rank == 2) {
        barrier(p);
        spin(p, 200);
        CHECK_TAKEN(p, fi_tinject(p->ep, &v, sizeof v, p->addr[0], 1));
        return;
    }
    for (int i = 0; i < MANY; i++)
        CHECK_OK(fi_tsend(p->ep, big, LONG, NULL, p->addr[1], 1, &ctx[i]));
    for (int i = 0; i < MANY; i++)
        CHECK_OK(fi_trecv(p->ep, in, 4, NULL, p->addr[1], 100, 0, &ctx[MANY + i]));
    CHECK_OK(fi_trecv(p->ep, &w, sizeof w, NULL, FI_ADDR_UNSPEC, 1, 0, &ctx[2 * MANY]));
    spin(p, 50);
    barrier(p);
    collect(p, 2 * MANY, 1); /* the wildcard gets rank 2's message */
    CHECK(w == 1);
    /* what had come whole can be received, what had not ends in an error */
    CHECK_OK(fi_trecv(p->ep, &w, sizeof w, NULL, p->addr[1], 8, 0, &ctx[0]));
    wait_context(p, &ctx[0]);
    CHECK_OK(fi_trecv(p->ep, in, LONG, NULL, p->addr[1], 9, 0, &ctx[0]));
    collect(p, 1, 0);
    CHECK_OK(fi_trecv(p->ep, in, LONG, NULL, p->addr[1], 10, 0, &ctx[0]));
    collect(p, 1, 0);
    CHECK(fi_tsend(p->ep, &v, sizeof v, NULL, p->addr[1], 1, &ctx[0]) == -FI_ECONNRESET);
    CHECK(fi_tinject(p->ep, &v, sizeof v, p->addr[1], 1) == -FI_ECONNRESET);
}

/* Rank 1 is killed while data flows both ways. */
static void killed_at_work(process *p)
{
    struct timespec nap = {0, 5000000L * (1 + rand() % 5)};
    if (p->rank == 1)
        leave_barriers(p);
    if (p->rank == 1 && fork() == 0) { /* somebody else does it, in the middle */
        nanosleep(&nap, NULL);
        kill(getppid(), SIGKILL);
        _exit(0);
    }
    fi_addr_t other = p->addr[1 - p->rank];
    for (int round = 0, waits = 0;; round++) {
        struct fi_cq_tagged_entry e;
        struct fi_cq_err_entry err = {0};
        size_t len = round % 2 ? LONG : 500;
        if (fi_tsend(p->ep, big, len, NULL, other, 1, &ctx[0]) != 0)
            break;
        CHECK_OK(fi_trecv(p->ep, in, LONG, NULL, other, 1, 0, &ctx[1]));
        for (waits = 2; waits;) {
            ssize_t n = fi_cq_read(p->cq, &e, 1);
            if (n == -FI_EAVAIL)
                CHECK(fi_cq_readerr(p->cq, &err, 0) == 1);
            waits -= n == 1 || n == -FI_EAVAIL;
        }
        if (err.err)
            break;
    }
    CHECK(p->rank == 0);
}

/* A peer that closes its endpoint is as gone, but what it has sent arrives. */
static void closed(process *p)
{
    int v = 3;
    if (p->rank == 1) {
        CHECK_TAKEN(p, fi_tinject(p->ep, &v, sizeof v, p->addr[0], 1));
        spin(p, 100); /* time for the network to take it */
        barrier(p);
        leave_barriers(p);
        CHECK_OK(fi_close(&p->ep->fid));
        exit(0);
    }
    barrier(p);
    CHECK_OK(fi_trecv(p->ep, &v, sizeof v, NULL, p->addr[1], 1, 0, &ctx[0]));
    wait_context(p, &ctx[0]);
    ssize_t rc = fi_tsend(p->ep, big, LONG, NULL, p->addr[1], 1, &ctx[1]);
    CHECK(rc == 0 || rc == -FI_ECONNRESET); /* it may be known already */
    collect(p, rc == 0, 0);
}

static int open_files(void)
{
    int n = 0;
    DIR *d = opendir("/proc/self/fd");
    CHECK(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

/* An endpoint is closed while its message waits for a receive: nothing of it is left open. */
static void closed_early(process *p)
{
    int before = open_files();
    if (p->rank == 1) {
        barrier(p);
        return;
    }
    struct fid_ep *ep;
    struct fid_cq *cq;
    struct fi_cq_attr attr = {.format = FI_CQ_FORMAT_TAGGED};
    CHECK_OK(fi_cq_open(p->domain, &attr, &cq, NULL));
    CHECK_OK(fi_endpoint(p->domain, p->info, &ep, NULL));
    CHECK_OK(fi_ep_bind(ep, &p->av->fid, 0));
    CHECK_OK(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV));
    CHECK_OK(fi_enable(ep));
    CHECK_OK(fi_tsend(ep, big, LONG, NULL, p->addr[1], 1, &ctx[0]));
    for (int i = 0; i < MANY; i++) {
        spin(p, 1);
        CHECK(fi_cq_read(cq, NULL, 0) == -FI_EAGAIN);
    }
    CHECK_OK(fi_close(&ep->fid));
    CHECK_OK(fi_close(&cq->fid));
    CHECK(open_files() == before);
    barrier(p);
}

int main(void)
{
    run_test("a_killed_peer_is_told_of", 3, NULL, killed, NULL);
    for (int i = 0; i < 5; i++) {
        srand((unsigned)i);
        run_test("killed_at_work", 2, NULL, killed_at_work, NULL);
    }
    run_test("a_closed_peer_is_gone", 2, NULL, closed, NULL);
    run_test("an_endpoint_that_is_closed_early_leaves_nothing", 2, NULL, closed_early, NULL);
    return tap_end();
}
