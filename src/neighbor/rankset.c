#include "neighbor/rankset.h"

#include <string.h>

static size_t bit_words(int nranks)
{
    return ((size_t)nranks + 31) / 32;
}

size_t sk_rankset_words(int nranks, int n)
{
    size_t bits = bit_words(nranks);
    return 1 + ((size_t)n < bits ? (size_t)n : bits);
}

size_t sk_rankset_put(int32_t *at, int nranks, const int *ranks, int n)
{
    size_t words = sk_rankset_words(nranks, n);
    at[0] = n;
    if (words == 1 + (size_t)n) {
        for (int i = 0; i < n; i++)
            at[1 + i] = ranks[i];
        return words;
    }
    memset(at + 1, 0, (words - 1) * sizeof *at);
    for (int i = 0; i < n; i++) {
        uint32_t *word = (uint32_t *)&at[1 + ranks[i] / 32];
        *word |= UINT32_C(1) << ranks[i] % 32;
    }
    return words;
}

static int from_bits(const int32_t *at, size_t words, int *ranks, int most)
{
    int n = 0;
    for (size_t w = 0; w < words; w++)
        for (uint32_t left = (uint32_t)at[w]; left; left &= left - 1) {
            if (n == most)
                return -1;
            ranks[n++] = (int)(32 * w) + __builtin_ctz(left);
        }
    return n;
}

size_t sk_rankset_get(const int32_t *at, size_t left, int nranks, int *ranks, int *n)
{
    if (left == 0 || at[0] < 0 || at[0] > nranks)
        return 0;
    int many = at[0];
    size_t words = sk_rankset_words(nranks, many);
    if (words > left)
        return 0;
    if (words == 1 + (size_t)many)
        memcpy(ranks, at + 1, (size_t)many * sizeof *ranks);
    else if (from_bits(at + 1, words - 1, ranks, many) != many)
        return 0;
    for (int i = 0; i < many; i++)
        if (ranks[i] < 0 || ranks[i] >= nranks || (i && ranks[i] <= ranks[i - 1]))
            return 0;
    *n = many;
    return words;
}
