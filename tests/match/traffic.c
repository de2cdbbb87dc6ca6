/* traffic.c: random point-to-point traffic with wildcards whose outcome is determined: every
 * receive matches messages of one sender only, so the oldest matching message gets the oldest
 * matching receive, whatever the timing.
 *
 * The plan of a receiver depends only on the seed, so all ranks can compute the plans of all
 * receivers. On some communicators a receiver has one sender only: there a receive may have any
 * source and any tag. On the others each tag is used by one sender only: there a receive may have
 * any source or any tag, but not both.
 *
 * Sends are started and receives posted in random order. Once all sends are started, receives may
 * block, too, in every way that MPI offers. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "case.h"

enum {
    COMMS = 4,
    MAX_MSGS = 200,
    MAX_RECVS = MAX_MSGS * 2,
    NO_MSG = -1,
    NO_SENDER = -1,
    TAGS = 3,
    SLACK = 16,
    MARK = 0x5a,
    MSGS = 60,
    ROUNDS = 8
};

/* The communicators, and how each of them numbers the world's ranks (-1: not in it). */
typedef struct comm_set {
    case_ctx on[COMMS];
    int world; /* ranks in the world */
    int *number[COMMS];
} comm_set;

typedef struct planned_msg {
    int comm, from; /* rank in that communicator */
    test_msg l;
} planned_msg;

/* A receive. Receives are posted in the order of the plan. */
typedef struct planned_recv {
    int comm, source, tag;
    int gets; /* index of its message; NO_MSG: none, and it is cancelled at the end */
} planned_recv;

typedef struct traffic {
    int nmsgs, nrecvs;
    planned_msg msg[MAX_MSGS];
    planned_recv recv[MAX_RECVS];
} traffic;

/* The world, a duplicate, the world in reverse order, and every second rank. */
static void comm_set_make(comm_set *w, const case_ctx *s)
{
    w->world = s->size;
    for (int c = 0; c < COMMS; c++) {
        w->on[c] = *s;
        w->on[c].seed += (uint64_t)c;
        if (c == 1)
            MPI_Comm_dup(s->comm, &w->on[c].comm);
        else if (c > 1)
            MPI_Comm_split(s->comm, c == 3 && s->rank % 2 ? MPI_UNDEFINED : 0,
                           c == 2 ? -s->rank : s->rank, &w->on[c].comm);
        w->on[c].rank = -1;
        if (w->on[c].comm != MPI_COMM_NULL)
            MPI_Comm_rank(w->on[c].comm, &w->on[c].rank);
        w->number[c] = must_alloc((size_t)s->size * sizeof(int));
        MPI_Allgather(&w->on[c].rank, 1, MPI_INT, w->number[c], 1, MPI_INT, s->comm);
    }
}

static void comm_set_free(comm_set *w)
{
    for (int c = 0; c < COMMS; c++) {
        free(w->number[c]);
        if (c > 0 && w->on[c].comm != MPI_COMM_NULL)
            MPI_Comm_free(&w->on[c].comm);
    }
}

typedef struct plan_state {
    traffic *t;
    const comm_set *w;
    rng r;
    int only[COMMS]; /* the only sender to this receiver, or NO_SENDER */
} plan_state;

static int draw_comm(plan_state *d, int receiver)
{
    int c;
    do
        c = rng_below(&d->r, COMMS);
    while (d->w->number[c][receiver] < 0);
    return c;
}

static int members(const comm_set *w, int c)
{
    int n = 0;
    for (int i = 0; i < w->world; i++)
        n += w->number[c][i] >= 0;
    return n;
}

static void draw_parcel(plan_state *d, int i, int receiver)
{
    planned_msg *p = &d->t->msg[i];
    p->comm = draw_comm(d, receiver);
    int size = members(d->w, p->comm);
    bool one = d->only[p->comm] != NO_SENDER;
    p->from = one ? d->only[p->comm] : rng_below(&d->r, size);
    int kind = rng_below(&d->r, TAGS);
    p->l = (test_msg){p->from, one ? kind : kind * size + p->from, i, LONG_MSG};
}

/* A receive that matches the message, with wildcards at random. */
static planned_recv fitting(plan_state *d, const planned_msg *p)
{
    planned_recv t = {p->comm, p->l.from, p->l.tag, NO_MSG};
    bool one = d->only[p->comm] != NO_SENDER;
    int wide = rng_below(&d->r, one ? 5 : 4);
    if (wide == 1 || wide == 4)
        t.source = MPI_ANY_SOURCE;
    if (wide == 2 || wide == 4)
        t.tag = MPI_ANY_TAG;
    return t;
}

/* Shuffles the receives: most stay near the order of the messages, some move far. */
static void mix(plan_state *d)
{
    traffic *t = d->t;
    for (int i = 0; i < t->nrecvs; i++) {
        int far = rng_chance(&d->r, 20) ? t->nrecvs : 6, j = i + rng_below(&d->r, far);
        if (j >= t->nrecvs)
            continue;
        planned_recv keep = t->recv[i];
        t->recv[i] = t->recv[j];
        t->recv[j] = keep;
    }
}

