/* info.c: fi_getinfo: what the provider can do, reduced to what the application asks for. There is
 * one type of endpoint: reliable datagrams, with and without tags, and manual progress. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "fabric/api/objects.h"

#define CAPS                                                                                       \
    (FI_MSG | FI_TAGGED | FI_SEND | FI_RECV | FI_LOCAL_COMM | FI_REMOTE_COMM | FI_DIRECTED_RECV |  \
     FI_SOURCE)
#define ALL_TAGS   UINT64_C(0xaaaaaaaaaaaaaaaa) /* 64 fields of one bit */
#define DIRECTIONS (FI_SEND | FI_RECV)
#define EXTRAS     (FI_LOCAL_COMM | FI_REMOTE_COMM) /* free: always included */

#define PROTOCOL (UINT32_C(1) << 31 | 0x736b) /* a provider's own have the uppermost bit */

enum {
    QUEUE = 65536, /* operations: advice only, our queues grow */
    MANY = 1024,   /* objects of one type */
};

/* libfabric hands our infos on as they are. They must have the layout of the libfabric that runs,
 * which may be newer than the headers: its structs are longer then. A linked fi_dupinfo makes what the
 * headers describe; dlsym finds the newest version of the function. */
static struct fi_info *info_alloc(void)
{
    union {
        void *object;
        struct fi_info *(*function)(const struct fi_info *info);
    } dup = {.object = dlsym(RTLD_DEFAULT, "fi_dupinfo")};
    return dup.object ? dup.function(NULL) : NULL;
}

static void info_free(struct fi_info *i)
{
    union {
        void *object;
        void (*function)(struct fi_info *info);
    } release = {.object = dlsym(RTLD_DEFAULT, "fi_freeinfo")};
    if (release.object)
        release.function(i);
}

/* All that we can do. */
static struct fi_info *info_full(void)
{
    struct fi_info *i = info_alloc();
    if (!i)
        return NULL;
    i->caps = CAPS;
    i->mode = 0;
    i->addr_format = FI_FORMAT_UNSPEC;
    *i->tx_attr = (struct fi_tx_attr){
        .caps = CAPS & ~FI_RECV,
        .op_flags = FI_COMPLETION | FI_INJECT | FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE |
                    FI_DELIVERY_COMPLETE | FI_MATCH_COMPLETE,
        .msg_order = FI_ORDER_SAS,
        .inject_size = SK_INJECT,
        .size = QUEUE,
        .iov_limit = SK_MAX_IOV,
    };
    *i->rx_attr = (struct fi_rx_attr){
        .caps = CAPS & ~FI_SEND,
        .op_flags = FI_COMPLETION,
        .msg_order = FI_ORDER_SAS,
        .size = QUEUE,
        .iov_limit = SK_MAX_IOV,
    };
    *i->ep_attr = (struct fi_ep_attr){
        .type = FI_EP_RDM,
        .protocol = PROTOCOL,
        .protocol_version = SK_PACKET_VERSION,
        .max_msg_size = (size_t)INT64_MAX,
        .mem_tag_format = ALL_TAGS,
        .tx_ctx_cnt = 1,
        .rx_ctx_cnt = 1,
    };
    *i->domain_attr = (struct fi_domain_attr){
        .name = strdup("skein"),
        .threading = FI_THREAD_SAFE,
        .control_progress = FI_PROGRESS_MANUAL,
        .data_progress = FI_PROGRESS_MANUAL,
        .resource_mgmt = FI_RM_ENABLED,
        .av_type = FI_AV_UNSPEC,
        .cq_data_size = sizeof(uint32_t),
        .cq_cnt = MANY,
        .ep_cnt = MANY,
        .tx_ctx_cnt = MANY,
        .rx_ctx_cnt = MANY,
        .max_ep_tx_ctx = 1,
        .max_ep_rx_ctx = 1,
        .mr_iov_limit = SK_MAX_IOV,
        .caps = EXTRAS,
        .mr_cnt = QUEUE,
    };
    i->fabric_attr->name = strdup("skein");
    if (i->domain_attr->name && i->fabric_attr->name)
        return i;
    info_free(i);
    return NULL;
}

/* --- does the provider have what the hints ask for? --- */

/* Log (level info) which hint we do not meet. */
static int unmet(const char *what)
{
    FI_INFO(&sk_provider, FI_LOG_CORE, "not offered: %s\n", what);
    return -FI_ENODATA;
}

static bool name_differs(const char *wanted, const char *ours)
{
    return wanted && strcasecmp(wanted, ours) != 0;
}

static int check_tx(const struct fi_tx_attr *o, const struct fi_tx_attr *h)
{
    if (h->caps & ~o->caps)
        return unmet("tx caps");
    if (h->op_flags & ~o->op_flags)
        return unmet("tx op_flags");
    if (h->msg_order & ~o->msg_order)
        return unmet("tx msg_order");
    if (h->comp_order & ~o->comp_order)
        return unmet("tx comp_order");
    if (h->inject_size > o->inject_size)
        return unmet("tx inject_size");
    if (h->iov_limit > o->iov_limit || h->rma_iov_limit > o->rma_iov_limit)
        return unmet("tx iov_limit");
    return h->size > o->size ? unmet("tx size") : 0;
}

