/* list.c: one linked list per side, searched from its oldest item on, as MPICH does it: what the
 * matcher does for short queues, at any length.
 * cost  the items before the one that fits
 * good for  short queues, and as the reference for all other engines */
#include "match/engine.h"

const sk_engine sk_engine_list = {
    .name = "list",
    .help = "one list per queue",
    .brief = UINT64_MAX,
};
