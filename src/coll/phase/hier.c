/* hier.c: who leads, the order of the phases, and the phases on a node.
 *
 * Reductions on a node through shared memory: every local rank copies its input to its slot.
 * Short vectors are reduced by the leaders, each its part. Long ones are reduced by all local
 * ranks, each its part, into the common slot, from which the leaders take them. Local ranks are
 * in rank order, so the order of operands is kept if the ranks of a node follow each other. */
#include "coll/phase/hier.h"
#include "coll/phase/reduce.h"

bool sk_hier_fits(const sk_call *c)
{
    return c->machine && c->machine->nnodes > 1 && c->machine->max_per_node > 1;
}

static int size_of(const sk_machine *m, int node)
{
    return m->node_first[node + 1] - m->node_first[node];
}

int sk_hier_nleaders(const sk_call *c)
{
    int k = c->leaders;
    for (int x = 0; x < c->machine->nnodes; x++)
        if (k > size_of(c->machine, x))
            k = size_of(c->machine, x);
    return k < 1 ? 1 : k;
}

int sk_hier_node_size(const sk_hier *l, int node)
{
    return size_of(l->m, node);
}

int sk_hier_leader(const sk_hier *l, int node, int j)
{
    if (l->root_leads && l->m->node[l->c->root] == node)
        return l->m->local_rank[l->c->root];
    return (int)((int64_t)j * size_of(l->m, node) / l->nleaders);
}

int sk_hier_leader_rank(const sk_hier *l, int node, int j)
{
    return l->m->local_ranks[l->m->node_first[node] + sk_hier_leader(l, node, j)];
}

static bool has_root(sk_coll coll)
{
    return coll == SK_BCAST || coll == SK_REDUCE || coll == SK_GATHER || coll == SK_GATHERV ||
           coll == SK_SCATTER || coll == SK_SCATTERV;
}

static bool find_peers(sk_hier *l)
{
    int nnodes = l->m->nnodes, *ranks = sk_arena_get(l->arena, (size_t)nnodes * sizeof *ranks);
    if (!ranks)
        return false;
    for (int x = 0; x < nnodes; x++)
        ranks[x] = sk_hier_leader_rank(l, x, l->leader);
    l->peers = (sk_team){.n = nnodes, .me = l->node, .ranks = ranks};
    return true;
}

bool sk_hier_begin(sk_hier *l, sk_sched *s, const sk_call *c, int leaders, bool epochs)
{
    const sk_machine *m = c->machine;
    *l = (sk_hier){
        .s = s, .c = c, .m = m, .nleaders = leaders, .leader = -1, .arena = sk_arena_new()};
    l->node = m->node[c->rank];
    l->local_rank = m->local_rank[c->rank];
    l->local_ranks =
        (sk_team){.me = l->local_rank, .ranks = sk_machine_local_ranks(m, c->rank, &l->nlocal)};
    l->local_ranks.n = l->nlocal;
    l->root_leads = leaders == 1 && has_root(c->coll);
    l->in_shm = epochs && l->nlocal > 1;
    /* Leaders of one node that send each other messages may do so in different rounds of the phase
     * between nodes. If a node phase shared these rounds, two nodes could wait for each other. */
    l->overlap = epochs || leaders == 1;
    for (int j = 0; j < leaders; j++)
        if (sk_hier_leader(l, l->node, j) == l->local_rank)
            l->leader = j;
    if (l->arena && (l->leader < 0 || find_peers(l)))
        return true;
    sk_sched_fail(s, SK_NOMEM);
    sk_hier_end(l);
    return false;
}

void sk_hier_end(sk_hier *l)
{
    sk_sub_end(&l->inter);
    sk_sub_end(&l->intra);
    sk_arena_free(l->arena);
}

void sk_hier_fence(sk_hier *l)
{
    sk_fence(l->s);
    sk_sub_round(&l->inter, l->s);
}

void sk_hier_run(sk_hier *l, const sk_hier_phases *ph, void *ctx, int chunks)
{
    sk_fence(l->s);
    for (int i = 0; i <= chunks; i++) {
        if (i < chunks && ph->in) {
            if (!l->overlap)
                sk_sub_rest(&l->inter, l->s);
            ph->in(l, ctx, i);
        }
        sk_sub_rest(&l->inter, l->s);
        if (i > 0 && ph->out)
            ph->out(l, ctx, i - 1);
        if (!l->overlap)
            sk_fence(l->s);
        if (i < chunks) {
            ph->inter(l, ctx, i);
            sk_sub_round(&l->inter, l->s);
        }
    }
}

