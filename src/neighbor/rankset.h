/* rankset.h: sets of ranks inside messages: their number, then a list, or bits when these are shorter. */
#ifndef SK_RANKSET_H
#define SK_RANKSET_H

#include <stddef.h>
#include <stdint.h>

/* Words of a set of n out of nranks ranks. */
size_t sk_rankset_words(int nranks, int n);

/* Ranks ascending, each once. Returns the words written. */
size_t sk_rankset_put(int32_t *at, int nranks, const int *ranks, int n);

/* Into an array of nranks. Reads no more than `left` words. Returns the words read; 0: malformed. */
size_t sk_rankset_get(const int32_t *at, size_t left, int nranks, int *ranks, int *n);

#endif
