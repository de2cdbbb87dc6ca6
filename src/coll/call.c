/* call.c: the spans of a call: blocks, vectors and their bytes. */
#include "coll/call.h"

#include <string.h>

static const char *const names[] = {
#define COLL(ID, name, bytes) #name,
#include "coll/colls.def"
#undef COLL
};

const char *sk_coll_name(sk_coll coll)
{
    return (unsigned)coll < SK_NCOLLS ? names[coll] : "unknown";
}

const char *sk_coll_bytes_mean(sk_coll coll)
{
    static const char *const mean[] = {
#define COLL(ID, name, bytes) bytes,
#include "coll/colls.def"
#undef COLL
    };
    return (unsigned)coll < SK_NCOLLS ? mean[coll] : "unknown";
}

sk_coll sk_coll_find(const char *name)
{
    int i = 0;
    while (i < SK_NCOLLS && strcmp(names[i], name) != 0)
        i++;
    return (sk_coll)i;
}

const char *sk_form_name(sk_coll coll, sk_form form)
{
    static const char *const of[][SK_NFORMS] = {
#define COLL(ID, name, bytes) {#name, "i" #name, #name "_init"},
#include "coll/colls.def"
#undef COLL
    };
    return (unsigned)coll < SK_NCOLLS ? of[coll][form] : "unknown";
}

sk_coll sk_form_find(const char *name, sk_form *form)
{
    for (int i = 0; i < SK_NCOLLS * SK_NFORMS; i++) {
        *form = (sk_form)(i % SK_NFORMS);
        if (strcmp(sk_form_name((sk_coll)(i / SK_NFORMS), *form), name) == 0)
            return (sk_coll)(i / SK_NFORMS);
    }
    return SK_NCOLLS;
}

sk_call sk_call_renamed(const sk_call *c, const sk_rename *r)
{
    sk_call named = *c;
    named.rank = r->name_of[c->rank];
    named.root = r->name_of[c->root];
    named.rename = r;
    return named;
}

/* Does the side have a block for each rank? Otherwise it has one. */
static bool has_blocks(sk_coll coll, sk_buf side)
{
    switch (coll) {
    case SK_SCATTER:
    case SK_SCATTERV:
        return side == SK_SEND;
    case SK_GATHER:
    case SK_GATHERV:
    case SK_ALLGATHER:
    case SK_ALLGATHERV:
    case SK_REDUCE_SCATTER:
    case SK_REDUCE_SCATTER_BLOCK:
        return side == SK_RECV;
    case SK_ALLTOALL:
    case SK_ALLTOALLV:
    case SK_ALLTOALLW:
        return true;
    default:
        return false;
    }
}

static sk_span side_block(const sk_call *c, const sk_side *s, sk_buf buf, int i)
{
    if (c->rename && has_blocks(c->coll, buf))
        i = c->rename->rank_of[i];
    uint32_t type = s->types ? s->types[i] : s->type;
    const sk_type *t = &c->types[type];
    int64_t count = s->counts ? s->counts[i] : s->count;
    int64_t off = s->offs ? s->offs[i] : i * count * t->extent;
    return (sk_span){.off = off, .len = count * t->size, .type = type, .buf = buf};
}

sk_span sk_send_block(const sk_call *c, int i)
{
    if (c->in_place)
        switch (c->coll) {
        case SK_GATHER:
        case SK_GATHERV:
        case SK_ALLGATHER:
        case SK_ALLGATHERV:
            return side_block(c, &c->recv, SK_RECV, c->rank);
        case SK_ALLTOALL:
        case SK_ALLTOALLV:
        case SK_ALLTOALLW:
            return side_block(c, &c->recv, SK_RECV, i);
        case SK_SCATTER:
        case SK_SCATTERV:
        case SK_NEIGHBOR_ALLGATHER: /* there is no in place for neighbours */
        case SK_NEIGHBOR_ALLGATHERV:
        case SK_NEIGHBOR_ALLTOALL:
        case SK_NEIGHBOR_ALLTOALLV:
        case SK_NEIGHBOR_ALLTOALLW:
            break;
        default: /* reductions */
            return sk_send_elems(c, 0, sk_call_elems(c));
        }
    return side_block(c, &c->send, SK_SEND, i);
}

sk_span sk_recv_block(const sk_call *c, int i)
{
    if (c->in_place && (c->coll == SK_SCATTER || c->coll == SK_SCATTERV))
        return side_block(c, &c->send, SK_SEND, c->rank);
    /* The result of reduce_scatter is one block, at the start of the receive buffer. */
    if (c->coll == SK_REDUCE_SCATTER || c->coll == SK_REDUCE_SCATTER_BLOCK) {
        sk_span s = side_block(c, &c->recv, SK_RECV, i);
        s.off = 0;
        return s;
    }
    return side_block(c, &c->recv, SK_RECV, i);
}

