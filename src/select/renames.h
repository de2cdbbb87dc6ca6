/* renames.h: whether the ranks of a communicator take new names for a call, and these names. */
#ifndef SK_RENAMES_H
#define SK_RENAMES_H

#include "select/select.h"

/* The names that a machine has been given so far: made when first asked for, kept with the
 * communicator. Starts as {0}. */
typedef struct sk_renames {
    const sk_machine *machine;
    bool made[SK_PREFERS_ROUND_ROBIN + 1];
    sk_rename *rename[SK_PREFERS_ROUND_ROBIN + 1]; /* NULL, when made: names fit as they are */
} sk_renames;
void sk_renames_free(sk_renames *x);

/* The names with which the algorithm sends least from node to node; NULL: those that the ranks
 * have, which they keep unless others are better. SKEIN_RENAME=on asks for what the algorithm is
 * made for instead, and off for nothing. Where order of operands matters, and where scratch would
 * exceed SKEIN_MEM, names are kept. The result is the same on all ranks. *out, set on success only,
 * is borrowed from `x`. */
sk_status sk_renames_choose(sk_renames *x, const sk_select *sel, const sk_algo *a, const sk_call *c,
                            const sk_rename **out);

/* ", ranks renamed: sequential", or nothing at all, to end the reason of a choice. */
void sk_renames_explain(const sk_rename *r, char *why, size_t size);

#endif
