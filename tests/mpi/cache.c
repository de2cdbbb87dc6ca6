/* cache.c: plans are built once and kept; a small cache evicts and still gives right results.
 * SKEIN_CACHE, SKEIN_ALLREDUCE and SKEIN_CHECK are set by the script that runs it. */
#include "testlib.h"

#include <stdlib.h>
#include <string.h>

static long long counter(const char *name)
{
    long long v = -1;
    CHECK(test_counter(name, &v), "there is no counter %s", name);
    return v;
}

/* n ints whose sum over the ranks is known. */
static void allreduce(int n)
{
    int *in = must_alloc((size_t)n * sizeof *in), *out = must_alloc((size_t)n * sizeof *out);
    int p = test_size(), bad = 0;
    for (int i = 0; i < n; i++)
        in[i] = test_rank() + i;
    MPI_Allreduce(in, out, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++)
        bad += out[i] != p * i + p * (p - 1) / 2;
    CHECK(bad == 0, "allreduce of %d ints has %d wrong values", n, bad);
    free(in);
    free(out);
}

static void second_call_builds_nothing(void)
{
    test_watch(30, "the second call of a shape");
    allreduce(11);
    long long built = counter("plans_built"), served = counter("served");
    for (int i = 0; i < 10; i++)
        allreduce(11);
    CHECK(counter("plans_built") == built, "ten calls of a known shape built %lld plans",
          counter("plans_built") - built);
    CHECK(counter("served") == served + 10, "ten calls counted as %lld served",
          counter("served") - served);
    allreduce(12);
    CHECK(counter("plans_built") == built + 1, "a new shape built %lld plans",
          counter("plans_built") - built);
}

static void nonblocking_shares_the_plan(void)
{
    test_watch(30, "a nonblocking call of a known shape");
    int in[11] = {0}, out[11];
    MPI_Request q;
    allreduce(11);
    long long built = counter("plans_built");
    MPI_Iallreduce(in, out, 11, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    CHECK(counter("plans_built") == built, "the nonblocking form built a plan of its own");
}

static void small_cache_evicts(void)
{
    test_watch(30, "more shapes than the cache holds");
    long long evicted = counter("evicted"), built = counter("plans_built");
    for (int round = 0; round < 3; round++)
        for (int n = 1; n <= 12; n++)
            allreduce(n);
    CHECK(counter("evicted") >= evicted + 8, "12 shapes in a cache of 4 evicted %lld plans",
          counter("evicted") - evicted);
    CHECK(counter("plans_built") - built >= 12, "12 shapes in a cache of 4 built %lld plans",
          counter("plans_built") - built);
}

static void off_goes_to_the_host(void)
{
    test_watch(30, "an allreduce that is turned off");
    long long host = counter("host"), built = counter("plans_built");
    for (int i = 0; i < 5; i++)
        allreduce(9);
    CHECK(counter("host") == host + 5, "five calls counted as %lld", counter("host") - host);
    CHECK(counter("plans_built") == built, "a call for the host built a plan");
}

/* Between the two runs of a call that SKEIN_CHECK makes, a set-up may move it to the host. */
static void check_with_sizes_that_change(void)
{
    enum { CALLS = 20, SMALL = 8, LARGE = 1 << 15, MOST = 16 };
    test_watch(60, "neighbourhoods whose blocks grow and shrink");
    int p = test_size(), me = test_rank(), n = 0, ranks[MOST], counts[MOST], displs[MOST];
    char *in = must_alloc(LARGE), *out = must_alloc((size_t)LARGE * MOST);
    for (int i = 0; i < p && n < MOST; i++)
        if (i != me)
            ranks[n++] = i;
    MPI_Comm graph;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, n, ranks, ranks, n, ranks, ranks, MPI_INFO_NULL,
                                   0, &graph);
    for (int call = 1; call <= CALLS; call++) {
        int bytes = call % 8 < 4 ? SMALL : LARGE, bad = 0;
        memset(in, me + call, (size_t)bytes);
        memset(out, 0, (size_t)LARGE * MOST);
        for (int i = 0; i < n; i++) {
            counts[i] = bytes;
            displs[i] = i * bytes;
        }
        MPI_Neighbor_allgatherv(in, bytes, MPI_CHAR, out, counts, displs, MPI_CHAR, graph);
        for (int i = 0; i < n * bytes; i++)
            bad += out[i] != (char)(ranks[i / bytes] + call);
        CHECK(bad == 0, "call %d has %d wrong bytes", call, bad);
    }
    MPI_Comm_free(&graph);
    free(in);
    free(out);
}

