/* local_turns.c: turns over the in-process wire. */
#include <stdlib.h>
#include <string.h>

#include "lab/inproc/slots.h"

void sk_local_machine(sk_local *l, const sk_machine *m)
{
    l->machine = m;
}

static bool same_turns(const struct sk_sched_view *rank, const struct sk_sched_view *node)
{
    bool same = rank->nturns == node->nturns;
    for (uint32_t t = 0; same && t < rank->nturns; t++) {
        const sk_turn_room *a = &rank->turns[t], *b = &node->turns[t];
        same = (a->room == b->room || a->room == SK_NO_PART) && a->all == b->all &&
               a->together == b->together;
    }
    return same;
}

sk_status sk_local_begin_turns(sk_local *l, sk_run *runs)
{
    const sk_machine *m = l->machine;
    bool some = false;
    for (int r = 0; r < l->nranks; r++) {
        const struct sk_sched_view *v = runs[r].sched;
        some |= v->nturns > 0;
        if (m && m->nranks == l->nranks) {
            if (same_turns(v, sk_local_turns_of(m, m->node[r], sk_local_run_view, runs)))
                continue;
            sk_local_complain(l, "rank %d and others of its node have different turns", r);
        } else if (v->nturns == 0)
            continue;
        else
            sk_local_complain(l, "rank %d has turns and no machine", r);
        return runs[r].status = SK_BADARG;
    }
    if (!some)
        return SK_OK;
    l->turns = sk_local_turns_new(m, runs, l->memory);
    if (!l->turns)
        return SK_NOMEM;
    for (int r = 0; r < l->nranks; r++) {
        l->wires[r].node = &l->turns->nodes[m->node[r]];
        l->wires[r].mate = m->mate[r];
    }
    return SK_OK;
}

void sk_local_end_turns(sk_local *l, sk_run *runs)
{
    for (int i = 0; l->turns && i < l->turns->nnodes; i++) {
        const local_node *n = &l->turns->nodes[i];
        for (uint32_t t = 0; t < n->nturns; t++)
            if (n->joins[t] && n->joins[t] != n->n && runs[*n->mates].status == SK_OK && !l->stuck)
                runs[*n->mates].status = sk_local_complain(l, "not all mates join turn %u", t);
    }
    sk_local_turns_free(l->turns);
    l->turns = NULL;
}

/* ---- the wire's operations; none of them blocks ---- */

static void wake_mates(local_wire *w)
{
    const local_node *n = w->node;
    for (int i = 0; i < n->n; i++) {
        local_wire *mate = &w->world->wires[n->mates[i]];
        if (mate->waiting)
            sk_local_wake(w->world, mate);
        mate->waiting = false;
    }
}

static sk_status wait_for_mates(local_wire *w)
{
    w->waiting = true;
    return SK_AGAIN;
}

/* Have all others left this turn? */
static bool all_passed(const local_wire *w, uint32_t turns)
{
    const local_node *n = w->node;
    bool all = true;
    for (int i = 0; i < n->n; i++)
        all &= i == w->mate || w->world->wires[n->mates[i]].passed >= turns;
    return all;
}

sk_status sk_local_open(sk_wire *base, uint32_t turn, bool block)
{
    (void)block;
    local_wire *w = (local_wire *)base;
    sk_local_next_round(w);
    if (turn > 0 && !all_passed(w, turn - 1))
        return wait_for_mates(w);
    w->node->opened[turn * (size_t)w->node->n + (size_t)w->mate] = 1;
    return SK_OK;
}

void *sk_local_bay(sk_wire *base, uint32_t buf, int owner)
{
    local_wire *w = (local_wire *)base;
    const local_node *n = w->node;
    const sk_machine *m = w->world->machine;
    int mate = owner < 0 ? w->mate : n->n;
    if ((buf & SK_BUF_MASK) == SK_COMMON)
        mate = n->n;
    else if (owner >= 0 && owner < w->world->nranks && m->node[owner] == m->node[w->rank])
        mate = m->mate[owner];
    else if (owner >= 0) {
        sk_local_complain(w->world, "rank %d takes from rank %d of another node", w->rank, owner);
        return NULL;
    }
    return sk_local_bay_at(w->world->turns, n, sk_buf_turn(buf), mate);
}

void sk_local_publish(sk_wire *base, uint32_t turn)
{
    local_wire *w = (local_wire *)base;
    unsigned char *published = &w->node->published[turn * (size_t)w->node->n + (size_t)w->mate];
    sk_local_next_round(w);
    if (*published)
        w->broken = sk_local_complain(w->world, "rank %d publishes turn %u twice", w->rank, turn);
    *published = 1;
    if (w->world->hooks.publish)
        w->world->hooks.publish(w->world->hooks.ctx, w->rank, turn);
    wake_mates(w);
}

static void see(local_wire *w, uint32_t turn, int mate)
{
    const local_node *n = w->node;
    size_t row = (turn * (size_t)n->n + (size_t)w->mate) * (size_t)n->n;
    if (n->seen[row + (size_t)mate])
        return;
    n->seen[row + (size_t)mate] = 1;
    w->fresh = true;
    if (w->world->hooks.hear)
        w->world->hooks.hear(w->world->hooks.ctx, n->mates[mate], w->rank, turn);
}

