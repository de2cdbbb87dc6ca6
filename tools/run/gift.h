/* gift.h: what the ranks of a job are given: variables of their environment and parameters of Open
 * MPI. */
#ifndef SK_GIFT_H
#define SK_GIFT_H

#include "run/fabric.h"

enum { SK_MAX_GIFTS = 8 };

/* A variable that holds a list, where ours goes in front of what the user has. */
typedef struct sk_gift {
    const char *name, *value;
    char between;
    bool shy; /* only where the user has a value: there is no need for one otherwise */
} sk_gift;

typedef struct sk_gifts {
    sk_gift lists[SK_MAX_GIFTS];
    int nlists;
    sk_strlist plain; /* NAME=VALUE; what the user says on the command line stays */
    sk_strlist mca;   /* parameters of Open MPI: name, value, name, value ... */
} sk_gifts;

/* The preload library and the settings of the environment. */
sk_gifts sk_gifts_new(sk_arena *a, const char *library);

/* What makes Open MPI use the provider. */
void sk_gifts_match(sk_gifts *g, const sk_fabric *f);

/* The gift that a word NAME or NAME=VALUE is about; NULL for others. */
const sk_gift *sk_gift_find(const sk_gifts *g, const char *word);

/* Its value where the user has `old`, which may be NULL; NULL: nothing to give. */
const char *sk_gift_join(sk_arena *a, const sk_gift *gift, const char *old);

/* All as NAME=VALUE, joined with what the environment has; with the parameters of Open MPI as
 * variables too, if `mca`. */
sk_strlist sk_gifts_list(sk_arena *a, const sk_gifts *g, bool mca);

#endif
