#include "mpi/state/comm.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "mpi/state/kept.h"
#include "mpi/state/topo.h"
#include "mpi/state/world.h"

/* ---- the object ---- */

enum { BEING_CLEARED = -1 };

/* Objects are taken under the lock and come back without it, so the one on top can change only by
 * another one being put over it. */
static sk_comm *take_from_pool(void)
{
    pthread_mutex_lock(&sk_proc.lock);
    sk_comm *c = atomic_load(&sk_proc.idle_comms);
    while (c && !atomic_compare_exchange_weak(&sk_proc.idle_comms, &c, c->next_idle))
        ;
    if (c)
        atomic_store(&c->users, 1);
    else if ((c = calloc(1, sizeof *c))) {
        atomic_init(&c->users, 1);
        c->number = -1;
        pthread_mutex_init(&c->plans_lock, NULL);
        c->next = sk_proc.comms;
        sk_proc.comms = c;
    }
    pthread_mutex_unlock(&sk_proc.lock);
    return c;
}

static void put_into_pool(sk_comm *c)
{
    c->next_idle = atomic_load(&sk_proc.idle_comms);
    while (!atomic_compare_exchange_weak(&sk_proc.idle_comms, &c->next_idle, c))
        ;
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
    sk_comm_drop_cache(c);
    c->cache = c->cache_aside;
    sk_comm_drop_cache(c);
    c->cache_aside = NULL;
    if (c->guarded)
        c->guarded_free(c->guarded);
    c->guarded = c->compared = NULL;
    free(c->alike);
    c->alike = NULL;
    c->comparing = false;
    c->entered = 0;
    free(c->sizes);
    c->sizes = NULL;
    c->owed = c->meets = false;
    c->meeting_ns = c->clock_ns = 0;
    if (c->trial)
        sk_plans_free(c->plans); /* nobody else can use them */
    c->plans = c->trial ? NULL : c->plans;
    if (c->number >= 0 && !c->topo)
        sk_kept_put(c);
    sk_plans_free(c->plans);
    c->plans = NULL;
    c->counted = (sk_plans_stats){0};
    sk_select_free(c->trial);
    c->trial = NULL;
    sk_topo_free(c->topo);
    c->topo = NULL;
    if (c->lease)
        sk_lease_end(sk_proc.world->leases, c->lease, !c->failed);
    c->lease = NULL;
    c->shm = NULL;
    sk_machine_free(c->machine);
    c->machine = NULL;
    c->call_machine = NULL;
    free(c->peers);
    c->peers = NULL;
    c->slot_capacity = c->lane_capacity = 0;
    c->direct = false;
    /* Last: from here on another communicator may have the number. */
    if (c->number >= 0)
        sk_world_free_number(c->number);
    c->number = -1;
    c->state = SK_COMM_NEW;
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
    put_into_pool(c);
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
    c->freed = c->failed = c->had_nonblocking = c->tags_used_up = false;
    c->host_colls = 0;
    c->host_starts = 0;
    c->host_rounds = 0;
    c->devices = c->device_seen = c->device_host = false;
    c->device_calls = 0;
    c->next_tag = c->next_persist_tag = 0;
    c->passing = 0;
    c->waits = NULL;
    c->next_lane = 0;
    c->young = (sk_young){.coll = SK_NCOLLS};
    if (sk_host.Comm_test_inter(comm, &inter) != MPI_SUCCESS)
        goto fail;
    c->inter = inter;
    if (!inter) {
        sk_host.Comm_rank(comm, &c->rank);
        sk_host.Comm_size(comm, &c->nranks);
        if (c->nranks == 1) {
            c->state = SK_COMM_ADOPTED; /* it sends no messages */
            c->requests_written = sk_host_writes_requests();
        }
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

/* ---- its messages ---- */

/* The ranks of a communicator in MPI_COMM_WORLD. */
static bool translate(const sk_comm *c, int *peers)
{
    int *ranks = malloc((size_t)c->nranks * sizeof *ranks);
    MPI_Group group = MPI_GROUP_NULL;
    bool ok = ranks && sk_host.Comm_group(c->user, &group) == MPI_SUCCESS;
    for (int i = 0; ok && i < c->nranks; i++)
        ranks[i] = i;
    ok = ok && sk_host.Group_translate_ranks(group, c->nranks, ranks, sk_proc.world->group,
                                             peers) == MPI_SUCCESS;
    if (group != MPI_GROUP_NULL)
        sk_host.Group_free(&group);
    free(ranks);
    return ok;
}

bool sk_comm_find_peers(sk_comm *c)
{
    if (c->state != SK_COMM_NEW || c->peers)
        return true;
    if (!sk_proc.world || c->inter) {
        c->state = SK_COMM_FOREIGN;
        return true;
    }
    int *peers = malloc((size_t)c->nranks * sizeof *peers);
    bool ok = peers && translate(c, peers), same = true;
    for (int i = 0; ok && i < c->nranks; i++) {
        if (peers[i] == MPI_UNDEFINED)
            c->state = SK_COMM_FOREIGN;
        same &= peers[i] == i;
    }
    if (ok && !same && c->state == SK_COMM_NEW)
        c->peers = peers;
    else
        free(peers);
    return ok;
}

MPI_Comm sk_comm_wire(const sk_comm *c)
{
    return c->nranks == 1 ? sk_proc.self : sk_proc.world->wire;
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

sk_status sk_comm_plan(sk_comm *c, const sk_call *call, sk_plan **out, bool *built)
{
    if (sk_proc.threads)
        pthread_mutex_lock(&c->plans_lock);
    if (!c->plans)
        c->plans = sk_plans_new(sk_settings_int(sk_select_settings(sk_proc.select), SK_SET_CACHE));
    sk_status st = c->plans ? sk_plans_get(c->plans, sk_comm_select(c), call, out) : SK_NOMEM;
    if (st == SK_OK)
        sk_plan_hold(*out);
    sk_plans_stats now = c->plans ? sk_plans_count(c->plans) : c->counted;
    if (built)
        *built = now.built != c->counted.built;
    if (now.built != c->counted.built) {
        sk_report_plans(sk_proc.report, now.built - c->counted.built,
                        now.evicted - c->counted.evicted);
        c->counted = now;
    }
    if (sk_proc.threads)
        pthread_mutex_unlock(&c->plans_lock);
    return st;
}

void sk_comm_barrier(sk_comm *c)
{
    MPI_Request barrier;
    if (!sk_proc.world || sk_proc.world->progress_everywhere)
        return;
    if (!sk_comm_find_peers(c) || c->state == SK_COMM_FOREIGN)
        return; /* the others may not think of a barrier */
    if (c->nranks > 1 && sk_host.Ibarrier(c->user, &barrier) == MPI_SUCCESS)
        sk_wait_request(&barrier, MPI_STATUS_IGNORE);
}

bool sk_comm_largest(const sk_comm *c, int64_t *values, int n)
{
    MPI_Request request;
    return sk_host.Iallreduce(MPI_IN_PLACE, values, n, MPI_INT64_T, MPI_MAX, c->user, &request) ==
               MPI_SUCCESS &&
           sk_wait_request(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS;
}

bool sk_comm_any(const sk_comm *c, bool here)
{
    int64_t any = here;
    return sk_comm_largest(c, &any, 1) && any;
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
    atomic_store(&sk_proc.idle_comms, NULL);
    sk_kept_free_all();
    sk_host.Comm_free_keyval(&sk_proc.comm_key);
}
