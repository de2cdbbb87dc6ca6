/* ep.c: endpoints as libfabric sees them: open, bind, enable, name, cancel, close. */
#include <stdlib.h>
#include <string.h>

#include "fabric/api/objects.h"

static void binding_flags(sk_cq_binding *b, uint64_t op_flags)
{
    b->op_flags = op_flags;
    b->default_flags = op_flags | (b->selective ? 0 : FI_COMPLETION);
}

static int binding_open(sk_endpoint *ep, sk_cq_binding *b, sk_cq *cq, uint64_t flags)
{
    if (b->cq)
        return -FI_EINVAL;
    b->ep = ep;
    b->cq = cq;
    b->selective = flags & FI_SELECTIVE_COMPLETION;
    binding_flags(b, b->op_flags);
    cq->users++;
    sk_list_append(&cq->bindings, &b->node);
    return 0;
}

static void binding_close(sk_cq_binding *b)
{
    if (!b->cq)
        return;
    sk_list_remove(&b->node);
    b->cq->users--;
}

static int ep_bind_cq(sk_ep *ep, sk_cq *cq, uint64_t flags)
{
    int rc = 0;
    if (flags & ~(FI_TRANSMIT | FI_RECV | FI_SELECTIVE_COMPLETION))
        return -FI_EBADFLAGS;
    if (cq->domain != ep->domain || !(flags & (FI_TRANSMIT | FI_RECV)))
        return -FI_EINVAL;
    if (flags & FI_TRANSMIT)
        rc = binding_open(&ep->proto, &ep->tx, cq, flags);
    if (rc == 0 && flags & FI_RECV)
        rc = binding_open(&ep->proto, &ep->rx, cq, flags);
    return rc;
}

static int ep_bind_av(sk_ep *ep, sk_av *av)
{
    if (ep->av || av->domain != ep->domain)
        return -FI_EINVAL;
    ep->av = av;
    av->users++;
    return 0;
}

static int ep_bind(struct fid *fid, struct fid *bfid, uint64_t flags)
{
    sk_ep *ep = SK_CONTAINER_OF(fid, sk_ep, fid.fid);
    int rc;
    sk_domain_lock(ep->domain);
    if (ep->enabled)
        rc = -FI_EOPBADSTATE;
    else if (bfid->fclass == FI_CLASS_CQ)
        rc = ep_bind_cq(ep, SK_CONTAINER_OF(bfid, sk_cq, fid.fid), flags);
    else if (bfid->fclass == FI_CLASS_AV)
        rc = ep_bind_av(ep, SK_CONTAINER_OF(bfid, sk_av, fid.fid));
    else
        rc = -FI_ENOSYS;
    sk_domain_unlock(ep->domain);
    return rc;
}

/* Get or set the default flags of one direction; *flags says which. */
static int ep_op_flags(sk_ep *ep, uint64_t *flags, bool set)
{
    sk_cq_binding *b = *flags & FI_TRANSMIT ? &ep->tx : *flags & FI_RECV ? &ep->rx : NULL;
    if (!b || (*flags & FI_TRANSMIT && *flags & FI_RECV))
        return -FI_EINVAL;
    if (set)
        binding_flags(b, *flags & ~(FI_TRANSMIT | FI_RECV));
    else
        *flags = b->op_flags;
    return 0;
}

static int ep_enable(sk_ep *ep)
{
    if (ep->enabled)
        return 0;
    if (!ep->av)
        return -FI_ENOAV;
    if ((ep->caps & FI_SEND && !ep->tx.cq) || (ep->caps & FI_RECV && !ep->rx.cq))
        return -FI_ENOCQ;
    ep->proto.config = &ep->domain->config;
    ep->proto.ids = &ep->av->ids;
    ep->proto.tx = ep->tx.cq ? &ep->tx.cq->ring : NULL;
    ep->proto.rx = ep->rx.cq ? &ep->rx.cq->ring : NULL;
    int rc = sk_endpoint_open(&ep->proto);
    if (rc != 0)
        return rc;
    ep->tx.live = ep->tx.cq != NULL;
    ep->rx.live = ep->rx.cq != NULL;
    ep->enabled = true;
    return 0;
}

static int ep_control(struct fid *fid, int command, void *arg)
{
    sk_ep *ep = SK_CONTAINER_OF(fid, sk_ep, fid.fid);
    int rc = -FI_ENOSYS;
    sk_domain_lock(ep->domain);
    if (command == FI_ENABLE)
        rc = ep_enable(ep);
    else if (command == FI_GETOPSFLAG || command == FI_SETOPSFLAG)
        rc = ep_op_flags(ep, arg, command == FI_SETOPSFLAG);
    sk_domain_unlock(ep->domain);
    return rc;
}

static int ep_close(struct fid *fid)
{
    sk_ep *ep = SK_CONTAINER_OF(fid, sk_ep, fid.fid);
    sk_domain *d = ep->domain;
    sk_domain_lock(d);
    if (ep->enabled)
        sk_endpoint_close(&ep->proto, d->contended);
    binding_close(&ep->tx);
    binding_close(&ep->rx);
    if (ep->av)
        ep->av->users--;
    d->users--;
    sk_domain_unlock(d);
    free(ep);
    return 0;
}

