#include "mpi/state/comm.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "mpi/state/topo.h"

/* ---- the object ---- */

enum { BEING_CLEARED = -1 };

static sk_comm *take_from_pool(void)
{
    pthread_mutex_lock(&sk_proc.lock);
    sk_comm *c = sk_proc.comms;
    for (; c; c = c->next) {
        int nobody = 0;
        if (atomic_compare_exchange_strong(&c->users, &nobody, 1))
            break;
    }
    if (!c && (c = calloc(1, sizeof *c))) {
        atomic_init(&c->users, 1);
        pthread_mutex_init(&c->plans_lock, NULL);
        c->next = sk_proc.comms;
        sk_proc.comms = c;
    }
    pthread_mutex_unlock(&sk_proc.lock);
    return c;
}

void sk_comm_drop_cache(sk_comm *c)
{
    if (c->cache)
        c->cache_free(c->cache);
    c->cache = NULL;
}

/* Free what the communicator owned; the object itself goes back to the pool. */
static void clear(sk_comm *c)
{
    if (c->dup_state == SK_DUP_READY)
        sk_host.Comm_free(&c->wire);
    c->dup_state = SK_DUP_NONE;
    sk_comm_drop_cache(c);
    c->cache = c->cache_aside;
    sk_comm_drop_cache(c);
    c->cache_aside = NULL;
    sk_plans_free(c->plans);
    c->plans = NULL;
    c->counted = (sk_plans_stats){0};
    sk_topo_free(c->topo);
    c->topo = NULL;
#if SK_HAVE_SHM
    sk_shm_free(c->shm);
#endif
    sk_machine_free(c->machine);
    free(c->notes);
    c->notes = NULL;
    c->shm = NULL;
    c->machine = NULL;
    c->call_machine = NULL;
    c->slot_capacity = 0;
    c->direct = c->discovered = c->discovery_done = c->located = false;
    c->calls = 0;
    free(c->scratch);
    free(c->arrays);
    c->scratch = c->arrays = NULL;
    c->scratch_size = c->arrays_size = 0;
}

void sk_comm_hold(sk_comm *c)
{
    atomic_fetch_add(&c->users, 1);
}

void sk_comm_release(sk_comm *c)
{
    int last = 1;
    while (!atomic_compare_exchange_strong(&c->users, &last, last == 1 ? BEING_CLEARED : last - 1))
        ;
    if (last != 1)
        return;
    clear(c);
    atomic_store(&c->users, 0);
}

int sk_comm_attr_freed(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)key, (void)extra;
    sk_comm *c = value, *expected = c;
    atomic_compare_exchange_strong(&sk_proc.comm_slot[SK_HANDLE_INDEX(comm)], &expected, NULL);
    c->freed = true;
    atomic_store(&c->handle, 0);
    sk_comm_release(c);
    return MPI_SUCCESS;
}

static sk_comm *make(MPI_Comm comm)
{
    sk_comm *c = take_from_pool();
    if (!c)
        return NULL;
    int inter = 0;
    c->user = comm;
    c->freed = c->had_nonblocking = c->tags_used_up = false;
    c->host_colls = 0;
    c->devices = c->device_seen = c->device_host = false;
    c->device_calls = 0;
    c->next_tag = c->next_persist_tag = 0;
    if (sk_host.Comm_test_inter(comm, &inter) != MPI_SUCCESS)
        goto fail;
    c->inter = inter;
    if (!inter) {
        sk_host.Comm_rank(comm, &c->rank);
        sk_host.Comm_size(comm, &c->nranks);
        c->plans = sk_plans_new(sk_settings_int(sk_select_settings(sk_proc.select), SK_SET_CACHE));
        if (!c->plans)
            goto fail;
    }
    if (sk_host.Comm_set_attr(comm, sk_proc.comm_key, c) != MPI_SUCCESS)
        goto fail;
    atomic_store_explicit(&c->handle, (uintptr_t)comm, memory_order_release);
    return c;
fail:
    sk_comm_release(c);
    return NULL;
}

sk_comm *sk_comm_find(MPI_Comm comm)
{
    if (comm == MPI_COMM_NULL)
        return NULL;
    sk_comm *c = NULL;
    int found = 0;
    if (sk_host.Comm_get_attr(comm, sk_proc.comm_key, (void *)&c, &found) != MPI_SUCCESS)
        return NULL;
    if (!found)
        c = make(comm);
    if (c)
        atomic_store_explicit(&sk_proc.comm_slot[SK_HANDLE_INDEX(comm)], c, memory_order_release);
    return c;
}

/* ---- the private duplicate ---- */

/* Only calls that may block start a duplicate, and they wait for it, so there is one at a time. Open
 * MPI creates duplicates in an order of its own: if ranks started several in different orders, each
 * would wait for the other for ever. While a duplicate is created, active collectives progress. */
