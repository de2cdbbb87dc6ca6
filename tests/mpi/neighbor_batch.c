/* neighbor_batch.c: see neighbor_batch.h. */
#include "neighbor_batch.h"
#include "complete.h"
#include "flight.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST = 4, FLIGHT = MOST, MESSAGES, SLOTS = MESSAGES + 2 };

typedef struct batch {
    nitem items[MOST];
    bool here[MOST]; /* this rank takes part */
    MPI_Request req[SLOTS];
    bool message[SLOTS];
    int n, rounds;
    int flight_kind, flight_after; /* the ordinary collective follows this call, or none does */
    MPI_Comm flight_on;
    flight flight;
    int sent[3], got[3];
} batch;

/* MPICH 4.0.2 reports its own inactive persistent collectives as complete, and cannot free them. */
static bool usable(ncoll c, form f, bool big)
{
    return ncoll_exists(c, f, big) && (f != F_PERSISTENT || !test_on_host());
}

/* ---- drawing ---- */

static form draw_form(scene *s, rng *r, ncoll c, bool big, bool last)
{
    form f = (form)rng_below(r, NFORMS);
    if (last && f == F_PERSISTENT)
        f = F_NONBLOCKING;
    if (usable(c, f, big))
        return f;
    s->no_form++;
    return F_NONBLOCKING;
}

static void draw_item(scene *s, batch *b, int i, rng *shared, rng *local, bool last)
{
    int which = rng_below(shared, TOPOS);
    const topo *on = &s->topos[which];
    ncoll c = (ncoll)rng_below(shared, NNCOLLS);
    if (s->only < NNCOLLS)
        c = s->only;
    bool big = ncoll_exists(c, F_BLOCKING, true) && rng_chance(shared, 25);
    rng deep = rng_seed(rng_next(shared), (uint64_t)i, 7);
    form f = draw_form(s, &deep, c, big, last);
    if (test_on_host() && nitem_host_errs(c, f, big, on)) {
        s->host_mistakes++;
        c = N_ALLGATHERV;
    }
    s->calls[which] += b->rounds;
    b->here[i] = on->comm != MPI_COMM_NULL;
    if (!b->here[i])
        return;
    nitem_make(&b->items[i], &deep, local, c, f, big, on);
    if (s->verbose)
        fprintf(stderr, "rank %d: call %d of %d, %d rounds: %s\n", test_rank(), i, b->n, b->rounds,
                b->items[i].text);
}

/* The large ones only where few ranks share the work. */
static void draw_flight(scene *s, batch *b, rng *shared)
{
    static const int small[] = {0, 1, 3};
    b->flight_on = s->topos[rng_below(shared, TOPOS)].comm;
    b->flight_after = rng_below(shared, 2 * MOST);
    b->flight_kind = rng_below(shared, FLIGHT_KINDS);
    if (rng_chance(shared, 80) || test_size() > 4)
        b->flight_kind = small[b->flight_kind % 3];
}

/* ---- running ---- */

static void send_message(batch *b)
{
    int n = test_size(), me = test_rank();
    MPI_Request *q = &b->req[MESSAGES];
    b->sent[0] = b->sent[1] = b->sent[2] = me * 3 + 1;
    MPI_Irecv(b->got, 3, MPI_INT, (me + n - 1) % n, 5, MPI_COMM_WORLD, &q[0]);
    MPI_Isend(b->sent, 3, MPI_INT, (me + 1) % n, 5, MPI_COMM_WORLD, &q[1]);
    b->message[MESSAGES] = b->message[MESSAGES + 1] = true;
}

static void check_message(const scene *s, const batch *b)
{
    int from = (test_rank() + test_size() - 1) % test_size();
    CHECK(b->got[2] == from * 3 + 1, "%s: a message between collectives is wrong", s->where);
}

static bool flies(const batch *b)
{
    return b->flight_after < b->n && b->flight_on != MPI_COMM_NULL;
}

static void start(batch *b, int round)
{
    for (int i = 0; i < b->n; i++) {
        bool persistent = b->items[i].form == F_PERSISTENT;
        if (b->here[i] && (!persistent || round == 0))
            nitem_call(&b->items[i], &b->req[i]);
        if (b->here[i] && persistent)
            MPI_Start(&b->req[i]);
        if (i == b->flight_after && flies(b)) {
            flight_start(&b->flight, b->flight_kind, b->flight_on);
            b->req[FLIGHT] = b->flight.req;
        }
    }
}

static void let_go(scene *s, batch *b)
{
    for (int i = 0; i < b->n; i++) {
        side_free_types(&b->items[i].send);
        side_free_types(&b->items[i].recv);
    }
    for (int i = 0; i < TOPOS; i++)
        if (s->topos[i].comm != MPI_COMM_NULL)
            MPI_Comm_free(&s->topos[i].comm);
}

/* Open MPI's own nonblocking collectives of several rounds crash if their communicator is freed before they end, and
 * where the guard soon compares it may serve the one in flight. */
static bool may_let_go(const batch *b)
{
    return !test_on_host() && !(flies(b) && getenv("SKEIN_GUARD_AFTER"));
}

static void run_round(scene *s, batch *b, rng *local, int round, bool last)
{
    bool with_message = b->n % 2 == 0;
    for (int i = 0; i < b->n; i++)
        if (b->here[i])
            nitem_refill(&b->items[i]);
    if (with_message)
        send_message(b);
    start(b, round);
    if (last && may_let_go(b))
        let_go(s, b);
    complete_all(local, b->req, b->message, SLOTS);
    if (with_message)
        check_message(s, b);
    if (flies(b)) {
        b->flight.req = b->req[FLIGHT];
        flight_land(&b->flight);
    }
    for (int i = 0; i < b->n; i++)
        if (b->here[i])
            nitem_check(&b->items[i], s->where);
}

static void clear(const scene *s, batch *b)
{
    for (int i = 0; i < b->n; i++) {
        bool kept = b->items[i].form == F_PERSISTENT;
        CHECK((b->req[i] != MPI_REQUEST_NULL) == kept, "%s: request %d is %s", s->where, i,
              kept ? "gone" : "left");
        if (b->req[i] != MPI_REQUEST_NULL)
            MPI_Request_free(&b->req[i]);
        nitem_free(&b->items[i]);
    }
}

void batch_play(scene *s, rng *shared, rng *local, bool last)
{
    batch *b = must_alloc(sizeof *b);
    b->n = 1 + rng_below(shared, MOST);
    b->rounds = last ? 1 : 1 + rng_below(shared, 5);
    for (int i = 0; i < SLOTS; i++)
        b->req[i] = MPI_REQUEST_NULL;
    for (int i = 0; i < b->n; i++)
        draw_item(s, b, i, shared, local, last);
    draw_flight(s, b, shared);
    for (int round = 0; round < b->rounds; round++)
        run_round(s, b, local, round, last);
    clear(s, b);
    free(b);
}
