/* dynamic.c: processes that come later: spawned ones, and two groups that meet by a port. */
#include <stdlib.h>

#include "scene.h"

enum { TAG = 300, CHILDREN = 2 };

/* Both sides write to all of the other side and read what came, also from anyone. */
static void talk(const scene *s, MPI_Comm between, int side)
{
    scene b = *s;
    int theirs;
    b.comm = between;
    MPI_Comm_rank(between, &b.rank);
    MPI_Comm_remote_size(between, &theirs);
    letter mine = {b.rank, TAG, side, LONG_LETTER};
    int bytes = (int)letter_length(&b, &mine);
    void *out = must_alloc(LONG_LETTER), *in = must_alloc(LONG_LETTER);
    MPI_Request *req = must_alloc((size_t)theirs * sizeof *req);
    letter_write(&b, &mine, out);
    for (int to = 0; to < theirs; to++)
        MPI_Isend(out, bytes, MPI_BYTE, to, TAG, between, &req[to]);
    for (int i = 0; i < theirs; i++) {
        MPI_Status st;
        MPI_Recv(in, LONG_LETTER, MPI_BYTE, MPI_ANY_SOURCE, TAG, between, &st);
        letter l = {st.MPI_SOURCE, TAG, !side, LONG_LETTER};
        letter_check(&b, &l, in, &st);
    }
    MPI_Waitall(theirs, req, MPI_STATUSES_IGNORE);
    free(out);
    free(in);
    free(req);
}

void dynamic_child(MPI_Comm parent)
{
    scene s = {.name = "a spawned process", .seed = 1};
    talk(&s, parent, 1);
    MPI_Comm all;
    int sum, one = 1, size;
    MPI_Intercomm_merge(parent, 1, &all);
    MPI_Comm_size(all, &size);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all);
    EXPECT(&s, sum == size, "allreduce over both gives %d, not %d", sum, size);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&parent);
}

void case_spawn(const scene *s)
{
    scene b = *s;
    b.seed = 1; /* as the children have it */
    MPI_Comm children, all;
    MPI_Info info;
    int error[CHILDREN], sum, one = 1;
    MPI_Info_create(&info);
    MPI_Info_set(info, "ompi_oversubscribe", "true");
    MPI_Comm_spawn(s->program, MPI_ARGV_NULL, CHILDREN, info, 0, s->comm, &children, error);
    MPI_Info_free(&info);
    talk(&b, children, 0);
    MPI_Intercomm_merge(children, 0, &all);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all);
    EXPECT(s, sum == s->size + CHILDREN, "allreduce over both gives %d", sum);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&children);
}

/* The first rank opens a port; its half waits there for the other one. */
void case_connect(const scene *s)
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
        talk(s, between, side);
        MPI_Comm_disconnect(&between);
    }
    if (s->rank == 0)
        MPI_Close_port(port);
    MPI_Comm_free(&half);
}
