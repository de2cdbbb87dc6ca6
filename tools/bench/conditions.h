/* conditions.h: under which conditions calls are measured. The command passes them on to the
 * measuring program. */
#ifndef SK_BENCH_CONDITIONS_H
#define SK_BENCH_CONDITIONS_H

#include "coll/call.h"

/* Which part of a communicator's life is timed. Each phase gives two times. */
typedef enum sk_phase {
    SK_WARM,    /* later calls: one call from a common start; a call of a train */
    SK_COLD,    /* on a fresh communicator: calls 1 and 2; calls 3 to N, per call */
    SK_LIFE,    /* a communicator made and freed; made, N calls, freed */
    SK_OVERLAP, /* nonblocking: start and wait; start, compute, wait */
    SK_NPHASES
} sk_phase;

typedef enum sk_buffer_use {
    SK_REUSED,  /* the same buffers in all calls, and nobody writes them in between */
    SK_WRITTEN, /* what a call sends is written before it */
    SK_FRESH,   /* other buffers in each call, out of more than the caches hold */
    SK_NBUFFERS
} sk_buffer_use;

enum { SK_TIMES = 2 }; /* of a phase */

typedef struct sk_conditions {
    sk_form form;
    sk_phase phase;
    int calls; /* on a fresh communicator */
    int gap_us; /* computation before every call; overlap: during it, 0: as long as the host's call */
    sk_buffer_use buffers;
} sk_conditions;

/* Their names, NULL after the last. */
extern const char *const sk_form_names[], *const sk_phase_names[], *const sk_buffer_names[];

/* The index of a name; -1: there is none. */
int sk_name_index(const char *const *names, const char *name);

/* What time number i of the phase is, as heading. */
const char *sk_time_title(const sk_conditions *c, int i, char *buf, size_t size);

#endif
