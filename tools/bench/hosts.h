/* hosts.h: the host MPI's own algorithms, and how to force one. */
#ifndef SK_HOSTS_H
#define SK_HOSTS_H

#include "coll/call.h"
#include "run/elf.h"
#include "strlist.h"

/* The names of a collective's algorithms, possibly none. The number of the first is 1. */
sk_strlist sk_host_algos(sk_arena *a, sk_flavour mpi, sk_coll coll);

/* What --against says about one collective: number i is wanted if want[i - 1]. `want` has room for
 * the names of sk_host_algos. An item is `best`, a name, COLLECTIVE=NAME or COLLECTIVE=NUMBER; a
 * name also stands for names of which it is a whole word (linear: basic_linear, linear_sync).
 * Returns how many are wanted. */
int sk_host_wanted(sk_arena *a, sk_flavour mpi, sk_coll coll, const char *item, bool *want);

/* Some algorithms are for two ranks only and stop a program that has more. */
bool sk_host_runs(const char *name, int nranks);

/* The launcher's options that force algorithm `number`. */
void sk_host_force(sk_strlist *options, sk_flavour mpi, sk_coll coll, int number);

/* The launcher's options that set a variable for the ranks. */
void sk_host_setenv(sk_strlist *options, sk_flavour mpi, const char *var, const char *value);

#endif
