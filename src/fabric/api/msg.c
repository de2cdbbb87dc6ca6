/* msg.c: the calls of fi_msg(3), messages without tags. Each becomes an sk_endpoint_call. */
#include "fabric/api/call.h"

static ssize_t msg_recv(struct fid_ep *fid, void *buf, size_t len, void *desc, fi_addr_t src_addr,
                        void *context)
{
    (void)desc;
    sk_ep *ep = sk_call_ep(fid);
    struct iovec iov = {buf, len};
    sk_endpoint_call c = {.iov = &iov,
                          .niov = 1,
                          .len = len,
                          .addr = src_addr,
                          .flags = FI_MSG | ep->rx.default_flags,
                          .context = context};
    return sk_call_recv(ep, &c);
}

static ssize_t msg_recvv(struct fid_ep *fid, const struct iovec *iov, void **desc, size_t count,
                         fi_addr_t src_addr, void *context)
{
    (void)desc;
    sk_ep *ep = sk_call_ep(fid);
    sk_endpoint_call c = {
        .addr = src_addr, .flags = FI_MSG | ep->rx.default_flags, .context = context};
    return sk_call_iov(&c, iov, count) ? sk_call_recv(ep, &c) : -FI_EINVAL;
}

static ssize_t msg_recvmsg(struct fid_ep *fid, const struct fi_msg *msg, uint64_t flags)
{
    sk_ep *ep = sk_call_ep(fid);
    sk_endpoint_call c = {.addr = msg->addr,
                          .flags = sk_call_flags(&ep->rx, flags) | FI_MSG,
                          .context = msg->context};
    if (flags & ~SK_RECV_FLAGS)
        return -FI_EBADFLAGS;
    return sk_call_iov(&c, msg->msg_iov, msg->iov_count) ? sk_call_recv(ep, &c) : -FI_EINVAL;
}

static ssize_t msg_sendv(struct fid_ep *fid, const struct iovec *iov, void **desc, size_t count,
                         fi_addr_t dest_addr, void *context)
{
    (void)desc;
    sk_ep *ep = sk_call_ep(fid);
    sk_endpoint_call c = {
        .addr = dest_addr, .flags = FI_MSG | ep->tx.default_flags, .context = context};
    return sk_call_iov(&c, iov, count) ? sk_call_send(ep, &c) : -FI_EINVAL;
}

static ssize_t msg_sendmsg(struct fid_ep *fid, const struct fi_msg *msg, uint64_t flags)
{
    sk_ep *ep = sk_call_ep(fid);
    sk_endpoint_call c = {.addr = msg->addr,
                          .data = msg->data,
                          .flags = sk_call_flags(&ep->tx, flags) | FI_MSG,
                          .context = msg->context};
    if (flags & ~SK_SEND_FLAGS)
        return -FI_EBADFLAGS;
    return sk_call_iov(&c, msg->msg_iov, msg->iov_count) ? sk_call_send(ep, &c) : -FI_EINVAL;
}

/* The calls with one buffer. */
static ssize_t send_one(struct fid_ep *fid, const void *buf, size_t len, uint64_t data,
                        fi_addr_t dest_addr, uint64_t flags, void *context)
{
    struct iovec iov = {(void *)buf, len};
    sk_endpoint_call c = {.iov = &iov,
                          .niov = 1,
                          .len = len,
                          .addr = dest_addr,
                          .data = data,
                          .flags = FI_MSG | flags,
                          .context = context};
    return sk_call_send(sk_call_ep(fid), &c);
}

static ssize_t msg_send(struct fid_ep *fid, const void *buf, size_t len, void *desc,
                        fi_addr_t dest_addr, void *context)
{
    (void)desc;
    return send_one(fid, buf, len, 0, dest_addr, sk_call_ep(fid)->tx.default_flags, context);
}

static ssize_t msg_inject(struct fid_ep *fid, const void *buf, size_t len, fi_addr_t dest_addr)
{
    return send_one(fid, buf, len, 0, dest_addr, FI_INJECT, NULL);
}

static ssize_t msg_senddata(struct fid_ep *fid, const void *buf, size_t len, void *desc,
                            uint64_t data, fi_addr_t dest_addr, void *context)
{
    (void)desc;
    return send_one(fid, buf, len, data, dest_addr,
                    sk_call_ep(fid)->tx.default_flags | FI_REMOTE_CQ_DATA, context);
}

static ssize_t msg_injectdata(struct fid_ep *fid, const void *buf, size_t len, uint64_t data,
                              fi_addr_t dest_addr)
{
    return send_one(fid, buf, len, data, dest_addr, FI_INJECT | FI_REMOTE_CQ_DATA, NULL);
}

struct fi_ops_msg sk_msg_ops = {
    .size = sizeof(struct fi_ops_msg),
    .recv = msg_recv,
    .recvv = msg_recvv,
    .recvmsg = msg_recvmsg,
    .send = msg_send,
    .sendv = msg_sendv,
    .sendmsg = msg_sendmsg,
    .inject = msg_inject,
    .senddata = msg_senddata,
    .injectdata = msg_injectdata,
};
