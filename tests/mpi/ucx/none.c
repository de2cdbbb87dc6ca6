/* none.c: a libmpich.so.12 without UCX behind it, so that none is in the global scope. The program
 * calls no MPI function. */
extern int none_of_mpi;
int none_of_mpi;
