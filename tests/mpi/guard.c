/* guard.c: many calls that resemble each other, so that Skein and the host serve them by turns, with ranks that
 * come at random times. All ranks must decide alike, and every result is checked.
 *   guard SEED CALLS [none | some | global | tuned]    nothing may be tried on the host, or something of each test, or
 *                                                      of each but neighbourhoods; with a tuning file it may serve all
 *   guard SEED CALLS apart | apart-some    the blocking calls beside nonblocking ones are on the communicator that theirs
 *                           was made of: some ranks start theirs before it, others after it
 *   guard SEED CALLS sizes | sizes-some    on several nodes: alltoallv and scatterv of short blocks, then of long ones,
 *                           some of which the host serves, then of short ones; and rooted calls of long ones in place
 *   guard SEED CALLS any     each call has another size, and now and then a rank alone makes a wrong one
 *   guard SEED CALLS two    only a bcast and a neighbourhood collective, of one size each */
#include "testlib.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 3000, LONG = 20000, LONGER = 75000, NSIZES = 3 };
static const int sizes[NSIZES] = {1, 60, MOST};

typedef struct data {
    MPI_Comm comm, graph;  /* in the graph all other ranks are neighbours, from the next one on */
    int me, p, n, k, root; /* ints of a block; number of the call */
    int *in, *out, *counts, *displs;
    unsigned *apart; /* NULL, or the seed of this rank: see above */
    bool any;        /* sizes */
    int late;        /* one in so many blocking calls comes at another place than on other ranks */
} data;

/* What rank r has in its block for rank q, in call k. */
static int value(const data *d, int r, int q, int i)
{
    return r * 1000003 + q * 10007 + i * 31 + d->k;
}

static void fill(data *d, bool to_each)
{
    for (int q = 0; q < (to_each ? d->p : 1); q++)
        for (int i = 0; i < d->n; i++)
            d->in[q * d->n + i] = value(d, d->me, q, i);
    for (int i = 0; i < d->p * d->n; i++)
        d->out[i] = -1;
}

static void expect(const data *d, const char *what, int at, int want)
{
    CHECK(d->out[at] == want, "%s %d of %d ints, root %d: out[%d] is %d, not %d", what, d->k, d->n,
          d->root, at, d->out[at], want);
}

static int sum(const data *d, int from, int to, int i)
{
    unsigned all = 0;
    for (int r = from; r < to; r++)
        all += (unsigned)value(d, r, 0, i);
    return (int)all;
}

static void bcast(data *d)
{
    fill(d, false);
    if (d->me == d->root)
        memcpy(d->out, d->in, sizeof(int) * (size_t)d->n);
    MPI_Bcast(d->out, d->n, MPI_INT, d->root, d->comm);
    for (int i = 0; i < d->n; i++)
        expect(d, "bcast", i, value(d, d->root, 0, i));
}

static void reduce(data *d)
{
    fill(d, false);
    MPI_Reduce(d->in, d->out, d->n, MPI_INT, MPI_SUM, d->root, d->comm);
    for (int i = 0; i < d->n && d->me == d->root; i++)
        expect(d, "reduce", i, sum(d, 0, d->p, i));
}

static void allreduce(data *d)
{
    fill(d, false);
    MPI_Allreduce(d->in, d->out, d->n, MPI_INT, MPI_SUM, d->comm);
    for (int i = 0; i < d->n; i++)
        expect(d, "allreduce", i, sum(d, 0, d->p, i));
}

static void scan(data *d)
{
    fill(d, false);
    MPI_Scan(d->in, d->out, d->n, MPI_INT, MPI_SUM, d->comm);
    for (int i = 0; i < d->n; i++)
        expect(d, "scan", i, sum(d, 0, d->me + 1, i));
}

static void gathered(const data *d, const char *what)
{
    for (int r = 0; r < d->p; r++)
        for (int i = 0; i < d->n; i++)
            expect(d, what, r * d->n + i, value(d, r, 0, i));
}

