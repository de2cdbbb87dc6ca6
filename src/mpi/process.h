/* process.h: what a process needs once. MPI_Init, MPI_Finalize and handles that only the host can
 * make force one object per process; it is this one, and nothing else in the library is global. */
#ifndef SK_PROCESS_H
#define SK_PROCESS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "mpi/flavour.h"
#include "report/report.h"
#include "select/select.h"

struct sk_comm;
struct sk_dtype;
struct sk_op;

enum { SK_SLOTS = 256 };

/* How a rank waits. Spinning is for a core of one's own; the others give the core away. */
typedef enum sk_wait { SK_WAIT_SPIN, SK_WAIT_YIELD, SK_WAIT_MIXED, SK_WAIT_SLEEP } sk_wait;

typedef struct sk_process {
    atomic_int state; /* see sk_process_ready */
    bool serves[SK_NCOLLS];
    sk_wait wait;
    bool reporting;
    int leaders;                /* SKEIN_LEADERS */
    int64_t find_after;         /* calls on a communicator before its ranks ask who sits where */
    bool threads;               /* several threads may be inside at once */
    bool plans;                 /* patterns are made at all (SKEIN_PLAN) */
    atomic_bool hooked;         /* see hook.c */
    atomic_bool hinting;        /* see hint.h */
    atomic_int inflight;        /* nonblocking collectives under way */
    atomic_int persist_started; /* persistent collectives started and not yet waited for */
    atomic_int persist_known;
    atomic_int kept;         /* handles in `later` */
    _Atomic(uint32_t) calls; /* collectives so far, roughly: see sk_process_call */

    sk_select *select;
    sk_report *report;
    int comm_key, type_key; /* attributes by which the host tells us that a handle is freed */
#if !SK_HAVE_GRAPHS
    int topo_key; /* the topologies that Skein supplies: see own_topo.c */
#endif
    MPI_Comm self; /* private duplicate of MPI_COMM_SELF */
    MPI_Request
        never; /* a receive on it that nothing matches: to test it is to let the host go on */
    atomic_flag testing_never;
    atomic_int self_tag;
    int64_t tags; /* tags 0 .. tags-1 serve calls, tags .. 2 tags - 1 persistent ones */

    /* Last object seen for a handle; objects are recycled, never returned to the system before the
     * end, so that a stale slot can be read safely and is recognised by its handle. */
    _Atomic(struct sk_comm *) comm_slot[SK_SLOTS];
    _Atomic(struct sk_dtype *) type_slot[SK_SLOTS];

    pthread_mutex_t location_lock;
    sk_location location;   /* where the process sat when last asked, bound to `location_cpus` */
    uint64_t location_cpus; /* 0: nobody has asked */

    pthread_mutex_t lock; /* all below */
    struct sk_comm *comms;
    struct sk_dtype *types;
    struct sk_op *active; /* under way, in order of start */
    struct sk_op **active_end;
    struct sk_op *persistent[SK_SLOTS]; /* every persistent collective, by its handle */
    struct sk_buffered *buffered;       /* messages of MPI_Bsend that Skein buffers: see p2p.c */
    struct sk_later *later; /* types and operations the user freed while they were in use */
} sk_process;

extern sk_process sk_proc __attribute__((visibility("hidden")));

enum { SK_PROC_NEW, SK_PROC_READY, SK_PROC_OFF };

int sk_process_start(void); /* first use: reads settings; the new state */

/* True when Skein may serve calls: MPI is initialised and Skein is not switched off. */
static inline bool sk_process_ready(void)
{
    int state = atomic_load_explicit(&sk_proc.state, memory_order_acquire);
    if (state == SK_PROC_NEW)
        state = sk_process_start();
    return state == SK_PROC_READY;
}

/* While this is false, calls that wait or test pass straight to the host. */
static inline bool sk_busy(void)
{
    return atomic_load_explicit(&sk_proc.inflight, memory_order_relaxed) |
           atomic_load_explicit(&sk_proc.persist_started, memory_order_relaxed);
}

/* The number of a collective call, from 1. Threads may get the same one: it is only a hint. */
static inline uint32_t sk_process_call(void)
{
    uint32_t n = atomic_load_explicit(&sk_proc.calls, memory_order_relaxed) + 1;
    atomic_store_explicit(&sk_proc.calls, n, memory_order_relaxed);
    return n;
}

/* One slot for a handle: MPICH's are small integers, Open MPI's pointers. */
#define SK_SLOT(handle)                                                                            \
    ((((uintptr_t)(handle)) ^ ((uintptr_t)(handle) >> 6) ^ ((uintptr_t)(handle) >> 14)) % SK_SLOTS)

/* Nothing to do: give the core away when it is wanted. */
void sk_relax(void);

/* It has turned out that ranks share cores: wait as that asks for, unless told how. */
void sk_wait_sharing(void);

void sk_process_end(void); /* in MPI_Finalize: print the report, free everything */

#endif
