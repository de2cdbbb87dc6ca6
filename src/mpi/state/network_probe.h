/* network_probe.h: what messages between nodes take, measured in MPI_Init: latency, rate and what a long message
 * waits for its receiver by a rank of each node at once, the cost of a message while all ranks send. It takes some
 * forty times the latency of the network, a few hundred microseconds. All ranks agree on the result, and by it
 * patterns of neighbourhood collectives are chosen. SKEIN_MODEL replaces it. */
#ifndef SK_NETWORK_PROBE_H
#define SK_NETWORK_PROBE_H

#include "mpi/state/host.h"
#include "neighbor/cost/model.h"
#include "topo/machine.h"

/* All ranks of `wire` call this. `cores`: that the ranks of this node have together. What this rank has not measured is 0. */
sk_network sk_network_measure(MPI_Comm wire, int rank, const sk_machine *m, int cores);

#endif
