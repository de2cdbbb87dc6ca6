/* unlike.c: calls that look different at some ranks, which must decide alike all the same.
 *   unlike empty      a rank without data passes one address twice
 *   unlike first      rank 0 passes no buffer for the result of exscan, which it has none of
 *   unlike in-place   arrays that are not significant end at the end of the memory
 *   unlike one-buffer  some ranks pass one buffer for both sides, with blocks that do not overlap
 *   unlike types      one rank has types of its own, so its calls are not cached
 *   unlike operation  an operation of the user's on a type that the ranks have made differently
 *   unlike mended [some]  calls in which a host hangs, crashes or errs if it is made to serve them; some: it must serve some
 *   unlike blocked    a call on one communicator, while others wait for a collective on another
 *   unlike numbers N  more topologies than Skein has numbers, and a rank without neighbours */
#include "testlib.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { CALLS = 60, MOST_RANKS = 64 };

static void empty(void)
{
    int me = test_rank(), p = test_size(), one = 0, other = 0;
    int counts[MOST_RANKS], counts_too[MOST_RANKS], displs[MOST_RANKS];
    int in[MOST_RANKS], out[MOST_RANKS];
    void *from = me ? in : &one, *to = me ? out : &one;
    for (int i = 0; i < p; i++) {
        counts[i] = counts_too[i] = me && i;
        displs[i] = i;
        in[i] = 100 * me + i;
    }
    for (int k = 0; k < CALLS; k++) {
        test_watch(20, "empty calls, %d", k);
        MPI_Allreduce(&one, me ? &other : &one, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Alltoall(from, 0, MPI_INT, to, 0, MPI_INT, MPI_COMM_WORLD);
        memset(out, 0, sizeof out);
        MPI_Alltoallv(from, counts, displs, MPI_INT, to, counts_too, displs, MPI_INT,
                      MPI_COMM_WORLD);
        for (int i = 1; me && i < p; i++)
            CHECK(out[i] == 100 * i + me, "alltoallv %d: %d from rank %d", k, out[i], i);
    }
}

static void first_rank(void)
{
    int me = test_rank(), one = 1, before[2];
    MPI_Request q;
    for (int k = 0; k < CALLS; k++) {
        test_watch(20, "exscan, %d", k);
        before[0] = before[1] = me ? -1 : 0;
        MPI_Exscan(&one, me ? &before[0] : NULL, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Iexscan(&one, me ? &before[1] : NULL, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &q);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
        CHECK(before[0] == me && before[1] == me, "exscan %d: %d, %d", k, before[0], before[1]);
    }
}

static void in_place(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int me = test_rank(), p = test_size(), *last = (int *)(void *)(memory + page) - 1;
    int counts[MOST_RANKS], displs[MOST_RANKS], data[MOST_RANKS];
    mprotect(memory + page, page, PROT_NONE);
    test_watch(20, "in place");
    for (int k = 0; k < CALLS; k++) {
        for (int i = 0; i < p; i++) {
            counts[i] = 1;
            displs[i] = i;
            data[i] = 100 * me + i;
        }
        MPI_Alltoallv(MPI_IN_PLACE, last, last, MPI_INT, data, counts, displs, MPI_INT,
                      MPI_COMM_WORLD);
        for (int i = 0; i < p; i++)
            CHECK(data[i] == 100 * i + me, "alltoallv %d: %d from rank %d", k, data[i], i);
    }
    munmap(memory, 2 * page);
}

/* `apart`: all blocks to be sent are before those that are received. Else they have the same places, but of each
 * place only one side has a block. The arrays of counts differ: MPICH refuses equal ones. */
static void exchange_in_one_buffer(int k, bool apart, bool w)
{
    int me = test_rank(), p = test_size(), memory[4 * MOST_RANKS];
    int *in = memory, *out = me % 2 ? memory + 2 * MOST_RANKS : memory;
    int sent[MOST_RANKS], got[MOST_RANKS], from[MOST_RANKS], to[MOST_RANKS];
    MPI_Datatype type[MOST_RANKS];
    int unit = w ? (int)sizeof(int) : 1;
    for (int i = 0; i < p; i++) {
        sent[i] = apart || i > me;
        got[i] = apart || i < me;
        from[i] = i * unit;
        to[i] = (apart ? p + i : i) * unit;
        type[i] = MPI_INT;
        in[i] = 100 * me + i + k;
    }
    if (w)
        MPI_Alltoallw(in, sent, from, type, out, got, to, type, MPI_COMM_WORLD);
    else
        MPI_Alltoallv(in, sent, from, MPI_INT, out, got, to, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < p; i++) {
        int at = out[to[i] / unit];
        CHECK(!got[i] || at == 100 * i + me + k, "alltoall%c %d: %d from rank %d", w ? 'w' : 'v', k,
              at, i);
    }
}

static void one_buffer(void)
{
    for (int which = 0; which < 4; which++)
        for (int k = 0; k < CALLS; k++) {
            test_watch(20, "exchange %d in one buffer, test %d", k, which);
            exchange_in_one_buffer(k, which & 1, which & 2);
        }
}

static void types(void)
{
    int me = test_rank(), p = test_size(), counts[MOST_RANKS], displs[MOST_RANKS], out[MOST_RANKS];
    MPI_Datatype own, type;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Type_contiguous(1, MPI_INT, &own);
    MPI_Type_commit(&own);
    type = me ? MPI_INT : own;
    for (int i = 0; i < p; i++) {
        counts[i] = 1;
        displs[i] = i;
    }
    for (int k = 0; k < CALLS; k++) {
        int in = 100 * me + k, root = k % p;
        MPI_Request request;
        test_watch(20, "gatherv %d with types of one rank's own", k);
        memset(out, 0, sizeof out);
        MPI_Igatherv(&in, 1, type, out, counts, displs, type, root, comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Bcast(&in, 1, type, root, comm); /* where ranks may compare */
        for (int i = 0; me == root && i < p; i++)
            CHECK(out[i] == 100 * i + k, "gatherv %d: %d from rank %d", k, out[i], i);
    }
    MPI_Type_free(&own);
    MPI_Comm_free(&comm);
}

/* Rank 0 sends by a type of 16 ints, so Open MPI believes that it gets 16 times as much. */
static void add(void *a, void *b, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *n; i++)
        ((int *)b)[i] += ((int *)a)[i];
}

/* MPI_INT, made in as many ways as there are. */
static MPI_Datatype int_type(int way)
{
    int at = 0;
    MPI_Datatype type = MPI_INT, twice;
    switch (way % 6) {
    case 0:
        return MPI_INT;
    case 1:
        MPI_Type_dup(MPI_INT, &type);
        break;
    case 2:
        MPI_Type_contiguous(1, MPI_INT, &type);
        break;
    case 3:
        MPI_Type_vector(1, 1, 7, MPI_INT, &type);
        break;
    case 4:
        MPI_Type_create_resized(MPI_INT, 0, sizeof(int), &type);
        break;
    default:
        MPI_Type_create_indexed_block(1, 1, &at, MPI_INT, &twice);
        MPI_Type_dup(twice, &type);
        MPI_Type_free(&twice);
    }
    MPI_Type_commit(&type);
    return type;
}

static void operation(void)
{
    enum { MOST = 50000 };
    static const int counts[] = {1, 30, 700, 9000, MOST};
    int me = test_rank(), p = test_size(), *in = must_alloc(MOST * sizeof *in),
        *out = must_alloc(MOST * sizeof *out);
    MPI_Op sum;
    MPI_Op_create(add, 1, &sum);
    for (int i = 0; i < MOST; i++)
        in[i] = me * 3 + i;
    for (int k = 0; k < CALLS; k++) {
        MPI_Datatype type = int_type(me + k / 5);
        MPI_Request r;
        int n = counts[k % 5], root = k % p;
        test_watch(20, "an operation of the user's on %d numbers, types made differently, %d", n,
                   k);
        for (int form = 0; form < 3; form++) {
            memset(out, 0, MOST * sizeof *out);
            if (form == 0)
                MPI_Allreduce(in, out, n, type, sum, MPI_COMM_WORLD);
            else if (form == 1)
                MPI_Reduce(in, out, n, type, sum, root, MPI_COMM_WORLD);
            else {
                MPI_Iallreduce(in, out, n, type, sum, MPI_COMM_WORLD, &r);
                MPI_Wait(&r, MPI_STATUS_IGNORE);
            }
            for (int i = 0; i < n && (form != 1 || me == root); i++)
                CHECK(out[i] == p * (p - 1) / 2 * 3 + p * i, "form %d, call %d: %d at %d", form, k,
                      out[i], i);
        }
        if (type != MPI_INT)
            MPI_Type_free(&type);
    }
    MPI_Op_free(&sum);
    free(in);
    free(out);
}

static void gather_unlike(MPI_Comm comm, int k, int n, const int *in, int *out)
{
    enum { EACH = 16 };
    int me = test_rank(), p = test_size(), counts[MOST_RANKS], displs[MOST_RANKS];
    MPI_Datatype sixteen;
    MPI_Type_contiguous(EACH, MPI_INT, &sixteen);
    MPI_Type_commit(&sixteen);
    for (int i = 0; i < p; i++) {
        counts[i] = n;
        displs[i] = i * n;
    }
    memset(out, 0, sizeof(int) * (size_t)(p * n));
    MPI_Allgatherv(in, me ? n : n / EACH, me ? MPI_INT : sixteen, out, counts, displs, MPI_INT,
                   comm);
    for (int i = 0; i < p * n; i++)
        CHECK(out[i] == 100 * (i / n) + i % n, "allgatherv %d: [%d] is %d", k, i, out[i]);
    MPI_Type_free(&sixteen);
}

/* In place at a root that is not 0, where MPICH 4.0 reads from MPI_IN_PLACE. */
static void reduce_in_place(MPI_Comm comm, int k, int n, const int *in, int *out)
{
    int me = test_rank(), p = test_size(), root = 1 + k % (p - 1);
    memcpy(out, in, sizeof(int) * (size_t)n);
    MPI_Reduce(me == root ? MPI_IN_PLACE : in, out, n, MPI_INT, MPI_SUM, root, comm);
    for (int i = 0; me == root && i < n; i++)
        CHECK(out[i] == 50 * p * (p - 1) + p * i, "reduce %d: [%d] is %d", k, i, out[i]);
}

/* The columns of a matrix with two rows: Open MPI keeps those of other ranks between its own. */
static void gather_columns(MPI_Comm comm, int k, int n, const int *in, int *out)
{
    int me = test_rank(), p = test_size(), root = k % p, half = n / 2;
    MPI_Datatype rows, column;
    MPI_Type_vector(2, 1, half, MPI_INT, &rows);
    MPI_Type_create_resized(rows, 0, sizeof(int), &column);
    MPI_Type_commit(&column);
    memset(out, 0, sizeof(int) * (size_t)(p * n));
    MPI_Gather(in, half, column, out, n, MPI_INT, root, comm);
    for (int i = 0; me == root && i < p * n; i++) {
        int at = i % n;
        CHECK(out[i] == 100 * (i / n) + at / 2 + at % 2 * half, "gather %d: [%d] is %d", k, i,
              out[i]);
    }
    MPI_Type_free(&rows);
    MPI_Type_free(&column);
}

/* An array of types, one for each rank, that ends at the end of the memory: Open MPI reads one for each neighbour. */
static void exchange_on_grid(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int me, p = test_size(), dims[3] = {p, 1, 1}, periods[3] = {1, 1, 1};
    int counts[MOST_RANKS], displs[MOST_RANKS], in[MOST_RANKS], out[MOST_RANKS];
    MPI_Datatype *types = (MPI_Datatype *)(void *)(memory + page) - p;
    MPI_Comm grid;
    MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, 0, &grid);
    MPI_Comm_rank(grid, &me);
    mprotect(memory + page, page, PROT_NONE);
    for (int k = 0; k < CALLS; k++) {
        MPI_Request request;
        test_watch(20, "alltoallw %d on a grid", k);
        for (int i = 0; i < p; i++) {
            counts[i] = 1;
            displs[i] = i * (int)sizeof(int);
            types[i] = MPI_INT;
            in[i] = 100 * me + i;
        }
        MPI_Ialltoallw(in, counts, displs, types, out, counts, displs, types, grid, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Barrier(grid); /* where ranks compare */
        for (int i = 0; i < p; i++)
            CHECK(out[i] == 100 * i + me, "alltoallw %d: %d from rank %d", k, out[i], i);
    }
    MPI_Comm_free(&grid);
    munmap(memory, 2 * page);
}

static void mended(bool some)
{
    enum { MOST = 1 << 11 };
    static const int sizes[] = {16, 256, MOST};
    int me = test_rank(), p = test_size();
    int *in = must_alloc(MOST * sizeof *in), *out = must_alloc((size_t)p * MOST * sizeof *out);
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int i = 0; i < MOST; i++)
        in[i] = 100 * me + i;
    static void (*const test[])(MPI_Comm comm, int k, int n, const int *in,
                                int *out) = {gather_unlike, reduce_in_place, gather_columns};
    for (int what = 0; what < 3; what++) {
        long long before = 0, after = 0;
        bool counted = test_counter("host", &before);
        for (int k = 0; k < 3 * CALLS; k++) {
            test_watch(20, "test %d, call %d", what, k);
            test[what](comm, k, sizes[k % 3], in, out);
        }
        counted = counted && test_counter("host", &after);
        CHECK(!some || !counted || after > before, "the host has served no call of test %d", what);
    }
    exchange_on_grid();
    MPI_Comm_free(&comm);
    free(in);
    free(out);
}

static void blocked(void)
{
    enum { LONG = 1 << 17, ALONE = 4 };
    int me = test_rank(), x = 0, *in = must_alloc(LONG * sizeof *in),
        *out = must_alloc(LONG * sizeof *out);
    MPI_Comm one, other;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &one);
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    for (int k = 0; k < ALONE + CALLS; k++) {
        test_watch(20, "bcast %d while ranks wait for another communicator", k);
        if (me == 0)
            usleep(2000); /* the others have begun, and cannot end without this rank */
        if (k >= ALONE)
            MPI_Iallreduce(in, out, LONG, MPI_INT, MPI_SUM, one, &request);
        if (me == 0)
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Bcast(&x, 1, MPI_INT, 0, other);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Comm_free(&one);
    MPI_Comm_free(&other);
    free(in);
    free(out);
}

static void numbers(int n)
{
    enum { LONG = 1 << 18 };
    int me = test_rank(), p = test_size(), some = me < p - 1;
    int to = (me + 1) % (p - 1), from = (me + p - 2) % (p - 1);
    int *in = must_alloc(LONG * sizeof *in), *out = must_alloc(LONG * sizeof *out);
    MPI_Comm *all = must_alloc((size_t)n * sizeof *all);
    test_watch(200, "%d topologies", n);
    for (int i = 0; i < n; i++)
        MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, some, &from, MPI_UNWEIGHTED, some, &to,
                                       MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &all[i]);
    for (int k = 0; k < CALLS; k++) {
        int count = k == 3 ? LONG : 1;
        test_watch(20, "call %d on the last of %d topologies", k, n);
        in[0] = 100 * me + k;
        MPI_Neighbor_allgather(in, count, MPI_INT, out, count, MPI_INT, all[n - 1]);
        CHECK(!some || out[0] == 100 * from + k, "neighbor_allgather %d: %d", k, out[0]);
        if (k > CALLS / 2)
            MPI_Barrier(all[n - 1]);
    }
    test_watch(200, "free %d topologies", n);
    for (int i = 0; i < n; i++)
        MPI_Comm_free(&all[i]);
    free(all);
    free(in);
    free(out);
}

int main(int argc, char **argv)
{
    int provided;
    const char *what = argc > 1 ? argv[1] : "empty";
    test_begin_thread(&argc, &argv, "unlike",
                      strcmp(what, "blocked") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                      &provided);
    if (strcmp(what, "empty") == 0)
        empty();
    else if (strcmp(what, "first") == 0)
        first_rank();
    else if (strcmp(what, "in-place") == 0)
        in_place();
    else if (strcmp(what, "one-buffer") == 0)
        one_buffer();
    else if (strcmp(what, "types") == 0)
        types();
    else if (strcmp(what, "operation") == 0)
        operation();
    else if (strcmp(what, "mended") == 0)
        mended(argc > 2 && strcmp(argv[2], "some") == 0);
    else if (strcmp(what, "blocked") == 0)
        blocked();
    else if (strcmp(what, "numbers") == 0)
        numbers(argc > 2 ? atoi(argv[2]) : 1100);
    else
        test_fail("there is no test %s", what);
    return test_end();
}
