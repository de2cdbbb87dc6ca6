/* forms_user.c: what belongs to the program stays right beside collectives in flight: handles it
 * frees early, its wildcard receives, its buffers at MPI_BOTTOM, its generalized requests. */
#include "flight.h"
#include "forms.h"

#include <stdlib.h>

/* ---- handles freed while the collective flies ---- */

static void add(void *in, void *inout, int *len, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < 2 * *len; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

void handles_may_be_freed_after_the_start(void)
{
    enum { N = 30000 };
    test_watch(60, "type, operation and communicator freed after the start");
    MPI_Datatype pair;
    MPI_Op op;
    MPI_Comm c;
    MPI_Request q[2];
    int *in = must_alloc(2 * N * sizeof *in), *out = must_alloc(2 * N * sizeof *out),
        *all = must_alloc(2 * N * sizeof *all);
    for (int i = 0; i < 2 * N; i++)
        all[i] = in[i] = test_rank() + i;
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    test_adopt(c);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Op_create(add, 1, &op);
    MPI_Iallreduce(in, out, N, pair, op, c, &q[0]);
    MPI_Ibcast(all, N, pair, 0, c, &q[1]);
    MPI_Type_free(&pair);
    MPI_Op_free(&op);
    if (!test_on_host())
        MPI_Comm_free(&c); /* Open MPI 4.1.4 does not survive it */
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
    if (c != MPI_COMM_NULL)
        MPI_Comm_free(&c);
    int p = test_size(), bad = 0;
    for (int i = 0; i < 2 * N; i++)
        bad += (out[i] != p * i + p * (p - 1) / 2) + (all[i] != i);
    CHECK(bad == 0, "%d values are wrong after handles were freed", bad);
    free(in);
    free(out);
    free(all);
}

/* ---- wildcards ---- */

void wildcards_see_no_collective(MPI_Comm c)
{
    test_watch(60, "wildcard receive during collectives");
    int got = -1, flag = 0, p = test_size(), me = test_rank();
    MPI_Request q;
    MPI_Status s;
    if (p == 1 && test_on_host())
        return; /* MPICH 4.0.2, alone, then never delivers a message to itself */
    MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, c, &q);
    for (int kind = 0; kind < FLIGHT_KINDS; kind++) {
        flight f;
        flight_start(&f, kind, c);
        MPI_Wait(&f.req, MPI_STATUS_IGNORE);
        flight_land(&f);
    }
    int one = 1, sum = 0;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, c);
    MPI_Barrier(c);
    MPI_Test(&q, &flag, &s);
    CHECK(!flag, "a wildcard receive took a message of a collective: tag %d", s.MPI_TAG);
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, c, &flag, &s);
    CHECK(!flag, "a wildcard probe sees a message of a collective");
    PMPI_Barrier(c);
    MPI_Send(&me, 1, MPI_INT, (me + 1) % p, 8, c);
    MPI_Wait(&q, &s);
    CHECK(got == (me + p - 1) % p && s.MPI_TAG == 8, "the wildcard receive got %d, tag %d", got,
          s.MPI_TAG);
}

/* ---- MPI_BOTTOM ---- */

/* A byte at this address, with this extent: the blocks behind MPI_BOTTOM are then at small numbers, some
 * of which are constants for the host. */
static MPI_Datatype byte_at(const char *memory, int extent)
{
    MPI_Datatype t, sized;
    MPI_Aint at;
    int one = 1;
    MPI_Get_address(memory, &at);
    MPI_Type_create_hindexed(1, &one, &at, MPI_BYTE, &t);
    MPI_Type_create_resized(t, at, extent, &sized);
    MPI_Type_commit(&sized);
    MPI_Type_free(&t);
    return sized;
}

void blocks_may_follow_bottom(void)
{
    enum { MOST = 4 };
    test_watch(30, "blocks behind MPI_BOTTOM");
    int p = test_size(), me = test_rank();
    char *in = must_alloc((size_t)p * MOST), *out = must_alloc((size_t)p * MOST);
    for (int extent = 1; extent <= MOST && !test_on_host(); extent++) {
        MPI_Datatype from = byte_at(in, extent), to = byte_at(out, extent);
        int bad = 0;
        for (int i = 0; i < p; i++) {
            in[i * extent] = (char)(10 * me + i + 1);
            out[i * extent] = 0;
        }
        MPI_Alltoall(MPI_BOTTOM, 1, from, MPI_BOTTOM, 1, to, MPI_COMM_WORLD);
        for (int i = 0; i < p; i++)
            bad += out[i * extent] != (char)(10 * i + me + 1);
        CHECK(bad == 0, "%d blocks of extent %d behind MPI_BOTTOM are wrong", bad, extent);
        MPI_Type_free(&from);
        MPI_Type_free(&to);
    }
    free(in);
    free(out);
}

/* ---- requests of the user's own kind ---- */

static int query(void *state, MPI_Status *s)
{
    MPI_Status_set_elements(s, MPI_INT, *(int *)state);
    MPI_Status_set_cancelled(s, 0);
    s->MPI_SOURCE = 3;
    s->MPI_TAG = 4;
    return MPI_SUCCESS;
}

static int freed(void *state)
{
    *(int *)state = -1;
    return MPI_SUCCESS;
}

static int cancel(void *state, int complete)
{
    (void)state, (void)complete;
    return MPI_SUCCESS;
}

void generalized_requests_are_left_alone(void)
{
    test_watch(30, "a generalized request of the program among collectives");
    int state = 5, count = 0;
    MPI_Request q[3];
    MPI_Status s[3];
    flight f[2];
    flight_start(&f[0], 1, MPI_COMM_WORLD);
    flight_start(&f[1], 2, MPI_COMM_WORLD);
    MPI_Grequest_start(query, freed, cancel, &state, &q[1]);
    q[0] = f[0].req;
    q[2] = f[1].req;
    MPI_Grequest_complete(q[1]);
    MPI_Waitall(3, q, s);
    MPI_Get_count(&s[1], MPI_INT, &count);
    CHECK(count == 5 && s[1].MPI_SOURCE == 3 && s[1].MPI_TAG == 4,
          "the generalized request reports %d", count);
    CHECK(state == -1, "the generalized request was not freed");
    f[0].req = q[0];
    f[1].req = q[2];
    flight_land(&f[0]);
    flight_land(&f[1]);
}