static bool fits(const planned_recv *t, const planned_msg *p)
{
    return t->gets == NO_MSG && t->comm == p->comm &&
           (t->source == MPI_ANY_SOURCE || t->source == p->l.from) &&
           (t->tag == MPI_ANY_TAG || t->tag == p->l.tag);
}

/* Each message in turn goes to the oldest free receive that matches. If there is none, an exact
 * receive is added at the end, which changes nothing for the others. */
static void match(traffic *t)
{
    for (int i = 0; i < t->nmsgs; i++) {
        const planned_msg *p = &t->msg[i];
        int k = 0;
        while (k < t->nrecvs && !fits(&t->recv[k], p))
            k++;
        if (k == t->nrecvs)
            t->recv[t->nrecvs++] = (planned_recv){p->comm, p->l.from, p->l.tag, NO_MSG};
        t->recv[k].gets = i;
    }
}

/* The plan of the receiver with this rank in the world. */
static void traffic_plan(traffic *t, const comm_set *w, uint64_t seed, int round, int receiver,
                         int nmsgs)
{
    plan_state d = {t, w, rng_seed(seed, (uint64_t)round, (uint64_t)receiver), {0}};
    for (int c = 0; c < COMMS; c++) {
        int size = members(w, c);
        d.only[c] = size > 0 && rng_chance(&d.r, 50) ? rng_below(&d.r, size) : NO_SENDER;
    }
    t->nmsgs = t->nrecvs = nmsgs;
    for (int i = 0; i < nmsgs; i++)
        draw_parcel(&d, i, receiver);
    for (int i = 0; i < nmsgs; i++)
        t->recv[i] = fitting(&d, &t->msg[i]);
    mix(&d);
    match(t);
}

/* What this rank has started. */
typedef struct traffic_state {
    const comm_set *w;
    const traffic *plans; /* of all receivers */
    int me;
    bool sync, mprobe; /* sends may be synchronous, receives may be by MPI_Mprobe */
    rng r;
    int sends, send_at; /* sends go through the messages of all plans, by index, then by receiver */
    struct {
        MPI_Request req;
        void *buf;
    } * out;
    struct {
        MPI_Request req;
        MPI_Status st;
        char *buf;
        bool done;
    } in[MAX_RECVS];
} traffic_state;

static bool send_next(traffic_state *d)
{
    int all = d->w->world * d->plans[0].nmsgs;
    for (; d->send_at < all; d->send_at++) {
        int to = d->send_at % d->w->world;
        const planned_msg *p = &d->plans[to].msg[d->send_at / d->w->world];
        if (d->w->number[p->comm][to] < 0 || d->w->number[p->comm][d->me] != p->from)
            continue;
        const case_ctx *s = &d->w->on[p->comm];
        int bytes = (int)msg_bytes(s, &p->l), at = d->w->number[p->comm][to], n = d->sends++;
        void *buf = d->out[n].buf = must_alloc((size_t)bytes);
        MPI_Request *req = &d->out[n].req;
        msg_fill(s, &p->l, buf);
        switch (rng_below(&d->r, 4) + !d->sync) {
        case 0:
            MPI_Issend(buf, bytes, MPI_BYTE, at, p->l.tag, s->comm, req);
            break;
        case 1:
            MPI_Send_init(buf, bytes, MPI_BYTE, at, p->l.tag, s->comm, req);
            MPI_Start(req);
            break;
        default:
            MPI_Isend(buf, bytes, MPI_BYTE, at, p->l.tag, s->comm, req);
            break;
        }
        d->send_at++;
        return true;
    }
    return false;
}

/* How to receive; the first two only post. */
enum recv_method { IRECV, START, RECV, PROBE, IPROBE, MPROBE, IMPROBE, NMETHODS };

static void receive(traffic_state *d, int k, enum recv_method how)
{
    const planned_recv *t = &d->plans[d->me].recv[k];
    const case_ctx *s = &d->w->on[t->comm];
    MPI_Request *req = &d->in[k].req;
    MPI_Status *st = &d->in[k].st;
    MPI_Message m;
    size_t bytes = SLACK;
    int there = 0, capacity;
    if (t->gets != NO_MSG)
        bytes += msg_bytes(s, &d->plans[d->me].msg[t->gets].l);
    char *buf = d->in[k].buf = must_alloc(bytes);
    memset(buf, MARK, bytes);
    capacity = (int)bytes - rng_below(&d->r, SLACK + 1);
    d->in[k].done = how >= RECV;
    switch (how) {
    case IRECV:
        MPI_Irecv(buf, capacity, MPI_BYTE, t->source, t->tag, s->comm, req);
        break;
    case START:
        MPI_Recv_init(buf, capacity, MPI_BYTE, t->source, t->tag, s->comm, req);
        MPI_Start(req);
        break;
    case RECV:
        MPI_Recv(buf, capacity, MPI_BYTE, t->source, t->tag, s->comm, st);
        break;
    case PROBE:
        MPI_Probe(t->source, t->tag, s->comm, st);
        MPI_Recv(buf, capacity, MPI_BYTE, st->MPI_SOURCE, st->MPI_TAG, s->comm, st);
        break;
    case IPROBE:
        while (!there)
            MPI_Iprobe(t->source, t->tag, s->comm, &there, st);
        MPI_Recv(buf, capacity, MPI_BYTE, st->MPI_SOURCE, st->MPI_TAG, s->comm, st);
        break;
    case MPROBE:
        MPI_Mprobe(t->source, t->tag, s->comm, &m, st);
        MPI_Mrecv(buf, capacity, MPI_BYTE, &m, st);
        break;
    default:
        while (!there)
            MPI_Improbe(t->source, t->tag, s->comm, &there, &m, st);
        MPI_Imrecv(buf, capacity, MPI_BYTE, &m, req);
        d->in[k].done = false;
        break;
    }
}

