#include "shm/lease.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A program that makes communicators again and again has few sets of ranks at a time, but perhaps many of each: to clear
 * the memory of one costs more than 100 calls. */
enum { KEPT = 64 };

struct sk_leases {
    sk_node_memory *memory;
    pthread_mutex_t lock; /* protects the rest */
    sk_lease *kept;       /* the last one first */
    int nkept;
};

sk_leases *sk_leases_new(sk_node_memory *memory)
{
    sk_leases *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->memory = memory;
    pthread_mutex_init(&p->lock, NULL);
    return p;
}

static void lease_free(sk_lease *l)
{
    for (int i = 0; i < SK_SHM_LANES; i++)
        sk_shm_free(l->lane[i]);
    sk_shm_free(l->shm);
    free(l);
}

void sk_leases_free(sk_leases *p)
{
    if (!p)
        return;
    for (sk_lease *l = p->kept, *next; l; l = next) {
        next = l->next;
        lease_free(l);
    }
    pthread_mutex_destroy(&p->lock);
    free(p);
}

static sk_lease *lease_new(const sk_leases *p, sk_region r, const int *ranks, int n, int me,
                           sk_shm_size size)
{
    sk_lease *l = malloc(sizeof *l + (size_t)n * sizeof *ranks);
    if (!l)
        return NULL;
    *l = (sk_lease){.size = size, .region = r, .fresh = true, .n = n};
    memcpy(l->ranks, ranks, (size_t)n * sizeof *ranks);
    l->shm = sk_shm_new(sk_node_memory_at(p->memory, r), size.main, n, me);
    if (!l->shm) {
        free(l);
        return NULL;
    }
    sk_shm_borrow(l->shm);
    return l;
}

static char *lane_at(const sk_leases *p, sk_region r, sk_shm_size size, int lane)
{
    return (char *)sk_node_memory_at(p->memory, r) + size.main + (size_t)lane * size.lane;
}

sk_shm *sk_lease_lane(const sk_leases *p, sk_lease *l, int lane)
{
    if (!l->lane[lane])
        l->lane[lane] = sk_shm_lane_new(l->shm, lane_at(p, l->region, l->size, lane), l->size.lane);
    return l->lane[lane];
}

/* A region that has served others. */
static void clear(const sk_leases *p, sk_region r, sk_shm_size size, int n)
{
    void *mem = sk_node_memory_at(p->memory, r);
    sk_shm_clear(mem, size.main, n);
    for (int i = 0; size.lane && i < SK_SHM_LANES; i++)
        sk_shm_lane_clear(lane_at(p, r, size, i), size.lane, n);
}

/* ---- the list ---- */

static sk_lease *unlink_at(sk_leases *p, sk_lease **at)
{
    sk_lease *l = *at;
    *at = l->next;
    l->next = NULL;
    p->nkept--;
    return l;
}

/* The oldest, if there are too many, unless the others have taken it again. */
static sk_lease *surplus(sk_leases *p)
{
    sk_lease **at = &p->kept;
    if (p->nkept <= KEPT)
        return NULL;
    while ((*at)->next)
        at = &(*at)->next;
    return sk_node_memory_forget(p->memory, (*at)->region) ? unlink_at(p, at) : NULL;
}

static void keep_lease(sk_leases *p, sk_lease *l)
{
    pthread_mutex_lock(&p->lock);
    l->fresh = false;
    l->next = p->kept;
    p->kept = l;
    p->nkept++;
    sk_lease *old = surplus(p);
    pthread_mutex_unlock(&p->lock);
    if (old)
        lease_free(old);
}

/* ---- taking ---- */

static void release_all(sk_leases *p, sk_region r, int n, bool keep)
{
    for (int i = 0; i < n; i++)
        sk_node_memory_release(p->memory, r, keep);
}

static bool all_left(const sk_lease *l)
{
    bool all = sk_shm_all_left(l->shm);
    for (int i = 0; i < SK_SHM_LANES; i++)
        all = all && (!l->lane[i] || sk_shm_all_left(l->lane[i]));
    return all;
}

