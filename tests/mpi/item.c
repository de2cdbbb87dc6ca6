/* item.c: see item.h. */
#include "item.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What each side consists of, and whether only the root has it. */
static const struct {
    shape send, recv;
    bool send_root, recv_root;
} shapes[NCOLLS] = {
    [C_BCAST] = {S_NONE, S_ONE, false, false},
    [C_SCATTER] = {S_BLOCKS, S_ONE, true, false},
    [C_SCATTERV] = {S_VBLOCKS, S_ONE, true, false},
    [C_GATHER] = {S_ONE, S_BLOCKS, false, true},
    [C_GATHERV] = {S_ONE, S_VBLOCKS, false, true},
    [C_ALLGATHER] = {S_ONE, S_BLOCKS, false, false},
    [C_ALLGATHERV] = {S_ONE, S_VBLOCKS, false, false},
    [C_ALLTOALL] = {S_BLOCKS, S_BLOCKS, false, false},
    [C_ALLTOALLV] = {S_VBLOCKS, S_VBLOCKS, false, false},
    [C_ALLTOALLW] = {S_WBLOCKS, S_WBLOCKS, false, false},
    [C_REDUCE] = {S_ONE, S_ONE, false, true},
    [C_ALLREDUCE] = {S_ONE, S_ONE, false, false},
    [C_REDUCE_SCATTER] = {S_ONE, S_ONE, false, false},
    [C_REDUCE_SCATTER_BLOCK] = {S_ONE, S_ONE, false, false},
    [C_SCAN] = {S_ONE, S_ONE, false, false},
    [C_EXSCAN] = {S_ONE, S_ONE, false, false},
};

/* The size of every block, from numbers that all ranks draw alike. */
typedef struct sizes {
    int unit, grain, most; /* blocks have up to `most` times `grain` units */
    bool vary, pairwise;   /* sizes differ; block i -> j is as long as j -> i */
    uint64_t seed;
} sizes;

/* MPICH 4.0.2 loses a message of more than 8 KB that is sent as bytes and received as a type with
 * holes and several basic types, which some of its own collectives do. */
static int host_limit(int most, int unit, int grain, int size)
{
#ifdef MPICH
    int limit = 8000 / (16 * grain * size);
    return test_on_host() && unit_is_mixed(unit) && most > limit ? limit : most;
#else
    (void)unit, (void)grain, (void)size;
    return most;
#endif
}

static sizes sizes_draw(rng *r, coll c, bool in_place, int size)
{
    static const int grains[] = {1, 1, 2, 3, 4, 6};
    sizes z = {.unit = rng_below(r, NUNITS), .grain = grains[rng_below(r, 6)]};
    int kind = rng_below(r, 100), odd = 3 + 2 * rng_below(r, 8), medium = 50 + rng_below(r, 650);
    int large = 4000 + rng_below(r, 2500);
    z.most = kind < 10 ? 0 : kind < 28 ? 1 : kind < 60 ? odd : kind < 92 ? medium : large;
    if (!(coll_traits(c) & T_OP))
        z.most = host_limit(z.most, z.unit, z.grain, size);
    z.seed = rng_next(r);
    z.vary = shapes[c].send >= S_VBLOCKS || shapes[c].recv >= S_VBLOCKS || c == C_REDUCE_SCATTER;
    z.pairwise = in_place;
    return z;
}

/* Units that rank `from` has for rank `to`. */
static int sizes_of(const sizes *z, int from, int to)
{
    if (!z->vary)
        return z->most * z->grain;
    int lo = z->pairwise && to < from ? to : from, hi = z->pairwise && to < from ? from : to;
    rng r = rng_seed(z->seed, (uint64_t)lo, (uint64_t)hi);
    int kind = rng_below(&r, 10);
    return z->grain * (kind < 2 ? 0 : kind < 4 ? z->most : rng_below(&r, z->most + 1));
}

/* MPI_IN_PLACE, and arguments that do not count at this rank: they may be nonsense. */
static void absent(rng *r, MPI_Datatype *type, int *count)
{
    bool nonsense = rng_chance(r, 50) && !test_on_host();
    *type = nonsense ? MPI_DATATYPE_NULL : MPI_INT;
    *count = nonsense ? -3 : 0;
}

static void make_moved(item *t, rng *local, const sizes *z, int size, int rank)
{
    coll c = t->a.coll;
    bool root = rank == t->a.root, alltoall = c >= C_ALLTOALL && c <= C_ALLTOALLW;
    bool here[2] = {!shapes[c].send_root || root, !shapes[c].recv_root || root};
    shape how[2] = {shapes[c].send, shapes[c].recv};
    side *sides[2] = {&t->send, &t->recv};
    bool send_out = t->in_place && c != C_SCATTER && c != C_SCATTERV;
    if (t->in_place)
        here[send_out ? 0 : 1] = false;
    int *units = must_alloc((size_t)size * sizeof *units);
    for (int k = 0; k < 2; k++) {
        if (!here[k] || how[k] == S_NONE)
            continue;
        int n = how[k] == S_ONE ? 1 : size;
        for (int i = 0; i < n; i++) {
            int block = how[k] == S_ONE ? rank : i;
            units[i] = !alltoall ? sizes_of(z, block, 0)
                       : k == 0  ? sizes_of(z, rank, i)
                                 : sizes_of(z, i, rank);
        }
        side_make(sides[k], local, how[k], z->unit, n, units, z->grain, k == 0);
    }
    free(units);
}

