/* agent_selection.c: the agent of one rank, by messages.
 *
 * Weights, the paper's matrix A: every rank sends the list of its sources to its sources. Of each list
 * only sums are kept. Rank b, from which I am separated in step t, has in common with me
 *
 *   as my agent   targets from which I am separated in step t too: they are in b's half
 *   as my origin  targets from which I am separated later or never: they are in my half
 *
 * and one more when the agent is itself a target of the origin.
 *
 * Algorithms 2 and 3, as reactions to the signals that arrive. Every pair of a half exchanges exactly one
 * signal each way: REQ or EXIT against ACCEPT or DROP. So a rank that has heard from all has also sent
 * all, and is done. An origin asks its best candidate that has not dropped it. An agent accepts its best
 * candidate that has not left, and drops the others. Since both rate a pair alike, the outcome does not
 * depend on the order in which signals arrive.
 *
 * Two things differ from the print. Conditions that read `selected_origin != -1` there mean that none was
 * selected. And an origin that was dropped by a rank it has not asked does not answer at once, but when
 * it has found an agent (EXIT) or knows that it has none (LEFT): so the second pass needs signals only
 * between ranks that do not know that of each other yet. */
#include "neighbor/method/halving/halving.h"

#include <stdlib.h>

#include "neighbor/rankset.h"

static void find_steps(sk_agent_weights *w, const sk_halving_rules *h)
{
    const sk_machine *m = h->machine;
    sk_socket_range g = {0, m->nsockets};
    int mine = m->socket[w->graph->rank], step = 0;
    for (; g.last - g.first > 1; step++) {
        int cut = sk_socket_range_cut(m, g);
        sk_socket_range lower = {g.first, cut}, upper = {cut, g.last};
        sk_half other = sk_socket_range_positions(m, mine < cut ? upper : lower);
        for (int i = other.lo; i < other.hi; i++)
            w->step[m->rank_at[i]] = (int8_t)step;
        g = mine < cut ? lower : upper;
    }
    sk_half socket = sk_socket_range_positions(m, g);
    for (int i = socket.lo; i < socket.hi; i++)
        w->step[m->rank_at[i]] = (int8_t)h->steps;
}

sk_status sk_agent_weights_init(sk_agent_weights *w, const sk_graph *g, const sk_halving_rules *h)
{
    size_t n = (size_t)g->nranks;
    *w = (sk_agent_weights){.graph = g,
                            .step = malloc(n * sizeof *w->step),
                            .as_agent = calloc(n, sizeof *w->as_agent),
                            .as_origin = calloc(n, sizeof *w->as_origin),
                            .list = malloc(n * sizeof *w->list)};
    if (!w->step || !w->as_agent || !w->as_origin || !w->list) {
        sk_agent_weights_free(w);
        return SK_NOMEM;
    }
    find_steps(w, h);
    for (int i = 0; i < g->ntargets; i++)
        w->as_agent[g->targets[i]]++;
    for (int i = 0; i < g->nsources; i++)
        w->as_origin[g->sources[i]]++;
    return SK_OK;
}

void sk_agent_weights_free(sk_agent_weights *w)
{
    free(w->step);
    free(w->as_agent);
    free(w->as_origin);
    free(w->list);
    *w = (sk_agent_weights){0};
}

sk_status sk_agent_weights_send(const sk_agent_weights *w, sk_channel *ch, sk_expected *expected,
                                int phase)
{
    const sk_graph *g = w->graph;
    int32_t *words = malloc((1 + sk_rankset_words(g->nranks, g->nsources)) * sizeof *words);
    if (!words)
        return SK_NOMEM;
    words[0] = phase;
    size_t n = 1 + sk_rankset_put(words + 1, g->nranks, g->sources, g->nsources);
    sk_status st = SK_OK;
    for (int i = 0; i < g->ntargets; i++)
        sk_expected_add(expected, g->targets[i]);
    for (int i = 0; i < g->nsources && st == SK_OK; i++)
        st = ch->send(ch, g->sources[i], words, n);
    free(words);
    return st;
}

sk_status sk_agent_weights_receive(sk_agent_weights *w, int from, const int32_t *words, size_t n)
{
    int many;
    size_t read = sk_rankset_get(words + 1, n - 1, w->graph->nranks, w->list, &many);
    if (read == 0 || read != n - 1)
        return SK_WIRE;
    for (int i = 0; i < many; i++) {
        int source = w->list[i];
        w->as_agent[source] += w->step[from] == w->step[source];
        w->as_origin[source] += w->step[from] > w->step[source];
    }
    return SK_OK;
}

int sk_agent_weights_candidates(const sk_agent_weights *w, const sk_machine *m, sk_half other,
                                bool origin, sk_agent_candidate *out)
{
    const int32_t *weight = origin ? w->as_agent : w->as_origin;
    int n = 0;
    for (int i = other.lo; i < other.hi; i++)
        if (weight[m->rank_at[i]] > 0)
            out[n++] = sk_agent_candidate_of(weight[m->rank_at[i]], w->graph->rank, m->rank_at[i]);
    return n;
}

enum { REQ, ACCEPT, DROP, EXIT, LEFT }; /* the signals */

/* Which signals were exchanged with a rank. After the first two states no agreement is possible. */
enum {
    OPEN,    /* nothing yet */
    ASKED,   /* REQ, no answer yet */
    DROPPED, /* DROP without a REQ before; the origin's answer is expected */
    REFUSED, /* REQ and DROP: the agent does not know whether the origin has found another */
    AGREED,  /* REQ and ACCEPT */
    GONE,    /* EXIT: the origin has an agent */
    FAILED,  /* LEFT: it has none */
};

