/* tagged.c: the calls of fi_tagged(3). Each becomes an sk_tagged_call. */
#include "fabric/api/objects.h"

#define SEND_FLAGS                                                                                 \
    (FI_COMPLETION | FI_MORE | FI_INJECT | FI_REMOTE_CQ_DATA | FI_INJECT_COMPLETE |                \
     FI_TRANSMIT_COMPLETE | FI_DELIVERY_COMPLETE | FI_MATCH_COMPLETE)
#define RECV_FLAGS (FI_COMPLETION | FI_MORE | FI_PEEK | FI_CLAIM | FI_DISCARD)

static sk_ep *ep_of(struct fid_ep *fid)
{
    return container_of(fid, sk_ep, fid);
}

static ssize_t call_send(sk_ep *ep, const sk_tagged_call *c)
{
    if (SK_UNLIKELY(!ep->tx.live))
        return -FI_EOPBADSTATE;
    if (SK_UNLIKELY(c->flags & FI_INJECT && c->len > SK_INJECT))
        return -FI_EINVAL;
    sk_domain_lock(ep->domain);
    int rc = sk_tagged_send(&ep->proto, c);
    sk_domain_unlock(ep->domain);
    return rc;
}

static ssize_t call_recv(sk_ep *ep, const sk_tagged_call *c)
{
    if (SK_UNLIKELY(!ep->rx.live))
        return -FI_EOPBADSTATE;
    sk_domain_lock(ep->domain);
    int rc = sk_tagged_recv(&ep->proto, c);
    sk_domain_unlock(ep->domain);
    return rc;
}

/* Set the buffers of a call. False: they are too many or too long. */
static bool call_iov(sk_tagged_call *c, const struct iovec *iov, size_t count)
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

static ssize_t tagged_recv(struct fid_ep *fid, void *buf, size_t len, void *desc,
                           fi_addr_t src_addr, uint64_t tag, uint64_t ignore, void *context)
{
    (void)desc;
    sk_ep *ep = ep_of(fid);
    struct iovec iov = {buf, len};
    sk_tagged_call c = {.iov = &iov,
                        .niov = 1,
                        .len = len,
                        .addr = src_addr,
                        .tag = tag,
                        .ignore = ignore,
                        .flags = ep->rx.default_flags,
                        .context = context};
    return call_recv(ep, &c);
}

static ssize_t tagged_recvv(struct fid_ep *fid, const struct iovec *iov, void **desc, size_t count,
                            fi_addr_t src_addr, uint64_t tag, uint64_t ignore, void *context)
{
    (void)desc;
    sk_ep *ep = ep_of(fid);
    sk_tagged_call c = {.addr = src_addr,
                        .tag = tag,
                        .ignore = ignore,
                        .flags = ep->rx.default_flags,
                        .context = context};
    return call_iov(&c, iov, count) ? call_recv(ep, &c) : -FI_EINVAL;
}

static ssize_t tagged_recvmsg(struct fid_ep *fid, const struct fi_msg_tagged *msg, uint64_t flags)
{
    sk_ep *ep = ep_of(fid);
    sk_tagged_call c = {.addr = msg->addr,
                        .tag = msg->tag,
                        .ignore = msg->ignore,
                        .flags = flags | (ep->rx.selective ? 0 : FI_COMPLETION),
                        .context = msg->context};
    if (flags & ~RECV_FLAGS)
        return -FI_EBADFLAGS;
    if (flags & FI_DISCARD && !(flags & (FI_PEEK | FI_CLAIM)))
        return -FI_EINVAL;
    bool data = !(flags & (FI_PEEK | FI_DISCARD));
    if (data && !call_iov(&c, msg->msg_iov, msg->iov_count))
        return -FI_EINVAL;
    if (!(flags & (FI_PEEK | FI_CLAIM)))
        return call_recv(ep, &c);
    if (!ep->rx.live)
        return -FI_EOPBADSTATE;
    sk_domain_lock(ep->domain);
    int rc = flags & FI_PEEK ? sk_tagged_probe(&ep->proto, &c) : sk_tagged_claim(&ep->proto, &c);
    sk_domain_unlock(ep->domain);
    return rc;
}

