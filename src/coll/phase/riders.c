#include "coll/phase/riders.h"

/* A longer block is worth a message of its own: more than usual, where messages are dearer beside their bytes. */
static int64_t longest_cell(const sk_call *c)
{
    int64_t message = c->machine->net.message;
    return message <= SK_USUAL_MESSAGE_BYTES
               ? SK_INTRA_CELL
               : (int64_t)((double)SK_INTRA_CELL * (double)message / SK_USUAL_MESSAGE_BYTES);
}

/* A cell is an odd number of cache lines: short blocks do not fall on the same few sets of a cache. */
sk_riders sk_riders_of(const sk_call *c, int64_t cells)
{
    int64_t all = c->slot_bytes < SK_INTRA_CELLS ? c->slot_bytes : SK_INTRA_CELLS,
            most = longest_cell(c), cell = all / cells < most ? all / cells : most,
            lines = cell / SK_CACHE_LINE;
    lines -= lines % 2 == 0;
    return (sk_riders){.most = lines > 0 ? lines * SK_CACHE_LINE - SK_LENGTH_BYTES : 0,
                       .cells = cells};
}

static int64_t cell_bytes(const sk_riders *x)
{
    return SK_LENGTH_BYTES + x->most;
}

int64_t sk_riders_slot_bytes(const sk_riders *x)
{
    return x->cells * cell_bytes(x);
}

sk_span sk_riders_slot(const sk_riders *x, int epoch, int64_t cell, int64_t len)
{
    return sk_slot(epoch, cell * cell_bytes(x) + SK_LENGTH_BYTES, len);
}

sk_span sk_riders_common(const sk_riders *x, int epoch, int64_t cell, int64_t len)
{
    return sk_common(epoch, cell * cell_bytes(x) + SK_LENGTH_BYTES, len);
}

void sk_riders_fill(sk_sched *s, const sk_riders *x, sk_span block, int epoch, int64_t cell,
                    int none)
{
    if (sk_riders_take(x, block))
        sk_copy_sized(s, block, sk_riders_common(x, epoch, cell, block.len));
    else
        sk_get_sized(s, none, 0, sk_riders_common(x, epoch, cell, x->most));
}

sk_riders sk_riders_rooted(const sk_call *c)
{
    return sk_riders_of(c, c->machine->max_per_node);
}

int64_t sk_riders_rooted_longest(const sk_call *c)
{
    return sk_riders_rooted(c).most;
}

bool sk_riders_rooted_fits(const sk_call *c)
{
    return sk_call_whole(c) && sk_hier_fits(c) && sk_riders_rooted(c).most > 0;
}

void sk_riders_rooted_claim(const sk_cost_case *k, sk_cost *c)
{
    sk_claim_off_node(k, c, 1, k->nodes - 1, SK_UNCLAIMED);
    sk_claim_node(k, c, 1, 0);
}

static sk_tree flat_tree(const sk_team *t)
{
    sk_tree tree = {.up = {.rank = -1, .lo = t->me, .hi = t->me + 1}};
    if (t->me > 0) {
        tree.up.rank = sk_team_rank(t, 0);
        return tree;
    }
    for (int i = 1; i < t->n; i++)
        tree.kid[tree.nkids++] = (sk_edge){.rank = sk_team_rank(t, i), .lo = i, .hi = i + 1};
    tree.up.hi = t->n;
    return tree;
}

sk_tree sk_riders_tree(const sk_hier *l)
{
    int root = l->m->node[l->c->root], n = l->m->nnodes;
    sk_team leaders = l->peers;
    leaders.first = root;
    leaders.me = (l->node + n - root) % n;
    return n <= SK_TREE_KIDS && sk_linear_cutoff(n, l->m) == 0 ? flat_tree(&leaders)
                                                               : sk_tree_of(&leaders);
}

int sk_riders_first_key(const sk_hier *l, int member)
{
    const sk_machine *m = l->m;
    int root = m->node[l->c->root], p = l->c->nranks;
    if (member == m->nnodes)
        return p;
    return (m->node_first[(root + member) % m->nnodes] + p - m->node_first[root]) % p;
}

int sk_riders_rank(const sk_hier *l, int key)
{
    const sk_machine *m = l->m;
    return m->local_ranks[(m->node_first[m->node[l->c->root]] + key) % l->c->nranks];
}

int sk_riders_packet(sk_hier *l, const sk_riders *x, const sk_edge *above)
{
    int blocks = sk_riders_first_key(l, above->hi) - sk_riders_first_key(l, above->lo);
    return sk_packet(l->s, blocks, blocks * x->most);
}
