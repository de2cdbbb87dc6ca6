#include "mpi/dispatch/call_cache.h"

#include <stdlib.h>

#include "mpi/state/topo.h"

enum {
    SETS = SK_CALL_SETS,
    WAYS = SK_CALL_WAYS,
    ARRAYS = SK_CALL_ARRAYS,
    FEW_HANDLES = SK_CALL_FEW_HANDLES
};

static void drop(struct sk_call_entry *p)
{
    if (!p)
        return;
    sk_plan_release(p->descriptor.plan);
    free(p->arrays);
    if (p->handles != p->few)
        free(p->handles);
    free(p);
}

static void forget(struct sk_call_cache *r, struct sk_call_entry **at)
{
    for (int form = 0; *at && form < SK_PERSISTENT; form++)
        if (r->last[form][(*at)->args.coll] == *at)
            r->last[form][(*at)->args.coll] = NULL;
    drop(*at);
    *at = NULL;
}

void sk_call_cache_owe(sk_comm *c)
{
    c->owed = true;
    if (c->cache)
        memset(c->cache->last[SK_BLOCKING], 0, sizeof c->cache->last[SK_BLOCKING]);
}

void sk_call_cache_decided(sk_comm *c, const sk_guarded *g)
{
    if (g->guard.held)
        sk_call_cache_owe(c);
    for (int i = 0; c->cache && g->guard.best != SK_GUARD_HOST && i < SETS * WAYS; i++) {
        struct sk_call_entry **at = &c->cache->set[i / WAYS].way[i % WAYS];
        if (*at && (*at)->descriptor.guarded == g && (*at)->descriptor.side != g->guard.best)
            forget(c->cache, at);
    }
}

static void free_cache(struct sk_call_cache *r)
{
    for (int i = 0; r && i < SETS * WAYS; i++)
        drop(r->set[i / WAYS].way[i % WAYS]);
    free(r);
}

/* All arguments but the buffers and arrays. Each is multiplied, so the highest bits depend on all of them. */
static uint64_t hash_args(const sk_args *a)
{
    uint64_t handles = (uintptr_t)a->stype + 2 * (uintptr_t)a->rtype + 4 * (uintptr_t)a->op,
             small = (unsigned)a->coll * 8 + (unsigned)a->form + ((unsigned)a->root << 8);
    return (handles + small) * 0x9e3779b97f4a7c15u + (uint64_t)a->scount * 0xff51afd7ed558ccdu +
           (uint64_t)a->rcount * 0xc4ceb9fe1a85ec53u;
}

static uint32_t mark_of(uint64_t hash)
{
    return (uint32_t)(hash >> 24);
}

static struct sk_call_set *set_of(struct sk_call_cache *r, uint64_t hash)
{
    return &r->set[(hash >> 56) % SETS];
}

/* The way of such a call; -1: none. */
static int matching(const struct sk_call_set *s, const sk_args *a, uint64_t hash)
{
    for (int i = 0; i < WAYS; i++)
        if (s->mark[i] == mark_of(hash) && s->way[i] && sk_call_entry_matches(s->way[i], a))
            return i;
    return -1;
}

/* The bytes of each array of the call. */
typedef struct sk_array_bytes {
    size_t bytes[ARRAYS];
} sk_array_bytes;

static sk_array_bytes array_bytes(const sk_args *a, const sk_comm *c)
{
    size_t ns = (size_t)c->nranks, nr = ns;
    if (sk_coll_neighbor(a->coll)) {
        ns = (size_t)c->topo->graph->nout;
        nr = (size_t)c->topo->graph->nin;
    }
    size_t count = a->wide ? sizeof(MPI_Count) : sizeof(int);
    size_t displ = a->wide || a->aints ? sizeof(MPI_Aint) : sizeof(int),
           type = sizeof(MPI_Datatype);
    return (sk_array_bytes){{ns * count, ns * displ, nr * count, nr * displ, ns * type, nr * type}};
}

/* The handles of the user's objects in the call mean what they meant. */
static bool still_equal(const struct sk_call_entry *p)
{
    int commutes = 0;
    if (p->freed != atomic_load(&sk_proc.types_freed))
        return false;
    return !p->own_op || (sk_host.Op_commutative(p->args.op, &commutes) == MPI_SUCCESS &&
                          !commutes == p->ordered);
}

sk_descriptor *sk_call_cache_find(const sk_args *a, const sk_comm *c)
{
    struct sk_call_cache *r = c->cache;
    if (!r)
        return NULL;
    uint64_t hash = hash_args(a);
    const struct sk_call_set *s = set_of(r, hash);
    int way = matching(s, a, hash);
    if (way < 0)
        return NULL;
    struct sk_call_entry *p = s->way[way];
    if (sk_coll_neighbor(a->coll) && p->version != c->topo->neighborhood.version)
        return NULL;
    if (SK_UNLIKELY(p->derived)) /* which the shortest way does not look at */
        return still_equal(p) ? &p->descriptor : NULL;
    const sk_descriptor *x = &p->descriptor;
    if (a->form != SK_PERSISTENT &&
        (x->one_epoch || x->nothing ||
         (x->guarded && sk_guard_host_is_best(&x->guarded->guard) && !x->sized)))
        r->last[a->form][a->coll] = p;
    return &p->descriptor;
}

