/* forms.c: what programs may rely on with the requests of collectives: statuses, null and inactive
 * requests, results equal on all ranks. */
#include "forms.h"
#include "coll.h"
#include "flight.h"
#include "host_forms.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the same bits everywhere ---- */

static void same_bits(MPI_Comm comm, int n, form f, bool in_place)
{
    test_watch(60, "%s allreduce of %d doubles gives the same bits on all ranks",
               form_name(f, false), n);
    double *in = must_alloc((size_t)n * sizeof *in), *out = must_alloc((size_t)n * sizeof *out),
           *root = must_alloc((size_t)n * sizeof *root);
    rng r = rng_seed(99, (uint64_t)n, (uint64_t)test_rank());
    for (int i = 0; i < n; i++)
        out[i] = in[i] = ldexp((double)(int64_t)rng_next(&r), rng_below(&r, 40) - 60);
    args a = {
        .coll = C_ALLREDUCE, .sbuf = in_place ? MPI_IN_PLACE : in, .rbuf = out, .op = MPI_SUM};
    a.rtype = MPI_DOUBLE;
    a.ints.rcount = n;
    a.comm = comm;
    MPI_Request q = MPI_REQUEST_NULL;
    coll_call(&a, f, false, &q);
    if (f == F_PERSISTENT)
        MPI_Start(&q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    if (f == F_PERSISTENT)
        MPI_Request_free(&q);
    memcpy(root, out, (size_t)n * sizeof *root);
    PMPI_Bcast(root, n, MPI_DOUBLE, 0, comm);
    CHECK(memcmp(root, out, (size_t)n * sizeof *root) == 0,
          "allreduce of %d doubles differs from rank 0", n);
    free(in);
    free(out);
    free(root);
}

static void allreduce_gives_the_same_bits(void)
{
    static const int sizes[] = {1, 2, 7, 100, 1000, 5001, 40000};
    MPI_Comm reversed;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -test_rank(), &reversed);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (form f = F_BLOCKING; f < NFORMS; f++)
            if (form_exists(C_ALLREDUCE, f, false)) {
                same_bits(MPI_COMM_WORLD, sizes[i], f, i % 2);
                same_bits(reversed, sizes[i], f, !(i % 2));
            }
    MPI_Comm_free(&reversed);
}

/* ---- statuses ---- */

enum { GARBAGE = 12345 };

static MPI_Status garbage(void)
{
    MPI_Status s;
    memset(&s, 0x5a, sizeof s);
    s.MPI_ERROR = GARBAGE;
    return s;
}

static void check_done(MPI_Request q, MPI_Status *s, int host_error, const char *call)
{
    int cancelled = 1;
    CHECK(q == MPI_REQUEST_NULL, "%s leaves the request", call);
    MPI_Test_cancelled(s, &cancelled);
    CHECK(!cancelled, "%s says a collective was cancelled", call);
    CHECK(s->MPI_ERROR == host_error, "%s sets MPI_ERROR to %d, the host's %d", call, s->MPI_ERROR,
          host_error);
}

static void single_completions_report_like_the_host(void)
{
    test_watch(30, "statuses of MPI_Wait and MPI_Test");
    int in = 1, out = 0, flag = 0;
    MPI_Request q;
    MPI_Status host = garbage(), s = garbage();
    PMPI_Iallreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &q);
    PMPI_Wait(&q, &host);
    MPI_Iallreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &q);
    MPI_Wait(&q, &s);
    check_done(q, &s, host.MPI_ERROR, "MPI_Wait");
    CHECK(out == test_size(), "MPI_Wait returned before the sum was there");
    s = garbage();
    MPI_Iallreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &q);
    while (!flag)
        MPI_Test(&q, &flag, &s);
    check_done(q, &s, host.MPI_ERROR, "MPI_Test");
}

static void waitall_takes_null_requests_and_no_statuses(void)
{
    test_watch(30, "MPI_Waitall with null requests and MPI_STATUSES_IGNORE");
    flight f[4];
    MPI_Request q[9];
    for (int i = 0; i < 9; i++)
        q[i] = MPI_REQUEST_NULL;
    for (int i = 0; i < 4; i++) {
        flight_start(&f[i], i, MPI_COMM_WORLD);
        q[2 * i + 1] = f[i].req;
    }
    MPI_Status *ignored = MPI_STATUSES_IGNORE;
    MPI_Waitall(9, q, ignored);
    for (int i = 0; i < 4; i++) {
        f[i].req = q[2 * i + 1];
        flight_land(&f[i]);
    }
    int index = 7, flag = 0, n = 7;
    MPI_Waitall(9, q, ignored);
    MPI_Waitall(0, NULL, ignored);
    MPI_Waitany(9, q, &index, MPI_STATUS_IGNORE);
    CHECK(index == MPI_UNDEFINED, "MPI_Waitany of null requests gives %d", index);
    MPI_Testall(9, q, &flag, ignored);
    CHECK(flag, "MPI_Testall of null requests gives no flag");
    MPI_Waitsome(9, q, &n, &index, ignored);
    CHECK(n == MPI_UNDEFINED, "MPI_Waitsome of null requests gives %d", n);
}

