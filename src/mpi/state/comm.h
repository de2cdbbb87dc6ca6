/* comm.h: what Skein keeps per communicator. It is an attribute of the communicator. It is freed
 * with the communicator, or when the last nonblocking collective on it completes. */
#ifndef SK_COMM_H
#define SK_COMM_H

#include "mpi/state/process.h"
#include "select/plan.h"
#include "shm/shm.h"

/* The private duplicate: not begun, its creation is under way, usable. */
enum { SK_DUP_NONE, SK_DUP_PENDING, SK_DUP_READY };

typedef struct sk_comm {
    _Atomic(uintptr_t) handle; /* 0 while in the pool */
    MPI_Comm user;
    MPI_Comm wire;        /* private duplicate: it keeps Skein's messages apart from the user's */
    MPI_Request dup;      /* its creation */
    atomic_int dup_state; /* SK_DUP_*; changed under the process lock */
    bool inter, freed;
    _Atomic uint32_t
        host_colls;       /* a bit per collective: blocking calls of any size go to the host */
    bool had_nonblocking; /* a collective that outlives its call was made here, on all ranks */
    bool tags_used_up;    /* see create.c */
    int rank, nranks;
    int64_t next_tag, next_persist_tag;
    atomic_int users; /* 1 for the attribute, 1 for each active collective; 0: in the pool */

    pthread_mutex_t plans_lock; /* protects the next two; see sk_comm_plan */
    sk_plans *plans;
    sk_plans_stats counted; /* part of the plans' statistics already in the report */

    /* Who sits where: see location.h. */
    bool located;               /* the ranks have exchanged it */
    sk_machine *machine;        /* NULL: not known */
    struct sk_rank_note *notes; /* what the ranks said, until discovery has read it */
    uint64_t probe;             /* local ranks try to read this word */

    /* What discovery.c finds in call number SKEIN_FIND or soon after, the same on all ranks. */
    int64_t calls;
    bool discovered;                /* it has tried, or tries now */
    bool discovery_done;            /* it has tried; the process lock protects this */
    const sk_machine *call_machine; /* what calls are planned with; NULL: not known */
    sk_shm *shm;                    /* NULL: no shared memory */
    int64_t slot_capacity;          /* bytes of its slots */
    bool direct;                    /* local ranks can read each other's memory */

    /* Device memory: see dispatch.c. */
    bool devices;         /* agreed: a GPU runtime is loaded in one of the ranks */
    bool device_seen;     /* a call of this rank had device memory */
    bool device_host;     /* agreed: calls go to the host */
    int64_t device_calls; /* blocking calls, the same on all ranks */

    struct sk_topo *topo;        /* NULL: none, or not used yet: see topo.h */
    struct sk_call_cache *cache; /* see call_cache.h */
    void (*cache_free)(struct sk_call_cache *);
    struct sk_call_cache *cache_aside; /* SKEIN_CHECK: the cache, between calls; see check.h */
    bool in_check;

    /* Memory for blocking calls; there is one at a time on a communicator. */
    void *scratch;
    size_t scratch_size;
    void *arrays;
    size_t arrays_size;

    struct sk_comm *next; /* in the process's list */
} sk_comm;

sk_comm *sk_comm_find(MPI_Comm comm); /* NULL: not a communicator Skein can serve */

/* NULL: not in its slot. A slot is filled only while Skein may serve calls, so the caller need not
 * ask sk_process_ready. Everything read through the pointer depends on it, so a relaxed load is
 * enough; sk_flag_reached says what an acquire would cost. */
static inline sk_comm *sk_comm_known(MPI_Comm comm)
{
    sk_comm *c =
        atomic_load_explicit(&sk_proc.comm_slot[SK_HANDLE_INDEX(comm)], memory_order_relaxed);
    return c && atomic_load_explicit(&c->handle, memory_order_relaxed) == (uintptr_t)comm ? c
                                                                                          : NULL;
}

static inline sk_comm *sk_comm_get(MPI_Comm comm)
{
    sk_comm *c = sk_comm_known(comm);
    return c ? c : sk_comm_find(comm);
}

/* Start the private duplicate or test it: SK_OK when it is ready, SK_AGAIN while it is not. The
 * process lock is held. */
sk_status sk_comm_wire(sk_comm *c);

static inline bool sk_comm_wired(const sk_comm *c)
{
    return c->nranks == 1 ||
           atomic_load_explicit(&c->dup_state, memory_order_acquire) == SK_DUP_READY;
}

bool sk_comm_wait_wired(sk_comm *c); /* without the process lock; false: it failed */

/* May a nonblocking collective start? All ranks answer alike, because an earlier collective call
 * makes the duplicate on all of them. */
static inline bool sk_comm_may_start(const sk_comm *c)
{
    return !SK_HAVE_IDUP || sk_comm_wired(c);
}

/* The next tag of a collective that all ranks take part in. */
static inline int sk_comm_tag(sk_comm *c)
{
    int tag = (int)c->next_tag++;
    if (c->next_tag == sk_proc.tags)
        c->next_tag = 0;
    return tag;
}

/* The plan of a call, found or built. The caller holds it and must sk_plan_release it. Safe from any
 * thread: a nonblocking call is planned in the progress of whichever thread waits. */
sk_status sk_comm_plan(sk_comm *c, const sk_call *call, sk_plan **out);

/* Call without the process lock: the release may call the host, which may hold a lock of its own
 * that another thread waits for while it holds the process lock. */
void sk_comm_hold(sk_comm *c);
void sk_comm_release(sk_comm *c);
void sk_comm_drop_cache(sk_comm *c);
void sk_comm_forget_all(void); /* at the end */

/* At least `size` bytes, aligned to 64, that stay until the next call; NULL: out of memory. */
void *sk_comm_scratch(void **memory, size_t *have, size_t size);

/* Allgather in place on the duplicate: `data` has one entry of `bytes` bytes per rank.
 * MPI_REQUEST_NULL: it is complete. */
int sk_comm_allgather(const sk_comm *c, void *data, size_t bytes, MPI_Request *request);

/* A barrier that progresses, before a call that blocks inside the host. */
void sk_comm_barrier(sk_comm *c);

/* Report an error as the host would: through the communicator's error handler. */
int sk_raise(const sk_comm *c, int code);

int sk_comm_attr_freed(MPI_Comm comm, int key, void *value, void *extra); /* attribute callback */

#endif
