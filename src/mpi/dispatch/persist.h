/* persist.h: a persistent collective that Skein, its other algorithm and the host serve by turns, and that is compared
 * (select/guard.h). It has a guard of its own, which counts its starts. The host serves by its own persistent request of the
 * same call. Making that is ordered among the calls on the communicator, as starts are not, so it is made in the call that
 * makes Skein's. A host whose persistent requests are wrong is not compared.
 *
 * How the ranks agree. A start must not wait, but it ends only when all ranks have started it, and the next one comes after
 * that. So a start with a certain number carries a small allreduce, with a tag of the request's own, and is over when that is,
 * too: with the next start all ranks go on from the same result. Which starts these are, and who serves a start, follows
 * from earlier results and from the number of the start, so all ranks do the same in whatever order they start their
 * requests. Nobody waits for a rank that has not started the same request as often, and a rank that has goes on with the
 * allreduce in whatever call it waits, as with the rounds of any collective.
 *
 * Times are those of the calls that start, wait and test between two starts (watch.h), in which other requests may be under
 * way. So of all in a process one is compared at a time. Ranks may come to their requests in different orders, so they agree
 * on the begin: if one of them compares another request, they try again later. One whose starts do not come any more loses
 * its place to another that has asked for it again and again; if it does start again, the ranks give up its comparison.
 *
 * Open MPI frees a request that ended in error, which the other ranks do not see. They hear of it when they agree the next
 * time, and from then on Skein serves. Until then starts that would be the host's are refused at that rank. */
#ifndef SK_PERSIST_H
#define SK_PERSIST_H

#include "mpi/dispatch/guarded.h"
#include "mpi/transport/own_coll.h"

typedef enum sk_persist_question {
    SK_PERSIST_NOTHING,
    SK_PERSIST_BEGIN,   /* may a comparison begin? */
    SK_PERSIST_MEET,    /* nobody is to pay for what others have left undone before */
    SK_PERSIST_COMPARE, /* what did it take? */
} sk_persist_question;

/* What the ranks say in a comparison; the largest counts. */
enum { SK_PERSIST_LOST = SK_GUARD_VALUES, SK_PERSIST_GONE, SK_PERSIST_VALUES };

typedef struct sk_persist {
    sk_guard guard;
    MPI_Request
        host; /* MPI_REQUEST_NULL: the host has refused to make it, or freed it after an error */
    MPI_Request holder; /* keeps the communicator, if the user frees it: see sk_persist_add_host */
    int tag;            /* of the messages by which the ranks agree */
    sk_coll coll;
    int64_t bytes; /* the size in the report */
    bool tuned;    /* the tuning file had the host serve first */
    sk_learn_call learn;

    sk_persist_question asked;    /* beside the start under way, or the last one */
    bool agreed;                  /* and that is over; under the process lock until the start is */
    bool may_begin;               /* the ranks have agreed to compare */
    bool timed;                   /* the last start was */
    int64_t before;               /* sk_proc.waited then */
    int64_t retry;                /* starts until the ranks try again to begin */
    int64_t meeting_ns, clock_ns; /* what agreeing takes, and reading the clock; 0: not known */
    bool lost;                    /* since the comparison began another request was compared */
    sk_token_claim claim;         /* to be compared; under the process lock */
    int64_t values[SK_PERSIST_VALUES];
    sk_own_coll agreement;
} sk_persist;

/* NULL: out of memory. */
sk_persist *sk_persist_new(const sk_guard *guard, sk_coll coll, int64_t bytes, int tag);
void sk_persist_free(sk_persist *t);

/* The host has made its request. */
void sk_persist_add_host(sk_persist *t, MPI_Request host, MPI_Comm comm);

/* Who serves the next start? After it `quiet` ones are Skein's, about which nobody asks. `watched`: its time counts. If `asked`
 * says so, the ranks agree beside it: it goes on with sk_persist_poll until that is true, with the process lock held. */
typedef struct sk_persist_start {
    sk_guard_side side;
    bool watched;
    int64_t quiet;
} sk_persist_start;
sk_persist_start sk_persist_next(sk_persist *t, const sk_comm *c);
bool sk_persist_poll(sk_persist *t);

/* A start that the host serves is over, since that time (sk_clock): for the report. */
void sk_persist_count(const sk_persist *t, double since);

#endif
