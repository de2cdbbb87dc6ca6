/* neighbor_batch.h: neighbourhood collectives in flight together, with a collective of the ordinary
 * kind and a message among them, repeated for some rounds. */
#ifndef NEIGHBOR_BATCH_H
#define NEIGHBOR_BATCH_H

#include "neighbor_item.h"

enum { TOPOS = 2 };

/* What all batches of a case share. */
typedef struct scene {
    topo topos[TOPOS];
    int calls[TOPOS]; /* made so far */
    ncoll only;       /* NNCOLLS: all of them */
    bool verbose;
    char where[80];     /* the seed and the case, for failures */
    long no_form;       /* calls in another form than drawn, which is not there */
    long host_mistakes; /* calls turned into allgathers: the host errs in them */
} scene;

/* Draw a batch, run it, and judge it. With `last` the communicators and types are freed while it is
 * under way. `shared` is drawn alike on all ranks, `local` is this rank's own. */
void batch_play(scene *s, rng *shared, rng *local, bool last);

#endif
