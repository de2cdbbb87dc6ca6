/* raised.c: an error calls the user's error handler once, whoever serves the call and however it is completed; with
 * MPI_ERRORS_RETURN it is returned all the same. A broadcast of more than rank 1 takes, again and again, so that Skein and
 * the host serve it by turns. */
#include "errors.h"

#include <stdlib.h>

enum { CALLS = 60, MINE = 2, ROOTS = 4, WAYS = 6 };

/* A handler has no argument of its own. */
static int handler_calls;

static void handler(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    handler_calls++;
}

static int complete(int way, MPI_Request *q)
{
    int done = 0, index, rc = MPI_SUCCESS;
    MPI_Status status;
    switch (way) {
    case 0:
        return MPI_Wait(q, &status);
    case 1:
        while (!done && rc == MPI_SUCCESS)
            rc = MPI_Test(q, &done, &status);
        return rc;
    case 2:
        return MPI_Waitall(1, q, &status);
    case 3:
        while (!done && rc == MPI_SUCCESS)
            rc = MPI_Testall(1, q, &done, &status);
        return rc;
    case 4:
        return MPI_Waitany(1, q, &index, &status);
    default:
        return MPI_Waitsome(1, q, &done, &index, &status);
    }
}

/* Beside a message of rank 1 to itself, which is well. */
static int complete_with_message(MPI_Request *q)
{
    int in = 1, out = 0;
    MPI_Request both[2] = {*q, MPI_REQUEST_NULL};
    MPI_Status status[2];
    MPI_Irecv(&out, 1, MPI_INT, 0, 3, MPI_COMM_SELF, &both[1]);
    MPI_Send(&in, 1, MPI_INT, 0, 3, MPI_COMM_SELF);
    int rc = MPI_Waitall(2, both, status);
    CHECK(rc == MPI_SUCCESS || status[0].MPI_ERROR != MPI_SUCCESS, "the status has no error");
    int of_message = rc == MPI_ERR_IN_STATUS ? status[1].MPI_ERROR : MPI_SUCCESS;
    CHECK(of_message == MPI_SUCCESS || of_message == MPI_ERR_PENDING, "the message has error %d",
          of_message);
    MPI_Wait(&both[1], MPI_STATUS_IGNORE);
    *q = both[0];
    return rc;
}

static void one(form f, int way, MPI_Comm comm, bool returned)
{
    static int data[ROOTS];
    int told = 0;
    MPI_Request q = MPI_REQUEST_NULL;
    args a = {.coll = C_BCAST, .rbuf = data, .rtype = MPI_INT, .comm = comm};
    a.ints.rcount = test_rank() == 0 ? ROOTS : MINE;
    if (f == F_PERSISTENT)
        coll_call(&a, f, false, &q);
    for (int k = 0; k < CALLS; k++) {
        test_watch(20, "%s bcast %d, way %d", form_name(f, false), k, way);
        handler_calls = 0;
        int rc = f == F_PERSISTENT ? MPI_Start(&q) : coll_call(&a, f, false, &q);
        int errors = rc != MPI_SUCCESS;
        if (f != F_BLOCKING && rc == MPI_SUCCESS)
            errors += (way == WAYS ? complete_with_message(&q) : complete(way, &q)) != MPI_SUCCESS;
        CHECK(returned || handler_calls == errors,
              "%s bcast %d, way %d: %d calls return an error, and the handler is called %d times",
              form_name(f, false), k, way, errors, handler_calls);
        told += errors;
        PMPI_Barrier(MPI_COMM_WORLD);
        if (f == F_PERSISTENT && q == MPI_REQUEST_NULL) /* Open MPI frees those that went wrong */
            return;
        if (f == F_PERSISTENT && k == CALLS - 1)
            CHECK(rc == MPI_SUCCESS, "the last start is refused");
    }
    CHECK(test_rank() == 0 || told == CALLS, "%s bcast, way %d: %d of %d calls return an error",
          form_name(f, false), way, told, CALLS);
    if (f == F_PERSISTENT)
        MPI_Request_free(&q);
}

void errors_are_raised_once(void)
{
    MPI_Errhandler made, h;
    if (test_size() != 2) {
        test_skip("truncated messages need two ranks");
        return;
    }
    MPI_Comm_create_errhandler(handler, &made);
    for (int returned = 0; returned < 2; returned++) {
        h = returned ? MPI_ERRORS_RETURN : made;
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, h);
        MPI_Comm_set_errhandler(MPI_COMM_SELF, h);
        for (form f = F_BLOCKING; f < NFORMS; f++)
            for (int way = 0; way <= (f == F_BLOCKING ? 0 : WAYS); way++) {
                MPI_Comm comm; /* not freed: messages may be left in it */
                if (!form_exists(C_BCAST, f, false) || (f == F_PERSISTENT && test_on_host()))
                    continue;
                MPI_Comm_dup(MPI_COMM_WORLD, &comm);
                test_adopt(comm);
                MPI_Comm_set_errhandler(comm, h);
                one(f, way, comm, returned);
            }
    }
    MPI_Errhandler_free(&made);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}
