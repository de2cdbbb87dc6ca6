/* skein.h: the only installed header of Skein. Nothing in it is needed to use Skein: put
 * `skein run` in front of the command line of an MPI program.
 *
 * Settings are environment variables of the ranks. `skein info` lists them with their values, and
 * skein(7) describes them:
 *
 *   SKEIN=off                          leave every call to the host MPI
 *   SKEIN_<COLLECTIVE>=auto|off|NAME   for one collective: choose, leave it to the host, or force
 * an algorithm, as in SKEIN_ALLREDUCE=ring SKEIN_REPORT=1|FILE                what was done, at
 * MPI_Finalize: a table, or JSON in a file SKEIN_MEM, SKEIN_CACHE             bounds on scratch
 * memory and on plans kept SKEIN_WAIT=auto|spin|yield         how a rank waits
 *   SKEIN_<COLLECTIVE>_LONG and others where one algorithm hands over to the next */
#ifndef SKEIN_H
#define SKEIN_H

#define SKEIN_VERSION       "0.1.0"
#define SKEIN_VERSION_MAJOR 0
#define SKEIN_VERSION_MINOR 1
#define SKEIN_VERSION_PATCH 0

#endif
