/* plan.c: the plan cache: a hash table by call, and a list in the order of last use. */
#include "select/plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "neighbor/neighborhood.h"
#include "select/renames.h"

typedef struct plan_entry {
    struct plan_entry *chain; /* same bucket */
    sk_list by_use;
    sk_plan
        plan; /* others may hold it when the entry is gone: then this memory is the plan's alone */
    uint64_t hash;
    size_t nwords;
    int64_t key[];
} plan_entry;

struct sk_plans {
    plan_entry **bucket;
    size_t nbuckets; /* a power of two */
    sk_list by_use;  /* all entries, the least recently used first */
    int64_t n, cap;
    int64_t *key; /* of the call that is looked up */
    size_t key_cap;
    sk_renames renames;
    sk_plans_stats stats;
};

void sk_plan_hold(sk_plan *p)
{
    atomic_fetch_add_explicit(&p->holders, 1, memory_order_relaxed);
}

void sk_plan_release(sk_plan *p)
{
    if (!p || atomic_fetch_sub_explicit(&p->holders, 1, memory_order_acq_rel) != 1)
        return;
    sk_sched_free(p->sched);
    free(SK_LIST_ENTRY(p, plan_entry, plan));
}

sk_plans *sk_plans_new(int64_t cap)
{
    sk_plans *ps = calloc(1, sizeof *ps);
    if (!ps)
        return NULL;
    ps->cap = cap < 1 ? 1 : cap;
    ps->nbuckets = 16;
    while ((int64_t)ps->nbuckets < ps->cap && ps->nbuckets < 4096)
        ps->nbuckets *= 2;
    ps->key_cap = 64;
    sk_list_init(&ps->by_use);
    ps->bucket = calloc(ps->nbuckets, sizeof(plan_entry *));
    ps->key = malloc(ps->key_cap * sizeof *ps->key);
    if (!ps->bucket || !ps->key) {
        sk_plans_free(ps);
        return NULL;
    }
    return ps;
}

void sk_plans_free(sk_plans *ps)
{
    if (!ps)
        return;
    for (sk_list *node; (node = sk_list_pop(&ps->by_use));) {
        plan_entry *e = SK_LIST_ENTRY(node, plan_entry, by_use);
        sk_plan_release(&e->plan);
    }
    sk_renames_free(&ps->renames);
    free(ps->bucket);
    free(ps->key);
    free(ps);
}

sk_plans_stats sk_plans_count(const sk_plans *ps)
{
    return ps->stats;
}

/* ---- the key ----
 * Everything of a call that the choice or a builder reads, with two exceptions. Settings are fixed
 * for the life of a process. The machine of a communicator becomes known once and never changes, so
 * whether it is known is enough. */

static int64_t *put_type(int64_t *k, const sk_type *t)
{
    *k++ = t->size;
    *k++ = t->extent;
    *k++ = t->true_lb;
    *k++ = t->true_extent * 2 + t->contig;
    return k;
}

static int64_t *put_side(int64_t *k, const sk_call *c, const sk_side *s)
{
    size_t n = (size_t)sk_call_nblocks(c, s == &c->send ? SK_SEND : SK_RECV);
    *k++ = (s->counts != NULL) | (s->offs != NULL) << 1 | (s->types != NULL) << 2;
    if (s->counts)
        k = (int64_t *)memcpy(k, s->counts, n * sizeof *k) + n;
    else
        *k++ = s->count;
    if (s->offs)
        k = (int64_t *)memcpy(k, s->offs, n * sizeof *k) + n;
    if (!s->types)
        return put_type(k, &c->types[s->type]);
    for (size_t i = 0; i < n; i++)
        k = put_type(k, &c->types[s->types[i]]);
    return k;
}

static bool make_key(sk_plans *ps, const sk_select *sel, const sk_call *c, size_t *nwords)
{
    bool forms_differ = !c->neighborhood && sk_select_tuned(sel, c->coll, c->form);
    size_t most = 16; /* without arrays: 4 words, and 6 for each side */
    size_t blocks = (size_t)sk_call_nblocks(c, SK_SEND) + (size_t)sk_call_nblocks(c, SK_RECV);
    if (c->send.counts || c->send.offs || c->recv.counts || c->recv.offs)
        most += 2 * blocks;
    if (c->send.types || c->recv.types)
        most += 4 * blocks;
    if (most > ps->key_cap) {
        int64_t *key = realloc(ps->key, most * sizeof *key);
        if (!key)
            return false;
        ps->key = key;
        ps->key_cap = most;
    }
    int64_t *k = ps->key;
    *k++ = (int64_t)c->root << 17 | (int64_t)c->rounds << 16 | (int64_t)c->other << 15 |
           (int64_t)(forms_differ ? c->form : SK_BLOCKING) << 12 | (int64_t)c->coll << 5 |
           (c->machine != NULL) << 4 | c->direct << 3 | c->builtin << 2 | c->in_place << 1 |
           c->ordered;
    *k++ = c->slot_bytes;
    *k++ = c->leaders;
    if (c->neighborhood)
        *k++ = sk_neighborhood_of(c)->version;
    if (c->coll != SK_BARRIER) {
        if (c->coll != SK_BCAST)
            k = put_side(k, c, &c->send);
        k = put_side(k, c, &c->recv);
    }
    *nwords = (size_t)(k - ps->key);
    return true;
}

