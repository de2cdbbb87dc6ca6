/* list_pnp.c: a list for collectives, queues for busy point-to-point partners. */
#include "match/split.h"

static void *list_pnp_make(const sk_match_config *config)
{
    return sk_split_new(config, false, true);
}

const sk_engine sk_engine_list_pnp = {
    .name = "list+pnp",
    .help = "collectives: a list; point-to-point: a queue per busy partner",
    .make = list_pnp_make,
    SK_SPLIT_PARTS,
};
