/* neighbor_errors.c: neighbourhood collectives on communicators that have no topology, with
 * arguments that are wrong, and with receivers that are too small: an error of the class that the
 * host gives, never a hang. */
#include "neighbor_errors.h"
#include "neighbor_call.h"
#include "neighbor_digraph.h"

#include <stdlib.h>

enum { ROOM = 64 }; /* ints on each side */

/* Valid arguments for any of the calls with up to two neighbours, to be spoilt. */
typedef struct valid {
    args a;
    int data[2 * ROOM], scounts[2], rcounts[2], sdispls[2], rdispls[2];
    MPI_Datatype types[2];
} valid;

static void valid_make(valid *v, ncoll c, MPI_Comm comm, int send, int recv)
{
    int step = c == N_ALLTOALLW ? (int)sizeof(int) * ROOM / 2 : ROOM / 2;
    *v = (valid){.scounts = {send, send}, .rcounts = {recv, recv}, .types = {MPI_INT, MPI_INT}};
    v->sdispls[1] = v->rdispls[1] = step;
    v->a = (args){.sbuf = v->data,
                  .rbuf = v->data + ROOM,
                  .stype = MPI_INT,
                  .rtype = MPI_INT,
                  .stypes = v->types,
                  .rtypes = v->types,
                  .comm = comm,
                  .ints = {send, recv, v->scounts, v->sdispls, v->rcounts, v->rdispls}};
}

/* The class of the error that this rank gets from the call or from its completion. */
static int answer(ncoll c, valid *v, form f, bool host)
{
    MPI_Request q = MPI_REQUEST_NULL;
    int class;
    args_widen(&v->a, 2, 2);
    int rc = host ? ncoll_host(c, &v->a, f, &q) : ncoll_call(c, &v->a, f, false, &q);
    if (rc == MPI_SUCCESS && f == F_NONBLOCKING)
        rc = host ? PMPI_Wait(&q, MPI_STATUS_IGNORE) : MPI_Wait(&q, MPI_STATUS_IGNORE);
    PMPI_Error_class(rc, &class);
    args_free_wide(&v->a);
    return class;
}

/* MPICH 4.0.2 copies as many counts as an uninitialised variable says, where there is no topology:
 * nothing to compare with. */
static bool host_may_crash(ncoll c, bool topology)
{
#ifdef MPICH
    return !topology && c != N_ALLGATHER && c != N_ALLTOALL;
#else
    (void)c, (void)topology;
    return false;
#endif
}

/* Ask for each call and form, first the host, and compare. */
static void compare_all(const char *what, MPI_Comm comm, void (*spoil)(valid *v))
{
    for (ncoll c = 0; c < NNCOLLS; c++)
        for (form f = F_BLOCKING; f <= F_NONBLOCKING && !host_may_crash(c, spoil != NULL); f++) {
            int class[2];
            for (int host = 1; host >= 0; host--) {
                valid v;
                test_watch(20, "%s %s, %s%s", form_name(f, false), ncoll_name(c), what,
                           host ? ", the host" : "");
                valid_make(&v, c, comm, 1, 1);
                if (spoil != NULL)
                    spoil(&v);
                class[host] = answer(c, &v, f, host);
            }
            CHECK(class[0] == class[1], "%s %s, %s: class %d, the host's %d", form_name(f, false),
                  ncoll_name(c), what, class[0], class[1]);
        }
}

static void no_topology_is_an_error(void)
{
    MPI_Comm c;
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
    compare_all("no topology", c, NULL);
    valid v;
    valid_make(&v, N_ALLTOALL, c, 1, 1);
    int class = answer(N_ALLTOALL, &v, F_BLOCKING, false);
    CHECK(class == MPI_ERR_TOPOLOGY, "without a topology the class is %d", class);
    MPI_Comm_free(&c);
}

static MPI_Comm ring(void)
{
    MPI_Comm c;
    int p = test_size(), round = 1;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &p, &round, 0, &c);
    MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
    return c;
}

static void count_negative(valid *v)
{
    v->a.ints.scount = v->a.ints.rcount = v->scounts[1] = v->rcounts[1] = -1;
}

static void type_null(valid *v)
{
    v->a.stype = v->a.rtype = v->types[0] = MPI_DATATYPE_NULL;
}

static void wrong_arguments_are_answered_as_by_the_host(void)
{
    MPI_Comm c = ring();
    compare_all("negative count", c, count_negative);
    compare_all("null type", c, type_null);
    MPI_Comm_free(&c);
}

static bool waits_class(int class)
{
    return class == MPI_ERR_OTHER || class == MPI_ERR_IN_STATUS;
}

/* Rank 0 sends to rank 1, which has room for less. */
static void cut_short(ncoll c, form f, int many, int few)
{
    int me = test_rank(), one = 1, zero = 0, class[2];
    lists l = {.nin = me, .nout = 1 - me, .in = &zero, .out = &one};
    for (int host = 1; host >= 0; host--) {
        MPI_Comm comm; /* of its own, not freed: messages may be left in it */
        valid v;
        test_watch(30, "%s %s, %d for %d%s", form_name(f, false), ncoll_name(c), many, few,
                   host ? ", the host" : "");
        comm = digraph_make_adjacent(&l, MPI_COMM_WORLD, (digraph_options){.info = MPI_INFO_NULL});
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        valid_make(&v, c, comm, me == 0 ? many : few, me == 0 ? many : few);
        class[host] = answer(c, &v, f, host);
        for (int i = ROOM + few; i < 2 * ROOM; i++)
            CHECK(v.data[i] == 0, "%s: wrote beyond the receive buffer", ncoll_name(c));
    }
    /* Open MPI's blocking calls have two classes for it, by who comes first: a call left to it may
     * get the other one. */
    bool same =
        class[0] == class[1] || (f == F_BLOCKING && waits_class(class[0]) && waits_class(class[1]));
    CHECK(same || (me == 1 && class[0] == MPI_ERR_TRUNCATE),
          "%s %s, %d for %d: class %d, the host's %d", form_name(f, false), ncoll_name(c), many,
          few, class[0], class[1]);
}

static void truncation_is_reported_to_the_receiver(void)
{
    for (ncoll c = 0; c < NNCOLLS; c++)
        for (form f = F_BLOCKING; f <= F_NONBLOCKING; f++)
            cut_short(c, f, 8, 3);
}

void neighbor_errors(void)
{
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); /* Open MPI's for a wrong one */
    no_topology_is_an_error();
    wrong_arguments_are_answered_as_by_the_host();
    if (test_size() == 2)
        truncation_is_reported_to_the_receiver();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}
