/* allgather_ring.c: pass blocks round a ring.
 * cost   (p-1)(alpha + n/p beta)    good for  long blocks, any p
 * rounds p-1                        scratch   none
 * paper  global-collectives 4.2 */
#include "algo/algo.h"

static void build(sk_sched *s, const sk_call *c)
{
    int p = c->nranks, me = c->rank;
    int left = (me + p - 1) % p, right = (me + 1) % p;

    sk_copy(s, sk_send_block(c, 0), sk_recv_block(c, me));
    for (int i = 0; i < p - 1; i++) {
        sk_fence(s);
        sk_send(s, sk_recv_block(c, (me + p - i) % p), right);
        sk_recv(s, sk_recv_block(c, (left + p - i) % p), left);
    }
}

const sk_algo sk_allgather_ring = {
    .name = "ring",
    .coll = SK_ALLGATHER,
    .about = "pass blocks round a ring; long blocks",
    .build = build,
};
