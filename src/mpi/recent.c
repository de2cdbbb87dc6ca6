#include "mpi/recent.h"

#include <stdlib.h>

enum { PLACES = 16 };

struct sk_recent {
    int64_t evicted; /* of the cache, when these were added */
    struct place {
        sk_plan *plan;
        sk_args args;
        unsigned buffers;
        MPI_Datatype handles[3];
    } at[PLACES];
};

static struct place *place_of(const sk_args *a, struct sk_recent *r)
{
    uint64_t h = ((uint64_t)a->scount + (uint64_t)a->rcount) * 0x9e3779b97f4a7c15u;
    return &r->at[((unsigned)a->coll * 5 + (h >> 60)) % PLACES];
}

/* What matters about the buffers: in place or not, null or not, the same or not. */
static unsigned buffers_of(const sk_args *a)
{
    return (a->sbuf == MPI_IN_PLACE) | (a->rbuf == MPI_IN_PLACE) << 1 | (a->sbuf == NULL) << 2 |
           (a->rbuf == NULL) << 3 | (a->sbuf == a->rbuf) << 4;
}

sk_plan *sk_recent_find(const sk_args *a, sk_comm *c, sk_asked *out)
{
    struct sk_recent *r = c->recent;
    if (!r)
        return NULL;
    struct place *p = place_of(a, r);
    if (!p->plan || p->args.coll != a->coll || p->args.scount != a->scount ||
        p->args.rcount != a->rcount || p->args.stype != a->stype || p->args.rtype != a->rtype ||
        p->args.op != a->op || p->args.root != a->root || p->buffers != buffers_of(a))
        return NULL;
    if (r->evicted != sk_plans_count(c->plans).evicted) {
        free(r);
        c->recent = NULL;
        return NULL;
    }
    out->handles = p->handles;
    out->send = (void *)(uintptr_t)a->sbuf;
    out->recv = a->rbuf;
    return p->plan;
}

void sk_recent_add(const sk_args *a, sk_comm *c, const sk_asked *asked, sk_plan *plan)
{
    if (!asked->lasting)
        return;
    int64_t evicted = sk_plans_count(c->plans).evicted;
    if (c->recent && c->recent->evicted != evicted) {
        free(c->recent);
        c->recent = NULL;
    }
    if (!c->recent) {
        c->recent = calloc(1, sizeof *c->recent);
        if (!c->recent)
            return;
        c->recent->evicted = evicted;
    }
    struct place *p = place_of(a, c->recent);
    p->plan = plan;
    p->args = *a;
    p->buffers = buffers_of(a);
    for (uint32_t i = 0; i < asked->call.ntypes; i++)
        p->handles[i] = asked->handles[i];
}
