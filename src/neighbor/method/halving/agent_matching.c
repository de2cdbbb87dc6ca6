/* agent_matching.c: the agents of all ranks of a half at once, as Algorithms 2 and 3 find them by signals.
 *
 * First the weights of Algorithm 2, the paper's matrix A, from the global graph:
 *
 *   dense graphs   rows of bits in the order of positions, so that a half is a run of words and two ranks
 *                  are compared 64 targets at a time: about n^3 / 192 operations for all pairs of all
 *                  halvings
 *   sparse graphs  from a rank to its targets and back to their sources, so that only pairs with
 *                  something in common are visited: at most the sum over all ranks of their squared
 *                  number of sources
 *
 * Whichever is less is used.
 *
 * Then the pairs, without signals. Both ends of a pair rate it alike, so the signals agree on the pairs
 * that a greedy pass finds: all pairs in order, each taken when both ends are still free. The same pairs
 * result when every origin asks its candidates in order and every agent keeps the best that asked so far
 * (Gale and Shapley). That needs no list of all pairs: an origin looks up only its best TOP candidates,
 * and again when all of them went to others. Memory n TOP; time little more than finding the candidates
 * once. */
#include "neighbor/method/halving/halving.h"

#include <stdlib.h>
#include <string.h>

/* The graph with all edges reversed; its lists are ascending. */
static void transpose(int n, const int64_t *from_first, const int *from, int64_t *to_first, int *to)
{
    memset(to_first, 0, ((size_t)n + 1) * sizeof *to_first);
    for (int64_t k = 0; k < from_first[n]; k++)
        to_first[from[k] + 1]++;
    for (int i = 0; i < n; i++)
        to_first[i + 1] += to_first[i];
    for (int i = 0; i < n; i++)
        for (int64_t k = from_first[i]; k < from_first[i + 1]; k++)
            to[to_first[from[k]]++] = i;
    memmove(to_first + 1, to_first, (size_t)n * sizeof *to_first);
    to_first[0] = 0;
}

static void fill_lists(sk_halving_graph *hg, const sk_global_graph *g)
{
    const sk_machine *m = hg->machine;
    for (int i = 0; i < m->nranks; i++) {
        int degree = sk_global_graph_degree(g, m->rank_at[i], false);
        int *at = &hg->out[hg->out_first[i]];
        hg->out_first[i + 1] = hg->out_first[i] + degree;
        sk_global_graph_targets(g, m->rank_at[i], at);
        for (int k = 0; k < degree; k++)
            at[k] = m->position[at[k]];
    }
    transpose(m->nranks, hg->out_first, hg->out, hg->in_first, hg->in);
    if (!m->in_order)
        transpose(m->nranks, hg->in_first, hg->in, hg->out_first, hg->out);
}

static bool bits_are_faster(const sk_halving_graph *hg)
{
    double n = hg->machine->nranks, by_lists = 0;
    for (int i = 0; i < hg->machine->nranks; i++) {
        double sources = (double)(hg->in_first[i + 1] - hg->in_first[i]);
        by_lists += sources * sources / 3;
    }
    return n * n * n / 192 < by_lists;
}

static sk_status fill_rows(sk_halving_graph *hg)
{
    int n = hg->machine->nranks;
    hg->rows = calloc((size_t)n * hg->words, sizeof *hg->rows);
    if (!hg->rows)
        return SK_NOMEM;
    for (int i = 0; i < n; i++)
        for (int64_t k = hg->out_first[i]; k < hg->out_first[i + 1]; k++)
            hg->rows[(size_t)i * hg->words + (size_t)hg->out[k] / 64] |= (uint64_t)1
                                                                         << hg->out[k] % 64;
    return SK_OK;
}

sk_status sk_halving_graph_init(sk_halving_graph *hg, const sk_global_graph *g, const sk_machine *m)
{
    size_t n = (size_t)m->nranks, edges = (size_t)sk_global_graph_edges(g) + 1;
    *hg = (sk_halving_graph){.machine = m,
                             .out_first = calloc(n + 1, sizeof *hg->out_first),
                             .in_first = calloc(n + 1, sizeof *hg->in_first),
                             .out = malloc(edges * sizeof *hg->out),
                             .in = malloc(edges * sizeof *hg->in),
                             .words = (n + 63) / 64,
                             .mask = calloc((n + 63) / 64, sizeof *hg->mask),
                             .count = calloc(n, sizeof *hg->count)};
    sk_status st = SK_NOMEM;
    if (hg->out_first && hg->in_first && hg->out && hg->in && hg->mask && hg->count) {
        fill_lists(hg, g);
        st = bits_are_faster(hg) ? fill_rows(hg) : SK_OK;
    }
    if (st != SK_OK)
        sk_halving_graph_free(hg);
    return st;
}

