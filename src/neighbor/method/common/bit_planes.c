/* bit_planes.c: many small counts at once, one bit plane per binary digit. */
#include "neighbor/method/common/common.h"

#include <stddef.h>

enum { ROWS_AT_ONCE = 8 };

bool sk_bits_any(const uint64_t *set, int words)
{
    for (int w = 0; w < words; w++)
        if (set[w])
            return true;
    return false;
}

int sk_bits_next(const uint64_t *set, int words, int from)
{
    for (int w = from >> 6; w < words; w++) {
        uint64_t rest = set[w];
        if (w == from >> 6)
            rest &= ~(uint64_t)0 << (from & 63);
        if (rest)
            return w * 64 + __builtin_ctzll(rest);
    }
    return -1;
}

int sk_bit_planes_for(int most)
{
    int n = 1;
    while (most >> n)
        n++;
    return n;
}

/* Adds a bit of weight 2^k to 64 counts. */
static inline void ripple(uint64_t *at, int k, uint64_t carry)
{
    for (; carry; k++) {
        uint64_t next = at[k] & carry;
        at[k] ^= carry;
        carry = next;
    }
}

/* A full adder: the sum goes to *a, the carry is returned. */
static inline uint64_t add3(uint64_t *a, uint64_t b, uint64_t c)
{
    uint64_t u = *a ^ b, carry = (*a & b) | (u & c);
    *a = u ^ c;
    return carry;
}

/* Eight rows at a time: the bit counting of Harley and Seal. */
static void sum_word(uint64_t *at, uint64_t *const *row, int n, int w)
{
    uint64_t one = 0, two = 0, four = 0;
    int i = 0;
    for (; i + ROWS_AT_ONCE <= n; i += ROWS_AT_ONCE) {
        uint64_t *const *r = row + i;
        uint64_t a = add3(&one, r[0][w], r[1][w]), b = add3(&one, r[2][w], r[3][w]);
        uint64_t c = add3(&one, r[4][w], r[5][w]), d = add3(&one, r[6][w], r[7][w]);
        uint64_t e = add3(&two, a, b), f = add3(&two, c, d);
        ripple(at, 3, add3(&four, e, f));
    }
    ripple(at, 0, one);
    ripple(at, 1, two);
    ripple(at, 2, four);
    for (; i < n; i++)
        ripple(at, 0, row[i][w]);
}

void sk_bit_planes_sum(sk_bit_planes *p, uint64_t *const *rows, int n)
{
    for (int w = 0; w < p->words; w++) {
        uint64_t *at = p->at + (size_t)w * (size_t)p->n;
        for (int k = 0; k < p->n; k++)
            at[k] = 0;
        sum_word(at, rows, n, w);
    }
}

void sk_bit_planes_put(sk_bit_planes *p, int i, unsigned count)
{
    uint64_t *at = p->at + (size_t)(i >> 6) * (size_t)p->n, bit = (uint64_t)1 << (i & 63);
    for (int k = 0; k < p->n; k++)
        at[k] = count >> k & 1 ? at[k] | bit : at[k] & ~bit;
}

unsigned sk_bit_planes_get(const sk_bit_planes *p, int i)
{
    const uint64_t *at = p->at + (size_t)(i >> 6) * (size_t)p->n;
    unsigned count = 0;
    for (int k = 0; k < p->n; k++)
        count |= (unsigned)(at[k] >> (i & 63) & 1) << k;
    return count;
}

void sk_bit_planes_at_least(const sk_bit_planes *p, unsigned least, uint64_t *set)
{
    for (int w = 0; w < p->words; w++) {
        const uint64_t *at = p->at + (size_t)w * (size_t)p->n;
        uint64_t more = 0, same = least >> p->n ? 0 : ~(uint64_t)0;
        for (int k = p->n - 1; k >= 0; k--) {
            if (!(least >> k & 1))
                more |= same & at[k];
            same &= least >> k & 1 ? at[k] : ~at[k];
        }
        set[w] = more | same;
    }
}

uint64_t sk_bit_planes_top(const sk_bit_planes *p, int w, uint64_t set, unsigned *count)
{
    const uint64_t *at = p->at + (size_t)w * (size_t)p->n;
    *count = 0;
    for (int k = p->n - 1; k >= 0; k--)
        if (set & at[k]) {
            set &= at[k];
            *count |= 1u << k;
        }
    return set;
}
