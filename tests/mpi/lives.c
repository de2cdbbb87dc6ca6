/* lives.c: communicators made, used and freed in all the ways a program may.
 *   lives idup         MPI_Comm_idup overlapped with other collectives and messages
 *   lives attributes   the user's copy and delete functions run as often as without Skein, and may make
 *                      communicators themselves
 *   lives again N      N communicators one after the other, of changing sets of ranks
 *   lives many N       N communicators at a time
 *   lives together N   likewise, all of which Skein serves, over few new pages
 *   lives apart N      N communicators of every rank's own, between calls on a common one
 *   lives first        the first few hundred calls on MPI_COMM_WORLD touch no new pages */
#include "testlib.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

static void use(MPI_Comm comm, const char *what)
{
    int me, p;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &p);
    for (int i = 0; i < 6; i++) {
        double mine = me + i, sum = 0;
        int word = i * 3;
        MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
        CHECK(sum == p * (p - 1) / 2.0 + p * i, "allreduce %d on %s gives %g", i, what, sum);
        word = me == i % p ? word : -1;
        MPI_Bcast(&word, 1, MPI_INT, i % p, comm);
        CHECK(word == i * 3, "bcast %d on %s gives %d", i, what, word);
    }
}

/* ---- idup ---- */

/* A message to the next rank, and an allreduce, under way with a duplication. */
static void overlap(MPI_Comm comm, const char *what, bool collective_first)
{
    MPI_Request q[4];
    MPI_Comm dup;
    int me, p, inter, got = -1, sum = -1, remote;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &p);
    MPI_Comm_test_inter(comm, &inter);
    remote = p;
    if (inter)
        MPI_Comm_remote_size(comm, &remote);
    int next = inter ? me % remote : (me + 1) % p, before = inter ? me : (me + p - 1) % p;
    MPI_Request *r = q;
    if (collective_first)
        MPI_Iallreduce(&me, &sum, 1, MPI_INT, MPI_SUM, comm, r++);
    MPI_Comm_idup(comm, &dup, r++);
    if (!collective_first)
        MPI_Iallreduce(&me, &sum, 1, MPI_INT, MPI_SUM, comm, r++);
    bool messages = !inter || p == remote; /* to its like */
    if (messages) {
        MPI_Irecv(&got, 1, MPI_INT, before, 3, comm, r++);
        MPI_Isend(&me, 1, MPI_INT, next, 3, comm, r++);
    }
    MPI_Waitall((int)(r - q), q, MPI_STATUSES_IGNORE);
    CHECK(!messages || got == before, "a message beside idup of %s is from %d", what, got);
    int want = remote * (remote - 1) / 2;
    CHECK(sum == want, "iallreduce beside idup of %s gives %d", what, sum);
    if (!inter)
        use(dup, what);
    MPI_Comm_free(&dup);
}

static void idup(void)
{
    MPI_Comm half, inter, merged;
    int me = test_rank(), p = test_size(), high = me >= (p + 1) / 2;
    for (int i = 0; i < 20; i++) {
        test_watch(60, "idup %d", i);
        overlap(MPI_COMM_WORLD, "MPI_COMM_WORLD", i % 2);
        MPI_Comm_split(MPI_COMM_WORLD, high, me, &half);
        if (i % 3)
            use(half, "a half");
        overlap(half, "a half", i % 2);
        if (p > 1) {
            MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, high ? 0 : (p + 1) / 2, 5, &inter);
            overlap(inter, "an intercommunicator", i % 2);
            MPI_Intercomm_merge(inter, high, &merged);
            overlap(merged, "a merged one", i % 2);
            MPI_Comm_free(&merged);
            MPI_Comm_free(&inter);
        }
        MPI_Comm_free(&half);
        /* Two at once, which each rank waits for in its own order. Not of the same communicator: that
         * hangs in Open MPI 4.1.4 as soon as ranks test the requests at different times. */
        MPI_Comm dups[2], twin;
        MPI_Request q[4];
        int most[2] = {0};
        MPI_Comm_dup(MPI_COMM_WORLD, &twin);
        MPI_Comm_idup(twin, &dups[0], &q[0]);
        MPI_Iallreduce(&me, &most[0], 1, MPI_INT, MPI_MAX, twin, &q[1]);
        MPI_Comm_idup(MPI_COMM_WORLD, &dups[1], &q[2]);
        MPI_Iallreduce(&me, &most[1], 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &q[3]);
        for (int k = 0; k < 4; k++)
            MPI_Wait(&q[(k + me) % 4], MPI_STATUS_IGNORE);
        CHECK(most[0] == p - 1 && most[1] == p - 1, "iallreduces beside idups");
        for (int k = 0; k < 2; k++) {
            use(dups[k], "one of two");
            MPI_Comm_free(&dups[k]);
        }
        MPI_Comm_free(&twin);
    }
}

