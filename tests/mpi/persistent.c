/* persistent.c: persistent requests that Skein and the host serve by turns. Each rank starts them in an order of its own, with
 * delays, and completes them in many ways. Now and then some are freed, whatever the guard is about, and made again. All
 * ranks must decide alike, and every result is checked.
 *   persistent SEED STARTS [none | some | tuned]    nothing may be tried on the host, or something must be; a tuning file
 *                                                   may have the host serve even reductions that may round, but all starts
 *   persistent SEED STARTS host             one allreduce, whose last starts must be the host's: Skein's choice is a poor one */
#include "coll.h"
#include "testlib.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NREQUESTS = 7, MOST = 3000, SETS = 2 };
static const int sizes[NREQUESTS] = {1, 60, MOST, 700, 1, 2000, 3};
static const coll colls[NREQUESTS] = {C_ALLREDUCE, C_BCAST,     C_ALLTOALL, C_GATHERV,
                                      C_BARRIER,   C_ALLREDUCE, C_ALLGATHER};

/* One request with its buffers. */
typedef struct item {
    args a;
    int root, k; /* k: which start */
    int *in, *out, *counts, *displs;
} item;

static int me, p;

/* What rank r has for rank q in this start. */
static int value(const item *x, int r, int q, int i)
{
    return r * 1000003 + q * 10007 + i * 31 + x->k;
}

static bool to_each(const item *x)
{
    return x->a.coll == C_ALLTOALL;
}

static void fill(item *x)
{
    int n = x->a.ints.rcount;
    for (int q = 0; q < (to_each(x) ? p : 1); q++)
        for (int i = 0; i < n; i++)
            x->in[q * n + i] = value(x, me, q, i);
    for (int i = 0; i < p * n; i++)
        x->out[i] = -1;
    if (x->a.coll == C_BCAST && me == x->root)
        memcpy(x->out, x->in, sizeof(int) * (size_t)n);
}

static int sum(const item *x, int i)
{
    unsigned all = 0;
    for (int r = 0; r < p; r++)
        all += (unsigned)value(x, r, 0, i);
    return (int)all;
}

static int expected(const item *x, int at)
{
    int n = x->a.ints.rcount, r = at / n, i = at % n;
    switch (x->a.coll) {
    case C_ALLREDUCE:
        return sum(x, i);
    case C_BCAST:
        return value(x, x->root, 0, i);
    default:
        return value(x, r, to_each(x) ? me : 0, i);
    }
}

static void check(const item *x)
{
    int n = x->a.ints.rcount;
    bool blocks = x->a.coll == C_ALLTOALL || x->a.coll == C_ALLGATHER || x->a.coll == C_GATHERV;
    if (x->a.coll == C_BARRIER || (x->a.coll == C_GATHERV && me != x->root))
        return;
    for (int at = 0; at < (blocks ? p : 1) * n; at++)
        CHECK(x->out[at] == expected(x, at), "start %d of %s, %d ints: out[%d] is %d, not %d", x->k,
              coll_name(x->a.coll), n, at, x->out[at], expected(x, at));
}

static item new_item(int which, MPI_Comm comm)
{
    size_t most = sizeof(int) * (size_t)p * MOST, n = sizeof(int) * (size_t)p;
    item x = {.root = which % p,
              .in = must_alloc(most),
              .out = must_alloc(most),
              .counts = must_alloc(n),
              .displs = must_alloc(n)};
    for (int r = 0; r < p; r++) {
        x.counts[r] = sizes[which];
        x.displs[r] = r * sizes[which];
    }
    bool bcast = colls[which] == C_BCAST;
    x.a = (args){.coll = colls[which],
                 .sbuf = bcast ? NULL : x.in,
                 .rbuf = x.out,
                 .stype = MPI_INT,
                 .rtype = MPI_INT,
                 .op = MPI_SUM,
                 .root = x.root,
                 .comm = comm};
    x.a.ints = (counts){
        .scount = sizes[which], .rcount = sizes[which], .rcounts = x.counts, .rdispls = x.displs};
    return x;
}

static void free_item(item *x)
{
    free(x->in);
    free(x->out);
    free(x->counts);
    free(x->displs);
}

/* Some order of the n first numbers. */
static void shuffle(int *order, int n, unsigned *seed)
{
    for (int i = 0; i < n; i++) {
        int j = rand_r(seed) % (i + 1);
        order[i] = order[j];
        order[j] = i;
    }
}

