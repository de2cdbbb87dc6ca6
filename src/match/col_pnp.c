/* col_pnp.c: queues for collectives that adapt to their calls, and for busy point-to-point
 * partners. */
#include "match/split.h"

static void *col_pnp_make(const sk_match_config *config)
{
    return sk_split_new(config, true, true);
}

const sk_engine sk_engine_col_pnp = {
    .name = "col+pnp",
    .help = "collectives: queues by profile; point-to-point: a queue per busy partner",
    .make = col_pnp_make,
    SK_SPLIT_PARTS,
};
