/* list.c: one linked list per side, searched from its oldest item on, as MPICH does. The matcher
 * does this for short queues; here it does so for queues of any length.
 *
 *   cost      the items before the one that matches
 *   good for  short queues, and as the reference for all other engines */
#include "match/engine.h"

const sk_engine sk_engine_list = {
    .name = "list",
    .help = "one list per queue",
    .short_limit = UINT64_MAX,
};
