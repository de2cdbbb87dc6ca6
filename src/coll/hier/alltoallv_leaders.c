/* alltoallv_leaders.c: all short blocks from the ranks of one node to those of another go in one message between their
 * leaders, with their sizes. Long ones go straight; alltoallv and alltoallw.
 * cost      (M-1) alpha at a leader, for M nodes, and alpha for each long block; two passes through the memory of a node
 * good for  short blocks, also very uneven ones, several nodes with several ranks each
 * shm       each local rank has a cell for every rank in the common slot, and leaders have one in theirs
 * leaders   k of them: each has some of the other nodes
 * scratch   at leaders what they send and receive for other nodes, and long blocks that are sent in place
 * order     between two leaders the packet comes before the long block
 *
 * In a packet, blocks are ordered by their source, then by their destination. */
#include "coll/phase/riders.h"
#include "sched/packet.h"

typedef struct alltoallv_job {
    sk_riders riders;
    int none;       /* a packet without records */
    int *to, *from; /* packets: those for the nodes that are mine as a leader; else -1 */
    sk_span *kept;  /* in place: copies of the long blocks that I send, by rank */
    int out, back;  /* epochs */
} alltoallv_job;

static sk_riders riders_of(const sk_call *c)
{
    return sk_riders_of(c, (int64_t)c->machine->max_per_node * c->nranks);
}

static bool fits(const sk_call *c)
{
    return sk_call_whole(c) && sk_hier_fits(c) && riders_of(c).most > 0;
}

/* The cell of the block between rank number `place`, node by node, and a local rank. */
static int64_t cell_of(const sk_hier *l, int place, int local)
{
    return (int64_t)place * l->nlocal + local;
}

/* Does this leader exchange with the node? Its partner there has the same index. */
static bool is_mine(const sk_hier *l, int node)
{
    return node != l->node && (l->node + node) % l->nleaders == l->leader;
}

static bool allocate(sk_hier *l, alltoallv_job *x)
{
    int nnodes = l->m->nnodes, p = l->c->nranks;
    x->to = sk_arena_get(l->arena, (size_t)nnodes * sizeof *x->to);
    x->from = sk_arena_get(l->arena, (size_t)nnodes * sizeof *x->from);
    x->kept = sk_arena_get(l->arena, (size_t)p * sizeof *x->kept);
    if (!x->to || !x->from || !x->kept) {
        sk_sched_fail(l->s, SK_NOMEM);
        return false;
    }
    x->none = sk_packet(l->s, 0, 0);
    for (int y = 0; y < nnodes; y++) {
        int blocks = l->nlocal * sk_hier_node_size(l, y);
        x->to[y] = is_mine(l, y) ? sk_packet(l->s, blocks, blocks * x->riders.most) : -1;
        x->from[y] = is_mine(l, y) ? sk_packet(l->s, blocks, blocks * x->riders.most) : -1;
    }
    return true;
}

/* What is sent in place would be overwritten. */
static void keep_long(sk_hier *l, alltoallv_job *x)
{
    const sk_call *c = l->c;
    for (int i = 0; i < c->nranks; i++) {
        sk_span block = sk_send_block(c, i);
        x->kept[i] = block;
        if (c->in_place && i != c->rank && sk_riders_refuse(&x->riders, block)) {
            x->kept[i] = sk_scratch(l->s, block.len);
            sk_copy(l->s, block, x->kept[i]);
        }
    }
}

/* A rank alone on its node needs no cells. */
static void fill(sk_hier *l, const alltoallv_job *x)
{
    const sk_machine *m = l->m;
    for (int i = 0; i < l->c->nranks; i++) {
        int rank = m->local_ranks[i], node = m->node[rank];
        sk_span block = sk_send_block(l->c, rank);
        if (rank == l->c->rank)
            sk_copy(l->s, block, sk_recv_block(l->c, rank));
        else if (l->in_shm)
            sk_riders_fill(l->s, &x->riders, block, x->out, cell_of(l, i, l->local_rank), x->none);
        else if (sk_riders_take(&x->riders, block))
            sk_put(l->s, x->to[node], m->local_rank[rank], block);
    }
}

/* The blocks that stay on the node. */
static void take_local(sk_hier *l, const alltoallv_job *x)
{
    int first = l->m->node_first[l->node];
    for (int i = 0; i < l->nlocal; i++) {
        int rank = l->m->local_ranks[first + i];
        sk_span block = sk_recv_block(l->c, rank);
        if (rank != l->c->rank && sk_riders_take(&x->riders, block))
            sk_take_sized(l->s, rank,
                          sk_riders_common(&x->riders, x->out, cell_of(l, first + l->local_rank, i),
                                           block.len),
                          block);
    }
}

/* At a leader: what the local ranks have for the nodes that are mine. */
static void pack(sk_hier *l, const alltoallv_job *x)
{
    for (int y = 0; y < l->m->nnodes; y++) {
        int first = l->m->node_first[y], n = sk_hier_node_size(l, y);
        for (int i = 0; i < l->nlocal * n && is_mine(l, y); i++)
            sk_put_sized(l->s, x->to[y], i,
                         sk_riders_common(&x->riders, x->out, cell_of(l, first + i % n, i / n),
                                          x->riders.most));
    }
}

static void exchange(sk_hier *l, const alltoallv_job *x)
{
    for (int y = 0; y < l->m->nnodes; y++)
        if (is_mine(l, y)) {
            int partner = sk_hier_leader_rank(l, y, l->leader);
            sk_packet_recv(l->s, x->from[y], partner);
            sk_packet_send(l->s, x->to[y], 0, l->nlocal * sk_hier_node_size(l, y), partner);
        }
}

