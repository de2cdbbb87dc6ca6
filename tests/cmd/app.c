/* app.c [STATUS | wait NAME]: an MPI program that tells what it was given, and returns a status or
 * writes its process id to NAME.RANK and waits. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *get(const char *name)
{
    const char *v = getenv(name);
    return v ? v : "none";
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    printf("rank %d preload=%s report=%s mem=%s provider=%s host=%s\n", rank, get("LD_PRELOAD"),
           get("SKEIN_REPORT"), get("SKEIN_MEM"), get("OMPI_MCA_mtl_ofi_provider_include"), host);
    fflush(stdout);
    if (argc > 2 && strcmp(argv[1], "wait") == 0) {
        char name[4096];
        snprintf(name, sizeof name, "%s.%d", argv[2], rank);
        FILE *f = fopen(name, "w");
        if (!f || fprintf(f, "%d\n", (int)getpid()) < 0 || fclose(f))
            MPI_Abort(MPI_COMM_WORLD, 9);
        sleep(600);
    }
    MPI_Finalize();
    return argc > 1 ? atoi(argv[1]) : 0;
}
