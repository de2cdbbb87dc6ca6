/* hier.h: builders for hierarchical collectives on several nodes, in three phases:
 *
 *   in      the ranks of a node among themselves, towards their leaders
 *   inter   the leaders of the nodes: one per node, or several, each with a part of the data
 *   out     the ranks of a node again, from their leaders
 *
 * The phases on a node go through shared memory where local ranks have it, otherwise by messages.
 * The phase between nodes is a whole algorithm among the leaders (sub.h). */
#ifndef SK_PHASE_HIER_H
#define SK_PHASE_HIER_H

#include "base/arena.h"
#include "coll/claim.h"
#include "coll/phase/sub.h"
#include "coll/tuning.h"

typedef struct sk_hier {
    sk_sched *s;
    const sk_call *c;
    const sk_machine *m;
    int node, nlocal, local_rank; /* my node, its ranks, my index among them */
    int nleaders;                 /* of every node */
    int leader;                   /* my index among the leaders of my node; -1: I am none */
    bool root_leads;              /* the root is the leader of its node */
    bool in_shm;                  /* node phases use epochs; false when I am alone on my node */
    bool overlap;                 /* a node phase may share rounds with the phase between nodes */
    sk_team local_ranks;          /* of my node */
    sk_team peers;                /* leaders with my index, one per node; empty if I am none */
    sk_sub inter;                 /* the phase between nodes, under way */
    sk_sub intra;                 /* a node phase made of messages */
    sk_arena *arena;              /* for the time of building */
} sk_hier;

/* ---- who leads ---- */

/* There are several nodes, and at least one has several ranks. */
bool sk_hier_fits(const sk_call *c);

/* Do the ranks of each node follow each other? Operations that do not commute need it. */
bool sk_hier_in_order(const sk_call *c);

/* Leaders per node: as many as the user asks for, at most as many as the smallest node has ranks.
 */
int sk_hier_nleaders(const sk_call *c);

/* `in_shm`: local ranks share memory. Returns false when out of memory; the schedule is marked. */
bool sk_hier_begin(sk_hier *l, sk_sched *s, const sk_call *c, int nleaders, bool in_shm);
void sk_hier_end(sk_hier *l);

/* Leader j of a node, as index among its local ranks and as rank. The local ranks are divided
 * among the leaders in order, and the first of group j leads it. If the root leads, it is the only
 * leader. */
int sk_hier_leader(const sk_hier *l, int node, int j);
int sk_hier_leader_rank(const sk_hier *l, int node, int j);
int sk_hier_node_size(const sk_hier *l, int node); /* ranks of a node */

/* ---- the three phases ----
 * All three are called on all ranks, for each chunk. `inter` starts the phase between nodes in
 * l->inter, on the leaders. `in` and `out` may be NULL.
 *
 * `in` of the next chunk shares the rounds of `inter` of this one, so it must fence with
 * sk_hier_fence. It starts in the round in which `inter` starts and `out` of the chunk before ends.
 * If it would thereby use the epochs of three chunks at once, it must fence first. */
typedef struct sk_hier_phases {
    void (*in)(sk_hier *l, void *ctx, int chunk);
    void (*inter)(sk_hier *l, void *ctx, int chunk);
    void (*out)(sk_hier *l, void *ctx, int chunk);
} sk_hier_phases;

void sk_hier_run(sk_hier *l, const sk_hier_phases *ph, void *ctx, int chunks);

/* A fence, after which the next round of the phase between nodes starts, too. */
void sk_hier_fence(sk_hier *l);

/* The number of chunks of n items, at most `most` in each, as even as possible; where chunk i
 * starts. */
int sk_hier_chunks(int64_t n, int64_t most);
int64_t sk_hier_chunk_first(int64_t n, int chunks, int i);

/* ---- node phases ---- */

/* Before: part j of x is at leader j, or the only part is at local rank `from`. After: all parts
 * are at all local ranks, or at local rank `to`. */
enum { SK_LEADERS = -1, SK_LOCAL_RANKS = -1 };
void sk_hier_spread(sk_hier *l, const sk_parts *x, int from, int to);

/* Run a call among some local ranks, beside the phase between nodes. */
void sk_hier_node_run(sk_hier *l, const sk_call *call, const sk_team *t, sk_span send,
                      sk_span recv);

/* Reduce elements [first, first + n) of the inputs of all local ranks. Part j of the result ends in
 * part j of `to` at leader j. */
void sk_hier_node_reduce(sk_hier *l, int64_t first, int64_t n, sk_span to);

/* A packed block of every local rank to the leader, into `all`, and back. The blocks have one
 * length; the leader's own is in place already. By messages only. */
void sk_hier_node_gather(sk_hier *l, sk_span mine, sk_span all);
void sk_hier_node_scatter(sk_hier *l, sk_span all, sk_span mine);

/* ---- a block for each rank, node by node ---- */

/* One span for these blocks that may be cut anywhere: where they lie, or scratch. */
sk_span sk_hier_place(sk_sched *s, const sk_blocks *r);

/* The blocks of each node as one block, in a side of a call among leaders, when each rank has `len`
 * bytes. True: all nodes have as many ranks, so all these blocks have one length. */
bool sk_hier_node_blocks(sk_hier *l, int64_t len, sk_side *out);

/* gather and scatter: upper bound of the scratch. */
int64_t sk_hier_blocks_scratch(const sk_call *c);

/* ---- reductions in chunks ---- */

bool sk_hier_reduces_in_shm(const sk_call *c);
int64_t sk_hier_chunk_elems(const sk_call *c); /* elements of a chunk */
bool sk_hier_reduction_fits(const sk_call *c);
int64_t sk_hier_reduction_scratch(const sk_call *c); /* of the algorithms inside */

/* A reduction of n elements among a team. */
sk_call sk_sub_reduction(const sk_call *c, sk_coll coll, const sk_team *t, int64_t n);

/* ---- claims ---- */

/* A vector that goes in chunks along a tree of leaders. */
void sk_hier_claim_chunks(const sk_cost_case *k, sk_cost *c, int64_t chunks);

/* How many edges the members of a binomial tree are away from its root, all together. */
int64_t sk_hier_claim_depths(int64_t members);

#endif
