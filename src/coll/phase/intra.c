/* intra.c: how data is cut into epochs, packed copies for it, single copy, and cells.
 *
 * A block that is too long for its cell is a message from where it lies to where it goes. If its
 * type is not contiguous, or if it may be overwritten because the call is in place, it goes
 * through a packed copy. */
#include "coll/phase/intra.h"

bool sk_intra_fits(const sk_call *c)
{
    return c->machine && c->machine->nnodes == 1 && c->slot_bytes > 0 && c->nranks > 1;
}

int64_t sk_intra_epoch_bytes(const sk_call *c, int64_t most)
{
    return sk_machine_oversubscribed(c->machine) || c->slot_bytes < most ? c->slot_bytes : most;
}

/* n bytes in k epochs take k + 1 times an epoch's n/k bytes and its flag f: least for n/k = sqrt(n f). */
int64_t sk_intra_flow_bytes(const sk_call *c, int64_t bytes)
{
    int64_t most = sk_intra_epoch_bytes(c, SK_INTRA_CHUNK), part = SK_INTRA_FLOW_LEAST;
    if (sk_machine_oversubscribed(c->machine))
        return most;
    while (part < most && part * part / SK_INTRA_FLAG < bytes)
        part += SK_INTRA_FLAG;
    return part < most ? part : most;
}

bool sk_intra_use_common(const sk_call *c, int64_t bytes)
{
    return sk_machine_oversubscribed(c->machine) && bytes <= c->slot_bytes &&
           bytes <= SK_INTRA_COMMON;
}

void sk_intra_await_all(sk_sched *s, const sk_call *c, int epoch)
{
    if (sk_machine_oversubscribed(c->machine))
        sk_await_local(s, epoch, 0, c->nranks);
}

int64_t sk_intra_scratch(int64_t n, int64_t block)
{
    return sk_scratch_bytes(n, sk_scratch_bytes(1, block));
}

/* ---- equal blocks in epochs ---- */

static int64_t ceil_div(int64_t all, int64_t part)
{
    return all / part + (all % part != 0);
}

static sk_chunking chunking(const sk_call *c, int n, int64_t block, int64_t most)
{
    if (n * block / most > SK_INTRA_EPOCHS)
        most = c->slot_bytes;
    sk_chunking d = {.block = block, .n = n, .per = 1, .cuts = 1, .part = block};
    if (block == 0 || n == 0)
        return d;
    if (block <= most) {
        d.per = most / block;
        d.nepochs = ceil_div(n, d.per);
        return d;
    }
    int64_t even =
        sk_scratch_bytes(1, ceil_div(block, ceil_div(block, most))); /* whole cache lines */
    d.part = even < most ? even : most;
    d.cuts = ceil_div(block, d.part);
    d.nepochs = d.cuts * n;
    return d;
}

sk_chunking sk_chunking_of(const sk_call *c, int n, int64_t block)
{
    return chunking(c, n, block, sk_intra_epoch_bytes(c, SK_INTRA_CHUNK));
}

sk_chunking sk_chunking_one_way(const sk_call *c, int n, int64_t block)
{
    return chunking(c, n, block, sk_intra_flow_bytes(c, n * block));
}

sk_chunk sk_chunking_get(const sk_chunking *d, int64_t epoch)
{
    int64_t lo = d->cuts > 1 ? epoch / d->cuts : epoch * d->per;
    int64_t hi = d->n - lo < d->per ? d->n : lo + d->per;
    int64_t from = d->cuts > 1 ? epoch % d->cuts * d->part : 0;
    int64_t left = d->block - from;
    return (sk_chunk){
        .lo = (int)lo, .hi = (int)hi, .from = from, .len = left < d->part ? left : d->part};
}

/* ---- the blocks of all other ranks ---- */

sk_others sk_others_of(const sk_call *c, sk_buf side, int but)
{
    return (sk_others){.row = {.c = c, .side = side, .shift = but + 1}, .n = c->nranks - 1};
}

int sk_others_rank(const sk_others *x, int i)
{
    return (int)(((int64_t)x->row.shift + i) % x->row.c->nranks);
}

int sk_others_find(const sk_others *x, int rank)
{
    int p = x->row.c->nranks, first = x->row.shift % p;
    return rank < first ? rank - first + p : rank - first;
}

void sk_others_make_copy(sk_sched *s, sk_others *x, bool force)
{
    const sk_call *c = x->row.c;
    if (force || !c->types[sk_blocks_get(&x->row, 0).type].contig)
        x->copy = sk_scratch(s, sk_blocks_bytes(&x->row, 0, x->n));
}

