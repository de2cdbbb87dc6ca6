#include "mpi/state/network_probe.h"

#include "mpi/state/process.h"

enum {
    ROUND_TRIPS = 6, /* the first ones connect and warm up */
    TRAINS = 2,
    LONG_TRIPS = 3,
    BURSTS = 4,
    SHOTS = 4, /* short messages in each direction */
    CARS = 4,  /* long messages, one after the other, */
    CAR_BYTES = 16 << 10,
    CARRIERS = 8 /* ranks of a node that send long messages at once, at most */
};

typedef struct sk_net_probe {
    MPI_Comm wire;
    int peer;
    bool failed;
    char bytes[CAR_BYTES], in[CAR_BYTES];
} sk_net_probe;

static void send(sk_net_probe *p, int bytes, int to)
{
    p->failed |= sk_host.Send(p->bytes, bytes, MPI_BYTE, to, 0, p->wire) != MPI_SUCCESS;
}

static void recv(sk_net_probe *p, int bytes, int from)
{
    p->failed |=
        sk_host.Recv(p->bytes, bytes, MPI_BYTE, from, 0, p->wire, MPI_STATUS_IGNORE) != MPI_SUCCESS;
}

static void keep_least(int64_t *least, double seconds)
{
    int64_t ps = (int64_t)(seconds * 1e12);
    ps = ps > 0 ? ps : 1;
    *least = *least == 0 || ps < *least ? ps : *least;
}

/* A message and its answer. */
static void measure_latency(sk_net_probe *p, sk_network *n)
{
    for (int i = 0; i < ROUND_TRIPS; i++) {
        double begin = sk_clock();
        send(p, 1, p->peer);
        recv(p, 1, p->peer);
        keep_least(&n->latency, (sk_clock() - begin) / 2);
    }
}

static void measure_rate(sk_net_probe *p, sk_network *n)
{
    double trip = 2e-12 * (double)n->latency;
    for (int i = 0; i < TRAINS; i++) {
        double begin = sk_clock();
        for (int k = 0; k < CARS; k++)
            send(p, CAR_BYTES, p->peer);
        recv(p, 1, p->peer);
        double all = sk_clock() - begin, rest = all > 2 * trip ? all - trip : all / 2;
        keep_least(&n->byte, rest / (CARS * CAR_BYTES));
    }
}

/* A long message and its answer: what that takes beyond two ways and two ports. Many hosts send messages of this
 * length at once, others wait until they are asked for. */
static void measure_handshake(sk_net_probe *p, sk_network *n)
{
    double known = 2e-12 * ((double)n->latency + CAR_BYTES * (double)n->byte);
    for (int i = 0; i < LONG_TRIPS; i++) {
        double begin = sk_clock();
        send(p, CAR_BYTES, p->peer);
        recv(p, 1, p->peer);
        keep_least(&n->handshake, sk_clock() - begin - known);
    }
}

static void answer(sk_net_probe *p)
{
    for (int i = 0; i < ROUND_TRIPS; i++) {
        recv(p, 1, p->peer);
        send(p, 1, p->peer);
    }
    for (int i = 0; i < TRAINS; i++) {
        for (int k = 0; k < CARS; k++)
            recv(p, CAR_BYTES, p->peer);
        send(p, 1, p->peer);
    }
    for (int i = 0; i < LONG_TRIPS; i++) {
        recv(p, CAR_BYTES, p->peer);
        send(p, 1, p->peer);
    }
}

/* Where ranks share cores: what it takes until the next rank runs, from a message that goes round the node. */
static void measure_stage(sk_net_probe *p, const int *ranks, int n, int me, sk_network *out)
{
    int next = ranks[(me + 1) % n], last = ranks[(me + n - 1) % n];
    for (int i = 0; i < TRAINS; i++) {
        double begin = sk_clock();
        if (me == 0)
            send(p, 1, next);
        recv(p, 1, last);
        if (me > 0)
            send(p, 1, next);
        else
            keep_least(&out->stage, (sk_clock() - begin) / n);
    }
}

