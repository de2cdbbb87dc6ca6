#include "mpi/comm.h"

#include <stdlib.h>

#include "mpi/node.h"
#include "mpi/recent.h"
#include "mpi/request.h"
#include "mpi/topo.h"

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
        c->next = sk_proc.comms;
        sk_proc.comms = c;
    }
    pthread_mutex_unlock(&sk_proc.lock);
    return c;
}

/* Give up what the communicator owned; the object itself goes back to the pool. */
static void clear(sk_comm *c)
{
    if (c->wire_state == SK_WIRE_READY)
        PMPI_Comm_free(&c->wire);
    c->wire_state = SK_WIRE_NONE;
    sk_plans_free(c->plans);
    c->plans = NULL;
    sk_node_free(c);
    sk_topo_free(c->topo);
    c->topo = NULL;
    sk_recent_free(c->recent);
    free(c->scratch);
    free(c->arrays);
    c->recent = NULL;
    c->scratch = c->arrays = NULL;
    c->scratch_size = c->arrays_size = 0;
    c->counted = (sk_plans_stats){0};
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
    atomic_compare_exchange_strong(&sk_proc.comm_slot[SK_SLOT(comm)], &expected, NULL);
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
    c->freed = c->outlived = c->tags_used_up = false;
    c->left = 0;
    c->next_tag = c->next_persist_tag = 0;
    if (PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS)
        goto fail;
    c->inter = inter;
    if (!inter) {
        PMPI_Comm_rank(comm, &c->rank);
        PMPI_Comm_size(comm, &c->nranks);
        c->plans = sk_plans_new(sk_settings_int(sk_select_settings(sk_proc.select), SK_SET_CACHE));
        if (!c->plans)
            goto fail;
    }
    if (PMPI_Comm_set_attr(comm, sk_proc.comm_key, c) != MPI_SUCCESS)
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
    if (PMPI_Comm_get_attr(comm, sk_proc.comm_key, (void *)&c, &found) != MPI_SUCCESS)
        return NULL;
    if (!found)
        c = make(comm);
    if (c)
        atomic_store_explicit(&sk_proc.comm_slot[SK_SLOT(comm)], c, memory_order_release);
    return c;
}

/* Only calls that block, or may, begin a duplicate and wait for it, so that there is one at a time:
 * Open MPI makes duplicates in an order of its own, and one that some ranks have begun and others
 * begin only after another would hold that one up for ever. While it comes, what is under way goes
 * on. */
sk_status sk_comm_wire(sk_comm *c)
{
    if (sk_comm_wired(c))
        return SK_OK;
    int done = 1, rc = MPI_SUCCESS;
    if (c->wire_state == SK_WIRE_NONE) {
#if SK_HAVE_IDUP
        rc = PMPI_Comm_idup(c->user, &c->wire, &c->dup);
#else
        rc = PMPI_Comm_dup(c->user, &c->wire);
#endif
        if (rc != MPI_SUCCESS)
            return SK_WIRE;
        c->wire_state = SK_WIRE_COMING;
    }
#if SK_HAVE_IDUP
    rc = PMPI_Test(&c->dup, &done, MPI_STATUS_IGNORE);
#endif
    if (rc != MPI_SUCCESS)
        return SK_WIRE;
    if (!done)
        return SK_AGAIN;
    PMPI_Comm_set_errhandler(c->wire, MPI_ERRORS_RETURN);
    atomic_store_explicit(&c->wire_state, SK_WIRE_READY, memory_order_release);
    return SK_OK;
}

bool sk_comm_wait_wired(sk_comm *c)
{
    while (!sk_comm_wired(c)) {
        pthread_mutex_lock(&sk_proc.lock);
        sk_status st = sk_comm_wire(c);
        pthread_mutex_unlock(&sk_proc.lock);
        if (st != SK_OK && st != SK_AGAIN)
            return false;
        if (st == SK_AGAIN) {
            sk_progress();
            sk_relax();
        }
    }
    return true;
}

void sk_comm_wire_ahead(MPI_Comm comm)
{
#if SK_HAVE_IDUP
    sk_comm *c = comm != MPI_COMM_NULL && sk_process_ready() ? sk_comm_get(comm) : NULL;
    if (c && !c->inter)
        sk_comm_wait_wired(c);
#else
    (void)comm; /* where duplicates block anyway, nonblocking calls make them */
#endif
}

void *sk_comm_room(void **room, size_t *have, size_t size)
{
    if (*have < size) {
        size_t want = (size + 4095) / 4096 * 4096;
        void *p = aligned_alloc(64, want);
        if (!p)
            return NULL;
        free(*room);
        *room = p;
        *have = want;
    }
    return *room;
}

void sk_comm_forget_all(void)
{
    for (sk_comm *c = sk_proc.comms, *next; c; c = next) {
        next = c->next;
        if (atomic_load(&c->handle))
            PMPI_Comm_delete_attr(c->user, sk_proc.comm_key);
        free(c);
    }
    sk_proc.comms = NULL;
    PMPI_Comm_free_keyval(&sk_proc.comm_key);
}