/* ---- persistent ---- */

static void check_empty(MPI_Status *s, const char *call)
{
    int count = -1, cancelled = 1;
    MPI_Get_count(s, MPI_BYTE, &count);
    MPI_Test_cancelled(s, &cancelled);
    CHECK(s->MPI_SOURCE == MPI_ANY_SOURCE && s->MPI_TAG == MPI_ANY_TAG && count == 0 && !cancelled,
          "%s of an inactive request: source %d tag %d count %d", call, s->MPI_SOURCE, s->MPI_TAG,
          count);
}

static void inactive_requests_complete_at_once(MPI_Request *q)
{
    int flag = 0, index = 0, n = 0;
    MPI_Status s = garbage();
    MPI_Wait(q, &s);
    check_empty(&s, "MPI_Wait");
    s = garbage();
    MPI_Test(q, &flag, &s);
    CHECK(flag, "MPI_Test of an inactive request gives no flag");
    check_empty(&s, "MPI_Test");
    s = garbage();
    flag = 0;
    MPI_Request_get_status(*q, &flag, &s);
    CHECK(flag, "MPI_Request_get_status of an inactive request gives no flag");
    check_empty(&s, "MPI_Request_get_status");
    MPI_Waitall(1, q, &s);
    MPI_Waitany(1, q, &index, &s);
    CHECK(index == MPI_UNDEFINED, "MPI_Waitany of an inactive request gives %d", index);
    MPI_Testany(1, q, &index, &flag, &s);
    CHECK(flag && index == MPI_UNDEFINED, "MPI_Testany of an inactive request gives %d, %d", flag,
          index);
    MPI_Waitsome(1, q, &n, &index, &s);
    CHECK(n == MPI_UNDEFINED, "MPI_Waitsome of an inactive request gives %d", n);
    MPI_Testsome(1, q, &n, &index, &s);
    CHECK(n == MPI_UNDEFINED, "MPI_Testsome of an inactive request gives %d", n);
    CHECK(*q != MPI_REQUEST_NULL, "an inactive request was freed");
}

static void persistent_requests_start_and_rest(void)
{
    if (test_on_host() || !form_exists(C_ALLREDUCE, F_PERSISTENT, false)) {
        test_skip("persistent collectives");
        return;
    }
    test_watch(30, "inactive persistent requests, MPI_Startall with messages among collectives");
    int in = 0, out = 0, got = -1, me = test_rank(), p = test_size();
    args a = {.coll = C_ALLREDUCE, .sbuf = &in, .rbuf = &out, .rtype = MPI_INT, .op = MPI_SUM};
    a.comm = MPI_COMM_WORLD;
    a.ints.rcount = 1;
    MPI_Request q[3];
    MPI_Recv_init(&got, 1, MPI_INT, (me + p - 1) % p, 3, MPI_COMM_WORLD, &q[0]);
    coll_call(&a, F_PERSISTENT, false, &q[1]);
    MPI_Send_init(&me, 1, MPI_INT, (me + 1) % p, 3, MPI_COMM_WORLD, &q[2]);
    inactive_requests_complete_at_once(&q[1]);
    for (int round = 1; round <= 3; round++) {
        in = round;
        MPI_Startall(3, q);
        MPI_Waitall(3, q, MPI_STATUSES_IGNORE);
        CHECK(out == round * p && got == (me + p - 1) % p, "round %d gives %d and %d", round, out,
              got);
        inactive_requests_complete_at_once(&q[1]);
    }
    for (int i = 0; i < 3; i++) {
        MPI_Request_free(&q[i]);
        CHECK(q[i] == MPI_REQUEST_NULL, "MPI_Request_free leaves the handle");
    }
}

/* Allreduces of many lengths, some through small slots, some read in place. */
enum { ORDERED = 12, LONGEST = 100000 };

typedef struct ordered {
    MPI_Request q;
    int n, *in, *out;
} ordered;

static void ordered_init(ordered *o, int k, MPI_Comm comm)
{
    args a = {.coll = C_ALLREDUCE, .rtype = MPI_INT, .op = MPI_SUM, .comm = comm};
    o->n = k % 3 == 0 ? k + 1 : k % 3 == 1 ? 500 * k : LONGEST / (k + 1);
    a.sbuf = o->in;
    a.rbuf = o->out;
    a.ints.rcount = o->n;
    coll_call(&a, F_PERSISTENT, false, &o->q);
}

static void ordered_check(const ordered *o, int k, int round)
{
    int p = test_size(), want = p * (p - 1) / 2 + p * (k + round);
    for (int i = 0; i < o->n; i++)
        if (o->out[i] != want) {
            CHECK(false, "round %d, allreduce %d: element %d is %d, not %d", round, k, i, o->out[i],
                  want);
            return;
        }
}

/* Other collectives run between the starts; some requests are made anew, freed in another order at every
 * rank. */
