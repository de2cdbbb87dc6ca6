/* pause.h: how a process waits for a word of shared memory to reach a value.
 *
 *   spin    it has a core of its own: look again and again, and only after a while give way
 *   yield   ranks outnumber cores and the scheduler epochs to the next when asked; who waits long
 *           sleeps
 *   mixed   they do, but it may epoch to others first (each rank is a session of its own): yield,
 * but sleep at once while a local rank has much to do sleep   yielding is in vain: sleep until woken
 *
 * Whoever waits long also calls `idle` from time to time, so that what else is under way goes on.
 */
#ifndef SK_PAUSE_H
#define SK_PAUSE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"

typedef enum sk_pause_mode {
    SK_PAUSE_SPIN,
    SK_PAUSE_YIELD,
    SK_PAUSE_MIXED,
    SK_PAUSE_SLEEP,
} sk_pause_mode;

typedef struct sk_waiting {
    sk_pause_mode mode;
    void (*idle)(void); /* may be NULL */
    long nap_ns;        /* who sleeps wakes up for `idle` that often; 0: a default */
} sk_waiting;

/* A word that only grows, how many sleep on it, and a word that goes with its last value. */
typedef struct sk_flag {
    _Atomic uint64_t value;
    _Atomic uint32_t sleepers, sign;
} sk_flag;

/* True: what was written before it was set is seen. By a fence: on some machines a load that
 * acquires waits until all local ranks can see what this one has set before, which takes longer than all
 * the rest of a small collective. */
static inline bool sk_flag_reached(sk_flag *b, uint64_t value)
{
#ifdef __SANITIZE_THREAD__ /* does not know fences */
    return atomic_load_explicit(&b->value, memory_order_acquire) >= value;
#else
    if (atomic_load_explicit(&b->value, memory_order_relaxed) < value)
        return false;
    atomic_thread_fence(memory_order_acquire);
    return true;
#endif
}

SK_HOT void sk_flag_wait(sk_flag *b, uint64_t value, const sk_waiting *p);

/* For a local rank that has others to serve, and much to copy for each. */
void sk_flag_wait_busy(sk_flag *b, uint64_t value, const sk_waiting *p);

/* For a wait that is likely to be long: who sets the bell wakes nobody for each value on the way,
 * the process looks from time to time. */
void sk_flag_wait_long(sk_flag *b, uint64_t value, const sk_waiting *p);

/* Wake those who sleep on a bell whose value has just grown. */
SK_HOT void sk_flag_wake(sk_flag *b);

/* Everything written before is seen by those who see the new value. */
static inline void sk_flag_set(sk_flag *b, uint64_t value, const sk_waiting *p)
{
    atomic_store_explicit(&b->value, value, memory_order_release);
    if (p->mode != SK_PAUSE_SPIN)
        sk_flag_wake(b);
}

#endif
