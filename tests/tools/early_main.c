/* early_main.c: ends well if the library it links has started MPI and reduced a vector. */
#include <mpi.h>

int early(void);

int main(void)
{
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Finalize();
    return early() == size ? 0 : 1;
}
