/* walk.h: the time that a collective takes by the model of prices.h: when its last rank ends, if all ranks
 * start together; and how long each of many calls takes that follow each other, where ranks may run ahead.
 *
 * The profiles of the ranks run against each other, in the order of time. What is modelled:
 *
 * - A rank does its steps one after the other; a round ends when all its messages are over.
 * - Each node has a port for messages to other nodes and one for those from them. Each serves one message at
 *   a time, first come first served.
 * - Ranks that share a core run one at a time, and pay `wake` whenever another one gets it.
 *
 * - The cores of a node share its memory.
 *
 * What is not: links that many nodes share, slots that are not free yet, and other
 * work of the machine. */
#ifndef SK_WALK_H
#define SK_WALK_H

#include "price/classes.h"

typedef struct sk_priced {
    double ns;     /* when the last rank ends */
    double each;   /* when the last rank ends `calls` in a row, over their number; 0: not walked */
    bool exact;    /* by the model; false: some ranks were assumed to do as others do */
    int ranks;     /* that were walked */
    int64_t looks; /* what was walked: sk_act_looks */
    int64_t steps; /* of the schedules of these ranks */
} sk_priced;

/* *out is set on success only. SK_TOOBIG: there is no price, because lengths of messages are not known
 * before they are sent, or because too many ranks all do something else. SK_DEADLOCK: ranks wait for each
 * other for ever. */
sk_status sk_price_call(const sk_price_case *c, sk_priced *out);

#endif
