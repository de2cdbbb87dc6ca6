/* parts.h: the calls that an algorithm is made of: with leaders, the phase among them. */
#ifndef SK_EXPLAIN_PARTS_H
#define SK_EXPLAIN_PARTS_H

#include "callspec.h"
#include "select/select.h"

/* Prints a line for each, with the algorithm that serves it and the reason. `rank` sees the call; `rename`
 * may be NULL. */
sk_status sk_explain_parts(const sk_select *select, const sk_callspec_args *args, int rank,
                           const sk_algo *algo, const sk_rename *rename);

#endif
