/* halving_split.c: a group of g sockets is cut so that no half has more than 2^(ceil(log2 g) - 1)
 * of them: then ceil(log2(sockets)) steps are always enough. Within that limit a cut between two
 * nodes is taken before one inside a node, and the most even one, by ranks, among these. */
#include "neighbor/halving_split.h"

#include <stdlib.h>

/* ceil(log2(n)) */
static int log2_up(int n)
{
    int k = 0;
    while ((int64_t)1 << k < n)
        k++;
    return k;
}

static int node_of(const sk_machine *m, int socket)
{
    return m->node[m->order[m->socket_first[socket]]];
}

int sk_group_cut(const sk_machine *m, sk_group g)
{
    int most = 1 << (log2_up(g.last - g.first) - 1), best = -1, best_uneven = 0;
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

sk_status sk_halving_init(sk_halving *h, const sk_machine *m, const bool *idle)
{
    size_t n = (size_t)m->nranks;
    *h = (sk_halving){.machine = m,
                      .steps = log2_up(m->nsockets),
                      .busy = malloc(n * sizeof *h->busy),
                      .before = malloc((n + 1) * sizeof *h->before)};
    if (!h->busy || !h->before) {
        sk_halving_free(h);
        return SK_NOMEM;
    }
    int count = 0;
    for (int i = 0; i < m->nranks; i++) {
        h->before[i] = count;
        if (!idle || !idle[m->order[i]])
            h->busy[count++] = i;
    }
    h->before[n] = count;
    return SK_OK;
}

void sk_halving_free(sk_halving *h)
{
    free(h->busy);
    free(h->before);
    *h = (sk_halving){0};
}

static int64_t busy_in(const sk_halving *h, sk_half half)
{
    return h->before[half.hi] - h->before[half.lo];
}

int sk_halving_mirror(const sk_halving *h, sk_half from, sk_half to, int place)
{
    int64_t i = h->before[place] - h->before[from.lo], many = busy_in(h, to);
    if (many == 0)
        return -1;
    return h->busy[h->before[to.lo] + i * many / busy_in(h, from)];
}

/* mirror() takes i to floor(i many / few), so j comes from ceil(j few / many) and those after it.
 */
sk_half sk_halving_mirrored(const sk_halving *h, sk_half from, sk_half to, int place)
{
    int64_t j = h->before[place] - h->before[to.lo], few = busy_in(h, from), many = busy_in(h, to);
    int64_t first = h->before[from.lo];
    return (sk_half){(int)(first + (j * few + many - 1) / many),
                     (int)(first + ((j + 1) * few + many - 1) / many)};
}