static ssize_t tagged_send(struct fid_ep *fid, const void *buf, size_t len, void *desc,
                           fi_addr_t dest_addr, uint64_t tag, void *context)
{
    (void)desc;
    sk_ep *ep = ep_of(fid);
    struct iovec iov = {(void *)buf, len};
    sk_tagged_call c = {.iov = &iov,
                        .niov = 1,
                        .len = len,
                        .addr = dest_addr,
                        .tag = tag,
                        .flags = ep->tx.default_flags,
                        .context = context};
    return call_send(ep, &c);
}

static ssize_t tagged_sendv(struct fid_ep *fid, const struct iovec *iov, void **desc, size_t count,
                            fi_addr_t dest_addr, uint64_t tag, void *context)
{
    (void)desc;
    sk_ep *ep = ep_of(fid);
    sk_tagged_call c = {
        .addr = dest_addr, .tag = tag, .flags = ep->tx.default_flags, .context = context};
    return call_iov(&c, iov, count) ? call_send(ep, &c) : -FI_EINVAL;
}

static ssize_t tagged_sendmsg(struct fid_ep *fid, const struct fi_msg_tagged *msg, uint64_t flags)
{
    sk_ep *ep = ep_of(fid);
    sk_tagged_call c = {.addr = msg->addr,
                        .tag = msg->tag,
                        .data = msg->data,
                        .flags = flags | (ep->tx.selective ? 0 : FI_COMPLETION),
                        .context = msg->context};
    if (flags & ~SEND_FLAGS)
        return -FI_EBADFLAGS;
    return call_iov(&c, msg->msg_iov, msg->iov_count) ? call_send(ep, &c) : -FI_EINVAL;
}

static ssize_t tagged_inject(struct fid_ep *fid, const void *buf, size_t len, fi_addr_t dest_addr,
                             uint64_t tag)
{
    struct iovec iov = {(void *)buf, len};
    sk_tagged_call c = {
        .iov = &iov, .niov = 1, .len = len, .addr = dest_addr, .tag = tag, .flags = FI_INJECT};
    return call_send(ep_of(fid), &c);
}

static ssize_t tagged_senddata(struct fid_ep *fid, const void *buf, size_t len, void *desc,
                               uint64_t data, fi_addr_t dest_addr, uint64_t tag, void *context)
{
    (void)desc;
    sk_ep *ep = ep_of(fid);
    struct iovec iov = {(void *)buf, len};
    sk_tagged_call c = {.iov = &iov,
                        .niov = 1,
                        .len = len,
                        .addr = dest_addr,
                        .tag = tag,
                        .data = data,
                        .flags = ep->tx.default_flags | FI_REMOTE_CQ_DATA,
                        .context = context};
    return call_send(ep, &c);
}

static ssize_t tagged_injectdata(struct fid_ep *fid, const void *buf, size_t len, uint64_t data,
                                 fi_addr_t dest_addr, uint64_t tag)
{
    struct iovec iov = {(void *)buf, len};
    sk_tagged_call c = {.iov = &iov,
                        .niov = 1,
                        .len = len,
                        .addr = dest_addr,
                        .tag = tag,
                        .data = data,
                        .flags = FI_INJECT | FI_REMOTE_CQ_DATA};
    return call_send(ep_of(fid), &c);
}

struct fi_ops_tagged sk_tagged_ops = {
    .size = sizeof(struct fi_ops_tagged),
    .recv = tagged_recv,
    .recvv = tagged_recvv,
    .recvmsg = tagged_recvmsg,
    .send = tagged_send,
    .sendv = tagged_sendv,
    .sendmsg = tagged_sendmsg,
    .inject = tagged_inject,
    .senddata = tagged_senddata,
    .injectdata = tagged_injectdata,
};