int sk_hier_chunks(int64_t n, int64_t most)
{
    int64_t chunks = most > 0 ? n / most + (n % most > 0) : SK_HIER_CHUNKS;
    return chunks < SK_HIER_CHUNKS ? (int)chunks : SK_HIER_CHUNKS;
}

int64_t sk_hier_chunk_first(int64_t n, int chunks, int i)
{
    return n / chunks * i + (i < n % chunks ? i : n % chunks);
}

/* ---- node phases: data movement ---- */

void sk_hier_node_run(sk_hier *l, const sk_call *call, const sk_team *t, sk_span send, sk_span recv)
{
    sk_sub_start(&l->intra, l->s, call, t, send, recv);
    while (sk_sub_round(&l->intra, l->s))
        sk_hier_fence(l);
}

typedef struct node_spread {
    const sk_parts *x;
    int n, from, to;
} node_spread;

static int owner(const sk_hier *l, const node_spread *p, int j)
{
    return p->from < 0 ? sk_hier_leader(l, l->node, j) : p->from;
}

static void spread_by_epoch(sk_hier *l, const node_spread *p)
{
    int epoch =
        sk_epoch(l->s, sk_parts_range(p->x, 0, 1).len, false); /* the first part is longest */
    bool takes = p->to < 0 || p->to == l->local_rank;
    for (int j = 0; j < p->n; j++)
        if (owner(l, p, j) == l->local_rank) {
            sk_span part = sk_parts_range(p->x, j, j + 1);
            sk_copy(l->s, part, sk_slot(epoch, 0, part.len));
            sk_hier_fence(l);
            sk_post(l->s, epoch);
        }
    for (int j = 0; j < p->n; j++) {
        int from = owner(l, p, j);
        sk_span part = sk_parts_range(p->x, j, j + 1);
        if (takes && from != l->local_rank)
            sk_take(l->s, sk_team_rank(&l->local_ranks, from), sk_slot(epoch, 0, part.len), part);
    }
}

static void spread_by_messages(sk_hier *l, const node_spread *p)
{
    for (int j = 0; j < p->n; j++) {
        int from = owner(l, p, j);
        sk_span part = sk_parts_range(p->x, j, j + 1);
        if (p->to < 0) {
            sk_call call = sk_sub_call(l->c, SK_BCAST, &l->local_ranks);
            call.root = from;
            call.recv = sk_sub_side(l->c, part);
            sk_hier_node_run(l, &call, &l->local_ranks, part, part);
        } else if (from == l->local_rank && from != p->to) {
            sk_send(l->s, part, sk_team_rank(&l->local_ranks, p->to));
        } else if (from != l->local_rank && p->to == l->local_rank) {
            sk_recv(l->s, part, sk_team_rank(&l->local_ranks, from));
        }
    }
}

void sk_hier_spread(sk_hier *l, const sk_parts *x, int from, int to)
{
    node_spread p = {.x = x, .n = from < 0 ? l->nleaders : 1, .from = from, .to = to};
    bool stays = p.n == 1 && owner(l, &p, 0) == to;
    if (l->nlocal == 1 || stays)
        return;
    if (l->in_shm)
        spread_by_epoch(l, &p);
    else
        spread_by_messages(l, &p);
}

void sk_hier_node_gather(sk_hier *l, sk_span mine, sk_span all)
{
    sk_call call = sk_sub_call(l->c, SK_GATHER, &l->local_ranks);
    call.root = sk_hier_leader(l, l->node, 0);
    call.in_place = call.root == l->local_rank;
    call.send = sk_sub_side(l->c, mine);
    call.recv = (sk_side){.count = mine.len};
    sk_hier_node_run(l, &call, &l->local_ranks, mine, all);
}

void sk_hier_node_scatter(sk_hier *l, sk_span all, sk_span mine)
{
    sk_call call = sk_sub_call(l->c, SK_SCATTER, &l->local_ranks);
    call.root = sk_hier_leader(l, l->node, 0);
    call.in_place = call.root == l->local_rank;
    call.send = (sk_side){.count = mine.len};
    call.recv = sk_sub_side(l->c, mine);
    sk_hier_node_run(l, &call, &l->local_ranks, all, mine);
}

