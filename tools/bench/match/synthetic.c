/* synthetic.c: queues of one depth, filled and emptied in a chosen order. */
#include <stdlib.h>

#include "bench/match/envelope.h"
#include "bench/match/random.h"
#include "bench/match/stream.h"

enum { EXACT_COMM, WILD_COMM };

const char *sk_order_name(sk_order o)
{
    static const char *const names[SK_NORDERS] = {"forward", "reverse", "random"};
    return names[o];
}

static void add(sk_stream *s, const sk_synthetic *w, sk_match_side side, uint32_t i, bool wild)
{
    sk_trace_record r = {
        .tag = sk_tag(wild && w->any_tag ? WILD_COMM : EXACT_COMM, (int32_t)i),
        .source = i % w->sources,
        .nranks = w->sources,
        .size = 4,
    };
    if (side == SK_UNEXPECTED) {
        sk_stream_deliver(s, r);
        return;
    }
    r.ignore = SK_TAG_PROTOCOL;
    if (wild) {
        r.source = SK_ANY_SOURCE;
        r.ignore |= w->any_tag ? SK_TAG_ANY : 0;
    }
    sk_stream_post(s, r);
}

static void put_in_order(uint32_t *place, const sk_synthetic *w, uint64_t *random)
{
    for (uint32_t i = 0; i < w->depth; i++)
        place[i] = w->order == SK_REVERSE ? w->depth - 1 - i : i;
    if (w->order == SK_RANDOM)
        sk_random_shuffle(random, place, w->depth);
}

sk_status sk_stream_synthetic(const sk_synthetic *w, sk_stream *out)
{
    sk_stream s = {.nranks = w->sources};
    uint64_t random = w->seed;
    sk_match_side second = w->first == SK_POSTED ? SK_UNEXPECTED : SK_POSTED;
    if (w->depth == 0 || w->sources == 0)
        return SK_BADARG;
    uint32_t *place = malloc(w->depth * sizeof *place);
    bool *wild = malloc(w->depth * sizeof *wild);
    for (uint32_t pairs = 0; place && wild && !s.failed && (pairs == 0 || pairs < w->pairs);
         pairs += w->depth) {
        for (uint32_t i = 0; i < w->depth; i++)
            wild[i] = sk_random_below(&random, 100) < (uint32_t)w->wild;
        put_in_order(place, w, &random);
        for (uint32_t i = 0; i < w->depth; i++)
            add(&s, w, w->first, i, wild[i]);
        for (uint32_t i = 0; i < w->depth; i++)
            add(&s, w, second, place[i], wild[place[i]]);
    }
    s.failed = s.failed || !place || !wild;
    free(place);
    free(wild);
    if (s.failed) {
        sk_stream_free(&s);
        return SK_NOMEM;
    }
    *out = s;
    return SK_OK;
}
