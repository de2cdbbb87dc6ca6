/* program.h: which MPI a command line uses: directly, or through a script, a Python interpreter, or
 * a tool that starts another program (numactl, valgrind, env, bash -c ...). */
#ifndef SK_PROGRAM_H
#define SK_PROGRAM_H

#include "run/elf.h"

typedef enum sk_verdict {
    SK_PROGRAM_MPI,     /* `mpi` says which */
    SK_PROGRAM_UNKNOWN, /* a script or an interpreter whose MPI cannot be seen from outside */
    SK_PROGRAM_MISSING,
    SK_PROGRAM_NOT_EXECUTABLE,
    SK_PROGRAM_DAMAGED, /* `err` says how */
    SK_PROGRAM_STATIC,
    SK_PROGRAM_NOT_MPI,
} sk_verdict;

typedef struct sk_program {
    sk_verdict verdict;
    sk_flavour mpi;
    const char *path;     /* of the command's first word */
    const char *file;     /* that links the MPI; NULL when none does */
    const char *soname;   /* the MPI library that it needs */
    const char *launcher; /* a launcher that a script starts by itself; NULL when none */
    int bits, machine;    /* of `file`, 0 when none */
    char err[512];
} sk_program;

/* Looks at words[0..n), to be started in `dir` (NULL: the current directory). */
void sk_program_look(sk_arena *a, char *const *words, int n, const char *dir, sk_program *out);

#endif