sk_span sk_others_block(const sk_others *x, int i)
{
    sk_span block = sk_blocks_get(&x->row, i);
    if (!x->copy.len)
        return block;
    return sk_span_cut(x->row.c->types, x->copy, sk_blocks_bytes(&x->row, 0, i), block.len);
}

void sk_others_pack(sk_sched *s, const sk_others *x)
{
    if (x->copy.len)
        sk_blocks_pack(s, &x->row, 0, x->n, x->copy);
}

void sk_others_unpack(sk_sched *s, const sk_others *x)
{
    if (x->copy.len)
        sk_blocks_unpack(s, &x->row, 0, x->n, x->copy);
}

void sk_others_fill(sk_sched *s, const sk_others *x, const sk_chunking *d, sk_chunk h, int epoch)
{
    sk_span slot = sk_slot(epoch, 0, (h.hi - h.lo) * h.len);
    if (d->cuts > 1)
        sk_copy(s, sk_span_cut(x->row.c->types, sk_others_block(x, h.lo), h.from, h.len), slot);
    else if (x->copy.len)
        sk_copy(s, sk_span_cut(x->row.c->types, x->copy, h.lo * h.len, slot.len), slot);
    else
        sk_blocks_pack(s, &x->row, h.lo, h.hi, slot);
}

/* ---- single copy ---- */

bool sk_single_copy_fits(const sk_call *c)
{
    return sk_intra_fits(c) && c->direct && c->slot_bytes >= SK_EXPORT_BYTES;
}

sk_span sk_intra_contiguous(sk_sched *s, const sk_call *c, sk_span user)
{
    sk_span place = sk_contiguous_place(s, c, user);
    sk_copy(s, user, place);
    return place;
}

sk_span sk_intra_contiguous_sends(sk_sched *s, const sk_call *c)
{
    sk_blocks row = {.c = c, .side = SK_SEND};
    sk_span all = sk_send_block(c, 0);
    all.len *= c->nranks;
    if (!c->in_place && c->types[all.type].contig)
        return all;
    all = sk_scratch(s, all.len);
    sk_blocks_pack(s, &row, 0, c->nranks, all);
    return all;
}

sk_span sk_intra_exported(int epoch)
{
    return sk_slot(epoch, 0, SK_EXPORT_BYTES);
}

void sk_intra_export(sk_sched *s, int epoch, sk_span what)
{
    sk_fence(s);
    sk_export(s, what, sk_intra_exported(epoch));
    sk_fence(s);
    sk_post(s, epoch);
}

void sk_intra_quiesce(sk_sched *s, int epoch)
{
    sk_fence(s);
    sk_quiesce(s, epoch);
}

/* ---- blocks whose sizes only their two ends know ---- */

int64_t sk_cell_size(const sk_call *c, int n, int64_t most)
{
    int64_t lines =
        (c->slot_bytes < SK_INTRA_CELLS ? c->slot_bytes : SK_INTRA_CELLS) / n / SK_CACHE_LINE;
    if (lines > most / SK_CACHE_LINE)
        lines = most / SK_CACHE_LINE;
    if (lines > 1 && n > 1 && lines % 2 == 0)
        lines--; /* or short blocks would fall on the same few sets of a cache */
    return lines * SK_CACHE_LINE;
}

/* Iterates over the blocks of one direction. */
typedef struct cell_walk {
    const sk_cell_row *row;
    int64_t size;   /* of a cell, the longest */
    int64_t intra;  /* of an intra-node message, the longest */
    bool rewritten; /* the blocks may be overwritten meanwhile */
    sk_span copy;   /* of the blocks that need one */
    int64_t at;     /* bytes of it in use */
    int i;
    sk_span user, place; /* the current block, and where messages send or receive it */
    int peer;
} cell_walk;

static bool is_long(const cell_walk *w)
{
    return w->user.len > w->size;
}

static bool needs_copy(const cell_walk *w)
{
    const sk_call *c = w->row->row.c;
    return is_long(w) && (w->rewritten || !c->types[w->user.type].contig);
}

static void walk_back(cell_walk *w)
{
    w->at = w->i = 0;
}

static bool walk_on(cell_walk *w)
{
    const sk_call *c = w->row->row.c;
    if (w->i == w->row->n)
        return false;
    w->peer = (int)(((int64_t)w->row->first + w->i) % c->nranks);
    w->place = w->user = sk_blocks_get(&w->row->row, w->i++);
    if (needs_copy(w)) {
        w->place = sk_span_cut(c->types, w->copy, w->at, w->user.len);
        w->at += w->user.len;
    }
    return true;
}

