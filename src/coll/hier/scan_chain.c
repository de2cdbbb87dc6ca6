/* scan_chain.c: node by node. On every node each rank combines the vectors up to its own, in shared memory; the
 * last one sends the prefix that it ends with to the first rank of the next node, which hands it to its local
 * ranks; scan and exscan.
 * cost      (M-1)(alpha + n beta), and two passes through the memory of a node
 * good for  few nodes with several ranks each that follow each other, or long vectors; calls back to back, which overlap
 * short     the first rank of a node puts the prefix in front of its own vector, before others take that
 * long      prefixes go from rank to rank on a node, too, in chunks: ranks further on combine one while those before
 *           combine the next
 * scratch   a chunk; two for exscan
 *
 * A rank never waits for ranks above it, so those below run ahead. */
#include "coll/claim.h"
#include "coll/phase/hier.h"
#include "coll/phase/intra_reduce.h"
#include "coll/phase/reduce.h"

typedef struct chain {
    sk_sched *s;
    const sk_call *c;
    int me, nlocal;  /* my index among the ranks of my node, and how many these are */
    bool takes;      /* there are nodes before mine */
    bool gives;      /* I end my node, and there are nodes behind it */
    bool joins;      /* short: see above */
    bool hands_on;   /* long, or I am alone on my node */
    sk_span before;  /* the prefix of the nodes before */
    sk_span through; /* exscan: what I give, which is not my result */
} chain;

static bool first(const chain *x)
{
    return x->me == 0;
}

static bool exclusive(const chain *x)
{
    return x->c->coll == SK_EXSCAN;
}

/* An epoch of vectors; *slot: mine. */
static int epoch_of(const chain *x, int64_t n, sk_span *slot)
{
    uint32_t type = x->c->send.type;
    int epoch = sk_epoch(x->s, sk_slot_bytes(&x->c->types[type], n), false);
    *slot = sk_slot_typed(x->c->types, type, epoch, 0, n);
    return epoch;
}

/* As far as my node goes: `result`, and what the next node needs. Who joins has the prefix of the nodes before. */
static void combine_in_slots(const chain *x, int64_t n, sk_span own, sk_span before, sk_span result,
                             sk_span through)
{
    sk_span slot;
    int epoch = epoch_of(x, n, &slot), below = x->me + !exclusive(x);
    bool joins = x->joins && x->takes && first(x);
    sk_copy(x->s, own, slot);
    if (joins) {
        sk_recv(x->s, before, x->c->rank - 1);
        sk_fence(x->s);
        sk_reduce(x->s, before, slot);
    }
    sk_fence(x->s);
    sk_post(x->s, epoch);
    if (joins)
        sk_copy(x->s, exclusive(x) ? before : slot, result);
    else if (below == 1)
        sk_take(x->s, x->c->rank - x->me, slot, result);
    else if (below > 1)
        sk_fold_local(x->s, 0, below, slot, result);
    if (x->gives && exclusive(x))
        sk_fold_local(x->s, 0, x->nlocal, slot, through);
}

/* The prefix of the nodes before mine, which my node's first rank receives. */
static void take_before(const chain *x, int64_t n, sk_span before)
{
    sk_span slot;
    int epoch = epoch_of(x, n, &slot);
    if (first(x)) {
        sk_recv(x->s, before, x->c->rank - 1);
        sk_fence(x->s);
        sk_copy(x->s, before, slot);
        sk_fence(x->s);
        sk_post(x->s, epoch);
    } else {
        sk_take(x->s, x->c->rank - x->me, slot, before);
        sk_fence(x->s);
    }
}

static void put_in_front(const chain *x, sk_span before, sk_span result, sk_span through)
{
    if (exclusive(x) && first(x))
        sk_copy(x->s, before, result);
    else
        sk_reduce(x->s, before, result);
    if (exclusive(x) && x->gives)
        sk_reduce(x->s, before, through);
}

/* The prefix goes from rank to rank on the node, too. */
static void hand_on(const chain *x, int64_t n, sk_span own, sk_span result, sk_span through)
{
    sk_span slot = {0}, before = exclusive(x) ? result : sk_elems_cut(x->c, x->before, 0, n);
    int epoch = x->nlocal > 1 ? epoch_of(x, n, &slot) : 0;
    bool last = x->me == x->nlocal - 1, adds = !last || x->gives || !exclusive(x);
    sk_span with = last ? through : slot;
    if (last && exclusive(x) && x->gives)
        sk_fence(x->s); /* the chunk before is sent from there */
    if (adds)
        sk_copy(x->s, own, with);
    sk_fence(x->s);
    if (x->c->rank > 0) {
        if (first(x))
            sk_recv(x->s, before, x->c->rank - 1);
        else
            sk_take(x->s, x->c->rank - 1, slot, before);
        sk_fence(x->s);
        if (adds)
            sk_reduce(x->s, before, with);
        sk_fence(x->s);
    }
    if (!last) {
        sk_post(x->s, epoch);
        if (!exclusive(x))
            sk_copy(x->s, slot, result);
    }
}

