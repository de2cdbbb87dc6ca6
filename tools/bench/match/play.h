/* play.h: a stream through an engine. */
#ifndef SK_PLAY_H
#define SK_PLAY_H

#include "bench/match/stream.h"

/* Holds the items of a stream; plays it as often as one likes. First every item has a place of its
 * own; sk_player_pack then lets items take the places of those that have matched, as a program
 * reuses its requests. */
typedef struct sk_player sk_player;

typedef struct sk_played {
    bool complete; /* false: given up after the limit, the rest is about the part that was played */
    double seconds;   /* with filling in the items */
    uint64_t ops;     /* played */
    uint64_t matches; /* pairs that have met, and messages claimed after a peek */
    uint64_t result; /* sum over what every operation returned: equal for equal matches, of complete
                        plays of the same player, both before or both after packing */
    sk_match_stats stats;
} sk_played;

sk_status sk_player_new(const sk_stream *s, sk_player **out); /* keeps the stream */
void sk_player_free(sk_player *p);

/* SK_BADARG: no such engine. config->nranks 0: the stream's. Gives up after `limit` seconds
 * of processor time. */
sk_status sk_player_run(sk_player *p, const char *engine, const sk_match_config *config,
                        double limit, sk_played *out);

/* After a complete play. SK_BADARG: the stream claims or cancels what has gone (only one that was
 * read from a file can). */
sk_status sk_player_pack(sk_player *p);

/* Sums over both sides, of point-to-point items or of all the others. */
typedef struct sk_tally {
    uint64_t searches, traversals, found;
} sk_tally;
sk_tally sk_tally_of(const sk_match_stats *s, bool p2p);

double sk_seconds(void); /* of a steady clock */

#endif
