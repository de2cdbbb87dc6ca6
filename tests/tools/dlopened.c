/* dlopened.c LIBRARY local|global: a program that links no MPI. It loads it while it runs and looks
 * its functions up by the handle, as Julia does. Compiled with the header of that MPI. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *library;

static void *find(const char *name)
{
    void *fn = dlsym(library, name);
    if (!fn) {
        fprintf(stderr, "no %s: %s\n", name, dlerror());
        exit(2);
    }
    return fn;
}

#define CALL(name) ((__typeof__(&MPI_##name))find("MPI_" #name))

/* The handles of the constants are objects of the library, or numbers. */
#ifdef OPEN_MPI
#define OBJECT(type, name) ((type)find(#name))
#define WORLD              OBJECT(MPI_Comm, ompi_mpi_comm_world)
#define INT                OBJECT(MPI_Datatype, ompi_mpi_int)
#define SUM                OBJECT(MPI_Op, ompi_mpi_op_sum)
#else
#define WORLD MPI_COMM_WORLD
#define INT   MPI_INT
#define SUM   MPI_SUM
#endif

int main(int argc, char **argv)
{
    int size, one = 1, sum = 0, wrong = 0;
    int mode = argc > 2 && strcmp(argv[2], "global") == 0 ? RTLD_GLOBAL : RTLD_LOCAL;
    library = dlopen(argv[1], RTLD_NOW | mode);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 2;
    }
    CALL(Init)(&argc, &argv);
    CALL(Comm_size)(WORLD, &size);
    for (int i = 0; i < 6; i++) {
        CALL(Allreduce)(&one, &sum, 1, INT, SUM, WORLD);
        wrong |= sum != size;
    }
    CALL(Finalize)();
    return wrong;
}
