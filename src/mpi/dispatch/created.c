/* created.c: communicators that the program has just made: which of them Skein serves from the start, and whose patterns are
 * built at once. */
#include <string.h>

#include "mpi/dispatch/adopt.h"
#include "mpi/dispatch/await.h"
#include "mpi/dispatch/dispatch.h"
#include "mpi/dispatch/setup.h"
#include "mpi/dispatch/startup.h"
#include "mpi/state/topo.h"

void sk_dispatch_world_created(void)
{
    sk_comm *c = sk_proc.world ? sk_comm_get(MPI_COMM_WORLD) : NULL;
    if (c)
        sk_adopt(c);
}

void sk_dispatch_comm_created(MPI_Comm comm)
{
    if (comm == MPI_COMM_NULL || !sk_process_ready() ||
        (sk_proc.find_after != 0 && !sk_topo_exists(comm)))
        return;
    sk_comm *c = sk_comm_get(comm);
    if (c && !c->inter)
        sk_adopt(c);
}

static bool wants_patterns_now(MPI_Info info)
{
    char value[8] = "";
    int found = 0;
    if (info != MPI_INFO_NULL)
        sk_host.Info_get(info, "skein_plan", (int)sizeof value - 1, value, &found);
    const char *set = sk_settings_text(sk_select_settings(sk_proc.select), SK_SET_PLAN);
    return strcmp(found ? value : set, "eager") == 0;
}

void sk_dispatch_topo_created(MPI_Comm comm, MPI_Info info)
{
    sk_comm *c = comm != MPI_COMM_NULL && sk_process_ready() ? sk_comm_get(comm) : NULL;
    if (!c)
        return;
    sk_adopt(c);
    sk_topo *t = sk_proc.plans && wants_patterns_now(info) && c->nranks > 1 && sk_comm_adopted(c)
                     ? sk_topo_get(c)
                     : NULL;
    if (!t)
        return;
    t->assumed = true;
    sk_request_setup(t, c);
    sk_status st = sk_setup_wait(t, c);
    t->assumed = false;
    if (st != SK_OK)
        sk_raise(c, st == SK_NOMEM ? MPI_ERR_NO_MEM : MPI_ERR_OTHER);
}