static void complete_one_by_one(int n, MPI_Request *q, const int *order, bool test)
{
    for (int i = 0; i < n; i++) {
        int done = 0;
        while (test && !done)
            MPI_Test(&q[order[i]], &done, MPI_STATUS_IGNORE);
        if (!test)
            MPI_Wait(&q[order[i]], MPI_STATUS_IGNORE);
    }
}

/* Any of the ways that a program has. */
static void complete(int n, MPI_Request *q, const int *order, unsigned *seed)
{
    int done = 0, index, indices[SETS * NREQUESTS];
    switch (rand_r(seed) % 7) {
    case 0:
        complete_one_by_one(n, q, order, false);
        break;
    case 1:
        complete_one_by_one(n, q, order, true);
        break;
    case 2:
        while (!done)
            MPI_Testall(n, q, &done, MPI_STATUSES_IGNORE);
        break;
    case 3:
        for (int i = 0; i < n; i++)
            MPI_Waitany(n, q, &index, MPI_STATUS_IGNORE);
        break;
    case 4:
        for (int left = n, some; left > 0; left -= some)
            MPI_Waitsome(n, q, &some, indices, MPI_STATUSES_IGNORE);
        break;
    case 5:
        MPI_Wait(&q[order[0]], MPI_STATUS_IGNORE);
        while (!done)
            MPI_Request_get_status(q[order[n - 1]], &done, MPI_STATUS_IGNORE);
        MPI_Waitall(n, q, MPI_STATUSES_IGNORE);
        break;
    default:
        MPI_Waitall(n, q, MPI_STATUSES_IGNORE);
    }
}

/* All ranks start the same of them, each rank in its own order. */
static void start_all(int n, item *x, MPI_Request *q, const int *order, unsigned *seed)
{
    for (int i = 0; i < n; i++)
        fill(&x[i]);
    bool together = rand_r(seed) % 4 == 0;
    if (together)
        MPI_Startall(n, q);
    for (int i = 0; !together && i < n; i++) {
        if (rand_r(seed) % 32 == 0)
            usleep((unsigned)rand_r(seed) % 200);
        MPI_Start(&q[order[i]]);
        if (rand_r(seed) % 8 == 0)
            MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_SELF, &(int){0}, MPI_STATUS_IGNORE);
    }
}

static long long by_host(void)
{
    long long n = 0;
    return test_counter("host", &n) ? n : 0;
}

static void make(item *x, MPI_Request *q)
{
    CHECK(coll_call(&x->a, F_PERSISTENT, false, q) == MPI_SUCCESS, "no request of %s",
          coll_name(x->a.coll));
}

static void many(unsigned seed, int starts)
{
    enum { N = SETS * NREQUESTS };
    MPI_Comm comm[SETS];
    item x[N];
    MPI_Request q[N];
    int order[N];
    unsigned same = seed, mine = seed + 7919U * (unsigned)(me + 1);
    for (int i = 0; i < N; i++) {
        if (i % NREQUESTS == 0)
            MPI_Comm_dup(MPI_COMM_WORLD, &comm[i / NREQUESTS]);
        x[i] = new_item(i % NREQUESTS, comm[i / NREQUESTS]);
        make(&x[i], &q[i]);
    }
    for (int k = 0; k < starts; k++) {
        int n = rand_r(&same) % 3 ? N : 1 + rand_r(&same) % N;
        test_watch(60, "start %d of %d requests", k, n);
        for (int i = 0; i < n; i++)
            x[i].k = k;
        shuffle(order, n, &mine);
        start_all(n, x, q, order, &mine);
        if (rand_r(&same) % 8 == 0)
            MPI_Barrier(rand_r(&same) % 2 ? comm[0] : MPI_COMM_WORLD);
        complete(n, q, order, &mine);
        for (int i = 0; i < n; i++)
            check(&x[i]);
        int again = rand_r(&same) % N;
        if (rand_r(&same) % 32 == 0) {
            MPI_Request_free(&q[again]);
            make(&x[again], &q[again]);
        }
    }
    for (int i = 0; i < SETS; i++)
        MPI_Comm_free(&comm[i]); /* the requests are still good */
    shuffle(order, N, &mine);
    start_all(N, x, q, order, &mine);
    complete(N, q, order, &mine);
    for (int i = 0; i < N; i++) {
        check(&x[i]);
        MPI_Request_free(&q[i]);
        free_item(&x[i]);
    }
}