static void build_chunk(const chain *x, int64_t from, int64_t n)
{
    const sk_call *c = x->c;
    sk_span own = sk_send_elems(c, from, n), result = sk_recv_elems(c, from, n),
            before = sk_elems_cut(c, x->before, 0, n), through = result;
    if (exclusive(x) && x->gives)
        through = sk_elems_cut(c, x->through, 0, n);
    if (x->hands_on) {
        hand_on(x, n, own, result, through);
    } else {
        combine_in_slots(x, n, own, before, result, through);
        if (x->takes && !x->joins) {
            take_before(x, n, before);
            put_in_front(x, before, result, through);
        }
        sk_fence(x->s);
    }
    if (x->gives)
        sk_send(x->s, through, c->rank + 1);
}

/* Does it take less than a message to combine the vectors of a node? Then that may wait for the prefix. */
static bool is_short(const sk_call *c)
{
    return sk_call_bytes(c) <= SK_MESSAGE_WAY / c->machine->max_per_node;
}

static bool is_long(const sk_call *c)
{
    return sk_call_bytes(c) > SK_HIER_REDUCE_SPLIT;
}

static int64_t chunk_elems(const sk_call *c)
{
    int64_t most = sk_hier_chunk_elems(c), n = sk_elems_in(c, SK_HIER_CHAIN_CHUNK);
    return is_long(c) && n < most ? n : most;
}

/* Does the prefix before my vector need memory beside my result? */
static bool keeps_before(const chain *x)
{
    if (x->hands_on)
        return x->c->rank > 0 && !exclusive(x);
    return x->takes && !(x->joins && !first(x));
}

static void build(sk_sched *s, const sk_call *c)
{
    const sk_machine *m = c->machine;
    int64_t n = sk_call_elems(c), most = chunk_elems(c);
    if (sk_call_bytes(c) == 0)
        return;
    chain x = {.s = s, .c = c, .me = m->local_rank[c->rank], .joins = is_short(c)};
    sk_machine_local_ranks(m, c->rank, &x.nlocal);
    x.hands_on = is_long(c) || x.nlocal == 1;
    x.takes = c->rank > x.me;
    x.gives = x.me == x.nlocal - 1 && c->rank < c->nranks - 1;
    int chunks = sk_hier_chunks(n, most);
    int64_t longest = sk_hier_chunk_first(n, chunks, 1);
    if (keeps_before(&x))
        x.before = sk_scratch_typed(s, c->send.type, longest);
    if (x.gives && exclusive(&x))
        x.through = sk_scratch_typed(s, c->send.type, longest);
    for (int i = 0; i < chunks; i++) {
        int64_t from = sk_hier_chunk_first(n, chunks, i);
        build_chunk(&x, from, sk_hier_chunk_first(n, chunks, i + 1) - from);
    }
}

static bool fits(const sk_call *c)
{
    return sk_hier_reduction_fits(c) && sk_hier_reduces_in_shm(c) && sk_hier_in_order(c) &&
           sk_hier_chunks(sk_call_elems(c), chunk_elems(c)) < SK_HIER_CHUNKS;
}

static int64_t scratch(const sk_call *c)
{
    int64_t n = sk_call_elems(c), most = chunk_elems(c);
    return sk_vectors_scratch(c, 2, n < most ? n : most);
}

static void claim(const sk_cost_case *k, sk_cost *c)
{
    int64_t chunks = sk_claim_ceil(k->n / 8, chunk_elems(k->call));
    sk_claim_off_node(k, c, 1, chunks * (k->nodes - 1), (k->nodes - 1) * k->n);
    c->max_senders = k->nodes - 1;
    c->node_sends = 0;
    c->max_epochs = chunks * (is_short(k->call) || is_long(k->call) ? 1 : 2);
}

#define CHAIN(COLL)                                                                                \
    {                                                                                              \
        .name = "chain", .coll = (COLL),                                                           \
        .about = "combine on every node, then node by node; few nodes, or calls back to back",     \
        .fits = fits, .scratch = scratch, .build = build, .claim = claim, .chain = true,           \
        .rule = {{.when = SK_WHEN_NODES, .from = SK_SET_SCAN_CHAIN},                               \
                 {.when = SK_WHEN_NODES, .nodes = SK_SET_SCAN_CHAIN_NODES}},                       \
    }

const sk_algo sk_scan_chain = CHAIN(SK_SCAN);
const sk_algo sk_exscan_chain = CHAIN(SK_EXSCAN);