static void gatherv(data *d)
{
    fill(d, false);
    MPI_Gatherv(d->in, d->n, MPI_INT, d->out, d->counts, d->displs, MPI_INT, d->root, d->comm);
    if (d->me == d->root)
        gathered(d, "gatherv");
}

/* Of the block from rank r to rank q; not all ranks see calls of one size. */
static int uneven(const data *d, int r, int q)
{
    return (r + 2 * q + d->k) % 3 == 0 ? 1 : d->n;
}

static void alltoallv(data *d)
{
    int *from = must_alloc(sizeof(int) * (size_t)d->p);
    fill(d, true);
    for (int q = 0; q < d->p; q++) {
        d->counts[q] = uneven(d, d->me, q);
        from[q] = uneven(d, q, d->me);
    }
    MPI_Alltoallv(d->in, d->counts, d->displs, MPI_INT, d->out, from, d->displs, MPI_INT, d->comm);
    for (int r = 0; r < d->p; r++)
        for (int i = 0; i < d->n; i++)
            expect(d, "alltoallv", r * d->n + i, i < from[r] ? value(d, r, d->me, i) : -1);
    free(from);
}

static void scatterv(data *d)
{
    fill(d, true);
    for (int q = 0; q < d->p; q++)
        d->counts[q] = uneven(d, d->root, q);
    int mine = uneven(d, d->root, d->me);
    MPI_Scatterv(d->in, d->counts, d->displs, MPI_INT, d->out, mine, MPI_INT, d->root, d->comm);
    for (int i = 0; i < d->n; i++)
        expect(d, "scatterv", i, i < mine ? value(d, d->root, d->me, i) : -1);
}

static void allgather(data *d)
{
    fill(d, false);
    MPI_Allgather(d->in, d->n, MPI_INT, d->out, d->n, MPI_INT, d->comm);
    gathered(d, "allgather");
}

static void alltoall(data *d)
{
    fill(d, true);
    MPI_Alltoall(d->in, d->n, MPI_INT, d->out, d->n, MPI_INT, d->comm);
    for (int r = 0; r < d->p; r++)
        for (int i = 0; i < d->n; i++)
            expect(d, "alltoall", r * d->n + i, value(d, r, d->me, i));
}

static void scatter(data *d)
{
    fill(d, true);
    MPI_Scatter(d->in, d->n, MPI_INT, d->out, d->n, MPI_INT, d->root, d->comm);
    for (int i = 0; i < d->n; i++)
        expect(d, "scatter", i, value(d, d->root, d->me, i));
}

static int neighbor(const data *d, int i)
{
    return (d->me + 1 + i) % d->p;
}

static void gathered_around(const data *d, const char *what)
{
    for (int e = 0; e < d->p - 1; e++)
        for (int i = 0; i < d->n; i++)
            expect(d, what, e * d->n + i, value(d, neighbor(d, e), 0, i));
}

static void neighbor_allgather(data *d)
{
    fill(d, false);
    MPI_Neighbor_allgather(d->in, d->n, MPI_INT, d->out, d->n, MPI_INT, d->graph);
    gathered_around(d, "neighbor_allgather");
}

/* Of two ranks, one is the other's neighbour number e and has it as number p - 2 - e. */
static void exchanged(const data *d, const char *what)
{
    for (int e = 0; e < d->p - 1; e++)
        for (int i = 0; i < d->n; i++)
            expect(d, what, e * d->n + i, value(d, neighbor(d, e), d->p - 2 - e, i));
}

static void neighbor_alltoall(data *d)
{
    fill(d, true);
    MPI_Neighbor_alltoall(d->in, d->n, MPI_INT, d->out, d->n, MPI_INT, d->graph);
    exchanged(d, "neighbor_alltoall");
}

static void neighbor_alltoallv(data *d)
{
    fill(d, true);
    MPI_Neighbor_alltoallv(d->in, d->counts, d->displs, MPI_INT, d->out, d->counts, d->displs,
                           MPI_INT, d->graph);
    exchanged(d, "neighbor_alltoallv");
}