/* Freed before it is over, which the library allows. Nobody knows when it is: its buffers are to be freed after MPI_Finalize. */
static item freed_while_active(int starts)
{
    item x = new_item(1, MPI_COMM_WORLD);
    MPI_Request q;
    for (int all = 1; all < starts; all = all * 3 / 2 + 1) {
        test_watch(60, "a request that is freed in its start %d", all);
        make(&x, &q);
        for (int k = 0; k < all; k++) {
            MPI_Start(&q);
            if (k < all - 1)
                MPI_Wait(&q, MPI_STATUS_IGNORE);
        }
        MPI_Request_free(&q);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return x;
}

/* Its communicator is freed before it is compared, and other memory takes its place. */
static void on_a_freed_communicator(int starts)
{
    enum { BLOCKS = 40, STEP = 16, LEAST = 200 };
    MPI_Comm comm;
    MPI_Request q;
    char *block[BLOCKS];
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    item x = new_item(0, comm);
    make(&x, &q);
    MPI_Comm_free(&comm);
    for (int i = 0; i < BLOCKS; i++)
        memset(block[i] = must_alloc(LEAST + STEP * (size_t)i), 'x', LEAST);
    for (int k = 0; k < starts; k++) {
        test_watch(60, "start %d on a freed communicator", x.k = k);
        fill(&x);
        MPI_Start(&q);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
        check(&x);
    }
    MPI_Request_free(&q);
    for (int i = 0; i < BLOCKS; i++)
        free(block[i]);
    free_item(&x);
}

/* Bits must not change between starts. */
static void rounds(int starts, bool tuned)
{
    static double in, out;
    args a = {.coll = C_ALLREDUCE,
              .sbuf = &in,
              .rbuf = &out,
              .stype = MPI_DOUBLE,
              .rtype = MPI_DOUBLE,
              .op = MPI_SUM,
              .comm = MPI_COMM_WORLD};
    MPI_Request q;
    a.ints.scount = a.ints.rcount = 1;
    long long before = by_host();
    coll_call(&a, F_PERSISTENT, false, &q);
    in = 0.1 * (me + 1);
    for (int k = 0; k < starts; k++) {
        MPI_Start(&q);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
    }
    long long hosts = by_host() - before;
    CHECK(hosts == 0 || (tuned && hosts == starts) || test_on_host(),
          "the host has served %lld of %d reductions that may round", hosts, starts);
    MPI_Request_free(&q);
}

/* How many of the last starts of one allreduce are the host's, at all ranks. */
static long long last_by_host(int starts)
{
    item x = new_item(1, MPI_COMM_WORLD);
    long long before = 0;
    MPI_Request q;
    x.a.coll = C_ALLREDUCE;
    x.a.sbuf = x.in;
    make(&x, &q);
    for (int k = 0; k < starts; k++) {
        if (k == starts / 2)
            before = by_host();
        test_watch(60, "start %d", x.k = k);
        fill(&x);
        MPI_Start(&q);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
        check(&x);
    }
    long long hosts = by_host() - before;
    PMPI_Allreduce(MPI_IN_PLACE, &hosts, 1, MPI_LONG_LONG, MPI_MIN, MPI_COMM_WORLD);
    MPI_Request_free(&q);
    free_item(&x);
    return hosts;
}

/* So many that they are no comparison, of one of three requests: a comparison may be disturbed. */
static void host_wins(int starts)
{
    long long hosts = 0;
    for (int i = 0; i < 3 && hosts <= starts / 4; i++)
        hosts = last_by_host(starts);
    CHECK(hosts > starts / 4, "of the last %d starts the host has served only %lld", starts / 2,
          hosts);
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv, "persistent");
    unsigned seed = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 1;
    int starts = argc > 2 ? atoi(argv[2]) : 300;
    const char *want = argc > 3 ? argv[3] : "";
    me = test_rank();
    p = test_size();
    if (!form_exists(C_ALLREDUCE, F_PERSISTENT, false) || test_on_host())
        return test_end();
    if (strcmp(want, "host") == 0) {
        host_wins(starts);
        return test_end();
    }
    many(seed, starts);
    long long tried = by_host();
    CHECK(tried == 0 || strcmp(want, "none") != 0, "the host has served %lld calls", tried);
    CHECK(tried > 0 || strcmp(want, "some") != 0, "the host has served no calls");
    rounds(starts, strcmp(want, "tuned") == 0);
    on_a_freed_communicator(starts);
    item freed = freed_while_active(starts < 100 ? starts : 100);
    int status = test_end();
    free_item(&freed);
    return status;
}
