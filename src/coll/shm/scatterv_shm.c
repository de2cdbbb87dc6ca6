/* scatterv_shm.c: a cell of the root's slot for every rank; long blocks are intra-node messages.
 * cost      2 copies of a byte
 * good for  one node
 * epochs    3, one of them for tiny blocks
 * steps     1 for each block at the root, and 2 to 4; 1 elsewhere
 * scratch   long blocks whose type is not contiguous: there is no bound that all ranks know */
#include "coll/claim.h"
#include "coll/phase/intra.h"

static int64_t cell_size(const sk_call *c)
{
    return sk_cell_size(c, c->nranks - 1, SK_INTRA_CHUNK);
}

/* Slots of at most a chunk: there are many of them, so the root can run ahead of the others by as
 * many. */
static int64_t short_size(const sk_call *c)
{
    int64_t n = c->nranks - 1, most = SK_INTRA_CHUNK / n / SK_CACHE_LINE * SK_CACHE_LINE;
    most = most < SK_INTRA_CELL ? most : SK_INTRA_CELL;
    return sk_cell_size(c, c->nranks - 1, most > SK_CACHE_LINE ? most : SK_CACHE_LINE);
}

/* All tiny cells fit into the line of the flag that announces them, or at least into the smallest
 * slot, of which there are the most. */
static int64_t tiny_size(int64_t n)
{
    int64_t all = n <= SK_INTRA_INLINE / SK_INTRA_TINY ? SK_INTRA_INLINE : SK_INTRA_SMALL;
    int64_t size = all / n / SK_INTRA_TINY * SK_INTRA_TINY;
    return size > 0 ? size : SK_INTRA_TINY;
}

static bool fits(const sk_call *c)
{
    return sk_intra_fits(c) && cell_size(c) > 0;
}

static void build(sk_sched *s, const sk_call *c)
{
    sk_others to = sk_others_of(c, SK_SEND, c->root);
    sk_cells x = {.ncells = to.n, .size = {tiny_size(to.n), short_size(c), cell_size(c)}};
    sk_span none = {0};
    if (c->rank == c->root) {
        x.out = (sk_cell_row){.row = to.row, .n = to.n, .first = c->root + 1};
        sk_cells_exchange(s, c, &x, sk_send_block(c, c->root), sk_recv_block(c, 0));
    } else {
        x.in = (sk_cell_row){.row = {.c = c, .side = SK_RECV}, .n = 1, .first = c->root};
        x.cell = sk_others_find(&to, c->rank);
        sk_cells_exchange(s, c, &x, none, none);
    }
}

static void claim(const sk_cost_case *k, sk_cost *c)
{
    sk_intra_claim_cells(k, c, 3, k->at_root ? k->p - 1 : 0, !k->at_root, k->at_root);
}

const sk_algo sk_scatterv_shm = {
    .name = "shm",
    .coll = SK_SCATTERV,
    .about = "through shared memory; one node",
    .fits = fits,
    .build = build,
    .claim = claim,
    .rule = {{.when = SK_WHEN_ONE_NODE}},
};
