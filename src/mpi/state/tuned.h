/* tuned.h: the tuning file of a job. Rank 0 of MPI_COMM_WORLD finds and reads it in MPI_Init, and all ranks get what
 * it says of rank 0's machine. So all of them choose alike, whatever files they see themselves. */
#ifndef SK_TUNED_H
#define SK_TUNED_H

#include "mpi/state/process.h"
#include "select/tuning_file.h"

/* At rank 0: the text that holds for this machine, to be freed; NULL: none. A wrong file gets a warning. */
char *sk_tuned_read(void);

/* Rank 0 gives the text to all, which choose by it from now on. Collective. `bytes`: its length, known to all. */
void sk_tuned_share(MPI_Comm comm, int rank, const char *text, int64_t bytes);

/* The machine of this rank, as a tuning file has it. */
void sk_tuned_machine(char name[SK_TUNING_NAME]);

#endif
