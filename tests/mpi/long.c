/* long.c: blocks of many lengths, from a few bytes to more than all caches hold, through the forms
 * whose sizes only two ranks know. Every word says from where, to where and which it is. */
#include "testlib.h"

#include <stdio.h>
#include <stdlib.h>

static const char *const about[] = {"short", "middling", "much at a time", "a flood"};
enum { KINDS = 4 };

static int kind;

/* Words from one rank to another: both ways alike, and now and then few. */
static int words(int from, int to)
{
    int n = test_size(), lo = from < to ? from : to, hi = from < to ? to : from;
    int all[KINDS] = {60, 4000, 3 << 17, 27 << 17};
    if ((lo + 2 * hi + kind) % 5 == 0)
        return 1 + lo;
    return all[kind] / (n > 1 ? n - 1 : 1) + 1000 * kind * (lo + hi);
}

static uint64_t word(int from, int to, int i)
{
    return (uint64_t)(kind * 10007 + from * 101 + to) << 32 | (uint32_t)i;
}

typedef struct blocks { /* one for each rank, one after the other */
    uint64_t *at;
    int *count, *displ;
} blocks;

static blocks blocks_new(void)
{
    int n = test_size(), sum = 0;
    blocks b = {.count = must_alloc((size_t)n * sizeof *b.count),
                .displ = must_alloc((size_t)n * sizeof *b.displ)};
    for (int i = 0; i < n; i++) {
        b.count[i] = words(test_rank(), i);
        b.displ[i] = sum;
        sum += b.count[i];
    }
    b.at = must_alloc((size_t)sum * sizeof *b.at);
    return b;
}

static void blocks_free(blocks *b)
{
    free(b->at);
    free(b->count);
    free(b->displ);
}

static void fill(blocks *b)
{
    for (int to = 0; to < test_size(); to++)
        for (int i = 0; i < b->count[to]; i++)
            b->at[b->displ[to] + i] = word(test_rank(), to, i);
}

/* The words of a block, with so many places from one to the next. */
static void check(const uint64_t *at, int from, int step, const char *what)
{
    for (int i = 0; i < words(from, test_rank()); i++)
        if (at[(size_t)i * (size_t)step] != word(from, test_rank(), i)) {
            test_fail("%s, %s: word %d from rank %d is wrong", what, about[kind], i, from);
            return;
        }
}

static void check_all(const blocks *b, const char *what)
{
    for (int from = 0; from < test_size(); from++)
        check(b->at + b->displ[from], from, 1, what);
}

static void scatterv(int root)
{
    blocks out = blocks_new();
    int n = words(root, test_rank());
    uint64_t *in = must_alloc((size_t)n * sizeof *in);
    fill(&out);
    MPI_Scatterv(out.at, out.count, out.displ, MPI_UINT64_T, in, n, MPI_UINT64_T, root,
                 MPI_COMM_WORLD);
    check(in, root, 1, "scatterv");
    free(in);
    blocks_free(&out);
}

static void gatherv(int root)
{
    blocks out = blocks_new(), in = blocks_new();
    fill(&out);
    MPI_Gatherv(out.at + out.displ[root], out.count[root], MPI_UINT64_T, in.at, in.count, in.displ,
                MPI_UINT64_T, root, MPI_COMM_WORLD);
    if (test_rank() == root)
        check_all(&in, "gatherv");
    blocks_free(&out);
    blocks_free(&in);
}

static void alltoallv(void)
{
    blocks out = blocks_new(), in = blocks_new();
    fill(&out);
    MPI_Alltoallv(out.at, out.count, out.displ, MPI_UINT64_T, in.at, in.count, in.displ,
                  MPI_UINT64_T, MPI_COMM_WORLD);
    check_all(&in, "alltoallv");
    MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_UINT64_T, out.at, out.count, out.displ,
                  MPI_UINT64_T, MPI_COMM_WORLD);
    check_all(&out, "alltoallv in place");
    blocks_free(&out);
    blocks_free(&in);
}

/* Every second word of a buffer is received. */
static void alltoallw(void)
{
    int n = test_size();
    blocks out = blocks_new();
    MPI_Datatype *types = must_alloc(2 * (size_t)n * sizeof(MPI_Datatype)), *sparse = types + n;
    int *at = must_alloc(3 * (size_t)n * sizeof *at), *ones = at + n, *to = at + 2 * n;
    size_t room = 0;
    for (int i = 0; i < n; i++) {
        types[i] = MPI_UINT64_T;
        at[i] = out.displ[i] * (int)sizeof(uint64_t);
        ones[i] = 1;
        to[i] = 2 * at[i];
        MPI_Type_vector(out.count[i], 1, 2, MPI_UINT64_T, &sparse[i]);
        MPI_Type_commit(&sparse[i]);
        room += 2 * (size_t)out.count[i];
    }
    uint64_t *in = must_alloc(room * sizeof *in);
    fill(&out);
    MPI_Alltoallw(out.at, out.count, at, types, in, ones, to, sparse, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++) {
        check(in + 2 * (size_t)out.displ[i], i, 2, "alltoallw");
        MPI_Type_free(&sparse[i]);
    }
    free(in);
    free(at);
    free(types);
    blocks_free(&out);
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv, "long");
    for (int round = 0; round < 2 * KINDS; round++) {
        kind = round % KINDS;
        test_watch(60, "%s", about[kind]);
        for (int root = 0; root < test_size(); root += 1 + test_size() / 2) {
            scatterv(root);
            gatherv(root);
        }
        alltoallv();
        if (!test_on_host())
            alltoallw();
    }
    if (test_on_host())
        test_skip("alltoallw, which Open MPI 4.1.4 copies to itself wrongly");
    return test_end();
}
