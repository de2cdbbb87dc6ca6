/* prices.h: the parameters of the model by which schedules are priced: LogGP, with one set of numbers for
 * each level of the machine.
 *
 * A message of n bytes costs its sender `send` + n `in` of CPU time. It is under way for `latency`, and
 * between nodes it occupies the port of the sender's node, and then that of the receiver's, for port_gap +
 * n port_byte each. The receiver pays `recv` + n `out`. Messages longer than `eager` wait until the
 * receiver is there; on a node these are then read in place.
 *
 * In shared memory a rank pays `in` for a byte into its slot, `out` for a byte out of another rank's, and
 * `flag` to see that a rank has posted.
 *
 * All cores of a node share its memory: each byte that is copied occupies it for `memory`. What a rank moves
 * in a call stays in caches if it is no more than `cache`.
 *
 * The text form has a line "name value unit" for each price, such as "net.latency 1.2 us". Any line may be
 * missing, "#" starts a comment. */
#ifndef SK_PRICES_H
#define SK_PRICES_H

#include <stdio.h>

#include "base/copy_prices.h"
#include "topo/machine.h"

/* What two ranks share. Other than sk_level it knows ranks on one core. */
typedef enum sk_at { SK_AT_CORE, SK_AT_SOCKET, SK_AT_NODE, SK_AT_NET, SK_NAT } sk_at;

/* `machine` NULL: every rank is a node of its own. */
sk_at sk_at_of(const sk_machine *machine, int a, int b);

/* The core of a rank among those of its node. Where there are more ranks than cores and nothing is bound,
 * the local ranks take the cores in turn. -1: the rank has a core to itself. */
int sk_core_of(const sk_machine *machine, int rank);

typedef struct sk_level_prices {
    double latency;    /* ns from the end of the sender's part to the start of the receiver's */
    double send, recv; /* ns of CPU time for a message at both ends */
    double in, out;    /* ns of CPU time for a byte at both ends */
    double flag;       /* ns to see a flag that another rank has stored */
    double eager;      /* bytes: longer messages wait for the receiver */
} sk_level_prices;

typedef struct sk_prices {
    sk_level_prices level[SK_NAT];
    double port_gap, port_byte; /* ns that a message and a byte occupy the port of a node */
    double step;                /* ns of CPU time for any step */
    double copy, reduce;        /* ns for a byte, by one core */
    double
        together; /* ns more for a byte into or out of a slot, where each rank has a core and all copy */
    double read, call; /* ns for a byte that is read in place, and for the call that reads */
    double fresh;      /* ns more for a byte that another core has written in the same call */
    double same;       /* ns more for each other core that reads the same byte at the same time */
    double memory;     /* ns that a byte copied by any core occupies the memory of the node */
    double far; /* ns more for a byte that a core copies where its ranks need more than `cache` */
    double
        cache; /* bytes: the ranks of a core that use no more than this in a call need no memory */
    double node_cores; /* that the ranks of a node may use; 0: all of them */
    double wake;       /* ns until another rank runs on the same core */
} sk_prices;

sk_prices sk_prices_usual(void);

/* Takes over what was measured on the node; prices of 0 are not known and change nothing. What was
 * measured holds for ranks of one socket; the prices of the node level keep their ratio to these. */
void sk_prices_measured(sk_prices *p, const sk_copy_prices *measured);

/* The text form. Reading replaces what the text names. Times are in s, ms, us, ns or ps; prices of bytes
 * are times per byte (ns/B), or bytes per time (GB/s); limits are in B, KB or MB. On failure nothing
 * changes and `err` says which line is wrong and why. */
sk_status sk_prices_read(const char *text, sk_prices *p, char *err, size_t size);
void sk_prices_print(const sk_prices *p, FILE *out);

#endif