/* ---- attributes ---- */

static int copied, deleted, key, inner_key;

static int copy(MPI_Comm old, int k, void *extra, void *value, void *out, int *flag)
{
    (void)old, (void)k;
    if (extra) { /* make one more communicator in the middle of the duplication */
        MPI_Comm more;
        MPI_Comm_dup(MPI_COMM_SELF, &more);
        use(more, "one made by a copy function");
        MPI_Comm_free(&more);
    }
    copied++;
    *(void **)out = value;
    *flag = 1;
    return MPI_SUCCESS;
}

static int drop(MPI_Comm old, int k, void *value, void *extra)
{
    (void)old, (void)k, (void)value, (void)extra;
    deleted++;
    return MPI_SUCCESS;
}

static void attributes(void)
{
    static int value;
    MPI_Comm a, b, c;
    test_watch(60, "attributes");
    MPI_Comm_create_keyval(copy, drop, &key, NULL);
    MPI_Comm_create_keyval(copy, drop, &inner_key, &value);
    for (int with_inner = 0; with_inner < 2; with_inner++) {
        int each = 1 + with_inner;
        copied = deleted = 0;
        MPI_Comm_dup(MPI_COMM_WORLD, &a);
        MPI_Comm_set_attr(a, key, &value);
        if (with_inner)
            MPI_Comm_set_attr(a, inner_key, &value);
        use(a, "one with attributes");
        CHECK(copied == 0 && deleted == 0, "%d copies, %d deletions before any", copied, deleted);
        MPI_Comm_dup(a, &b);
        CHECK(copied == each, "one dup: %d copies", copied);
        use(b, "a duplicate with attributes");
        MPI_Request q;
        MPI_Comm_idup(b, &c, &q);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
        use(c, "a nonblocking duplicate with attributes");
        CHECK(copied == 2 * each && deleted == 0, "dup and idup: %d copies, %d deletions", copied,
              deleted);
        MPI_Comm_free(&c);
        CHECK(deleted == each, "one free: %d deletions", deleted);
        MPI_Comm_free(&b);
        MPI_Comm_free(&a);
        CHECK(copied == 2 * each && deleted == 3 * each, "all freed: %d copies, %d deletions",
              copied, deleted);
    }
    MPI_Comm_free_keyval(&key);
    MPI_Comm_free_keyval(&inner_key);
}

/* ---- again ---- */

/* Collectives of many sizes, short ones through lines, long ones through slots and fifos, and such that
 * let ranks run ahead. */
static void use_sizes(MPI_Comm comm, int life, int *data)
{
    enum { SIZES = 5 };
    static const int sizes[SIZES] = {1, 50, 700, 20000, 150000};
    int me, p;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &p);
    for (int i = 0; i < 12; i++) {
        int n = sizes[(life + i) % SIZES], root = i % p, *all = data + n;
        for (int k = 0; k < n; k++)
            data[k] = life * 1000 + me * 100 + i;
        MPI_Gather(data, n, MPI_INT, all, n, MPI_INT, root, comm);
        for (int r = 0; me == root && r < p; r++)
            CHECK(all[r * n] == life * 1000 + r * 100 + i && all[r * n] == all[r * n + n - 1],
                  "life %d, gather %d of %d numbers: rank %d sent %d", life, i, n, r, all[r * n]);
        MPI_Bcast(data, n, MPI_INT, root, comm);
        CHECK(data[n - 1] == life * 1000 + root * 100 + i, "life %d, bcast %d gives %d", life, i,
              data[n - 1]);
        data[0] = data[n - 1] = me;
        MPI_Allreduce(data, all, n, MPI_INT, MPI_MAX, comm);
        CHECK(all[0] == p - 1 && all[n - 1] == p - 1, "life %d, allreduce %d gives %d", life, i,
              all[0]);
    }
}

