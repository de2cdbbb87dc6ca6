/* copy_time.h: how long a collective takes on one node, through slots and by single copy, from the
 * prices of copies (sk_machine.copy). A rule of a single-copy algorithm compares the two.
 *
 * A way to move the data keeps its busiest rank busy for some time, and all ranks together for some
 * time; where ranks share cores these add up: it takes the longer of the busiest rank's time and of
 * the time of all, divided by the cores. A slot is filled while the one before is emptied.
 *
 * Where ranks share cores, one that waits for another loses about as much as by a call of the kernel: once for
 * each chunk through slots, twice by single copy, before it reads and until all have read. With a core of its own
 * it loses the time of a flag.
 *
 * Where ranks share cores, a share 1/cores of all pairs of ranks is on one core, and what one of them
 * has written or read is in its cache for the other. Memory that is read in place has been written
 * since the last call by half of the programs, and by the other half it has not: the price of a byte
 * is between that of the first read and that of another one. */
#ifndef SK_COPY_TIME_H
#define SK_COPY_TIME_H

#include "coll/call.h"

/* ns; of a byte, but for the call. */
typedef struct sk_copy_costs {
    double in, out;    /* to and from a slot */
    double all_out;    /* all other ranks take the same byte from a slot */
    double copy;       /* in the caches */
    double read;       /* in place, of a user's buffer */
    double all_read;   /* all other ranks read the same byte */
    double read_fresh; /* in place, of what was just computed */
    double call;       /* a read */
    double wait;       /* one more wait of a rank for the others */
    double cores;      /* that the ranks have */
    bool known;
} sk_copy_costs;

sk_copy_costs sk_copy_costs_of(const sk_call *c);

/* What waiting costs that goes with moving so many bytes in chunks. */
double sk_copy_waits(const sk_copy_costs *x, double bytes, double chunk);

/* When all ranks are done. */
double sk_copy_time(const sk_copy_costs *x, double busiest, double all);

/* Bytes from which a message of one rank to another is read in place, where both also send and
 * receive others. */
int64_t sk_copy_message_cutoff(const sk_copy_prices *p);

/* The same in a collective whose blocks all lie in slots: a longer block is better read in place. 0: not
 * known. */
int64_t sk_copy_longest_cell(const sk_call *c);

/* The part of the time through slots that single copy has to stay below. Where ranks share cores, 2/3: it holds all
 * of them until the last has read, while through slots one that has filled its own gives its core away and goes on
 * early; and a core that is given away comes back later than a wait costs here. */
double sk_copy_gain(const sk_call *c);

/* ns through slots, and by single copy. */
typedef struct sk_ways {
    double slots, single;
} sk_ways;

#endif