static int ep_getname(fid_t fid, void *addr, size_t *len)
{
    const sk_ep *ep = SK_CONTAINER_OF(fid, sk_ep, fid.fid);
    size_t size = *len;
    if (!ep->enabled)
        return -FI_EOPBADSTATE;
    *len = SK_ADDRESS_BYTES;
    if (size) /* else the caller asks for the length only, and `addr` may be NULL */
        memcpy(addr, &ep->proto.name, size < SK_ADDRESS_BYTES ? size : SK_ADDRESS_BYTES);
    return size < SK_ADDRESS_BYTES ? -FI_ETOOSMALL : 0;
}

static ssize_t ep_cancel(fid_t fid, void *context)
{
    sk_ep *ep = SK_CONTAINER_OF(fid, sk_ep, fid.fid);
    sk_domain_lock(ep->domain);
    int rc = sk_endpoint_cancel(&ep->proto, context);
    sk_domain_unlock(ep->domain);
    return rc;
}

static int ep_getopt(fid_t fid, int level, int name, void *value, size_t *len)
{
    (void)fid, (void)level, (void)name, (void)value, (void)len;
    return -FI_ENOPROTOOPT;
}

static int ep_setopt(fid_t fid, int level, int name, const void *value, size_t len)
{
    (void)fid, (void)level, (void)name, (void)value, (void)len;
    return -FI_ENOPROTOOPT;
}

static int no_tx_ctx(struct fid_ep *sep, int index, struct fi_tx_attr *attr, struct fid_ep **tx_ep,
                     void *context)
{
    (void)sep, (void)index, (void)attr, (void)tx_ep, (void)context;
    return -FI_ENOSYS;
}

static int no_rx_ctx(struct fid_ep *sep, int index, struct fi_rx_attr *attr, struct fid_ep **rx_ep,
                     void *context)
{
    (void)sep, (void)index, (void)attr, (void)rx_ep, (void)context;
    return -FI_ENOSYS;
}

/* Our queues grow: as many operations as we have promised always fit. */
static ssize_t ep_size_left(struct fid_ep *fid)
{
    const sk_ep *ep = SK_CONTAINER_OF(fid, sk_ep, fid);
    return ep->enabled ? (ssize_t)ep->queue : -FI_EOPBADSTATE;
}

static struct fi_ops ep_fid_ops = {
    .size = sizeof(struct fi_ops),
    .close = ep_close,
    .bind = ep_bind,
    .control = ep_control,
    .ops_open = sk_no_ops_open,
};

static struct fi_ops_ep ep_ops = {
    .size = sizeof(struct fi_ops_ep),
    .cancel = ep_cancel,
    .getopt = ep_getopt,
    .setopt = ep_setopt,
    .tx_ctx = no_tx_ctx,
    .rx_ctx = no_rx_ctx,
    .rx_size_left = ep_size_left,
    .tx_size_left = ep_size_left,
};

static struct fi_ops_cm ep_cm_ops = {
    .size = sizeof(struct fi_ops_cm),
    .setname = sk_no_setname,
    .getname = ep_getname,
    .getpeer = sk_no_getpeer,
    .connect = sk_no_connect,
    .listen = sk_no_listen,
    .accept = sk_no_accept,
    .reject = sk_no_reject,
    .shutdown = sk_no_shutdown,
    .join = sk_no_join,
};

static int ep_check(const struct fi_info *info)
{
    if (!info || !info->ep_attr || !info->tx_attr || !info->rx_attr ||
        info->ep_attr->type != FI_EP_RDM)
        return -FI_EINVAL;
    return info->ep_attr->tx_ctx_cnt > 1 || info->ep_attr->rx_ctx_cnt > 1 ? -FI_ENOSYS : 0;
}

int sk_ep_open(struct fid_domain *domain, struct fi_info *info, struct fid_ep **out, void *context)
{
    sk_domain *d = SK_CONTAINER_OF(domain, sk_domain, fid);
    int rc = ep_check(info);
    if (rc != 0)
        return rc;
    sk_ep *ep = calloc(1, sizeof *ep);
    if (!ep)
        return -FI_ENOMEM;
    ep->domain = d;
    ep->caps = info->caps;
    ep->queue = info->tx_attr->size;
    sk_endpoint_init(&ep->proto); /* a bound queue may be read before the endpoint is enabled */
    ep->proto.own_contexts = info->mode & (FI_CONTEXT | FI_CONTEXT2);
    ep->proto.directed = info->caps & FI_DIRECTED_RECV;
    ep->proto.sources = info->caps & FI_SOURCE;
    ep->tx.op_flags = info->tx_attr->op_flags;
    ep->rx.op_flags = info->rx_attr->op_flags;
    ep->fid.fid = (struct fid){FI_CLASS_EP, context, &ep_fid_ops};
    ep->fid.ops = &ep_ops;
    ep->fid.cm = &ep_cm_ops;
    ep->fid.msg = &sk_msg_ops;
    ep->fid.tagged = &sk_tagged_ops;
    sk_domain_lock(d);
    d->users++;
    sk_domain_unlock(d);
    *out = &ep->fid;
    return 0;
}