/* One after the other, and now and then two at a time: all ranks, halves, all in reverse order. A
 * nonblocking collective may outlive its communicator. */
static void again(int n)
{
    int me = test_rank(), p = test_size();
    int *data = must_alloc((size_t)(p + 1) * 150000 * sizeof *data);
    test_watch(200, "%d communicators one after the other", n);
    for (int life = 0; life < n; life++) {
        MPI_Comm comm, other = MPI_COMM_NULL;
        MPI_Request request = MPI_REQUEST_NULL;
        if (life % 4 == 0)
            MPI_Comm_split(MPI_COMM_WORLD, me < (p + 1) / 2, me, &comm);
        else if (life % 4 == 1)
            MPI_Comm_split(MPI_COMM_WORLD, 0, p - me, &comm);
        else
            MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        if (life % 5 == 0)
            MPI_Comm_dup(comm, &other);
        use_sizes(comm, life, data);
        if (other != MPI_COMM_NULL)
            use_sizes(other, life, data);
        if (life % 3 == 0)
            MPI_Ibarrier(comm, &request);
        MPI_Comm_free(&comm);
        if (other != MPI_COMM_NULL)
            MPI_Comm_free(&other);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    free(data);
}

/* ---- many ---- */

static void many(int n)
{
    MPI_Comm *all = must_alloc((size_t)n * sizeof *all);
    test_watch(240, "%d communicators", n);
    for (int i = 0; i < n; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &all[i]);
        if (i % 16 == 0)
            use(all[i], "one of many");
    }
    for (int i = 0; i < n; i += 5)
        use(all[i], "one of many, used again");
    for (int i = 0; i < n; i++)
        MPI_Comm_free(&all[i]);
    free(all);
    MPI_Comm last;
    MPI_Comm_dup(MPI_COMM_WORLD, &last);
    use(last, "one after many");
    MPI_Comm_free(&last);
}

/* ---- together ---- */

static long page_faults(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return used.ru_minflt;
}

/* After the fourth call, in which it is adopted, the calls on a communicator reuse a few slots. */
static void calls_on_few_pages(MPI_Comm comm, int bytes, char *data)
{
    enum { CALLS = 30, PAGE = 4096, PAGES = 40 };
    int p;
    MPI_Comm_size(comm, &p);
    for (int i = 0; i < 4; i++)
        MPI_Bcast(data, bytes, MPI_CHAR, 0, comm);
    long before = page_faults(), most = PAGES + 4 * (long)p * (bytes / PAGE + 1);
    for (int i = 0; i < CALLS; i++)
        MPI_Bcast(data, bytes, MPI_CHAR, i % p, comm);
    for (int i = 0; i < CALLS; i++)
        MPI_Allgather(MPI_IN_PLACE, 0, MPI_CHAR, data, bytes, MPI_CHAR, comm);
    long faults = page_faults() - before;
    CHECK(faults <= most, "%ld page faults in calls of %d bytes, at most %ld", faults, bytes, most);
}

/* With SKEIN_REPORT the test script sees that no call took another way than shared memory. */
static void together(int n)
{
    static const int bytes[] = {8, 200, 1000, 10000};
    MPI_Comm *all = must_alloc((size_t)n * sizeof *all);
    char *data = must_alloc((size_t)test_size() * 10000);
    memset(data, 1, (size_t)test_size() * 10000);
    test_watch(90, "%d communicators together", n);
    for (int i = 0; i < n; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &all[i]);
        calls_on_few_pages(all[i], bytes[i % 4], data);
    }
    for (int i = 0; i < n; i++)
        MPI_Comm_free(&all[i]);
    free(all);
    free(data);
}

