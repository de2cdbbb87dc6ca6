/* traffic.c: plays the plans of traffic.h. Sends are started and receives posted in random turns;
 * once all sends are under way, receives may block too, in every way that MPI has. */
#include "traffic.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SLACK = 16, MARK = 0x5a, LETTERS = 60, ROUNDS = 8 };

/* Everything that this rank has under way. */
typedef struct desk {
    const town *w;
    const traffic *plans; /* of all receivers */
    int me;
    bool sync, mprobe; /* sends may be synchronous, receives may be by MPI_Mprobe */
    rng r;
    int sends, send_at; /* the sends are parcels of all plans, by index and then by receiver */
    struct {
        MPI_Request req;
        void *text;
    } * out;
    struct {
        MPI_Request req;
        MPI_Status st;
        char *text;
        bool done;
    } in[MOST_TAKES];
} desk;

static bool send_next(desk *d)
{
    int all = d->w->world * d->plans[0].parcels;
    for (; d->send_at < all; d->send_at++) {
        int to = d->send_at % d->w->world;
        const parcel *p = &d->plans[to].parcel[d->send_at / d->w->world];
        if (d->w->number[p->comm][to] < 0 || d->w->number[p->comm][d->me] != p->from)
            continue;
        const scene *s = &d->w->on[p->comm];
        int bytes = (int)letter_length(s, &p->l), at = d->w->number[p->comm][to], n = d->sends++;
        void *text = d->out[n].text = must_alloc((size_t)bytes);
        MPI_Request *req = &d->out[n].req;
        letter_write(s, &p->l, text);
        switch (rng_below(&d->r, 4) + !d->sync) {
        case 0:
            MPI_Issend(text, bytes, MPI_BYTE, at, p->l.tag, s->comm, req);
            break;
        case 1:
            MPI_Send_init(text, bytes, MPI_BYTE, at, p->l.tag, s->comm, req);
            MPI_Start(req);
            break;
        default:
            MPI_Isend(text, bytes, MPI_BYTE, at, p->l.tag, s->comm, req);
            break;
        }
        d->send_at++;
        return true;
    }
    return false;
}

/* Ways to receive; the first two only post. */
enum way { IRECV, START, RECV, PROBE, IPROBE, MPROBE, IMPROBE, WAYS };

static void receive(desk *d, int k, enum way way)
{
    const take *t = &d->plans[d->me].take[k];
    const scene *s = &d->w->on[t->comm];
    MPI_Request *req = &d->in[k].req;
    MPI_Status *st = &d->in[k].st;
    MPI_Message m;
    size_t bytes = SLACK;
    int there = 0, room;
    if (t->gets != NOBODY)
        bytes += letter_length(s, &d->plans[d->me].parcel[t->gets].l);
    char *text = d->in[k].text = must_alloc(bytes);
    memset(text, MARK, bytes);
    room = (int)bytes - rng_below(&d->r, SLACK + 1);
    d->in[k].done = way >= RECV;
    switch (way) {
    case IRECV:
        MPI_Irecv(text, room, MPI_BYTE, t->source, t->tag, s->comm, req);
        break;
    case START:
        MPI_Recv_init(text, room, MPI_BYTE, t->source, t->tag, s->comm, req);
        MPI_Start(req);
        break;
    case RECV:
        MPI_Recv(text, room, MPI_BYTE, t->source, t->tag, s->comm, st);
        break;
    case PROBE:
        MPI_Probe(t->source, t->tag, s->comm, st);
        MPI_Recv(text, room, MPI_BYTE, st->MPI_SOURCE, st->MPI_TAG, s->comm, st);
        break;
    case IPROBE:
        while (!there)
            MPI_Iprobe(t->source, t->tag, s->comm, &there, st);
        MPI_Recv(text, room, MPI_BYTE, st->MPI_SOURCE, st->MPI_TAG, s->comm, st);
        break;
    case MPROBE:
        MPI_Mprobe(t->source, t->tag, s->comm, &m, st);
        MPI_Mrecv(text, room, MPI_BYTE, &m, st);
        break;
    default:
        while (!there)
            MPI_Improbe(t->source, t->tag, s->comm, &there, &m, st);
        MPI_Imrecv(text, room, MPI_BYTE, &m, req);
        d->in[k].done = false;
        break;
    }
}

