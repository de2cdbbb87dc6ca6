/* phase_leaders.h: collectives on several nodes in three phases: the ranks of a node among
 * themselves, then one leader per node (or several, each with a part of the data) with those of the
 * other nodes, then again the ranks of a node.
 *
 * Node phases go through epochs where local ranks share memory, otherwise by messages; whoever uses them
 * does not see which. The leaders' phase is a whole algorithm among the leaders (phase_inner.h). */
#ifndef SK_PHASE_LEADERS_H
#define SK_PHASE_LEADERS_H

#include "base/arena.h"
#include "coll/claim.h"
#include "coll/phase/sub.h"

/* Long messages go in chunks of about this many bytes: one is between the nodes while the next one
 * is collected and the last one handed out. */
enum { SK_HIER_CHUNK = 128 * 1024, SK_HIER_CHUNKS = 1 << 16 };

typedef struct sk_hier {
    sk_sched *s;
    const sk_call *c;
    const sk_machine *m;
    int node, q, me;     /* my node, how many ranks it has, my number among them */
    int k;               /* leaders of every node */
    int mine;            /* which of them I am, or -1 */
    bool root_leads;     /* the root is the leader of its node */
    bool epochs;         /* on my node; never when I am alone there */
    bool beside;         /* may a node phase stand in the rounds of the leaders' phase? */
    sk_team local_ranks; /* of my node */
    sk_team peers;       /* leaders with my number, one per node; nobody if I am none */
    sk_sub net;          /* the leaders' phase under way */
    sk_sub intra;        /* a node phase made of messages */
    sk_arena *arena;     /* for the time of building */
} sk_hier;

/* ---- who leads ---- */

/* Is there something to gain: several nodes, several ranks on some? `in_order`: ranks of a node
 * must follow each other, because the order of operands counts. */
bool sk_hier_fits(const sk_call *c);
bool sk_hier_in_order(const sk_call *c);

/* As many leaders as were asked for and as the smallest node has ranks. */
int sk_hier_nleaders(const sk_call *c);

/* False, and the schedule is marked: out of memory. `epochs`: local ranks share memory. */
bool sk_hier_begin(sk_hier *l, sk_sched *s, const sk_call *c, int leaders, bool epochs);
void sk_hier_end(sk_hier *l);

/* Leader j of a node, by its number among its local ranks. It is the first of group j, when the local ranks
 * are dealt to the leaders in order, unless the root leads. */
int sk_hier_leader(const sk_hier *l, int node, int j);
int sk_hier_leader_rank(const sk_hier *l, int node, int j);
int sk_hier_node_size(const sk_hier *l, int node); /* ranks of a node */

/* ---- the three phases ----
 * in: the node's data to its leaders; net: start the leaders' phase in l->net, on the leaders; out:
 * the outcome to the local ranks. All three are called on all ranks, for each chunk, and may be NULL but
 * for net. `in` of the next chunk stands beside `net` of this one: its fences are sk_hier_fence. It
 * starts in the round in which `net` starts and `out` of the chunk before ends; one that would so
 * use epochs of three chunks at once fences first. */
typedef struct sk_hier_phases {
    void (*in)(sk_hier *l, void *ctx, int chunk);
    void (*net)(sk_hier *l, void *ctx, int chunk);
    void (*out)(sk_hier *l, void *ctx, int chunk);
} sk_hier_phases;

void sk_hier_run(sk_hier *l, const sk_hier_phases *ph, void *ctx, int chunks);

/* A fence, after which the leaders' phase under way goes on beside what follows. */
void sk_hier_fence(sk_hier *l);

/* The chunks of n things, at most `most` in each, as even as can be. */
int sk_hier_chunks(int64_t n, int64_t most);
int64_t sk_hier_chunk_first(int64_t n, int chunks, int i);

/* ---- node phases ---- */

/* Part j of x stands at leader j, or at local rank `from`, which then has the only part. After: at all
 * local ranks, or at local rank `to`. */
enum { SK_LEADERS = -1, SK_LOCAL_RANKS = -1 };
void sk_hier_spread(sk_hier *l, const sk_parts *x, int from, int to);

/* Run an inner call among some local ranks, beside the leaders' phase. */
void sk_hier_node_run(sk_hier *l, const sk_call *call, const sk_team *t, sk_span send,
                      sk_span recv);

/* Elements [first, first + n) of all local ranks' inputs are combined, part j of k ending in part j of
 * `to` at leader j. */
void sk_hier_node_reduce(sk_hier *l, int64_t first, int64_t n, sk_span to);

/* A packed block of every local rank, all of the same length, to the leader, who has room for them in
 * `all`, and back. At the leader its own block stands in its place already. By messages only. */
void sk_hier_node_gather(sk_hier *l, sk_span mine, sk_span all);
void sk_hier_node_scatter(sk_hier *l, sk_span all, sk_span mine);

/* ---- a block for each rank, node by node ---- */

/* One span for the blocks of a row that may be cut anywhere: where they lie, or scratch. */
sk_span sk_hier_place(sk_sched *s, const sk_blocks *r);

/* The blocks of a node as one, in a side of an inner call, when each rank has `len` bytes. True:
 * all nodes are alike, and so are these blocks. */
bool sk_hier_node_blocks(sk_hier *l, int64_t len, sk_side *out);

/* gather and scatter: upper bound of the scratch. */
int64_t sk_hier_blocks_scratch(const sk_call *c);

/* ---- reductions in chunks ---- */

/* May local ranks combine in epochs? And how many elements have room in a chunk? */
bool sk_hier_reduces_in_epochs(const sk_call *c);
int64_t sk_hier_chunk_elems(const sk_call *c);
bool sk_hier_reduction_fits(const sk_call *c);
int64_t sk_hier_reduction_scratch(const sk_call *c); /* of the inner algorithms */

/* An inner reduction of n elements. */
sk_call sk_sub_reduction(const sk_call *c, sk_coll coll, const sk_team *t, int64_t n);

/* ---- claims ---- */

/* A vector that goes in chunks along a tree of leaders. */
void sk_hier_claim_chunks(const sk_cost_case *k, sk_cost *c, int64_t chunks);

/* How many edges the members of a binomial tree are away from its root, all together. */
int64_t sk_hier_claim_depths(int64_t members);

#endif
