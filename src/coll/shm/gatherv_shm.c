/* gatherv_shm.c: every rank's slot is a cell for its block; long blocks are intra-node messages.
 * cost      2 copies of a byte
 * good for  one node
 * epochs    2, for tiny and for short blocks
 * steps     2 or 3; p at the root
 * scratch   long blocks whose type is not contiguous: there is no bound that all ranks know
 *
 * Only owners of blocks that exceed what a rank may have under way wait for the root. */
#include "coll/claim.h"
#include "coll/phase/intra.h"

static int64_t cell_size(const sk_call *c)
{
    return sk_cell_size(c, 1, SK_INTRA_CHUNK);
}

static bool fits(const sk_call *c)
{
    return sk_intra_fits(c) && cell_size(c) > 0;
}

static void build(sk_sched *s, const sk_call *c)
{
    sk_others from = sk_others_of(c, SK_RECV, c->root);
    sk_cells x = {.ncells = 1, .size = {SK_INTRA_INLINE, cell_size(c)}};
    sk_span none = {0};
    if (c->rank == c->root) {
        x.in = (sk_cell_row){.row = from.row, .n = from.n, .first = c->root + 1};
        sk_cells_exchange(s, c, &x, sk_send_block(c, 0), sk_recv_block(c, c->root));
    } else {
        x.out = (sk_cell_row){.row = {.c = c, .side = SK_SEND}, .n = 1, .first = c->root};
        sk_cells_exchange(s, c, &x, none, none);
    }
}

static void claim(const sk_cost_case *k, sk_cost *c)
{
    sk_intra_claim_cells(k, c, 2, !k->at_root, k->at_root ? k->p - 1 : 0, k->at_root);
}

const sk_algo sk_gatherv_shm = {
    .name = "shm",
    .coll = SK_GATHERV,
    .about = "through shared memory; one node",
    .fits = fits,
    .build = build,
    .claim = claim,
    .rule = {{.when = SK_WHEN_ONE_NODE}},
};
