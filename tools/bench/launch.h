/* launch.h: finds and starts the launcher and the measuring program of an MPI, and reads their
 * output. */
#ifndef SK_LAUNCH_H
#define SK_LAUNCH_H

#include "run/elf.h"
#include "strlist.h"

/* The launcher of an MPI, or NULL. */
const char *sk_launch_find_launcher(sk_arena *a, sk_flavour mpi);

/* A program of this installation in libexec, by its name; or NULL. */
const char *sk_launch_find_tool(sk_arena *a, const char *name);

/* skein-bench-<mpi>, or NULL. */
const char *sk_launch_find_program(sk_arena *a, sk_flavour mpi);

/* The file of this command. */
const char *sk_launch_self(sk_arena *a);

enum { SK_LAUNCH_SILENT = -1, SK_LAUNCH_FAILED = -2 };

/* Runs the command and passes each line of its standard output to `line`; false ends it. Returns its exit status,
 * 128 + signal, SK_LAUNCH_SILENT when it was ended so, or because no output came for `patience` seconds,
 * or SK_LAUNCH_FAILED when it could not be started. */
int sk_launch_run(const sk_strlist *command, double patience, bool (*line)(void *ctx, char *text),
                  void *ctx);

#endif
