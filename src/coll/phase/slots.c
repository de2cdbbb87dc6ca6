/* phase_cells.c: blocks of unknown sizes through cells of one size.
 *
 * A long block is a message from where it lies, and to where it should be, unless it is not
 * contiguous there, or is about to be overwritten because the call is in place: then it goes by way
 * of a packed copy. */
#include "coll/phase/share.h"

int64_t sk_cell_size(const sk_call *c, int n, int64_t most)
{
    int64_t lines = (c->room < SK_SHARE_CELLS ? c->room : SK_SHARE_CELLS) / n / SK_SHARE_LINE;
    if (lines > most / SK_SHARE_LINE)
        lines = most / SK_SHARE_LINE;
    if (lines > 1 && n > 1 && lines % 2 == 0)
        lines--; /* short blocks are not to fall on the same few sets of a cache */
    return lines * SK_SHARE_LINE;
}

typedef struct walk { /* over the blocks of a lane */
    const sk_cell_row *lane;
    int64_t size;   /* of a cell, the longest */
    int64_t intra;  /* of a near message, the longest */
    bool rewritten; /* the blocks may be overwritten meanwhile */
    sk_span copy;   /* of the blocks that need one */
    int64_t at;     /* how far it is used */
    int i;
    sk_span user, place; /* the current block, and where it is while others see it */
    int peer;
} walk;

static bool is_long(const walk *w)
{
    return w->user.len > w->size;
}

static bool needs_copy(const walk *w)
{
    const sk_call *c = w->lane->row.c;
    return is_long(w) && (w->rewritten || !c->types[w->user.type].contig);
}

static void walk_back(walk *w)
{
    w->at = w->i = 0;
}

static bool walk_on(walk *w)
{
    const sk_call *c = w->lane->row.c;
    if (w->i == w->lane->n)
        return false;
    w->peer = (int)(((int64_t)w->lane->first + w->i) % c->nranks);
    w->place = w->user = sk_row_block(&w->lane->row, w->i++);
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

static walk walk_of(sk_sched *s, const sk_cell_row *lane, const sk_cells *x, bool rewritten)
{
    walk w = {.lane = lane,
              .size = longest(x),
              .intra = x->intra ? x->intra : INT64_MAX,
              .rewritten = rewritten};
    while (walk_on(&w))
        ;
    if (w.at)
        w.copy = sk_scratch(s, w.at);
    walk_back(&w);
    return w;
}

/* Which size of cells the current block has. */
static int size_of(const walk *w, const sk_cells *x)
{
    int i = 0;
    while (w->user.len > x->size[i])
        i++;
    return i;
}

static sk_span cell_of(const walk *w, const sk_cells *x, const int *epoch, int64_t i)
{
    int k = size_of(w, x);
    return sk_slot(epoch[k], i * x->size[k], w->user.len);
}

static void copy_long(sk_sched *s, walk *w)
{
    for (; walk_on(w);)
        if (is_long(w))
            sk_copy(s, w->user, w->place);
    walk_back(w);
}

static bool has_any(walk *w, const sk_cells *x, int size)
{
    bool any = false;
    for (; walk_on(w);)
        any |= w->user.len > 0 && !is_long(w) && size_of(w, x) == size;
    walk_back(w);
    return any;
}

static void fill(sk_sched *s, walk *w, const sk_cells *x, const int *epoch, int size)
{
    for (; walk_on(w);)
        if (!is_long(w) && size_of(w, x) == size)
            sk_copy(s, w->user, cell_of(w, x, epoch, w->i - 1));
    walk_back(w);
}

/* In the order of epochs, no more than two of them at once. */
static void fill_all(sk_sched *s, walk *w, const sk_cells *x, const int *epoch, bool all)
{
    int last = -1;
    for (int i = 0; i < SK_CELL_SIZES && x->size[i]; i++) {
        if (!all && !has_any(w, x, i))
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

static void send_long(sk_sched *s, walk *w)
{
    for (; walk_on(w);)
        if (is_long(w))
            (w->user.len > w->intra ? sk_send : sk_send_intra)(s, w->place, w->peer);
    walk_back(w);
}

static void empty(sk_sched *s, walk *w, const sk_cells *x, const int *epoch)
{
    for (; walk_on(w);) {
        int64_t i = x->nslots > 1 ? x->cell - (w->i - 1) : 0;
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
        epoch[nsizes] = sk_epoch(s, x->nslots * x->size[nsizes], all);
    walk out = walk_of(s, &x->out, x, all && c->in_place);
    walk in = walk_of(s, &x->in, x, false);
    copy_long(s, &out);
    fill_all(s, &out, x, epoch, all);
    sk_copy(s, own, own_to);
    if (all)
        sk_share_meet(s, c, epoch[nsizes - 1]);
    send_long(s, &out);
    empty(s, &in, x, epoch);
    sk_fence(s);
    while (walk_on(&in))
        if (is_long(&in))
            sk_copy(s, in.place, in.user);
}
