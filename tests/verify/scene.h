/* scene.h: one call of a collective as all ranks see it: the calls, and where the standard says
 * that their blocks lie. Laid out here without help of src/algo, so that it can be checked. */
#ifndef VERIFY_SCENE_H
#define VERIFY_SCENE_H

#include "base/arena.h"
#include "coll/algo.h"
#include "neighborhoods.h"

typedef enum layout {
    LAY_PLAIN, /* contiguous, blocks follow each other */
    LAY_HOLES, /* a type with a hole; v-collectives: blocks permuted, with gaps */
    LAY_MIXED, /* each rank its own types of the same signature; otherwise as LAY_HOLES.
                * Reductions: a type that runs backwards */
    LAY_EMPTY, /* elements of no bytes */
    LAY_COUNT
} layout;

typedef enum spread {
    SPREAD_EVEN,   /* v-collectives: all blocks of one size */
    SPREAD_UNEVEN, /* sizes differ, some blocks are empty */
    SPREAD_ONE,    /* all but one block are empty */
    SPREAD_COUNT
} spread;

typedef struct kase {
    sk_coll coll;
    int p, root;
    int64_t units; /* elements of a block, or about so */
    layout lay;
    spread spread;
    bool in_place, ordered;
    const neighborhoods *neighborhoods; /* neighbourhood collectives, as are these: */
    int64_t combine;
    int window;
    const sk_machine *machine; /* NULL: not known; with it, these: */
    int64_t slot_bytes;
    bool direct;
    int leaders;
} kase;

/* The blocks of one side of one rank, and the memory they span, from the buffer's address. */
typedef struct side_map {
    sk_span *block;
    int n;
    int64_t lo, hi;
} side_map;

typedef struct scene {
    kase k;
    sk_arena *arena;
    sk_call *call;                 /* one per rank, as are these: */
    side_map *send, *recv;         /* reduction inputs and results: one block, the vector */
    sk_neighborhood *neighborhood; /* neighbourhood collectives */
} scene;

extern const sk_type scene_types[];

bool coll_is_rooted(sk_coll coll);
bool coll_is_v(sk_coll coll); /* counts may differ from block to block */
bool coll_reduces(sk_coll coll);
bool coll_has_in_place(sk_coll coll);
bool coll_gathers_from_neighbors(sk_coll coll); /* one block goes to all targets */

/* Does this rank know what all ranks know? */
bool scene_knows(const scene *sc, int rank);

/* NULL when out of memory. */
scene *scene_new(const kase *k);
void scene_free(scene *s);

/* "allgather p=5 root=0 ..." */
void kase_print(const kase *k, char *out, size_t size);

#endif
