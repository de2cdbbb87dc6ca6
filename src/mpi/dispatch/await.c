#include "mpi/dispatch/await.h"

#include "mpi/dispatch/call_cache.h"
#include "mpi/dispatch/setup.h"

void sk_request_setup(sk_topo *t, sk_comm *c)
{
    int64_t tag = sk_comm_next(c);
    for (int i = 1; i < SK_SETUP_TAGS; i++)
        sk_comm_next(c);
    sk_topo_add_setup(t, tag);
    sk_call_cache_owe(c);
}

bool sk_await_setups(const sk_args *a, sk_comm *c, sk_mpi_call *call, sk_status *st)
{
    sk_topo *t = c->topo;
    bool needs_setup = sk_topo_count_call(t, c);
    if (needs_setup && !sk_args_read(a, c, call)) {
        t->calls--;
        return true; /* the host will say what is wrong */
    }
    pthread_mutex_lock(&sk_proc.lock);
    if (needs_setup) {
        sk_topo_record_sizes(t, &call->call);
        sk_request_setup(t, c);
    }
    bool pending = sk_topo_setup_pending(t);
    pthread_mutex_unlock(&sk_proc.lock);
    t->setups_done = !pending; /* until a call requests the next one */
    if (pending && a->form == SK_NONBLOCKING)
        return false;
    *st = pending ? sk_setup_wait(t, c) : SK_OK;
    if (a->form == SK_BLOCKING)
        t->settled = t->requested;
    return true;
}
