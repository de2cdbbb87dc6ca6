/* concurrent.c: one thread makes collectives while another waits and so progresses them.
 *   concurrent plans N      Ineighbor_allgather, planned in the waiting thread's progress, with
 *                           Allreduces of many sizes on the same Cartesian communicator beside it
 *   concurrent deferred N   Ineighbor_allgathers of several sizes, planned in the waiting thread's
 *                           progress, while rank 0 plans Bcasts and takes no other lock
 *   concurrent free N       MPI_Request_free of started persistent collectives that the waiting
 *                           thread is about to complete
 *   concurrent setups N     many nonblocking calls before any completes: several set-ups queue up
 *   concurrent adopt N      several threads, each with new communicators of its own, which Skein begins
 *                           to serve at the same time, at each rank in another order
 *   concurrent repeat N     several threads, each with a persistent collective of its own that it starts N times
 *   concurrent zero         types of size zero through every call that packs (one thread) */
#include "host_forms.h"
#include "testlib.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

WEAK_INIT(Allreduce)

enum { TAG = 7, MOST = 64 };

/* The other thread: waits for a message that comes at the end. */
static void *waiter(void *arg)
{
    int word, from = test_rank();
    MPI_Recv(&word, 1, MPI_INT, from, TAG, *(MPI_Comm *)arg, MPI_STATUS_IGNORE);
    return NULL;
}

static MPI_Comm ring(void)
{
    int p = test_size(), periodic = 1;
    MPI_Comm cart;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &p, &periodic, 0, &cart);
    return cart;
}

static void plans(int n)
{
    int p = test_size(), me = test_rank();
    for (int i = 0; i < n; i++) {
        MPI_Comm cart = ring();
        for (int k = 0; k < 6; k++) {
            int count = 1 + (i * 7 + k * 5) % MOST, mine[MOST], both[2 * MOST], sum[MOST];
            for (int j = 0; j < MOST; j++)
                mine[j] = me * MOST + j;
            MPI_Request req;
            MPI_Ineighbor_allgather(mine, count, MPI_INT, both, count, MPI_INT, cart, &req);
            for (int len = 1; len <= MOST; len += 1 + k) {
                MPI_Allreduce(mine, sum, len, MPI_INT, MPI_SUM, cart);
                for (int j = 0; j < len; j++)
                    CHECK(sum[j] == p * (p - 1) / 2 * MOST + p * j, "allreduce of %d ints", len);
            }
            MPI_Wait(&req, MPI_STATUS_IGNORE);
            for (int j = 0; j < count; j++)
                CHECK(both[j] == (me + p - 1) % p * MOST + j &&
                          both[count + j] == (me + 1) % p * MOST + j,
                      "ineighbor_allgather of %d ints", count);
        }
        MPI_Comm_free(&cart);
    }
}

/* For the thread sanitizer, which sees no race between accesses that any lock orders. The root of a
 * broadcast of few bytes waits for nobody, so it makes no progress and takes no lock but that of the
 * plans. It pauses outside of MPI, so the waiting thread plans the other calls meanwhile. */
static void deferred(int n)
{
    enum { CALLS = 4, BCASTS = 20 };
    int p = test_size(), me = test_rank(), mine[MOST], both[CALLS][2 * MOST], sum = 0;
    for (int j = 0; j < MOST; j++)
        mine[j] = me * MOST + j;
    for (int i = 0; i < n; i++) {
        MPI_Comm cart = ring();
        MPI_Request req[CALLS];
        MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, cart);
        for (int k = 0; k < CALLS; k++)
            MPI_Ineighbor_allgather(mine, k + 1, MPI_INT, both[k], k + 1, MPI_INT, cart, &req[k]);
        for (int k = 1; k <= BCASTS; k++) {
            char word[BCASTS];
            memset(word, me, sizeof word);
            MPI_Bcast(word, k, MPI_CHAR, 0, cart);
            for (int j = 0; j < k; j++)
                CHECK(word[j] == 0, "bcast of %d bytes", k);
            usleep(1000);
        }
        MPI_Waitall(CALLS, req, MPI_STATUSES_IGNORE);
        for (int k = 0; k < CALLS; k++)
            for (int j = 0; j <= k; j++)
                CHECK(both[k][j] == (me + p - 1) % p * MOST + j &&
                          both[k][k + 1 + j] == (me + 1) % p * MOST + j,
                      "ineighbor_allgather of %d ints", k + 1);
        MPI_Comm_free(&cart);
    }
}

