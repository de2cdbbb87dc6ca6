/* match.c: fuzz target: bytes become operations on all matching engines; a difference to `list`
 * aborts. An operation is four bytes: operation, tag, source and kind, mask and hints. There are
 * few values of each, so that items match. Repeated operations make queues long enough to be handed
 * over to the engine. */
#include "fuzz/engine_set.h"

enum { ITEMS = 512, TAKES = 4 };

static const uint64_t masks[] = {0,    UINT64_C(3) << 32, 0x7fffffff, UINT64_MAX, 1, 6,
                                 0xff, UINT64_C(1) << 40};

static sk_match_item item_of(const uint8_t *b)
{
    sk_match_item item = {
        .tag = (uint64_t)(b[1] & 7) << 34 | (uint64_t)(b[1] >> 3 & 1) << 33 | b[1] >> 4,
        .source = b[2] & 15,
        .kind = b[2] >> 4 & 3,
        .size = b[3] >> 5,
        .nranks = 1U << (b[3] >> 4),
        .call = b[3],
    };
    return item;
}

static sk_match_item recv_of(const uint8_t *b)
{
    sk_match_item item = item_of(b);
    item.ignore = masks[b[3] & 7];
    if (b[3] & 8)
        item.ignore ^= (uint64_t)1 << (b[1] & 63); /* a rare mask */
    if ((b[2] & 15) == 15)
        item.source = SK_ANY_SOURCE;
    if (b[2] >> 6 == 3)
        item.kind = SK_ANY_KIND;
    return item;
}

/* The upper bits of the first byte repeat a post or delivery, with tags in sequence. */
static int match_repeat(engine_set *w, sk_match_item item, sk_match_side side, unsigned times)
{
    int got = SET_NONE;
    for (unsigned i = 0; i < times && got != SET_DIFFERENT && w->nvacant > 0; i++, item.tag++)
        got = engine_set_match(w, &item, side, item.call & 1);
    return got;
}

static int step(engine_set *w, const uint8_t *b)
{
    unsigned times = (b[0] >> 4) * (b[0] >> 4) + 1;
    sk_match_item recv = recv_of(b);
    switch (b[0] & 15) {
    case 0:
        return engine_set_probe(w, &recv, false);
    case 1:
        return engine_set_probe(w, &recv, true);
    case 2:
    case 3:
        return engine_set_cancel(w, (b[1] << 1 | (b[0] >> 4 & 1)) % ITEMS);
    case 4:
        return engine_set_iterate(w, b[1] == 0);
    default:
        return b[0] & 1 ? match_repeat(w, recv, SK_POSTED, times)
                        : match_repeat(w, item_of(b), SK_UNEXPECTED, times);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    engine_set *w = engine_set_new(ITEMS, &(sk_match_config){.nranks = 16, .theta = 8});
    if (!w)
        return 0;
    for (size_t at = 0; at + TAKES <= size; at += TAKES) {
        if (step(w, data + at) == SET_DIFFERENT) {
            fprintf(stderr, "operation %zu: %s\n", at / TAKES, w->wrong);
            abort();
        }
    }
    if (engine_set_iterate(w, true) == SET_DIFFERENT) {
        fprintf(stderr, "at the end: %s\n", w->wrong);
        abort();
    }
    engine_set_free(w);
    return 0;
}
