#include "neighbor/halving_hand.h"

#include <stdlib.h>

static sk_status hold(sk_hand *h, sk_block block)
{
    if (h->nheld == h->cap) {
        size_t cap = 2 * h->cap + 64;
        sk_block *at = realloc(h->held, cap * sizeof *at);
        if (!at)
            return SK_NOMEM;
        h->held = at;
        h->cap = cap;
    }
    h->held[h->nheld++] = block;
    return SK_OK;
}

sk_status sk_hand_init(sk_hand *h, const sk_graph *g, const sk_halving *rules)
{
    *h = (sk_hand){.rules = rules,
                   .rank = g->rank,
                   .place = rules->machine->place[g->rank],
                   .made = sk_pattern_new(g->nranks, g->rank)};
    sk_status st = h->made ? SK_OK : SK_NOMEM;
    for (int i = 0; i < g->ntargets && st == SK_OK; i++)
        st = hold(h, (sk_block){g->rank, g->targets[i]});
    if (st != SK_OK)
        sk_hand_free(h);
    return st;
}

void sk_hand_free(sk_hand *h)
{
    sk_pattern_free(h->made);
    free(h->held);
    *h = (sk_hand){0};
}

static bool is_busy(const sk_hand *h)
{
    return sk_halving_busy(h->rules, h->place);
}

/* ---- to the agent ---- */

/* Move what is held for a half into words, two each; how many blocks. */
static size_t pick_out(sk_hand *h, sk_half half, int32_t *words)
{
    const int *place = h->rules->machine->place;
    size_t kept = 0, picked = 0;
    for (size_t i = 0; i < h->nheld; i++) {
        sk_block one = h->held[i];
        if (sk_half_has(half, place[one.dst])) {
            words[2 * picked] = one.src;
            words[2 * picked + 1] = one.dst;
            picked++;
        } else {
            h->held[kept++] = one;
        }
    }
    h->nheld = kept;
    return picked;
}

static int mirror_of(const sk_hand *h, const sk_hand_step *s)
{
    int at = is_busy(h) ? sk_halving_mirror(h->rules, s->mine, s->other, h->place) : -1;
    return at < 0 ? -1 : h->rules->machine->order[at];
}

/* My mirror image cannot know whether I come to it, so it hears from me in any case. */
static sk_status send_blocks(sk_hand *h, sk_channel *t, const sk_hand_step *s)
{
    int32_t *words = malloc((1 + 2 * h->nheld) * sizeof *words);
    if (!words)
        return SK_NOMEM;
    words[0] = s->phase;
    size_t n = pick_out(h, s->other, words + 1);
    int mirror = mirror_of(h, s), to = s->agent >= 0 ? s->agent : mirror;
    for (size_t i = 0; i < n; i++)
        sk_pattern_send(h->made, s->step, to, words[1 + 2 * i], words[2 + 2 * i]);
    sk_status st = to >= 0 ? t->send(t, to, words, 1 + 2 * n) : SK_OK;
    if (st == SK_OK && mirror >= 0 && mirror != to)
        st = t->send(t, mirror, words, 1);
    free(words);
    return st;
}

sk_status sk_hand_over(sk_hand *h, sk_channel *t, sk_due *due, const sk_hand_step *s)
{
    const int *rank = h->rules->machine->order;
    sk_half from = {0, 0};
    if (is_busy(h))
        from = sk_halving_mirrored(h->rules, s->other, s->mine, h->place);
    for (int i = from.lo; i < from.hi; i++)
        sk_due_add(due, rank[h->rules->busy[i]]);
    for (int i = 0; i < 2; i++)
        if (s->origins[i] >= 0)
            sk_due_add(due, s->origins[i]);
    return send_blocks(h, t, s);
}

sk_status sk_hand_take(sk_hand *h, const sk_hand_step *s, int from, const int32_t *words, size_t n)
{
    const sk_machine *m = h->rules->machine;
    sk_status st = n % 2 == 1 ? SK_OK : SK_WIRE;
    for (size_t i = 1; i < n && st == SK_OK; i += 2) {
        sk_block one = {words[i], words[i + 1]};
        if (one.dst < 0 || one.dst >= m->nranks || !sk_half_has(s->mine, m->place[one.dst]))
            return SK_WIRE;
        sk_pattern_recv(h->made, s->step, from, one.src, one.dst);
        if (one.dst != h->rank)
            st = hold(h, one);
    }
    return st;
}

/* ---- inside the socket ---- */

static int by_dst(const void *a, const void *b)
{
    const sk_block *x = a, *y = b;
    return x->dst < y->dst ? -1 : x->dst > y->dst;
}

static size_t first_for(const sk_hand *h, int dst)
{
    size_t lo = 0, hi = h->nheld;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (h->held[mid].dst < dst)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* The sources that a local rank gets from me: a run of what is held, sorted by destination. */
static sk_status tell_local_rank(sk_hand *h, sk_channel *t, int local_rank, int32_t *words)
{
    size_t n = 1;
    for (size_t i = first_for(h, local_rank); i < h->nheld && h->held[i].dst == local_rank; i++) {
        sk_pattern_send(h->made, h->rules->steps, local_rank, h->held[i].src, local_rank);
        words[n++] = h->held[i].src;
    }
    return t->send(t, local_rank, words, n);
}

sk_status sk_hand_out(sk_hand *h, sk_channel *t, sk_due *due, int phase, sk_half socket)
{
    int32_t *words = malloc((1 + h->nheld) * sizeof *words);
    if (!words)
        return SK_NOMEM;
    words[0] = phase;
    if (h->nheld)
        qsort(h->held, h->nheld, sizeof *h->held, by_dst);
    sk_status st = SK_OK;
    for (int i = socket.lo; i < socket.hi && st == SK_OK && is_busy(h); i++) {
        if (i == h->place || !sk_halving_busy(h->rules, i))
            continue;
        sk_due_add(due, h->rules->machine->order[i]);
        st = tell_local_rank(h, t, h->rules->machine->order[i], words);
    }
    free(words);
    return st;
}

void sk_hand_out_take(sk_hand *h, int from, const int32_t *words, size_t n)
{
    for (size_t i = 1; i < n; i++)
        sk_pattern_recv(h->made, h->rules->steps, from, words[i], h->rank);
}
