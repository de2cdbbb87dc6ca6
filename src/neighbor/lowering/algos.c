/* algos.c: the five algorithms of every row of methods.def. They differ only in the pattern that they
 * follow, phase by phase. What a method costs is in the head of its folder's main file. */
#include "coll/phase/blocks.h"
#include "neighbor/lowering/lowering.h"
#include "sched/packet.h"

static void deliver(sk_lowering *t, const sk_layout *layout, int phase)
{
    layout->deliver(t, phase);
    if (phase == 0)
        sk_lowering_copy_direct(t);
}

static void lower(sk_lowering *t, const sk_layout *layout)
{
    layout->prepare(t);
    for (int phase = 0; phase < t->nphases; phase++) {
        layout->assemble(t, phase, false);
        sk_fence(t->s);
        if (phase == 0)
            sk_lowering_copy_loops(t);
        else
            deliver(t, layout, phase - 1);
        if (phase + 1 < t->nphases)
            layout->assemble(t, phase + 1, true);
        sk_lowering_phase(t, layout, phase);
    }
    deliver(t, layout, t->nphases - 1);
}

static bool fits(const sk_call *c, sk_method_id by)
{
    return sk_neighborhood_of(c)->pattern[by] != NULL;
}

enum { SCRATCH_ALIGN = 64 };

/* Every bundle may need scratch for all its blocks, rounded up. */
static int64_t scratch(const sk_call *c, sk_method_id by)
{
    if (by == SK_METHOD_DIRECT)
        return 0;
    const sk_load *load = &sk_neighborhood_of(c)->load[by];
    int64_t blocks = 0, bundles = 0;
    for (int i = 0; i < SK_NLEVELS; i++) {
        blocks += sk_neighbor_gathers(c) ? load->allgather_blocks[i] : load->alltoall_blocks[i];
        bundles += load->messages[i];
    }
    int64_t each = sk_neighbor_sized(c) ? sk_packet_bytes(1, sk_neighborhood_of(c)->combine_limit)
                                        : sk_call_bytes(c);
    int64_t bytes = sk_scratch_bytes(blocks, each),
            round_up = sk_scratch_bytes(bundles, SCRATCH_ALIGN);
    return bytes > INT64_MAX - round_up ? INT64_MAX : bytes + round_up;
}

static void build(sk_sched *s, const sk_call *c, sk_method_id by)
{
    sk_lowering t = {.s = s,
                     .c = c,
                     .g = c->neighborhood->graph,
                     .arena = sk_arena_new(),
                     .gather = sk_neighbor_gathers(c),
                     .direct = by == SK_METHOD_DIRECT,
                     .sized = sk_neighbor_sized(c),
                     .block = sk_neighbor_sized(c) ? 0 : sk_call_bytes(c),
                     .combine_limit = sk_neighborhood_of(c)->combine_limit};
    bool empty = !t.sized && t.block == 0; /* all ranks know that nothing is sent */
    sk_status st = !t.arena ? SK_NOMEM
                   : t.direct || empty
                       ? sk_lowering_no_transfers(&t)
                       : sk_lowering_make_transfers(&t, sk_neighborhood_of(c)->pattern[by]);
    if (st == SK_OK && !t.direct && !empty)
        st = sk_lowering_use_slots(&t, &sk_neighborhood_of(c)->load[by]);
    if (st == SK_OK)
        lower(&t, t.sized ? &sk_layout_sized : &sk_layout_equal);
    else
        sk_sched_fail(s, st);
    sk_arena_free(t.arena);
}

#define ALGO_OF(COLL, method, ABOUT)                                                               \
    {                                                                                              \
        .name = #method, .coll = (COLL), .about = (ABOUT), .fits = fits_##method,                  \
        .scratch = scratch_##method, .build = build_##method,                                      \
    }

#define METHOD(ID, name, about)                                                                    \
    static bool fits_##name(const sk_call *c)                                                      \
    {                                                                                              \
        return fits(c, SK_METHOD_##ID);                                                            \
    }                                                                                              \
    static int64_t scratch_##name(const sk_call *c)                                                \
    {                                                                                              \
        return scratch(c, SK_METHOD_##ID);                                                         \
    }                                                                                              \
    static void build_##name(sk_sched *s, const sk_call *c)                                        \
    {                                                                                              \
        build(s, c, SK_METHOD_##ID);                                                               \
    }                                                                                              \
    const sk_algo sk_neighbor_allgather_##name = ALGO_OF(SK_NEIGHBOR_ALLGATHER, name, about);      \
    const sk_algo sk_neighbor_allgatherv_##name = ALGO_OF(SK_NEIGHBOR_ALLGATHERV, name, about);    \
    const sk_algo sk_neighbor_alltoall_##name = ALGO_OF(SK_NEIGHBOR_ALLTOALL, name, about);        \
    const sk_algo sk_neighbor_alltoallv_##name = ALGO_OF(SK_NEIGHBOR_ALLTOALLV, name, about);      \
    const sk_algo sk_neighbor_alltoallw_##name = ALGO_OF(SK_NEIGHBOR_ALLTOALLW, name, about);
#include "neighbor/methods.def"
#undef METHOD
