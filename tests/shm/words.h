/* words.h: numbers drawn from a seed, and what local ranks write: words that tell who wrote them, when
 * and where. */
#ifndef WORDS_H
#define WORDS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/random.h"

static inline uint64_t words_draw(uint64_t seed, int64_t a, int64_t b)
{
    return sk_random_mix(seed + (uint64_t)a * 0x9e3779b97f4a7c15u +
                         (uint64_t)b * 0xd1b54a32d192ed03u);
}

/* What a local rank, or all together as local rank n, writes in an epoch. */
static inline uint64_t words_at(int local_rank, int64_t epoch, int64_t at)
{
    return ((uint64_t)epoch << 8 | (uint64_t)local_rank) * 0x9e3779b97f4a7c15u +
           (uint64_t)at * 0xff51afd7ed558ccdu;
}

static inline void words_write(char *to, int64_t len, int local_rank, int64_t epoch)
{
    int64_t at = 0;
    uint64_t word;
    for (; len - at >= (int64_t)sizeof word; at += (int64_t)sizeof word) {
        word = words_at(local_rank, epoch, at);
        memcpy(to + at, &word, sizeof word);
    }
    word = words_at(local_rank, epoch, at);
    memcpy(to + at, &word, (size_t)(len - at));
}

static inline bool words_same(const char *from, int64_t len, int local_rank, int64_t epoch)
{
    int64_t at = 0;
    uint64_t word, found;
    for (; len - at >= (int64_t)sizeof word; at += (int64_t)sizeof word) {
        memcpy(&found, from + at, sizeof word);
        if (found != words_at(local_rank, epoch, at))
            return false;
    }
    word = words_at(local_rank, epoch, at);
    return memcmp(from + at, &word, (size_t)(len - at)) == 0;
}

#endif
