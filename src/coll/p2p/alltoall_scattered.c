/* alltoall_scattered.c: all messages at once, each rank starting with the next one, so that not all
 * send to the same rank; alltoall, alltoallv and alltoallw. In windows, because queues of thousands
 * of messages cost more than they hide.
 * cost   (p-1) alpha' + (p-1)/p n beta, alpha' being the cost of a message
 *        while others are under way
 * good for  medium blocks
 * rounds ceil((p-1) / 32)    scratch  n when in place
 * paper  global-collectives 4.5, the algorithm of MPICH 1.2.4, with a better order */
#include "coll/claim.h"
#include "coll/phase/p2p.h"
#include "coll/tuning.h"

static void build(sk_sched *s, const sk_call *c)
{
    sk_alltoall_by_exchange(s, c, SK_SCATTERED_WINDOW);
}

static void claim(const sk_cost_case *k, sk_cost *c)
{
    c->steps = sk_claim_ceil(k->p - 1, SK_SCATTERED_WINDOW);
    sk_claim_messages(c, k->p - 1, k->p - 1, k->n - k->b, k->n - k->b);
}

/* The block from which on sending it on with others costs more than a message of its own: what the model of
 * `skein explain` says with its customary prices.
 *
 *   ranks       8    16    24    32    64   128   256  1024
 *   predicted   0   144   296   437   273   390   484   437
 *   formula     0   256   342   384   448   480   496   508 */
static int64_t cutoff(int p, const sk_machine *m)
{
    (void)m;
    return p <= 8 ? 0 : 512 - 4096 / p;
}

#define SCATTERED(COLL, ...)                                                                       \
    {                                                                                              \
        .name = "scattered", .coll = (COLL),                                                       \
        .about = "send to all and receive from all at once, 32 at a time; medium blocks",          \
        .scratch = sk_alltoall_scratch, .build = build, .claim = claim, .straight = true,          \
        .rule = {{__VA_ARGS__}},                                                                   \
    }

const sk_algo sk_alltoall_scattered =
    SCATTERED(SK_ALLTOALL, .when = SK_WHEN_ANY, .from = SK_SET_ALLTOALL_SHORT, .formula = cutoff);
const sk_algo sk_alltoallv_scattered = SCATTERED(SK_ALLTOALLV, .when = SK_WHEN_ANY);
const sk_algo sk_alltoallw_scattered = SCATTERED(SK_ALLTOALLW, .when = SK_WHEN_ANY);