static bool any_long(const sk_hier *l, const alltoallv_job *x)
{
    bool any = false;
    for (int i = 0; i < l->c->nranks; i++)
        any |= i != l->c->rank && (sk_riders_refuse(&x->riders, x->kept[i]) ||
                                   sk_riders_refuse(&x->riders, sk_recv_block(l->c, i)));
    return any;
}

/* In the order in which everybody sends, and so many at once, as in alltoall_scattered.c. */
static void exchange_long(sk_hier *l, const alltoallv_job *x)
{
    const sk_call *c = l->c;
    for (int i = 1; i < c->nranks; i++) {
        int to = (int)(((int64_t)c->rank + i) % c->nranks),
            from = (c->rank + c->nranks - i) % c->nranks;
        if (sk_riders_refuse(&x->riders, sk_recv_block(c, from)))
            sk_recv(l->s, sk_recv_block(c, from), from);
        if (sk_riders_refuse(&x->riders, x->kept[to]))
            sk_send(l->s, x->kept[to], to);
        if (i % SK_SCATTERED_WINDOW == 0)
            sk_fence(l->s);
    }
}

/* At a leader: what came from the nodes that are mine, my own blocks into the user's buffer. */
static void unpack(sk_hier *l, const alltoallv_job *x)
{
    for (int y = 0; y < l->m->nnodes; y++) {
        int first = l->m->node_first[y], n = sk_hier_node_size(l, y);
        for (int i = 0; i < n * l->nlocal && is_mine(l, y); i++) {
            int from = first + i / l->nlocal, to = i % l->nlocal;
            sk_span block = sk_recv_block(l->c, l->m->local_ranks[from]);
            if (to != l->local_rank)
                sk_get_sized(
                    l->s, x->from[y], i,
                    sk_riders_slot(&x->riders, x->back, cell_of(l, from, to), x->riders.most));
            else if (sk_riders_take(&x->riders, block))
                sk_get(l->s, x->from[y], i, block);
        }
    }
}

/* From the leaders of my node. */
static void take_remote(sk_hier *l, const alltoallv_job *x)
{
    for (int y = 0; y < l->m->nnodes; y++) {
        int leader = sk_hier_leader_rank(l, l->node, (l->node + y) % l->nleaders);
        for (int i = l->m->node_first[y]; i < l->m->node_first[y + 1] && y != l->node; i++) {
            sk_span block = sk_recv_block(l->c, l->m->local_ranks[i]);
            if (!is_mine(l, y) && sk_riders_take(&x->riders, block))
                sk_take_sized(
                    l->s, leader,
                    sk_riders_slot(&x->riders, x->back, cell_of(l, i, l->local_rank), block.len),
                    block);
        }
    }
}

static void lead(sk_hier *l, const alltoallv_job *x)
{
    if (l->in_shm) {
        sk_await_local(l->s, x->out, 0, l->nlocal);
        sk_fence(l->s);
        pack(l, x);
        sk_fence(l->s);
    }
    exchange(l, x);
    exchange_long(l, x);
    sk_fence(l->s);
    unpack(l, x);
    sk_fence(l->s);
    if (l->in_shm)
        sk_post(l->s, x->back);
}

static void run(sk_hier *l, alltoallv_job *x)
{
    if (l->in_shm) {
        x->out = sk_epoch(l->s, sk_riders_slot_bytes(&x->riders), true);
        x->back = sk_epoch(l->s, sk_riders_slot_bytes(&x->riders), false);
    }
    keep_long(l, x);
    fill(l, x);
    sk_fence(l->s);
    if (l->in_shm) {
        sk_post(l->s, x->out);
        take_local(l, x);
    }
    if (l->leader >= 0)
        lead(l, x);
    else if (any_long(l, x)) {
        /* In its own rounds: a rank that waits for a cell seldom looks for messages. */
        sk_fence(l->s);
        exchange_long(l, x);
        sk_fence(l->s);
    }
    take_remote(l, x);
}

static void build(sk_sched *s, const sk_call *c)
{
    sk_hier l;
    alltoallv_job x = {.riders = riders_of(c)};
    if (!sk_hier_begin(&l, s, c, sk_hier_nleaders(c), true))
        return;
    if (allocate(&l, &x))
        run(&l, &x);
    sk_hier_end(&l);
}

/* At a leader, packets in both directions; long blocks have no bound. */
static int64_t scratch(const sk_call *c)
{
    int64_t q = c->machine->max_per_node, m = c->machine->nnodes, ride = riders_of(c).most;
    return sk_scratch_bytes(2 * m + 1, sk_scratch_bytes(1, q * q * sk_packet_bytes(1, ride)));
}

static int64_t longest_rider(const sk_call *c)
{
    return riders_of(c).most;
}

static void claim(const sk_cost_case *k, sk_cost *c)
{
    sk_claim_off_node(k, c, k->leaders, k->nodes * (k->nodes - 1), SK_UNCLAIMED);
    sk_claim_node(k, c, 2, 0);
}

#define LEADERS(COLL)                                                                              \
    {                                                                                              \
        .name = "leaders", .coll = (COLL),                                                         \
        .about = "short blocks in one message per pair of nodes, with their sizes; several nodes", \
        .fits = fits, .scratch = scratch, .build = build, .claim = claim,                          \
        .straight_above = longest_rider, .rule = {{.when = SK_WHEN_NODES}},                        \
    }

const sk_algo sk_alltoallv_leaders = LEADERS(SK_ALLTOALLV);
const sk_algo sk_alltoallw_leaders = LEADERS(SK_ALLTOALLW);
