#include "mpi/transport/own_coll.h"

#include <stdlib.h>

#include "coll/algo.h"

static void free_run(sk_own_coll *o)
{
    sk_sched_free(o->sched);
    free(o->memory);
    o->sched = NULL;
    o->memory = NULL;
}

static sk_status start(sk_own_coll *o, const sk_comm *c, const char *algo, const sk_call *call,
                       int tag, void *data)
{
    sk_status st = sk_algo_build(sk_algo_find(call->coll, algo), call, &o->sched);
    if (st != SK_OK)
        return st;
    const struct sk_sched_view *v = sk_sched_view(o->sched);
    size_t scratch = ((size_t)v->scratch + 63) & ~(size_t)63;
    size_t packets = (size_t)sk_run_packet_bytes(o->sched);
    size_t all = scratch + packets + sk_mpi_wire_bytes(v->max_transfers);
    char *memory = o->memory = aligned_alloc(64, (all + 63) & ~(size_t)63);
    if (!memory) {
        free_run(o);
        return SK_NOMEM;
    }
    o->wire.base.ops = &sk_mpi_wire_ops;
    o->wire.comm = sk_comm_wire(c);
    o->wire.peers = c->peers;
    o->wire.tag = tag;
    o->wire.hint = sk_hint_of_setup(c->nranks);
    o->wire.types = v->types;
    o->wire.handles = o->handles;
    sk_mpi_wire_set_arrays(&o->wire, memory + scratch + packets, v->max_transfers);
    sk_run_init(&o->run, o->sched, &o->wire.base, NULL, data, memory, memory + scratch);
    return SK_OK;
}

/* The process lock may be held, so the type is not looked up. */
sk_status sk_own_allreduce(sk_own_coll *o, const sk_comm *c, int tag, int64_t *data, int n,
                           sk_op_id op)
{
    *o = (sk_own_coll){
        .types = {sk_type_byte, {.size = 8, .extent = 8, .true_extent = 8, .contig = true}},
        .handles = {MPI_BYTE, MPI_INT64_T},
        .wire.kernel = sk_kernel_find(op, SK_KIND_INT64)};
    sk_side vector = {.count = n, .type = 1};
    return start(o, c, "doubling",
                 &(sk_call){.coll = SK_ALLREDUCE,
                            .nranks = c->nranks,
                            .rank = c->rank,
                            .in_place = true,
                            .builtin = true,
                            .ntypes = 2,
                            .types = o->types,
                            .send = vector,
                            .recv = vector},
                 tag, data);
}

sk_status sk_own_allgather(sk_own_coll *o, const sk_comm *c, int tag, void *data, size_t bytes)
{
    *o = (sk_own_coll){.types[0] = sk_type_byte, .handles[0] = MPI_BYTE};
    return start(o, c, "bruck",
                 &(sk_call){.coll = SK_ALLGATHER,
                            .nranks = c->nranks,
                            .rank = c->rank,
                            .in_place = true,
                            .ntypes = 1,
                            .types = o->types,
                            .recv = {.count = (int64_t)bytes}},
                 tag, data);
}

sk_status sk_own_coll_poll(sk_own_coll *o, bool block)
{
    sk_status st = block ? sk_run_wait(&o->run) : sk_run_poll(&o->run);
    if (st != SK_AGAIN)
        free_run(o);
    return st;
}

/* Messages may still be under way: their memory is not freed. */
void sk_own_coll_end(sk_own_coll *o)
{
    sk_sched_free(o->sched);
    o->sched = NULL;
}
