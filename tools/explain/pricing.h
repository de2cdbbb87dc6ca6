/* pricing.h: what a call would take by the model of src/price, by each algorithm and at any size. */
#ifndef SK_EXPLAIN_PRICING_H
#define SK_EXPLAIN_PRICING_H

#include "callspec.h"
#include "price/walk.h"
#include "select/select.h"

enum {
    SK_PRICING_ALGOS = 16, /* of one collective */
    SK_PRICING_ROW = 16,   /* calls in a row, where these are predicted */
};

typedef struct sk_pricing {
    const sk_select *select;
    sk_callspec spec; /* of the call; its size may be replaced */
    sk_prices prices;
    const sk_algo *algo[SK_PRICING_ALGOS]; /* of the collective, in the order of the table */
    int n;
    int calls;     /* in a row (sk_priced.each); 0: one */
    int64_t built; /* steps of schedules so far */
} sk_pricing;

void sk_pricing_init(sk_pricing *x, const sk_select *select, const sk_callspec *spec,
                     const sk_prices *prices);

/* Replaces the prices that a file names. On failure `err` says why. */
bool sk_pricing_load(const char *file, sk_prices *p, char *err, size_t size);

/* The price of the call with vectors or blocks of `elems` elements. False: the algorithm does not fit, or has
 * no price. *out is set in any case. */
bool sk_pricing_of(sk_pricing *x, const sk_algo *a, int64_t elems, sk_priced *out);

/* From which size on and up to which the algorithm that is the cheapest at `elems` is so, and who is at the
 * other side. Sizes are found to within an eighth, between the least and the largest that is tried. */
typedef struct sk_price_range {
    const sk_algo *algo, *below, *above; /* NULL: none, or beyond what was tried */
    int64_t from, to;                    /* elements: the first and the last */
    bool cut;                            /* with very many ranks the search ends early */
} sk_price_range;
sk_price_range sk_pricing_range(sk_pricing *x, int64_t elems);

/* A line with the range in bytes; nothing if no algorithm has a price. */
void sk_pricing_print_range(const sk_price_range *r, int64_t elem_size);

/* The largest size that is tried: 64 MB of a vector or of all blocks of a rank together. */
int64_t sk_pricing_largest(const sk_pricing *x);

#endif
