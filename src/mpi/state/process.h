/* process.h: the one global object of the library.
 *
 * MPI_Init, MPI_Finalize and handles that only the host can create force one object per process.
 * Nothing else in the library is global. doc/LOCKING.md says which lock protects which field. */
#ifndef SK_PROCESS_H
#define SK_PROCESS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "mpi/state/host.h"
#include "report/report.h"
#include "report/waits.h"
#include "select/select.h"
#include "select/token.h"
#include "shm/waiting.h"

struct sk_comm;
struct sk_dtype;
struct sk_world;
struct sk_op;

enum { SK_SLOTS = 256 }; /* of the tables indexed by handle */

enum { SK_PROC_NEW, SK_PROC_READY, SK_PROC_OFF };

typedef struct sk_process {
    atomic_int state;        /* SK_PROC_*: see dispatch/startup.h */
    bool enabled[SK_NCOLLS]; /* Skein may serve the collective */
    sk_wait_mode wait;
    sk_wait_pace pace; /* of waits for a flag */
    bool reporting;
    bool reproducible; /* SKEIN_REPRODUCIBLE: see sk_args_read */
    bool checking;     /* SKEIN_CHECK: see dispatch/check.h */
    int64_t
        guard_after; /* calls before they are compared with the host's; -1: never: see guarded.h */
    bool guard_soon; /* not later for short calls */
    int leaders;     /* SKEIN_LEADERS */
    int64_t find_after;      /* calls on a communicator before Skein adopts it; -1: see worth.h */
    bool threads;            /* MPI_THREAD_MULTIPLE */
    bool plans;              /* patterns are made at all (SKEIN_PLAN) */
    void (*progress)(void);  /* progresses the active collectives: see sk_progress */
    atomic_bool hooked;      /* the host's progress calls Skein's: see host_progress.h */
    atomic_bool hinting;     /* a libfabric provider reads hints: see transport/hint.h */
    atomic_int inflight;     /* active collectives that outlive their call */
    atomic_int pending;      /* those that the user has started and not yet waited for */
    atomic_int persistent;   /* persistent collectives */
    atomic_int ndeferred;    /* entries of `deferred` */
    atomic_int devices;      /* SK_DEVICES_*: see device.h */
    atomic_int watching;     /* calls that wait are timed, so many at most: see dispatch/watch.h */
    atomic_int watchers;     /* who wants that: a bit for each sk_watcher */
    _Atomic(int64_t) waited; /* ns that they took */
    _Atomic(uint32_t) calls; /* collectives so far, roughly: see sk_process_call */

    sk_select *select;
    sk_tuning *shapes; /* of calls, for a report in JSON; NULL: none. The next four under `lock` */
    int64_t nshapes;
    bool shapes_full;
    sk_tuning
        *learnt; /* SKEIN_LEARN: see dispatch/learn.h; NULL: nothing is to be kept. Under `lock` */
    sk_report *report;
    sk_report_counter *host_counters; /* the first of them: see count.h */
    sk_waits *waits;                  /* with a report: see observe.h. Under waits_lock */
    double start;                     /* sk_clock at the start of the run */
    int64_t clock_offset;             /* ns that the clock of rank 0 was ahead then */
    void (*match_counts)(void *of, int64_t counts[SK_NMATCH_COUNTS]); /* of the provider, or NULL */
    void *match_of;
    const char *match_engine;
    int world_rank, world_size; /* for the end: see ending.h */
    bool watched;               /* `skein run` has the counts and reports them if we cannot */
    struct sk_world *world; /* NULL: MPI_Init has not been seen, and the host serves all calls */
    int comm_key, type_key; /* attributes: their callbacks tell us that a handle is freed */
    _Atomic uint64_t types_freed;
#if !SK_HAVE_GRAPHS
    int topo_key; /* attribute of the topologies that Skein supplies: see own_graph.h */
#endif
    MPI_Comm self;     /* private duplicate of MPI_COMM_SELF */
    MPI_Request never; /* a receive on it that nothing matches: a test of it progresses the host */
    atomic_flag testing_never;
    atomic_int self_tag;
    int numbers;  /* of communicators: see world.h */
    int64_t tags; /* of a communicator: its calls use the first so many, persistent ones as many */

    /* The object last seen for a handle. Objects are recycled and never returned to the system
     * before the end, so a stale slot can be read safely; the handle inside shows that it is stale.
     */
    _Atomic(struct sk_comm *) comm_slot[SK_SLOTS];
    _Atomic(struct sk_dtype *) type_slot[SK_SLOTS];
    _Atomic(struct sk_op *)
        ops[SK_SLOTS];               /* all of them, by their handles, in lists that only grow */
    _Atomic(struct sk_op *) op_pool; /* those that nobody uses */

    pthread_mutex_t waits_lock;

    pthread_mutex_t handler_lock; /* protects the next two */
    int handler_users;            /* between return and restore: see host_errors.h */
    MPI_Errhandler world_handler; /* the user's, meanwhile */

    pthread_mutex_t lock; /* protects everything below */
    struct sk_comm *comms;
    _Atomic(struct sk_comm *) idle_comms; /* the pool: see comm.c */
    struct sk_dtype *types;
    struct sk_op *active; /* in order of start */
    struct sk_op **active_end;
    struct sk_op *persistent_first;    /* those that the user has not freed */
    sk_token compared;                 /* the persistent ones: one at a time is compared */
    struct sk_buffered *buffered;      /* messages of MPI_Bsend that Skein buffers: see p2p.c */
    struct sk_deferred_free *deferred; /* types and operations freed by the user while in use */
} sk_process;

