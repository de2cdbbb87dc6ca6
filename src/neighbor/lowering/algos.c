/* algos.c: the five algorithms of every row of methods.def. They differ only in the pattern that they
 * follow. What a method costs stands in the head of its folder's main file. */
#include "neighbor/lowering/lowering.h"

#define ALGO_OF(COLL, method, ABOUT)                                                               \
    {                                                                                              \
        .name = #method, .coll = (COLL), .about = (ABOUT), .fits = fits_##method,                  \
        .scratch = scratch_##method, .build = build_##method,                                      \
    }

#define METHOD(ID, name, about)                                                                    \
    static bool fits_##name(const sk_call *c)                                                      \
    {                                                                                              \
        return sk_neighbor_fits(c, SK_METHOD_##ID);                                                \
    }                                                                                              \
    static int64_t scratch_##name(const sk_call *c)                                                \
    {                                                                                              \
        return sk_neighbor_scratch(c, SK_METHOD_##ID);                                             \
    }                                                                                              \
    static void build_##name(sk_sched *s, const sk_call *c)                                        \
    {                                                                                              \
        sk_neighbor_build(s, c, SK_METHOD_##ID);                                                   \
    }                                                                                              \
    const sk_algo sk_neighbor_allgather_##name = ALGO_OF(SK_NEIGHBOR_ALLGATHER, name, about);      \
    const sk_algo sk_neighbor_allgatherv_##name = ALGO_OF(SK_NEIGHBOR_ALLGATHERV, name, about);    \
    const sk_algo sk_neighbor_alltoall_##name = ALGO_OF(SK_NEIGHBOR_ALLTOALL, name, about);        \
    const sk_algo sk_neighbor_alltoallv_##name = ALGO_OF(SK_NEIGHBOR_ALLTOALLV, name, about);      \
    const sk_algo sk_neighbor_alltoallw_##name = ALGO_OF(SK_NEIGHBOR_ALLTOALLW, name, about);
#include "neighbor/methods.def"
#undef METHOD
