/* item.h: one random collective call and how to judge it against the host's. */
#ifndef ITEM_H
#define ITEM_H

#include "coll.h"
#include "reduction.h"
#include "side.h"

typedef struct item {
    args a;
    form form;
    bool big;
    side send, recv;
    reduction red;
    int size, rank;
    bool in_place;
    int elems; /* compare so many elements of the receive side only; -1: every byte */
    rng fill;  /* this rank's values */
    char text[240];
} item;

/* `shared` is drawn alike on all ranks of the communicator, `local` is this rank's own. */
void item_make(item *t, rng *shared, rng *local, coll c, form f, bool big, MPI_Comm comm);

/* New values, and what the host makes of them, after which the values are put back. All ranks of
 * the communicator together. */
void item_refill(item *t);

/* The host's part of it: put the result into the buffers. */
void item_reference(item *t);

/* The call under test. The persistent form is made here and started by the caller. */
void item_call(item *t, MPI_Request *req);

/* Whether types and operation may be freed once the call has started, and do it. */
bool item_may_free_handles(const item *t);
void item_free_handles(item *t);

void item_check(item *t, const char *where);
void item_free(item *t);

#endif
