#include "report/timeline.h"

enum { NARROWEST = 16, WIDEST = 46 }; /* log2 of ns; the widest are 20 hours */

static int64_t get(const _Atomic int64_t *cell)
{
    return atomic_load_explicit(cell, memory_order_relaxed);
}

static void set(_Atomic int64_t *cell, int64_t value)
{
    atomic_store_explicit(cell, value, memory_order_relaxed);
}

/* Apart from what a call does: how often it is done depends on how long the program runs. */
__attribute__((noinline)) static void halve(_Atomic int64_t *bins)
{
    for (int i = 0; i < SK_TIMELINE_CELLS; i++) {
        int bin = i / SK_NCOLLS, coll = i % SK_NCOLLS, first = 2 * bin * SK_NCOLLS + coll;
        bool last = bin >= SK_TIMELINE_BINS / 2;
        set(&bins[i], last ? 0 : get(&bins[first]) + get(&bins[first + SK_NCOLLS]));
    }
}

void sk_timeline_add(_Atomic int64_t *width, _Atomic int64_t *bins, sk_coll coll, int64_t from,
                     int64_t until)
{
    int64_t shift = NARROWEST + get(width);
    if (from < 0 || until < from)
        return;
    for (; until >> shift >= SK_TIMELINE_BINS && shift < WIDEST; shift++) {
        halve(bins);
        set(width, shift + 1 - NARROWEST);
    }
    while (from < until && from >> shift < SK_TIMELINE_BINS) { /* mostly once */
        int64_t bin = from >> shift, end = (bin + 1) << shift;
        end = end < until ? end : until;
        _Atomic int64_t *cell = &bins[bin * SK_NCOLLS + (int)coll];
        set(cell, get(cell) + end - from);
        from = end;
    }
}

void sk_timeline_widen(int64_t *bins, int64_t from, int64_t to)
{
    int shift = (int)(to - from);
    for (int bin = 1; shift && bin < SK_TIMELINE_BINS; bin++)
        for (int coll = 0; coll < SK_NCOLLS; coll++) {
            int64_t *cell = &bins[bin * SK_NCOLLS + coll], ns = *cell;
            *cell = 0;
            bins[(bin >> shift) * SK_NCOLLS + coll] += ns;
        }
}