static bool keep_arrays(struct sk_call_entry *p, const sk_args *a, const sk_comm *c)
{
    sk_array_bytes x = array_bytes(a, c);
    bool send = a->sbuf != MPI_IN_PLACE; /* else the program may pass anything */
    const void *array[ARRAYS] = {send ? a->scounts : NULL,
                                 send ? a->sdispls : NULL,
                                 a->rcounts,
                                 a->rdispls,
                                 send ? a->stypes : NULL,
                                 a->rtypes};
    size_t bytes = 1;
    for (int i = 0; i < ARRAYS; i++)
        bytes += x.bytes[i];
    char *at = bytes <= UINT32_MAX ? p->arrays = malloc(bytes) : NULL;
    for (int i = 0; at && i < ARRAYS; i++) {
        if (!array[i] || !x.bytes[i])
            continue;
        p->array_bytes[i] = (uint32_t)x.bytes[i];
        at = (char *)memcpy(at, array[i], x.bytes[i]) + x.bytes[i];
    }
    return at != NULL;
}

/* That of an entry that is out of date, else a free one, else the next. */
static int way_for(struct sk_call_set *s, const sk_args *a, uint64_t hash)
{
    int way = matching(s, a, hash);
    for (int i = 0; way < 0 && i < WAYS; i++)
        if (!s->way[i])
            way = i;
    return way >= 0 ? way : (int)(s->next++ % WAYS);
}

/* NULL: out of memory. */
static struct sk_call_cache *cache_of(sk_comm *c)
{
    if (!c->cache)
        c->cache = calloc(1, sizeof *c->cache);
    c->cache_free = free_cache;
    return c->cache;
}

static uint64_t hash_bytes(uint64_t h, const void *at, size_t bytes)
{
    uint32_t word;
    for (size_t i = 0; at && i + sizeof word <= bytes; i += sizeof word) {
        memcpy(&word, (const char *)at + i, sizeof word);
        h = (h ^ word) * 0x9e3779b97f4a7c15u;
        h ^= h >> 32;
    }
    return h;
}

static uint64_t hash_call(const sk_args *a, const sk_comm *c)
{
    uint64_t h = hash_args(a);
    if (!sk_args_has_arrays(a))
        return h;
    sk_array_bytes x = array_bytes(a, c);
    if (a->sbuf != MPI_IN_PLACE) {
        h = hash_bytes(h, a->scounts, x.bytes[0]);
        h = hash_bytes(h, a->sdispls, x.bytes[1]);
    }
    h = hash_bytes(h, a->rcounts, x.bytes[2]);
    return hash_bytes(h, a->rdispls, x.bytes[3]);
}

bool sk_call_cache_seen(const sk_args *a, sk_comm *c)
{
    struct sk_call_cache *r = cache_of(c);
    if (!r)
        return false;
    uint64_t h = hash_call(a, c);
    uint32_t *at = &r->seen[(h >> 56) % SK_CALL_SEEN], mark = mark_of(h) | 1;
    bool seen = *at == mark;
    *at = mark;
    return seen;
}

sk_descriptor *sk_call_cache_add(const sk_args *a, sk_comm *c, const sk_mpi_call *call,
                                 sk_plan *plan)
{
    if (!call->told || !sk_comm_adopted(c) || !cache_of(c))
        return NULL;
    struct sk_call_entry *p = calloc(1, sizeof *p);
    uint32_t n = call->call.ntypes;
    if (!p)
        return NULL;
    p->handles = n <= FEW_HANDLES ? p->few : malloc(n * sizeof(MPI_Datatype));
    if (!p->handles || (sk_args_has_arrays(a) && !keep_arrays(p, a, c))) {
        drop(p);
        return NULL;
    }
    memcpy(p->handles, call->handles, n * sizeof(MPI_Datatype));
    sk_descriptor_init(&p->descriptor, c, call, a->op, plan);
    p->descriptor.wire.handles = p->handles;
    sk_plan_hold(plan);
    p->version = sk_coll_neighbor(a->coll) ? c->topo->neighborhood.version : 0;
    p->derived = !call->permanent;
    p->own_op = call->own_op;
    p->ordered = call->call.ordered;
    p->freed = atomic_load(&sk_proc.types_freed);
    p->args = *a;
    p->distance = (uintptr_t)call->distance;
    p->buffers = sk_call_buffers(a, p->distance);
    uint64_t hash = hash_args(a);
    struct sk_call_set *s = set_of(c->cache, hash);
    int way = way_for(s, a, hash);
    forget(c->cache, &s->way[way]);
    s->way[way] = p;
    s->mark[way] = mark_of(hash);
    return &p->descriptor;
}