static int64_t longest(const sk_cells *x)
{
    int64_t most = 0;
    for (int i = 0; i < SK_CELL_SIZES; i++)
        most = x->size[i] > most ? x->size[i] : most;
    return most;
}

static cell_walk walk_of(sk_sched *s, const sk_cell_row *row, const sk_cells *x, bool rewritten)
{
    cell_walk w = {.row = row,
                   .size = longest(x),
                   .intra = x->to_host ? x->to_host : INT64_MAX,
                   .rewritten = rewritten};
    while (walk_on(&w))
        ;
    if (w.at)
        w.copy = sk_scratch(s, w.at);
    walk_back(&w);
    return w;
}

/* Which size of cells the current block has. */
static int size_of(const cell_walk *w, const sk_cells *x)
{
    int i = 0;
    while (w->user.len > x->size[i])
        i++;
    return i;
}

static sk_span cell_of(const cell_walk *w, const sk_cells *x, const int *epoch, int64_t i)
{
    int k = size_of(w, x);
    return sk_slot(epoch[k], i * x->size[k], w->user.len);
}

static void copy_long(sk_sched *s, cell_walk *w)
{
    for (; walk_on(w);)
        if (is_long(w))
            sk_copy(s, w->user, w->place);
    walk_back(w);
}

static bool has_any(cell_walk *w, const sk_cells *x, int size)
{
    bool any = false;
    for (; walk_on(w);)
        any |= w->user.len > 0 && !is_long(w) && size_of(w, x) == size;
    walk_back(w);
    return any;
}

static void fill(sk_sched *s, cell_walk *w, const sk_cells *x, const int *epoch, int size)
{
    for (; walk_on(w);)
        if (!is_long(w) && size_of(w, x) == size)
            sk_copy(s, w->user, cell_of(w, x, epoch, w->i - 1));
    walk_back(w);
}

/* In the order of epochs. At most two epochs are open at once. `all` ranks post the first one. */
static void fill_all(sk_sched *s, cell_walk *w, const sk_cells *x, const int *epoch, bool all)
{
    int last = -1;
    for (int i = 0; i < SK_CELL_SIZES && x->size[i]; i++) {
        if (!(all && i == 0) && !has_any(w, x, i))
            continue;
        if (last >= 0 && i > last + 1)
            sk_fence(s);
        fill(s, w, x, epoch, i);
        sk_fence(s);
        sk_post(s, epoch[i]);
        last = i;
    }
    if (last < 0)
        sk_fence(s);
}

static void send_long(sk_sched *s, cell_walk *w)
{
    for (; walk_on(w);)
        if (is_long(w))
            (w->user.len > w->intra ? sk_send : sk_send_intra)(s, w->place, w->peer);
    walk_back(w);
}

static void empty(sk_sched *s, cell_walk *w, const sk_cells *x, const int *epoch)
{
    for (; walk_on(w);) {
        int64_t i = x->ncells > 1 ? x->cell - (w->i - 1) : 0;
        if (is_long(w))
            (w->user.len > w->intra ? sk_recv : sk_recv_intra)(s, w->place, w->peer);
        else
            sk_take(s, w->peer, cell_of(w, x, epoch, i), w->user);
    }
    walk_back(w);
}

void sk_cells_exchange(sk_sched *s, const sk_call *c, const sk_cells *x, sk_span own,
                       sk_span own_to)
{
    bool all = x->out.n > 0 && x->in.n > 0;
    int epoch[SK_CELL_SIZES] = {0}, nsizes = 0;
    for (; nsizes < SK_CELL_SIZES && x->size[nsizes]; nsizes++)
        epoch[nsizes] = sk_epoch(s, x->ncells * x->size[nsizes], all && nsizes == 0);
    cell_walk out = walk_of(s, &x->out, x, all && c->in_place);
    cell_walk in = walk_of(s, &x->in, x, false);
    copy_long(s, &out);
    fill_all(s, &out, x, epoch, all);
    sk_copy(s, own, own_to);
    if (all)
        sk_intra_await_all(s, c, epoch[0]);
    send_long(s, &out);
    empty(s, &in, x, epoch);
    sk_fence(s);
    while (walk_on(&in))
        if (is_long(&in))
            sk_copy(s, in.place, in.user);
}

void sk_intra_claim_cells(const sk_cost_case *k, sk_cost *c, int64_t epochs, int64_t out,
                          int64_t in, bool own)
{
    int64_t copies = own + (k->is_short ? out : 0), takes = k->is_short ? in : 0;
    sk_claim_moves(c, epochs, copies, copies * k->b, takes, takes * k->b);
    if (k->is_short) {
        c->rounds = out ? 2 : 1;
    } else {
        c->sends = out;
        c->recvs = in;
    }
}