static void make_graph(data *d)
{
    int *to = must_alloc(sizeof(int) * (size_t)d->p);
    for (int i = 0; i < d->p - 1; i++)
        to[i] = neighbor(d, i);
    MPI_Dist_graph_create_adjacent(d->comm, d->p - 1, to, MPI_UNWEIGHTED, d->p - 1, to,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &d->graph);
    free(to);
}

/* Ranks 0 and 1 are neighbours; the others have none, and may call with any size or none. */
static void lonely(data *d, int calls)
{
    MPI_Comm pair;
    int two = d->me < 2, other = 1 - d->me;
    MPI_Dist_graph_create_adjacent(d->comm, two, &other, MPI_UNWEIGHTED, two, &other,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &pair);
    for (d->k = 0; d->k < calls; d->k++) {
        d->n = sizes[d->k % NSIZES];
        test_watch(60, "call %d with lonely ranks", d->k);
        fill(d, false);
        int n = two ? d->n : 0;
        MPI_Neighbor_allgather(d->in, n, MPI_INT, d->out, n, MPI_INT, pair);
        for (int i = 0; i < n; i++)
            expect(d, "neighbor_allgather of two", i, value(d, other, 0, i));
    }
    MPI_Comm_free(&pair);
}

static void barrier(data *d)
{
    MPI_Barrier(d->comm);
}

/* Rounds: its bits may depend on the order. */
static void sum_of_doubles(data *d)
{
    double in = d->me + 0.1, out = 0;
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, d->comm);
    CHECK(out > 0, "allreduce of doubles gives %g", out);
}

/* ---- nonblocking: several under way, with buffers of their own, and now and then a blocking call ---- */

enum {
    UNDER_WAY = 3,
    IBCAST = 0,
    IALLTOALL,
    IGATHERV,
    IALLREDUCE,
    INEIGHBOR_ALLGATHER,
    INEIGHBOR_ALLTOALL,
    INEIGHBOR_ALLTOALLV
};

static void start_one(data *d, int which, MPI_Request *request)
{
    fill(d, which == IALLTOALL || which >= INEIGHBOR_ALLTOALL);
    switch (which) {
    case IBCAST:
        if (d->me == d->root)
            memcpy(d->out, d->in, sizeof(int) * (size_t)d->n);
        MPI_Ibcast(d->out, d->n, MPI_INT, d->root, d->comm, request);
        break;
    case IALLTOALL:
        MPI_Ialltoall(d->in, d->n, MPI_INT, d->out, d->n, MPI_INT, d->comm, request);
        break;
    case IGATHERV:
        MPI_Igatherv(d->in, d->n, MPI_INT, d->out, d->counts, d->displs, MPI_INT, d->root, d->comm,
                     request);
        break;
    case IALLREDUCE:
        MPI_Iallreduce(d->in, d->out, d->n, MPI_INT, MPI_SUM, d->comm, request);
        break;
    case INEIGHBOR_ALLGATHER:
        MPI_Ineighbor_allgather(d->in, d->n, MPI_INT, d->out, d->n, MPI_INT, d->graph, request);
        break;
    case INEIGHBOR_ALLTOALL:
        MPI_Ineighbor_alltoall(d->in, d->n, MPI_INT, d->out, d->n, MPI_INT, d->graph, request);
        break;
    default:
        MPI_Ineighbor_alltoallv(d->in, d->counts, d->displs, MPI_INT, d->out, d->counts, d->displs,
                                MPI_INT, d->graph, request);
    }
}

static void check_one(const data *d, int which)
{
    for (int i = 0; which == IBCAST && i < d->n; i++)
        expect(d, "ibcast", i, value(d, d->root, 0, i));
    for (int i = 0; which == IALLTOALL && i < d->p * d->n; i++)
        expect(d, "ialltoall", i, value(d, i / d->n, d->me, i % d->n));
    if (which == IGATHERV && d->me == d->root)
        gathered(d, "igatherv");
    for (int i = 0; which == IALLREDUCE && i < d->n; i++)
        expect(d, "iallreduce", i, sum(d, 0, d->p, i));
    if (which == INEIGHBOR_ALLGATHER)
        gathered_around(d, "ineighbor_allgather");
    if (which == INEIGHBOR_ALLTOALL || which == INEIGHBOR_ALLTOALLV)
        exchanged(d, which == INEIGHBOR_ALLTOALL ? "ineighbor_alltoall" : "ineighbor_alltoallv");
}

