/* stalls_p2p.c: point-to-point calls in which rank 0 is stuck. */
#include "progress.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

static void recv_n(stall_context *st, int n)
{
    MPI_Status s;
    MPI_Recv(st->buf, n, MPI_INT, 1 - st->rank, TAG, st->comm, &s);
    stall_check(st, 1 - st->rank, n, &s);
}

static void recv_short(stall_context *st)
{
    recv_n(st, SHORT);
}
static void recv_long(stall_context *st)
{
    recv_n(st, LONG);
}
static void send_long(stall_context *st)
{
    MPI_Send(st->buf, LONG, MPI_INT, 1 - st->rank, TAG, st->comm);
}
static void ssend(stall_context *st)
{
    MPI_Ssend(st->buf, SHORT, MPI_INT, 1 - st->rank, TAG, st->comm);
}

static void recv_any(stall_context *st)
{
    MPI_Status s;
    MPI_Recv(st->buf, SHORT, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, st->comm, &s);
    stall_check(st, 1, SHORT, &s);
}

static void bsend_detach(stall_context *st)
{
    void *p;
    int n;
    MPI_Bsend(st->buf, LONG, MPI_INT, 1, TAG, st->comm);
    MPI_Buffer_detach(&p, &n);
    free(st->attached);
    st->attached = NULL;
}

static void sendrecv(stall_context *st)
{
    MPI_Status s;
    int *mine = must_alloc(LONG * sizeof(int));
    memcpy(mine, st->buf, LONG * sizeof(int));
    MPI_Sendrecv(mine, LONG, MPI_INT, 1 - st->rank, TAG, st->buf, LONG, MPI_INT, 1 - st->rank, TAG,
                 st->comm, &s);
    stall_check(st, 1 - st->rank, LONG, &s);
    free(mine);
}

static void sendrecv_replace(stall_context *st)
{
    MPI_Status s;
    MPI_Sendrecv_replace(st->buf, LONG, MPI_INT, 1 - st->rank, TAG, 1 - st->rank, TAG, st->comm,
                         &s);
    stall_check(st, 1 - st->rank, LONG, &s);
}

static void probe(stall_context *st)
{
    MPI_Status s;
    MPI_Probe(1, TAG, st->comm, &s);
    recv_short(st);
}

static void iprobe(stall_context *st)
{
    for (int flag = 0; !flag; sched_yield())
        MPI_Iprobe(1, TAG, st->comm, &flag, MPI_STATUS_IGNORE);
    recv_short(st);
}

static void mprobe_mrecv(stall_context *st)
{
    MPI_Message m;
    MPI_Status s;
    MPI_Mprobe(1, TAG, st->comm, &m, &s);
    MPI_Mrecv(st->buf, SHORT, MPI_INT, &m, &s);
    stall_check(st, 1, SHORT, &s);
}

static void improbe_imrecv(stall_context *st)
{
    MPI_Message m;
    MPI_Status s;
    MPI_Request r;
    for (int flag = 0; !flag; sched_yield())
        MPI_Improbe(1, TAG, st->comm, &flag, &m, &s);
    MPI_Imrecv(st->buf, LONG, MPI_INT, &m, &r);
    MPI_Wait(&r, &s);
    stall_check(st, 1, LONG, &s);
}

static void wait_recv(stall_context *st)
{
    MPI_Request r;
    MPI_Status s;
    MPI_Irecv(st->buf, LONG, MPI_INT, 1, TAG, st->comm, &r);
    MPI_Wait(&r, &s);
    stall_check(st, 1, LONG, &s);
}

static void persistent_recv(stall_context *st)
{
    MPI_Request r;
    MPI_Status s;
    MPI_Recv_init(st->buf, SHORT, MPI_INT, 1, TAG, st->comm, &r);
    MPI_Start(&r);
    MPI_Wait(&r, &s);
    stall_check(st, 1, SHORT, &s);
    MPI_Request_free(&r);
}

const stall p2p_stalls[] = {
    {"recv", recv_short, send_short, false},
    {"recv, long", recv_long, send_long, false},
    {"recv from any source", recv_any, send_short, false},
    {"send, long", send_long, recv_long, false},
    {"ssend", ssend, recv_short, false},
    {"bsend and buffer_detach", bsend_detach, recv_long, false},
    {"sendrecv", sendrecv, sendrecv, false},
    {"sendrecv_replace", sendrecv_replace, sendrecv_replace, false},
    {"probe", probe, send_short, false},
    {"iprobe loop", iprobe, send_short, false},
    {"mprobe and mrecv", mprobe_mrecv, send_short, false},
    {"improbe loop and imrecv", improbe_imrecv, send_long, false},
    {"wait for an irecv", wait_recv, send_long, false},
    {"wait for a persistent recv", persistent_recv, send_short, false},
    {NULL, NULL, NULL, false},
};
