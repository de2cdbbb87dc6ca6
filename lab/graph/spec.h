/* spec.h: graphs from a word, for `skein explain`, benchmarks and tests:
 *   random:DELTA[,SEED]   every edge with probability DELTA (Erdos-Renyi), no loops
 *   moore:D,R             all ranks within R in each of D dimensions of a periodic grid whose sides
 *                         are as equal as can be (MPI_Dims_create's rule); each rank once
 *   matrix:FILE           block rows of a sparse matrix: r needs the rows of the ranks in whose
 *                         columns its rows have nonzeros
 * A rank's lists are the same wherever they are made. */
#ifndef SK_SPEC_H
#define SK_SPEC_H

#include "topo/global_graph.h"
#include "topo/graph.h"

typedef struct sk_spec sk_spec;

/* On failure `err` says what is wrong, for a file with the number of the line. */
sk_status sk_spec_new(const char *text, int nranks, sk_spec **out, char *err, size_t size);
void sk_spec_free(sk_spec *s);
sk_status sk_spec_graph(const sk_spec *s, int rank, sk_graph **out);
sk_status sk_spec_whole(const sk_spec *s, sk_global_graph **out);

#endif
