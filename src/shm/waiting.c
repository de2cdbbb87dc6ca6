/* waiting.c: the policy of waiting, and waiting for a flag in shared memory. */
#include "shm/waiting.h"

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    FEW_SPINS = 30,         /* polls between two looks at the clock, and before a rank sleeps */
    SPIN_NS = 64000,        /* longest spin: going to sleep and waking up may take as long */
    LEAST_SPIN_NS = 1000,   /* shortest: about two system calls */
    YIELD_COST_SHARE = 4,   /* spin at most this part of what a yield has cost */
    PATIENCE_NS = 10000000, /* a rank yields longer than a time slice of the scheduler: if the rank
                             * it waits for has lost its core for one, this rank is awake when it
                             * returns */
    LEAST_PATIENCE_NS = 100000,
    YIELDS = 32, /* calls of sched_yield before a rank sleeps where cores are shared: the
                     * scheduler soon returns to a rank that used little of its time slice */
    NAP_NS =
        50000, /* shortest sleep of a rank that nobody wakes: what the kernel's timers can do */
    LONGEST_NAP_NS = 1000000,
    NAP_SHARE = 32,   /* a nap takes at most this part of the wait so far */
    MIXED_RANKS = 16, /* ranks per core, each in its own session, up to which yielding before
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

/* The user tells Open MPI that ranks share cores, also where this cannot be seen: with other jobs, or other hosts of one
 * machine. */
static bool told_to_yield(void)
{
    const char *text = getenv("OMPI_MCA_mpi_yield_when_idle");
    return text && (strtol(text, NULL, 10) != 0 || strcmp(text, "true") == 0);
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
    bool alone = ranks_on_node() <= sysconf(_SC_NPROCESSORS_ONLN) && !told_to_yield();
    return alone ? SK_WAIT_SPIN : sk_wait_mode_shared();
}

/* ---- time ---- */

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* How long to sleep without being woken, after a wait of `waited`. */
static struct timespec nap_after(int64_t waited, int64_t shortest)
{
    int64_t ns = waited / NAP_SHARE;
    ns = ns < shortest ? shortest : ns;
    return (struct timespec){.tv_nsec = ns < LONGEST_NAP_NS ? ns : LONGEST_NAP_NS};
}

/* ---- anything ---- */

void sk_wait_give_way(sk_wait_mode mode)
{
    if (mode == SK_WAIT_SLEEP)
        nanosleep(&(struct timespec){.tv_nsec = 1}, NULL); /* as short as the kernel makes it */
    else
        sched_yield();
}

