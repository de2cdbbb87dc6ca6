/* halving.h: what the files of this folder share.
 *
 *   halving.c          the method, how the machine is cut into halves, the prediction of its load
 *   agent_matching.c   agents of all ranks of a half at once, from the global graph
 *   plan.c             patterns from the global graph
 *   agent_selection.c  the agent of one rank, by messages
 *   negotiation.c      the pattern of one rank, by messages
 *
 * Positions are indices into machine->rank_at, in which the ranks of a node and of a socket are
 * consecutive. */
#ifndef SK_HALVING_H
#define SK_HALVING_H

#include <stdbool.h>
#include <stdint.h>

#include "neighbor/method.h"

/* The two forms of the method. */
sk_status sk_halving_plan(const sk_global_graph *g, const sk_machine *m, const sk_pattern_opts *o,
                          const int *ranks, int n, sk_pattern **out);
sk_negotiator *sk_halving_negotiator(const sk_graph *g, const sk_machine *m,
                                     const sk_pattern_opts *o);

/* ---- halving.c: the rules that every rank computes alike ---- */

typedef struct sk_halving_rules {
    const sk_machine *machine;
    int steps;          /* after so many every group is one socket */
    int *active;        /* positions of the ranks that are not idle, ascending */
    int *active_before; /* nranks + 1: how many of them are before a position */
} sk_halving_rules;

sk_status sk_halving_rules_init(sk_halving_rules *h, const sk_machine *m, const bool *idle);
void sk_halving_rules_free(sk_halving_rules *h);

typedef struct sk_socket_range { /* sockets first to last - 1 */
    int first, last;
} sk_socket_range;

typedef struct sk_half { /* positions lo to hi - 1 */
    int lo, hi;
} sk_half;

/* The first socket of the upper half of a range of at least two. */
int sk_socket_range_cut(const sk_machine *m, sk_socket_range g);

static inline sk_half sk_socket_range_positions(const sk_machine *m, sk_socket_range g)
{
    return (sk_half){m->socket_first[g.first], m->socket_first[g.last]};
}

static inline bool sk_half_has(sk_half h, int position)
{
    return h.lo <= position && position < h.hi;
}

static inline bool sk_halving_is_active(const sk_halving_rules *h, int position)
{
    return h->active_before[position] < h->active_before[position + 1];
}

/* The position in `to` that serves as agent of an active position in `from` that found none: its mirror
 * image among the active ones; -1 when there are none. */
int sk_halving_mirror(const sk_halving_rules *h, sk_half from, sk_half to, int position);
/* The inverse: active[lo] to active[hi - 1] have this active position as their mirror. */
sk_half sk_halving_mirrored(const sk_halving_rules *h, sk_half from, sk_half to, int position);

/* A rank as the other end of a pair. Pairs with more in common come first. Ties are broken
 * pseudo-randomly, the same at both ends. */
typedef struct sk_agent_candidate {
    uint64_t key;
    int rank;
} sk_agent_candidate;

static inline sk_agent_candidate sk_agent_candidate_of(int common, int me, int rank)
{
    return (sk_agent_candidate){
        (uint64_t)(UINT32_MAX - (uint32_t)common) << 32 | sk_pair_mix(me, rank), rank};
}

static inline bool sk_agent_candidate_before(sk_agent_candidate a, sk_agent_candidate b)
{
    return a.key != b.key ? a.key < b.key : a.rank < b.rank;
}

/* ---- agent_matching.c ---- */

typedef struct sk_halving_graph { /* the global graph by positions */
    const sk_machine *machine;
    int64_t *out_first, *in_first; /* nranks + 1 */
    int *out, *in;                 /* positions of targets and of sources, ascending */
    uint64_t *rows;                /* targets as bits, by position; NULL when lists are faster */
    size_t words;                  /* of a row */
    uint64_t *mask;                /* scratch: a row */
    int *count;                    /* scratch: by position, all 0 between calls */
} sk_halving_graph;