static uint64_t hash_words(const int64_t *k, size_t n)
{
    uint64_t h = 0x9e3779b97f4a7c15u;
    for (size_t i = 0; i < n; i++) {
        h ^= (uint64_t)k[i];
        h *= 0xff51afd7ed558ccdu;
        h ^= h >> 32;
    }
    return h;
}

/* ---- the list by last use, and the table ---- */

static void evict_oldest(sk_plans *ps)
{
    plan_entry *e = SK_LIST_ENTRY(sk_list_pop(&ps->by_use), plan_entry, by_use);
    plan_entry **at = &ps->bucket[e->hash & (ps->nbuckets - 1)];
    while (*at != e)
        at = &(*at)->chain;
    *at = e->chain;
    sk_plan_release(&e->plan);
    ps->n--;
    ps->stats.evicted++;
}

/* The schedule of the chosen algorithm, with the ranks renamed where that is better. */
static sk_status build(sk_plans *ps, const sk_select *sel, const sk_call *c, sk_plan *p)
{
    const sk_rename *r = NULL;
    sk_status st = sk_renames_choose(&ps->renames, sel, p->algo, c, &r);
    if (st != SK_OK)
        return st;
    sk_call named = r ? sk_call_renamed(c, r) : *c;
    return sk_algo_build(p->algo, &named, &p->sched);
}

static sk_status make_plan(sk_plans *ps, const sk_select *sel, const sk_call *call, sk_plan *p)
{
    sk_call with_parts = *call, *c = &with_parts;
    with_parts.chooser = sk_select_chooser(sel);
    sk_choice choice;
    sk_select_choose(sel, c, &choice);
    p->algo = choice.algo;
    p->algo_index = p->algo ? sk_select_algo_index(sel, p->algo) : -1;
    p->bytes = sk_call_bytes(c);
    p->size = sk_call_size(c);
    p->host = choice.host;
    p->plain = c->neighborhood && p->algo &&
               (p->host || (strcmp(p->algo->name, "direct") == 0 && choice.us <= 0 &&
                            p->algo != sk_select_forced(sel, c->coll)));
    p->straight = c->machine && c->machine->nnodes > 1 && p->algo && p->algo->straight &&
                  p->algo != sk_select_forced(sel, c->coll);
    atomic_init(&p->holders, 1);
    sk_status st = p->algo ? build(ps, sel, c, p) : SK_OK;
    int64_t agreed[] = {p->algo_index, p->bytes, c->root};
    p->signature = (uint32_t)hash_words(agreed, 3);
    if (st == SK_OK && p->algo && c->machine)
        p->sent = sk_sched_sent(p->sched, c->machine, c->rank);
    return st;
}

sk_status sk_plans_get(sk_plans *ps, const sk_select *sel, const sk_call *c, sk_plan **out)
{
    size_t n;
    if (!make_key(ps, sel, c, &n))
        return SK_NOMEM;
    uint64_t hash = hash_words(ps->key, n);
    plan_entry **bucket = &ps->bucket[hash & (ps->nbuckets - 1)];
    for (plan_entry *e = *bucket; e; e = e->chain)
        if (e->hash == hash && e->nwords == n && !memcmp(e->key, ps->key, n * sizeof *e->key)) {
            if (ps->by_use.prev != &e->by_use) {
                sk_list_remove(&e->by_use);
                sk_list_append(&ps->by_use, &e->by_use);
            }
            *out = &e->plan;
            return SK_OK;
        }

    plan_entry *e = calloc(1, sizeof *e + n * sizeof *e->key);
    if (!e)
        return SK_NOMEM;
    sk_status st = make_plan(ps, sel, c, &e->plan);
    if (st != SK_OK) {
        free(e);
        return st;
    }
    if (ps->n == ps->cap)
        evict_oldest(ps);
    e->hash = hash;
    e->nwords = n;
    memcpy(e->key, ps->key, n * sizeof *e->key);
    e->chain = *bucket;
    *bucket = e;
    sk_list_append(&ps->by_use, &e->by_use);
    ps->n++;
    ps->stats.built++;
    *out = &e->plan;
    return SK_OK;
}
