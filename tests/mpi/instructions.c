/* instructions.c: N allreduces of 8 bytes in one of the forms, N calls of several kinds and sizes in turn, or
 * the lives of N communicators with some blocking ones in each, for instructions.sh to count under callgrind, which looks only into `measured`:
 * what comes before it, up to waiting for the other rank, is not the same in every run.
 *   instructions [N [nonblocking | nothing | persistent | mixed | sizes | young | lives]]
 * nothing: nonblocking ones of no elements; sizes: each call has another size; young: the calls 2 and 3 on N new communicators, which pass to the host unseen. */
#include "coll.h"
#include "testlib.h"

#include <stdlib.h>
#include <string.h>

typedef enum mode {
    BLOCKING,
    NONBLOCKING,
    NOTHING,
    PERSISTENT,
    MIXED,
    SIZES,
    YOUNG,
    LIVES,
    NMODES
} mode;

static const char *const mode_names[NMODES] = {"blocking", "nonblocking", "nothing", "persistent",
                                               "mixed",    "sizes",       "young",   "lives"};

long measured(int n, mode m);

/* Calls that outlive their call are counted one by one, when rank 1 has made the same call: so rank 0 never
 * waits. */
static void let_go_on(void)
{
    if (test_rank() == 1)
        MPI_Send(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
}

static void await_other(void)
{
    if (test_rank() == 0)
        MPI_Recv(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static long allreduce(int n, MPI_Comm comm)
{
    long in = 1, out = 0;
    for (int i = 0; i < n; i++)
        MPI_Allreduce(&in, &out, 1, MPI_LONG, MPI_SUM, comm);
    return out;
}

static long mixed(int n)
{
    enum { KINDS = 24 };
    long in[KINDS], out[KINDS] = {0};
    for (int i = 0; i < KINDS; i++)
        in[i] = 1;
    for (int i = 0; i < n; i++) {
        int count = 1 + i % KINDS / 2;
        if (i % 2)
            MPI_Allreduce(in, out, count, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        else
            MPI_Allgather(in, count, MPI_INT, out, count, MPI_INT, MPI_COMM_WORLD);
    }
    MPI_Allreduce(in, out, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    return out[0];
}

static int size_so_far;

static long sizes(int n)
{
    enum { MOST = 200 }; /* more than there are plans */
    static long in[MOST], out[MOST];
    for (int i = 0; i < MOST; i++)
        in[i] = 1;
    for (int i = 0; i < n; i++) {
        size_so_far = size_so_far % MOST + 1;
        MPI_Allreduce(in, out, size_so_far, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    }
    return out[0];
}

static long live(int n)
{
    enum { CALLS = 8 };
    long out = 0;
    for (int i = 0; i < n; i++) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        out = allreduce(CALLS, comm);
        MPI_Comm_free(&comm);
    }
    return out;
}

static long nonblocking(int count)
{
    long in = 1, out = test_size(); /* and remains it where nothing is reduced */
    MPI_Request q;
    MPI_Iallreduce(&in, &out, count, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, &q);
    let_go_on();
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    return out;
}

static MPI_Request persistent_request;
static long persistent_in = 1, persistent_out;

static void make_persistent(void)
{
    args a = {.coll = C_ALLREDUCE, .sbuf = &persistent_in, .rbuf = &persistent_out};
    a.rtype = MPI_LONG;
    a.op = MPI_SUM;
    a.comm = MPI_COMM_WORLD;
    a.ints.rcount = 1;
    coll_call(&a, F_PERSISTENT, false, &persistent_request);
}

static long persistent(void)
{
    MPI_Start(&persistent_request);
    let_go_on();
    MPI_Wait(&persistent_request, MPI_STATUS_IGNORE);
    return persistent_out;
}

static long once(mode m)
{
    return m == PERSISTENT ? persistent() : nonblocking(m == NONBLOCKING);
}

static MPI_Comm young;

/* Skein sees the first call on a communicator, and by it that the next two will pass. */
static long pass(int n)
{
    enum { UNSEEN = 2 };
    long out = 0;
    for (int i = 0; i < n; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &young);
        allreduce(1, young);
        out = measured(UNSEEN, YOUNG);
        MPI_Comm_free(&young);
    }
    return out;
}

__attribute__((noinline)) long measured(int n, mode m)
{
    return m == LIVES      ? live(n)
           : m == YOUNG    ? allreduce(n, young)
           : m == MIXED    ? mixed(n)
           : m == SIZES    ? sizes(n)
           : m == BLOCKING ? allreduce(n, MPI_COMM_WORLD)
                           : once(m);
}

static long one_by_one(int n, mode m, bool warm_up)
{
    long out = 0;
    for (int i = 0; i < n; i++) {
        await_other();
        out = warm_up ? once(m) : measured(1, m);
    }
    return out;
}

int main(int argc, char **argv)
{
    enum { WARM_UP = 50 };
    test_begin(&argc, &argv, "instructions");
    int n = argc > 1 ? atoi(argv[1]) : 1000;
    long out;
    mode m = BLOCKING;
    while (argc > 2 && m < LIVES && strcmp(argv[2], mode_names[m]) != 0)
        m++;
    if (m == PERSISTENT)
        make_persistent();
    if (m == NONBLOCKING || m == NOTHING || m == PERSISTENT) {
        one_by_one(WARM_UP, m, true);
        out = one_by_one(n, m, false);
    } else if (m == YOUNG) {
        out = pass(n / 2);
    } else {
        if (m == LIVES)
            live(WARM_UP);
        else if (m == MIXED)
            mixed(WARM_UP);
        else
            allreduce(WARM_UP, MPI_COMM_WORLD);
        out = measured(n, m);
    }
    CHECK(out == test_size(), "the sum is %ld", out);
    if (m == PERSISTENT)
        MPI_Request_free(&persistent_request);
    return test_end();
}
