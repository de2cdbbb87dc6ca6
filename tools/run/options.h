/* options.h: the options of `skein run`, which `skein trace` has too. */
#ifndef SK_RUN_OPTIONS_H
#define SK_RUN_OPTIONS_H

#include "run/plan.h"

/* How they are told to the user. */
#define SK_RUN_OPTIONS_HELP                                                                        \
    "  --report        print a table of the collectives when the program ends\n"                   \
    "  --report=FILE   write it to FILE as JSON\n"                                                 \
    "  --match[=NAME]  match messages by Skein's libfabric provider, with this engine\n"           \
    "  --mpi=NAME      openmpi or mpich: do not look which MPI the program links\n"                \
    "  --lib DIR       take Skein's libraries from DIR\n"                                          \
    "  --dry-run       print the command that would be run\n"

/* Read the options at argv[first...]. Returns the place of the first word that is none, or -1 after
 * a refusal. */
int sk_run_options_read(sk_arena *a, int argc, char **argv, int first, sk_run_options *o);

/* From the options to the command: settings are checked and set in the environment. Returns 0, or
 * the exit status after a refusal. */
int sk_run_prepare(sk_strlist *command, const sk_run_options *o, char **words, int n);

/* The file name as it is from any directory. Refuses one that cannot be written: `what` it is. */
int sk_run_file(sk_arena *a, const char *what, const char *file, const char **out);

/* The command, as a shell would read it back. */
void sk_run_print(char *const *words);

#endif
