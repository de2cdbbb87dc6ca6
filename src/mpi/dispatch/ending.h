/* ending.h: the report, however the job ends, and what `skein run` is told meanwhile.
 *
 *   MPI_Finalize   the counts of all ranks are merged; rank 0 writes the report
 *   MPI_Abort, exit without MPI_Finalize, a signal, a crash
 *                  `skein run` writes the report from the counts of the ranks on its node, which it
 *                  can read itself (report/channel.h). If it does not have those of a rank, because it
 *                  is on another node or not there, the rank that aborts writes its own counts, or
 *                  rank 0 in exit.
 * No signal is touched. */
#ifndef SK_ENDING_H
#define SK_ENDING_H

#include "mpi/state/process.h"

/* At the start of the process: makes sk_proc.report. `where` is SKEIN_REPORT. False: out of memory. */
bool sk_ending_start(const char *where);

/* The same with SKEIN=off: there is nothing to count. */
void sk_ending_off(const char *where);

void sk_ending_finalize(void);
void sk_ending_abort(void);

#endif
