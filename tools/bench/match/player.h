/* player.h: what a player consists of, for its own files. */
#ifndef SK_PLAYER_H
#define SK_PLAYER_H

#include "bench/match/play.h"

#define SK_NOBODY UINT32_MAX

struct sk_player {
    const sk_stream *s;
    sk_match_item *items;
    uint32_t nitems;
    uint32_t *place;   /* of the items, by id */
    uint32_t *partner; /* by id, of the last play before packing; then NULL */
};

#endif