void sk_halving_graph_free(sk_halving_graph *hg)
{
    free(hg->out_first);
    free(hg->in_first);
    free(hg->out);
    free(hg->in);
    free(hg->rows);
    free(hg->mask);
    free(hg->count);
    *hg = (sk_halving_graph){0};
}

static int64_t find(const int *list, int64_t from, int64_t to, int position)
{
    while (from < to) {
        int64_t mid = from + (to - from) / 2;
        if (list[mid] < position)
            from = mid + 1;
        else
            to = mid;
    }
    return from;
}

int64_t sk_halving_graph_find(const sk_halving_graph *hg, int64_t from, int64_t to, int position)
{
    return find(hg->out, from, to, position);
}

/* ---- by bits ---- */

/* Counts the bits that a and b both have, in eight counters of a byte each that are summed before one can
 * overflow. This needs no special instruction. */
static int common_bits(const uint64_t *a, const uint64_t *b, size_t n)
{
    const uint64_t odd = 0x5555555555555555, pair = 0x3333333333333333, low = 0x0f0f0f0f0f0f0f0f;
    int sum = 0;
    for (size_t i = 0; i < n;) {
        uint64_t bytes = 0;
        for (size_t end = n - i > 31 ? i + 31 : n; i < end; i++) {
            uint64_t x = a[i] & b[i];
            x -= x >> 1 & odd;
            x = (x & pair) + (x >> 2 & pair);
            bytes += (x + (x >> 4)) & low;
        }
        bytes = (bytes & 0x00ff00ff00ff00ff) + (bytes >> 8 & 0x00ff00ff00ff00ff);
        sum += (int)(bytes * 0x0001000100010001 >> 48);
    }
    return sum;
}

static int candidates_by_bits(sk_halving_graph *hg, int a, sk_half to, sk_agent_candidate *out)
{
    const sk_machine *m = hg->machine;
    const uint64_t *mine = hg->rows + (size_t)a * hg->words;
    size_t first = (size_t)to.lo / 64, last = ((size_t)to.hi + 63) / 64, n = last - first;
    int found = 0;
    memcpy(hg->mask, mine + first, n * sizeof *mine);
    hg->mask[0] &= ~(uint64_t)0 << to.lo % 64;
    if (to.hi % 64)
        hg->mask[n - 1] &= ~(~(uint64_t)0 << to.hi % 64);
    for (int b = to.lo; b < to.hi; b++) {
        int common = common_bits(hg->mask, hg->rows + (size_t)b * hg->words + first, n) +
                     (int)(mine[b / 64] >> b % 64 & 1);
        if (common)
            out[found++] = sk_agent_candidate_of(common, m->rank_at[a], m->rank_at[b]);
    }
    return found;
}

/* ---- by lists ---- */

static int count_common(sk_halving_graph *hg, int b, sk_agent_candidate *out, int found)
{
    if (hg->count[b]++ == 0)
        out[found++].rank = b;
    return found;
}

static int candidates_by_lists(sk_halving_graph *hg, int a, sk_half to, sk_agent_candidate *out)
{
    const sk_machine *m = hg->machine;
    int64_t end = hg->out_first[a + 1];
    int found = 0;
    for (int64_t k = find(hg->out, hg->out_first[a], end, to.lo); k < end && hg->out[k] < to.hi;
         k++) {
        int d = hg->out[k];
        int64_t stop = hg->in_first[d + 1];
        found = count_common(hg, d, out, found);
        for (int64_t j = find(hg->in, hg->in_first[d], stop, to.lo); j < stop && hg->in[j] < to.hi;
             j++)
            found = count_common(hg, hg->in[j], out, found);
    }
    for (int i = 0; i < found; i++) {
        int b = out[i].rank;
        out[i] = sk_agent_candidate_of(hg->count[b], m->rank_at[a], m->rank_at[b]);
        hg->count[b] = 0;
    }
    return found;
}

/* The candidates of the rank at position `a` for an agent in `to`, with what they have in common with it:
 * targets in `to`, and one more when they are targets themselves. At least 1; in no order. `out` has one
 * entry per position of `to`; returns their number. */
static int find_candidates(sk_halving_graph *hg, int a, sk_half to, sk_agent_candidate *out)
{
    return hg->rows ? candidates_by_bits(hg, a, to, out) : candidates_by_lists(hg, a, to, out);
}

/* ---- matching ---- */

