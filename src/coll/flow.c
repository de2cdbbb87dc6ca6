/* flow.c: the flows of the common patterns, and what of them leaves the nodes. */
#include "coll/flow.h"

#include <stdlib.h>

#include "coll/algo.h"

void sk_flow_pass(sk_flow *f, int a, int b, int64_t messages, int64_t bytes)
{
    int64_t x = ((int64_t)a + f->first) % f->n, y = ((int64_t)b + f->first) % f->n;
    if (f->node[x] == f->node[y])
        return;
    f->sum.messages += messages;
    f->sum.bytes += bytes;
}

int64_t sk_flow_blocks(const sk_flow *f, int lo, int n)
{
    if (!f->start)
        return n;
    int64_t end = (int64_t)lo + n;
    if (end <= f->n)
        return f->start[end] - f->start[lo];
    return f->start[f->n] - f->start[lo] + f->start[end - f->n];
}

void sk_flow_ring(sk_flow *f, const sk_call *c)
{
    (void)c;
    for (int i = 0; i < f->n; i++) /* all blocks but the one of the next member */
        sk_flow_pass(f, i, i + 1, f->n - 1, sk_flow_blocks(f, (i + 2) % f->n, f->n - 1));
}

/* The members [first, middle) and [middle, end) exchange their blocks. Members of the left side
 * that have no partner get the right side's blocks from others of the left. */
static void join(sk_flow *f, int first, int middle, int end, int bits)
{
    int right = end - middle;
    int64_t lefts = sk_flow_blocks(f, first, middle - first);
    int64_t rights = sk_flow_blocks(f, middle, right);
    for (int i = 0; i < right; i++)
        sk_flow_pass(f, first + i, middle + i, 2, lefts + rights);
    if (right == middle - first)
        return;
    for (int k = bits; k > 0; k--)
        for (int i = first; i < middle; i++) {
            int reach = (i >> k << k) + right, peer = i ^ (1 << (k - 1));
            if (i < peer && i < reach && peer >= reach)
                sk_flow_pass(f, i, peer, 1, rights);
        }
}

void sk_flow_doubling(sk_flow *f, const sk_call *c)
{
    (void)c;
    for (int bits = 0; bits < 31 && 1 << bits < f->n; bits++) {
        int64_t half = (int64_t)1 << bits;
        for (int64_t first = 0; first + half < f->n; first += 2 * half) {
            int64_t end = first + 2 * half < f->n ? first + 2 * half : f->n;
            join(f, (int)first, (int)(first + half), (int)end, bits);
        }
    }
}

void sk_flow_tree_blocks(sk_flow *f, const sk_call *c)
{
    f->first = c->root;
    for (int i = 1; i < f->n; i++) {
        int below = i & -i, left = f->n - i;
        sk_flow_pass(f, i - below, i, 1, below < left ? below : left);
    }
}

void sk_flow_tree_message(sk_flow *f, const sk_call *c)
{
    f->first = c->root;
    for (int i = 1; i < f->n; i++)
        sk_flow_pass(f, i & (i - 1), i, 1, 1);
}

/* Blocks of different sizes that all ranks know. */
static bool sizes_known(const sk_call *c)
{
    return (c->coll == SK_ALLGATHERV || c->coll == SK_REDUCE_SCATTER) && c->recv.counts;
}

sk_status sk_algo_off_node(const sk_algo *a, const sk_call *c, sk_off_node *out)
{
    size_t n = (size_t)c->nranks;
    int64_t *start = sizes_known(c) ? malloc((n + 1) * sizeof *start) : NULL;
    int *node = malloc(n * sizeof *node);
    sk_status st = SK_NOMEM;
    if (!node || (sizes_known(c) && !start))
        goto out;
    for (int i = 0; i < c->nranks; i++)
        node[i] = c->machine->node[sk_call_rank_of(c, i)];
    if (start)
        start[0] = 0;
    for (int i = 0; start && i < c->nranks; i++)
        start[i + 1] = start[i] + sk_recv_block(c, i).len;
    sk_flow f = {.n = c->nranks, .node = node, .start = start};
    a->flow(&f, c);
    *out = f.sum;
    st = SK_OK;
out:
    free(start);
    free(node);
    return st;
}
