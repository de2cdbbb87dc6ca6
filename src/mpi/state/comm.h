/* comm.h: what Skein keeps per communicator. It is an attribute of the communicator. It is freed
 * with the communicator, or when the last nonblocking collective on it completes. */
#ifndef SK_COMM_H
#define SK_COMM_H

#include "mpi/state/process.h"
#include "select/plan.h"
#include "shm/lease.h"

/* Not served yet; served; never served, because some of its ranks are outside MPI_COMM_WORLD. */
typedef enum sk_comm_state { SK_COMM_NEW, SK_COMM_ADOPTED, SK_COMM_FOREIGN } sk_comm_state;

/* The calls on a communicator that Skein does not serve yet: see worth.h. The same on all ranks but for
 * the arguments. */
typedef struct sk_young {
    int64_t calls;
    double spent, budget; /* ns of the host, or calls: so far; at which it is adopted */
    bool tried;           /* to adopt it */
    bool wanted; /* by a nonblocking call, which must not wait: the next other call adopts it */
    double call; /* what the last call added to `spent` */
    int coll;    /* of that call, whose arguments follow; SK_NCOLLS: not kept */
    int root;
    const void *sbuf, *rbuf;
    int64_t scount, rcount;
    MPI_Datatype stype, rtype;
    MPI_Op op;
    uint64_t arrays;         /* a number for their contents */
    MPI_Datatype exact_type; /* with this operation a reduction does not round */
    MPI_Op exact_op;
} sk_young;

typedef struct sk_comm {
    _Atomic(uintptr_t) handle; /* 0 while in the pool */
    MPI_Comm user;
    bool inter, freed;

    /* What adopt.c finds, the same on all ranks. */
    sk_comm_state state;
    int number;                     /* see world.h; -1: none */
    int *peers;                     /* the rank of each rank in MPI_COMM_WORLD; NULL: the same */
    sk_young young;                 /* until it is adopted */
    int passing;                    /* so many blocking calls go to the host unseen: worth.h */
    sk_machine *machine;            /* who sits where */
    const sk_machine *call_machine; /* what calls are planned with; NULL: not known */
    sk_shm *shm;                    /* NULL: no shared memory */
    sk_lease *lease;                /* of shm */
    bool failed;                    /* a collective in it ended with an error at this rank */
    int64_t slot_capacity;          /* bytes of its slots */
    int64_t lane_capacity;          /* bytes of the slots of its lanes */
    bool direct;                    /* local ranks can read each other's memory */

    _Atomic uint32_t
        host_colls; /* a bit per collective: blocking calls of any size go to the host */
    _Atomic uint32_t host_starts; /* the same for nonblocking calls */
    unsigned
        host_rounds;    /* a bit per sk_form: the host did reductions that may round here, and so it
                             stays, for the same bits. The same on all ranks. Nonblocking ones only with
                             SKEIN_REPRODUCIBLE */
    uint32_t next_lane; /* of the next nonblocking collective, the same on all ranks */
    struct sk_op *lane_first[SK_SHM_LANES]; /* started on each lane, the first of which runs; under
                                             * sk_proc.lock */
    bool had_nonblocking;  /* a collective that outlives its call was made here, on all ranks */
    bool requests_written; /* agreed: at one of the ranks sk_host_writes_requests */
    bool tags_used_up;     /* see create.c */
    int rank, nranks;
    int64_t next_tag, next_persist_tag;
    atomic_int users; /* 1 for the attribute, 1 for each active collective; 0: in the pool */

    pthread_mutex_t plans_lock; /* protects the next two; see sk_comm_plan */
    sk_select *trial; /* that chooses here instead of the process's; NULL: see skein_try */
    sk_plans *plans;
    sk_plans_stats counted; /* part of the plans' statistics already in the report */

    /* Device memory: see dispatch.c. */
    bool devices;         /* agreed: a GPU runtime is loaded in one of the ranks */
    bool device_seen;     /* a call of this rank had device memory */
    bool device_host;     /* agreed: calls go to the host */
    int64_t device_calls; /* blocking calls, the same on all ranks */

    struct sk_waits_row *waits;  /* with a report: see observe.h; NULL: not looked up */
    struct sk_topo *topo;        /* NULL: none, or not used yet: see topo.h */
    struct sk_call_cache *cache; /* see call_cache.h */
    void (*cache_free)(struct sk_call_cache *);
    struct sk_guarded *guarded; /* see guarded.h */
    void (*guarded_free)(struct sk_guarded *);
    struct sk_size_class
        *sizes;         /* by collective, of blocking calls: see guarded.h; NULL: none yet */
    int64_t meeting_ns; /* what it takes the ranks to agree, as far as this one knows; 0: not yet */
    int64_t clock_ns;   /* the same of reading the clock */
    struct sk_guarded *compared; /* the nonblocking calls that are compared now, or NULL */
    bool meets;                  /* others with the same ranks were made of it: see meeting.h */
    struct sk_alike *alike;      /* see alike.h; NULL: none yet */
    bool comparing;              /* calls are timed, */
    int64_t entered; /* and the last one that took the long way came then; 0: it was not noted */
    bool owed;       /* by the next blocking call, the same on all ranks: see sk_guarded_agree */
    struct sk_call_cache *cache_aside; /* SKEIN_CHECK: the cache, between calls; see check.h */
    bool in_check;

    /* Memory for blocking calls; there is one at a time on a communicator. */
    void *scratch;
    size_t scratch_size;
    void *arrays;
    size_t arrays_size;

    struct sk_comm *next;      /* in the process's list */
    struct sk_comm *next_idle; /* in the pool */
} sk_comm;

