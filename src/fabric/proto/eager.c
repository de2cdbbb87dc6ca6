/* eager.c: messages that arrive with their data. A message whose receive is posted is copied into
 * the user's buffer. An unexpected one is copied into a buffer and waits in the matcher; it holds
 * credit of its sender until it is received. */
#include <string.h>

#include "fabric/proto/endpoint.h"

/* Keep the data of an unexpected message. */
static void msg_store(sk_endpoint *ep, sk_msg *m, const void *payload)
{
    void *to = m->bytes;
    if (m->len > SK_INLINE)
        to = m->buffer = sk_buffer_cache_get(&ep->buffers, m->len);
    m->lost = !to;
    if (to && m->len)
        memcpy(to, payload, m->len);
}

int sk_eager_arrive(sk_endpoint *ep, sk_peer *p, const sk_packet *head, const void *payload)
{
    uint64_t cost = sk_credit_cost(head->len);
    sk_msg *m = sk_msg_new(ep, p, head);
    sk_matcher *matcher = sk_matching_get(ep, sk_queue_of_packet(head->flags));
    if (SK_UNLIKELY(!m || !matcher))
        return FI_ENOMEM;
    if (SK_UNLIKELY(!sk_credit_charge(ep, p, cost))) {
        FI_WARN(&sk_provider, FI_LOG_EP_DATA, "endpoint %016llx sends more than it may\n",
                (unsigned long long)p->id);
        sk_object_pool_put(&ep->msg_pool, m);
        return FI_EIO;
    }
    m->rendezvous = false;
    sk_match_item *found = sk_matcher_deliver(matcher, &m->item);
    if (!found) {
        msg_store(ep, m, payload);
        return 0;
    }
    sk_recv_deliver(ep, (sk_recv_req *)found, m, payload);
    sk_object_pool_put(&ep->msg_pool, m);
    sk_credit_release(ep, p, cost);
    return 0;
}
