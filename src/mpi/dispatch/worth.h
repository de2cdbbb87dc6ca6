/* worth.h: when it pays to adopt a new communicator, which the host serves until then.
 *
 * To adopt costs an agreement, and page faults for memory that nobody has used before. The ranks cannot
 * measure the host and agree without paying for that, so what the host took so far and what adopting
 * will cost are computed, from the prices of copies and from what is equal on all ranks. A communicator
 * is adopted when its calls so far took the host ten times that cost: then even a program that makes no
 * further call loses no more than a tenth. Where Skein will make up for it soon five times are enough, and
 * where the host does not give away cores that ranks share, the fourth call is.
 *
 * SKEIN_FIND counts calls instead. So does a job on several nodes, where an agreement costs no more than a
 * call, and one whose hosts do not progress Skein's collectives, where each call that the host serves
 * costs a barrier. */
#ifndef SK_WORTH_H
#define SK_WORTH_H

#include "base/attr.h"
#include "mpi/dispatch/args.h"
#include "mpi/dispatch/count.h"
#include "mpi/dispatch/startup.h"

/* Count a call that may block on a new communicator. True: adopt it now. The first reduction that may
 * round is enough: its repetitions are to give the same bits from the first one on. */
bool sk_worth_adopting(sk_comm *c, const sk_args *a, const sk_mpi_call *call);

/* Count a nonblocking call on a new communicator. It must not wait for an agreement; the next call that may does it at once
 * if this one is a reduction that may round: so the same call of each run of a program adopts. */
void sk_worth_count_start(sk_comm *c, const sk_args *a, const sk_mpi_call *call);

/* Calls that the host serves at least. Where calls are counted it serves no others. */
enum { SK_WORTH_CALLS = 3 };

/* A number for the contents of the arrays, for n ranks. */
uint64_t sk_worth_arrays(const sk_args *a, int n);

/* While it does not pay, let some of the next calls pass: see sk_worth_passing. */
void sk_worth_let_pass(sk_comm *c);

/* A blocking call just like the one that was counted last, and it does not pay yet: count it again. */
static inline bool sk_worth_repeated(sk_comm *c, sk_args *a)
{
    sk_young *y = &c->young;
    if ((int)a->coll != y->coll)
        return false;
    sk_args_clear_insignificant(a, c);
    if (a->form != SK_BLOCKING || a->root != y->root || a->sbuf != y->sbuf || a->rbuf != y->rbuf ||
        a->scount != y->scount || a->rcount != y->rcount || a->stype != y->stype ||
        a->rtype != y->rtype || a->op != y->op ||
        (sk_args_has_arrays(a) ? sk_worth_arrays(a, c->nranks) : 0) != y->arrays ||
        y->calls == SK_WORTH_CALLS || y->spent + y->call > y->budget)
        return false;
    y->spent += y->call;
    y->calls++;
    sk_worth_let_pass(c);
    return true;
}

/* Does a reduction never round? The same answer on all ranks. `c` keeps the last such type and operation. */
bool sk_worth_look_exact(sk_comm *c, MPI_Datatype type, MPI_Op op);

static inline bool sk_worth_exact(sk_comm *c, MPI_Datatype type, MPI_Op op)
{
    return (type == c->young.exact_type && op == c->young.exact_op) ||
           sk_worth_look_exact(c, type, op);
}

/* While it does not pay, some of the next calls pass to the host unseen, counted in advance like the last
 * one: where the host takes a tenth of a microsecond even a look at the arguments is felt. Not reductions
 * that round, whose bits must stay the same when Skein serves them. `c`: sk_comm_known. NULL: the call must
 * be seen. */
static SK_INLINED sk_comm *sk_worth_passing(sk_args a, sk_comm *c)
{
    if (a.form != SK_BLOCKING || sk_coll_neighbor(a.coll))
        return NULL;
    if (!c && sk_process_ready()) /* at this rank another communicator has its slot */
        c = sk_comm_find(a.comm);
    if (!c || !c->passing || (sk_coll_reduces(a.coll) && !sk_worth_exact(c, a.stype, a.op)))
        return NULL;
    return c;
}

/* The host has refused the call: perhaps no other rank made it. */
bool sk_worth_refused(int rc);

/* The host has served the call, with this result. */
static inline int sk_worth_passed(sk_comm *c, sk_coll coll, int rc)
{
    sk_count_pass(coll, SK_HOST_EARLY);
    if (rc == MPI_SUCCESS || !sk_worth_refused(rc))
        c->passing--;
    return rc;
}

/* At least what the host takes for a call, in ns, by prices that are the same on all ranks; 0: not known. */
double sk_worth_host_ns(const sk_call *call);

/* Do the ranks share cores, and the host never gives one away? The same answer on all ranks. */
bool sk_worth_host_is_slow(void);

/* The ranks could not adopt it: do not try again in every call. */
void sk_worth_postpone(sk_comm *c);

#endif
