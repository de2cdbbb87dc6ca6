/* progress.h: the calls in which rank 0 can be stuck, and how rank 1 lets it go. */
#ifndef PROGRESS_H
#define PROGRESS_H

#include "flight.h"

enum { SHORT = 3, LONG = 1 << 18, TAG = 77 };

/* What a stall works with, made before the collective starts. */
typedef struct stage {
    MPI_Comm comm; /* not the one of the collective */
    int rank;
    MPI_Comm spare; /* a duplicate, may be freed */
    MPI_Comm half;  /* all but rank 0 */
    int *buf;       /* LONG ints */
    void *attached; /* buffer for MPI_Bsend */
    flight flight;
} stage;

void stage_open(stage *st);
void stage_close(stage *st);

/* The first n ints of the buffer came from this rank, as the status says. */
void stage_check(const stage *st, int from, int n, MPI_Status *s);
void send_short(stage *st); /* to the other of ranks 0 and 1 */

typedef struct stall {
    const char *name;
    void (*blocked)(stage *st); /* rank 0, the collective in flight */
    void (*release)(stage *st); /* rank 1, the collective done */
    bool all;                   /* the other ranks release as well: a collective call */
} stall;

extern const stall p2p_stalls[], set_stalls[], coll_stalls[]; /* each ends with a NULL name */
bool stall_matches(const stall *s, const char *prefix);

#endif
