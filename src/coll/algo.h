/* algo.h: what an algorithm is: one file and one row in algos.def. Blocking, nonblocking and
 * persistent forms, the choice by size, the tests and `skein info` all come from the table. */
#ifndef SK_ALGO_H
#define SK_ALGO_H

#include "base/settings.h"
#include "coll/copy_time.h"
#include "coll/flow.h"
#include "sched/sched.h"

/* ---- where an algorithm is the choice ----
 * An algorithm has up to two rules. The choice is the first algorithm of the table, in the order of
 * algos.def, of which a rule holds: see select/rules.h. */

/* The kind of call and machine that a rule is for. */
typedef enum sk_when {
    SK_WHEN_NEVER, /* no rule: chosen only if the user asks for it, or if no other can */
    SK_WHEN_ANY,
    SK_WHEN_POWER_OF_TWO, /* the number of ranks is a power of two */
    SK_WHEN_EVEN,         /* the number of ranks is even */
    SK_WHEN_COMMUTES,     /* the operation commutes */
    SK_WHEN_ORDERED,      /* the operation does not commute */
    SK_WHEN_SUB,          /* the call is a part of another one: phase/sub.h */
    SK_WHEN_ONE_NODE,     /* all ranks share the memory of one node */
    SK_WHEN_NODES,        /* several nodes, at least one of them with several ranks */
} sk_when;

/* What is compared with a bound in bytes. */
typedef enum sk_rule_measure {
    SK_MEASURE_CALL,   /* sk_call_bytes, see colls.def */
    SK_MEASURE_BLOCKS, /* times the number of ranks: all blocks of a rank */
    SK_MEASURE_MATRIX, /* times its square: all blocks of all ranks */
} sk_rule_measure;

/* A rule holds when all its conditions hold. Bounds are settings; SK_SET_ENABLE, which is 0, stands
 * for no bound. */
typedef struct sk_rule {
    sk_when when;
    sk_setting from;  /* this many bytes or more */
    sk_setting below; /* fewer bytes than this; see bound_below in select/rules.c */
    int64_t grows;    /* that bound grows at most so many times; 0: as much as messages cost */
    sk_rule_measure measure;
    /* The bound `from` where its setting is 0; NULL: 0. The machine may be NULL. */
    int64_t (*formula)(int nranks, const sk_machine *m);
    /* Single copy: where `from` is 0, the bound `otherwise`, in bytes of the call; where that is 0,
     * too, the faster way. */
    sk_ways (*ways)(const sk_call *c);
    sk_setting otherwise;
    sk_setting ranks; /* this many ranks or more */
    sk_setting nodes; /* this many nodes or fewer */
} sk_rule;

enum { SK_RULES_MAX = 2 };

struct sk_cost_case;
struct sk_cost;

typedef struct sk_algo {
    const char *name; /* unique within its collective; what SKEIN_<COLLECTIVE> takes */
    sk_coll coll;
    const char *about; /* one line for `skein info`: the idea, and when it is good */

    /* Both read only what is equal on all ranks: coll, nranks, root, ordered, sk_call_bytes, and
     * the counts where the standard makes them equal. NULL means: always, and no scratch. */
    bool (*fits)(const sk_call *c);
    int64_t (*scratch)(const sk_call *c); /* upper bound over all ranks, in bytes */

    void (*build)(sk_sched *s, const sk_call *c);

    /* The mapping of ranks to nodes that it is made for, and what it sends to whom: both or
     * neither. An algorithm that has them can be built for a renamed call. */
    sk_prefers prefers;
    void (*flow)(sk_flow *f, const sk_call *c);

    sk_rule rule[SK_RULES_MAX]; /* the first one that holds counts */

    /* Each block goes from where it is to where it belongs in one message: every MPI has such an algorithm. */
    bool straight;
    /* The same for blocks longer than that; NULL: for none. It reads what is equal on all ranks. */
    int64_t (*straight_above)(const sk_call *c);

    /* scan, exscan: prefixes go from each rank to the next one, so calls back to back overlap, as they do in every MPI. */
    bool chain;

    /* What it costs, for the tests: see claim.h. Not for neighbourhood collectives. */
    void (*claim)(const struct sk_cost_case *k, struct sk_cost *c);
} sk_algo;

/* The table (select/algos.c), in the order of algos.def, ended by NULL. Not for use in coll, which
 * is below it. */
const sk_algo *const *sk_algos(void);
int sk_algo_index(const sk_algo *a); /* its index in the table */
/* By its name, or by a name that it had before; NULL: there is none. */
const sk_algo *sk_algo_find(sk_coll coll, const char *name);

/* Build and freeze. In the schedule of a renamed call, peers are ranks. *out is set on success
 * only. */
sk_status sk_algo_build(const sk_algo *a, const sk_call *c, sk_sched **out);

/* What leaves the nodes of c->machine, all ranks together; the call may be renamed. For algorithms
 * with a flow, in its units. *out is set on success only. */
sk_status sk_algo_off_node(const sk_algo *a, const sk_call *c, sk_off_node *out);

#endif
