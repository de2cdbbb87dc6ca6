/* preload.h: the command line that gives the ranks, and only them, Skein's library. */
#ifndef SK_PRELOAD_H
#define SK_PRELOAD_H

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

/* LD_PRELOAD's value: the library, then what was there. */
const char *sk_preload_value(sk_arena *a, const char *library, const char *old);

/* SKEIN_* of the environment, as NAME=VALUE. */
void sk_preload_settings(sk_words *out);

/* Append the launcher's command line, with the library and the settings for its ranks. */
void sk_preload_launch(sk_words *out, const sk_launch *l, const char *library);

/* Append a program and its arguments. `env LD_PRELOAD=...` in it would undo ours: it is made to
 * hold both. */
void sk_preload_program(sk_words *out, char *const *words, int n, const char *library);

#endif
