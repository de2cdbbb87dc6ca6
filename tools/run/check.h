/* check.h: may this command run under Skein, and with which library? Each refusal is one message on
 * standard error that says what to do. */
#ifndef SK_CHECK_H
#define SK_CHECK_H

#include "run/preload.h"
#include "run/program.h"

enum { SK_RUN_OK = 0, SK_RUN_REFUSED = 2 };

/* Prints "skein run: ..." and returns SK_RUN_REFUSED. */
int sk_refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Judge a program. *mpi is the MPI found so far (of the programs before it, or by --mpi);
 * `launcher` is that of the launcher, SK_MPI_NONE when there is none or it serves any. Sets *mpi.
 */
int sk_check_program(const sk_program *p, const char *name, sk_flavour launcher, sk_flavour *mpi);

/* The library for an MPI, from `dir` if it is not NULL; `p` is a program it has to fit, or NULL. */
int sk_check_library(sk_arena *a, sk_flavour mpi, const char *dir, const sk_program *p,
                     const char **library);

#endif
