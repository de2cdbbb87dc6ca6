/* info.c: fi_getinfo: what the provider is, fitted to what the application asks for. There is one
 * kind of endpoint: reliable datagrams with tags, progressed by the application. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fabric/endpoint.h"

#define CAPS                                                                                       \
    (FI_TAGGED | FI_SEND | FI_RECV | FI_LOCAL_COMM | FI_REMOTE_COMM | FI_DIRECTED_RECV | FI_SOURCE)
#define ALL_TAGS   UINT64_C(0xaaaaaaaaaaaaaaaa) /* 64 fields of one bit */
#define DIRECTIONS (FI_SEND | FI_RECV)
#define EXTRAS     (FI_LOCAL_COMM | FI_REMOTE_COMM) /* cost nothing: never left out */

enum {
    PROTOCOL = 0x736b, /* with FI_PROV_SPECIFIC */
    QUEUE = 65536,     /* operations: advice only, ours grow */
    MANY = 1024,       /* objects of a kind */
};

/* Everything we can do. */
static struct fi_info *info_whole(void)
{
    struct fi_info *i = fi_allocinfo();
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
        .comp_order = FI_ORDER_NONE,
        .inject_size = SK_INJECT,
        .size = QUEUE,
        .iov_limit = SK_MAX_IOV,
    };
    *i->rx_attr = (struct fi_rx_attr){
        .caps = CAPS & ~FI_SEND,
        .op_flags = FI_COMPLETION,
        .msg_order = FI_ORDER_SAS,
        .comp_order = FI_ORDER_NONE,
        .size = QUEUE,
        .iov_limit = SK_MAX_IOV,
    };
    *i->ep_attr = (struct fi_ep_attr){
        .type = FI_EP_RDM,
        .protocol = FI_PROV_SPECIFIC | PROTOCOL,
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
    fi_freeinfo(i);
    return NULL;
}

static uint64_t info_caps(uint64_t wanted)
{
    if (!wanted)
        return CAPS;
    uint64_t caps = wanted | EXTRAS;
    if (!(caps & DIRECTIONS))
        caps |= DIRECTIONS;
    return caps;
}

/* Cut what we can do to what is asked for. */
static void info_fit(struct fi_info *i, const struct fi_info *hints)
{
    i->caps = info_caps(hints->caps);
    i->tx_attr->caps = i->caps & ~FI_RECV;
    i->rx_attr->caps = i->caps & ~FI_SEND;
    /* A context that is ours until completion makes fi_cancel cheaper. */
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
    sk_config c;
    if (sk_config_read(environ, &c, err, sizeof err) != SK_OK) {
        sk_provider_tell(err);
        return -FI_EINVAL;
    }
    sk_config_drop(&c);
    return 0;
}

int sk_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
               const struct fi_info *hints, struct fi_info **info)
{
    (void)flags;
    /* Names are made by endpoints: no host name or service leads to one. */
    if (FI_VERSION_LT(version, FI_VERSION(1, 5)) || node || service)
        return -FI_ENODATA;
    struct fi_info *whole = info_whole();
    if (!whole)
        return -FI_ENOMEM;
    int rc = hints ? sk_info_check(whole, hints) : 0;
    if (rc == 0)
        rc = info_settings();
    if (rc != 0) {
        fi_freeinfo(whole);
        return rc;
    }
    if (hints)
        info_fit(whole, hints);
    else
        whole->tx_attr->op_flags = whole->rx_attr->op_flags = 0;
    *info = whole;
    return 0;
}