static int check_rx(const struct fi_rx_attr *o, const struct fi_rx_attr *h)
{
    if (h->caps & ~o->caps)
        return unmet("rx caps");
    if (h->op_flags & ~o->op_flags)
        return unmet("rx op_flags");
    if (h->msg_order & ~o->msg_order)
        return unmet("rx msg_order");
    if (h->comp_order & ~o->comp_order)
        return unmet("rx comp_order");
    if (h->iov_limit > o->iov_limit)
        return unmet("rx iov_limit");
    return h->size > o->size ? unmet("rx size") : 0;
}

static int check_ep(const struct fi_ep_attr *o, const struct fi_ep_attr *h)
{
    if (h->type != FI_EP_UNSPEC && h->type != o->type)
        return unmet("endpoint type");
    if (h->protocol != FI_PROTO_UNSPEC &&
        (h->protocol != o->protocol || h->protocol_version > o->protocol_version))
        return unmet("protocol");
    if (h->max_msg_size > o->max_msg_size)
        return unmet("max_msg_size");
    if (h->max_order_raw_size || h->max_order_war_size || h->max_order_waw_size)
        return unmet("order of remote memory access");
    if (h->tx_ctx_cnt > o->tx_ctx_cnt || h->rx_ctx_cnt > o->rx_ctx_cnt)
        return unmet("contexts of an endpoint");
    return h->auth_key_size ? unmet("authorization keys") : 0;
}

static int check_domain(const struct fi_domain_attr *o, const struct fi_domain_attr *h)
{
    if (name_differs(h->name, o->name))
        return unmet("domain name");
    if ((unsigned)h->threading > FI_THREAD_ENDPOINT)
        return unmet("threading");
    /* Newer models promise more of the application than the manual one does. */
    if (h->control_progress == FI_PROGRESS_AUTO || h->data_progress == FI_PROGRESS_AUTO)
        return unmet("automatic progress");
    if (h->cq_data_size > o->cq_data_size)
        return unmet("cq_data_size");
    if (h->caps & ~o->caps)
        return unmet("domain caps");
    if (h->cq_cnt > o->cq_cnt || h->ep_cnt > o->ep_cnt || h->cntr_cnt > o->cntr_cnt)
        return unmet("number of objects");
    if (h->tx_ctx_cnt > o->tx_ctx_cnt || h->rx_ctx_cnt > o->rx_ctx_cnt ||
        h->max_ep_tx_ctx > o->max_ep_tx_ctx || h->max_ep_rx_ctx > o->max_ep_rx_ctx ||
        h->max_ep_stx_ctx || h->max_ep_srx_ctx)
        return unmet("contexts of a domain");
    return h->auth_key_size ? unmet("authorization keys") : 0;
}

static int info_check(const struct fi_info *o, const struct fi_info *h)
{
    int rc = 0;
    if (h->caps & ~o->caps)
        return unmet("caps");
    if (h->addr_format != FI_FORMAT_UNSPEC || h->src_addr || h->dest_addr)
        return unmet("address format");
    if (h->fabric_attr && name_differs(h->fabric_attr->name, o->fabric_attr->name))
        return unmet("fabric name");
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

/* --- fi_getinfo --- */

static uint64_t info_caps(uint64_t wanted)
{
    if (!wanted)
        return CAPS;
    uint64_t caps = wanted | EXTRAS;
    if (!(caps & DIRECTIONS))
        caps |= DIRECTIONS;
    return caps;
}

/* Reduce what we can do to what is asked for. */
static void info_reduce(struct fi_info *i, const struct fi_info *hints)
{
    i->caps = info_caps(hints->caps);
    i->tx_attr->caps = i->caps & ~FI_RECV;
    i->rx_attr->caps = i->caps & ~FI_SEND;
    /* If contexts are ours until completion, fi_cancel needs no table. */
    i->mode = hints->mode & FI_CONTEXT ? FI_CONTEXT : hints->mode & FI_CONTEXT2;
    i->tx_attr->mode = i->rx_attr->mode = i->mode;
    i->tx_attr->op_flags = hints->tx_attr ? hints->tx_attr->op_flags : 0;
    i->rx_attr->op_flags = hints->rx_attr ? hints->rx_attr->op_flags : 0;
    if (hints->handle)
        i->handle = hints->handle;
    const struct fi_domain_attr *d = hints->domain_attr;
    if (!d)
        return;
    if (d->threading != FI_THREAD_UNSPEC)
        i->domain_attr->threading = d->threading;
    if (d->resource_mgmt != FI_RM_UNSPEC)
        i->domain_attr->resource_mgmt = d->resource_mgmt;
    i->domain_attr->av_type = d->av_type;
}

static int info_settings(void)
{
    char err[512];
    sk_fabric_config c;
    if (sk_fabric_config_read(environ, &c, err, sizeof err) != SK_OK) {
        sk_provider_message(err);
        return -FI_EINVAL;
    }
    sk_fabric_config_free(&c);
    return 0;
}

int sk_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
               const struct fi_info *hints, struct fi_info **info)
{
    (void)flags;
    /* Only endpoints make names: no host name or service leads to one. */
    if (FI_VERSION_LT(version, FI_VERSION(1, 5)) || node || service)
        return -FI_ENODATA;
    struct fi_info *full = info_full();
    if (!full)
        return -FI_ENOMEM;
    int rc = hints ? info_check(full, hints) : 0;
    if (rc == 0)
        rc = info_settings();
    if (rc != 0) {
        info_free(full);
        return rc;
    }
    if (hints)
        info_reduce(full, hints);
    else
        full->tx_attr->op_flags = full->rx_attr->op_flags = 0;
    *info = full;
    return 0;
}
