#include "mpi/dispatch/staging.h"

#include <limits.h>
#include <stdlib.h>

#include "mpi/state/device.h"

typedef struct sk_staged_block {
    char *user, *copy;
    int count;
    MPI_Datatype type;
    bool received;
} sk_staged_block;

struct sk_staging {
    sk_staged_block *block;
    int nblocks, nrequests;
    MPI_Request *requests;
    void *send, *recv;
    void *memory[2];
    bool kept;
};

/* One side of a call. */
typedef struct sk_staged_side {
    const sk_mpi_call *call;
    const sk_side *side;
    char *user;
    int n;        /* blocks */
    int64_t only; /* elements of the only block; -1: blocks as the side says */
    bool received;
} sk_staged_side;

static void set_blocks(sk_staged_side *s, int n, int64_t only)
{
    s->n = n;
    s->only = only;
}

static sk_staged_side sent_by(const sk_mpi_call *call)
{
    const sk_call *c = &call->call;
    sk_staged_side s = {.call = call, .side = &c->send, .user = call->send};
    switch (c->coll) {
    case SK_BARRIER:
    case SK_BCAST:
        break;
    case SK_SCATTER:
    case SK_SCATTERV:
        set_blocks(&s, c->rank == c->root ? c->nranks : 0, -1);
        break;
    case SK_GATHER:
    case SK_GATHERV:
    case SK_ALLGATHER:
    case SK_ALLGATHERV:
    case SK_NEIGHBOR_ALLGATHER:
    case SK_NEIGHBOR_ALLGATHERV:
        set_blocks(&s, !c->in_place, c->send.count);
        break;
    default:
        if (sk_coll_reduces(c->coll))
            set_blocks(&s, !c->in_place, sk_call_elems(c));
        else
            set_blocks(&s, c->in_place ? 0 : sk_call_nblocks(c, SK_SEND), -1);
    }
    return s;
}

static sk_staged_side received_by(const sk_mpi_call *call)
{
    const sk_call *c = &call->call;
    const sk_side *side = &c->recv;
    sk_staged_side s = {.call = call, .side = side, .user = call->recv, .received = true};
    switch (c->coll) {
    case SK_BARRIER:
        break;
    case SK_BCAST:
        set_blocks(&s, 1, side->count);
        break;
    case SK_SCATTER:
    case SK_SCATTERV:
        set_blocks(&s, !c->in_place, side->count);
        break;
    case SK_GATHER:
    case SK_GATHERV:
        set_blocks(&s, c->rank == c->root ? c->nranks : 0, -1);
        break;
    case SK_REDUCE:
        set_blocks(&s, c->rank == c->root, sk_call_elems(c));
        break;
    case SK_ALLREDUCE:
    case SK_SCAN:
    case SK_EXSCAN:
        set_blocks(&s, 1, sk_call_elems(c));
        break;
    case SK_REDUCE_SCATTER:
    case SK_REDUCE_SCATTER_BLOCK:
        set_blocks(&s, 1,
                   c->in_place    ? sk_call_elems(c)
                   : side->counts ? side->counts[c->rank]
                                  : side->count);
        break;
    default:
        set_blocks(&s, sk_call_nblocks(c, SK_RECV), -1);
    }
    return s;
}

static uint32_t type_of(const sk_staged_side *s, int i)
{
    return s->side->types ? s->side->types[i] : s->side->type;
}

static int64_t count_of(const sk_staged_side *s, int i)
{
    return s->only >= 0 ? s->only : s->side->counts ? s->side->counts[i] : s->side->count;
}

static int64_t offset_of(const sk_staged_side *s, int i)
{
    if (s->only >= 0)
        return 0;
    return s->side->offs ? s->side->offs[i]
                         : i * s->side->count * s->call->call.types[s->side->type].extent;
}

/* The memory that all blocks touch. */
static bool bounds_of(const sk_staged_side *s, int64_t *lo, int64_t *hi)
{
    bool any = false;
    for (int i = 0; i < s->n; i++) {
        int64_t from, to, at = offset_of(s, i);
        const sk_type *t = &s->call->call.types[type_of(s, i)];
        if (count_of(s, i) == 0 || t->size == 0)
            continue;
        sk_type_bounds(t, count_of(s, i), &from, &to);
        *lo = !any || at + from < *lo ? at + from : *lo;
        *hi = !any || at + to > *hi ? at + to : *hi;
        any = true;
    }
    return any;
}

