/* stream.c: see stream.h. */
#include "lab/match/stream.h"

#include <stdlib.h>

#include "lab/match/random.h"
#include "lab/match/trace_read.h"

void sk_stream_free(sk_stream *s)
{
    free(s->ops);
    *s = (sk_stream){0};
}

static void append(sk_stream *s, sk_trace_record r, sk_trace_op op)
{
    if (s->n == s->capacity) {
        size_t capacity = s->capacity ? 2 * s->capacity : 1024;
        sk_trace_record *ops = s->failed ? NULL : realloc(s->ops, capacity * sizeof *ops);
        if (!ops) {
            s->failed = true;
            return;
        }
        s->ops = ops;
        s->capacity = capacity;
    }
    r.op = (uint8_t)op;
    r.id = s->items++;
    s->ops[s->n++] = r;
}

void sk_stream_post(sk_stream *s, sk_trace_record r)
{
    append(s, r, SK_TRACE_POST);
}

void sk_stream_deliver(sk_stream *s, sk_trace_record r)
{
    append(s, r, SK_TRACE_DELIVER);
}

sk_status sk_stream_read(const char *path, sk_stream *out, char *err, size_t size)
{
    sk_stream s = {0};
    sk_status st = sk_trace_read(path, &s.nranks, &s.ops, &s.n, err, size);
    if (st != SK_OK)
        return st;
    s.capacity = s.n;
    for (size_t i = 0; i < s.n; i++)
        s.items += s.ops[i].op == SK_TRACE_POST || s.ops[i].op == SK_TRACE_DELIVER;
    *out = s;
    return SK_OK;
}

/* Communicators of exact receives, and of receives with any tag. */
enum { EXACT_COMM, WILD_COMM };

const char *sk_order_name(sk_order o)
{
    static const char *const names[SK_NORDERS] = {"forward", "reverse", "random"};
    return names[o];
}

static void add_item(sk_stream *s, const sk_synthetic *w, sk_match_side side, uint32_t i, bool wild)
{
    sk_trace_record r = {
        .tag = sk_ompi_tag(wild && w->any_tag ? WILD_COMM : EXACT_COMM, (int32_t)i),
        .source = i % w->sources,
        .nranks = w->sources,
        .size = 4,
    };
    if (side == SK_UNEXPECTED) {
        sk_stream_deliver(s, r);
        return;
    }
    r.ignore = SK_OMPI_TAG_PROTOCOL;
    if (wild) {
        r.source = SK_ANY_SOURCE;
        r.ignore |= w->any_tag ? SK_OMPI_TAG_ANY : 0;
    }
    sk_stream_post(s, r);
}

static void fill_order(uint32_t *order, const sk_synthetic *w, uint64_t *random)
{
    for (uint32_t i = 0; i < w->depth; i++)
        order[i] = w->order == SK_REVERSE ? w->depth - 1 - i : i;
    if (w->order == SK_RANDOM)
        sk_random_shuffle(random, order, w->depth);
}

sk_status sk_stream_synthetic(const sk_synthetic *w, sk_stream *out)
{
    sk_stream s = {.nranks = w->sources};
    uint64_t random = w->seed;
    sk_match_side second = w->first == SK_POSTED ? SK_UNEXPECTED : SK_POSTED;
    if (w->depth == 0 || w->sources == 0)
        return SK_BADARG;
    uint32_t *order = malloc(w->depth * sizeof *order);
    bool *wild = malloc(w->depth * sizeof *wild);
    for (uint32_t pairs = 0; order && wild && !s.failed && (pairs == 0 || pairs < w->pairs);
         pairs += w->depth) {
        for (uint32_t i = 0; i < w->depth; i++)
            wild[i] = sk_random_below(&random, 100) < (uint32_t)w->wild;
        fill_order(order, w, &random);
        for (uint32_t i = 0; i < w->depth; i++)
            add_item(&s, w, w->first, i, wild[i]);
        for (uint32_t i = 0; i < w->depth; i++)
            add_item(&s, w, second, order[i], wild[order[i]]);
    }
    s.failed = s.failed || !order || !wild;
    free(order);
    free(wild);
    if (s.failed) {
        sk_stream_free(&s);
        return SK_NOMEM;
    }
    *out = s;
    return SK_OK;
}
