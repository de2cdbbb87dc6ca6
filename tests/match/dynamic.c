/* dynamic.c: dynamic processes: spawned ones, and two groups that connect by a port. */
#include <stdlib.h>

#include "case.h"

enum { TAG = 300, CHILDREN = 2 };

/* Each rank sends to all ranks of the other side and receives from any source. */
static void exchange_between(const case_ctx *s, MPI_Comm between, int side)
{
    case_ctx b = *s;
    int theirs;
    b.comm = between;
    MPI_Comm_rank(between, &b.rank);
    MPI_Comm_remote_size(between, &theirs);
    test_msg mine = {b.rank, TAG, side, LONG_MSG};
    int bytes = (int)msg_bytes(&b, &mine);
    void *out = must_alloc(LONG_MSG), *in = must_alloc(LONG_MSG);
    MPI_Request *req = must_alloc((size_t)theirs * sizeof *req);
    msg_fill(&b, &mine, out);
    for (int to = 0; to < theirs; to++)
        MPI_Isend(out, bytes, MPI_BYTE, to, TAG, between, &req[to]);
    for (int i = 0; i < theirs; i++) {
        MPI_Status st;
        MPI_Recv(in, LONG_MSG, MPI_BYTE, MPI_ANY_SOURCE, TAG, between, &st);
        test_msg l = {st.MPI_SOURCE, TAG, !side, LONG_MSG};
        msg_check(&b, &l, in, &st);
    }
    MPI_Waitall(theirs, req, MPI_STATUSES_IGNORE);
    free(out);
    free(in);
    free(req);
}

void dynamic_child(MPI_Comm parent)
{
    case_ctx s = {.name = "a spawned process", .seed = 1};
    exchange_between(&s, parent, 1);
    MPI_Comm all;
    int sum, one = 1, size;
    MPI_Intercomm_merge(parent, 1, &all);
    MPI_Comm_size(all, &size);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all);
    EXPECT(&s, sum == size, "allreduce over both gives %d, not %d", sum, size);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&parent);
}

void case_spawn(const case_ctx *s)
{
    case_ctx b = *s;
    b.seed = 1; /* as the children have it */
    MPI_Comm children, all;
    MPI_Info info;
    int error[CHILDREN], sum, one = 1;
    MPI_Info_create(&info);
    MPI_Info_set(info, "ompi_oversubscribe", "true");
    MPI_Comm_spawn(s->program, MPI_ARGV_NULL, CHILDREN, info, 0, s->comm, &children, error);
    MPI_Info_free(&info);
    exchange_between(&b, children, 0);
    MPI_Intercomm_merge(children, 0, &all);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all);
    EXPECT(s, sum == s->size + CHILDREN, "allreduce over both gives %d", sum);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&children);
}

/* The first rank opens a port; its half accepts the other half there. */
void case_connect(const case_ctx *s)
{
    int side = s->rank < (s->size + 1) / 2;
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm half, between;
    MPI_Comm_split(s->comm, side, s->rank, &half);
    if (s->rank == 0)
        MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, s->comm);
    for (int i = 0; i < 2; i++) {
        if (side)
            MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &between);
        else
            MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &between);
        exchange_between(s, between, side);
        MPI_Comm_disconnect(&between);
    }
    if (s->rank == 0)
        MPI_Close_port(port);
    MPI_Comm_free(&half);
}