static void persistent_requests_start_in_any_order(MPI_Comm comm)
{
    enum { ROUNDS = 12 };
    if (test_on_host() || !form_exists(C_ALLREDUCE, F_PERSISTENT, false))
        return;
    test_watch(60, "persistent collectives, started in another order at every rank");
    ordered o[ORDERED];
    int me = test_rank(), p = test_size();
    for (int k = 0; k < ORDERED; k++) {
        o[k].in = must_alloc(LONGEST * sizeof(int));
        o[k].out = must_alloc(LONGEST * sizeof(int));
        ordered_init(&o[k], k, comm);
    }
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Request beside;
        int sum = 0, word = round;
        for (int k = 0; k < ORDERED; k++)
            for (int i = 0; i < o[k].n; i++)
                o[k].in[i] = me + k + round;
        MPI_Iallreduce(&me, &sum, 1, MPI_INT, MPI_SUM, comm, &beside);
        for (int i = 0; i < ORDERED; i++) {
            int k = (i * 5 + me * 7 + round) % ORDERED;
            MPI_Start(&o[k].q);
            if (i == ORDERED / 2)
                MPI_Bcast(&word, 1, MPI_INT, round % p, comm);
        }
        for (int i = 0; i < ORDERED; i++)
            MPI_Wait(&o[(i * 7 + me) % ORDERED].q, MPI_STATUS_IGNORE);
        MPI_Wait(&beside, MPI_STATUS_IGNORE);
        CHECK(sum == p * (p - 1) / 2, "round %d: iallreduce beside gives %d", round, sum);
        for (int k = 0; k < ORDERED; k++)
            ordered_check(&o[k], k, round);
        for (int i = 0; i < ORDERED; i++)
            if ((i + me) % ORDERED % 2 == round % 2)
                MPI_Request_free(&o[(i + me) % ORDERED].q);
        for (int k = 0; k < ORDERED; k++)
            if (o[k].q == MPI_REQUEST_NULL)
                ordered_init(&o[k], k, comm);
    }
    for (int k = 0; k < ORDERED; k++) {
        MPI_Request_free(&o[k].q);
        free(o[k].in);
        free(o[k].out);
    }
}

/* More than the node's memory has space for. */
static void persistent_requests_may_be_many(MPI_Comm comm)
{
    enum { MANY = 600 };
    if (test_on_host() || !form_exists(C_ALLREDUCE, F_PERSISTENT, false))
        return;
    test_watch(60, "many persistent collectives");
    MPI_Request q[MANY];
    int in[MANY], out[MANY], p = test_size();
    args a = {.coll = C_ALLREDUCE, .rtype = MPI_INT, .op = MPI_SUM, .comm = comm};
    a.ints.rcount = 1;
    for (int k = 0; k < MANY; k++) {
        a.sbuf = &in[k];
        a.rbuf = &out[k];
        coll_call(&a, F_PERSISTENT, false, &q[k]);
    }
    for (int round = 0; round < 3; round++) {
        for (int k = 0; k < MANY; k++)
            in[k] = k + round;
        MPI_Startall(MANY, q);
        MPI_Waitall(MANY, q, MPI_STATUSES_IGNORE);
        for (int k = 0; k < MANY; k++)
            CHECK(out[k] == p * (k + round), "round %d: allreduce %d of many gives %d", round, k,
                  out[k]);
    }
    for (int k = 0; k < MANY; k++)
        MPI_Request_free(&q[k]);
}

/* The host may make its next request of what Skein's has left. */
static void host_requests_may_follow(void)
{
    if (test_on_host() || !form_exists(C_BARRIER, F_PERSISTENT, false)) {
        test_skip("persistent collectives");
        return;
    }
    test_watch(30, "a persistent barrier of the host after one of Skein");
    args a = {.coll = C_BARRIER, .comm = MPI_COMM_WORLD};
    MPI_Request q;
    for (int i = 0; i < 3; i++) {
        coll_call(&a, F_PERSISTENT, false, &q);
        MPI_Request_free(&q);
        HOST_INIT(Barrier)(MPI_COMM_WORLD, MPI_INFO_NULL, &q);
        PMPI_Start(&q);
        PMPI_Wait(&q, MPI_STATUS_IGNORE);
        PMPI_Request_free(&q);
    }
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv, "forms");
    MPI_Comm c;
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    test_adopt(c);
    allreduce_gives_the_same_bits();
    single_completions_report_like_the_host();
    waitall_takes_null_requests_and_no_statuses();
    persistent_requests_start_and_rest();
    persistent_requests_start_in_any_order(MPI_COMM_WORLD);
    persistent_requests_start_in_any_order(c);
    persistent_requests_may_be_many(c);
    host_requests_may_follow();
    handles_may_be_freed_after_the_start();
    wildcards_see_no_collective(MPI_COMM_WORLD);
    wildcards_see_no_collective(c);
    blocks_may_follow_bottom();
    generalized_requests_are_left_alone();
    MPI_Comm_free(&c);
    return test_end();
}
