/* halving_near.c: the weights of Algorithm 2, the paper's matrix A, from the whole graph.
 *
 * Dense graphs: rows of bits in the order of places, so that a half is a run of words and two ranks
 * are compared at 64 targets a time: about n^3 / 192 steps for all pairs of all halvings. Sparse
 * ones: from a rank to its targets and back to their sources, so that only pairs with something in
 * common are seen: at most the sum over all ranks of their squared number of sources. Whichever is
 * less. */
#include "neighbor/halving_near.h"

#include <stdlib.h>
#include <string.h>

/* to[] from from[] with all edges turned round; the lists come out ascending. */
static void epoch_round(int n, const int64_t *from_first, const int *from, int64_t *to_first,
                        int *to)
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

static void fill_lists(sk_near *near, const sk_global_graph *g)
{
    const sk_machine *m = near->machine;
    for (int i = 0; i < m->nranks; i++) {
        int degree = sk_global_graph_degree(g, m->order[i], false);
        int *at = &near->out[near->out_first[i]];
        near->out_first[i + 1] = near->out_first[i] + degree;
        sk_global_graph_targets(g, m->order[i], at);
        for (int k = 0; k < degree; k++)
            at[k] = m->place[at[k]];
    }
    epoch_round(m->nranks, near->out_first, near->out, near->in_first, near->in);
    if (!m->in_order)
        epoch_round(m->nranks, near->in_first, near->in, near->out_first, near->out);
}

static bool bits_are_faster(const sk_near *near)
{
    double n = near->machine->nranks, by_lists = 0;
    for (int i = 0; i < near->machine->nranks; i++) {
        double sources = (double)(near->in_first[i + 1] - near->in_first[i]);
        by_lists += sources * sources / 3;
    }
    return n * n * n / 192 < by_lists;
}

static sk_status fill_rows(sk_near *near)
{
    int n = near->machine->nranks;
    near->rows = calloc((size_t)n * near->words, sizeof *near->rows);
    if (!near->rows)
        return SK_NOMEM;
    for (int i = 0; i < n; i++)
        for (int64_t k = near->out_first[i]; k < near->out_first[i + 1]; k++)
            near->rows[(size_t)i * near->words + (size_t)near->out[k] / 64] |= (uint64_t)1
                                                                               << near->out[k] % 64;
    return SK_OK;
}

sk_status sk_near_init(sk_near *near, const sk_global_graph *g, const sk_machine *m)
{
    size_t n = (size_t)m->nranks, edges = (size_t)sk_global_graph_edges(g) + 1;
    *near = (sk_near){.machine = m,
                      .out_first = calloc(n + 1, sizeof *near->out_first),
                      .in_first = calloc(n + 1, sizeof *near->in_first),
                      .out = malloc(edges * sizeof *near->out),
                      .in = malloc(edges * sizeof *near->in),
                      .words = (n + 63) / 64,
                      .mask = calloc((n + 63) / 64, sizeof *near->mask),
                      .count = calloc(n, sizeof *near->count)};
    sk_status st = SK_NOMEM;
    if (near->out_first && near->in_first && near->out && near->in && near->mask && near->count) {
        fill_lists(near, g);
        st = bits_are_faster(near) ? fill_rows(near) : SK_OK;
    }
    if (st != SK_OK)
        sk_near_free(near);
    return st;
}

void sk_near_free(sk_near *near)
{
    free(near->out_first);
    free(near->in_first);
    free(near->out);
    free(near->in);
    free(near->rows);
    free(near->mask);
    free(near->count);
    *near = (sk_near){0};
}

static int64_t find(const int *list, int64_t from, int64_t to, int place)
{
    while (from < to) {
        int64_t mid = from + (to - from) / 2;
        if (list[mid] < place)
            from = mid + 1;
        else
            to = mid;
    }
    return from;
}

int64_t sk_near_find(const sk_near *near, int64_t from, int64_t to, int place)
{
    return find(near->out, from, to, place);
}

/* ---- by bits ---- */

/* Bits that a and b both have: eight counters of a byte each are added up until one could run over,
 * which no instruction set lacks. */
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

static int candidates_by_bits(sk_near *near, int a, sk_half to, sk_choice *out)
{
    const sk_machine *m = near->machine;
    const uint64_t *mine = near->rows + (size_t)a * near->words;
    size_t first = (size_t)to.lo / 64, last = ((size_t)to.hi + 63) / 64, n = last - first;
    int found = 0;
    memcpy(near->mask, mine + first, n * sizeof *mine);
    near->mask[0] &= ~(uint64_t)0 << to.lo % 64;
    if (to.hi % 64)
        near->mask[n - 1] &= ~(~(uint64_t)0 << to.hi % 64);
    for (int b = to.lo; b < to.hi; b++) {
        int common = common_bits(near->mask, near->rows + (size_t)b * near->words + first, n) +
                     (int)(mine[b / 64] >> b % 64 & 1);
        if (common)
            out[found++] = sk_choice_of(common, m->order[a], m->order[b]);
    }
    return found;
}

/* ---- by lists ---- */

static int meet(sk_near *near, int b, sk_choice *out, int found)
{
    if (near->count[b]++ == 0)
        out[found++].who = b;
    return found;
}

static int candidates_by_lists(sk_near *near, int a, sk_half to, sk_choice *out)
{
    const sk_machine *m = near->machine;
    int64_t end = near->out_first[a + 1];
    int found = 0;
    for (int64_t k = find(near->out, near->out_first[a], end, to.lo);
         k < end && near->out[k] < to.hi; k++) {
        int d = near->out[k];
        int64_t stop = near->in_first[d + 1];
        found = meet(near, d, out, found);
        for (int64_t j = find(near->in, near->in_first[d], stop, to.lo);
             j < stop && near->in[j] < to.hi; j++)
            found = meet(near, near->in[j], out, found);
    }
    for (int i = 0; i < found; i++) {
        int b = out[i].who;
        out[i] = sk_choice_of(near->count[b], m->order[a], m->order[b]);
        near->count[b] = 0;
    }
    return found;
}

int sk_near_candidates(sk_near *near, int a, sk_half to, sk_choice *out)
{
    return near->rows ? candidates_by_bits(near, a, to, out)
                      : candidates_by_lists(near, a, to, out);
}
