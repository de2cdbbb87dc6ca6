/* inproc_slots.h: the slots of one run over the in-process wire, and who did what with them. */
#ifndef SK_LOCAL_SLOTS_H
#define SK_LOCAL_SLOTS_H

#include "lab/inproc/inproc_inner.h"

/* Epochs are the same at all local ranks, or the run is refused. */
typedef struct inproc_node {
    const int *local_ranks; /* ranks */
    int n;
    const sk_epoch_info *epochs;
    uint32_t nepochs;
    int64_t *first;        /* of each epoch, and the end: where its slots start, in all slots */
    unsigned char *opened; /* [epoch * n + local rank] */
    unsigned char *posted; /* the same */
    unsigned char *seen;   /* [(epoch * n + by) * n + local rank]: awaited it */
    sk_part *joined;       /* [epoch], in slots */
    int *joins;            /* [epoch], how many local ranks did */
} inproc_node;

typedef struct exposure {
    const void *place;
    const char *at;
    int64_t len;
} exposure;

typedef struct inproc_epochs {
    inproc_node *nodes;
    int nnodes;
    char *slots;
    int64_t bytes;
    uint16_t *writer; /* of each byte of slots: local rank + 1; 0: nobody */
    exposure *single_copy;
    int64_t nexposed, single_copy_cap;
    bool own; /* the memory of the slots */
} inproc_epochs;

int64_t sk_inproc_slot_stride(int64_t room);

/* The epochs of a node: those of a local rank that has a part in all of them, if one has. `view`: of a
 * rank. */
typedef const struct sk_sched_view *sk_inproc_view(const void *of, int rank);
const struct sk_sched_view *sk_inproc_epochs_of(const sk_machine *m, int node, sk_inproc_view *view,
                                                const void *of);
sk_inproc_view sk_inproc_run_view; /* of an array of runs */

/* Where the slot of a local rank, or of n, the common one, stands. */
static inline char *sk_inproc_slot_at(const inproc_epochs *t, const inproc_node *n, uint32_t epoch,
                                      int local_rank)
{
    return t->slots + n->first[epoch] +
           local_rank * sk_inproc_slot_stride(n->epochs[epoch].slot_bytes);
}

/* NULL when out of memory. */
inproc_epochs *sk_inproc_epochs_new(const sk_machine *m, const sk_run *runs, void *memory);
void sk_inproc_epochs_free(inproc_epochs *t);

#endif
