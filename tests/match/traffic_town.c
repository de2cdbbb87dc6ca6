/* traffic_town.c: the communicators of traffic.h. */
#include "traffic.h"

#include <stdlib.h>

/* The world, a copy of it, the world backwards, and every second rank of it. */
void town_make(town *w, const scene *s)
{
    w->world = s->size;
    for (int c = 0; c < COMMS; c++) {
        w->on[c] = *s;
        w->on[c].seed += (uint64_t)c;
        if (c == 1)
            MPI_Comm_dup(s->comm, &w->on[c].comm);
        else if (c > 1)
            MPI_Comm_split(s->comm, c == 3 && s->rank % 2 ? MPI_UNDEFINED : 0,
                           c == 2 ? -s->rank : s->rank, &w->on[c].comm);
        w->on[c].rank = -1;
        if (w->on[c].comm != MPI_COMM_NULL)
            MPI_Comm_rank(w->on[c].comm, &w->on[c].rank);
        w->number[c] = must_alloc((size_t)s->size * sizeof(int));
        MPI_Allgather(&w->on[c].rank, 1, MPI_INT, w->number[c], 1, MPI_INT, s->comm);
    }
}

void town_free(town *w)
{
    for (int c = 0; c < COMMS; c++) {
        free(w->number[c]);
        if (c > 0 && w->on[c].comm != MPI_COMM_NULL)
            MPI_Comm_free(&w->on[c].comm);
    }
}
