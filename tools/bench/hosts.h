/* hosts.h: the host MPI's own algorithms, and how to force one. */
#ifndef SK_HOSTS_H
#define SK_HOSTS_H

#include "coll/call.h"
#include "run/elf.h"
#include "strlist.h"

/* The names of a collective's algorithms, possibly none. The number of the first is 1. */
sk_strlist sk_host_algos(sk_arena *a, sk_flavour mpi, sk_coll coll);

/* Sets want[i - 1] for each algorithm number i of a collective that an item of --against names, and
 * returns how many. `want` has an entry for each name of sk_host_algos. An item is `best`, a name,
 * COLLECTIVE=NAME or COLLECTIVE=NUMBER. A name also selects names of which it is a whole word
 * (linear: basic_linear, linear_sync). */
int sk_host_wanted(sk_arena *a, sk_flavour mpi, sk_coll coll, const char *item, bool *want);

/* Whether an algorithm runs on that many ranks: some are for two only and abort with more. */
bool sk_host_runs(const char *name, int nranks);

/* Appends the launcher's options that force algorithm `number`. */
void sk_host_force(sk_strlist *options, sk_flavour mpi, sk_coll coll, int number);

/* Appends the launcher's options that set a variable for the ranks. */
void sk_host_setenv(sk_strlist *options, sk_flavour mpi, const char *var, const char *value);

#endif