/* `d` has the buffers of one; those of the others come after it. */
static void nonblocking(data *d, int which)
{
    static int *in[UNDER_WAY], *out[UNDER_WAY];
    size_t most = sizeof(int) * (size_t)d->p * MOST;
    MPI_Request request[UNDER_WAY];
    data one[UNDER_WAY];
    bool neighbors = which >= INEIGHBOR_ALLGATHER,
         late = d->apart && rand_r(d->apart) % d->late == 0;
    MPI_Comm parent = neighbors ? d->comm : MPI_COMM_WORLD;
    if (late)
        MPI_Barrier(parent);
    for (int i = 0; i < UNDER_WAY; i++) {
        one[i] = *d;
        one[i].k = d->k * UNDER_WAY + i;
        one[i].in = in[i] = in[i] ? in[i] : must_alloc(most);
        one[i].out = out[i] = out[i] ? out[i] : must_alloc(most);
        start_one(&one[i], which, &request[i]);
    }
    if (d->apart && !late)
        MPI_Barrier(parent);
    if (d->k % 3 == 0)
        MPI_Wait(&request[1], MPI_STATUS_IGNORE);
    MPI_Waitall(UNDER_WAY, request, MPI_STATUSES_IGNORE);
    for (int i = 0; i < UNDER_WAY; i++)
        check_one(&one[i], which);
    if (!d->apart && d->k % 10 == 9)
        MPI_Barrier(neighbors ? d->graph : d->comm);
}

static void ibcast(data *d)
{
    nonblocking(d, IBCAST);
}

static void ialltoall(data *d)
{
    nonblocking(d, IALLTOALL);
}

static void igatherv(data *d)
{
    nonblocking(d, IGATHERV);
}

static void iallreduce(data *d)
{
    nonblocking(d, IALLREDUCE);
}

static void ineighbor_allgather(data *d)
{
    nonblocking(d, INEIGHBOR_ALLGATHER);
}

static void ineighbor_alltoall(data *d)
{
    nonblocking(d, INEIGHBOR_ALLTOALL);
}

static void ineighbor_alltoallv(data *d)
{
    nonblocking(d, INEIGHBOR_ALLTOALLV);
}

static void (*const tests[])(data *) = {bcast,
                                        reduce,
                                        allreduce,
                                        scan,
                                        gatherv,
                                        alltoallv,
                                        scatterv,
                                        allgather,
                                        alltoall,
                                        scatter,
                                        barrier,
                                        ibcast,
                                        ialltoall,
                                        igatherv,
                                        iallreduce,
                                        neighbor_allgather,
                                        neighbor_alltoall,
                                        neighbor_alltoallv,
                                        ineighbor_allgather,
                                        ineighbor_alltoall,
                                        ineighbor_alltoallv};
enum { NTESTS = (int)(sizeof tests / sizeof *tests), NEIGHBORS = 6 }; /* the last ones */

/* Another size in each call, of any length. */
static int any_size(const data *d)
{
    unsigned h = (unsigned)d->k * 2654435761U;
    return 1 + (int)((h >> 8) % MOST >> (h >> 4) % 12);
}

