/* tagged.c: the calls of fi_tagged(3), each made into an sk_want. */
#include "fabric/endpoint.h"

#define SEND_FLAGS                                                                                 \
    (FI_COMPLETION | FI_MORE | FI_INJECT | FI_REMOTE_CQ_DATA | FI_INJECT_COMPLETE |                \
     FI_TRANSMIT_COMPLETE | FI_DELIVERY_COMPLETE | FI_MATCH_COMPLETE)
#define RECV_FLAGS (FI_COMPLETION | FI_MORE | FI_PEEK | FI_CLAIM | FI_DISCARD)

static sk_ep *ep_of(struct fid_ep *fid)
{
    return container_of(fid, sk_ep, fid);
}

static ssize_t want_send(sk_ep *ep, const sk_want *w)
{
    if (SK_UNLIKELY(!ep->tx.live))
        return -FI_EOPBADSTATE;
    if (SK_UNLIKELY(w->flags & FI_INJECT && w->len > SK_INJECT))
        return -FI_EINVAL;
    sk_domain_lock(ep->domain);
    int rc = sk_ep_send(ep, w);
    sk_domain_unlock(ep->domain);
    return rc;
}

static ssize_t want_recv(sk_ep *ep, const sk_want *w)
{
    if (SK_UNLIKELY(!ep->rx.live))
        return -FI_EOPBADSTATE;
    sk_domain_lock(ep->domain);
    int rc = sk_ep_recv(ep, w);
    sk_domain_unlock(ep->domain);
    return rc;
}

/* Take over the parts of a call; false: they are too many or too long. */
static bool want_parts(sk_want *w, const struct iovec *iov, size_t count)
{
    uint64_t len = 0;
    if (count > SK_MAX_IOV)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (iov[i].iov_len > (uint64_t)INT64_MAX - len)
            return false;
        len += iov[i].iov_len;
    }
    w->iov = iov;
    w->niov = count;
    w->len = len;
    return true;
}

static ssize_t tagged_recv(struct fid_ep *fid, void *buf, size_t len, void *desc,
                           fi_addr_t src_addr, uint64_t tag, uint64_t ignore, void *context)
{
    (void)desc;
    sk_ep *ep = ep_of(fid);
    struct iovec iov = {buf, len};
    sk_want w = {.iov = &iov,
                 .niov = 1,
                 .len = len,
                 .addr = src_addr,
                 .tag = tag,
                 .ignore = ignore,
                 .flags = ep->rx.plain,
                 .context = context};
    return want_recv(ep, &w);
}

static ssize_t tagged_recvv(struct fid_ep *fid, const struct iovec *iov, void **desc, size_t count,
                            fi_addr_t src_addr, uint64_t tag, uint64_t ignore, void *context)
{
    (void)desc;
    sk_ep *ep = ep_of(fid);
    sk_want w = {
        .addr = src_addr, .tag = tag, .ignore = ignore, .flags = ep->rx.plain, .context = context};
    return want_parts(&w, iov, count) ? want_recv(ep, &w) : -FI_EINVAL;
}

static ssize_t tagged_recvmsg(struct fid_ep *fid, const struct fi_msg_tagged *msg, uint64_t flags)
{
    sk_ep *ep = ep_of(fid);
    sk_want w = {.addr = msg->addr,
                 .tag = msg->tag,
                 .ignore = msg->ignore,
                 .flags = flags | (ep->rx.selective ? 0 : FI_COMPLETION),
                 .context = msg->context};
    if (flags & ~RECV_FLAGS)
        return -FI_EBADFLAGS;
    if (flags & FI_DISCARD && !(flags & (FI_PEEK | FI_CLAIM)))
        return -FI_EINVAL;
    bool data = !(flags & (FI_PEEK | FI_DISCARD));
    if (data && !want_parts(&w, msg->msg_iov, msg->iov_count))
        return -FI_EINVAL;
    if (!(flags & (FI_PEEK | FI_CLAIM)))
        return want_recv(ep, &w);
    if (!ep->rx.live)
        return -FI_EOPBADSTATE;
    sk_domain_lock(ep->domain);
    int rc = flags & FI_PEEK ? sk_ep_peek(ep, &w) : sk_ep_claimed(ep, &w);
    sk_domain_unlock(ep->domain);
    return rc;
}

static ssize_t tagged_send(struct fid_ep *fid, const void *buf, size_t len, void *desc,
                           fi_addr_t dest_addr, uint64_t tag, void *context)
{
    (void)desc;
    sk_ep *ep = ep_of(fid);
    struct iovec iov = {(void *)buf, len};
    sk_want w = {.iov = &iov,
                 .niov = 1,
                 .len = len,
                 .addr = dest_addr,
                 .tag = tag,
                 .flags = ep->tx.plain,
                 .context = context};
    return want_send(ep, &w);
}

static ssize_t tagged_sendv(struct fid_ep *fid, const struct iovec *iov, void **desc, size_t count,
                            fi_addr_t dest_addr, uint64_t tag, void *context)
{
    (void)desc;
    sk_ep *ep = ep_of(fid);
    sk_want w = {.addr = dest_addr, .tag = tag, .flags = ep->tx.plain, .context = context};
    return want_parts(&w, iov, count) ? want_send(ep, &w) : -FI_EINVAL;
}

static ssize_t tagged_sendmsg(struct fid_ep *fid, const struct fi_msg_tagged *msg, uint64_t flags)
{
    sk_ep *ep = ep_of(fid);
    sk_want w = {.addr = msg->addr,
                 .tag = msg->tag,
                 .data = msg->data,
                 .flags = flags | (ep->tx.selective ? 0 : FI_COMPLETION),
                 .context = msg->context};
    if (flags & ~SEND_FLAGS)
        return -FI_EBADFLAGS;
    return want_parts(&w, msg->msg_iov, msg->iov_count) ? want_send(ep, &w) : -FI_EINVAL;
}

static ssize_t tagged_inject(struct fid_ep *fid, const void *buf, size_t len, fi_addr_t dest_addr,
                             uint64_t tag)
{
    struct iovec iov = {(void *)buf, len};
    sk_want w = {
        .iov = &iov, .niov = 1, .len = len, .addr = dest_addr, .tag = tag, .flags = FI_INJECT};
    return want_send(ep_of(fid), &w);
}

static ssize_t tagged_senddata(struct fid_ep *fid, const void *buf, size_t len, void *desc,
                               uint64_t data, fi_addr_t dest_addr, uint64_t tag, void *context)
{
    (void)desc;
    sk_ep *ep = ep_of(fid);
    struct iovec iov = {(void *)buf, len};
    sk_want w = {.iov = &iov,
                 .niov = 1,
                 .len = len,
                 .addr = dest_addr,
                 .tag = tag,
                 .data = data,
                 .flags = ep->tx.plain | FI_REMOTE_CQ_DATA,
                 .context = context};
    return want_send(ep, &w);
}

static ssize_t tagged_injectdata(struct fid_ep *fid, const void *buf, size_t len, uint64_t data,
                                 fi_addr_t dest_addr, uint64_t tag)
{
    struct iovec iov = {(void *)buf, len};
    sk_want w = {.iov = &iov,
                 .niov = 1,
                 .len = len,
                 .addr = dest_addr,
                 .tag = tag,
                 .data = data,
                 .flags = FI_INJECT | FI_REMOTE_CQ_DATA};
    return want_send(ep_of(fid), &w);
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
