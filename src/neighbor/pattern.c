/* pattern.c: parcels are collected one by one and sorted into hauls at the end. */
#include "neighbor/pattern.h"

#include <stdlib.h>
#include <string.h>

typedef struct entry {
    int32_t stage, out, peer, src, dst;
} entry;

struct sk_pattern {
    sk_pattern_view v;
    sk_haul *hauls;
    sk_parcel *parcels;
    entry *entries; /* while it is being made */
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
    free(p->hauls);
    free(p->parcels);
    free(p->entries);
    free(p);
}

static void add(sk_pattern *p, entry e)
{
    int n = p->v.nranks;
    if (p->status != SK_OK)
        return;
    if (p->hauls || e.stage < 0 || e.stage == INT32_MAX || e.peer < 0 || e.peer >= n ||
        e.peer == p->v.rank || e.src < 0 || e.src >= n || e.dst < 0 || e.dst >= n ||
        e.src == e.dst) {
        p->status = SK_BADARG;
        return;
    }
    if (p->n == p->cap) {
        size_t cap = p->cap ? 2 * p->cap : 64;
        entry *at = realloc(p->entries, cap * sizeof *at);
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
    add(p, (entry){stage, 1, peer, src, dst});
}

void sk_pattern_recv(sk_pattern *p, int stage, int peer, int src, int dst)
{
    add(p, (entry){stage, 0, peer, src, dst});
}

static int by_haul(const void *pa, const void *pb)
{
    const int32_t *a = pa, *b = pb;
    for (size_t i = 0; i < sizeof(entry) / sizeof *a; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

static bool same_haul(const entry *a, const entry *b)
{
    return a->stage == b->stage && a->out == b->out && a->peer == b->peer;
}

/* Sorted, without those that stand twice; how many hauls they make. */
static size_t tidy(sk_pattern *p)
{
    entry *e = p->entries;
    size_t n = 0, hauls = 0;
    if (p->n)
        qsort(e, p->n, sizeof *e, by_haul);
    for (size_t i = 0; i < p->n; i++) {
        if (n && by_haul(&e[n - 1], &e[i]) == 0)
            continue;
        hauls += !n || !same_haul(&e[n - 1], &e[i]);
        e[n++] = e[i];
    }
    p->n = n;
    return hauls;
}

sk_status sk_pattern_freeze(sk_pattern *p)
{
    if (p->status != SK_OK || p->hauls)
        return p->status; /* failed, or frozen already */
    size_t hauls = tidy(p), h = 0;
    p->hauls = malloc((hauls + 1) * sizeof *p->hauls);
    p->parcels = malloc((p->n + 1) * sizeof *p->parcels);
    if (!p->hauls || !p->parcels)
        return p->status = SK_NOMEM;
    for (size_t i = 0; i < p->n; i++) {
        const entry *e = &p->entries[i];
        if (i == 0 || !same_haul(e - 1, e))
            p->hauls[h++] = (sk_haul){e->stage, e->peer, e->out, (uint32_t)i, 0};
        p->hauls[h - 1].n++;
        p->parcels[i] = (sk_parcel){e->src, e->dst};
    }
    p->v.hauls = p->hauls;
    p->v.nhauls = h;
    p->v.parcels = p->parcels;
    p->v.nparcels = p->n;
    p->v.nstages = h ? p->hauls[h - 1].stage + 1 : 0;
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
    if (x->nranks != y->nranks || x->rank != y->rank || x->nhauls != y->nhauls ||
        x->nparcels != y->nparcels)
        return false;
    for (size_t i = 0; i < x->nhauls; i++) {
        const sk_haul *g = &x->hauls[i], *h = &y->hauls[i];
        if (g->stage != h->stage || g->peer != h->peer || g->out != h->out || g->n != h->n)
            return false;
    }
    return x->nparcels == 0 || !memcmp(x->parcels, y->parcels, x->nparcels * sizeof *x->parcels);
}

/* ---- as numbers: 4 for the whole, 4 for each haul, then the parcels ---- */

enum { HEAD = 4, PER_HAUL = 4 };

sk_status sk_pattern_pack(const sk_pattern *p, int32_t **words, size_t *n)
{
    const sk_pattern_view *v = &p->v;
    size_t len = HEAD + PER_HAUL * v->nhauls + 2 * v->nparcels;
    int32_t *w = malloc(len * sizeof *w), *at = w;
    if (!w)
        return SK_NOMEM;
    *at++ = v->nranks;
    *at++ = v->rank;
    *at++ = (int32_t)v->nhauls;
    *at++ = (int32_t)v->nparcels;
    for (size_t i = 0; i < v->nhauls; i++) {
        *at++ = v->hauls[i].stage;
        *at++ = v->hauls[i].peer;
        *at++ = v->hauls[i].out;
        *at++ = (int32_t)v->hauls[i].n;
    }
    if (v->nparcels)
        memcpy(at, v->parcels, v->nparcels * sizeof *v->parcels);
    *words = w;
    *n = len;
    return SK_OK;
}

/* One haul; its parcels stand at *parcel, `left` of all are left. */
static sk_status unpack_haul(sk_pattern *p, const int32_t *haul, const int32_t **parcel,
                             size_t *left)
{
    if (haul[3] <= 0 || (size_t)haul[3] > *left || (haul[2] != 0 && haul[2] != 1))
        return SK_BADARG;
    for (int k = 0; k < haul[3]; k++, *parcel += 2)
        add(p, (entry){haul[0], haul[2], haul[1], (*parcel)[0], (*parcel)[1]});
    *left -= (size_t)haul[3];
    return SK_OK;
}

/* The words come from another rank: nothing in them is taken on trust. */
sk_status sk_pattern_unpack(const int32_t *words, size_t n, sk_pattern **out)
{
    if (n < HEAD || words[1] < 0 || words[1] >= words[0] || words[2] < 0 || words[3] < 0 ||
        n != HEAD + PER_HAUL * (size_t)words[2] + 2 * (size_t)words[3])
        return SK_BADARG;
    size_t nhauls = (size_t)words[2], left = (size_t)words[3];
    const int32_t *haul = words + HEAD, *parcel = haul + PER_HAUL * nhauls;
    sk_pattern *p = sk_pattern_new(words[0], words[1]);
    if (!p)
        return SK_NOMEM;
    sk_status st = SK_OK;
    for (size_t i = 0; i < nhauls && st == SK_OK; i++)
        st = unpack_haul(p, haul + PER_HAUL * i, &parcel, &left);
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