/* A call that the host refuses, at this rank alone: the others must not hear of it. */
static void refused(const data *d, int which)
{
    MPI_Request request;
    int rc = MPI_ERR_COUNT, one = d->counts[0];
    d->counts[0] = -1;
    if (tests[which] == bcast)
        rc = MPI_Bcast(d->out, -1, MPI_INT, d->root, d->comm);
    else if (tests[which] == ibcast)
        rc = MPI_Ibcast(d->out, -1, MPI_INT, d->root, d->comm, &request);
    else if (tests[which] == igatherv && d->me == d->root)
        rc = MPI_Igatherv(d->in, d->n, MPI_INT, d->out, d->counts, d->displs, MPI_INT, d->root,
                          d->comm, &request);
    else if (tests[which] == gatherv && d->me == d->root)
        rc = MPI_Gatherv(d->in, d->n, MPI_INT, d->out, d->counts, d->displs, MPI_INT, d->root,
                         d->comm);
    else if (tests[which] == allgather)
        rc = MPI_Allgather(d->in, d->n, MPI_INT, d->out, -1, MPI_INT, d->comm);
    else if (tests[which] == alltoallv)
        rc = MPI_Alltoallv(d->in, d->counts, d->displs, MPI_INT, d->out, d->counts, d->displs,
                           MPI_INT, d->comm);
    CHECK(rc != MPI_SUCCESS, "a wrong call of test %d is right", which);
    d->counts[0] = one;
}

static void use(data *d, int which, unsigned *seed)
{
    if (rand_r(seed) % 16 == 0)
        usleep((unsigned)rand_r(seed) % 200);
    bool own = tests[which] == gatherv || tests[which] == alltoallv || tests[which] == scatterv;
    if (d->any)
        d->n = any_size(d);
    else
        d->n = sizes[(own && d->k / 100 % 2 ? d->k / 25 : d->k) % NSIZES]; /* also many of a size */
    for (int r = 0; r < d->p; r++) {
        d->counts[r] = d->n;
        d->displs[r] = r * d->n;
    }
    d->root = d->k / 5 % d->p;
    test_watch(60, "call %d of test %d", d->k, which);
    if (d->any && d->k % 16 == 5 && d->k / 16 % d->p == d->me)
        refused(d, which);
    tests[which](d);
}

/* Blocks so long that none of them goes through leaders. Short ones before must not make them Skein's: the host serves
 * the first ones, and later ones if it is faster. */
static void sizes_that_change(data *d, int calls, bool some, unsigned *seed)
{
    enum { PHASES = 5 };
    static void (*const test[])(data *) = {alltoallv, scatterv};
    for (int t = 0; t < 2; t++)
        for (int phase = 0; phase < PHASES; phase++) {
            long long before = 0, after = 0;
            some = some && test_counter("host", &before);
            d->n = phase % 2 ? LONG : 1;
            for (int r = 0; r < d->p; r++)
                d->displs[r] = r * d->n;
            for (d->k = 0; d->k < calls; d->k++) {
                if (rand_r(seed) % 16 == 0)
                    usleep((unsigned)rand_r(seed) % 200);
                test_watch(60, "call %d of phase %d of test %d", d->k, phase, t);
                test[t](d);
            }
            CHECK(!some || phase != 1 || (test_counter("host", &after) && after > before),
                  "the host has served no long blocks in phase %d of test %d", phase, t);
        }
}

static void rooted_in_place(data *d, bool scatters, bool v)
{
    bool root = d->me == d->root;
    fill(d, scatters);
    for (int i = 0; !scatters && root && i < d->n; i++)
        d->out[d->me * d->n + i] = d->in[i];
    void *to = scatters && root ? MPI_IN_PLACE : d->out;
    const void *from = !scatters && root ? MPI_IN_PLACE : d->in;
    if (scatters && v)
        MPI_Scatterv(from, d->counts, d->displs, MPI_INT, to, d->n, MPI_INT, d->root, d->comm);
    else if (scatters)
        MPI_Scatter(from, d->n, MPI_INT, to, d->n, MPI_INT, d->root, d->comm);
    else if (v)
        MPI_Gatherv(from, d->n, MPI_INT, to, d->counts, d->displs, MPI_INT, d->root, d->comm);
    else
        MPI_Gather(from, d->n, MPI_INT, to, d->n, MPI_INT, d->root, d->comm);
    for (int i = 0; scatters && !root && i < d->n; i++)
        expect(d, "scatter in place", i, value(d, d->root, d->me, i));
    if (!scatters && root)
        gathered(d, "gather in place");
}

