/* call.h: what the calls of fi_msg(3) and fi_tagged(3) have in common. */
#ifndef SK_FABRIC_CALL_H
#define SK_FABRIC_CALL_H

#include "fabric/api/objects.h"

#define SK_SEND_FLAGS                                                                              \
    (FI_COMPLETION | FI_MORE | FI_INJECT | FI_REMOTE_CQ_DATA | FI_INJECT_COMPLETE |                \
     FI_TRANSMIT_COMPLETE | FI_DELIVERY_COMPLETE | FI_MATCH_COMPLETE)
#define SK_RECV_FLAGS (FI_COMPLETION | FI_MORE)

static inline sk_ep *sk_call_ep(struct fid_ep *fid)
{
    return SK_CONTAINER_OF(fid, sk_ep, fid);
}

static inline ssize_t sk_call_send(sk_ep *ep, const sk_endpoint_call *c)
{
    if (SK_UNLIKELY(!ep->tx.live))
        return -FI_EOPBADSTATE;
    if (SK_UNLIKELY(c->flags & FI_INJECT && c->len > SK_INJECT))
        return -FI_EINVAL;
    sk_domain_lock(ep->domain);
    int rc = sk_endpoint_send(&ep->proto, c);
    sk_domain_unlock(ep->domain);
    return rc;
}

static inline ssize_t sk_call_recv(sk_ep *ep, const sk_endpoint_call *c)
{
    if (SK_UNLIKELY(!ep->rx.live))
        return -FI_EOPBADSTATE;
    sk_domain_lock(ep->domain);
    int rc = sk_endpoint_recv(&ep->proto, c);
    sk_domain_unlock(ep->domain);
    return rc;
}

/* Set the buffers of a call. False: they are too many or too long. */
static inline bool sk_call_iov(sk_endpoint_call *c, const struct iovec *iov, size_t count)
{
    uint64_t len = 0;
    if (count > SK_MAX_IOV)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (iov[i].iov_len > (uint64_t)INT64_MAX - len)
            return false;
        len += iov[i].iov_len;
    }
    c->iov = iov;
    c->niov = count;
    c->len = len;
    return true;
}

/* The flags of fi_sendmsg and its relatives: they replace the defaults of the endpoint. */
static inline uint64_t sk_call_flags(const sk_cq_binding *b, uint64_t flags)
{
    return flags | (b->selective ? 0 : FI_COMPLETION);
}

#endif
