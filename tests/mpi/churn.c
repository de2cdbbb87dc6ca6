/* churn.c: communicators made, used and freed thousands of times; and intercommunicators, whose
 * collectives are the host's. */
#include "errors.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Resident memory in bytes. */
static long resident(void)
{
    long pages = 0, all;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f != NULL && fscanf(f, "%ld %ld", &all, &pages) != 2)
        pages = 0;
    if (f != NULL)
        fclose(f);
    return pages * sysconf(_SC_PAGESIZE);
}

static int open_files(void)
{
    int n = 0;
    DIR *d = opendir("/proc/self/fd");
    while (d != NULL && readdir(d) != NULL)
        n++;
    if (d != NULL)
        closedir(d);
    return n;
}

/* Pieces of shared memory that are mapped. */
static int segments(void)
{
    char line[512];
    int n = 0;
    FILE *f = fopen("/proc/self/maps", "r");
    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        n += strstr(line, "memfd:skein") != NULL;
    if (f != NULL)
        fclose(f);
    return n;
}

static void use(MPI_Comm c)
{
    int one = 1, sum = 0, size;
    MPI_Request q;
    MPI_Comm_size(c, &size);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, c);
    CHECK(sum == size, "allreduce on a new communicator gives %d", sum);
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_MAX, c, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Bcast(&sum, 1, MPI_INT, 0, c);
    CHECK(sum == 1, "iallreduce and bcast on a new communicator give %d", sum);
}

static void make_use_free(void)
{
    MPI_Comm dup, split;
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_split(dup, 0, -test_rank(), &split);
    use(dup);
    MPI_Comm_free(&dup);
    use(split);
    MPI_Comm_free(&split);
}

void communicators_leave_no_memory_behind(int loops)
{
    const long allowed = 1 << 20; /* what the allocator may lose by fragmentation */
    long early = 0;
    int files = 0, mapped = 0;
    for (int i = 0; i < loops; i++) {
        if (i % 500 == 0)
            test_watch(60, "communicator %d of %d", i, loops);
        if (i == loops / 5)
            early = resident(), files = open_files(), mapped = segments();
        make_use_free();
    }
    CHECK(open_files() <= files, "%d files were open, now %d are", files, open_files());
    CHECK(segments() <= mapped, "%d segments were mapped, now %d are", mapped, segments());
    long grown = resident() - early;
    CHECK(grown <= allowed, "%d communicators left %ld bytes behind", loops - loops / 5, grown);
}

void intercommunicators_work(void)
{
    int p = test_size(), me = test_rank(), side = me % 2, there = side ? (p + 1) / 2 : p / 2;
    if (p < 2) {
        test_skip("intercommunicators need two ranks");
        return;
    }
    test_watch(30, "intercommunicator");
    MPI_Comm local, inter;
    MPI_Request q;
    MPI_Comm_split(MPI_COMM_WORLD, side, 0, &local);
    MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, 1 - side, 12, &inter);
    int one = 1, sum = 0, token = me, *all = must_alloc((size_t)p * sizeof *all);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inter);
    CHECK(sum == there, "allreduce over an intercommunicator gives %d", sum);
    sum = 0;
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inter, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    CHECK(sum == there, "iallreduce over an intercommunicator gives %d", sum);
    MPI_Allgather(&me, 1, MPI_INT, all, 1, MPI_INT, inter);
    for (int i = 0; i < there; i++)
        CHECK(all[i] == 2 * i + 1 - side, "allgather over an intercommunicator gives %d", all[i]);
    MPI_Bcast(&token, 1, MPI_INT, side ? 0 : me == 0 ? MPI_ROOT : MPI_PROC_NULL, inter);
    CHECK(!side || token == 0, "bcast over an intercommunicator gives %d", token);
    MPI_Barrier(inter);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&local);
    free(all);
}
