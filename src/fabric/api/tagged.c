/* tagged.c: the calls of fi_tagged(3). Each becomes an sk_endpoint_call. */
#include "fabric/api/call.h"

#define RECV_FLAGS (SK_RECV_FLAGS | FI_PEEK | FI_CLAIM | FI_DISCARD)

static ssize_t tagged_recv(struct fid_ep *fid, void *buf, size_t len, void *desc,
                           fi_addr_t src_addr, uint64_t tag, uint64_t ignore, void *context)
{
    (void)desc;
    sk_ep *ep = sk_call_ep(fid);
    struct iovec iov = {buf, len};
    sk_endpoint_call c = {.iov = &iov,
                          .niov = 1,
                          .len = len,
                          .addr = src_addr,
                          .tag = tag,
                          .ignore = ignore,
                          .flags = FI_TAGGED | ep->rx.default_flags,
                          .context = context};
    return sk_call_recv(ep, &c);
}

static ssize_t tagged_recvv(struct fid_ep *fid, const struct iovec *iov, void **desc, size_t count,
                            fi_addr_t src_addr, uint64_t tag, uint64_t ignore, void *context)
{
    (void)desc;
    sk_ep *ep = sk_call_ep(fid);
    sk_endpoint_call c = {.addr = src_addr,
                          .tag = tag,
                          .ignore = ignore,
                          .flags = FI_TAGGED | ep->rx.default_flags,
                          .context = context};
    return sk_call_iov(&c, iov, count) ? sk_call_recv(ep, &c) : -FI_EINVAL;
}

static ssize_t tagged_recvmsg(struct fid_ep *fid, const struct fi_msg_tagged *msg, uint64_t flags)
{
    sk_ep *ep = sk_call_ep(fid);
    sk_endpoint_call c = {.addr = msg->addr,
                          .tag = msg->tag,
                          .ignore = msg->ignore,
                          .flags = sk_call_flags(&ep->rx, flags) | FI_TAGGED,
                          .context = msg->context};
    if (flags & ~RECV_FLAGS)
        return -FI_EBADFLAGS;
    if (flags & FI_DISCARD && !(flags & (FI_PEEK | FI_CLAIM)))
        return -FI_EINVAL;
    bool data = !(flags & (FI_PEEK | FI_DISCARD));
    if (data && !sk_call_iov(&c, msg->msg_iov, msg->iov_count))
        return -FI_EINVAL;
    if (!(flags & (FI_PEEK | FI_CLAIM)))
        return sk_call_recv(ep, &c);
    if (!ep->rx.live)
        return -FI_EOPBADSTATE;
    sk_domain_lock(ep->domain);
    int rc =
        flags & FI_PEEK ? sk_endpoint_probe(&ep->proto, &c) : sk_endpoint_claim(&ep->proto, &c);
    sk_domain_unlock(ep->domain);
    return rc;
}

static ssize_t tagged_send(struct fid_ep *fid, const void *buf, size_t len, void *desc,
                           fi_addr_t dest_addr, uint64_t tag, void *context)
{
    (void)desc;
    sk_ep *ep = sk_call_ep(fid);
    struct iovec iov = {(void *)buf, len};
    sk_endpoint_call c = {.iov = &iov,
                          .niov = 1,
                          .len = len,
                          .addr = dest_addr,
                          .tag = tag,
                          .flags = FI_TAGGED | ep->tx.default_flags,
                          .context = context};
    return sk_call_send(ep, &c);
}

static ssize_t tagged_sendv(struct fid_ep *fid, const struct iovec *iov, void **desc, size_t count,
                            fi_addr_t dest_addr, uint64_t tag, void *context)
{
    (void)desc;
    sk_ep *ep = sk_call_ep(fid);
    sk_endpoint_call c = {.addr = dest_addr,
                          .tag = tag,
                          .flags = FI_TAGGED | ep->tx.default_flags,
                          .context = context};
    return sk_call_iov(&c, iov, count) ? sk_call_send(ep, &c) : -FI_EINVAL;
}

static ssize_t tagged_sendmsg(struct fid_ep *fid, const struct fi_msg_tagged *msg, uint64_t flags)
{
    sk_ep *ep = sk_call_ep(fid);
    sk_endpoint_call c = {.addr = msg->addr,
                          .tag = msg->tag,
                          .data = msg->data,
                          .flags = sk_call_flags(&ep->tx, flags) | FI_TAGGED,
                          .context = msg->context};
    if (flags & ~SK_SEND_FLAGS)
        return -FI_EBADFLAGS;
    return sk_call_iov(&c, msg->msg_iov, msg->iov_count) ? sk_call_send(ep, &c) : -FI_EINVAL;
}

static ssize_t tagged_inject(struct fid_ep *fid, const void *buf, size_t len, fi_addr_t dest_addr,
                             uint64_t tag)
{
    struct iovec iov = {(void *)buf, len};
    sk_endpoint_call c = {.iov = &iov,
                          .niov = 1,
                          .len = len,
                          .addr = dest_addr,
                          .tag = tag,
                          .flags = FI_TAGGED | FI_INJECT};
    return sk_call_send(sk_call_ep(fid), &c);
}

static ssize_t tagged_senddata(struct fid_ep *fid, const void *buf, size_t len, void *desc,
                               uint64_t data, fi_addr_t dest_addr, uint64_t tag, void *context)
{
    (void)desc;
    sk_ep *ep = sk_call_ep(fid);
    struct iovec iov = {(void *)buf, len};
    sk_endpoint_call c = {.iov = &iov,
                          .niov = 1,
                          .len = len,
                          .addr = dest_addr,
                          .tag = tag,
                          .data = data,
                          .flags = FI_TAGGED | ep->tx.default_flags | FI_REMOTE_CQ_DATA,
                          .context = context};
    return sk_call_send(ep, &c);
}

static ssize_t tagged_injectdata(struct fid_ep *fid, const void *buf, size_t len, uint64_t data,
                                 fi_addr_t dest_addr, uint64_t tag)
{
    struct iovec iov = {(void *)buf, len};
    sk_endpoint_call c = {.iov = &iov,
                          .niov = 1,
                          .len = len,
                          .addr = dest_addr,
                          .tag = tag,
                          .data = data,
                          .flags = FI_TAGGED | FI_INJECT | FI_REMOTE_CQ_DATA};
    return sk_call_send(sk_call_ep(fid), &c);
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