/* One of these ranks that all of them have left, in the same state. */
static sk_lease *retake(sk_leases *p, const int *ranks, int n)
{
    sk_lease *found = NULL;
    pthread_mutex_lock(&p->lock);
    for (sk_lease **at = &p->kept; *at; at = &(*at)->next) {
        sk_region r = (*at)->region;
        if ((*at)->n != n || memcmp((*at)->ranks, ranks, (size_t)n * sizeof *ranks) != 0 ||
            !sk_node_memory_retake(p->memory, r, n))
            continue;
        if (all_left(*at)) {
            found = unlink_at(p, at);
            break;
        }
        release_all(p, r, n, false);
    }
    pthread_mutex_unlock(&p->lock);
    return found;
}

sk_lease *sk_lease_take(sk_leases *p, const int *ranks, int n, sk_shm_size size)
{
    sk_lease *l = retake(p, ranks, n);
    if (l)
        return l;
    sk_region r = sk_node_memory_take(p->memory, sk_shm_size_bytes(size), n);
    if (!r.at)
        return NULL;
    if (r.used)
        clear(p, r, size, n);
    l = lease_new(p, r, ranks, n, 0, size);
    if (!l)
        release_all(p, r, n, false);
    return l;
}

void sk_lease_cancel(sk_leases *p, sk_lease *l)
{
    sk_region r = l->region;
    int n = l->n;
    bool keep = !l->fresh;
    if (keep)
        keep_lease(p, l);
    else
        lease_free(l);
    release_all(p, r, n, keep);
}

sk_lease *sk_lease_attach(sk_leases *p, sk_region r, const int *ranks, int n, int me,
                          sk_shm_size size)
{
    sk_lease *found = NULL;
    pthread_mutex_lock(&p->lock);
    for (sk_lease **at = &p->kept; *at; at = &(*at)->next)
        if ((*at)->region.at == r.at && (*at)->region.stamp == r.stamp) {
            found = unlink_at(p, at);
            break;
        }
    pthread_mutex_unlock(&p->lock);
    return found ? found : lease_new(p, r, ranks, n, me, size);
}

/* It is in the list before the leader can take it again. */
void sk_lease_end(sk_leases *p, sk_lease *l, bool keep)
{
    sk_region r = l->region;
    sk_shm_leave(l->shm);
    for (int i = 0; i < SK_SHM_LANES; i++)
        if (l->lane[i])
            sk_shm_leave(l->lane[i]);
    if (keep)
        keep_lease(p, l);
    else
        lease_free(l);
    sk_node_memory_release(p->memory, r, keep);
}

/* ---- lanes of single collectives ---- */

sk_region sk_own_lane_take(sk_leases *p, const sk_lease *l)
{
    sk_region r =
        l->size.lane ? sk_node_memory_take(p->memory, l->size.lane, l->n) : (sk_region){0};
    if (r.at && r.used)
        sk_shm_lane_clear(sk_node_memory_at(p->memory, r), l->size.lane, l->n);
    return r;
}

void sk_own_lane_cancel(sk_leases *p, const sk_lease *l, sk_region r)
{
    if (r.at)
        release_all(p, r, l->n, false);
}

sk_status sk_own_lane_share(sk_leases *p, sk_lease *l, sk_region r, sk_own_lane *out)
{
    sk_shm_share(l->shm, &r, sizeof r);
    *out = (sk_own_lane){.region = r};
    if (!r.at)
        return SK_OK;
    out->shm = sk_shm_lane_new(l->shm, sk_node_memory_at(p->memory, r), l->size.lane);
    return out->shm ? SK_OK : SK_NOMEM;
}

void sk_own_lane_end(sk_leases *p, sk_own_lane *own)
{
    sk_shm_free(own->shm);
    own->shm = NULL;
    sk_node_memory_release(p->memory, own->region, false);
}
