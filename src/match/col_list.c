/* col_list.c: queues for collectives that adapt to their calls, a list for point-to-point. */
#include "match/split.h"

static void *col_list_make(const sk_match_config *config)
{
    return sk_split_new(config, true, false);
}

const sk_engine sk_engine_col_list = {
    .name = "col+list",
    .help = "collectives: queues by profile; point-to-point: a list",
    .make = col_list_make,
    SK_SPLIT_PARTS,
};
