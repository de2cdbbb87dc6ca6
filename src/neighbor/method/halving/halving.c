/* halving.c: distance halving. The ranks, in the order of their positions in the machine, are cut into
 * halves repeatedly until a group is one socket. In each step a rank selects one agent in the opposite
 * half, which takes over all blocks that the rank holds for that half. In the end all blocks are in the
 * socket of their targets and are handed out there. So a rank sends one message per step, however many
 * targets it has, and distant links are crossed in the first steps only.
 *
 * cost      at most ceil(log2(sockets)) messages out of the socket, and one to each rank of it; up to 2^t
 *           sources per message in step t, so blocks are sent several times
 * rounds    ceil(log2(sockets)) + 1
 * scratch   the combined blocks
 * good for  short blocks, dense graphs, many sockets
 * paper     "A Topology- and Load-Aware Design for Neighborhood Allgather" (Distance Halving),
 *           Algorithms 1 to 4
 *
 * Beyond the paper: only blocks with targets in the other half are sent, not the whole buffer; halves
 * are cut by positions, not ranks; blocks have a target, so alltoall combines too; and a rank that finds
 * no agent in two passes hands over to its mirror image instead of sending its blocks itself, which
 * makes the bound hold on every graph.
 *
 * On random graphs the messages within the socket agree with the paper's equation 2 from a density of
 * 0.3 on. Below that there are more: the equation lets a rank hold blocks of one source per step, while
 * it gets those of up to 2^steps - 1, because origins bring those of their own origins. */
#include "neighbor/method/halving/halving.h"

#include <stdlib.h>

#include "neighbor/cost/predict.h"

/* ---- the rules ---- */

/* ceil(log2(n)) */
static int log2_ceil(int n)
{
    int k = 0;
    while ((int64_t)1 << k < n)
        k++;
    return k;
}

static int node_of(const sk_machine *m, int socket)
{
    return m->node[m->rank_at[m->socket_first[socket]]];
}

/* A range of g sockets is cut so that no half has more than 2^(ceil(log2 g) - 1) of them: then
 * ceil(log2(sockets)) steps are always enough. Within that limit a cut between two nodes is preferred to
 * one inside a node, and then the cut that is most even in ranks. */
int sk_socket_range_cut(const sk_machine *m, sk_socket_range g)
{
    int most = 1 << (log2_ceil(g.last - g.first) - 1), best = -1, best_uneven = 0;
    bool best_inside = true;
    int sum = m->socket_first[g.first] + m->socket_first[g.last];
    for (int at = g.last - most; at <= g.first + most; at++) {
        bool inside = node_of(m, at - 1) == node_of(m, at);
        int uneven = abs(sum - 2 * m->socket_first[at]);
        if (best < 0 || inside < best_inside || (inside == best_inside && uneven < best_uneven)) {
            best = at;
            best_inside = inside;
            best_uneven = uneven;
        }
    }
    return best;
}

sk_status sk_halving_rules_init(sk_halving_rules *h, const sk_machine *m, const bool *idle)
{
    size_t n = (size_t)m->nranks;
    *h = (sk_halving_rules){.machine = m,
                            .steps = log2_ceil(m->nsockets),
                            .active = malloc(n * sizeof *h->active),
                            .active_before = malloc((n + 1) * sizeof *h->active_before)};
    if (!h->active || !h->active_before) {
        sk_halving_rules_free(h);
        return SK_NOMEM;
    }
    int count = 0;
    for (int i = 0; i < m->nranks; i++) {
        h->active_before[i] = count;
        if (!idle || !idle[m->rank_at[i]])
            h->active[count++] = i;
    }
    h->active_before[n] = count;
    return SK_OK;
}

void sk_halving_rules_free(sk_halving_rules *h)
{
    free(h->active);
    free(h->active_before);
    *h = (sk_halving_rules){0};
}

static int64_t active_in(const sk_halving_rules *h, sk_half half)
{
    return h->active_before[half.hi] - h->active_before[half.lo];
}

int sk_halving_mirror(const sk_halving_rules *h, sk_half from, sk_half to, int position)
{
    int64_t i = h->active_before[position] - h->active_before[from.lo], many = active_in(h, to);
    if (many == 0)
        return -1;
    return h->active[h->active_before[to.lo] + i * many / active_in(h, from)];
}

/* sk_halving_mirror maps i to floor(i many / few), so j is the image of ceil(j few / many) and those
 * after it. */
sk_half sk_halving_mirrored(const sk_halving_rules *h, sk_half from, sk_half to, int position)
{
    int64_t j = h->active_before[position] - h->active_before[to.lo], few = active_in(h, from),
            many = active_in(h, to);
    int64_t first = h->active_before[from.lo];
    return (sk_half){(int)(first + (j * few + many - 1) / many),
                     (int)(first + ((j + 1) * few + many - 1) / many)};
}

/* ---- prediction ---- */

/* In step t a rank holds the blocks of 2^t sources and sends on those for the other half. In the end each
 * rank of a socket holds the blocks of n / L sources; equation 2 has one source more per step instead,
 * which is too few. That is the mean. Some ranks are agents of two origins in a step, when halves are
 * uneven or agents are rare, but not in all steps: a quarter more. A block crosses the network at most once for each
 * node where it is wanted. With one socket there is nothing to halve. */
static void predict(sk_prediction *d, const sk_problem_shape *s)
{
    if (s->sockets == 1) {
        sk_predict_direct(d, s);
        return;
    }
    const double busy = 1.25;
    int far = log2_ceil((int)s->nodes), steps = log2_ceil((int)s->sockets);
    double sources = 1, half = s->n / 2, crossing = 0;
    for (int t = 0; t < far; t++, sources *= 2, half /= 2)
        crossing += sources * sk_predict_any_of(half, s->delta[SK_NET]);
    /* Of random pairs every second one crosses in each step; of pairs that are near, each does so once. */
    double local = sk_predict_ratio(s->reach, crossing),
           pairs = far > 2 && local < 2.0 / far ? 2.0 / far : local;
    sources = 1;
    half = s->n / 2;
    for (int t = 0; t < steps; t++, sources *= 2, half /= 2) {
        sk_level level = t < far ? SK_NET : SK_NODE;
        double delta = s->delta[level], any = sk_predict_any_of(sources * half, delta),
               blocks = (t < far ? local : 1) * sources * sk_predict_any_of(half, delta);
        sk_prediction_add_both(d, level, busy * (blocks < any ? blocks : any), busy * blocks,
                               busy * (t < far ? pairs : 1) * sources * half * delta);
    }
    double met = s->n / s->on_socket, local_ranks = s->on_socket - 1;
    double handed = local_ranks * (steps > 0 ? busy : 1) * met * s->all;
    sk_prediction_add_both(d, SK_SOCKET, local_ranks * sk_predict_any_of(met, s->all), handed,
                           handed);
    d->stages = steps + 1;
    d->net_stages = far;
    d->intra_stages = d->stages - far;
    d->even = 1 / busy;
}

const sk_method sk_method_halving = {
    .name = "halving",
    .plan = sk_halving_plan,
    .negotiator = sk_halving_negotiator,
    .predict = predict,
};
