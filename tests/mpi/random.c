/* random.c: random collectives in all forms give what the host gives, byte for byte.
 *   random [-c COLLECTIVE] [-f FIRST] [-v] SEED CASES
 * A failure names its seed and case; `random -v -f CASE SEED 1` replays it alone and shows its
 * calls. A case is a batch of calls on several communicators that are in flight together, repeated
 * for some rounds when persistent ones are among them. */
#include "comms.h"
#include "complete.h"
#include "item.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST = 6, SLOTS = MOST + 3 }; /* room for a message pair and a null request */

typedef struct batch {
    item items[MOST];
    MPI_Request req[SLOTS];
    bool message[SLOTS], here[MOST];
    int n, rounds, sent[3], got[3];
    char where[80];
} batch;

/* MPICH 4.0.2 reports its own inactive persistent collectives as complete, and cannot free them. */
static bool usable(coll c, form f, bool big)
{
    return form_exists(c, f, big) && (f != F_PERSISTENT || !test_on_host());
}

static void draw(batch *b, const comms *on, const options *o, int number, long *absent)
{
    rng shared = rng_seed(o->seed, (uint64_t)number, 0);
    rng local = rng_seed(o->seed, (uint64_t)number, 1 + (uint64_t)test_rank());
    b->n = 1 + rng_below(&shared, MOST);
    for (int i = 0; i < b->n; i++) {
        coll c = (coll)rng_below(&shared, NCOLLS);
        if (o->only < NCOLLS)
            c = o->only;
        form f = (form)rng_below(&shared, NFORMS);
        bool big = form_exists(c, F_BLOCKING, true) && rng_chance(&shared, 25);
        int kind = rng_below(&shared, NCOMMS);
        rng deep = rng_seed(rng_next(&shared), (uint64_t)i, 7);
        if (!usable(c, f, big)) {
            ++*absent;
            f = F_NONBLOCKING;
        }
        if (f == F_PERSISTENT)
            b->rounds = 3;
        b->here[i] = on->of[kind] != MPI_COMM_NULL;
        if (!b->here[i])
            continue;
        item_make(&b->items[i], &deep, &local, c, f, big, on->of[kind]);
        if (o->verbose)
            fprintf(stderr, "rank %d: call %d: %s on %s\n", test_rank(), i, b->items[i].text,
                    comms_name(kind));
        snprintf(b->where, sizeof b->where, "seed %llu case %d", o->seed, number);
    }
}

/* A message to the next rank among the collectives. */
static void exchange(batch *b)
{
    int n = test_size(), me = test_rank();
    MPI_Request *q = &b->req[MOST];
    b->sent[0] = b->sent[1] = b->sent[2] = me * 3 + 1;
    MPI_Irecv(b->got, 3, MPI_INT, (me + n - 1) % n, 5, MPI_COMM_WORLD, &q[0]);
    MPI_Isend(b->sent, 3, MPI_INT, (me + 1) % n, 5, MPI_COMM_WORLD, &q[1]);
    b->message[MOST] = b->message[MOST + 1] = true;
}

static void check_exchange(const batch *b)
{
    int from = (test_rank() + test_size() - 1) % test_size();
    CHECK(b->got[2] == from * 3 + 1, "%s: a message between collectives is wrong", b->where);
}

/* Consecutive persistent requests start together now and then. */
static void start(batch *b, rng *local, int round)
{
    MPI_Request *run = NULL;
    int length = 0;
    for (int i = 0; i <= b->n; i++) {
        bool persistent = i < b->n && b->here[i] && b->items[i].form == F_PERSISTENT;
        if (persistent && round == 0)
            item_call(&b->items[i], &b->req[i]);
        if (persistent && length > 0) {
            length++;
            continue;
        }
        if (length > 0)
            MPI_Startall(length, run);
        length = 0;
        if (persistent && rng_chance(local, 50)) {
            run = &b->req[i];
            length = 1;
        } else if (persistent) {
            MPI_Start(&b->req[i]);
        } else if (i < b->n && b->here[i]) {
            item_call(&b->items[i], &b->req[i]);
        }
    }
}

static void run_round(batch *b, rng *local, int round)
{
    for (int i = 0; i < b->n; i++)
        if (b->here[i])
            item_refill(&b->items[i]);
    bool with_message = b->n % 2 == 0;
    if (with_message)
        exchange(b);
    start(b, local, round);
    for (int i = 0; i < b->n; i++)
        if (!test_on_host() && b->here[i] && b->rounds == 1 && item_may_free_handles(&b->items[i]))
            item_free_handles(&b->items[i]);
    complete_all(local, b->req, b->message, SLOTS);
    if (with_message)
        check_exchange(b);
    for (int i = 0; i < b->n; i++)
        if (b->here[i])
            item_check(&b->items[i], b->where);
}

static void run_case(const comms *on, const options *o, int number, long *absent)
{
    test_watch(120, "seed %llu case %d", o->seed, number);
    batch *b = must_alloc(sizeof *b);
    b->rounds = 1;
    for (int i = 0; i < SLOTS; i++)
        b->req[i] = MPI_REQUEST_NULL;
    draw(b, on, o, number, absent);
    rng local = rng_seed(o->seed, (uint64_t)number, 5000 + (uint64_t)test_rank());
    for (int round = 0; round < b->rounds; round++)
        run_round(b, &local, round);
    for (int i = 0; i < b->n; i++) {
        CHECK((b->req[i] != MPI_REQUEST_NULL) == (b->here[i] && b->items[i].form == F_PERSISTENT),
              "%s: request %d is %s", b->where, i, b->req[i] != MPI_REQUEST_NULL ? "left" : "gone");
        if (b->req[i] != MPI_REQUEST_NULL)
            MPI_Request_free(&b->req[i]);
        if (b->here[i])
            item_free(&b->items[i]);
    }
    free(b);
}

static int find(const char *name)
{
    return (int)coll_find(name);
}

int main(int argc, char **argv)
{
    setenv("SKEIN_GUARD", "off", 0); /* Skein shall serve, unless a run asks for both */
    test_begin(&argc, &argv, "random");
    options o;
    long absent = 0;
    comms on;
    if (!read_options(&o, argc, argv, NCOLLS, find, 100)) {
        test_fail("usage: random [-c COLLECTIVE] [-f FIRST] [-v] SEED CASES");
        return test_end();
    }
    comms_make(&on, MPI_COMM_WORLD);
    for (int i = o.first; i < o.first + o.cases; i++)
        run_case(&on, &o, i, &absent);
    comms_free(&on);
    if (absent > 0)
        test_skip("%ld calls in forms that are absent here were made nonblocking", absent);
    return test_end();
}
