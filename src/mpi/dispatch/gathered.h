/* gathered.h: bytes of all ranks at rank 0, when the job ends. */
#ifndef SK_GATHERED_H
#define SK_GATHERED_H

#include "mpi/state/process.h"

typedef struct sk_gathered {
    char *bytes; /* NULL at the other ranks */
    int *counts; /* of each rank, and where its bytes begin */
    int *at;
} sk_gathered;

/* Collective over MPI_COMM_WORLD. What is too much for one message is left out, rank by rank; the job aborts if
 * there is no memory. */
sk_gathered sk_gather_bytes(const void *mine, size_t n);
void sk_gathered_free(sk_gathered *g);

#endif
