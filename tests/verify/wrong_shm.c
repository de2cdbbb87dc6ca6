#include "wrong_algos.h"

/* The root fills its slot and forgets to say so. */
static void take_unpublished(sk_sched *s, const sk_call *c)
{
    sk_span all = sk_recv_block(c, 0);
    int epoch = sk_epoch(s, all.len, false);
    if (c->rank == c->root)
        sk_copy(s, all, sk_slot(epoch, 0, all.len));
    else
        sk_take(s, c->root, sk_slot(epoch, 0, all.len), all);
}

/* The root, rank 1, shares its data with rank 0, and that one sends it to the other node: but in
 * the round in which it has yet to wait for the root. */
static void send_too_early(sk_sched *s, const sk_call *c)
{
    sk_span all = sk_recv_block(c, 0);
    int epoch = sk_epoch(s, all.len, true);
    sk_span common = sk_common(epoch, 0, all.len);
    if (c->rank == c->root)
        sk_copy(s, all, common);
    sk_fence(s);
    sk_post(s, epoch);
    if (c->rank == 0) {
        sk_take(s, -1, common, all);
        for (int r = 2; r < c->nranks; r++)
            sk_send(s, common, r);
    } else if (c->rank != c->root)
        sk_recv(s, all, 0);
}

static void meet_half(sk_sched *s, const sk_call *c)
{
    int epoch = sk_epoch(s, 0, true);
    sk_post(s, epoch);
    sk_await_local(s, epoch, c->rank < 2 ? 0 : 2, c->nranks);
}

static void meet_node(sk_sched *s, const sk_call *c)
{
    int epoch = sk_epoch(s, 0, true), n;
    sk_machine_local_ranks(c->machine, c->rank, &n);
    sk_post(s, epoch);
    sk_await_local(s, epoch, 0, n);
}

static void same_common(sk_sched *s, const sk_call *c)
{
    sk_span mine = sk_send_block(c, 0);
    int epoch = sk_epoch(s, mine.len, true);
    sk_copy(s, mine, sk_common(epoch, 0, mine.len));
    sk_fence(s);
    sk_post(s, epoch);
    for (int r = 0; r < c->nranks; r++)
        sk_take(s, -1, sk_common(epoch, 0, mine.len), sk_recv_block(c, r));
}

const wrong_shared wrong_shareds[] = {
    {{ALGO_OF(BCAST, "takes what nobody publishes", take_unpublished, .fits = NULL),
      {.coll = SK_BCAST, .p = 4, .units = 3, .slot_bytes = 64},
      "wait for ever"},
     "node:1 core:4"},
    {{ALGO_OF(BCAST, "sends from a slot before its post", send_too_early, .fits = NULL),
      {.coll = SK_BCAST, .p = 4, .root = 1, .units = 3, .slot_bytes = 64},
      "byte 0 of epoch 0, which nobody wrote"},
     "node:2 core:2"},
    {{ALGO_OF(BARRIER, "barrier in which half of the local ranks wait", meet_half, .fits = NULL),
      {.coll = SK_BARRIER, .p = 4, .slot_bytes = 64},
      "rank 2 leaves before all have come"},
     "node:1 core:4"},
    {{ALGO_OF(BARRIER, "barrier of each node alone", meet_node, .fits = NULL),
      {.coll = SK_BARRIER, .p = 4, .slot_bytes = 64},
      "rank 0 leaves before all have come"},
     "node:2 core:2"},
    {{ALGO_OF(ALLGATHER, "all write the same common bytes", same_common, .fits = NULL),
      {.coll = SK_ALLGATHER, .p = 3, .units = 3, .slot_bytes = 64},
      "both write byte 0 of epoch 0"},
     "node:1 core:3"},
    {{{.name = NULL}, {0}, NULL}, NULL},
};