/* Four ints in one of three layouts. *at: where they lie. */
static MPI_Datatype four_ints(int kind, int at[4])
{
    MPI_Datatype t;
    static const int back[4] = {6, 4, 2, 0}, one[4] = {1, 1, 1, 1};
    for (int i = 0; i < 4; i++)
        at[i] = kind == 0 ? i : kind == 1 ? 2 * i : back[i];
    if (kind == 0)
        MPI_Type_contiguous(4, MPI_INT, &t);
    else if (kind == 1)
        MPI_Type_vector(4, 1, 2, MPI_INT, &t);
    else
        MPI_Type_indexed(4, one, back, MPI_INT, &t);
    MPI_Type_commit(&t);
    return t;
}

static void broadcast_four(MPI_Datatype t, const int at[4], int tag)
{
    enum { INTS = 8 };
    int data[INTS], bad = 0;
    for (int i = 0; i < INTS; i++)
        data[i] = -1;
    for (int i = 0; test_rank() == 0 && i < 4; i++)
        data[at[i]] = tag + i;
    if (tag % 2) {
        MPI_Request q;
        MPI_Ibcast(data, 1, t, 0, MPI_COMM_WORLD, &q);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
    } else
        MPI_Bcast(data, 1, t, 0, MPI_COMM_WORLD);
    for (int i = 0; i < 4; i++) {
        bad += data[at[i]] != tag + i;
        data[at[i]] = -1;
    }
    for (int i = 0; i < INTS; i++)
        bad += data[i] != -1;
    CHECK(bad == 0, "bcast %d of a derived type has %d wrong values", tag, bad);
}

/* Types are freed, and others get their handles, while one lives on. */
static void freed_types_are_not_mistaken(void)
{
    enum { TYPES = 40, CALLS = 6 };
    test_watch(30, "calls with types that are freed");
    int at[4], at_old[4], again = 0;
    MPI_Datatype old = four_ints(2, at_old), last = MPI_DATATYPE_NULL;
    for (int i = 0; i < TYPES; i++) {
        MPI_Datatype t = four_ints(i % 3, at);
        again += t == last;
        for (int k = 0; k < CALLS; k++) {
            broadcast_four(t, at, 100 * i + k);
            broadcast_four(old, at_old, 100 * i + k + 50);
        }
        last = t;
        MPI_Type_free(&t);
    }
    MPI_Type_free(&old);
    CHECK(again > 0, "no handle was used again");
}

static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *n; i++)
        ((int *)inout)[i] += ((const int *)in)[i];
}

/* Of all operands the first one. */
static void left(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    memcpy(inout, in, (size_t)*n * sizeof(int));
}

/* The handle of an operation that was freed may be that of the next one, which does not commute. Calls with operations of the
 * user are cached all the same. */
static void freed_operations_are_not_mistaken(void)
{
    enum { OPERATIONS = 40, CALLS = 4, N = 3 };
    int p = test_size(), sum = p * (p + 1) / 2, bad = 0;
    long long before = counter("plans_built");
    for (int k = 0; k < OPERATIONS; k++) {
        bool commutes = k % 3 != 2;
        MPI_Op op;
        MPI_Op_create(commutes ? add : left, commutes, &op);
        for (int i = 0; i < CALLS; i++) {
            int in[N] = {test_rank() + 1, 1, 2}, out[N], want = commutes ? sum : 1;
            MPI_Allreduce(in, out, N, MPI_INT, op, MPI_COMM_WORLD);
            bad += out[0] != want;
            MPI_Reduce(in, out, N, MPI_INT, op, p - 1, MPI_COMM_WORLD);
            bad += test_rank() == p - 1 && out[0] != want;
        }
        MPI_Op_free(&op);
    }
    CHECK(bad == 0, "operations that come and go give %d wrong results", bad);
    long long built = counter("plans_built") - before;
    CHECK(built <= 4, "%lld plans were built for two kinds of two calls", built);
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv, "cache");
    long long v;
    const char *size = getenv("SKEIN_CACHE"), *how = getenv("SKEIN_ALLREDUCE");
    const char *check = getenv("SKEIN_CHECK");
    if (!test_counter("plans_built", &v))
        test_skip("no library with counters is loaded");
    else if (test_size() < 2)
        test_skip("a single rank");
    else if (check != NULL && strcmp(check, "on") == 0)
        check_with_sizes_that_change();
    else if (how != NULL && strcmp(how, "off") == 0)
        off_goes_to_the_host();
    else if (size != NULL && atoi(size) <= 4) {
        small_cache_evicts();
        freed_types_are_not_mistaken();
    } else {
        freed_types_are_not_mistaken();
        freed_operations_are_not_mistaken();
        second_call_builds_nothing();
        nonblocking_shares_the_plan();
    }
    return test_end();
}