/* ---- blocks of ranks, node by node ---- */

sk_span sk_hier_place(sk_sched *s, const sk_blocks *r)
{
    sk_span place = sk_blocks_place(s, r, 0, r->c->nranks);
    return sk_contiguous_place(s, r->c, place);
}

bool sk_hier_node_blocks(sk_hier *l, int64_t len, sk_side *out)
{
    int nnodes = l->m->nnodes, first = sk_hier_node_size(l, 0);
    size_t words = (size_t)nnodes * sizeof(int64_t);
    int64_t *counts = sk_arena_get(l->arena, words), *offs = sk_arena_get(l->arena, words);
    if (!counts || !offs) {
        sk_sched_fail(l->s, SK_NOMEM);
        return true;
    }
    bool even = true;
    for (int x = 0; x < nnodes; x++) {
        counts[x] = sk_hier_node_size(l, x) * len;
        offs[x] = l->m->node_first[x] * len;
        even = even && sk_hier_node_size(l, x) == first;
    }
    *out = even ? (sk_side){.count = first * len} : (sk_side){.counts = counts, .offs = offs};
    return even;
}

/* The scratch of a gather or scatter among `members`. */
static int64_t inner(const sk_call *c, int members, int64_t len)
{
    sk_team t = {.n = members};
    sk_call call = sk_sub_call(c, c->coll, &t);
    call.send = call.recv = (sk_side){.count = len};
    return sk_sub_scratch(&call);
}

static int64_t add(int64_t a, int64_t b)
{
    return a > INT64_MAX - b ? INT64_MAX : a + b;
}

int64_t sk_hier_blocks_scratch(const sk_call *c)
{
    int64_t len = sk_call_bytes(c), most = c->machine->max_per_node;
    int64_t own = add(sk_scratch_bytes(c->nranks, len), sk_scratch_bytes(most, len));
    if (own == INT64_MAX)
        return own;
    return add(own, add(inner(c, (int)most, len), inner(c, c->machine->nnodes, most * len)));
}

/* ---- node phases: reductions ---- */

bool sk_hier_in_order(const sk_call *c)
{
    for (int i = 0; i < c->nranks; i++)
        if (c->machine->local_ranks[i] != i)
            return false;
    return true;
}

bool sk_hier_reduction_fits(const sk_call *c)
{
    return sk_hier_fits(c) && (!c->ordered || sk_hier_in_order(c)) &&
           sk_hier_chunks(sk_call_elems(c), sk_hier_chunk_elems(c)) < SK_HIER_CHUNKS;
}

/* Elements of a type that fit into so many bytes of a slot. */
static int64_t elems_in(const sk_type *t, int64_t bytes)
{
    int64_t step = t->extent < 0 ? -t->extent : t->extent;
    if (step < t->true_extent)
        step = t->true_extent;
    int64_t n = step > 0 ? bytes / step : 0;
    while (n > 0 && sk_slot_bytes(t, n) > bytes)
        n--;
    return n;
}

static int64_t chunk_bytes(const sk_call *c)
{
    return c->slot_bytes < SK_HIER_CHUNK ? c->slot_bytes : SK_HIER_CHUNK;
}

bool sk_hier_reduces_in_shm(const sk_call *c)
{
    return c->builtin && elems_in(&c->types[c->send.type], chunk_bytes(c)) > 0;
}

int64_t sk_hier_chunk_elems(const sk_call *c)
{
    const sk_type *t = &c->types[c->send.type];
    if (sk_hier_reduces_in_shm(c))
        return elems_in(t, chunk_bytes(c));
    int64_t n = t->size > 0 ? SK_HIER_CHUNK / t->size : sk_call_elems(c);
    return n > 0 ? n : 1;
}

sk_call sk_sub_reduction(const sk_call *c, sk_coll coll, const sk_team *t, int64_t n)
{
    sk_call call = sk_sub_call(c, coll, t);
    call.send = call.recv = (sk_side){.count = n, .type = c->send.type};
    return call;
}

int64_t sk_hier_reduction_scratch(const sk_call *c)
{
    int64_t n = sk_call_elems(c), most = sk_hier_chunk_elems(c);
    return sk_vectors_scratch(c, 4, n < most ? n : most); /* two algorithms, two vectors each */
}

