/* renames.h: whether the ranks of a communicator are renamed for a call, and their new names. */
#ifndef SK_RENAMES_H
#define SK_RENAMES_H

#include "select/select.h"

/* The renamings of a machine so far. Each is made when first needed and kept with the
 * communicator. Starts as {0}. */
typedef struct sk_renames {
    const sk_machine *machine;
    bool made[SK_PREFERS_ROUND_ROBIN + 1];
    sk_rename *rename[SK_PREFERS_ROUND_ROBIN + 1]; /* NULL, when made: ranks keep their names */
} sk_renames;
void sk_renames_free(sk_renames *x);

/* The renaming with which the algorithm sends least from node to node; NULL: ranks keep their
 * names, as they do unless another renaming is better. SKEIN_RENAME=on takes the mapping that the
 * algorithm prefers instead, and off takes none. Where the order of operands matters, and where
 * scratch would exceed SKEIN_MEM, names are kept. The result is the same on all ranks. *out, set
 * on success only, is borrowed from `x`. */
sk_status sk_renames_choose(sk_renames *x, const sk_select *sel, const sk_algo *a, const sk_call *c,
                            const sk_rename **out);

/* ", ranks renamed: sequential", or nothing, appended to the reason of a choice. */
void sk_renames_explain(const sk_rename *r, char *why, size_t size);

#endif
