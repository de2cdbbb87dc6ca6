/* copy_prices.h: what it costs on this machine to copy bytes between ranks of a node. Measured at the
 * start of a job (shm/copy_probe.h) or given by the user; the choice between copies through slots and
 * single copy follows from it (coll/copy_time.h). */
#ifndef SK_COPY_PRICES_H
#define SK_COPY_PRICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef enum sk_price_id {
    SK_PRICE_IN,     /* a byte copied into a slot that another core has read */
    SK_PRICE_OUT,    /* out of a slot that another core has written */
    SK_PRICE_COPY,   /* within the caches of a core */
    SK_PRICE_READ,   /* a byte of memory that another rank has written, read in place */
    SK_PRICE_REREAD, /* the same, if this core has read it before */
    SK_PRICE_CALL,   /* a call that reads another rank's memory */
    SK_NPRICES
} sk_price_id;

/* In femtoseconds; 0: not known. Whole numbers, so that ranks can agree on them. */
typedef struct sk_copy_prices {
    int64_t fs[SK_NPRICES];
} sk_copy_prices;

bool sk_copy_prices_known(const sk_copy_prices *p); /* all of them */

/* "in:0.2ns out:0.2ns copy:0.03ns read:0.25ns reread:0.08ns call:1.2us", any of them: replaces what
 * it names. On failure `err` says what is wrong and what would be right. */
sk_status sk_copy_prices_parse(const char *text, sk_copy_prices *p, char *err, size_t size);

/* The same text of known prices. Returns `out`. */
const char *sk_copy_prices_text(const sk_copy_prices *p, char *out, size_t size);

#endif