extern sk_process sk_proc __attribute__((visibility("hidden")));

/* Add to a counter that other threads may change, if there are others. A locked instruction would wait until
 * the flags that this core has just set have reached the other cores. */
static inline void sk_process_add(atomic_int *n, int by)
{
    if (sk_proc.threads)
        atomic_fetch_add_explicit(n, by, memory_order_relaxed);
    else
        atomic_store_explicit(n, atomic_load_explicit(n, memory_order_relaxed) + by,
                              memory_order_relaxed);
}

/* Is a collective active? While there is none, calls that block do so inside the host. */
static inline bool sk_busy(void)
{
    return atomic_load_explicit(&sk_proc.inflight, memory_order_relaxed);
}

/* Let every active collective go as far as it can without waiting. Cheap when there is none. The
 * function behind it is registered at start (dispatch/request.c), so that the layers below can call
 * it while they wait. */
static inline void sk_progress(void)
{
    if (atomic_load_explicit(&sk_proc.inflight, memory_order_relaxed))
        sk_proc.progress();
}

/* For assertions: some thread, which must be this one, holds the process lock. */
static inline bool sk_process_locked(void)
{
    return pthread_mutex_trylock(&sk_proc.lock) != 0;
}

/* The number of a collective call, from 1. Threads may get the same one: it is only a hint. */
static inline uint32_t sk_process_call(void)
{
    uint32_t n = atomic_load_explicit(&sk_proc.calls, memory_order_relaxed) + 1;
    atomic_store_explicit(&sk_proc.calls, n, memory_order_relaxed);
    return n;
}

/* The index of a handle in a table: MPICH's handles are small integers, Open MPI's pointers. */
#define SK_HANDLE_INDEX(handle)                                                                    \
    ((((uintptr_t)(handle)) ^ ((uintptr_t)(handle) >> 6) ^ ((uintptr_t)(handle) >> 14)) % SK_SLOTS)

/* Seconds by a clock that all processes of a node share. The host's has its own zero in each of them. */
static inline double sk_clock(void)
{
#if SK_HAVE_CLOCK
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
#else
    return sk_host.Wtime();
#endif
}

/* ---- waiting ---- */

/* Ranks turned out to share cores: give the core away from now on, unless SKEIN_WAIT says how. */
void sk_wait_sharing(void);

/* May a blocking call wait inside the host? That is cheapest, but only if nothing else needs
 * progress meanwhile, and if the host yields by itself or need not. */
static inline bool sk_host_may_wait(void)
{
    return !atomic_load_explicit(&sk_proc.inflight, memory_order_relaxed) &&
           (SK_HOST_YIELDS || sk_proc.wait == SK_WAIT_SPIN);
}

/* Progress of the host and of Skein's collectives, for those who wait for neither. */
void sk_host_progress(void);

/* Wait for a request of the host, progressing Skein's collectives meanwhile. */
int sk_wait_request(MPI_Request *request, MPI_Status *status);

#endif