sk_status sk_local_await(sk_wire *base, uint32_t turn, int lo, int hi, bool block)
{
    (void)block;
    local_wire *w = (local_wire *)base;
    const local_node *n = w->node;
    hi = hi < 0 ? n->n : hi;
    if (hi > n->n)
        return sk_local_complain(w->world, "rank %d waits for mate %d of %d", w->rank, hi - 1,
                                 n->n);
    for (int i = lo; i < hi; i++)
        if (!n->published[turn * (size_t)n->n + (size_t)i])
            return wait_for_mates(w);
    for (int i = lo; i < hi; i++)
        see(w, turn, i);
    return SK_OK;
}

sk_status sk_local_await_rank(sk_wire *base, uint32_t turn, int rank, bool block)
{
    local_wire *w = (local_wire *)base;
    const sk_machine *m = w->world->machine;
    if (rank < 0 || rank >= w->world->nranks || m->node[rank] != m->node[w->rank])
        return sk_local_complain(w->world, "rank %d waits for rank %d of another node", w->rank,
                                 rank);
    return sk_local_await(base, turn, m->mate[rank], m->mate[rank] + 1, block);
}

sk_status sk_local_fold(sk_wire *base, uint32_t turn, int lo, int hi, sk_part from, sk_part to)
{
    local_wire *w = (local_wire *)base;
    sk_status st = SK_OK;
    for (int i = hi - 1; i >= lo && st == SK_OK; i--) {
        sk_part one = from;
        one.at = sk_local_bay_at(w->world->turns, w->node, turn, i) + (intptr_t)from.at;
        st = i == hi - 1 ? base->ops->copy(base, one, to) : base->ops->reduce(base, one, to);
    }
    return st;
}

sk_status sk_local_join(sk_wire *base, uint32_t turn, sk_part from, sk_part to, bool block)
{
    local_wire *w = (local_wire *)base;
    local_node *n = w->node;
    sk_status st = sk_local_await(base, turn, 0, -1, block);
    if (st != SK_OK)
        return st;
    const sk_part *other = &n->joined[turn];
    if (n->joins[turn]++ == 0)
        n->joined[turn] = from;
    else if (other->at != from.at || other->len != from.len || other->type != from.type)
        return sk_local_complain(w->world, "rank %d joins other bytes of turn %u than its mates",
                                 w->rank, turn);
    return sk_local_fold(base, turn, 0, n->n, from, to);
}

/* ---- reading each other's memory: a place holds the number of what is exposed ---- */

void sk_local_expose(sk_wire *base, sk_part what, void *place)
{
    local_wire *w = (local_wire *)base;
    local_turns *t = w->world->turns;
    if (t->nexposed == t->exposed_cap) {
        int64_t cap = t->exposed_cap ? 2 * t->exposed_cap : 16;
        exposure *p = realloc(t->exposed, (size_t)cap * sizeof *p);
        if (!p) {
            w->broken = SK_NOMEM;
            return;
        }
        t->exposed = p;
        t->exposed_cap = cap;
    }
    sk_status st = sk_local_may_write(w, (sk_part){place, SK_PLACE, SK_TYPE_BYTE});
    if (st != SK_OK) {
        w->broken = st;
        return;
    }
    memset(place, 0, SK_PLACE);
    memcpy(place, &t->nexposed, sizeof t->nexposed);
    t->exposed[t->nexposed++] = (exposure){place, what.at, what.len};
}

sk_status sk_local_read(sk_wire *base, int rank, const void *place, int64_t at, sk_part to)
{
    local_wire *w = (local_wire *)base;
    const local_turns *t = w->world->turns;
    int64_t number;
    sk_status st = sk_local_may_read(w, (sk_part){(void *)(uintptr_t)place, SK_PLACE, 0});
    st = st ? st : sk_local_may_write(w, to);
    if (st != SK_OK)
        return st;
    memcpy(&number, place, sizeof number);
    if (number < 0 || number >= t->nexposed || t->exposed[number].place != place)
        return sk_local_complain(w->world, "rank %d reads where rank %d exposes nothing", w->rank,
                                 rank);
    const exposure *e = &t->exposed[number];
    if (at < 0 || at > e->len || to.len > e->len - at)
        return sk_local_complain(w->world, "rank %d reads more than rank %d exposes", w->rank,
                                 rank);
    sk_part from = {(void *)(uintptr_t)(e->at + at), to.len, SK_TYPE_BYTE};
    sk_local_carry(w->world, &sk_type_byte, from, &w->types[to.type], to, to.len, false);
    return SK_OK;
}

sk_status sk_local_settle(sk_wire *base, uint32_t turn, bool block)
{
    (void)block;
    local_wire *w = (local_wire *)base;
    return all_passed(w, turn + 1) ? SK_OK : wait_for_mates(w);
}

void sk_local_pass(sk_wire *base, uint32_t turns)
{
    local_wire *w = (local_wire *)base;
    w->passed = turns;
    wake_mates(w);
}