static inline const sk_select *sk_comm_select(const sk_comm *c)
{
    return c->trial ? c->trial : sk_proc.select;
}

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

/* May Skein serve calls on it? All ranks answer alike. */
static inline bool sk_comm_adopted(const sk_comm *c)
{
    return c->state == SK_COMM_ADOPTED;
}

/* Find `peers`, or that it is foreign. False: out of memory. */
bool sk_comm_find_peers(sk_comm *c);

/* The communicator that carries its messages, and a rank's place there. */
MPI_Comm sk_comm_wire(const sk_comm *c);
static inline int sk_comm_peer(const sk_comm *c, int rank)
{
    return c->peers ? c->peers[rank] : rank;
}

/* A tag of its messages: the communicator's number and a number of its own, below 2 * sk_proc.tags. */
static inline int sk_comm_tag_at(const sk_comm *c, int64_t at)
{
    return (int)((c->number > 0 ? c->number : 0) * 2 * sk_proc.tags + at);
}

/* The number of the next collective that all ranks take part in, and its tag. */
static inline int64_t sk_comm_next(sk_comm *c)
{
    int64_t at = c->next_tag++;
    if (c->next_tag == sk_proc.tags)
        c->next_tag = 0;
    return at;
}

static inline int sk_comm_tag(sk_comm *c)
{
    return sk_comm_tag_at(c, sk_comm_next(c));
}

/* The tag of a persistent collective. */
static inline int sk_comm_persist_tag(sk_comm *c)
{
    int tag = sk_comm_tag_at(c, sk_proc.tags + c->next_persist_tag++);
    if (c->next_persist_tag == sk_proc.tags)
        c->next_persist_tag = 0;
    return tag;
}

static inline bool sk_host_starts(const sk_comm *c, sk_coll coll)
{
    return atomic_load_explicit(&c->host_starts, memory_order_relaxed) >> coll & 1;
}

/* The plan of a call, found or *built, which may be NULL. The caller holds it and must sk_plan_release it. Safe from any
 * thread: a nonblocking call is planned in the progress of whichever thread waits. */
sk_status sk_comm_plan(sk_comm *c, const sk_call *call, sk_plan **out, bool *built);

void sk_comm_hold(sk_comm *c);
void sk_comm_release(sk_comm *c);
void sk_comm_drop_cache(sk_comm *c);
void sk_comm_forget_all(void); /* at the end */

/* At least `size` bytes, aligned to 64, that stay until the next call; NULL: out of memory. */
void *sk_comm_scratch(void **memory, size_t *have, size_t size);

/* A barrier that progresses, before a call that blocks inside the host, where collectives do not
 * progress in there on all ranks. */
void sk_comm_barrier(sk_comm *c);

/* All ranks come here with the same calls. Is it so at one of them? */
bool sk_comm_any(const sk_comm *c, bool here);

/* The largest of each value over all ranks. */
bool sk_comm_largest(const sk_comm *c, int64_t *values, int n);

/* Report an error as the host would: through the communicator's error handler. */
int sk_raise(const sk_comm *c, int code);

int sk_comm_attr_freed(MPI_Comm comm, int key, void *value, void *extra); /* attribute callback */

#endif
