/* wide.c: large-count forms, which Skein has even if the host does not: then it must serve all of them, on one node and
 * between nodes, and compare none with the host's. */
#include "testlib.h"

#include <stdlib.h>

#if !HOST_HAS_LARGE
#define WEAK __attribute__((weak))
extern int MPI_Bcast_c(void *, MPI_Count, MPI_Datatype, int, MPI_Comm) WEAK;
extern int MPI_Ibcast_c(void *, MPI_Count, MPI_Datatype, int, MPI_Comm, MPI_Request *) WEAK;
extern int MPI_Bcast_init_c(void *, MPI_Count, MPI_Datatype, int, MPI_Comm, MPI_Info,
                            MPI_Request *) WEAK;
extern int MPI_Gather_c(const void *, MPI_Count, MPI_Datatype, void *, MPI_Count, MPI_Datatype, int,
                        MPI_Comm) WEAK;
extern int MPI_Igather_c(const void *, MPI_Count, MPI_Datatype, void *, MPI_Count, MPI_Datatype,
                         int, MPI_Comm, MPI_Request *) WEAK;
extern int MPI_Gather_init_c(const void *, MPI_Count, MPI_Datatype, void *, MPI_Count, MPI_Datatype,
                             int, MPI_Comm, MPI_Info, MPI_Request *) WEAK;
extern int MPI_Scan_c(const void *, void *, MPI_Count, MPI_Datatype, MPI_Op, MPI_Comm) WEAK;
extern int MPI_Iscan_c(const void *, void *, MPI_Count, MPI_Datatype, MPI_Op, MPI_Comm,
                       MPI_Request *) WEAK;
#endif

enum { CALLS = 100, LONG = 75000 };
static int me, p, *in, *out;

static void check(const char *what, int k, int got, int want)
{
    CHECK(got == want, "%s %d: %d, not %d", what, k, got, want);
}

static void bcasts(int k)
{
    MPI_Request q;
    int x = me ? 0 : k, y = x;
    MPI_Bcast_c(&x, 1, MPI_INT, 0, MPI_COMM_WORLD);
    check("bcast", k, x, k);
    MPI_Ibcast_c(&y, 1, MPI_INT, 0, MPI_COMM_WORLD, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    check("ibcast", k, y, k);
}

static void scans(int k)
{
    MPI_Request q;
    int one = k, sum = 0;
    MPI_Scan_c(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    check("scan", k, sum, k * (me + 1));
    MPI_Iscan_c(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    check("iscan", k, sum, k * (me + 1));
}

static void gathers(int k)
{
    MPI_Request q;
    in[LONG - 1] = me + k;
    MPI_Gather_c(in, LONG, MPI_INT, out, LONG, MPI_INT, 0, MPI_COMM_WORLD);
    check("gather", k, me ? 0 : out[p * LONG - 1], me ? 0 : p - 1 + k);
    in[LONG - 1]++;
    MPI_Igather_c(in, LONG, MPI_INT, out, LONG, MPI_INT, 0, MPI_COMM_WORLD, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    check("igather", k, me ? 0 : out[p * LONG - 1], me ? 0 : p + k);
}

static void persistent(bool gather)
{
    MPI_Request q;
    int x = 0;
    if (gather)
        MPI_Gather_init_c(in, LONG, MPI_INT, out, LONG, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL,
                          &q);
    else
        MPI_Bcast_init_c(&x, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &q);
    for (int k = 0; k < CALLS; k++) {
        x = me ? 0 : k;
        in[LONG - 1] = me + k;
        MPI_Start(&q);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
        if (!gather)
            check("start of bcast", k, x, k);
        else if (!me)
            check("start of gather", k, out[p * LONG - 1], p - 1 + k);
    }
    MPI_Request_free(&q);
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv, "wide");
    me = test_rank();
    p = test_size();
    in = must_alloc(LONG * sizeof *in);
    out = must_alloc((size_t)p * LONG * sizeof *out);
    if (!HOST_HAS_LARGE && test_on_host())
        return test_end();
    for (int k = 0; k < CALLS; k++) {
        test_watch(20, "large counts, %d", k);
        bcasts(k);
        scans(k);
        gathers(k);
    }
    persistent(false);
    persistent(true);
    free(in);
    free(out);
    return test_end();
}
