/* negotiation.c: distance halving by messages: Algorithm 1 of one rank.
 *
 *   phase 0     the lists of sources: who has what in common
 *   each step   five phases: two passes in which the lower half selects agents, two for the upper half,
 *               and one in which blocks are handed over (the paper's descriptor D)
 *   last phase  the ranks of a socket tell each other which blocks they will send
 *
 * A rank that reaches its socket before others skips the steps between. */
#include <stdlib.h>

#include "neighbor/method/halving/halving.h"

typedef struct handover {
    const sk_halving_rules *rules;
    int rank, position;
    sk_block *held; /* to be sent on; none of them is for this rank */
    size_t nheld, cap;
    sk_pattern *made;
} handover;

typedef struct halving_step {
    int phase, step;
    sk_half mine, other;
    int agent;      /* rank, or -1 */
    int origins[2]; /* ranks whose agent is this one, or -1 */
} halving_step;

static sk_status hold(handover *h, sk_block block)
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

static void handover_free(handover *h)
{
    sk_pattern_free(h->made);
    free(h->held);
    *h = (handover){0};
}

static sk_status handover_init(handover *h, const sk_graph *g, const sk_halving_rules *rules)
{
    *h = (handover){.rules = rules,
                    .rank = g->rank,
                    .position = rules->machine->position[g->rank],
                    .made = sk_pattern_new(g->nranks, g->rank)};
    sk_status st = h->made ? SK_OK : SK_NOMEM;
    for (int i = 0; i < g->ntargets && st == SK_OK; i++)
        st = hold(h, (sk_block){g->rank, g->targets[i]});
    if (st != SK_OK)
        handover_free(h);
    return st;
}

static bool is_active(const handover *h)
{
    return sk_halving_is_active(h->rules, h->position);
}

/* ---- to the agent ---- */

/* Moves the blocks for a half into words, two for each; returns their number. */
static size_t pick_out(handover *h, sk_half half, int32_t *words)
{
    const int *position = h->rules->machine->position;
    size_t accepted = 0, picked = 0;
    for (size_t i = 0; i < h->nheld; i++) {
        sk_block one = h->held[i];
        if (sk_half_has(half, position[one.dst])) {
            words[2 * picked] = one.src;
            words[2 * picked + 1] = one.dst;
            picked++;
        } else {
            h->held[accepted++] = one;
        }
    }
    h->nheld = accepted;
    return picked;
}

static int mirror_of(const handover *h, const halving_step *s)
{
    int at = is_active(h) ? sk_halving_mirror(h->rules, s->mine, s->other, h->position) : -1;
    return at < 0 ? -1 : h->rules->machine->rank_at[at];
}

/* The mirror image cannot know whether this rank needs it, so it gets a message in any case. */
static sk_status send_blocks(handover *h, sk_channel *ch, const halving_step *s)
{
    int32_t *words = malloc((1 + 2 * h->nheld) * sizeof *words);
    if (!words)
        return SK_NOMEM;
    words[0] = s->phase;
    size_t n = pick_out(h, s->other, words + 1);
    int mirror = mirror_of(h, s), to = s->agent >= 0 ? s->agent : mirror;
    for (size_t i = 0; i < n; i++)
        sk_pattern_send(h->made, s->step, to, words[1 + 2 * i], words[2 + 2 * i]);
    sk_status st = to >= 0 ? ch->send(ch, to, words, 1 + 2 * n) : SK_OK;
    if (st == SK_OK && mirror >= 0 && mirror != to)
        st = ch->send(ch, mirror, words, 1);
    free(words);
    return st;
}

static sk_status send_to_agent(handover *h, sk_channel *ch, sk_expected *expected,
                               const halving_step *s)
{
    const int *rank = h->rules->machine->rank_at;
    sk_half from = {0, 0};
    if (is_active(h))
        from = sk_halving_mirrored(h->rules, s->other, s->mine, h->position);
    for (int i = from.lo; i < from.hi; i++)
        sk_expected_add(expected, rank[h->rules->active[i]]);
    for (int i = 0; i < 2; i++)
        if (s->origins[i] >= 0)
            sk_expected_add(expected, s->origins[i]);
    return send_blocks(h, ch, s);
}

