/* halving_match.c: the pairs of Algorithms 2 and 3 without their signals.
 *
 * Both ends of a pair rate it alike, so the pairs that the signals agree on are those of taking all
 * pairs in their one order, each when both ends are still free. The same come out when every origin
 * asks its candidates in turn and every agent keeps the best that asked so far (Gale and Shapley),
 * and that needs no list of all pairs: an origin looks up only its best few candidates, and again
 * when they all went to others. Memory n FEW; time little more than finding the candidates once. */
#include "neighbor/halving_match.h"

#include <stdlib.h>

enum { FEW = 16, PASSES = 2 };

struct sk_match {
    sk_near *near;
    sk_choice *all;   /* the candidates of one origin */
    sk_choice *few;   /* by place of origin: the best FEW of them, */
    int *nfew, *next; /* how many, and which it asks next */
    bool *more;       /* there were more than FEW */
    sk_choice *kept;  /* by place of agent: the best that asked; who < 0: none did */
};

sk_match *sk_match_new(sk_near *near)
{
    size_t n = (size_t)near->machine->nranks;
    sk_match *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    *m = (sk_match){.near = near,
                    .all = malloc(n * sizeof *m->all),
                    .few = malloc(n * FEW * sizeof *m->few),
                    .nfew = malloc(n * sizeof *m->nfew),
                    .next = malloc(n * sizeof *m->next),
                    .more = malloc(n * sizeof *m->more),
                    .kept = malloc(n * sizeof *m->kept)};
    if (!m->all || !m->few || !m->nfew || !m->next || !m->more || !m->kept) {
        sk_match_free(m);
        return NULL;
    }
    return m;
}

void sk_match_free(sk_match *m)
{
    if (!m)
        return;
    free(m->all);
    free(m->few);
    free(m->nfew);
    free(m->next);
    free(m->more);
    free(m->kept);
    free(m);
}

static bool would_keep(const sk_match *m, int b, sk_choice origin)
{
    return m->kept[b].who < 0 || sk_choice_before(origin, m->kept[b]);
}

/* Look up the best few that would keep a. One that would not now never will: agents only rise. So
 * those that a asked before drop out by themselves. */
static void look_up(sk_match *m, int a, sk_half to)
{
    const sk_machine *on = m->near->machine;
    sk_choice *few = &m->few[(size_t)a * FEW];
    int n = sk_near_candidates(m->near, a, to, m->all), got = 0;
    m->more[a] = false;
    for (int i = 0; i < n; i++) {
        sk_choice c = m->all[i];
        bool worse = got == FEW && sk_choice_before(few[FEW - 1], c);
        if (worse && m->more[a])
            continue;
        if (!would_keep(m, on->place[c.who], (sk_choice){c.key, on->order[a]}))
            continue;
        m->more[a] |= got == FEW;
        if (worse)
            continue;
        int at = got < FEW ? got++ : FEW - 1;
        for (; at > 0 && sk_choice_before(c, few[at - 1]); at--)
            few[at] = few[at - 1];
        few[at] = c;
    }
    m->nfew[a] = got;
    m->next[a] = 0;
}

/* The origin that now has to ask: the one that a displaced; -1: nobody. */
static int ask(sk_match *m, int a, sk_half to)
{
    const sk_machine *on = m->near->machine;
    for (;;) {
        if (m->next[a] == m->nfew[a]) {
            if (m->more[a])
                look_up(m, a, to);
            if (m->next[a] == m->nfew[a])
                return -1;
        }
        sk_choice c = m->few[(size_t)a * FEW + (size_t)m->next[a]++];
        sk_choice me = {c.key, on->order[a]}, *kept = &m->kept[on->place[c.who]];
        if (would_keep(m, on->place[c.who], me)) {
            int displaced = kept->who < 0 ? -1 : on->place[kept->who];
            *kept = me;
            return displaced;
        }
    }
}

/* One pass: every agent takes at most one of the origins that have none yet. */
static void pass(sk_match *m, sk_half from, sk_half to, int *agent)
{
    for (int b = to.lo; b < to.hi; b++)
        m->kept[b].who = -1;
    for (int i = from.lo; i < from.hi; i++) {
        if (agent[i] >= 0)
            continue;
        look_up(m, i, to);
        for (int a = i; a >= 0;)
            a = ask(m, a, to);
    }
    for (int b = to.lo; b < to.hi; b++)
        if (m->kept[b].who >= 0)
            agent[m->near->machine->place[m->kept[b].who]] = b;
}

void sk_match_agents(sk_match *m, sk_half from, sk_half to, int *agent)
{
    for (int a = from.lo; a < from.hi; a++)
        agent[a] = -1;
    for (int i = 0; i < PASSES; i++)
        pass(m, from, to, agent);
}
