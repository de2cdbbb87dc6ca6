/* alltoallv_shm.c: every slot has a cell for each of the other ranks; longer blocks are in larger cells of
 * another slot, which only ranks with such blocks use. Still longer ones are intra-node messages, or the
 * host's, if local ranks cannot read each other's memory and all blocks together exceed the caches;
 * alltoallv and alltoallw.
 * cost      2 copies of a byte
 * good for  one node
 * epochs    2, for short and for longer blocks
 * steps     2 for each block, and 2 or 3
 * scratch   long blocks that are sent in place, or whose type is not contiguous: no bound */
#include "coll/claim.h"
#include "coll/copy_time.h"
#include "coll/phase/intra.h"

static int64_t cell_size(const sk_call *c)
{
    return sk_cell_size(c, c->nranks - 1, SK_INTRA_CELL);
}

/* 0: none, a block that is longer than the others is better read in place. */
static int64_t large_size(const sk_call *c)
{
    int64_t size = sk_cell_size(c, c->nranks - 1, sk_copy_longest_cell(c));
    return size > cell_size(c) ? size : 0;
}

static bool fits(const sk_call *c)
{
    return sk_intra_fits(c) && cell_size(c) > 0;
}

static void build(sk_sched *s, const sk_call *c)
{
    int me = c->rank, n = c->nranks - 1;
    sk_cells x = {.ncells = n, .cell = n - 1, .size = {cell_size(c), large_size(c)}};
    x.to_host = c->direct ? 0 : SK_INTRA_TO_HOST * c->slot_bytes / n;
    x.out = (sk_cell_row){.row = sk_others_of(c, SK_SEND, me).row, .n = n, .first = me + 1};
    x.in = (sk_cell_row){.row = sk_others_of(c, SK_RECV, me).row, .n = n, .first = me + 1};
    sk_cells_exchange(s, c, &x, sk_send_block(c, me), sk_recv_block(c, me));
}

static void claim(const sk_cost_case *k, sk_cost *c)
{
    int64_t large = large_size(k->call);
    sk_cost_case in_cells = *k;
    in_cells.is_short |= k->b <= large;
    sk_intra_claim_cells(&in_cells, c, large ? 2 : 1, k->p - 1, k->p - 1, true);
}

#define SHARED(COLL)                                                                               \
    {                                                                                              \
        .name = "shm", .coll = (COLL), .about = "through shared memory; one node", .fits = fits,   \
        .build = build, .claim = claim, .rule = {{.when = SK_WHEN_ONE_NODE}},                      \
    }

const sk_algo sk_alltoallv_shm = SHARED(SK_ALLTOALLV);
const sk_algo sk_alltoallw_shm = SHARED(SK_ALLTOALLW);
