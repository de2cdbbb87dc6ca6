/* shape.h: a collective as a user describes it in words, and the call each rank would make. */
#ifndef SK_SHAPE_H
#define SK_SHAPE_H

#include "base/arena.h"
#include "coll/call.h"

typedef struct sk_shape {
    sk_coll coll;
    int nranks, root;
    int64_t elems;     /* of one block, or of the vector: what colls.def says `bytes` counts */
    int64_t elem_size; /* bytes */
    bool ordered;
    const sk_machine *machine; /* NULL: not known */
    int64_t shared;            /* bytes of a slot that its ranks share; 0: no shared memory */
} sk_shape;

/* A neighbourhood collective by its name, also without its "neighbor_"; SK_NCOLLS when it is none.
 */
sk_coll sk_shape_neighbor_coll(const char *name);

/* reduce_scatter_block has equal blocks only: the vector is rounded up to them. */
void sk_shape_round(sk_shape *s);

/* Room shared by the calls of all ranks, in an arena; NULL when out of memory. */
typedef struct sk_shape_room sk_shape_room;
sk_shape_room *sk_shape_room_new(sk_arena *a, const sk_shape *s);

/* The call of one rank, of any collective but those of neighbours. It borrows from the room. The
 * v-collectives get counts as equal as can be.
 */
sk_call sk_shape_call(const sk_shape_room *room, int rank);

#endif
