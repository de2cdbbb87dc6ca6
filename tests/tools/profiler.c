/* profiler.c: a small tool as users have them: it counts calls and prints the counts at the end. It is
 * preloaded, linked into the program, or a library that the program links. It reaches the MPI by its
 * PMPI_ names, or with THROUGH_NEXT by the next definition of the MPI_ name. TOOL is its name. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef THROUGH_NEXT
static void *next(const char *name)
{
    void *fn = dlsym(RTLD_NEXT, name);
    if (!fn) {
        fprintf(stderr, "tool %s finds no %s\n", TOOL, name);
        abort();
    }
    return fn;
}
#define MPI(name) ((__typeof__(&MPI_##name))next("MPI_" #name))

/* One is looked up here, before the constructor of a library preloaded before this one runs. */
static __typeof__(&MPI_Bcast) next_bcast;

__attribute__((constructor)) static void find_bcast(void)
{
    next_bcast = (__typeof__(&MPI_Bcast))next("MPI_Bcast");
}
#else
#define MPI(name)  PMPI_##name
#define next_bcast PMPI_Bcast
#endif

static struct {
    int Init, Barrier, Bcast, Allreduce, Iallreduce, Wait, Waitall, Comm_dup, Comm_split,
        Cart_create, Recv;
} seen;

#define WRAP(name, params, args)                                                                   \
    int MPI_##name params                                                                          \
    {                                                                                              \
        seen.name++;                                                                               \
        return MPI(name) args;                                                                     \
    }

WRAP(Init, (int *argc, char ***argv), (argc, argv))
WRAP(Barrier, (MPI_Comm comm), (comm))

int MPI_Bcast(void *buf, int n, MPI_Datatype type, int root, MPI_Comm comm)
{
    seen.Bcast++;
    return next_bcast(buf, n, type, root, comm);
}

WRAP(Allreduce, (const void *in, void *out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
     (in, out, n, type, op, comm))
WRAP(Iallreduce,
     (const void *in, void *out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
      MPI_Request *request),
     (in, out, n, type, op, comm, request))
WRAP(Wait, (MPI_Request * request, MPI_Status *status), (request, status))
WRAP(Waitall, (int n, MPI_Request requests[], MPI_Status *statuses), (n, requests, statuses))
WRAP(Comm_dup, (MPI_Comm comm, MPI_Comm *out), (comm, out))
WRAP(Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm *out), (comm, color, key, out))
WRAP(Cart_create,
     (MPI_Comm comm, int n, const int dims[], const int periods[], int reorder, MPI_Comm *out),
     (comm, n, dims, periods, reorder, out))
WRAP(Recv,
     (void *buf, int n, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status *status),
     (buf, n, type, source, tag, comm, status))

int MPI_Finalize(void)
{
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        printf(
            "tool %s saw init %d barrier %d bcast %d allreduce %d iallreduce %d wait %d waitall %d "
            "dup %d split %d cart %d recv %d\n",
            TOOL, seen.Init, seen.Barrier, seen.Bcast, seen.Allreduce, seen.Iallreduce, seen.Wait,
            seen.Waitall, seen.Comm_dup, seen.Comm_split, seen.Cart_create, seen.Recv);
    fflush(stdout);
    return MPI(Finalize)();
}