/* Nobody can wait for it any more, but it ends. */
static void await_value(const volatile int *at, int value)
{
    int flag;
    while (*at != value)
        MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

/* The standard wants the request inactive, but a program that errs must not damage memory. */
static void free_started(int n)
{
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    static int in[MOST], out[4][MOST]; /* may be written after the request is freed */
    if (test_on_host() || !HAVE_INIT(Allreduce)) {
        test_skip("the host forbids it");
        MPI_Comm_free(&comm);
        return;
    }
    for (int i = 0; i < n; i++) {
        MPI_Request req[4];
        in[MOST - 1] = i + 1;
        for (int k = 0; k < 4; k++)
            MPI_Allreduce_init(in, out[k], MOST, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &req[k]);
        MPI_Startall(4, req);
        for (int k = 0; k < 4; k++)
            MPI_Request_free(&req[k]);
        for (int k = 0; k < 4; k++)
            await_value(&out[k][MOST - 1], (i + 1) * test_size());
        MPI_Barrier(comm);
    }
    MPI_Request last;
    MPI_Iallreduce(MPI_IN_PLACE, in, 1, MPI_INT, MPI_SUM, comm, &last);
    MPI_Wait(&last, MPI_STATUS_IGNORE);
    MPI_Comm_free(&comm);
}

static void setups(int n)
{
    int p = test_size(), me = test_rank();
    int *both = must_alloc((size_t)n * 2 * sizeof *both);
    MPI_Request *req = must_alloc((size_t)n * sizeof *req);
    MPI_Comm cart = ring();
    for (int i = 0; i < n; i++)
        MPI_Ineighbor_allgather(&me, 1, MPI_INT, &both[2 * i], 1, MPI_INT, cart, &req[i]);
    MPI_Waitall(n, req, MPI_STATUSES_IGNORE);
    for (int i = 0; i < n; i++)
        CHECK(both[2 * i] == (me + p - 1) % p && both[2 * i + 1] == (me + 1) % p, "call %d", i);
    MPI_Comm_free(&cart);
    free(both);
    free(req);
}

static void no_op(void *in, void *inout, int *len, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)len, (void)type;
}

static void zero(void)
{
    int p = test_size(), me = test_rank(), other = (me + 1) % p, before = (me + p - 1) % p;
    MPI_Datatype nothing, gaps;
    MPI_Type_contiguous(0, MPI_INT, &nothing);
    MPI_Type_commit(&nothing);
    MPI_Type_create_resized(nothing, 0, 16, &gaps); /* no data, but an extent */
    MPI_Type_commit(&gaps);
    MPI_Op op;
    MPI_Op_create(no_op, 1, &op);
    char send[256], recv[256], attached[1024 + MPI_BSEND_OVERHEAD];
    memset(send, 1, sizeof send);
    memset(recv, 2, sizeof recv);
    int sum = 0, one = 1;
    for (int round = 0; round < 6; round++)
        for (int t = 0; t < 2; t++) {
            MPI_Datatype type = t ? gaps : nothing;
            MPI_Allgather(send, 3, type, recv, 3, type, MPI_COMM_WORLD);
            MPI_Alltoall(send, 2, type, recv, 2, type, MPI_COMM_WORLD);
            MPI_Bcast(recv, 4, type, 0, MPI_COMM_WORLD);
            MPI_Gather(send, 1, type, recv, 1, type, 0, MPI_COMM_WORLD);
            MPI_Scatter(send, 1, type, recv, 1, type, 0, MPI_COMM_WORLD);
            MPI_Allreduce(send, recv, 2, type, op, MPI_COMM_WORLD);
            MPI_Scan(send, recv, 2, type, op, MPI_COMM_WORLD);
            /* while one is active, these go through Skein's own buffers */
            MPI_Request req;
            MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &req);
            MPI_Sendrecv_replace(recv, 2, type, other, 3, before, 3, MPI_COMM_WORLD,
                                 MPI_STATUS_IGNORE);
            MPI_Buffer_attach(attached, sizeof attached);
            MPI_Bsend(send, 2, type, other, 4, MPI_COMM_WORLD);
            MPI_Recv(recv, 2, type, before, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            void *at;
            int size;
            MPI_Buffer_detach(&at, &size);
            MPI_Wait(&req, MPI_STATUS_IGNORE);
            CHECK(sum == p, "allreduce beside types of size zero");
        }
    for (size_t i = 0; i < sizeof recv; i++)
        CHECK(recv[i] == 2, "a type of size zero wrote byte %zu", i);
    MPI_Op_free(&op);
    MPI_Type_free(&gaps);
    MPI_Type_free(&nothing);
}

enum { USERS = 3 };

typedef struct user {
    MPI_Comm comm;
    int number;
} user;

