/* alltoall_pairwise.c: in round i send to rank me+i and receive from rank me-i; alltoall, alltoallv
 * and alltoallw.
 * cost   (p-1) alpha + (p-1)/p n beta    good for  long blocks
 * rounds p-1    scratch  n when in place
 * paper  global-collectives 4.5 */
#include "coll/claim.h"
#include "coll/phase/p2p.h"

static void build(sk_sched *s, const sk_call *c)
{
    sk_alltoall_by_exchange(s, c, 1);
}

static void claim(const sk_cost_case *k, sk_cost *c)
{
    c->steps = k->p - 1;
    sk_claim_messages(c, k->p - 1, k->p - 1, k->n - k->b, k->n - k->b);
}

/* Doubling sends n p bytes, Bruck n/2 lg p, the others n in p - 1 steps (4.5). */
#define PAIRWISE(COLL, ...)                                                                        \
    {                                                                                              \
        .name = "pairwise", .coll = (COLL),                                                        \
        .about = "send to rank me+i, receive from rank me-i, one after the other; long blocks",    \
        .scratch = sk_alltoall_scratch, .build = build, .claim = claim, .straight = true,          \
        .rule = {{__VA_ARGS__}},                                                                   \
    }

const sk_algo sk_alltoall_pairwise =
    PAIRWISE(SK_ALLTOALL, .when = SK_WHEN_ANY, .from = SK_SET_ALLTOALL_LONG,
             .ranks = SK_SET_ALLTOALLV_RANKS);
const sk_algo sk_alltoallv_pairwise =
    PAIRWISE(SK_ALLTOALLV, .when = SK_WHEN_ANY, .ranks = SK_SET_ALLTOALLV_RANKS);
const sk_algo sk_alltoallw_pairwise =
    PAIRWISE(SK_ALLTOALLW, .when = SK_WHEN_ANY, .ranks = SK_SET_ALLTOALLV_RANKS);
