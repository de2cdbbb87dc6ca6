#include "neighbor/common_holds.h"

#include <stdlib.h>
#include <string.h>

sk_status sk_holds_room(sk_holds *h, sk_arena *a, int n)
{
    *h = (sk_holds){.holder = sk_arena_get(a, (size_t)n * sizeof *h->holder)};
    return h->holder ? SK_OK : SK_NOMEM;
}

sk_status sk_holds_first(sk_holds *h, sk_arena *a, const int *sources, int n)
{
    sk_status st = sk_holds_room(h, a, n);
    for (int i = 0; i < n && st == SK_OK; i++)
        h->holder[h->n++] = (sk_holder){sources[i], 1, &sources[i]};
    return st;
}

static int by_holder(const void *pa, const void *pb)
{
    const sk_holder *a = pa, *b = pb;
    return a->rank < b->rank ? -1 : a->rank > b->rank;
}

void sk_holds_sort(sk_holds *h)
{
    if (h->n)
        qsort(h->holder, (size_t)h->n, sizeof *h->holder, by_holder);
}

const sk_holder *sk_holds_find(const sk_holds *h, int holder)
{
    sk_holder key = {.rank = holder};
    return h->n ? bsearch(&key, h->holder, (size_t)h->n, sizeof key, by_holder) : NULL;
}

sk_status sk_holds_join(sk_holds *h, sk_arena *a, int holder, const sk_holds *from,
                        const int *member, int n)
{
    const sk_holder *part[SK_MOST_FRIENDS];
    int many = 0;
    for (int i = 0; i < n; i++) {
        if (!(part[i] = sk_holds_find(from, member[i])))
            return SK_WIRE;
        many += part[i]->n;
    }
    int *src = sk_arena_get(a, (size_t)many * sizeof *src);
    if (!src)
        return SK_NOMEM;
    h->holder[h->n++] = (sk_holder){holder, many, src};
    for (int i = 0; i < n; i++) {
        memcpy(src, part[i]->src, (size_t)part[i]->n * sizeof *src);
        src += part[i]->n;
    }
    return SK_OK;
}

/* Bundles one by one: holder, how many, sources. Holders of only their own blocks, as all are at
 * first, stand alone: the holder with its bits turned. */
sk_status sk_holds_pack(const sk_holds *h, int32_t head, int32_t **words, size_t *n)
{
    size_t room = 1;
    for (int i = 0; i < h->n; i++)
        room += 2 + (size_t)h->holder[i].n;
    int32_t *w = malloc(room * sizeof *w), *at = w;
    if (!w)
        return SK_NOMEM;
    *at++ = head;
    for (int i = 0; i < h->n; i++) {
        const sk_holder *b = &h->holder[i];
        if (b->n == 1 && b->src[0] == b->rank) {
            *at++ = ~b->rank;
            continue;
        }
        *at++ = b->rank;
        *at++ = b->n;
        memcpy(at, b->src, (size_t)b->n * sizeof *at);
        at += b->n;
    }
    *words = w;
    *n = (size_t)(at - w);
    return SK_OK;
}

sk_status sk_holds_unpack(sk_holds *h, sk_arena *a, int nranks, const int32_t *words, size_t n)
{
    int *copy = sk_arena_get(a, n * sizeof *copy);
    sk_status st = copy ? sk_holds_room(h, a, (int)n) : SK_NOMEM;
    for (size_t i = 0; i < n && st == SK_OK; i++)
        copy[i] = words[i] < 0 ? ~words[i] : words[i];
    for (size_t i = 0; i < n && st == SK_OK;) {
        bool own = words[i] < 0;
        size_t many = own ? 1 : i + 1 < n && words[i + 1] > 0 ? (size_t)words[i + 1] : n;
        size_t first = own ? i : i + 2;
        if (copy[i] >= nranks || many > n - first)
            return SK_WIRE;
        h->holder[h->n++] = (sk_holder){copy[i], (int)many, copy + first};
        i = first + many;
    }
    return st;
}
