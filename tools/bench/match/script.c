#include "bench/match/script.h"

#include <stdlib.h>

#include "bench/match/envelope.h"
#include "bench/match/random.h"

/* Collectives have tags below zero, point-to-point messages from zero on: one communicator. */
enum { COMM = 3, TAGS_OF_A_COLL = 64 };

typedef struct happening {
    double time;
    size_t order; /* as told: what happens at the same time stays in order */
    bool receive;
    sk_trace_record r;
} happening;

struct sk_script {
    sk_stream *to;
    uint64_t random;
    uint32_t call;
    sk_trace_record now; /* kind, size, call of the pairs told */
    happening *all;
    size_t n, room;
};

sk_script *sk_script_new(sk_stream *to, uint64_t seed)
{
    sk_script *s = calloc(1, sizeof *s);
    if (s) {
        s->to = to;
        s->random = seed;
    }
    return s;
}

void sk_script_free(sk_script *s)
{
    if (s)
        free(s->all);
    free(s);
}

static uint8_t size_class(uint64_t bytes)
{
    uint8_t bits = 0;
    for (; bytes; bytes >>= 1)
        bits++;
    return bits;
}

void sk_script_call(sk_script *s, uint16_t kind, uint64_t bytes)
{
    s->now = (sk_trace_record){
        .kind = kind, .size = size_class(bytes), .nranks = s->to->nranks, .call = ++s->call};
}

void sk_script_p2p(sk_script *s, uint64_t bytes)
{
    s->now = (sk_trace_record){.size = size_class(bytes), .nranks = s->to->nranks};
}

static void add(sk_script *s, double time, bool receive, sk_trace_record r)
{
    if (s->n == s->room) {
        size_t room = s->room ? 2 * s->room : 1024;
        happening *all = realloc(s->all, room * sizeof *all);
        if (!all) {
            s->to->failed = true;
            return;
        }
        s->all = all;
        s->room = room;
    }
    s->all[s->n] = (happening){.time = time, .order = s->n, .receive = receive, .r = r};
    s->n++;
}

void sk_script_pair(sk_script *s, uint32_t source, int tag, double posted, double arrives)
{
    sk_trace_record r = s->now;
    int coll_tag = -1 - (int)s->now.kind * TAGS_OF_A_COLL - tag;
    r.source = source;
    r.tag = sk_tag(COMM, s->now.kind == SK_P2P ? tag : coll_tag);
    add(s, arrives, false, r);
    r.ignore = SK_TAG_PROTOCOL;
    add(s, posted, true, r);
}

static int by_time(const void *a, const void *b)
{
    const happening *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->order < y->order ? -1 : 1;
}

void sk_script_flush(sk_script *s)
{
    if (s->n > 0)
        qsort(s->all, s->n, sizeof *s->all, by_time);
    for (size_t i = 0; i < s->n; i++) {
        if (s->all[i].receive)
            sk_stream_post(s->to, s->all[i].r);
        else
            sk_stream_deliver(s->to, s->all[i].r);
    }
    s->n = 0;
}

double sk_script_share(sk_script *s)
{
    return sk_random_share(&s->random);
}

uint32_t sk_script_below(sk_script *s, uint32_t n)
{
    return sk_random_below(&s->random, n);
}

double sk_script_doubling(sk_script *s, uint32_t nranks, double at, double early)
{
    int phase = 0;
    for (uint32_t step = 1; step < nranks; step *= 2, phase++) {
        bool before = sk_script_share(s) < early;
        double posted = at + phase;
        double late = before ? -2 * sk_script_share(s) : sk_script_share(s);
        sk_script_pair(s, step % nranks, phase, posted, posted + late);
    }
    return at + phase;
}

double sk_script_spread(sk_script *s, uint32_t nranks, uint32_t width, double at, double early)
{
    for (uint32_t i = 0; i < width; i++) {
        bool before = sk_script_share(s) < early;
        double late = sk_script_share(s);
        sk_script_pair(s, 1 + i % (nranks - 1), 0, at, before ? at - late : at + late);
    }
    return at + 1;
}
