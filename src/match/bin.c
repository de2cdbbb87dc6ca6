/* bin.c: searches that compare ages, because what they look for may be in several bins. */
#include "match/bin.h"

sk_item *sk_bin_search_older(const sk_bin *b, sk_match_side side, const sk_item *item,
                             sk_item *best, uint64_t *looked)
{
    const uint64_t before = best ? best->age : UINT64_MAX;
    uint64_t n = 0;
    for (sk_item *at = b->items.head; at; at = at->next) {
        n++;
        if (at->age > before)
            break; /* so are all behind it */
        if (side == SK_POSTED ? sk_item_fits(at, item) : sk_item_fits(item, at)) {
            best = at;
            break;
        }
    }
    *looked += n;
    return best;
}

/* Bins found empty leave the list; the next item brings them back. */
sk_item *sk_bins_older(sk_bin **group, sk_match_side side, const sk_item *item, sk_item *best,
                       uint64_t *looked)
{
    for (sk_bin **at = group; *at;) {
        sk_bin *b = *at;
        if (b->items.head) {
            best = sk_bin_search_older(b, side, item, best, looked);
            at = &b->next_live;
        } else {
            b->live = false;
            *at = b->next_live;
        }
    }
    return best;
}
