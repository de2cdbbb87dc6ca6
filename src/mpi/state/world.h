/* world.h: what the ranks of MPI_COMM_WORLD tell each other once, in MPI_Init, and the private duplicate
 * of it that carries all of Skein's messages.
 *
 * A communicator that Skein serves has a number, unique at each of its ranks among the communicators
 * that live there. The number is part of the tags of its messages. So no communicator is ever
 * duplicated, and what a rank must know about the others it knows from here. Communicators with ranks
 * outside MPI_COMM_WORLD are the host's. */
#ifndef SK_WORLD_H
#define SK_WORLD_H

#include "mpi/state/location.h"
#include "mpi/state/process.h"
#include "shm/lease.h"

enum {
    SK_NUMBER_WORDS = 16,
    SK_NUMBERS = 64 * SK_NUMBER_WORDS, /* communicators that a rank can be in at a time */
    SK_MOST_WAITING = 64,              /* threads that wait to agree */
};

struct sk_world {
    MPI_Comm wire; /* the duplicate */
    MPI_Group group;
    int rank, nranks;
    sk_location *locations; /* of each rank */
    int *node_rank;         /* of each rank: its index among the ranks of its node */
    int *cores_at;          /* of each rank: the cores that the ranks of its node have together */
    int cores;              /* see sk_machine */
    int nnodes;
    bool priced; /* ranks of one node, with prices of copies between them: see worth.h */
    bool
        unseen; /* calls may go to the host unseen: see there. No rank times its calls for a report */
    bool
        progress_everywhere; /* on all ranks collectives progress inside the host's blocking calls */
    bool keeps_comms;        /* sk_host_keeps_comms on all ranks */
    bool cma;                /* local ranks can read each other's memory */
    sk_copy_prices prices;   /* of copies between local ranks */
    sk_net_bytes net;        /* see sk_machine */
    sk_wait_mode wait;       /* of local ranks that wait for each other */
    sk_node_memory *memory;  /* NULL: no shared memory */
    sk_leases *leases;       /* of that memory */
    uint64_t probe;          /* local ranks try to read this word */

    _Atomic uint64_t free_number[SK_NUMBER_WORDS]; /* a bit for each number */

    pthread_mutex_t kept_lock;
    struct sk_kept *kept; /* of freed communicators: see kept.h */

    pthread_mutex_t agree_lock; /* protects the rest: which thread may agree on a number */
    bool agreeing;
    int nwaiting;
    uint64_t waiting[SK_MOST_WAITING];
    uint32_t serial; /* of the communicators that this rank leads */
};

/* All ranks of MPI_COMM_WORLD call this, in MPI_Init. Fills sk_proc.world, or leaves it NULL. */
void sk_world_start(void);
void sk_world_end(void);

/* What a rank contributes when the ranks of a communicator agree: the numbers that are free at it and
 * other bits; the bitwise and of all is the result. */
typedef struct sk_agreement {
    uint64_t number[SK_NUMBER_WORDS];
    uint64_t bits;
    uint64_t id; /* of the attempt: unique in the job, from the first rank of the communicator */
    uint64_t region, stamp; /* ranks of one node: their shared memory, from the first of them */
} sk_agreement;

/* Threads of one process may agree on several communicators at a time, at each rank in another order. One
 * thread at a time may; the agreement of a communicator fails if at some rank its thread may not, and is
 * tried again. After the first attempt its ranks have an id for it, and of all that wait the lowest id is
 * next, at every rank: so the lowest of all succeeds. */
enum { SK_NO_ID = 0 };
uint64_t sk_world_new_id(void);
void sk_world_enqueue(uint64_t id);
void sk_world_dequeue(uint64_t id);

/* True: this thread may agree, and the free numbers are filled in; else none is free. */
bool sk_world_begin_agreement(sk_agreement *a, uint64_t bits, uint64_t id);
int sk_world_end_agreement(const sk_agreement *a, bool begun); /* the number, or -1 */
void sk_world_release_agreement(bool begun);                   /* others may */
void sk_world_free_number(int number); /* takes no lock: the host may call it */

#endif