sk_status sk_agent_selection_init(sk_agent_selection *d, int nranks)
{
    size_t n = (size_t)nranks;
    *d = (sk_agent_selection){.list = malloc(n * sizeof *d->list),
                              .state = calloc(n, sizeof *d->state)};
    if (d->list && d->state)
        return SK_OK;
    sk_agent_selection_free(d);
    return SK_NOMEM;
}

void sk_agent_selection_free(sk_agent_selection *d)
{
    free(d->list);
    free(d->state);
    *d = (sk_agent_selection){0};
}

static sk_status send_signal(sk_agent_selection *d, sk_channel *ch, int to, int signal, int state)
{
    int32_t words[] = {d->phase, signal};
    d->state[to] = (uint8_t)state;
    return ch->send(ch, to, words, sizeof words / sizeof *words);
}

/* ---- the origin ---- */

/* Tells all that wait for this origin's answer or request whether it has found an agent. */
static sk_status leave(sk_agent_selection *d, sk_channel *ch)
{
    sk_status st = SK_OK;
    bool found = d->partner >= 0;
    for (int i = 0; i < d->n && st == SK_OK; i++) {
        int rank = d->list[i].rank;
        if (d->state[rank] == OPEN || d->state[rank] == DROPPED)
            st = send_signal(d, ch, rank, found ? EXIT : LEFT, found ? GONE : FAILED);
    }
    return st;
}

static sk_status ask(sk_agent_selection *d, sk_channel *ch)
{
    while (d->best < d->n && d->state[d->list[d->best].rank] != OPEN)
        d->best++;
    if (d->best == d->n)
        return leave(d, ch);
    return send_signal(d, ch, d->list[d->best].rank, REQ, ASKED);
}

static sk_status origin_receive(sk_agent_selection *d, sk_channel *ch, int from, int signal)
{
    uint8_t *state = &d->state[from];
    if (signal == ACCEPT && *state == ASKED) {
        *state = AGREED;
        d->partner = from;
        return leave(d, ch);
    }
    if (signal != DROP)
        return SK_WIRE;
    if (*state == ASKED) {
        *state = REFUSED;
        return ask(d, ch);
    }
    if (*state == OPEN)
        *state = DROPPED;
    return SK_OK;
}

/* ---- the agent ---- */

/* Accepts the best origin that has not left, if it has asked, and then drops the others. */
static sk_status decide(sk_agent_selection *d, sk_channel *ch)
{
    while (d->best < d->n && d->state[d->list[d->best].rank] > ASKED)
        d->best++;
    if (d->partner >= 0 || d->best == d->n || d->state[d->list[d->best].rank] != ASKED)
        return SK_OK;
    d->partner = d->list[d->best].rank;
    sk_status st = send_signal(d, ch, d->partner, ACCEPT, AGREED);
    for (int i = d->best + 1; i < d->n && st == SK_OK; i++) {
        int rank = d->list[i].rank;
        if (d->state[rank] <= ASKED)
            st = send_signal(d, ch, rank, DROP, d->state[rank] == ASKED ? REFUSED : DROPPED);
    }
    return st;
}

static sk_status agent_receive(sk_agent_selection *d, sk_channel *ch, int from, int signal)
{
    uint8_t *state = &d->state[from];
    bool dropped = *state == DROPPED;
    if (*state != OPEN && !dropped)
        return SK_WIRE;
    if (signal == REQ) {
        *state = dropped ? REFUSED : ASKED;
        return decide(d, ch);
    }
    if (signal != EXIT && signal != LEFT)
        return SK_WIRE;
    int now = signal == EXIT ? GONE : FAILED;
    *state = (uint8_t)now;
    sk_status st = dropped ? SK_OK : send_signal(d, ch, from, DROP, now);
    return st == SK_OK ? decide(d, ch) : st;
}

/* ---- both ---- */

static int by_key(const void *a, const void *b)
{
    const sk_agent_candidate *x = a, *y = b;
    return sk_agent_candidate_before(*x, *y) ? -1 : sk_agent_candidate_before(*y, *x);
}

static void reset(sk_agent_selection *d, sk_expected *expected, int phase, int n)
{
    d->phase = phase;
    d->n = n;
    d->best = 0;
    for (int i = 0; i < n; i++) {
        d->state[d->list[i].rank] = OPEN;
        sk_expected_add(expected, d->list[i].rank);
    }
}

sk_status sk_agent_selection_begin(sk_agent_selection *d, sk_channel *ch, sk_expected *expected,
                                   int phase, bool origin, int n)
{
    if (n)
        qsort(d->list, (size_t)n, sizeof *d->list, by_key);
    reset(d, expected, phase, n);
    d->origin = origin;
    d->partner = -1;
    return origin ? ask(d, ch) : SK_OK;
}

sk_status sk_agent_selection_second_pass(sk_agent_selection *d, sk_channel *ch,
                                         sk_expected *expected, int phase)
{
    bool found = d->origin && d->partner >= 0;
    int n = 0;
    for (int i = 0; i < d->n; i++) {
        int state = d->state[d->list[i].rank];
        if (state == REFUSED || state == FAILED)
            d->list[n++] = d->list[i];
    }
    reset(d, expected, phase, n);
    if (found)
        return leave(d, ch);
    d->partner = -1;
    return d->origin ? ask(d, ch) : SK_OK;
}

sk_status sk_agent_selection_receive(sk_agent_selection *d, sk_channel *ch, int from,
                                     const int32_t *words, size_t n)
{
    if (n != 2)
        return SK_WIRE;
    return d->origin ? origin_receive(d, ch, from, words[1]) : agent_receive(d, ch, from, words[1]);
}
