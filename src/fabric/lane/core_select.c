/* core_select.c: choose the libfabric provider that carries packets between nodes. libfabric lists
 * the best first. We need connectionless endpoints (FI_EP_RDM) with messages, and prefer RMA.
 *
 * Over TCP there are two: ofi_rxm on top of tcp, which takes 70 MB and a tenth of a second for
 * every endpoint, and `net`, which takes neither. Later versions of libfabric have made `net` their
 * `tcp`. */
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/lane/core_inner.h"

/* Used only if named: they reach one node only, lose messages, or are slow. */
static const char *const unfit[] = {"shm", "udp", "sockets", "ofi_mrail", "sm2", "lnx"};

static int list(const char *name, uint64_t caps, struct fi_info **out)
{
    struct fi_info *hints = fi_allocinfo();
    if (!hints)
        return -ENOMEM;
    int err = -ENOMEM;
    hints->caps = caps;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->ep_attr->type = FI_EP_RDM;
    hints->tx_attr->msg_order = hints->rx_attr->msg_order = FI_ORDER_SAS;
    hints->domain_attr->threading = FI_THREAD_DOMAIN;
    hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
    hints->domain_attr->mr_mode =
        FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
    if (name[0]) {
        hints->fabric_attr->prov_name = strdup(name);
        if (!hints->fabric_attr->prov_name)
            goto out;
    }
    err = fi_getinfo(FI_VERSION(1, 9), NULL, NULL, 0, hints, out);
out:
    fi_freeinfo(hints);
    return err;
}

/* Is `core` the lowest provider in `name`, which reads core;layer;layer? */
static bool rests_on(const char *name, const char *core)
{
    size_t len = strcspn(name, ";");
    return strlen(core) == len && memcmp(name, core, len) == 0;
}

/* Link-local addresses mean nothing on another link. */
static bool link_local(const struct fi_info *info)
{
    const struct sockaddr_in6 *in6 = info->src_addr;
    return info->addr_format == FI_SOCKADDR_IN6 && in6 && info->src_addrlen >= sizeof *in6 &&
           IN6_IS_ADDR_LINKLOCAL(&in6->sin6_addr);
}

bool sk_core_usable(const struct fi_info *info, bool forced)
{
    const char *name = info->fabric_attr->prov_name;
    if (strstr(name, "skein") || link_local(info))
        return false;
    if (info->ep_attr->max_msg_size < SK_CORE_HEADER + SK_CORE_PACKET)
        return false;
    for (size_t i = 0; i < sizeof unfit / sizeof *unfit && !forced; i++)
        if (rests_on(name, unfit[i]))
            return false;
    return true;
}

const struct fi_info *sk_core_cheaper(const struct fi_info *all, const struct fi_info *info)
{
    if (strcmp(info->fabric_attr->prov_name, "tcp;ofi_rxm") != 0)
        return NULL;
    for (; all; all = all->next) {
        const char *name = all->fabric_attr->prov_name;
        if ((strcmp(name, "net") == 0 || strcmp(name, "tcp") == 0) &&
            all->addr_format == info->addr_format && sk_core_usable(all, false))
            return all;
    }
    return NULL;
}

static bool any_usable(const struct fi_info *all, bool forced)
{
    for (; all; all = all->next)
        if (sk_core_usable(all, forced))
            return true;
    return false;
}

int sk_core_list(const char *name, struct fi_info **out)
{
    static const uint64_t wanted[] = {FI_MSG | FI_RMA, FI_MSG};
    for (int i = 0; i < 2; i++) {
        struct fi_info *all;
        if (list(name, wanted[i], &all) != 0)
            continue;
        if (any_usable(all, name[0] != 0)) {
            *out = all;
            return 0;
        }
        fi_freeinfo(all);
    }
    return -ENODATA;
}

uint16_t sk_core_provider_id(const struct fi_info *info)
{
    uint32_t hash = info->addr_format;
    for (const char *at = info->fabric_attr->prov_name; *at; at++)
        hash = (hash ^ (unsigned char)*at) * 0x01000193U;
    return (uint16_t)(hash ^ hash >> 16);
}