sk_status sk_comm_wire(sk_comm *c)
{
    SK_ASSERT(sk_process_locked());
    if (sk_comm_wired(c))
        return SK_OK;
    int done = 1, rc = MPI_SUCCESS;
    if (c->dup_state == SK_DUP_NONE) {
#if SK_HAVE_IDUP
        rc = sk_host.Comm_idup(c->user, &c->wire, &c->dup);
#else
        rc = sk_host.Comm_dup(c->user, &c->wire);
#endif
        if (rc != MPI_SUCCESS)
            return SK_WIRE;
        c->dup_state = SK_DUP_PENDING;
    }
#if SK_HAVE_IDUP
    rc = sk_host.Test(&c->dup, &done, MPI_STATUS_IGNORE);
#endif
    if (rc != MPI_SUCCESS)
        return SK_WIRE;
    if (!done)
        return SK_AGAIN;
    sk_host.Comm_set_errhandler(c->wire, MPI_ERRORS_RETURN);
    atomic_store_explicit(&c->dup_state, SK_DUP_READY, memory_order_release);
    return SK_OK;
}

static sk_status wire_locked(sk_comm *c)
{
    pthread_mutex_lock(&sk_proc.lock);
    sk_status st = sk_comm_wire(c);
    pthread_mutex_unlock(&sk_proc.lock);
    return st;
}

bool sk_comm_wait_wired(sk_comm *c)
{
    sk_status st = SK_OK;
    SK_WAIT_UNTIL(sk_proc.wait, sk_comm_wired(c) || (st = wire_locked(c)) != SK_AGAIN,
                  sk_progress());
    return st == SK_OK || sk_comm_wired(c);
}

void *sk_comm_scratch(void **memory, size_t *have, size_t size)
{
    if (*have < size) {
        size_t want = (size + 4095) / 4096 * 4096;
        void *p = aligned_alloc(64, want);
        if (!p)
            return NULL;
        free(*memory);
        *memory = p;
        *have = want;
    }
    return *memory;
}

/* ---- for calls ---- */

sk_status sk_comm_plan(sk_comm *c, const sk_call *call, sk_plan **out)
{
    if (sk_proc.threads)
        pthread_mutex_lock(&c->plans_lock);
    sk_status st = sk_plans_get(c->plans, sk_proc.select, call, out);
    if (st == SK_OK)
        sk_plan_hold(*out);
    sk_plans_stats now = sk_plans_count(c->plans);
    if (now.built != c->counted.built) {
        sk_report_plans(sk_proc.report, now.built - c->counted.built,
                        now.evicted - c->counted.evicted);
        c->counted = now;
    }
    if (sk_proc.threads)
        pthread_mutex_unlock(&c->plans_lock);
    return st;
}

int sk_comm_allgather(const sk_comm *c, void *data, size_t bytes, MPI_Request *request)
{
    *request = MPI_REQUEST_NULL;
#if SK_HAVE_IALLGATHER
    return sk_host.Iallgather(MPI_IN_PLACE, 0, MPI_BYTE, data, (int)bytes, MPI_BYTE, c->wire,
                              request);
#else
    /* This host's own allgather sends a message per pair of ranks. */
    void *mine = malloc(bytes);
    if (!mine)
        return MPI_ERR_NO_MEM;
    memcpy(mine, (char *)data + (size_t)c->rank * bytes, bytes);
    int rc = sk_host.Gather(mine, (int)bytes, MPI_BYTE, data, (int)bytes, MPI_BYTE, 0, c->wire);
    free(mine);
    return rc != MPI_SUCCESS ? rc
                             : sk_host.Bcast(data, (int)bytes * c->nranks, MPI_BYTE, 0, c->wire);
#endif
}

void sk_comm_barrier(sk_comm *c)
{
    MPI_Request barrier;
    if (c->nranks > 1 && sk_host.Ibarrier(c->user, &barrier) == MPI_SUCCESS)
        sk_wait_request(&barrier, MPI_STATUS_IGNORE);
}

int sk_raise(const sk_comm *c, int code)
{
    sk_host.Comm_call_errhandler(c->freed ? MPI_COMM_WORLD : c->user, code);
    return code;
}

/* ---- the end ---- */

void sk_comm_forget_all(void)
{
    for (sk_comm *c = sk_proc.comms, *next; c; c = next) {
        next = c->next;
        if (atomic_load(&c->handle))
            sk_host.Comm_delete_attr(c->user, sk_proc.comm_key);
        pthread_mutex_destroy(&c->plans_lock);
        free(c);
    }
    sk_proc.comms = NULL;
    sk_host.Comm_free_keyval(&sk_proc.comm_key);
}
