/* gatherv_shared.c: every rank's bay is a slot for its block; long blocks are near messages.
 * cost   2 copies of a byte    good for  one node
 * turns  2, for tiny and for short blocks    steps  2 or 3; p at the root
 * scratch  long blocks whose type is not contiguous, which has no bound that all know
 *
 * Nobody waits for the root but the owners of blocks that are longer than what a rank may have
 * under way. */
#include "coll/algo.h"
#include "coll/phase/share.h"

static int64_t slot_size(const sk_call *c)
{
    return sk_slot_size(c, 1, SK_SHARE_CHUNK);
}

static bool fits(const sk_call *c)
{
    return sk_share_fits(c) && slot_size(c) > 0;
}

static void build(sk_sched *s, const sk_call *c)
{
    sk_others from = sk_others_of(c, SK_RECV, c->root);
    sk_slots x = {.nslots = 1, .size = {SK_SHARE_INLINE, slot_size(c)}};
    sk_span none = {0};
    if (c->rank == c->root) {
        x.in = (sk_slot_row){.row = from.row, .n = from.n, .first = c->root + 1};
        sk_slots_exchange(s, c, &x, sk_send_block(c, 0), sk_recv_block(c, c->root));
    } else {
        x.out = (sk_slot_row){.row = {.c = c, .side = SK_SEND}, .n = 1, .first = c->root};
        sk_slots_exchange(s, c, &x, none, none);
    }
}

const sk_algo sk_gatherv_shared = {
    .name = "shared",
    .coll = SK_GATHERV,
    .about = "through shared memory; one node",
    .fits = fits,
    .build = build,
};
