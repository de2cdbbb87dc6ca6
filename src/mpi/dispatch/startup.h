/* startup.h: the library starts on first use and ends in MPI_Finalize. */
#ifndef SK_STARTUP_H
#define SK_STARTUP_H

#include "mpi/state/process.h"

/* First use: reads the settings and creates what the process needs. Returns the new state. Programs
 * may come here without MPI_Init, through a session or a wrapper. */
int sk_process_start(void);

/* Prints the report and frees everything. */
void sk_process_end(void);

/* True when Skein may serve calls: MPI is initialised and Skein is not switched off. */
static inline bool sk_process_ready(void)
{
    int state = atomic_load_explicit(&sk_proc.state, memory_order_acquire);
    if (state == SK_PROC_NEW)
        state = sk_process_start();
    return state == SK_PROC_READY;
}

#endif