/* ---- apart ---- */

/* Every rank uses communicators of its own between the calls on a common one, other ones at each rank: what
 * Skein keeps at hand differs, but the ranks must serve the common one alike. */
/* Does the kernel make pages when asked? */
static bool pages_can_be_made(void)
{
#ifdef MADV_POPULATE_WRITE
    enum { PAGE = 4096 };
    void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    bool can = page != MAP_FAILED && madvise(page, PAGE, MADV_POPULATE_WRITE) == 0;
    if (page != MAP_FAILED)
        munmap(page, PAGE);
    return can;
#else
    return false;
#endif
}

static void first_calls(void)
{
    enum { CALLS = 250, MOST = 4096, FIRST = 3, FAULTS = 8 };
    static const int bytes[] = {1, 40, 64, 250, 1000, MOST};
    int p = test_size();
    size_t size = (size_t)p * MOST;
    char *in = must_alloc(size), *out = must_alloc(size);
    memset(in, 1, size);
    memset(out, 1, size);
    if (!pages_can_be_made()) {
        test_skip("this kernel makes no pages when asked");
        return;
    }
    for (size_t k = 0; k < sizeof bytes / sizeof *bytes; k++) {
        test_watch(30, "calls of %d bytes", bytes[k]);
        long before = 0;
        for (int i = 0; i < CALLS; i++) {
            before = i == FIRST ? page_faults() : before;
            MPI_Scatter(in, bytes[k], MPI_BYTE, out, bytes[k], MPI_BYTE, 0, MPI_COMM_WORLD);
            MPI_Barrier(MPI_COMM_WORLD);
            MPI_Allgather(in, bytes[k], MPI_BYTE, out, bytes[k], MPI_BYTE, MPI_COMM_WORLD);
        }
        long faults = page_faults() - before;
        CHECK(faults <= FAULTS, "%ld page faults in %d calls of %d bytes, at most %d", faults,
              3 * CALLS, bytes[k], FAULTS);
    }
    free(in);
    free(out);
}

static void apart(int n)
{
    enum { CALLS = 200, LONG = 1 << 14 };
    int me = test_rank(), p = test_size(), *data = must_alloc(LONG * sizeof *data);
    MPI_Comm common, *own = must_alloc((size_t)n * sizeof *own);
    MPI_Comm_dup(MPI_COMM_WORLD, &common);
    for (int i = 0; i < n; i++)
        MPI_Comm_dup(MPI_COMM_SELF, &own[i]);
    for (int k = 0; k < CALLS; k++) {
        test_watch(20, "call %d between calls on %d communicators", k, n);
        for (int i = k % (me + 2); i < n; i += me + 2)
            MPI_Barrier(own[i]);
        data[0] = data[LONG - 1] = me == k % p ? k : -1;
        MPI_Bcast(data, LONG, MPI_INT, k % p, common);
        CHECK(data[0] == k && data[LONG - 1] == k, "bcast %d gives %d and %d", k, data[0],
              data[LONG - 1]);
    }
    for (int i = 0; i < n; i++)
        MPI_Comm_free(&own[i]);
    MPI_Comm_free(&common);
    free(own);
    free(data);
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv, "lives");
    const char *what = argc > 1 ? argv[1] : "idup";
    if (strcmp(what, "idup") == 0)
        idup();
    else if (strcmp(what, "attributes") == 0)
        attributes();
    else if (strcmp(what, "again") == 0)
        again(argc > 2 ? atoi(argv[2]) : 40);
    else if (strcmp(what, "many") == 0)
        many(argc > 2 ? atoi(argv[2]) : 2000);
    else if (strcmp(what, "together") == 0)
        together(argc > 2 ? atoi(argv[2]) : 41);
    else if (strcmp(what, "first") == 0)
        first_calls();
    else if (strcmp(what, "apart") == 0)
        apart(argc > 2 ? atoi(argv[2]) : 400);
    else
        test_fail("there is no test %s", what);
    return test_end();
}
