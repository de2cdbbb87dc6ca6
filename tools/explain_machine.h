/* explain_machine.h: what a call sends from node to node of a machine, with the names that the
 * ranks have and with those that they take for it. */
#ifndef SK_EXPLAIN_MACHINE_H
#define SK_EXPLAIN_MACHINE_H

#include "coll/algo.h"
#include "shape.h"

/* The machine of the room's shape is known; `r` may be NULL: the ranks keep their names. */
sk_status sk_explain_machine(const sk_algo *a, const sk_shape_room *room, const sk_machine *m,
                             const sk_rename *r);

#endif