enum { TOP = 16, PASSES = 2 };

struct sk_agent_matching {
    sk_halving_graph *hg;
    sk_agent_candidate *all; /* the candidates of one origin */
    sk_agent_candidate *top; /* by position of origin: its best TOP candidates */
    int *ntop, *next;        /* their number, and which it asks next */
    bool *more;              /* there were more than TOP */
    sk_agent_candidate
        *accepted; /* by position of agent: the best that asked; rank < 0: none did */
};

sk_agent_matching *sk_agent_matching_new(sk_halving_graph *hg)
{
    size_t n = (size_t)hg->machine->nranks;
    sk_agent_matching *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    *m = (sk_agent_matching){.hg = hg,
                             .all = malloc(n * sizeof *m->all),
                             .top = malloc(n * TOP * sizeof *m->top),
                             .ntop = malloc(n * sizeof *m->ntop),
                             .next = malloc(n * sizeof *m->next),
                             .more = malloc(n * sizeof *m->more),
                             .accepted = malloc(n * sizeof *m->accepted)};
    if (!m->all || !m->top || !m->ntop || !m->next || !m->more || !m->accepted) {
        sk_agent_matching_free(m);
        return NULL;
    }
    return m;
}

void sk_agent_matching_free(sk_agent_matching *m)
{
    if (!m)
        return;
    free(m->all);
    free(m->top);
    free(m->ntop);
    free(m->next);
    free(m->more);
    free(m->accepted);
    free(m);
}

static bool would_accept(const sk_agent_matching *m, int b, sk_agent_candidate origin)
{
    return m->accepted[b].rank < 0 || sk_agent_candidate_before(origin, m->accepted[b]);
}

/* Looks up the best candidates that would accept a. One that would not accept it now never will, since
 * agents only improve. So those that a asked before are left out by themselves. */
static void look_up(sk_agent_matching *m, int a, sk_half to)
{
    const sk_machine *on = m->hg->machine;
    sk_agent_candidate *top = &m->top[(size_t)a * TOP];
    int n = find_candidates(m->hg, a, to, m->all), got = 0;
    m->more[a] = false;
    for (int i = 0; i < n; i++) {
        sk_agent_candidate c = m->all[i];
        bool worse = got == TOP && sk_agent_candidate_before(top[TOP - 1], c);
        if (worse && m->more[a])
            continue;
        if (!would_accept(m, on->position[c.rank], (sk_agent_candidate){c.key, on->rank_at[a]}))
            continue;
        m->more[a] |= got == TOP;
        if (worse)
            continue;
        int at = got < TOP ? got++ : TOP - 1;
        for (; at > 0 && sk_agent_candidate_before(c, top[at - 1]); at--)
            top[at] = top[at - 1];
        top[at] = c;
    }
    m->ntop[a] = got;
    m->next[a] = 0;
}

/* Origin a asks. Returns the origin that it displaced, which has to ask next; -1: none. */
static int ask(sk_agent_matching *m, int a, sk_half to)
{
    const sk_machine *on = m->hg->machine;
    for (;;) {
        if (m->next[a] == m->ntop[a]) {
            if (m->more[a])
                look_up(m, a, to);
            if (m->next[a] == m->ntop[a])
                return -1;
        }
        sk_agent_candidate c = m->top[(size_t)a * TOP + (size_t)m->next[a]++];
        sk_agent_candidate me = {c.key, on->rank_at[a]},
                           *accepted = &m->accepted[on->position[c.rank]];
        if (would_accept(m, on->position[c.rank], me)) {
            int displaced = accepted->rank < 0 ? -1 : on->position[accepted->rank];
            *accepted = me;
            return displaced;
        }
    }
}

/* One pass: every agent accepts at most one of the origins that have none yet. */
static void pass(sk_agent_matching *m, sk_half from, sk_half to, int *agent)
{
    for (int b = to.lo; b < to.hi; b++)
        m->accepted[b].rank = -1;
    for (int i = from.lo; i < from.hi; i++) {
        if (agent[i] >= 0)
            continue;
        look_up(m, i, to);
        for (int a = i; a >= 0;)
            a = ask(m, a, to);
    }
    for (int b = to.lo; b < to.hi; b++)
        if (m->accepted[b].rank >= 0)
            agent[m->hg->machine->position[m->accepted[b].rank]] = b;
}

void sk_agent_matching_run(sk_agent_matching *m, sk_half from, sk_half to, int *agent)
{
    for (int a = from.lo; a < from.hi; a++)
        agent[a] = -1;
    for (int i = 0; i < PASSES; i++)
        pass(m, from, to, agent);
}