static int64_t elems(const sk_call *c, sk_span s)
{
    return s.len / c->types[s.type].size;
}

/* Where `to` is the input itself, the reduction is in place. */
static void reduce_by_messages(sk_hier *l, sk_span in, sk_span to)
{
    const sk_call *c = l->c;
    sk_parts from = sk_parts_even(c, in, l->nleaders, c->types[in.type].size);
    sk_parts result = sk_parts_even(c, to, l->nleaders, c->types[in.type].size);
    for (int j = 0; j < l->nleaders; j++) {
        sk_span part = sk_parts_range(&from, j, j + 1);
        sk_call call = sk_sub_reduction(c, SK_REDUCE, &l->local_ranks, elems(c, part));
        call.root = sk_hier_leader(l, l->node, j);
        call.in_place = j == l->leader && in.buf == to.buf && in.off == to.off;
        sk_hier_node_run(l, &call, &l->local_ranks, part,
                         j == l->leader ? sk_parts_range(&result, j, j + 1) : part);
    }
}

static void reduce_by_all(sk_hier *l, sk_span slot, int64_t n, sk_span to)
{
    const sk_call *c = l->c;
    int64_t size = c->types[slot.type].size;
    int epoch = sk_epoch(l->s, sk_slot_bytes(&c->types[slot.type], n), true);
    sk_span common = sk_slot_typed(c->types, slot.type, epoch, 0, n);
    common.buf = sk_common(epoch, 0, 0).buf;
    sk_parts from = sk_parts_even(c, slot, l->nlocal, size),
             sums = sk_parts_even(c, common, l->nlocal, size);
    sk_fold_local(l->s, 0, l->nlocal, sk_parts_range(&from, l->local_rank, l->local_rank + 1),
                  sk_parts_range(&sums, l->local_rank, l->local_rank + 1));
    sk_hier_fence(l);
    sk_post(l->s, epoch);
    if (l->leader < 0)
        return;
    sk_parts sum = sk_parts_even(c, common, l->nleaders, size),
             mine = sk_parts_even(c, to, l->nleaders, size);
    sk_take(l->s, c->rank, sk_parts_range(&sum, l->leader, l->leader + 1),
            sk_parts_range(&mine, l->leader, l->leader + 1));
}

static void reduce_by_epochs(sk_hier *l, sk_span in, int64_t n, sk_span to)
{
    const sk_call *c = l->c;
    const sk_type *t = &c->types[in.type];
    int epoch = sk_epoch(l->s, sk_slot_bytes(t, n), false);
    sk_span slot = sk_slot_typed(c->types, in.type, epoch, 0, n);
    sk_copy(l->s, in, slot);
    sk_hier_fence(l);
    sk_post(l->s, epoch);
    if (in.len >= SK_HIER_REDUCE_SPLIT && l->nlocal > l->nleaders) {
        reduce_by_all(l, slot, n, to);
    } else if (l->leader >= 0) {
        sk_parts from = sk_parts_even(c, slot, l->nleaders, t->size);
        sk_parts mine = sk_parts_even(c, to, l->nleaders, t->size);
        sk_fold_local(l->s, 0, l->nlocal, sk_parts_range(&from, l->leader, l->leader + 1),
                      sk_parts_range(&mine, l->leader, l->leader + 1));
    }
}

void sk_hier_node_reduce(sk_hier *l, int64_t first, int64_t n, sk_span to)
{
    sk_span in = sk_send_elems(l->c, first, n);
    if (l->nlocal == 1)
        sk_copy(l->s, in, to);
    else if (l->in_shm)
        reduce_by_epochs(l, in, n, to);
    else
        reduce_by_messages(l, in, to);
}

/* ---- claims ---- */

void sk_hier_claim_chunks(const sk_cost_case *k, sk_cost *c, int64_t chunks)
{
    sk_claim_off_node(k, c, k->leaders, k->leaders * chunks * (k->nodes - 1),
                      (k->nodes - 1) * k->n);
    if (k->call->slot_bytes > 0 && chunks > 1)
        c->overlaps = 1;
}

int64_t sk_hier_claim_depths(int64_t members)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < members; i++)
        sum += __builtin_popcountll((unsigned long long)i);
    return sum;
}
