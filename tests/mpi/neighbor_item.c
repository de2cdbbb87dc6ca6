/* neighbor_item.c: see neighbor_item.h: the drawing of a call. */
#include "neighbor_item.h"

#include <stdio.h>
#include <stdlib.h>

static const struct {
    shape send, recv;
} shapes[NNCOLLS] = {
    [N_ALLGATHER] = {S_ONE, S_BLOCKS},      [N_ALLGATHERV] = {S_ONE, S_VBLOCKS},
    [N_ALLTOALL] = {S_BLOCKS, S_BLOCKS},    [N_ALLTOALLV] = {S_VBLOCKS, S_VBLOCKS},
    [N_ALLTOALLW] = {S_WBLOCKS, S_WBLOCKS},
};

/* Nothing, one, some, many, and now and then more than 64 KB; fewer of the long ones where there
 * are many ranks, because the ranks share few cores here. */
static edge_sizes sizes_draw(rng *r, ncoll c, int size)
{
    static const int grains[] = {1, 1, 2, 3, 4, 6};
    edge_sizes z = {.unit = rng_below(r, NUNITS), .grain = grains[rng_below(r, 6)]};
    int kind = rng_below(r, 100), odd = 3 + 2 * rng_below(r, 8), medium = 50 + rng_below(r, 650);
    int large = (size <= 8 ? 18000 : 6000) / z.grain, long_from = size <= 8 ? 94 : 98;
    z.most = kind < 8 ? 0 : kind < 28 ? 1 : kind < 65 ? odd : kind < long_from ? medium : large;
    z.vary = shapes[c].recv >= S_VBLOCKS;
    z.by_source = c == N_ALLGATHER || c == N_ALLGATHERV || rng_chance(r, 15);
    z.seed = rng_next(r);
    return z;
}

static int units_of(const edge_sizes *z, int from, int to, int edge)
{
    if (!z->vary)
        return z->most * z->grain;
    if (z->by_source)
        to = edge = 0;
    rng r = rng_seed(z->seed ^ (uint64_t)edge, (uint64_t)from, (uint64_t)to);
    int kind = rng_below(&r, 10);
    return z->grain * (kind < 2 ? 0 : kind < 4 ? z->most : rng_below(&r, z->most + 1));
}

/* The block of a side without neighbours, which nobody may touch. A rank that neither sends nor
 * receives need not know how much the others do. One that does either may still say anything of its
 * other side where lengths vary; elsewhere Open MPI wants both sides to be equal. */
static int idle_units(const nitem *t)
{
    const topo *on = t->on;
    bool free_choice = t->sizes.vary || on->nin + on->nout == 0;
    return free_choice ? t->sizes.grain * t->idle : units_of(&t->sizes, on->rank, on->rank, 0);
}

static void make_side(nitem *t, rng *local, bool sending)
{
    const topo *on = t->on;
    const slot *slots = sending ? on->out : on->in;
    int n = sending ? on->nout : on->nin;
    shape how = sending ? shapes[t->coll].send : shapes[t->coll].recv;
    int *units = must_alloc((size_t)(n + 1) * sizeof *units);
    units[0] = n == 0 ? idle_units(t) : units_of(&t->sizes, on->rank, 0, 0);
    for (int i = 0; i < n && how != S_ONE; i++)
        units[i] = sending ? units_of(&t->sizes, on->rank, slots[i].rank, slots[i].edge)
                           : units_of(&t->sizes, slots[i].rank, on->rank, slots[i].edge);
    side_make(sending ? &t->send : &t->recv, local, how, t->sizes.unit,
              n == 0 || how == S_ONE ? 1 : n, units, t->sizes.grain, sending && t->sizes.by_source);
    free(units);
}

static void make_args(nitem *t)
{
    bool sbottom = side_at_bottom(&t->send), rbottom = side_at_bottom(&t->recv);
    t->a = (args){.comm = t->on->comm,
                  .sbuf = sbottom ? MPI_BOTTOM : t->send.buf,
                  .rbuf = rbottom ? MPI_BOTTOM : t->recv.buf,
                  .stype = sbottom ? t->send.absolute : t->send.type,
                  .rtype = rbottom ? t->recv.absolute : t->recv.type,
                  .stypes = t->send.types,
                  .rtypes = t->recv.types,
                  .ints = {t->send.count, t->recv.count, t->send.counts, t->send.displs,
                           t->recv.counts, t->recv.displs}};
    args_widen(&t->a, t->send.n, t->recv.n);
}

void nitem_make(nitem *t, rng *shared, rng *local, ncoll c, form f, bool big, const topo *on)
{
    *t = (nitem){.coll = c, .form = f, .big = big, .on = on};
    t->ask_host = rng_chance(shared, 15);
    t->sizes = sizes_draw(shared, c, on->size);
    t->fill = rng_seed(rng_next(local), 3, 3);
    t->idle = rng_below(local, 4);
    make_side(t, local, true);
    make_side(t, local, false);
    make_args(t);
    snprintf(t->text, sizeof t->text, "%s %s, %d ranks, %s x %d%s%s%s on %s, %d in, %d out",
             form_name(f, big), ncoll_name(c), on->size, unit_name(t->sizes.unit),
             t->sizes.most * t->sizes.grain, t->sizes.vary ? " (varied)" : "",
             t->sizes.by_source ? " (by source)" : "",
             side_at_bottom(&t->send) || side_at_bottom(&t->recv) ? ", MPI_BOTTOM" : "", on->text,
             on->nin, on->nout);
}

void nitem_free(nitem *t)
{
    args_free_wide(&t->a);
    side_free(&t->send);
    side_free(&t->recv);
}

void nitem_call(nitem *t, MPI_Request *req)
{
    int rc = ncoll_call(t->coll, &t->a, t->form, t->big, req);
    CHECK(rc == MPI_SUCCESS, "error %d from %s", rc, t->text);
}

void nitem_check(const nitem *t, const char *where)
{
    long at = side_differs(&t->send, -1);
    CHECK(at < 0, "%s: %s: send buffer changed at byte %ld", where, t->text, at);
    at = side_differs(&t->recv, -1);
    CHECK(at < 0, "%s: %s: receive buffer differs at byte %ld", where, t->text, at);
}

bool nitem_host_errs(ncoll c, form f, bool big, const topo *on)
{
    if (c < N_ALLTOALL)
        return false;
#ifdef OPEN_MPI
    (void)big;
    return on->parallel && on->grid && f != F_BLOCKING;
#else
    (void)f;
    return on->parallel || (c == N_ALLTOALLW && !big && on->unbalanced);
#endif
}
