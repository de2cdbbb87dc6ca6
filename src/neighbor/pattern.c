/* pattern.c: blocks are collected one by one, and sorted into bundles when the pattern is frozen. */
#include "neighbor/pattern.h"

#include <stdlib.h>
#include <string.h>

typedef struct pattern_entry {
    int32_t stage, out, peer, src, dst;
} pattern_entry;

struct sk_pattern {
    sk_pattern_view v;
    sk_bundle *bundles;
    sk_block *blocks;
    pattern_entry *entries; /* until it is frozen */
    size_t n, cap;
    sk_status status;
};

sk_pattern *sk_pattern_new(int nranks, int rank)
{
    sk_pattern *p = calloc(1, sizeof *p);
    if (p) {
        p->v.nranks = nranks;
        p->v.rank = rank;
    }
    return p;
}

void sk_pattern_free(sk_pattern *p)
{
    if (!p)
        return;
    free(p->bundles);
    free(p->blocks);
    free(p->entries);
    free(p);
}

static void add(sk_pattern *p, pattern_entry e)
{
    int n = p->v.nranks;
    if (p->status != SK_OK)
        return;
    if (p->bundles || e.stage < 0 || e.stage == INT32_MAX || e.peer < 0 || e.peer >= n ||
        e.peer == p->v.rank || e.src < 0 || e.src >= n || e.dst < 0 || e.dst >= n ||
        e.src == e.dst) {
        p->status = SK_BADARG;
        return;
    }
    if (p->n == p->cap) {
        size_t cap = p->cap ? 2 * p->cap : 64;
        pattern_entry *at = realloc(p->entries, cap * sizeof *at);
        if (!at) {
            p->status = SK_NOMEM;
            return;
        }
        p->entries = at;
        p->cap = cap;
    }
    p->entries[p->n++] = e;
}

void sk_pattern_send(sk_pattern *p, int stage, int peer, int src, int dst)
{
    add(p, (pattern_entry){stage, 1, peer, src, dst});
}

void sk_pattern_recv(sk_pattern *p, int stage, int peer, int src, int dst)
{
    add(p, (pattern_entry){stage, 0, peer, src, dst});
}

