/* stalls_sets.c: the many ways to complete {null, receive, collective}, until the receive is in. */
#include "progress.h"

#include <sched.h>

typedef struct set {
    MPI_Request req[3];
    MPI_Status st[3];
    bool received;
} set;

static void set_open(set *v, stall_context *st)
{
    *v = (set){.req = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, st->flight.req}};
    MPI_Irecv(st->buf, SHORT, MPI_INT, 1, TAG, st->comm, &v->req[1]);
}

static void set_took(set *v, stall_context *st, int index, MPI_Status *s)
{
    CHECK(index == 1 || index == 2, "index %d", index);
    if (index == 1) {
        stall_check(st, 1, SHORT, s);
        v->received = true;
    }
}

static void set_close(set *v, stall_context *st)
{
    CHECK(v->req[1] == MPI_REQUEST_NULL, "the receive's request is not null when done");
    st->flight.req = v->req[2];
}

static void waitall(stall_context *st)
{
    set v;
    set_open(&v, st);
    MPI_Waitall(3, v.req, v.st);
    set_took(&v, st, 1, &v.st[1]);
    CHECK(v.req[2] == MPI_REQUEST_NULL, "MPI_Waitall left a request");
    set_close(&v, st);
}

static void waitany(stall_context *st)
{
    set v;
    int index;
    set_open(&v, st);
    while (!v.received) {
        MPI_Waitany(3, v.req, &index, v.st);
        set_took(&v, st, index, v.st);
    }
    set_close(&v, st);
}

static void waitsome(stall_context *st)
{
    set v;
    int n, index[3];
    set_open(&v, st);
    while (!v.received) {
        MPI_Waitsome(3, v.req, &n, index, v.st);
        for (int i = 0; i < n; i++)
            set_took(&v, st, index[i], &v.st[i]);
    }
    set_close(&v, st);
}

static void test_receive_only(stall_context *st)
{
    set v;
    set_open(&v, st);
    for (int flag = 0; !flag; sched_yield())
        MPI_Test(&v.req[1], &flag, &v.st[1]);
    set_took(&v, st, 1, &v.st[1]);
    set_close(&v, st);
}

static void testall(stall_context *st)
{
    set v;
    set_open(&v, st);
    for (int flag = 0; !flag; sched_yield())
        MPI_Testall(3, v.req, &flag, v.st);
    set_took(&v, st, 1, &v.st[1]);
    set_close(&v, st);
}

static void testany(stall_context *st)
{
    set v;
    int index, flag;
    set_open(&v, st);
    for (; !v.received; sched_yield()) {
        MPI_Testany(3, v.req, &index, &flag, v.st);
        if (flag)
            set_took(&v, st, index, v.st);
    }
    set_close(&v, st);
}

static void testsome(stall_context *st)
{
    set v;
    int n, index[3];
    set_open(&v, st);
    for (; !v.received; sched_yield()) {
        MPI_Testsome(3, v.req, &n, index, v.st);
        for (int i = 0; i < n; i++)
            set_took(&v, st, index[i], &v.st[i]);
    }
    set_close(&v, st);
}

static void request_get_status(stall_context *st)
{
    set v;
    set_open(&v, st);
    for (int flag = 0; !flag; sched_yield())
        MPI_Request_get_status(v.req[1], &flag, &v.st[1]);
    MPI_Wait(&v.req[1], &v.st[1]);
    set_took(&v, st, 1, &v.st[1]);
    set_close(&v, st);
}

const stall set_stalls[] = {
    {"waitall", waitall, send_short, false},
    {"waitany", waitany, send_short, false},
    {"waitsome", waitsome, send_short, false},
    {"test loop", test_receive_only, send_short, false},
    {"testall loop", testall, send_short, false},
    {"testany loop", testany, send_short, false},
    {"testsome loop", testsome, send_short, false},
    {"request_get_status loop", request_get_status, send_short, false},
    {NULL, NULL, NULL, false},
};
