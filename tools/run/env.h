/* env.h: the environment of the ranks, and the command line that sets it for the ranks only. */
#ifndef SK_RUN_ENV_H
#define SK_RUN_ENV_H

#include "run/launcher.h"
#include "run/provider.h"

enum { SK_ENV_LISTS = 8 };

/* A variable that holds a list. Our value goes in front of the user's. */
typedef struct sk_env_list {
    const char *name, *value;
    char separator;
    bool only_if_set; /* set it only where the user has a value */
} sk_env_list;

typedef struct sk_rank_env {
    sk_env_list lists[SK_ENV_LISTS];
    int nlists;
    sk_strlist vars; /* NAME=VALUE; the user's options of the launcher override them */
    sk_strlist mca;  /* parameters of Open MPI: name, value, name, value ... */
} sk_rank_env;

/* The preload library, and the settings of the environment. */
sk_rank_env sk_rank_env_new(sk_arena *a, const char *library);

/* Adds what makes Open MPI use the provider. */
void sk_rank_env_add_provider(sk_rank_env *e, const sk_match_provider *f);

/* All variables as NAME=VALUE. Lists are joined with the values in the environment. `mca`: the
 * parameters of Open MPI too, as variables. */
sk_strlist sk_rank_env_vars(sk_arena *a, const sk_rank_env *e, bool mca);

typedef enum sk_inject {
    SK_INJECT_OPTIONS, /* by the launcher's own options */
    SK_INJECT_ENV,     /* by `env` in front of each program */
} sk_inject;

typedef struct sk_launch_line {
    sk_launcher_kind kind;
    sk_inject inject;
    char *const *words; /* words[0] is the launcher */
    const sk_section *sections;
    int nsections;
} sk_launch_line;

/* Appends the launcher's command line, with the environment of its ranks. */
void sk_env_launch(sk_strlist *out, const sk_launch_line *l, const sk_rank_env *e);

/* Appends a program and its arguments. Where they set one of our lists (`env LD_PRELOAD=...`), our
 * value is put in front of it. */
void sk_env_program(sk_strlist *out, char *const *words, int n, const sk_rank_env *e);

/* The value of a parameter that an option of the section sets (--mca NAME VALUE); NULL: none
 * does. */
const char *sk_launch_line_mca(const sk_launch_line *l, sk_arena *a, const sk_section *s,
                               const char *name);

#endif