static int by_bundle(const void *pa, const void *pb)
{
    const int32_t *a = pa, *b = pb;
    for (size_t i = 0; i < sizeof(pattern_entry) / sizeof *a; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

static bool same_bundle(const pattern_entry *a, const pattern_entry *b)
{
    return a->stage == b->stage && a->out == b->out && a->peer == b->peer;
}

/* Sorts the entries and removes duplicates; returns the number of bundles. */
static size_t sort_entries(sk_pattern *p)
{
    pattern_entry *e = p->entries;
    size_t n = 0, bundles = 0;
    if (p->n)
        qsort(e, p->n, sizeof *e, by_bundle);
    for (size_t i = 0; i < p->n; i++) {
        if (n && by_bundle(&e[n - 1], &e[i]) == 0)
            continue;
        bundles += !n || !same_bundle(&e[n - 1], &e[i]);
        e[n++] = e[i];
    }
    p->n = n;
    return bundles;
}

sk_status sk_pattern_freeze(sk_pattern *p)
{
    if (p->status != SK_OK || p->bundles)
        return p->status; /* failed, or frozen already */
    size_t bundles = sort_entries(p), h = 0;
    p->bundles = malloc((bundles + 1) * sizeof *p->bundles);
    p->blocks = malloc((p->n + 1) * sizeof *p->blocks);
    if (!p->bundles || !p->blocks)
        return p->status = SK_NOMEM;
    for (size_t i = 0; i < p->n; i++) {
        const pattern_entry *e = &p->entries[i];
        if (i == 0 || !same_bundle(e - 1, e))
            p->bundles[h++] = (sk_bundle){e->stage, e->peer, e->out, (uint32_t)i, 0};
        p->bundles[h - 1].n++;
        p->blocks[i] = (sk_block){e->src, e->dst};
    }
    p->v.bundles = p->bundles;
    p->v.nbundles = h;
    p->v.blocks = p->blocks;
    p->v.nblocks = p->n;
    p->v.nstages = h ? p->bundles[h - 1].stage + 1 : 0;
    free(p->entries);
    p->entries = NULL;
    return SK_OK;
}

const sk_pattern_view *sk_pattern_view_get(const sk_pattern *p)
{
    return &p->v;
}

bool sk_pattern_equal(const sk_pattern *a, const sk_pattern *b)
{
    const sk_pattern_view *x = &a->v, *y = &b->v;
    if (x->nranks != y->nranks || x->rank != y->rank || x->nbundles != y->nbundles ||
        x->nblocks != y->nblocks)
        return false;
    for (size_t i = 0; i < x->nbundles; i++) {
        const sk_bundle *g = &x->bundles[i], *h = &y->bundles[i];
        if (g->stage != h->stage || g->peer != h->peer || g->out != h->out || g->n != h->n)
            return false;
    }
    return x->nblocks == 0 || !memcmp(x->blocks, y->blocks, x->nblocks * sizeof *x->blocks);
}

/* ---- as words: 4 for the pattern, 4 for each bundle, then the blocks ---- */

enum { HEAD = 4, PER_BUNDLE = 4 };

sk_status sk_pattern_pack(const sk_pattern *p, int32_t **words, size_t *n)
{
    const sk_pattern_view *v = &p->v;
    size_t len = HEAD + PER_BUNDLE * v->nbundles + 2 * v->nblocks;
    int32_t *w = malloc(len * sizeof *w), *at = w;
    if (!w)
        return SK_NOMEM;
    *at++ = v->nranks;
    *at++ = v->rank;
    *at++ = (int32_t)v->nbundles;
    *at++ = (int32_t)v->nblocks;
    for (size_t i = 0; i < v->nbundles; i++) {
        *at++ = v->bundles[i].stage;
        *at++ = v->bundles[i].peer;
        *at++ = v->bundles[i].out;
        *at++ = (int32_t)v->bundles[i].n;
    }
    if (v->nblocks)
        memcpy(at, v->blocks, v->nblocks * sizeof *v->blocks);
    *words = w;
    *n = len;
    return SK_OK;
}

/* Reads one bundle. *block points to its blocks; *left blocks of the pattern are not read yet. */
static sk_status unpack_bundle(sk_pattern *p, const int32_t *bundle, const int32_t **block,
                               size_t *left)
{
    if (bundle[3] <= 0 || (size_t)bundle[3] > *left || (bundle[2] != 0 && bundle[2] != 1))
        return SK_BADARG;
    for (int k = 0; k < bundle[3]; k++, *block += 2)
        add(p, (pattern_entry){bundle[0], bundle[2], bundle[1], (*block)[0], (*block)[1]});
    *left -= (size_t)bundle[3];
    return SK_OK;
}

/* The words come from another rank, so everything in them is checked. */
sk_status sk_pattern_unpack(const int32_t *words, size_t n, sk_pattern **out)
{
    if (n < HEAD || words[1] < 0 || words[1] >= words[0] || words[2] < 0 || words[3] < 0 ||
        n != HEAD + PER_BUNDLE * (size_t)words[2] + 2 * (size_t)words[3])
        return SK_BADARG;
    size_t nbundles = (size_t)words[2], left = (size_t)words[3];
    const int32_t *bundle = words + HEAD, *block = bundle + PER_BUNDLE * nbundles;
    sk_pattern *p = sk_pattern_new(words[0], words[1]);
    if (!p)
        return SK_NOMEM;
    sk_status st = SK_OK;
    for (size_t i = 0; i < nbundles && st == SK_OK; i++)
        st = unpack_bundle(p, bundle + PER_BUNDLE * i, &block, &left);
    if (st == SK_OK && left)
        st = SK_BADARG;
    if (st == SK_OK)
        st = sk_pattern_freeze(p);
    if (st == SK_OK)
        *out = p;
    else
        sk_pattern_free(p);
    return st;
}
