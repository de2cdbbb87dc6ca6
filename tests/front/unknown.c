/* unknown.c: a program of the MPI that Skein does not know. The first calls come from many threads at
 * once. */
#include "unknown_mpi.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 8 };
static pthread_barrier_t together;

static void *call(void *number)
{
    pthread_barrier_wait(&together);
    return MPI_Barrier(number) == *(int *)number ? number : NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread[THREADS];
    int number[THREADS], wrong = 0, sum = 0;
    pthread_barrier_init(&together, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) {
        number[i] = i;
        pthread_create(&thread[i], NULL, call, &number[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        void *result = NULL;
        pthread_join(thread[i], &result);
        wrong |= !result;
    }
    wrong |= MPI_Init(&argc, &argv) != 0;
    wrong |= MPI_Sendrecv(&sum, 1, 2, 3, 4, &sum, 5, 6, 7, 8, &sum, &sum) != 1;
    wrong |= sum != 1 + 4 + 9 + 16 + 25 + 36 + 49 + 64;
    wrong |= !dlsym(RTLD_DEFAULT, "MPI_Barrier");
    wrong |= dlsym(RTLD_DEFAULT, "MPI_Allreduce") != NULL; /* this MPI has none */
    puts(wrong ? "wrong" : "right");
    return wrong;
}
