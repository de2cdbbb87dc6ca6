/* init.c: MPI_Init, MPI_Init_thread, MPI_Finalize and MPI_Abort. */
#include <stdatomic.h>
#include <unistd.h>

#include "mpi/dispatch/dispatch.h"
#include "mpi/dispatch/ending.h"
#include "mpi/dispatch/observe.h"
#include "mpi/dispatch/startup.h"
#include "mpi/state/comm.h"
#include "mpi/state/host.h"
#include "mpi/state/world.h"
#include "skein.h"

static void start(void)
{
    if (sk_process_start() != SK_PROC_READY)
        return;
    sk_world_start();
    sk_dispatch_world_created();
    sk_observe_start();
}

SK_ENTRY(MPI_Init, (int *argc, char ***argv), (argc, argv))
{
    int rc = sk_host.Init(argc, argv);
    if (rc == MPI_SUCCESS)
        start();
    return rc;
}

SK_ENTRY(MPI_Init_thread, (int *argc, char ***argv, int required, int *provided),
         (argc, argv, required, provided))
{
    int rc = sk_host.Init_thread(argc, argv, required, provided);
    if (rc == MPI_SUCCESS)
        start();
    return rc;
}

SK_ENTRY(MPI_Finalize, (void), ())
{
    sk_process_end();
    return sk_host.Finalize();
}

SK_ENTRY(MPI_Abort, (MPI_Comm comm, int errorcode), (comm, errorcode))
{
    sk_ending_abort();
    return sk_host.Abort(comm, errorcode);
}

/* For tests and tools, which look it up by name: a total of the report. Returns 0, or -1 when there
 * is no such name. */
SK_EXPORT int skein_counter(const char *name, long long *value)
{
    return sk_proc.report && sk_report_total(sk_proc.report, name, value) ? 0 : -1;
}

/* For `skein tune`, which looks it up by name: calls on the communicator, which has had none, are served by the
 * algorithm that the setting forces ("SKEIN_BCAST=chain"), or by the host. All ranks call it. Returns 0 or -1. */
SK_EXPORT int skein_try(MPI_Comm comm, const char *setting)
{
    char err[256];
    sk_comm *c = sk_process_ready() ? sk_comm_find(comm) : NULL;
    if (!c || c->plans || c->trial)
        return -1;
    return sk_select_trial(environ, setting, &c->trial, err, sizeof err) == SK_OK ? 0 : -1;
}
