/* preload.h: the command line that gives the ranks, and only them, what they need. */
#ifndef SK_PRELOAD_H
#define SK_PRELOAD_H

#include "run/gift.h"
#include "run/launcher.h"

typedef enum sk_inject {
    SK_INJECT_OPTIONS, /* by the launcher's own options */
    SK_INJECT_ENV,     /* by `env` in front of each program */
} sk_inject;

typedef struct sk_launch {
    sk_launcher_kind kind;
    sk_inject inject;
    char *const *words; /* words[0] is the launcher */
    const sk_section *sections;
    int nsections;
} sk_launch;

/* Append the launcher's command line, with the gifts for its ranks. */
void sk_preload_launch(sk_strlist *out, const sk_launch *l, const sk_gifts *g);

/* Append a program and its arguments. `env LD_PRELOAD=...` in it would undo ours: it is made to
 * hold both. */
void sk_preload_program(sk_strlist *out, char *const *words, int n, const sk_gifts *g);

/* The value of a parameter that an option of the section sets (--mca NAME VALUE); NULL: none. */
const char *sk_preload_mca(const sk_launch *l, sk_arena *a, const sk_section *s, const char *name);

#endif
