/* spec_random.c: every edge with the same probability (Erdos-Renyi). Whether there is an edge is a
 * hash of the seed and its two ends: any rank can make its lists, incoming too, in O(n) and without
 * memory, and all ranks agree. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers.h"
#include "lab/graph/spec_kind.h"

typedef struct random_graph {
    int nranks;
    uint64_t key, bound; /* there is an edge when the 53 upper bits of the hash are below bound */
} random_graph;

enum { DEFAULT_SEED = 1 };

/* The mixer of SplitMix64 (Steele, Lea, Flood 2014): every bit of x moves every bit of the hash. */
static inline uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static inline bool edge(const random_graph *g, int from, int to)
{
    uint64_t ends = (uint64_t)from << 32 | (uint32_t)to;
    return mix(g->key + ends * 0x9e3779b97f4a7c15u) >> 11 < g->bound;
}

static sk_status make(const char *args, int nranks, void **state, char *err, size_t size)
{
    char *end;
    double delta = strtod(args, &end);
    int64_t seed = DEFAULT_SEED;
    if (end == args || (*end && *end != ',')) {
        snprintf(err, size, "DELTA of random:DELTA[,SEED] is a number from 0 to 1, not '%s'", args);
        return SK_BADARG;
    }
    if (!(delta >= 0 && delta <= 1)) {
        snprintf(err, size, "DELTA of random:DELTA[,SEED] is from 0 to 1, not %g", delta);
        return SK_BADARG;
    }
    if (*end && !sk_read_number(end + 1, false, &seed)) {
        snprintf(err, size, "SEED of random:DELTA[,SEED] is a whole number, not '%s'", end + 1);
        return SK_BADARG;
    }
    random_graph *g = calloc(1, sizeof *g);
    if (!g)
        return SK_NOMEM;
    *g = (random_graph){
        .nranks = nranks,
        .key = mix((uint64_t)seed + 0x9e3779b97f4a7c15u),
        .bound = (uint64_t)(delta * 0x1p53),
    };
    *state = g;
    return SK_OK;
}

static int list(const void *state, int rank, bool in, int *out)
{
    const random_graph *g = state;
    int n = 0;
    for (int other = 0; other < g->nranks; other++) {
        bool there = in ? edge(g, other, rank) : edge(g, rank, other);
        out[n] = other;
        n += there && other != rank;
    }
    return n;
}

const sk_spec_kind sk_spec_random = {
    .name = "random", .form = "random:DELTA[,SEED]", .make = make, .drop = free, .list = list};