static void *use_new(void *arg)
{
    user *u = arg;
    int p = test_size(), me;
    MPI_Comm_rank(u->comm, &me);
    usleep((useconds_t)((me * 7 + u->number * 5) % 4 * 50)); /* another one is first at each rank */
    for (int i = 0; i < 5; i++) {
        double one = me + u->number, sum = 0;
        MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, u->comm);
        CHECK(sum == p * (p - 1) / 2.0 + p * u->number, "thread %d: allreduce gives %g", u->number,
              sum);
        int word = me == i % p ? 100 * u->number + i : -1;
        MPI_Bcast(&word, 1, MPI_INT, i % p, u->comm);
        CHECK(word == 100 * u->number + i, "thread %d: bcast gives %d", u->number, word);
    }
    return NULL;
}

typedef struct repeated {
    MPI_Comm comm;
    MPI_Request req;
    int number, n, in[MOST], out[MOST];
} repeated;

static void *repeat(void *arg)
{
    repeated *r = arg;
    int p = test_size(), me = test_rank();
    for (int i = 0; i < r->n; i++) {
        int done = 0;
        r->in[0] = me + i;
        MPI_Start(&r->req);
        if ((i + r->number) % 3 == 0)
            while (!done)
                MPI_Test(&r->req, &done, MPI_STATUS_IGNORE);
        else if ((i + r->number) % 3 == 1)
            MPI_Waitany(1, &r->req, &done, MPI_STATUS_IGNORE);
        else
            MPI_Wait(&r->req, MPI_STATUS_IGNORE);
        CHECK(r->out[0] == p * (p - 1) / 2 + p * i, "thread %d: start %d gives %d", r->number, i,
              r->out[0]);
    }
    return NULL;
}

static void repeat_all(int n)
{
    static repeated r[USERS];
    pthread_t thread[USERS];
    if (test_on_host() || !HAVE_INIT(Allreduce)) {
        test_skip("it is about Skein's");
        return;
    }
    for (int k = 0; k < USERS; k++) {
        r[k].number = k;
        r[k].n = n;
        MPI_Comm_dup(MPI_COMM_WORLD, &r[k].comm);
        MPI_Allreduce_init(r[k].in, r[k].out, k ? MOST : 1, MPI_INT, MPI_SUM, r[k].comm,
                           MPI_INFO_NULL, &r[k].req);
    }
    for (int k = 0; k < USERS; k++)
        pthread_create(&thread[k], NULL, repeat, &r[k]);
    for (int k = 0; k < USERS; k++) {
        pthread_join(thread[k], NULL);
        MPI_Request_free(&r[k].req);
        MPI_Comm_free(&r[k].comm);
    }
}

static void adopt(int n)
{
    for (int i = 0; i < n; i++) {
        user users[USERS];
        pthread_t thread[USERS];
        for (int k = 0; k < USERS; k++) {
            users[k].number = k;
            MPI_Comm_split(MPI_COMM_WORLD, 0, i % 2 ? test_rank() : -test_rank(), &users[k].comm);
        }
        for (int k = 0; k < USERS; k++)
            pthread_create(&thread[k], NULL, use_new, &users[k]);
        for (int k = 0; k < USERS; k++) {
            pthread_join(thread[k], NULL);
            MPI_Comm_free(&users[k].comm);
        }
    }
}

int main(int argc, char **argv)
{
    int provided;
    const char *what = argc > 1 ? argv[1] : "plans";
    bool alone = strcmp(what, "zero") == 0;
    test_begin_thread(&argc, &argv, "concurrent", alone ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE,
                      &provided);
    int n = argc > 2 ? atoi(argv[2]) : 20;
    if (!alone && provided < MPI_THREAD_MULTIPLE) {
        test_skip("this MPI does not provide MPI_THREAD_MULTIPLE");
        return test_end();
    }
    test_watch(150, "%s %d", what, n);
    if (alone) {
        zero();
        return test_end();
    }
    MPI_Comm other;
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    pthread_t thread;
    pthread_create(&thread, NULL, waiter, &other);
    if (strcmp(what, "plans") == 0)
        plans(n);
    else if (strcmp(what, "deferred") == 0)
        deferred(n);
    else if (strcmp(what, "adopt") == 0)
        adopt(n);
    else if (strcmp(what, "repeat") == 0)
        repeat_all(n);
    else if (strcmp(what, "free") == 0)
        free_started(n);
    else
        setups(n);
    int word = 0;
    MPI_Send(&word, 1, MPI_INT, test_rank(), TAG, other);
    pthread_join(thread, NULL);
    MPI_Comm_free(&other);
    return test_end();
}
