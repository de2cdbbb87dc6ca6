/* expect.c: what each collective is to leave behind, straight from the standard. */
#include <string.h>

#include "world.h"

static void want_move(world *w, int to, sk_span dst, int from, sk_span src)
{
    sk_inproc_cursor tc = {.type = &scene_types[dst.type]}, fc = {.type = &scene_types[src.type]};
    int64_t t_base = w->at[to][dst.buf] + dst.off, f_base = w->at[from][src.buf] + src.off;
    for (int64_t left = dst.len, n; left > 0; left -= n) {
        int64_t t, f, tn = sk_inproc_run_at(&tc, left, &t);
        n = sk_inproc_run_at(&fc, left, &f);
        n = n < tn ? n : tn;
        for (int64_t i = 0; i < n; i++)
            w->want[t_base + t + i] = shade_start(w->alg, w->salt, f_base + f + i);
        sk_inproc_advance(&tc, n);
        sk_inproc_advance(&fc, n);
    }
}

/* Add bytes [from, to) of a rank's vector to the sums so far. */
static void add(const world *w, int rank, sk_span in, int64_t from, int64_t to, shade *sum)
{
    for (int64_t k = from, n; k < to; k += n) {
        int64_t f;
        n = world_stretch(w, rank, in, k, to, &f);
        for (int64_t i = 0; i < n; i++) {
            shade mine = shade_start(w->alg, w->salt, f + i);
            shade *s = &sum[k - from + i];
            *s = rank ? shade_join(w->alg, *s, mine) : mine;
        }
    }
}

static void want_sums(world *w, int rank, int64_t len, const shade *sum)
{
    for (int64_t k = 0, n; k < len; k += n) {
        int64_t t;
        n = world_stretch(w, rank, w->sc->recv[rank].block[0], k, len, &t);
        memcpy(w->want + t, sum + k, (size_t)n * sizeof *sum);
    }
}

/* The vector a rank brings to a reduction. */
static sk_span input(const world *w, int rank)
{
    return w->sc->call[rank].in_place ? w->sc->recv[rank].block[0] : w->sc->send[rank].block[0];
}

/* Bytes [from, to) of the vector over ranks 0..p-1 in order. Who wants which of the partial results
 * depends on the collective; `reader` is the one rank that wants this part, or -1. */
static void want_reduction(world *w, int64_t from, int64_t to, int reader)
{
    sk_coll coll = w->sc->k.coll;
    for (int r = 0; r < w->p; r++) {
        if (coll == SK_EXSCAN && r > 0)
            want_sums(w, r, to - from, w->sums);
        add(w, r, input(w, r), from, to, w->sums);
        if (coll == SK_SCAN)
            want_sums(w, r, to - from, w->sums);
    }
    for (int r = 0; r < w->p; r++)
        if (coll == SK_ALLREDUCE || r == reader)
            want_sums(w, r, to - from, w->sums);
}

static void want_reduce_scatter(world *w)
{
    int64_t from = 0;
    for (int r = 0; r < w->p; r++) {
        int64_t len = w->sc->recv[r].block[0].len;
        want_reduction(w, from, from + len, r);
        from += len;
    }
}

/* What rank `from` has for rank `to`, of the kind of collective that moves blocks. */
static sk_span block_for(const scene *sc, int from, int to)
{
    bool in_place = sc->call[from].in_place;
    switch (sc->k.coll) {
    case SK_ALLTOALL:
    case SK_ALLTOALLV:
    case SK_ALLTOALLW:
        return in_place ? sc->recv[from].block[to] : sc->send[from].block[to];
    default: /* all the same for everybody */
        return in_place ? sc->recv[from].block[from] : sc->send[from].block[0];
    }
}

/* Slots of nobody stay as they are. */
static void want_neighbors(world *w, int rank)
{
    const scene *sc = w->sc;
    const neighborhoods *h = sc->k.neighborhoods;
    for (int i = 0; i < h->graph[rank]->nin; i++) {
        int from = h->graph[rank]->in[i];
        int block = coll_gathers_from_neighbors(sc->k.coll) ? 0 : h->from[rank][i];
        if (from != SK_PROC_NULL)
            want_move(w, rank, sc->recv[rank].block[i], from, sc->send[from].block[block]);
    }
}

void world_expect(world *w)
{
    const scene *sc = w->sc;
    int p = w->p, root = sc->k.root;
    switch (sc->k.coll) {
    case SK_BARRIER:
    case SK_NCOLLS:
        break;
    case SK_BCAST:
        for (int r = 0; r < p; r++)
            want_move(w, r, sc->recv[r].block[0], root, sc->recv[root].block[0]);
        break;
    case SK_SCATTER:
    case SK_SCATTERV:
        for (int r = 0; r < p; r++)
            if (!sc->call[r].in_place)
                want_move(w, r, sc->recv[r].block[0], root, sc->send[root].block[r]);
        break;
    case SK_GATHER:
    case SK_GATHERV:
        for (int r = 0; r < p; r++)
            want_move(w, root, sc->recv[root].block[r], r, block_for(sc, r, root));
        break;
    case SK_ALLGATHER:
    case SK_ALLGATHERV:
    case SK_ALLTOALL:
    case SK_ALLTOALLV:
    case SK_ALLTOALLW:
        for (int r = 0; r < p; r++)
            for (int q = 0; q < p; q++)
                want_move(w, r, sc->recv[r].block[q], q, block_for(sc, q, r));
        break;
    case SK_NEIGHBOR_ALLGATHER:
    case SK_NEIGHBOR_ALLGATHERV:
    case SK_NEIGHBOR_ALLTOALL:
    case SK_NEIGHBOR_ALLTOALLV:
    case SK_NEIGHBOR_ALLTOALLW:
        for (int r = 0; r < p; r++)
            want_neighbors(w, r);
        break;
    case SK_REDUCE:
        want_reduction(w, 0, input(w, root).len, root);
        break;
    case SK_REDUCE_SCATTER:
    case SK_REDUCE_SCATTER_BLOCK:
        want_reduce_scatter(w);
        break;
    case SK_ALLREDUCE:
    case SK_SCAN:
    case SK_EXSCAN:
        want_reduction(w, 0, input(w, 0).len, -1);
        break;
    }
}