static sk_span elems(const sk_call *c, sk_buf buf, int64_t first, int64_t n)
{
    const sk_type *t = &c->types[c->send.type];
    return (sk_span){
        .off = first * t->extent, .len = n * t->size, .type = c->send.type, .buf = buf};
}

sk_span sk_send_elems(const sk_call *c, int64_t first, int64_t n)
{
    return elems(c, c->in_place ? SK_RECV : SK_SEND, first, n);
}

sk_span sk_recv_elems(const sk_call *c, int64_t first, int64_t n)
{
    return elems(c, SK_RECV, first, n);
}

int sk_call_nblocks(const sk_call *c, sk_buf side)
{
    if (!sk_coll_neighbor(c->coll))
        return c->nranks;
    return side == SK_SEND ? c->neighborhood->graph->nout : c->neighborhood->graph->nin;
}

static int64_t sum_counts(const sk_side *s, int n)
{
    if (!s->counts)
        return s->count * n;
    int64_t sum = 0;
    for (int i = 0; i < n; i++)
        sum += s->counts[i];
    return sum;
}

int64_t sk_call_elems(const sk_call *c)
{
    if (c->coll == SK_REDUCE_SCATTER || c->coll == SK_REDUCE_SCATTER_BLOCK)
        return sum_counts(&c->recv, c->nranks);
    return c->send.count;
}

bool sk_call_whole(const sk_call *c)
{
    return !c->sub;
}

int64_t sk_call_bytes(const sk_call *c)
{
    switch (c->coll) {
    case SK_BARRIER:
    case SK_SCATTERV:
    case SK_GATHERV:
    case SK_ALLTOALLV:
    case SK_ALLTOALLW:
    case SK_NCOLLS:
        return 0;
    case SK_BCAST:
    case SK_ALLGATHER:
    case SK_ALLTOALL:
        return sk_recv_block(c, 0).len;
    case SK_ALLGATHERV: /* ranks may differ in types and counts, but not in bytes */
        return sum_counts(&c->recv, c->nranks) * c->types[c->recv.type].size;
    case SK_NEIGHBOR_ALLGATHER:
    case SK_NEIGHBOR_ALLTOALL: /* a rank without neighbours takes no part */
        return c->neighborhood->graph->nout  ? sk_send_block(c, 0).len
               : c->neighborhood->graph->nin ? sk_recv_block(c, 0).len
                                             : 0;
    case SK_NEIGHBOR_ALLGATHERV:
    case SK_NEIGHBOR_ALLTOALLV:
    case SK_NEIGHBOR_ALLTOALLW:
        return c->neighborhood->typical;
    case SK_SCATTER:
        return c->rank == c->root ? sk_send_block(c, 0).len : sk_recv_block(c, 0).len;
    case SK_GATHER:
        return c->rank == c->root ? sk_recv_block(c, 0).len : sk_send_block(c, 0).len;
    default:
        return sk_call_elems(c) * c->types[c->send.type].size;
    }
}

static int64_t largest_block(const sk_call *c, sk_buf side)
{
    bool many = has_blocks(c->coll, side) || (sk_coll_neighbor(c->coll) && side == SK_RECV) ||
                c->coll == SK_NEIGHBOR_ALLTOALLV || c->coll == SK_NEIGHBOR_ALLTOALLW;
    int n = many ? sk_call_nblocks(c, side) : 1;
    int64_t most = 0;
    for (int i = 0; i < n; i++) {
        int64_t len = side == SK_SEND ? sk_send_block(c, i).len : sk_recv_block(c, i).len;
        most = len > most ? len : most;
    }
    return most;
}

int64_t sk_call_size(const sk_call *c)
{
    switch (c->coll) {
    case SK_SCATTERV:
        return largest_block(c, c->rank == c->root ? SK_SEND : SK_RECV);
    case SK_GATHERV:
        return largest_block(c, c->rank == c->root ? SK_RECV : SK_SEND);
    case SK_ALLTOALLV:
    case SK_ALLTOALLW:
    case SK_NEIGHBOR_ALLGATHERV:
    case SK_NEIGHBOR_ALLTOALLV:
    case SK_NEIGHBOR_ALLTOALLW: {
        int64_t send = largest_block(c, SK_SEND), recv = largest_block(c, SK_RECV);
        return send > recv ? send : recv;
    }
    default:
        return sk_call_bytes(c);
    }
}
