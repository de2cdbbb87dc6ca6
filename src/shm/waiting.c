#include "shm/waiting.h"

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    SPINS = 2000,     /* looks before a rank with its own core suspects that it has none */
    SPINS_IDLE = 200, /* looks between two calls of idle, then */
    FEW_SPINS = 30,   /* looks before a rank gives its core away */
    YIELDS = 32,      /* times a rank gives way before it sleeps, for yielding has its limits: the
                       * scheduler soon comes back to a rank that has used little of its time */
    NAP_NS = 500000,  /* sleep between two calls of idle, unless told otherwise */
    LONG_NAP_NS = 50000, /* between two looks at what takes long */
};

static void breathe(void)
{
#if defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory");
#elif defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

static bool look(sk_flag *b, uint64_t value, int times)
{
    for (int i = 0; i < times; i++) {
        if (sk_flag_reached(b, value))
            return true;
        breathe();
    }
    return false;
}

static void idle(const sk_waiting *p)
{
    if (p->idle)
        p->idle();
}

static void wait_spinning(sk_flag *b, uint64_t value, const sk_waiting *p)
{
    if (look(b, value, SPINS))
        return;
    do {
        idle(p);
        sched_yield();
    } while (!look(b, value, SPINS_IDLE));
}

/* The lower half of the word, which is what a futex can watch. */
static uint32_t *watched(sk_flag *b)
{
    uint32_t *half = (uint32_t *)&b->value;
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? half : half + 1;
}

static void wait_sleeping(sk_flag *b, uint64_t value, const sk_waiting *p)
{
    if (look(b, value, FEW_SPINS))
        return;
    const struct timespec nap = {.tv_nsec = p->nap_ns ? p->nap_ns : NAP_NS};
    atomic_fetch_add_explicit(&b->sleepers, 1, memory_order_seq_cst);
    for (;;) {
        uint64_t now = atomic_load_explicit(&b->value, memory_order_seq_cst);
        if (now >= value)
            break;
        if (syscall(SYS_futex, watched(b), FUTEX_WAIT, (uint32_t)now, &nap, NULL, 0) != 0 &&
            errno == ETIMEDOUT)
            idle(p);
    }
    atomic_fetch_sub_explicit(&b->sleepers, 1, memory_order_relaxed);
}

static bool yield_for(sk_flag *b, uint64_t value)
{
    for (int i = 0; i < YIELDS; i++) {
        if (sk_flag_reached(b, value))
            return true;
        sched_yield();
    }
    return false;
}

static void wait_yielding(sk_flag *b, uint64_t value, const sk_waiting *p)
{
    if (yield_for(b, value))
        return;
    idle(p);
    wait_sleeping(b, value, p);
}

void sk_flag_wait(sk_flag *b, uint64_t value, const sk_waiting *p)
{
    switch (p->mode) {
    case SK_PAUSE_SPIN:
        wait_spinning(b, value, p);
        break;
    case SK_PAUSE_YIELD:
    case SK_PAUSE_MIXED:
        wait_yielding(b, value, p);
        break;
    case SK_PAUSE_SLEEP:
        wait_sleeping(b, value, p);
        break;
    }
    atomic_thread_fence(memory_order_acquire);
}

void sk_flag_wait_busy(sk_flag *b, uint64_t value, const sk_waiting *p)
{
    sk_waiting at_once = *p;
    if (p->mode == SK_PAUSE_MIXED)
        at_once.mode = SK_PAUSE_SLEEP;
    sk_flag_wait(b, value, &at_once);
}

void sk_flag_wait_long(sk_flag *b, uint64_t value, const sk_waiting *p)
{
    const struct timespec nap = {.tv_nsec = LONG_NAP_NS};
    if (p->mode == SK_PAUSE_SPIN) {
        wait_spinning(b, value, p);
    } else if (p->mode == SK_PAUSE_SLEEP || !yield_for(b, value)) {
        for (idle(p); !sk_flag_reached(b, value); idle(p))
            nanosleep(&nap, NULL);
    }
    atomic_thread_fence(memory_order_acquire);
}

void sk_flag_wake(sk_flag *b)
{
    /* Either the sleeper sees the new value, or we see the sleeper. */
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&b->sleepers, memory_order_relaxed))
        syscall(SYS_futex, watched(b), FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}
