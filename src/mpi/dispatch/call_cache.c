#include "mpi/dispatch/call_cache.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/state/topo.h"

enum { ENTRIES = 16, ARRAYS = 6, FEW_HANDLES = 3 };

struct sk_call_entry {
    sk_descriptor descriptor;
    int64_t version; /* of the neighbourhood */
    sk_args args;
    uintptr_t distance;
    unsigned buffers;
    char *arrays; /* copies of the user's significant arrays, one after the other */
    int narrays;
    struct {
        uint32_t bytes, at; /* at: offset of its pointer in sk_args */
    } array[ARRAYS];
    MPI_Datatype few[FEW_HANDLES];
    MPI_Datatype *handles; /* few, or allocated */
};

struct sk_call_cache {
    struct sk_call_entry *at[ENTRIES];
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

static void free_cache(struct sk_call_cache *r)
{
    for (int i = 0; r && i < ENTRIES; i++)
        drop(r->at[i]);
    free(r);
}

static struct sk_call_entry **entry_of(const sk_args *a, struct sk_call_cache *r)
{
    uint64_t h = ((uint64_t)a->scount + (uint64_t)a->rcount) * 0x9e3779b97f4a7c15u;
    return &r->at[((unsigned)a->coll * 5 + (unsigned)a->form * 7 + (h >> 60)) % ENTRIES];
}

/* A plan depends on the buffers only in this: in place or not, null or not, and whether data is sent
 * from where it is received, which is so at one distance between the buffers. */
static unsigned buffers_of(const sk_args *a, uintptr_t distance)
{
    return (a->sbuf == MPI_IN_PLACE) | (a->rbuf == MPI_IN_PLACE) << 1 | (a->sbuf == NULL) << 2 |
           (a->rbuf == NULL) << 3 | ((uintptr_t)a->sbuf - (uintptr_t)a->rbuf == distance) << 4;
}

/* The bytes of each array of the call. */
typedef struct sk_array_bytes {
    size_t bytes[ARRAYS];
} sk_array_bytes;

static const uint32_t array_at[ARRAYS] = {
    offsetof(sk_args, scounts), offsetof(sk_args, sdispls), offsetof(sk_args, rcounts),
    offsetof(sk_args, rdispls), offsetof(sk_args, stypes),  offsetof(sk_args, rtypes),
};

static const char *array_of(const sk_args *a, uint32_t at)
{
    const char *array;
    memcpy(&array, (const char *)a + at, sizeof array);
    return array;
}

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

/* Compares short arrays without a call. No array element is shorter than four bytes. */
static inline bool same_bytes(const char *x, const char *y, size_t n)
{
    enum { FEW = 64 };
    uint64_t wx, wy;
    uint32_t hx, hy;
    size_t i = 0;
    if (n > FEW)
        return memcmp(x, y, n) == 0;
    for (; i + sizeof wx <= n; i += sizeof wx) {
        memcpy(&wx, x + i, sizeof wx);
        memcpy(&wy, y + i, sizeof wy);
        if (wx != wy)
            return false;
    }
    if (i == n)
        return true;
    memcpy(&hx, x + i, sizeof hx);
    memcpy(&hy, y + i, sizeof hy);
    return hx == hy;
}

/* Only arrays that existed in the cached call are compared: the plan depends on no others. */
__attribute__((noinline)) static bool same_arrays(const sk_args *a, const struct sk_call_entry *p)
{
    const char *seen = p->arrays;
    if (!seen || a->wide != p->args.wide)
        return false;
    for (int i = 0; i < p->narrays; i++) {
        const char *now = array_of(a, p->array[i].at);
        if (!now || !same_bytes(seen, now, p->array[i].bytes))
            return false;
        seen += p->array[i].bytes;
    }
    return true;
}

/* Mostly nothing differs, so there is no branch per field. */
static bool differs(const sk_args *x, const sk_args *y)
{
    return ((uint64_t)(x->scount ^ y->scount) | (uint64_t)(x->rcount ^ y->rcount) |
            ((uintptr_t)x->stype ^ (uintptr_t)y->stype) |
            ((uintptr_t)x->rtype ^ (uintptr_t)y->rtype) | ((uintptr_t)x->op ^ (uintptr_t)y->op) |
            (uint64_t)(x->root ^ y->root) | (x->coll ^ y->coll) | (x->form ^ y->form)) != 0;
}

sk_descriptor *sk_call_cache_find(const sk_args *a, const sk_comm *c)
{
    struct sk_call_cache *r = c->cache;
    if (!r)
        return NULL;
    struct sk_call_entry *p = *entry_of(a, r);
    if (!p || differs(&p->args, a) || p->buffers != buffers_of(a, p->distance))
        return NULL;
    if ((sk_args_has_arrays(a) || p->arrays) && !same_arrays(a, p))
        return NULL;
    if (sk_coll_neighbor(a->coll) && p->version != c->topo->neighborhood.version)
        return NULL;
    return &p->descriptor;
}

static bool keep_arrays(struct sk_call_entry *p, const sk_args *a, const sk_comm *c)
{
    sk_array_bytes x = array_bytes(a, c);
    size_t bytes = 1;
    for (int i = 0; i < ARRAYS; i++)
        bytes += x.bytes[i];
    char *at = bytes <= UINT32_MAX ? p->arrays = malloc(bytes) : NULL;
    for (int i = 0; at && i < ARRAYS; i++) {
        const char *array = array_of(a, array_at[i]);
        if (!array || !x.bytes[i])
            continue;
        p->array[p->narrays].at = array_at[i];
        p->array[p->narrays++].bytes = (uint32_t)x.bytes[i];
        at = (char *)memcpy(at, array, x.bytes[i]) + x.bytes[i];
    }
    return at != NULL;
}

sk_descriptor *sk_call_cache_add(const sk_args *a, sk_comm *c, const sk_mpi_call *call,
                                 sk_plan *plan)
{
    if (!call->permanent || !sk_comm_adopted(c))
        return NULL;
    if (!c->cache)
        c->cache = calloc(1, sizeof *c->cache);
    if (!c->cache)
        return NULL;
    c->cache_free = free_cache;
    struct sk_call_entry **at = entry_of(a, c->cache), *p = calloc(1, sizeof *p);
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
    p->args = *a;
    p->distance = (uintptr_t)call->distance;
    p->buffers = buffers_of(a, p->distance);
    drop(*at);
    *at = p;
    return &p->descriptor;
}
