/* waiting.c: the policy of waiting, and waiting for a flag in shared memory. */
#include "shm/waiting.h"

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    SPINS = 2000,        /* polls before a rank in spin mode suspects that its core is shared */
    SPINS_IDLE = 200,    /* polls between two calls of `idle` after that */
    FEW_SPINS = 30,      /* polls before a rank sleeps */
    YIELDS = 32,         /* calls of sched_yield before a rank sleeps: the scheduler soon returns to
                          * a rank that has used little of its time slice */
    NAP_NS = 500000,     /* longest sleep between two calls of `idle`, unless told otherwise */
    LONG_NAP_NS = 50000, /* sleep between two polls in sk_flag_wait_long */
    MIXED_RANKS = 16,    /* ranks per core, each in its own session, up to which yielding before
                          * sleeping is faster than sleeping at once */
};

/* ---- policy ---- */

static long ranks_on_node(void)
{
    static const char *const vars[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS",
                                       "PMI_LOCAL_SIZE", "SLURM_NTASKS_PER_NODE"};
    for (size_t i = 0; i < sizeof vars / sizeof *vars; i++) {
        const char *text = getenv(vars[i]);
        long n = text ? strtol(text, NULL, 10) : 0;
        if (n > 0)
            return n;
    }
    return 1;
}

/* Is this process the leader of a session, and does the kernel schedule session by session? */
static bool scheduled_by_session(void)
{
    int on = 0;
    FILE *f = fopen("/proc/sys/kernel/sched_autogroup_enabled", "r");
    if (f) {
        if (fscanf(f, "%d", &on) != 1)
            on = 0;
        fclose(f);
    }
    return on == 1 && getsid(0) == getpid();
}

sk_wait_mode sk_wait_mode_shared(void)
{
    if (!scheduled_by_session())
        return SK_WAIT_YIELD;
    bool few = ranks_on_node() <= MIXED_RANKS * sysconf(_SC_NPROCESSORS_ONLN);
    return few ? SK_WAIT_MIXED : SK_WAIT_SLEEP;
}

sk_wait_mode sk_wait_mode_of(const char *setting)
{
    static const char *const names[] = {[SK_WAIT_SPIN] = "spin",
                                        [SK_WAIT_YIELD] = "yield",
                                        [SK_WAIT_MIXED] = "mixed",
                                        [SK_WAIT_SLEEP] = "sleep"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(setting, names[i]) == 0)
            return (sk_wait_mode)i;
    return ranks_on_node() <= sysconf(_SC_NPROCESSORS_ONLN) ? SK_WAIT_SPIN : sk_wait_mode_shared();
}

void sk_wait_give_way(sk_wait_mode mode)
{
    if (mode == SK_WAIT_SLEEP)
        nanosleep(&(struct timespec){.tv_nsec = 1}, NULL); /* as short as the kernel makes it */
    else
        sched_yield();
}

/* ---- flags ---- */

static void cpu_pause(void)
{
#if defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory");
#elif defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

static bool poll_times(sk_flag *f, uint64_t value, int times)
{
    for (int i = 0; i < times; i++) {
        if (sk_flag_reached(f, value))
            return true;
        cpu_pause();
    }
    return false;
}

static void idle(const sk_waiting *w)
{
    if (w->idle)
        w->idle();
}

static void wait_spinning(sk_flag *f, uint64_t value, const sk_waiting *w)
{
    if (poll_times(f, value, SPINS))
        return;
    do {
        idle(w);
        sched_yield();
    } while (!poll_times(f, value, SPINS_IDLE));
}

/* The lower half of the counter: a futex is 32 bits. */
static uint32_t *futex_word(sk_flag *f)
{
    uint32_t *half = (uint32_t *)&f->value;
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? half : half + 1;
}

static void wait_sleeping(sk_flag *f, uint64_t value, const sk_waiting *w)
{
    if (poll_times(f, value, FEW_SPINS))
        return;
    const struct timespec nap = {.tv_nsec = w->nap_ns ? w->nap_ns : NAP_NS};
    atomic_fetch_add_explicit(&f->sleepers, 1, memory_order_seq_cst);
    for (;;) {
        uint64_t now = atomic_load_explicit(&f->value, memory_order_seq_cst);
        if (now >= value)
            break;
        if (syscall(SYS_futex, futex_word(f), FUTEX_WAIT, (uint32_t)now, &nap, NULL, 0) != 0 &&
            errno == ETIMEDOUT)
            idle(w);
    }
    atomic_fetch_sub_explicit(&f->sleepers, 1, memory_order_relaxed);
}

static bool yield_for(sk_flag *f, uint64_t value)
{
    for (int i = 0; i < YIELDS; i++) {
        if (sk_flag_reached(f, value))
            return true;
        sched_yield();
    }
    return false;
}

static void wait_yielding(sk_flag *f, uint64_t value, const sk_waiting *w)
{
    if (yield_for(f, value))
        return;
    idle(w);
    wait_sleeping(f, value, w);
}

void sk_flag_wait(sk_flag *f, uint64_t value, const sk_waiting *w)
{
    switch (w->mode) {
    case SK_WAIT_SPIN:
        wait_spinning(f, value, w);
        break;
    case SK_WAIT_YIELD:
    case SK_WAIT_MIXED:
        wait_yielding(f, value, w);
        break;
    case SK_WAIT_SLEEP:
        wait_sleeping(f, value, w);
        break;
    }
    atomic_thread_fence(memory_order_acquire);
}

void sk_flag_wait_busy(sk_flag *f, uint64_t value, const sk_waiting *w)
{
    sk_waiting at_once = *w;
    if (w->mode == SK_WAIT_MIXED)
        at_once.mode = SK_WAIT_SLEEP;
    sk_flag_wait(f, value, &at_once);
}

void sk_flag_wait_long(sk_flag *f, uint64_t value, const sk_waiting *w)
{
    const struct timespec nap = {.tv_nsec = LONG_NAP_NS};
    if (w->mode == SK_WAIT_SPIN) {
        wait_spinning(f, value, w);
    } else if (w->mode == SK_WAIT_SLEEP || !yield_for(f, value)) {
        for (idle(w); !sk_flag_reached(f, value); idle(w))
            nanosleep(&nap, NULL);
    }
    atomic_thread_fence(memory_order_acquire);
}

void sk_flag_wake(sk_flag *f)
{
    /* Either the sleeper sees the new value, or this rank sees the sleeper. */
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&f->sleepers, memory_order_relaxed))
        syscall(SYS_futex, futex_word(f), FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}
