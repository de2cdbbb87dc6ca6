/* guarded.h: calls that are served by turns by Skein, the host and Skein's other algorithm, and compared
 * (select/guard.h): the cells of a communicator.
 *
 * Nonblocking calls must not wait for other ranks, so their comparison goes on at the next blocking call on the
 * communicator. One cell at a time is compared, by what its calls and those that wait take: see watch.h.
 *
 * Persistent calls have a guard each: see persist.h.
 *
 * A call that the host serves costs what it would cost without Skein. Nothing is tried where the bits of a
 * result could change: reductions that may round. SKEIN_GUARD=off switches it off. */
#ifndef SK_GUARDED_H
#define SK_GUARDED_H

#include "mpi/dispatch/learn.h"
#include "select/size_class.h"

typedef struct sk_guarded {
    sk_guard guard;
    int64_t since;  /* ns: when the timed call began */
    int64_t before; /* nonblocking: sk_proc.waited then */
    bool open;      /* and that has not been told to the guard */
    int waiting; /* calls of others, since its last, that cannot be compared because this one is */
    int64_t passed; /* calls that could not begin because another cell is compared */
    int64_t bytes;  /* the size of its calls in the report */
    sk_learn_call learn;
    sk_form form;
    sk_coll coll;
    int size_class;
    sk_size_class *
        sizes; /* of calls whose sizes not all ranks know, on several nodes: `size_class` is agreed; else NULL */
    int64_t version;         /* of the neighbourhood */
    bool rounds;             /* reductions that may: others may go to the host */
    bool host_allowed;       /* else only Skein's algorithms are compared */
    bool tuned;              /* the tuning file had the host serve first */
    bool fixed;              /* and nothing is compared */
    int64_t nap;             /* so many quiet calls, then the ranks meet: see meeting.h */
    int64_t rest;            /* quiet calls after that; 0: they do not */
    struct sk_guarded *next; /* of the communicator */
} sk_guarded;

/* The cell of a call; NULL: it is not compared, and Skein serves it. The same answer on all ranks. Not for
 * blocking neighbourhood collectives that are a message per edge, for which the host is as good. Neighbourhood
 * collectives that a rank keeps until a set-up is over must not be counted, so nonblocking ones are counted only where all
 * ranks know that there is none (sk_topo_settled). Calls whose sizes not all ranks know are counted here, unless they
 * have been, by sk_guarded_stays, and the ranks may wait for each other to agree on their class. */
sk_guarded *sk_guarded_find(sk_comm *c, const sk_args *a, const sk_call *call, bool counted);

/* May Skein's other algorithm serve this call of the cell? Not a reduction whose bits it could change: whether a cell has
 * another algorithm is decided by one of its calls, which may have another type or operation. The same answer on all ranks. */
bool sk_guarded_other_allowed(const sk_args *a, const sk_mpi_call *call);

/* The guard of a persistent request of its own: see persist.h. False: nothing is compared. The host's request must keep the
 * communicator to be. `tuned`: the tuning file has the host serve first. The same answer on all ranks. */
bool sk_guarded_persistent(sk_comm *c, const sk_args *a, sk_guard *out, bool *tuned);

/* A comparison has ended: for the report and SKEIN_LEARN. */
void sk_guarded_ended(const sk_guard *g, const sk_comm *c, sk_coll coll, int64_t bytes,
                      const sk_learn_call *learn);

/* On several nodes hosts pass the prefixes of scan and exscan along a chain, where calls back to back overlap. Where Skein's
 * algorithm is none, but leaders, it is faster if all ranks have cores of their own, which a rank does not know of other
 * hosts. So there the host serves nonblocking calls, and blocking ones until it is seen that Skein is faster. The same
 * answer on all ranks. */
bool sk_guarded_host_is_safe(sk_comm *c, const sk_args *a);

/* A nonblocking or persistent call between nodes that is a message for each block, which the host sends with less
 * overhead. Not persistent ones of a host whose own are wrong. The same answer on all ranks. */
bool sk_guarded_host_does_the_same(const sk_args *a, const sk_plan *plan);

/* sk_guard_ask. `bytes` is the size of the call in the report, which learns of a comparison that has ended. */
sk_guard_verdict sk_guarded_ask(sk_guarded *g, sk_comm *c, const sk_args *a, int64_t bytes);

/* A blocking call, and nonblocking ones are compared: that goes on if it waits for the ranks to agree, as this does. The
 * cell for which it has ended; NULL: none. The blocking call is `on` a communicator with the same ranks. */
sk_guarded *sk_guarded_agree(sk_comm *c, sk_comm *on);

/* The quiet calls of a blocking cell are divided where ranks meet. Is a part over? The same answer on all ranks. Then they
 * meet; sooner again if that was `good` for something. The call is counted. */
void sk_guarded_nap(sk_guarded *g, const sk_comm *c);
static inline bool sk_guarded_naps(const sk_guarded *g)
{
    return g->rest > 0 && g->guard.quiet <= 0;
}
sk_guard_verdict sk_guarded_wake(sk_guarded *g, const sk_comm *c, bool good);

/* A timed call begins, or began then, and is over. */
void sk_guarded_begin(sk_guarded *g, int64_t since);
void sk_guarded_over(sk_guarded *g);

/* Such a call, of this size here: is it still one of the cell? Then it is counted. */
static inline bool sk_guarded_stays(const sk_guarded *g, int64_t size)
{
    return !g || !g->sizes ||
           (g->size_class == g->sizes->agreed && sk_size_class_count(g->sizes, size));
}

/* sk_guard_quiet; without a cell always true. */
static inline bool sk_guarded_quiet(sk_guarded *g)
{
    return !g || sk_guard_quiet(&g->guard);
}

/* The call was not quiet after all. */
static inline void sk_guarded_uncount(sk_guarded *g)
{
    if (g)
        g->guard.quiet++;
}

/* sk_guard_passes */
static inline bool sk_guarded_passes(sk_guarded *g)
{
    return g && sk_guard_passes(&g->guard);
}

#endif
