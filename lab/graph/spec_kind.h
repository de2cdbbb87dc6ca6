/* spec_kind.h: what a kind of graph in spec.h must be able to do. One file each, one row in spec.c.
 */
#ifndef SK_SPEC_KIND_H
#define SK_SPEC_KIND_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

typedef struct sk_spec_kind {
    const char *name, *form; /* "random", "random:DELTA[,SEED]" */

    /* From the text behind the colon. On failure a message is in err, but not when out of memory.
     */
    sk_status (*make)(const char *args, int nranks, void **state, char *err, size_t size);
    void (*drop)(void *state);

    /* The neighbours of a rank, ascending, each once, not itself, into room for one int per rank.
     * Returns their number. */
    int (*list)(const void *state, int rank, bool in, int *out);
} sk_spec_kind;

extern const sk_spec_kind sk_spec_random, sk_spec_moore, sk_spec_matrix;

#endif