static void make_reduced(item *t, rng *shared, const sizes *z, int size, int rank)
{
    coll c = t->a.coll;
    bool scattered = c == C_REDUCE_SCATTER || c == C_REDUCE_SCATTER_BLOCK;
    int total = 0, mine = sizes_of(z, rank, 0);
    if (scattered) {
        t->a.ints.rcounts = must_alloc((size_t)size * sizeof(int));
        for (int i = 0; i < size; i++)
            total += t->a.ints.rcounts[i] = sizes_of(z, i, 0);
    } else {
        total = mine;
    }
    reduction_make(&t->red, shared, total);
    t->a.op = t->red.op;
    t->a.ints.rcount = mine;
    if (!t->in_place)
        side_make_plain(&t->send, t->red.type, total);
    if (c != C_REDUCE || rank == t->a.root)
        side_make_plain(&t->recv, t->red.type, t->in_place ? total : mine);
    if (t->red.padded || (scattered && t->in_place))
        t->elems = mine;
    if (c == C_EXSCAN && rank == 0)
        t->elems = 0; /* the standard leaves it undefined */
}

static void make_args(item *t, rng *local)
{
    args *a = &t->a;
    coll c = a->coll;
    bool sbottom = side_at_bottom(&t->send), rbottom = side_at_bottom(&t->recv);
    a->sbuf = sbottom ? MPI_BOTTOM : t->send.buf;
    a->rbuf = rbottom ? MPI_BOTTOM : t->recv.buf;
    a->stype = sbottom ? t->send.absolute : t->send.type;
    a->rtype = coll_traits(c) & T_OP ? t->red.type : rbottom ? t->recv.absolute : t->recv.type;
    a->stypes = t->send.types;
    a->rtypes = t->recv.types;
    if (!(coll_traits(c) & T_OP)) {
        a->ints = (counts){t->send.count,  t->recv.count,  t->send.counts,
                           t->send.displs, t->recv.counts, t->recv.displs};
        if (t->send.mem == NULL && c == C_ALLTOALLW)
            a->stypes = t->recv.types; /* Open MPI reads them even in place */
        if (t->send.mem == NULL)
            absent(local, &a->stype, &a->ints.scount);
        if (t->recv.mem == NULL)
            absent(local, &a->rtype, &a->ints.rcount);
    }
    if (t->in_place && (c == C_SCATTER || c == C_SCATTERV))
        a->rbuf = MPI_IN_PLACE;
    else if (t->in_place)
        a->sbuf = MPI_IN_PLACE;
}

void item_make(item *t, rng *shared, rng *local, coll c, form f, bool big, MPI_Comm comm)
{
    int size, rank;
    PMPI_Comm_size(comm, &size);
    PMPI_Comm_rank(comm, &rank);
    *t = (item){.form = f, .big = big, .size = size, .rank = rank, .elems = -1};
    t->a = (args){.coll = c, .comm = comm, .root = (int)(rng_next(shared) % (uint64_t)size)};
    if (test_on_host() && c == C_ALLTOALLW)
        t->a.coll = c = C_ALLTOALLV; /* Open MPI 4.1.4 copies to itself wrongly */
    t->fill = rng_seed(rng_next(local), 3, 3);
    bool in_place = rng_chance(shared, 25) && c != C_BARRIER && c != C_BCAST && !test_on_host();
    sizes z = sizes_draw(shared, c, in_place, size);
    t->in_place = in_place && (!(coll_traits(c) & T_ROOT) || rank == t->a.root);
    if (coll_traits(c) & T_OP)
        make_reduced(t, shared, &z, size, rank);
    else if (c != C_BARRIER)
        make_moved(t, local, &z, size, rank);
    make_args(t, local);
    args_widen(&t->a, t->send.n, coll_traits(c) & T_OP && t->a.ints.rcounts ? size : t->recv.n);
    snprintf(t->text, sizeof t->text, "%s %s, %d ranks, root %d, %s x %d%s%s%s", form_name(f, big),
             coll_name(c), size, t->a.root, coll_traits(c) & T_OP ? t->red.name : unit_name(z.unit),
             z.most * z.grain, z.vary ? " (varied)" : "", in_place ? ", in place" : "",
             side_at_bottom(&t->send) || side_at_bottom(&t->recv) ? ", MPI_BOTTOM" : "");
}

static void fill(item *t, side *s)
{
    if (s->mem == NULL)
        return;
    if (coll_traits(t->a.coll) & T_OP)
        reduction_fill(&t->red, &t->fill, s->mem, s->size);
    else
        rng_fill(&t->fill, s->mem, s->size);
    side_remember(s);
}

void item_refill(item *t)
{
    fill(t, &t->send);
    fill(t, &t->recv);
    item_reference(t);
    side_expect(&t->send);
    side_expect(&t->recv);
}

void item_call(item *t, MPI_Request *req)
{
    int rc = coll_call(&t->a, t->form, t->big, req);
    CHECK(rc == MPI_SUCCESS, "error %d from %s", rc, t->text);
}

bool item_may_free_handles(const item *t)
{
    return t->elems < 0; /* comparing by elements needs the type */
}

void item_free_handles(item *t)
{
    side_free_types(&t->send);
    side_free_types(&t->recv);
    reduction_free(&t->red);
}

void item_check(item *t, const char *where)
{
    long at = side_differs(&t->send, -1);
    CHECK(at < 0, "%s: %s: send buffer changed at byte %ld", where, t->text, at);
    at = side_differs(&t->recv, t->elems);
    CHECK(at < 0, "%s: %s: receive buffer differs at byte %ld", where, t->text, at);
}

void item_free(item *t)
{
    args_free_wide(&t->a);
    if (coll_traits(t->a.coll) & T_OP)
        free(t->a.ints.rcounts);
    side_free(&t->send);
    side_free(&t->recv);
    reduction_free(&t->red);
}
