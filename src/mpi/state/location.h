/* location.h: who sits where. The ranks of a communicator exchange this once, in one allgather,
 * whoever needs it first: discovery.c or setup.c. */
#ifndef SK_LOCATION_H
#define SK_LOCATION_H

#include "mpi/state/comm.h"
#include "shm/cma.h"
#include "topo/graph.h"

/* What a rank says about its neighbours; all zero on a communicator without topology. */
typedef struct sk_graph_note {
    int32_t targets, sources;
    int32_t traits; /* see setup.c */
} sk_graph_note;

/* What a rank says about itself. */
typedef struct sk_rank_note {
    sk_location location;
    int32_t cores;             /* of its node */
    int32_t cpus;              /* it may run on; 0: not known */
    uint64_t cpu_set;          /* equal numbers: the same set of cpus */
    sk_export_handle probe_at; /* the word `probe` in its memory: others try to read it */
    uint64_t probe;
    sk_graph_note graph;
} sk_rank_note;

/* Start the exchange on the private duplicate, which must be ready. *request may stay
 * MPI_REQUEST_NULL: then it is complete. When it completes, call sk_locate_end; this fills
 * c->machine and c->notes. The notes stay until sk_locate_free_notes. */
sk_status sk_locate_begin(sk_comm *c, sk_graph_note graph, MPI_Request *request);
sk_status sk_locate_end(sk_comm *c);
void sk_locate_free_notes(sk_comm *c);

#endif