static void check(traffic_state *d, int k)
{
    const planned_recv *t = &d->plans[d->me].recv[k];
    const planned_msg *p = &d->plans[d->me].msg[t->gets];
    const case_ctx *s = &d->w->on[t->comm];
    if (!d->in[k].done)
        MPI_Wait(&d->in[k].req, &d->in[k].st);
    msg_check(s, &p->l, d->in[k].buf, &d->in[k].st);
    size_t bytes = msg_bytes(s, &p->l);
    for (size_t i = bytes; i < bytes + SLACK; i++)
        EXPECT(s, d->in[k].buf[i] == MARK, "message %d: byte %zu past the end is written",
               p->l.number, i - bytes);
}

static void cancel(traffic_state *d, int k)
{
    int was = 0;
    MPI_Cancel(&d->in[k].req);
    MPI_Wait(&d->in[k].req, &d->in[k].st);
    MPI_Test_cancelled(&d->in[k].st, &was);
    EXPECT(&d->w->on[d->plans[d->me].recv[k].comm], was,
           "receive %d got tag %d from %d, but nothing was sent that it may get", k,
           d->in[k].st.MPI_TAG, d->in[k].st.MPI_SOURCE);
}

static void free_request(MPI_Request *req)
{
    if (*req != MPI_REQUEST_NULL)
        MPI_Request_free(req); /* a persistent one, no longer active */
}

static void work(traffic_state *d)
{
    const traffic *mine = &d->plans[d->me];
    bool sending = true;
    for (int k = 0; k < mine->nrecvs || sending;) {
        if (sending && (k == mine->nrecvs || rng_chance(&d->r, 60))) {
            sending = send_next(d);
            continue;
        }
        bool posts = sending || mine->recv[k].gets == NO_MSG;
        receive(d, k++,
                (enum recv_method)rng_below(&d->r, posts       ? RECV
                                                   : d->mprobe ? NMETHODS
                                                               : MPROBE));
        if (rng_chance(&d->r, 3))
            nanosleep(&(struct timespec){.tv_nsec = rng_below(&d->r, 300000)}, NULL);
    }
    for (int k = 0; k < mine->nrecvs; k++)
        if (mine->recv[k].gets != NO_MSG)
            check(d, k);
    for (int i = 0; i < d->sends; i++)
        MPI_Wait(&d->out[i].req, MPI_STATUS_IGNORE);
    for (int k = 0; k < mine->nrecvs; k++)
        if (mine->recv[k].gets == NO_MSG)
            cancel(d, k);
}

static void run_round(const comm_set *w, const case_ctx *s, traffic *plans, int round, int nmsgs)
{
    traffic_state *d = must_alloc(sizeof *d);
    *d = (traffic_state){.w = w, .plans = plans, .me = s->rank};
    d->sync = !host_loses_mrecv_acks() || round % 2 == 0;
    d->mprobe = !host_loses_mrecv_acks() || round % 2 == 1;
    d->r = rng_seed(s->seed + 99, (uint64_t)s->rank, (uint64_t)round);
    d->out = must_alloc((size_t)w->world * (size_t)nmsgs * sizeof *d->out);
    for (int to = 0; to < w->world; to++)
        traffic_plan(&plans[to], w, s->seed, round, to, nmsgs);
    for (int k = 0; k < MAX_RECVS; k++)
        d->in[k].req = MPI_REQUEST_NULL;
    work(d);
    /* Without the barrier, a message of the next round could match a receive that is cancelled. */
    MPI_Barrier(s->comm);
    for (int i = 0; i < d->sends; i++) {
        free_request(&d->out[i].req);
        free(d->out[i].buf);
    }
    for (int k = 0; k < plans[s->rank].nrecvs; k++) {
        free_request(&d->in[k].req);
        free(d->in[k].buf);
    }
    free(d->out);
    free(d);
}

void case_random(const case_ctx *s)
{
    comm_set w;
    int rounds = case_amount(s, ROUNDS), nmsgs = s->size <= 4 ? MSGS : 4 * MSGS / s->size + 8;
    comm_set_make(&w, s);
    traffic *plans = must_alloc((size_t)s->size * sizeof *plans);
    for (int round = 0; round < rounds; round++) {
        test_watch(60, "random traffic, seed %llu, round %d", (unsigned long long)s->seed, round);
        run_round(&w, s, plans, round, nmsgs);
    }
    free(plans);
    comm_set_free(&w);
}