sk_status sk_halving_graph_init(sk_halving_graph *hg, const sk_global_graph *g,
                                const sk_machine *m);
void sk_halving_graph_free(sk_halving_graph *hg);

/* The first of out[from] to out[to - 1] that is >= position; `to` when there is none. */
int64_t sk_halving_graph_find(const sk_halving_graph *hg, int64_t from, int64_t to, int position);

typedef struct sk_agent_matching sk_agent_matching;

sk_agent_matching *sk_agent_matching_new(sk_halving_graph *hg); /* NULL: out of memory */
void sk_agent_matching_free(sk_agent_matching *m);              /* NULL is fine */

/* Sets agent[a] to a position in `to`, for every position a in `from`; -1: it has none. */
void sk_agent_matching_run(sk_agent_matching *m, sk_half from, sk_half to, int *agent);

/* ---- agent_selection.c ---- */

/* The ranks from which a message is expected in this phase, one each. */
typedef struct sk_expected {
    bool *from; /* by rank */
    int left;
} sk_expected;

static inline void sk_expected_add(sk_expected *d, int rank)
{
    d->left += !d->from[rank];
    d->from[rank] = true;
}

static inline sk_status sk_expected_remove(sk_expected *d, int rank)
{
    if (!d->from[rank])
        return SK_WIRE;
    d->from[rank] = false;
    d->left--;
    return SK_OK;
}

/* What this rank has in common with other ranks. Another rank is in the opposite half in one step only,
 * so one number per rank and role is enough. */
typedef struct sk_agent_weights {
    const sk_graph *graph;
    int8_t *step; /* by rank: the step in which we are separated; `steps`: we share the socket */
    int32_t *as_agent;  /* by rank: its weight as this rank's agent */
    int32_t *as_origin; /* by rank: its weight as this rank's origin */
    int *list;          /* scratch: sources of a target */
} sk_agent_weights;

sk_status sk_agent_weights_init(sk_agent_weights *w, const sk_graph *g, const sk_halving_rules *h);
void sk_agent_weights_free(sk_agent_weights *w);

/* Sends the list of this rank's sources to them, and expects the lists of its targets. */
sk_status sk_agent_weights_send(const sk_agent_weights *w, sk_channel *ch, sk_expected *expected,
                                int phase);
sk_status sk_agent_weights_receive(sk_agent_weights *w, int from, const int32_t *words, size_t n);

/* The candidates in a half, with this rank as the origin or as the agent; returns their number. */
int sk_agent_weights_candidates(const sk_agent_weights *w, const sk_machine *m, sk_half other,
                                bool origin, sk_agent_candidate *out);

/* Algorithm 2 for a rank that looks for an agent, Algorithm 3 for a rank that is asked. */
typedef struct sk_agent_selection {
    bool origin;              /* this rank looks for an agent; else it may become one */
    int n;                    /* candidates */
    sk_agent_candidate *list; /* the best first */
    uint8_t *state;           /* by rank: which signals were exchanged */
    int best;                 /* in the list: those before it are ruled out */
    int partner;              /* -1: none yet */
    int phase;                /* that of the signals */
} sk_agent_selection;

sk_status sk_agent_selection_init(sk_agent_selection *d, int nranks);
void sk_agent_selection_free(sk_agent_selection *d);

/* The first pass, with the candidates in d->list[0 .. n - 1] in any order. It is complete when no
 * message is expected any more. */
sk_status sk_agent_selection_begin(sk_agent_selection *d, sk_channel *ch, sk_expected *expected,
                                   int phase, bool origin, int n);
/* The second pass: origins without an agent ask again; every agent accepts one more. */
sk_status sk_agent_selection_second_pass(sk_agent_selection *d, sk_channel *ch,
                                         sk_expected *expected, int phase);
sk_status sk_agent_selection_receive(sk_agent_selection *d, sk_channel *ch, int from,
                                     const int32_t *words, size_t n);

#endif
