/* device.c LIBRARY WHEN: collectives on device memory. WHEN says who loads the runtime and when:
 *   early   all ranks, before MPI_Init
 *   one     rank 0 only, before MPI_Init: device memory there meets host memory elsewhere
 *   late    all ranks, after many calls
 * Ends with status 1 if a result is wrong; a touch of device memory ends it by a signal. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device_runtime.h"

enum { N = 32, MANY = 20 };

static __typeof__(&device_alloc) get;
static __typeof__(&device_copy) copy;
static int rank, size, wrong;

static void load(const char *library)
{
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    get = handle ? (__typeof__(get))dlsym(handle, "device_alloc") : NULL;
    copy = handle ? (__typeof__(copy))dlsym(handle, "device_copy") : NULL;
    if (!copy) {
        fprintf(stderr, "no runtime: %s\n", dlerror());
        exit(2);
    }
}

/* Memory of N ints per rank, of the device where there is one. */
static int *new_memory(const int *values, int n)
{
    int *p = get ? get(sizeof *p * (size_t)n) : malloc(sizeof *p * (size_t)n);
    if (get)
        copy(p, values, sizeof *p * (size_t)n);
    else
        memcpy(p, values, sizeof *p * (size_t)n);
    return p;
}

static void expect(const char *what, const int *p, const int *values, int n)
{
    int got[N * 8];
    if (get)
        copy(got, p, sizeof *p * (size_t)n);
    else
        memcpy(got, p, sizeof *p * (size_t)n);
    for (int i = 0; i < n; i++)
        if (got[i] != values[i]) {
            fprintf(stderr, "rank %d: %s: element %d is %d, not %d\n", rank, what, i, got[i],
                    values[i]);
            wrong = 1;
            return;
        }
}

static void reductions(void)
{
    int in[N], zero[N] = {0}, sum[N];
    for (int i = 0; i < N; i++) {
        in[i] = rank + i;
        sum[i] = size * (size - 1) / 2 + size * i;
    }
    int *from = new_memory(in, N), *to = new_memory(zero, N);
    MPI_Allreduce(from, to, N, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect("allreduce", to, sum, N);
    MPI_Allreduce(MPI_IN_PLACE, from, N, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect("allreduce in place", from, sum, N);
    from = new_memory(in, N);
    to = new_memory(zero, N);
    MPI_Request request;
    MPI_Iallreduce(from, to, N, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("iallreduce", to, sum, N);
    to = new_memory(zero, N);
    MPI_Reduce(from, to, N, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    expect("reduce", to, rank == 0 ? sum : zero, N);
}

/* Blocks with gaps, so that what lies in the gaps must stay. */
static void blocks(void)
{
    int mine[N], all[N * 8], none[N * 8], counts[8], displs[8];
    MPI_Datatype pairs;
    MPI_Type_vector(4, 2, 4, MPI_INT, &pairs);
    MPI_Type_commit(&pairs);
    for (int i = 0; i < N; i++)
        mine[i] = 100 * rank + i;
    memset(none, 0xff, sizeof none);
    memcpy(all, none, sizeof all);
    for (int r = 0; r < size; r++) {
        counts[r] = 1;
        displs[r] = r;
        for (int i = 0; i < 14; i++)
            if (i % 4 < 2)
                all[r * 14 + i] = 100 * r + i;
    }
    int *from = new_memory(mine, N), *to = new_memory(none, N * size);
    MPI_Allgatherv(from, 1, pairs, to, counts, displs, pairs, MPI_COMM_WORLD);
    expect("allgatherv", to, all, N * size);
    to = new_memory(none, N * size);
    MPI_Gather(from, 1, pairs, to, 1, pairs, 0, MPI_COMM_WORLD);
    expect("gather", to, rank == 0 ? all : none, N * size);
    to = new_memory(rank == 0 ? all : none, N);
    MPI_Bcast(to, 1, pairs, 0, MPI_COMM_WORLD);
    expect("bcast", to, all, 14);
    MPI_Type_free(&pairs);
}

int main(int argc, char **argv)
{
    const char *when = argv[2], *me = getenv("OMPI_COMM_WORLD_RANK");
    me = me ? me : getenv("PMI_RANK");
    if (strcmp(when, "early") == 0 || (strcmp(when, "one") == 0 && strcmp(me, "0") == 0))
        load(argv[1]);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0, x = 1, sum; i < MANY; i++)
        MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (strcmp(when, "late") == 0)
        load(argv[1]);
    for (int i = 0; i < 3; i++) {
        reductions();
        blocks();
    }
    MPI_Finalize();
    return wrong;
}