/* A buffer is one piece of memory, so its ends tell of all of it. */
static bool on_device(const sk_staged_side *s)
{
    int64_t lo, hi;
    return bounds_of(s, &lo, &hi) &&
           (sk_device_memory(s->user + lo) || sk_device_memory(s->user + hi - 1));
}

sk_staged_sides sk_staging_needed(const sk_mpi_call *call)
{
    const sk_staged_side from = sent_by(call), to = received_by(call);
    return (sk_staged_sides){.send = on_device(&from), .recv = on_device(&to)};
}

static int chunks_of(const sk_staged_side *s)
{
    int n = 0;
    for (int i = 0; i < s->n; i++)
        n += (int)((count_of(s, i) + INT_MAX - 1) / INT_MAX);
    return n;
}

/* *copy becomes the address that stands for the user's, and is left alone if the side has no data. */
static bool add_side(sk_staging *s, const sk_staged_side *side, void **memory, void **copy)
{
    int64_t lo = 0, hi = 0;
    if (!bounds_of(side, &lo, &hi))
        return true;
    *memory = malloc((size_t)(hi - lo));
    if (!*memory)
        return false;
    *copy = (char *)((uintptr_t)*memory - (uintptr_t)lo);
    for (int i = 0; i < side->n; i++) {
        uint32_t t = type_of(side, i);
        int64_t at = offset_of(side, i), left = count_of(side, i);
        while (left > 0) {
            int n = left < INT_MAX ? (int)left : INT_MAX;
            s->block[s->nblocks++] = (sk_staged_block){.user = side->user + at,
                                                       .copy = (char *)*copy + at,
                                                       .count = n,
                                                       .type = side->call->handles[t],
                                                       .received = side->received};
            at += n * side->call->call.types[t].extent;
            left -= n;
        }
    }
    return true;
}

sk_staging *sk_staging_new(const sk_mpi_call *call, sk_staged_sides sides)
{
    const sk_staged_side from = sent_by(call), to = received_by(call);
    sk_staging *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    size_t n =
        (size_t)((sides.send ? chunks_of(&from) : 0) + (sides.recv ? chunks_of(&to) : 0)) + 1;
    s->send = call->send;
    s->recv = call->recv;
    s->block = calloc(n, sizeof *s->block);
    s->requests = calloc(2 * n, sizeof(MPI_Request));
    if (!s->block || !s->requests || (sides.send && !add_side(s, &from, &s->memory[0], &s->send)) ||
        (sides.recv && !add_side(s, &to, &s->memory[1], &s->recv))) {
        sk_staging_free(s);
        return NULL;
    }
    return s;
}

void sk_staging_free(sk_staging *s)
{
    if (!s)
        return;
    free(s->memory[0]);
    free(s->memory[1]);
    free(s->block);
    free(s->requests);
    free(s);
}

void *sk_staging_send(const sk_staging *s)
{
    return s->send;
}

void *sk_staging_recv(const sk_staging *s)
{
    return s->recv;
}

void sk_staging_keep(sk_staging *s)
{
    s->kept = true;
}

bool sk_staging_kept(const sk_staging *s)
{
    return s->kept;
}

/* What will be received is copied too: a collective need not write all of it. */
sk_status sk_staging_begin(sk_staging *s, bool back)
{
    int tag = (int)((unsigned)atomic_fetch_add(&sk_proc.self_tag, 1) % sk_proc.tags);
    s->nrequests = 0;
    for (int i = 0; i < s->nblocks; i++) {
        const sk_staged_block *b = &s->block[i];
        if (back && !b->received)
            continue;
        if (sk_host.Irecv(back ? b->user : b->copy, b->count, b->type, 0, tag, sk_proc.self,
                          &s->requests[s->nrequests++]) != MPI_SUCCESS ||
            sk_host.Isend(back ? b->copy : b->user, b->count, b->type, 0, tag, sk_proc.self,
                          &s->requests[s->nrequests++]) != MPI_SUCCESS)
            return SK_WIRE;
    }
    return SK_OK;
}

sk_status sk_staging_poll(sk_staging *s)
{
    for (int done = 0; s->nrequests > 0; s->nrequests--) {
        if (sk_host.Test(&s->requests[s->nrequests - 1], &done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
            return SK_WIRE;
        if (!done)
            return SK_AGAIN;
    }
    return SK_OK;
}
