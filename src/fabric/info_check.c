/* info_check.c: does the provider have what the hints of fi_getinfo ask for? */
#include <strings.h>

#include "fabric/endpoint.h"

/* Says in the log of libfabric (level info) which hint it was. */
static int differs(const char *what)
{
    FI_INFO(&sk_provider, FI_LOG_CORE, "not offered: %s\n", what);
    return -FI_ENODATA;
}

static bool name_differs(const char *wanted, const char *ours)
{
    return wanted && strcasecmp(wanted, ours) != 0;
}

static bool progress_differs(enum fi_progress wanted)
{
    return wanted != FI_PROGRESS_UNSPEC && wanted != FI_PROGRESS_MANUAL;
}

static int check_tx(const struct fi_tx_attr *o, const struct fi_tx_attr *h)
{
    if (h->caps & ~o->caps)
        return differs("tx caps");
    if (h->op_flags & ~o->op_flags)
        return differs("tx op_flags");
    if (h->msg_order & ~o->msg_order)
        return differs("tx msg_order");
    if (h->comp_order & ~o->comp_order)
        return differs("tx comp_order");
    if (h->inject_size > o->inject_size)
        return differs("tx inject_size");
    if (h->iov_limit > o->iov_limit || h->rma_iov_limit > o->rma_iov_limit)
        return differs("tx iov_limit");
    return h->size > o->size ? differs("tx size") : 0;
}

static int check_rx(const struct fi_rx_attr *o, const struct fi_rx_attr *h)
{
    if (h->caps & ~o->caps)
        return differs("rx caps");
    if (h->op_flags & ~o->op_flags)
        return differs("rx op_flags");
    if (h->msg_order & ~o->msg_order)
        return differs("rx msg_order");
    if (h->comp_order & ~o->comp_order)
        return differs("rx comp_order");
    if (h->iov_limit > o->iov_limit)
        return differs("rx iov_limit");
    return h->size > o->size ? differs("rx size") : 0;
}

static int check_ep(const struct fi_ep_attr *o, const struct fi_ep_attr *h)
{
    if (h->type != FI_EP_UNSPEC && h->type != o->type)
        return differs("endpoint type");
    if (h->protocol != FI_PROTO_UNSPEC &&
        (h->protocol != o->protocol || h->protocol_version > o->protocol_version))
        return differs("protocol");
    if (h->max_msg_size > o->max_msg_size)
        return differs("max_msg_size");
    if (h->max_order_raw_size || h->max_order_war_size || h->max_order_waw_size)
        return differs("order of remote memory access");
    if (h->tx_ctx_cnt > o->tx_ctx_cnt || h->rx_ctx_cnt > o->rx_ctx_cnt)
        return differs("contexts of an endpoint");
    return h->auth_key_size ? differs("authorization keys") : 0;
}

static int check_domain(const struct fi_domain_attr *o, const struct fi_domain_attr *h)
{
    if (name_differs(h->name, o->name))
        return differs("domain name");
    if ((unsigned)h->threading > FI_THREAD_ENDPOINT)
        return differs("threading");
    if (progress_differs(h->control_progress) || progress_differs(h->data_progress))
        return differs("automatic progress");
    if (h->cq_data_size > o->cq_data_size)
        return differs("cq_data_size");
    if (h->caps & ~o->caps)
        return differs("domain caps");
    if (h->cq_cnt > o->cq_cnt || h->ep_cnt > o->ep_cnt || h->cntr_cnt > o->cntr_cnt)
        return differs("number of objects");
    if (h->tx_ctx_cnt > o->tx_ctx_cnt || h->rx_ctx_cnt > o->rx_ctx_cnt ||
        h->max_ep_tx_ctx > o->max_ep_tx_ctx || h->max_ep_rx_ctx > o->max_ep_rx_ctx ||
        h->max_ep_stx_ctx || h->max_ep_srx_ctx)
        return differs("contexts of a domain");
    return h->auth_key_size ? differs("authorization keys") : 0;
}

int sk_info_check(const struct fi_info *o, const struct fi_info *h)
{
    int rc = 0;
    if (h->caps & ~o->caps)
        return differs("caps");
    if (h->addr_format != FI_FORMAT_UNSPEC || h->src_addr || h->dest_addr)
        return differs("address format");
    if (h->fabric_attr && name_differs(h->fabric_attr->name, o->fabric_attr->name))
        return differs("fabric name");
    if (h->ep_attr)
        rc = check_ep(o->ep_attr, h->ep_attr);
    if (rc == 0 && h->domain_attr)
        rc = check_domain(o->domain_attr, h->domain_attr);
    if (rc == 0 && h->tx_attr)
        rc = check_tx(o->tx_attr, h->tx_attr);
    if (rc == 0 && h->rx_attr)
        rc = check_rx(o->rx_attr, h->rx_attr);
    return rc;
}
