/* neighbor_digraph.c: see neighbor_digraph.h: the drawing, and each rank's lists. */
#include "neighbor_digraph.h"

#include <stdio.h>
#include <stdlib.h>

enum { SPARSE, STAR_OUT, STAR_IN, ISLANDS, COMPLETE, EMPTY, NSHAPES };
static const char *const shape_names[NSHAPES] = {"random",  "star from 0", "star to 0",
                                                 "islands", "complete",    "empty"};

static bool edge_drawn(rng *r, int shape, int percent, int n, int s, int d)
{
    bool drawn = rng_chance(r, percent);
    switch (shape) {
    case SPARSE:
        return drawn;
    case STAR_OUT:
        return s == 0;
    case STAR_IN:
        return d == 0;
    case ISLANDS: /* the ranks of the upper half are alone */
        return drawn && s <= n / 2 && d <= n / 2;
    default:
        return shape == COMPLETE;
    }
}

/* Without `messy` a plain graph: no loops, no parallel edges. */
static int times_drawn(rng *r, bool messy, bool loop)
{
    if (!messy)
        return !loop;
    return rng_chance(r, 25) ? 1 + rng_below(r, 3) : 1;
}

digraph digraph_draw(rng *shared, int n)
{
    static const int densities[] = {5, 10, 30, 50, 70, 100};
    int kind = rng_below(shared, 20), shape = kind < NSHAPES ? kind : SPARSE;
    int percent = densities[rng_below(shared, 6)];
    bool messy = rng_chance(shared, 50);
    digraph w = {.n = n, .times = must_alloc((size_t)n * (size_t)n)};
    for (int s = 0; s < n; s++)
        for (int d = 0; d < n; d++)
            if (edge_drawn(shared, shape, percent, n, s, d))
                w.times[s * n + d] = (unsigned char)times_drawn(shared, messy, s == d);
    snprintf(w.text, sizeof w.text, "%s, density 0.%02d%s", shape_names[shape], percent,
             messy ? ", loops and parallel edges" : "");
    return w;
}

void digraph_mirror(digraph *w)
{
    for (int s = 0; s < w->n; s++)
        for (int d = 0; d < s; d++)
            w->times[s * w->n + d] = w->times[d * w->n + s];
}

void digraph_free(digraph *w)
{
    free(w->times);
    *w = (digraph){0};
}

int digraph_edges(const digraph *w)
{
    int all = 0;
    for (int i = 0; i < w->n * w->n; i++)
        all += w->times[i];
    return all;
}

int digraph_weight(int from, int to)
{
    return 1 + (from * 7 + to * 3) % 11;
}

/* The far ends of a rank's edges in one direction, ascending; NULL: only their number. */
static int far_ends(const digraph *w, int rank, bool in, int *to)
{
    int k = 0;
    for (int other = 0; other < w->n; other++) {
        int times = in ? w->times[other * w->n + rank] : w->times[rank * w->n + other];
        for (int i = 0; i < times; i++, k++)
            if (to != NULL)
                to[k] = other;
    }
    return k;
}

static int *shuffled_ends(const digraph *w, int rank, bool in, rng *local, int *n, int **weights)
{
    *n = far_ends(w, rank, in, NULL);
    int *ends = must_alloc((size_t)*n * sizeof *ends);
    *weights = must_alloc((size_t)*n * sizeof **weights);
    far_ends(w, rank, in, ends);
    rng_shuffle(local, ends, *n);
    for (int i = 0; i < *n; i++)
        (*weights)[i] = in ? digraph_weight(ends[i], rank) : digraph_weight(rank, ends[i]);
    return ends;
}

lists lists_draw(const digraph *w, int rank, rng *local)
{
    lists l;
    l.in = shuffled_ends(w, rank, true, local, &l.nin, &l.in_weights);
    l.out = shuffled_ends(w, rank, false, local, &l.nout, &l.out_weights);
    return l;
}

void lists_free(lists *l)
{
    free(l->in);
    free(l->out);
    free(l->in_weights);
    free(l->out_weights);
    *l = (lists){0};
}
