/* waiting.h: how a rank waits. The policy and the loops are here, nowhere else.
 *
 *   mode    when                                      what a waiting rank does
 *   ------  ----------------------------------------  ------------------------------------------
 *   spin    the rank seems to have a core of its own  polls for a moment, then calls sched_yield, then
 *                                                     sleeps for short times or until it is woken
 *   yield   ranks outnumber cores, and sched_yield    calls sched_yield; after a long wait sleeps
 *           switches to another rank                  on a futex
 *   mixed   ranks outnumber cores, each rank is in a  as yield, but sleeps at once while the rank
 *           session of its own, few ranks per core    it waits for has much to copy
 *   sleep   the same, many ranks per core             sleeps on a futex until it is woken
 *
 * Hydra puts each rank in its own session. With autogroups the kernel then schedules sessions first,
 * so sched_yield may run any other process before the rank that is waited for.
 *
 * There are two loops:
 *
 * 1. sk_flag_wait: wait for a flag in shared memory. A rank that waits long calls `idle` from time
 *    to time, so that other operations of this process make progress.
 *
 * 2. SK_WAIT_UNTIL(mode, test, progress): wait for anything else: a request of the host MPI, a
 *    completion queue, a wire that cannot block. It tests, makes progress, gives the core away as
 *    the mode says, and tests again:
 *
 *        int done = 0, rc;
 *        SK_WAIT_UNTIL(mode, (rc = PMPI_Test(&req, &done, &status)) != MPI_SUCCESS || done,
 *                      sk_progress());
 *
 *    `test` is an expression; a test that needs statements is a function of its own. `progress` is
 *    an expression too, (void)0 for none. `test` runs before `progress`: a caller that must make
 *    progress even if the first test succeeds does so before the loop. */
#ifndef SK_WAITING_H
#define SK_WAITING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"

/* ---- policy ---- */

/* Ordered: a larger mode gives the core away earlier. */
typedef enum sk_wait_mode {
    SK_WAIT_SPIN,
    SK_WAIT_YIELD,
    SK_WAIT_MIXED,
    SK_WAIT_SLEEP,
} sk_wait_mode;

/* The mode for a value of SKEIN_WAIT. "auto": spin if the launcher started no more ranks on this
 * node than it has cores, else as sk_wait_mode_shared says. */
sk_wait_mode sk_wait_mode_of(const char *setting);

/* The mode of a rank that shares its core with other ranks. */
sk_wait_mode sk_wait_mode_shared(void);

/* ---- waiting for anything ---- */

/* Give the core away for a moment, sched_yield or a nanosleep, as the mode asks. */
void sk_wait_give_way(sk_wait_mode mode);

/* A wait goes on: spin, yield or sleep for a moment, as the mode and its length ask. `so_far` is the number
 * of polls while they are few, then the time when they were no longer; the new one is returned. */
int64_t sk_wait_longer(sk_wait_mode mode, int64_t so_far);

enum { SK_WAIT_FREE_POLLS = 16 }; /* before the clock is read */

static inline int64_t sk_wait_relax(sk_wait_mode mode, int64_t so_far)
{
    return mode == SK_WAIT_SPIN && so_far < SK_WAIT_FREE_POLLS ? so_far + 1
                                                               : sk_wait_longer(mode, so_far);
}

#define SK_WAIT_UNTIL(mode, test, progress)                                                        \
    for (int64_t waited_ = 0; !(test); waited_ = sk_wait_relax(mode, waited_))                     \
    (progress)

/* The same for a test that itself waits: it seldom fails. Keeps no count, for the path of each call. */
#define SK_WAIT_REPEAT(test)                                                                       \
    while (!(test))                                                                                \
    sk_wait_give_way(SK_WAIT_YIELD)

/* ---- waiting for a flag in shared memory ---- */

/* What the waits of a process have taught it about its core: ns to take off the times that a rank in
 * spin mode spins and yields. */
typedef struct sk_wait_pace {
    _Atomic int64_t spin_less, patience_less;
} sk_wait_pace;

typedef struct sk_waiting {
    sk_wait_mode mode;
    sk_wait_pace *pace; /* of spin mode; NULL: it learns nothing */
    void (*idle)(void); /* progress of everything else; may be NULL */
    long nap_ns;        /* a sleeping rank wakes up this often to call `idle`; 0: a default */
} sk_waiting;

/* A counter that only grows, the number of ranks that sleep on it, and a tag of its last value.
 *
 * A writer that sees no sleeper passes no fence, so it may overlook one that has just come. Sleeps are
 * short for that. Where cores are shared ranks sleep often: there the first of them sets FENCED, and
 * from then on the writer fences and overlooks none. */
#define SK_FLAG_FENCED (UINT32_C(1) << 31) /* in sleepers */
typedef struct sk_flag {
    _Atomic uint64_t value;
    _Atomic uint32_t sleepers, signature;
} sk_flag;

/* True: the flag has reached the value, and everything its writer stored before is visible here.
 *
 * A relaxed load and a fence, not an acquire load: on some machines an acquire load waits until the
 * stores of this core are visible to all others. That takes longer than the rest of a small
 * collective. */
static inline bool sk_flag_reached(sk_flag *f, uint64_t value)
{
#ifdef __SANITIZE_THREAD__ /* it does not model fences */
    return atomic_load_explicit(&f->value, memory_order_acquire) >= value;
#else
    if (atomic_load_explicit(&f->value, memory_order_relaxed) < value)
        return false;
    atomic_thread_fence(memory_order_acquire);
    return true;
#endif
}

SK_HOT void sk_flag_wait(sk_flag *f, uint64_t value, const sk_waiting *w);

/* The same when the rank that sets the flag has other ranks to copy for first: leave it the core. */
void sk_flag_wait_busy(sk_flag *f, uint64_t value, const sk_waiting *w);

/* The same when the wait is likely to be long. The rank does not register as a sleeper, so the
 * writer makes no system call for each value on the way. It looks from time to time instead. */
void sk_flag_wait_long(sk_flag *f, uint64_t value, const sk_waiting *w);

/* Wake the ranks that sleep on a flag whose value has just grown. */
SK_HOT void sk_flag_wake(sk_flag *f);

/* Wake them if there are any. */
static inline void sk_flag_notify(sk_flag *f)
{
    if (SK_UNLIKELY(atomic_load_explicit(&f->sleepers, memory_order_relaxed)))
        sk_flag_wake(f);
}

/* Set the flag. Ranks that see the new value see everything stored before. */
static inline void sk_flag_set(sk_flag *f, uint64_t value)
{
    atomic_store_explicit(&f->value, value, memory_order_release);
    sk_flag_notify(f);
}

#endif
