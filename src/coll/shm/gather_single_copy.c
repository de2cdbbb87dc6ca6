/* gather_exposed.c: every rank says where its block lies, the root reads them all.
 * cost   1 copy of a byte, and all wait for the root    good for  long, one node
 * turns  1    steps  3; p at the root
 * scratch  a block, or all at the root, where the user's type is not contiguous */
#include "coll/algo.h"
#include "coll/phase/share.h"

static void build(sk_sched *s, const sk_call *c)
{
    if (sk_call_bytes(c) == 0)
        return;
    int turn = sk_turn(s, SK_PLACE, false);
    if (c->rank != c->root) {
        sk_share_expose(s, turn, sk_share_plain(s, c, sk_send_block(c, 0)));
        sk_share_settle(s, turn);
        return;
    }
    sk_others from = sk_others_of(c, SK_RECV, c->root);
    sk_others_loosen(s, &from, false);
    sk_copy(s, sk_send_block(c, 0), sk_recv_block(c, c->root));
    for (int i = 0; i < from.n; i++)
        sk_read(s, sk_others_rank(&from, i), sk_share_place(turn), 0, sk_others_block(&from, i));
    sk_fence(s);
    sk_others_out(s, &from);
}

static int64_t scratch(const sk_call *c)
{
    return sk_share_scratch(c->nranks - 1, sk_call_bytes(c));
}

const sk_algo sk_gather_exposed = {
    .name = "exposed",
    .coll = SK_GATHER,
    .about = "the root reads the blocks in the memory of all; one node, long blocks",
    .fits = sk_expose_fits,
    .scratch = scratch,
    .build = build,
};
