/* script.h: how generators tell what one rank receives: pairs of a receive and its message, each
 * with the time at which it is posted and at which it arrives. The script puts them in order of
 * time. */
#ifndef SK_SCRIPT_H
#define SK_SCRIPT_H

#include "bench/match/kinds.h"
#include "bench/match/stream.h"

sk_script *sk_script_new(sk_stream *to, uint64_t seed); /* NULL when out of memory */
void sk_script_free(sk_script *s);

/* All later pairs belong to this call of a collective, of messages of so many bytes; or, with
 * sk_script_p2p, to none. */
void sk_script_call(sk_script *s, uint16_t kind, uint64_t bytes);
void sk_script_p2p(sk_script *s, uint64_t bytes);

/* Tags tell apart point-to-point messages, and the phases of a collective. */
void sk_script_pair(sk_script *s, uint32_t source, int tag, double posted, double arrives);

/* Hand on to the stream what was told so far, by time. Times start anew. */
void sk_script_flush(sk_script *s);

double sk_script_share(sk_script *s);               /* random, from 0 to below 1 */
uint32_t sk_script_below(sk_script *s, uint32_t n); /* random */

/* A call in which this rank exchanges a message with log2(nranks) others, one after the other, and
 * those who are ahead send early (recursive doubling, binomial trees, dissemination). Starts at
 * time `at`, every phase takes 1; returns the time of its end. */
double sk_script_doubling(sk_script *s, uint32_t nranks, double at, double early);

/* A call whose receives are all posted at once, from `width` others, and whose messages come in any
 * order until `at` + 1; the share `early` of them before the receives. */
double sk_script_spread(sk_script *s, uint32_t nranks, uint32_t width, double at, double early);

#endif
