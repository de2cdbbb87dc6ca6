/* timeline.c: see timeline.h. */
#include "lab/match/timeline.h"

#include <stdlib.h>

#include "lab/match/random.h"

/* One communicator. Collectives have negative tags, point-to-point messages the others. */
enum { COMM = 3, TAGS_PER_COLL = 64 };

typedef struct timeline_event {
    double time;
    size_t order; /* events at the same time keep the order in which they were added */
    bool receive;
    sk_trace_record r;
} timeline_event;

struct sk_timeline {
    sk_stream *to;
    uint64_t random;
    uint32_t call;
    sk_trace_record current; /* kind, size and call of the pairs that are added */
    timeline_event *events;
    size_t n, capacity;
};

sk_timeline *sk_timeline_new(sk_stream *to, uint64_t seed)
{
    sk_timeline *t = calloc(1, sizeof *t);
    if (t) {
        t->to = to;
        t->random = seed;
    }
    return t;
}

void sk_timeline_free(sk_timeline *t)
{
    if (t)
        free(t->events);
    free(t);
}

static uint8_t size_class(uint64_t bytes)
{
    uint8_t bits = 0;
    for (; bytes; bytes >>= 1)
        bits++;
    return bits;
}

void sk_timeline_coll(sk_timeline *t, uint16_t kind, uint64_t bytes)
{
    t->current = (sk_trace_record){
        .kind = kind, .size = size_class(bytes), .nranks = t->to->nranks, .call = ++t->call};
}

void sk_timeline_p2p(sk_timeline *t, uint64_t bytes)
{
    t->current = (sk_trace_record){.size = size_class(bytes), .nranks = t->to->nranks};
}

static void add_event(sk_timeline *t, double time, bool receive, sk_trace_record r)
{
    if (t->n == t->capacity) {
        size_t capacity = t->capacity ? 2 * t->capacity : 1024;
        timeline_event *events = realloc(t->events, capacity * sizeof *events);
        if (!events) {
            t->to->failed = true;
            return;
        }
        t->events = events;
        t->capacity = capacity;
    }
    t->events[t->n] = (timeline_event){.time = time, .order = t->n, .receive = receive, .r = r};
    t->n++;
}

void sk_timeline_pair(sk_timeline *t, uint32_t source, int tag, double posted, double arrives)
{
    sk_trace_record r = t->current;
    int coll_tag = -1 - (int)r.kind * TAGS_PER_COLL - tag;
    r.source = source;
    r.tag = sk_ompi_tag(COMM, r.kind == SK_P2P ? tag : coll_tag);
    add_event(t, arrives, false, r);
    r.ignore = SK_OMPI_TAG_PROTOCOL;
    add_event(t, posted, true, r);
}

static int by_time(const void *a, const void *b)
{
    const timeline_event *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->order < y->order ? -1 : 1;
}

void sk_timeline_flush(sk_timeline *t)
{
    if (t->n > 0)
        qsort(t->events, t->n, sizeof *t->events, by_time);
    for (size_t i = 0; i < t->n; i++) {
        if (t->events[i].receive)
            sk_stream_post(t->to, t->events[i].r);
        else
            sk_stream_deliver(t->to, t->events[i].r);
    }
    t->n = 0;
}

double sk_timeline_random(sk_timeline *t)
{
    return sk_random_share(&t->random);
}

uint32_t sk_timeline_random_below(sk_timeline *t, uint32_t n)
{
    return sk_random_below(&t->random, n);
}

double sk_timeline_doubling(sk_timeline *t, uint32_t nranks, double start, double early)
{
    int phase = 0;
    for (uint32_t step = 1; step < nranks; step *= 2, phase++) {
        bool before = sk_timeline_random(t) < early;
        double posted = start + phase;
        double late = before ? -2 * sk_timeline_random(t) : sk_timeline_random(t);
        sk_timeline_pair(t, step % nranks, phase, posted, posted + late);
    }
    return start + phase;
}

double sk_timeline_all_at_once(sk_timeline *t, uint32_t nranks, uint32_t width, double start,
                               double early)
{
    for (uint32_t i = 0; i < width; i++) {
        bool before = sk_timeline_random(t) < early;
        double late = sk_timeline_random(t);
        sk_timeline_pair(t, 1 + i % (nranks - 1), 0, start, before ? start - late : start + late);
    }
    return start + 1;
}
