/* program.h: whether a library can be preloaded into a program, and which MPI it links. */
#ifndef SK_PROGRAM_H
#define SK_PROGRAM_H

#include "run/elf.h"

typedef enum sk_verdict {
    SK_PROGRAM_ANY, /* a script, an interpreter, a tool: whatever MPI it uses is seen when it runs */
    SK_PROGRAM_MPI, /* `mpi` says which */
    SK_PROGRAM_MISSING,
    SK_PROGRAM_NOT_EXECUTABLE,
    SK_PROGRAM_DAMAGED, /* `err` says how */
    SK_PROGRAM_STATIC,
} sk_verdict;

typedef struct sk_program {
    sk_verdict verdict;
    sk_flavour mpi;
    const char *path;   /* of the command's first word */
    const char *soname; /* the MPI library that it needs; NULL when it needs none */
    int bits, machine;  /* 0 when it is no ELF file */
    char err[512];
} sk_program;

/* Looks at the program `name`, to be started in `dir` (NULL: the current directory). */
void sk_program_look(sk_arena *a, const char *name, const char *dir, sk_program *out);

#endif