/* All ranks at once exchange short messages with another node: what one takes while cores and ports are busy. */
static void measure_message(sk_net_probe *p, sk_network *n)
{
    MPI_Request r[2 * SHOTS];
    MPI_Status status[2 * SHOTS];
    char in[SHOTS], out[SHOTS] = {0};
    double begin = 0;
    for (int i = 0; i < BURSTS; i++) {
        for (int k = 0; k < SHOTS; k++)
            p->failed |= sk_host.Irecv(&in[k], 1, MPI_BYTE, p->peer, 0, p->wire, &r[k]) ||
                         sk_host.Isend(&out[k], 1, MPI_BYTE, p->peer, 0, p->wire, &r[SHOTS + k]);
        p->failed |= sk_host.Waitall(2 * SHOTS, r, status) != MPI_SUCCESS;
        begin = i ? begin : sk_clock(); /* the first one connects */
    }
    keep_least(&n->message, (sk_clock() - begin) / (2 * SHOTS * (BURSTS - 1)));
}

/* `carriers` ranks of each node exchange a long message with another node at once: what a byte takes that passes the
 * port of a node, in one direction. Over TCP it is the work of cores, which ranks may share. */
static void measure_port(sk_net_probe *p, int carriers, sk_network *n)
{
    double begin = 0;
    for (int i = 0; i < BURSTS; i++) {
        MPI_Request r[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        MPI_Status status[2];
        p->failed |= sk_host.Irecv(p->in, CAR_BYTES, MPI_BYTE, p->peer, 0, p->wire, &r[0]) ||
                     sk_host.Isend(p->bytes, CAR_BYTES, MPI_BYTE, p->peer, 0, p->wire, &r[1]);
        p->failed |= sk_host.Waitall(2, r, status) != MPI_SUCCESS;
        begin = i ? begin : sk_clock();
    }
    double bytes = (double)CAR_BYTES * carriers * (BURSTS - 1);
    keep_least(&n->port, (sk_clock() - begin) / bytes);
}

/* The means of all ranks: some of them find the others busy, some wait for them. */
static void agree_on_busy(sk_net_probe *p, sk_network *n)
{
    int64_t sum[4] = {n->message, n->message > 0, n->port, n->port > 0};
    p->failed |= sk_host.Allreduce(MPI_IN_PLACE, sum, 4, MPI_INT64_T, MPI_SUM, p->wire);
    n->message = sum[1] > 0 ? sum[0] / sum[1] : 0;
    n->port = sum[3] > 0 ? sum[2] / sum[3] : 0;
}

static int carriers_of(const sk_machine *m, int node, int other)
{
    int here = m->node_first[node + 1] - m->node_first[node],
        there = m->node_first[other + 1] - m->node_first[other],
        least = here < there ? here : there;
    return least < CARRIERS ? least : CARRIERS;
}

sk_network sk_network_measure(MPI_Comm wire, int rank, const sk_machine *m, int cores)
{
    sk_network out = {0};
    sk_net_probe p = {.wire = wire};
    int nlocal, node = m->node[rank], other = node ^ 1, me = m->local_rank[rank];
    const int *local = sk_machine_local_ranks(m, rank, &nlocal);
    if (m->nnodes == 1 || sk_settings_given(sk_select_settings(sk_proc.select), SK_SET_MODEL))
        return out;
    bool pair = other < m->nnodes && me < m->node_first[other + 1] - m->node_first[other];
    double sharing = cores > 0 && nlocal > cores ? (double)nlocal / cores : 1;
    if (pair)
        p.peer = m->local_ranks[m->node_first[other] + me];
    if (SK_HOST_YIELDS && sharing > 1)
        measure_stage(&p, local, nlocal, me, &out);
    if (pair && me == 0 && node > other)
        answer(&p);
    else if (pair && me == 0) {
        measure_latency(&p, &out);
        measure_rate(&p, &out);
        measure_handshake(&p, &out);
    }
    sk_host.Barrier(wire);
    if (pair)
        measure_message(&p, &out);
    if (pair && me < CARRIERS)
        measure_port(&p, carriers_of(m, node, other), &out);
    agree_on_busy(&p, &out);
    /* The model multiplies these by the ranks that share a core; here they did. */
    out.stage = (int64_t)((double)out.stage / sharing);
    out.message = (int64_t)((double)out.message / sharing);
    return p.failed ? (sk_network){0} : out;
}
