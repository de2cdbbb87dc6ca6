/* timeline.h: the time in collectives over the run: so many bins of equal width, in each the time in every
 * collective. If the run goes on beyond the last bin, two become one, so that a run of any length fits. The cells
 * start at 0; they are the cells of a report, so that other processes can read them. */
#ifndef SK_TIMELINE_H
#define SK_TIMELINE_H

#include <stdatomic.h>
#include <stdint.h>

#include "coll/call.h"

enum { SK_TIMELINE_BINS = 128, SK_TIMELINE_CELLS = SK_TIMELINE_BINS * SK_NCOLLS };

/* How wide a bin is: `*width` doublings of the narrowest. */
static inline double sk_timeline_seconds(int64_t width)
{
    return 65536e-9 * (double)(INT64_C(1) << width);
}

/* A call from one time to another, in ns since the start. One thread at a time. */
void sk_timeline_add(_Atomic int64_t *width, _Atomic int64_t *bins, sk_coll coll, int64_t from,
                     int64_t until);

/* Makes bins as wide as others. `from` is their width, at most `to`. */
void sk_timeline_widen(int64_t *bins, int64_t from, int64_t to);

#endif