int64_t sk_wait_longer(sk_wait_mode mode, int64_t so_far)
{
    int64_t now = now_ns(), since = so_far > SK_WAIT_FREE_POLLS ? so_far : now,
            waited = now - since;
    if (mode == SK_WAIT_SPIN && waited < SPIN_NS)
        return since;
    if (waited < PATIENCE_NS) {
        sk_wait_give_way(mode);
    } else {
        const struct timespec nap = nap_after(waited, NAP_NS);
        nanosleep(&nap, NULL);
    }
    return since;
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

/* Times that this thread has lost its core to another process while it could run. */
static long switches(void)
{
    struct rusage r;
    return getrusage(RUSAGE_THREAD, &r) == 0 ? r.ru_nivcsw : 0;
}

static int64_t spin_time(const sk_wait_pace *pace)
{
    return SPIN_NS - atomic_load_explicit(&pace->spin_less, memory_order_relaxed);
}

static int64_t patience(const sk_wait_pace *pace)
{
    return PATIENCE_NS - atomic_load_explicit(&pace->patience_less, memory_order_relaxed);
}

static void set_pace(_Atomic int64_t *less, int64_t ns)
{
    ns = ns > 0 ? ns : 0;
    if (atomic_load_explicit(less, memory_order_relaxed) != ns)
        atomic_store_explicit(less, ns, memory_order_relaxed);
}

static bool spin_for(sk_flag *f, uint64_t value, int64_t until)
{
    do {
        if (poll_times(f, value, FEW_SPINS))
            return true;
    } while (now_ns() < until);
    return false;
}

/* Yield and poll until the flag comes or patience ends. *longest: the time that a yield took. */
static bool yield_for_ns(sk_flag *f, uint64_t value, const sk_waiting *w, int64_t patience_ns,
                         int64_t *longest)
{
    int64_t start = now_ns(), now = start;
    *longest = 0;
    while (now - start < patience_ns) {
        idle(w);
        int64_t before = now_ns();
        sched_yield();
        now = now_ns();
        *longest = now - before > *longest ? now - before : *longest;
        if (poll_times(f, value, FEW_SPINS))
            return true;
    }
    return false;
}

/* The lower half of the counter: a futex is 32 bits. */
static uint32_t *futex_word(sk_flag *f)
{
    uint32_t *half = (uint32_t *)&f->value;
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? half : half + 1;
}

/* Sleep until woken. A writer that does not pass a fence may overlook the sleeper, so no sleep is
 * long. */
static void wait_asleep(sk_flag *f, uint64_t value, const sk_waiting *w, int64_t start)
{
    atomic_fetch_add_explicit(&f->sleepers, 1, memory_order_seq_cst);
    if (w->mode != SK_WAIT_SPIN)
        atomic_fetch_or_explicit(&f->sleepers, SK_FLAG_FENCED, memory_order_seq_cst);
    for (;;) {
        uint64_t now = atomic_load_explicit(&f->value, memory_order_seq_cst);
        if (now >= value)
            break;
        const struct timespec nap = nap_after(now_ns() - start, w->nap_ns ? w->nap_ns : NAP_NS);
        if (syscall(SYS_futex, futex_word(f), FUTEX_WAIT, (uint32_t)now, &nap, NULL, 0) != 0 &&
            errno == ETIMEDOUT)
            idle(w);
    }
    atomic_fetch_sub_explicit(&f->sleepers, 1, memory_order_relaxed);
}

static void wait_sleeping(sk_flag *f, uint64_t value, const sk_waiting *w)
{
    if (!poll_times(f, value, FEW_SPINS))
        wait_asleep(f, value, w, now_ns());
}

/* What a wait that had to yield teaches the next one. If a yield ran another process, spin only for
 * a part of the time that this took: little if the other one only waits, too, and gives the core back
 * at once; longer if it computes, because then each yield costs a time slice. */
static void learn_spin(sk_wait_pace *pace, bool switched, int64_t longest)
{
    int64_t spin = switched ? longest / YIELD_COST_SHARE : 2 * spin_time(pace);
    set_pace(&pace->spin_less, SPIN_NS - (spin < LEAST_SPIN_NS ? LEAST_SPIN_NS : spin));
}

/* Spin, then yield, then sleep. */
static void wait_spinning(sk_flag *f, uint64_t value, const sk_waiting *w)
{
    sk_wait_pace none = {0}, *pace = w->pace ? w->pace : &none;
    int64_t start = 0, longest;
    if (poll_times(f, value, FEW_SPINS) ||
        spin_for(f, value, (start = now_ns()) + spin_time(pace))) {
        set_pace(&pace->spin_less, 0); /* the writer has another core */
        return;
    }
    long before = switches();
    bool reached = yield_for_ns(f, value, w, patience(pace), &longest);
    bool switched = switches() != before;
    learn_spin(pace, switched, longest);
    if (reached)
        return;
    int64_t tired = now_ns();
    wait_asleep(f, value, w, start);
    /* Yields ran nobody, but the flag came soon after this rank slept: so sleep earlier. */
    bool soon = !switched && now_ns() - tired < (tired - start) / 4;
    int64_t next = soon ? patience(pace) / 4 : 2 * patience(pace);
    set_pace(&pace->patience_less,
             PATIENCE_NS - (next < LEAST_PATIENCE_NS ? LEAST_PATIENCE_NS : next));
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

static void wait_as(sk_wait_mode mode, sk_flag *f, uint64_t value, const sk_waiting *w)
{
    switch (mode) {
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

void sk_flag_wait(sk_flag *f, uint64_t value, const sk_waiting *w)
{
    wait_as(w->mode, f, value, w);
}

void sk_flag_wait_busy(sk_flag *f, uint64_t value, const sk_waiting *w)
{
    wait_as(w->mode == SK_WAIT_MIXED ? SK_WAIT_SLEEP : w->mode, f, value, w);
}

void sk_flag_wait_long(sk_flag *f, uint64_t value, const sk_waiting *w)
{
    int64_t start = now_ns(), longest;
    bool reached = w->mode == SK_WAIT_SLEEP  ? false
                   : w->mode != SK_WAIT_SPIN ? yield_for(f, value)
                                             : spin_for(f, value, start + SPIN_NS) ||
                                                   yield_for_ns(f, value, w, PATIENCE_NS, &longest);
    if (!reached)
        for (idle(w); !sk_flag_reached(f, value); idle(w)) {
            const struct timespec nap = nap_after(now_ns() - start, NAP_NS);
            nanosleep(&nap, NULL);
        }
    atomic_thread_fence(memory_order_acquire);
}

void sk_flag_wake(sk_flag *f)
{
    /* Either the sleeper sees the new value, or this rank sees the sleeper. */
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&f->sleepers, memory_order_relaxed) & ~SK_FLAG_FENCED)
        syscall(SYS_futex, futex_word(f), FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}
