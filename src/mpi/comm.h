/* comm.h: what Skein keeps per communicator. It hangs on the communicator as an attribute and is
 * freed with it, or when the last nonblocking collective on it is over. */
#ifndef SK_COMM_H
#define SK_COMM_H

#include "mpi/process.h"
#include "select/plan.h"
#include "shm/shm.h"

enum { SK_WIRE_NONE, SK_WIRE_COMING, SK_WIRE_READY };

typedef struct sk_comm {
    _Atomic(uintptr_t) handle; /* 0 while in the pool */
    MPI_Comm user;
    MPI_Comm wire;         /* private duplicate: user messages and ours never meet */
    MPI_Request dup;       /* its creation under way */
    atomic_int wire_state; /* SK_WIRE_*; changed under the process lock */
    bool inter, freed;
    uint32_t
        left; /* a bit per collective: blocking calls are best left to the host, whatever size */
    bool outlived;     /* a collective that outlives its call was made here, on all ranks */
    bool tags_used_up; /* see create.c */
    int rank, nranks;
    int64_t next_tag, next_persist_tag;
    sk_plans *plans;
    sk_plans_stats counted; /* part of the plans' statistics already in the report */
    atomic_int users; /* 1 for the attribute, 1 for each collective under way; 0: in the pool */

    /* What node.c finds out, in the call number SKEIN_FIND or soon after. */
    int64_t calls;
    bool found;          /* it has tried */
    sk_machine *machine; /* NULL: not known */
    sk_shm *shm;         /* NULL: no shared memory */
    int64_t room;        /* of its slots; the same on all ranks, as is all of this */
    bool direct;         /* local ranks can read each other's memory */

    struct sk_topo *topo;     /* NULL: none, or not used yet: see topo.h */
    struct sk_recent *recent; /* shapes seen last: see recent.h */

    /* Room for blocking calls, one at a time on a communicator. */
    void *scratch;
    size_t scratch_size;
    void *arrays;
    size_t arrays_size;

    struct sk_comm *next; /* in the process's list */
} sk_comm;

sk_comm *sk_comm_find(MPI_Comm comm); /* NULL: not a communicator Skein can serve */

/* NULL: not in its slot. If it is, Skein may serve calls (sk_process_ready): there are none in the
 * slots before and after. Whatever is read through the pointer depends on it, so it need not be
 * acquired; see sk_flag_reached for what that would cost. */
static inline sk_comm *sk_comm_known(MPI_Comm comm)
{
    sk_comm *c = atomic_load_explicit(&sk_proc.comm_slot[SK_SLOT(comm)], memory_order_relaxed);
    return c && atomic_load_explicit(&c->handle, memory_order_relaxed) == (uintptr_t)comm ? c
                                                                                          : NULL;
}

static inline sk_comm *sk_comm_get(MPI_Comm comm)
{
    sk_comm *c = sk_comm_known(comm);
    return c ? c : sk_comm_find(comm);
}

/* Start the private duplicate, or look after it: SK_OK when it is there, SK_AGAIN while it comes.
 * The process lock is held. */
sk_status sk_comm_wire(sk_comm *c);

static inline bool sk_comm_wired(const sk_comm *c)
{
    return c->nranks == 1 ||
           atomic_load_explicit(&c->wire_state, memory_order_acquire) == SK_WIRE_READY;
}

bool sk_comm_wait_wired(sk_comm *c); /* without the process lock; false: it failed */

/* In a call that all ranks of the communicator make, before any collective: so that nonblocking
 * ones may be the first. */
void sk_comm_wire_ahead(MPI_Comm comm);

/* May a nonblocking collective begin? The same at all ranks, since the duplicate is made by a
 * collective call before it, or not yet. */
static inline bool sk_comm_may_fly(const sk_comm *c)
{
    return !SK_HAVE_IDUP || sk_comm_wired(c);
}

/* A tag for a collective that all ranks take part in. */
static inline int sk_comm_tag(sk_comm *c)
{
    int tag = (int)c->next_tag++;
    if (c->next_tag == sk_proc.tags)
        c->next_tag = 0;
    return tag;
}

/* Without the process lock: the host may call back, and so release, while it holds a lock of its
 * own that a holder of ours waits for. */
void sk_comm_hold(sk_comm *c);
void sk_comm_release(sk_comm *c);
void sk_comm_forget_all(void); /* at the end */

/* At least `size` bytes, aligned to 64, that stay until the next call; NULL: out of memory. */
void *sk_comm_room(void **room, size_t *have, size_t size);

int sk_comm_attr_freed(MPI_Comm comm, int key, void *value, void *extra); /* attribute callback */

#endif