static void check(desk *d, int k)
{
    const take *t = &d->plans[d->me].take[k];
    const parcel *p = &d->plans[d->me].parcel[t->gets];
    const scene *s = &d->w->on[t->comm];
    if (!d->in[k].done)
        MPI_Wait(&d->in[k].req, &d->in[k].st);
    letter_check(s, &p->l, d->in[k].text, &d->in[k].st);
    size_t bytes = letter_length(s, &p->l);
    for (size_t i = bytes; i < bytes + SLACK; i++)
        EXPECT(s, d->in[k].text[i] == MARK, "letter %d: byte %zu past the end is written",
               p->l.number, i - bytes);
}

static void cancel(desk *d, int k)
{
    int was = 0;
    MPI_Cancel(&d->in[k].req);
    MPI_Wait(&d->in[k].req, &d->in[k].st);
    MPI_Test_cancelled(&d->in[k].st, &was);
    EXPECT(&d->w->on[d->plans[d->me].take[k].comm], was,
           "receive %d got tag %d from %d, but nothing was sent that it may get", k,
           d->in[k].st.MPI_TAG, d->in[k].st.MPI_SOURCE);
}

static void free_request(MPI_Request *req)
{
    if (*req != MPI_REQUEST_NULL)
        MPI_Request_free(req); /* a persistent one, no longer active */
}

static void work(desk *d)
{
    const traffic *mine = &d->plans[d->me];
    bool sending = true;
    for (int k = 0; k < mine->takes || sending;) {
        if (sending && (k == mine->takes || rng_chance(&d->r, 60))) {
            sending = send_next(d);
            continue;
        }
        bool posts = sending || mine->take[k].gets == NOBODY;
        receive(d, k++, (enum way)rng_below(&d->r, posts ? RECV : d->mprobe ? WAYS : MPROBE));
        if (rng_chance(&d->r, 3))
            nanosleep(&(struct timespec){.tv_nsec = rng_below(&d->r, 300000)}, NULL);
    }
    for (int k = 0; k < mine->takes; k++)
        if (mine->take[k].gets != NOBODY)
            check(d, k);
    for (int i = 0; i < d->sends; i++)
        MPI_Wait(&d->out[i].req, MPI_STATUS_IGNORE);
    for (int k = 0; k < mine->takes; k++)
        if (mine->take[k].gets == NOBODY)
            cancel(d, k);
}

static void play_round(const town *w, const scene *s, traffic *plans, int round, int letters)
{
    desk *d = must_alloc(sizeof *d);
    *d = (desk){.w = w, .plans = plans, .me = s->rank};
    d->sync = !host_forgets_acks() || round % 2 == 0;
    d->mprobe = !host_forgets_acks() || round % 2 == 1;
    d->r = rng_seed(s->seed + 99, (uint64_t)s->rank, (uint64_t)round);
    d->out = must_alloc((size_t)w->world * (size_t)letters * sizeof *d->out);
    for (int to = 0; to < w->world; to++)
        traffic_plan(&plans[to], w, s->seed, round, to, letters);
    for (int k = 0; k < MOST_TAKES; k++)
        d->in[k].req = MPI_REQUEST_NULL;
    work(d);
    MPI_Barrier(
        s->comm); /* else a letter of the next round meets a receive that is to be cancelled */
    for (int i = 0; i < d->sends; i++) {
        free_request(&d->out[i].req);
        free(d->out[i].text);
    }
    for (int k = 0; k < plans[s->rank].takes; k++) {
        free_request(&d->in[k].req);
        free(d->in[k].text);
    }
    free(d->out);
    free(d);
}

void case_random(const scene *s)
{
    town w;
    int rounds = scene_amount(s, ROUNDS),
        letters = s->size <= 4 ? LETTERS : 4 * LETTERS / s->size + 8;
    town_make(&w, s);
    traffic *plans = must_alloc((size_t)s->size * sizeof *plans);
    for (int round = 0; round < rounds; round++) {
        test_watch(60, "random traffic, seed %llu, round %d", (unsigned long long)s->seed, round);
        play_round(&w, s, plans, round, letters);
    }
    free(plans);
    town_free(&w);
}
