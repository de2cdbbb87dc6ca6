/* callspec.h: a collective call as a user describes it (collective, ranks, size), and the call that
 * each rank would make. Used without an MPI by `skein explain` and `skein bench`. */
#ifndef SK_CALLSPEC_H
#define SK_CALLSPEC_H

#include "base/arena.h"
#include "coll/call.h"

typedef struct sk_callspec {
    sk_coll coll;
    int nranks, root;
    int64_t elems;             /* of one block or of the vector: what colls.def calls `bytes` */
    int64_t elem_size;         /* bytes */
    bool ordered;              /* the operation does not commute */
    const sk_machine *machine; /* NULL: not known */
    const sk_chooser *chooser; /* of the parts of the call; NULL: algorithms with leaders fail */
    int64_t slot_bytes;        /* of each rank's slot in shared memory; 0: no shared memory */
} sk_callspec;

/* A neighbourhood collective by its name, also without "neighbor_"; SK_NCOLLS when there is
 * none. */
sk_coll sk_neighbor_coll_find(const char *name);

/* Rounds the vector of reduce_scatter_block up to equal blocks. */
void sk_callspec_round(sk_callspec *s);

/* The counts, displacements and types that the calls of all ranks share, in the arena. NULL when
 * out of memory. */
typedef struct sk_callspec_args sk_callspec_args;
sk_callspec_args *sk_callspec_args_new(sk_arena *a, const sk_callspec *s);

/* The call of one rank. Not for neighbourhood collectives. It borrows from `args`. The
 * v-collectives get counts that differ by at most one element. */
sk_call sk_callspec_call(const sk_callspec_args *args, int rank);

#endif
