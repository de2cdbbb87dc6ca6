/* progress.c: a rank that blocks in another call still moves its nonblocking collectives.
 * Rank 0 starts a collective and blocks until rank 1 lets it go; rank 1 first waits for the
 * collective. A library that only moves collectives in MPI_Wait hangs here. */
#include "progress.h"

#include <stdlib.h>

static void with_flight(const stall *s, int kind, MPI_Comm a, MPI_Comm b)
{
    test_watch(20, "%s while %s is in flight", s->name, flight_name(kind));
    stall_context st = {.comm = b};
    MPI_Comm_rank(b, &st.rank);
    stall_open(&st);
    flight_start(&st.flight, kind, a);
    if (st.rank == 0) {
        s->blocked(&st);
        MPI_Wait(&st.flight.req, MPI_STATUS_IGNORE);
    } else {
        MPI_Wait(&st.flight.req, MPI_STATUS_IGNORE);
        if (st.rank == 1 || s->all)
            s->release(&st);
    }
    flight_land(&st.flight);
    stall_close(&st);
}

static void all_stalls(const stall *s, const char *only, MPI_Comm a, MPI_Comm b)
{
    for (; s->name != NULL; s++)
        for (int kind = 0; kind < FLIGHT_KINDS; kind++)
            if (stall_matches(s, only))
                with_flight(s, kind, a, b);
}

/* The first use of a communicator is nonblocking: nothing in it may wait for the others. */
static void first_use(int bytes)
{
    test_watch(30, "first use of a communicator, then a send of %d bytes", bytes);
    char *buf = must_alloc((size_t)bytes);
    for (int kind = 0; kind < FLIGHT_KINDS; kind++) {
        MPI_Comm fresh;
        flight f;
        MPI_Comm_dup(MPI_COMM_WORLD, &fresh);
        if (test_rank() == 1)
            MPI_Recv(buf, bytes, MPI_BYTE, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        flight_start(&f, kind, fresh);
        if (test_rank() == 0)
            MPI_Send(buf, bytes, MPI_BYTE, 1, 5, MPI_COMM_WORLD);
        MPI_Wait(&f.req, MPI_STATUS_IGNORE);
        flight_land(&f);
        MPI_Comm_free(&fresh);
    }
    free(buf);
}

/* Every rank completes many collectives of two communicators in an order of its own. */
static void out_of_order(MPI_Comm a, MPI_Comm b)
{
    enum { N = 24 };
    test_watch(60, "%d collectives in flight completed in another order on each rank", N);
    flight f[N];
    int order[N];
    for (int i = 0; i < N; i++) {
        order[i] = i;
        flight_start(&f[i], i % 3 ? 0 : i % FLIGHT_KINDS, i % 2 ? a : b);
    }
    rng r = rng_seed(42, (uint64_t)test_rank(), 0);
    rng_shuffle(&r, order, N);
    for (int i = 0; i < N; i++) {
        MPI_Wait(&f[order[i]].req, MPI_STATUS_IGNORE);
        flight_land(&f[order[i]]);
    }
}

/* With an argument, only the stalls whose name starts with it. */
int main(int argc, char **argv)
{
    test_begin(&argc, &argv, "progress");
    const char *only = argc > 1 ? argv[1] : "";
    MPI_Comm a, b;
    MPI_Comm_dup(MPI_COMM_WORLD, &a);
    MPI_Comm_dup(MPI_COMM_WORLD, &b);
    test_adopt(
        a); /* before that the host serves, which over OFI does not progress in blocking sends */
    test_adopt(b);
    if (test_size() > 1) {
        all_stalls(p2p_stalls, only, a, b);
        all_stalls(set_stalls, only, a, b);
        all_stalls(coll_stalls, only, a, b);
        first_use(4);
        first_use(1 << 20);
    } else {
        test_skip("a single rank never waits for another");
    }
    out_of_order(a, b);
    MPI_Comm_free(&a);
    MPI_Comm_free(&b);
    return test_end();
}