/* Only the root knows that it is in place. Blocks are longer than any that goes through leaders. */
static void in_place_at_the_root(data *d)
{
    enum { CALLS = 6 };
    d->n = LONGER;
    for (int r = 0; r < d->p; r++) {
        d->counts[r] = d->n;
        d->displs[r] = r * d->n;
    }
    for (int what = 0; what < 4; what++)
        for (d->k = 0; d->k < CALLS; d->k++) {
            d->root = d->k / 2 % d->p;
            test_watch(60, "call %d in place, test %d", d->k, what);
            rooted_in_place(d, what & 1, what & 2);
        }
}

/* Calls that the host has served; 0 where nobody counts. */
static long long by_host(void)
{
    long long n = 0;
    return test_counter("host", &n) ? n : 0;
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv, "guard");
    unsigned seed = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 1;
    int calls = argc > 2 ? atoi(argv[2]) : 300, p = test_size();
    const char *want = argc > 3 ? argv[3] : "";
    bool changing = strncmp(want, "sizes", 5) == 0;
    size_t most = sizeof(int) * (size_t)p * (changing ? LONGER : MOST);
    data d[2];
    for (int i = 0; i < 2; i++) {
        d[i] = (data){.me = test_rank(), .p = p, .in = must_alloc(most), .out = must_alloc(most)};
        d[i].counts = must_alloc(sizeof(int) * (size_t)p);
        d[i].displs = must_alloc(sizeof(int) * (size_t)p);
        MPI_Comm_dup(MPI_COMM_WORLD, &d[i].comm);
        make_graph(&d[i]);
        d[i].apart = strncmp(want, "apart", 5) == 0 ? &seed : NULL;
        d[i].any = strcmp(want, "any") == 0;
        if (d[i].any)
            MPI_Comm_set_errhandler(d[i].comm, MPI_ERRORS_RETURN);
        d[i].late =
            strcmp(want, "apart-some") == 0 ? 256 : 16; /* ranks that differ agree on nothing */
    }
    seed += (unsigned)test_rank() * 7919; /* other delays at each rank */
    bool two = strcmp(want, "two") == 0 || changing;
    if (changing) {
        sizes_that_change(&d[0], calls, strcmp(want, "sizes-some") == 0, &seed);
        in_place_at_the_root(&d[0]);
        calls = 0;
    }
    for (d[0].k = 0; two && d[0].k < calls; d[0].k++) {
        d[0].n = MOST;
        bcast(&d[0]);
        neighbor_allgather(&d[0]);
    }
    for (int which = 0; !two && which < NTESTS; which++) {
        long long before = by_host();
        for (int k = 0; k < calls; k++) {
            data *one = &d[k % 7 == 0];
            one->k = k;
            use(one, which, &seed);
        }
        long long tried = by_host() - before;
        CHECK(tried == 0 || strcmp(want, "none") != 0, "the host has served %lld calls", tried);
        bool must = strcmp(want, "some") == 0 || strcmp(want, "apart-some") == 0 ||
                    (strcmp(want, "global") == 0 && which < NTESTS - NEIGHBORS);
        CHECK(tried > 0 || !must, "the host has served no calls of test %d", which);
    }
    if (!two)
        lonely(&d[0], calls);
    long long tried, before = by_host();
    for (int k = 0; !two && k < calls; k++)
        sum_of_doubles(&d[0]);
    tried = by_host() - before;
    CHECK(tried == 0 || strcmp(want, "tuned") == 0 || d[0].any,
          "the host has served %lld reductions that may round", tried);
    for (int i = 0; i < 2; i++) {
        MPI_Comm_free(&d[i].comm);
        MPI_Comm_free(&d[i].graph);
        free(d[i].in);
        free(d[i].out);
        free(d[i].counts);
        free(d[i].displs);
    }
    return test_end();
}
