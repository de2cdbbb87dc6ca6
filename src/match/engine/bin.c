/* bin.c: the cap on the number of bins, and searches over several bins, which compare sequence
 * numbers. */
#include "match/engine/bin.h"

uint32_t sk_bin_cap(uint32_t k, uint32_t n)
{
    enum { MAX_K = 65535 };
    uint64_t kk = k < MAX_K ? k : MAX_K;
    uint64_t square = kk * kk * n, root = 0;
    for (uint64_t bit = UINT64_C(1) << 31; bit; bit >>= 1)
        if ((root | bit) * (root | bit) <= square)
            root |= bit;
    return (uint32_t)root;
}

sk_match_item *sk_bin_search_older(const sk_bin *b, sk_match_side side, const sk_match_item *item,
                                   sk_match_item *best, uint64_t *traversed)
{
    const uint64_t before = best ? best->seq : UINT64_MAX;
    uint64_t n = 0;
    for (sk_match_item *at = b->items.head; at; at = at->next) {
        n++;
        if (at->seq > before)
            break; /* all later items are younger still */
        if (side == SK_POSTED ? sk_match_fits(at, item) : sk_match_fits(item, at)) {
            best = at;
            break;
        }
    }
    *traversed += n;
    return best;
}

/* Empty bins leave the active list. The next item added brings them back. */
sk_match_item *sk_bins_find_older(sk_bin **group, sk_match_side side, const sk_match_item *item,
                                  sk_match_item *best, uint64_t *traversed)
{
    for (sk_bin **at = group; *at;) {
        sk_bin *b = *at;
        if (b->items.head) {
            best = sk_bin_search_older(b, side, item, best, traversed);
            at = &b->next_active;
        } else {
            b->active = false;
            *at = b->next_active;
        }
    }
    return best;
}