static sk_status receive_blocks(handover *h, const halving_step *s, int from, const int32_t *words,
                                size_t n)
{
    const sk_machine *m = h->rules->machine;
    sk_status st = n % 2 == 1 ? SK_OK : SK_WIRE;
    for (size_t i = 1; i < n && st == SK_OK; i += 2) {
        sk_block one = {words[i], words[i + 1]};
        if (one.dst < 0 || one.dst >= m->nranks || !sk_half_has(s->mine, m->position[one.dst]))
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

static size_t first_for(const handover *h, int dst)
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

/* Sends the sources whose blocks a rank of the socket will get: a run of `held`, which is sorted by
 * destination. */
static sk_status send_to_local_rank(handover *h, sk_channel *ch, int local_rank, int32_t *words)
{
    size_t n = 1;
    for (size_t i = first_for(h, local_rank); i < h->nheld && h->held[i].dst == local_rank; i++) {
        sk_pattern_send(h->made, h->rules->steps, local_rank, h->held[i].src, local_rank);
        words[n++] = h->held[i].src;
    }
    return ch->send(ch, local_rank, words, n);
}

static sk_status send_in_socket(handover *h, sk_channel *ch, sk_expected *expected, int phase,
                                sk_half socket)
{
    int32_t *words = malloc((1 + h->nheld) * sizeof *words);
    if (!words)
        return SK_NOMEM;
    words[0] = phase;
    if (h->nheld)
        qsort(h->held, h->nheld, sizeof *h->held, by_dst);
    sk_status st = SK_OK;
    for (int i = socket.lo; i < socket.hi && st == SK_OK && is_active(h); i++) {
        if (i == h->position || !sk_halving_is_active(h->rules, i))
            continue;
        sk_expected_add(expected, h->rules->machine->rank_at[i]);
        st = send_to_local_rank(h, ch, h->rules->machine->rank_at[i], words);
    }
    free(words);
    return st;
}

static void receive_in_socket(handover *h, int from, const int32_t *words, size_t n)
{
    for (size_t i = 1; i < n; i++)
        sk_pattern_recv(h->made, h->rules->steps, from, words[i], h->rank);
}

enum { LOWER, LOWER_AGAIN, UPPER, UPPER_AGAIN, HANDOVER, PHASES }; /* of a step */

typedef struct halving_negotiator {
    sk_negotiator base;
    sk_halving_rules rules;
    sk_agent_weights weights;
    sk_agent_selection selection;
    handover handover;
    sk_expected expected;
    sk_socket_range group; /* of this rank, after the present step */
    halving_step step;     /* the present one */
} halving_negotiator;

static int last_phase(const halving_negotiator *p)
{
    return 1 + p->rules.steps * PHASES;
}

/* The kind of the present phase within its step; PHASES: it is the first or last of all. */
static int kind_of(const halving_negotiator *p)
{
    int phase = p->base.phase;
    return phase == 0 || phase == last_phase(p) ? PHASES : (phase - 1) % PHASES;
}

static void begin_step(halving_negotiator *p)
{
    const sk_machine *m = p->rules.machine;
    int cut = sk_socket_range_cut(m, p->group);
    sk_socket_range lower = {p->group.first, cut}, upper = {cut, p->group.last};
    bool below = m->socket[p->base.rank] < cut;
    p->group = below ? lower : upper;
    p->step = (halving_step){.step = (p->base.phase - 1) / PHASES,
                             .mine = sk_socket_range_positions(m, below ? lower : upper),
                             .other = sk_socket_range_positions(m, below ? upper : lower),
                             .agent = -1,
                             .origins = {-1, -1}};
}

static sk_status enter_selection(halving_negotiator *p, sk_channel *ch, int kind)
{
    if (kind == LOWER_AGAIN || kind == UPPER_AGAIN)
        return sk_agent_selection_second_pass(&p->selection, ch, &p->expected, p->base.phase);
    bool below = p->step.mine.lo < p->step.other.lo, origin = below == (kind == LOWER);
    int n = sk_agent_weights_candidates(&p->weights, p->rules.machine, p->step.other, origin,
                                        p->selection.list);
    return sk_agent_selection_begin(&p->selection, ch, &p->expected, p->base.phase, origin, n);
}

static void leave_selection(halving_negotiator *p, int kind)
{
    if (p->selection.origin)
        p->step.agent = p->selection.partner;
    else
        p->step.origins[kind == LOWER_AGAIN || kind == UPPER_AGAIN] = p->selection.partner;
}

static sk_status enter(halving_negotiator *p, sk_channel *ch)
{
    int kind = kind_of(p);
    if (kind == PHASES)
        return send_in_socket(&p->handover, ch, &p->expected, p->base.phase,
                              sk_socket_range_positions(p->rules.machine, p->group));
    if (kind == HANDOVER) {
        p->step.phase = p->base.phase;
        return send_to_agent(&p->handover, ch, &p->expected, &p->step);
    }
    if (kind == LOWER)
        begin_step(p);
    return enter_selection(p, ch, kind);
}

static sk_status finish(halving_negotiator *p)
{
    p->base.made[SK_METHOD_HALVING] = p->handover.made;
    p->handover.made = NULL;
    p->base.done = true;
    return sk_pattern_freeze(p->base.made[SK_METHOD_HALVING]);
}

/* Enters the next phases, as long as there is nothing to wait for. */
static sk_status go_on(halving_negotiator *p, sk_channel *ch)
{
    sk_status st = SK_OK;
    while (st == SK_OK && p->expected.left == 0) {
        int kind = kind_of(p);
        if (p->base.phase == last_phase(p))
            return finish(p);
        if (kind < HANDOVER)
            leave_selection(p, kind);
        bool at_socket = kind >= HANDOVER && p->group.last - p->group.first == 1;
        p->base.phase = at_socket ? last_phase(p) : p->base.phase + 1;
        st = enter(p, ch);
    }
    return st;
}

static sk_status start(sk_negotiator *base, sk_channel *ch)
{
    halving_negotiator *p = (halving_negotiator *)base;
    sk_status st = sk_agent_weights_send(&p->weights, ch, &p->expected, base->phase);
    return st == SK_OK ? go_on(p, ch) : st;
}

static sk_status receive(sk_negotiator *base, sk_channel *ch, int from, const int32_t *words,
                         size_t n)
{
    halving_negotiator *p = (halving_negotiator *)base;
    int kind = kind_of(p);
    sk_status st = sk_expected_remove(&p->expected, from);
    if (st != SK_OK)
        return st;
    if (base->phase == 0)
        st = sk_agent_weights_receive(&p->weights, from, words, n);
    else if (kind == PHASES)
        receive_in_socket(&p->handover, from, words, n);
    else if (kind == HANDOVER)
        st = receive_blocks(&p->handover, &p->step, from, words, n);
    else
        st = sk_agent_selection_receive(&p->selection, ch, from, words, n);
    return st == SK_OK ? go_on(p, ch) : st;
}

static void negotiator_free(sk_negotiator *base)
{
    halving_negotiator *p = (halving_negotiator *)base;
    handover_free(&p->handover);
    sk_agent_selection_free(&p->selection);
    sk_agent_weights_free(&p->weights);
    sk_halving_rules_free(&p->rules);
    free(p->expected.from);
    free(p);
}

sk_negotiator *sk_halving_negotiator(const sk_graph *g, const sk_machine *m,
                                     const sk_pattern_opts *o)
{
    static const sk_negotiator_ops ops = {start, receive, negotiator_free};
    halving_negotiator *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->base = (sk_negotiator){.ops = &ops, .rank = g->rank, .nranks = g->nranks};
    p->group = (sk_socket_range){0, m->nsockets};
    p->expected.from = calloc((size_t)g->nranks, sizeof *p->expected.from);
    if (!p->expected.from || sk_halving_rules_init(&p->rules, m, o->idle) != SK_OK ||
        sk_agent_weights_init(&p->weights, g, &p->rules) != SK_OK ||
        sk_agent_selection_init(&p->selection, g->nranks) != SK_OK ||
        handover_init(&p->handover, g, &p->rules) != SK_OK) {
        negotiator_free(&p->base);
        return NULL;
    }
    return &p->base;
}
