/* halving_due.h: in every phase of the protocol a rank hears once each from ranks that it knows
 * beforehand: these. Only for the files halving*.c. */
#ifndef SK_HALVING_DUE_H
#define SK_HALVING_DUE_H

#include <stdbool.h>

#include "base/status.h"

typedef struct sk_due {
    bool *from; /* by rank */
    int left;
} sk_due;

static inline void sk_due_add(sk_due *d, int rank)
{
    d->left += !d->from[rank];
    d->from[rank] = true;
}

static inline sk_status sk_due_take(sk_due *d, int rank)
{
    if (!d->from[rank])
        return SK_WIRE;
    d->from[rank] = false;
    d->left--;
    return SK_OK;
}

#endif
