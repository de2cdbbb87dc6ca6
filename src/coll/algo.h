/* algo.h: what an algorithm is. One file and one row in algos.def; everything else (blocking,
 * nonblocking and persistent forms, tests, `skein info`) comes from the table. */
#ifndef SK_ALGO_H
#define SK_ALGO_H

#include "coll/flow.h"
#include "sched/sched.h"

typedef struct sk_algo {
    const char *name; /* unique within its collective; what SKEIN_<COLLECTIVE> takes */
    sk_coll coll;
    const char *about; /* one line for `skein info`: the idea, and when it is good */

    /* Both may read only what is equal on all ranks: coll, nranks, root, ordered, sk_call_bytes,
     * and the counts where the standard makes them equal. NULL means: always, and no scratch. */
    bool (*fits)(const sk_call *c);
    int64_t (*scratch)(const sk_call *c); /* upper bound over all ranks, in bytes */

    void (*build)(sk_sched *s, const sk_call *c);

    /* The mapping of ranks to nodes that it is made for, and what it sends to whom: both or
     * neither. With them it can be built for a renamed call. */
    sk_prefers prefers;
    void (*flow)(sk_flow *f, const sk_call *c);
} sk_algo;

/* The table, in the order of algos.def, ended by NULL. */
const sk_algo *const *sk_algos(void);
int sk_algo_index(const sk_algo *a);                         /* its place in the table */
const sk_algo *sk_algo_find(sk_coll coll, const char *name); /* NULL when there is none */

/* Build and freeze; the peers of a renamed call's schedule are ranks. *out is set on success only.
 */
sk_status sk_algo_build(const sk_algo *a, const sk_call *c, sk_sched **out);

/* What leaves the nodes of c->machine, all ranks together; the call may be renamed. For algorithms
 * with a flow, in its units. *out is set on success only. */
sk_status sk_algo_off_node(const sk_algo *a, const sk_call *c, sk_off_node *out);

#endif
