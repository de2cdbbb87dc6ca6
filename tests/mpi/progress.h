/* progress.h: calls in which rank 0 blocks until rank 1 makes its matching call. */
#ifndef PROGRESS_H
#define PROGRESS_H

#include "flight.h"

enum { SHORT = 3, LONG = 1 << 18, TAG = 77 };

/* Buffers and communicators of a stall, made before the collective starts. */
typedef struct stall_context {
    MPI_Comm comm; /* not the one of the collective */
    int rank;
    MPI_Comm spare; /* a duplicate, may be freed */
    MPI_Comm half;  /* all but rank 0 */
    int *buf;       /* LONG ints */
    void *attached; /* buffer for MPI_Bsend */
    flight flight;
} stall_context;

void stall_open(stall_context *st);
void stall_close(stall_context *st);

/* The first n ints of the buffer came from this rank, as the status says. */
void stall_check(const stall_context *st, int from, int n, MPI_Status *s);
void send_short(stall_context *st); /* to the other of ranks 0 and 1 */

typedef struct stall {
    const char *name;
    void (*blocked)(stall_context *st); /* rank 0, the collective in flight */
    void (*release)(stall_context *st); /* rank 1, the collective done */
    bool all;                           /* the other ranks release as well: a collective call */
} stall;

extern const stall p2p_stalls[], set_stalls[], coll_stalls[]; /* each ends with a NULL name */
bool stall_matches(const stall *s, const char *prefix);

#endif
