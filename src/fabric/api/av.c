/* av.c: address vectors, over an id table (proto/id_table.h). In both types of vector, an fi_addr_t
 * is the number of the insertion. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/api/objects.h"

static int av_close(struct fid *fid)
{
    sk_av *av = SK_CONTAINER_OF(fid, sk_av, fid.fid);
    if (av->users)
        return -FI_EBUSY;
    sk_domain_lock(av->domain);
    av->domain->users--;
    sk_domain_unlock(av->domain);
    sk_id_table_free(&av->ids);
    free(av);
    return 0;
}

/* Every insertion takes an address, even if it fails, so that later ones keep their order. */
static int av_insert_one(sk_id_table *ids, const void *bytes, fi_addr_t *out)
{
    const char *why = "";
    sk_address name;
    fi_addr_t addr;
    *out = FI_ADDR_NOTAVAIL;
    if (!sk_id_new_addr(ids, &addr))
        return FI_ENOMEM;
    if (sk_address_read(bytes, SK_ADDRESS_BYTES, &name, &why) != SK_OK) {
        FI_WARN(&sk_provider, FI_LOG_AV, "not an address of this provider: %s\n", why);
        return FI_EINVAL;
    }
    uint32_t number = sk_id_number(ids, name.id);
    if (number == SK_NO_ID)
        return FI_ENOMEM;
    ids->number[addr] = number;
    ids->entry[number].name = name;
    ids->entry[number].addr = addr;
    *out = addr;
    return 0;
}

static int av_insert(struct fid_av *fid, const void *addr, size_t count, fi_addr_t *fi_addr,
                     uint64_t flags, void *context)
{
    sk_av *av = SK_CONTAINER_OF(fid, sk_av, fid);
    int *errors = flags & FI_SYNC_ERR ? context : NULL;
    int good = 0;
    if (flags & ~(FI_MORE | FI_SYNC_ERR))
        return -FI_EBADFLAGS;
    sk_domain_lock(av->domain);
    for (size_t i = 0; i < count; i++) {
        fi_addr_t at;
        int err = av_insert_one(&av->ids, (const char *)addr + i * SK_ADDRESS_BYTES, &at);
        good += err == 0;
        if (fi_addr)
            fi_addr[i] = at;
        if (errors)
            errors[i] = err;
    }
    sk_domain_unlock(av->domain);
    return good;
}

static int av_insertsvc(struct fid_av *av, const char *node, const char *service,
                        fi_addr_t *fi_addr, uint64_t flags, void *context)
{
    (void)av, (void)node, (void)service, (void)fi_addr, (void)flags, (void)context;
    return -FI_ENOSYS;
}

static int av_insertsym(struct fid_av *av, const char *node, size_t nodecnt, const char *service,
                        size_t svccnt, fi_addr_t *fi_addr, uint64_t flags, void *context)
{
    (void)av, (void)node, (void)nodecnt, (void)service, (void)svccnt, (void)fi_addr, (void)flags,
        (void)context;
    return -FI_ENOSYS;
}

static int av_remove(struct fid_av *fid, fi_addr_t *fi_addr, size_t count, uint64_t flags)
{
    sk_av *av = SK_CONTAINER_OF(fid, sk_av, fid);
    int rc = 0;
    if (flags)
        return -FI_EBADFLAGS;
    sk_domain_lock(av->domain);
    for (size_t i = 0; i < count; i++) {
        uint32_t number = sk_id_at(&av->ids, fi_addr[i]);
        if (number == SK_NO_ID) {
            rc = -FI_EINVAL;
            continue;
        }
        sk_id_entry *entry = &av->ids.entry[number];
        if (entry->addr == fi_addr[i])
            entry->addr = FI_ADDR_NOTAVAIL;
        av->ids.number[fi_addr[i]] = SK_NO_ID;
    }
    sk_domain_unlock(av->domain);
    return rc;
}

static int av_lookup(struct fid_av *fid, fi_addr_t fi_addr, void *addr, size_t *len)
{
    sk_av *av = SK_CONTAINER_OF(fid, sk_av, fid);
    int rc = -FI_EINVAL;
    sk_domain_lock(av->domain);
    uint32_t number = sk_id_at(&av->ids, fi_addr);
    if (number != SK_NO_ID) {
        size_t bytes = *len < SK_ADDRESS_BYTES ? *len : SK_ADDRESS_BYTES;
        if (bytes)
            memcpy(addr, &av->ids.entry[number].name, bytes);
        *len = SK_ADDRESS_BYTES;
        rc = 0;
    }
    sk_domain_unlock(av->domain);
    return rc;
}

static const char *av_straddr(struct fid_av *av, const void *addr, char *buf, size_t *len)
{
    (void)av;
    char text[64];
    sk_address a;
    memcpy(&a, addr, sizeof a);
    int n = snprintf(text, sizeof text, "fi_skein://%016" PRIx64 "@%016" PRIx64, a.id, a.node);
    snprintf(buf, *len, "%s", text);
    *len = (size_t)n + 1;
    return buf;
}

static struct fi_ops av_fid_ops = {
    .size = sizeof(struct fi_ops),
    .close = av_close,
    .bind = sk_no_bind,
    .control = sk_no_control,
    .ops_open = sk_no_ops_open,
};

static struct fi_ops_av av_ops = {
    .size = sizeof(struct fi_ops_av),
    .insert = av_insert,
    .insertsvc = av_insertsvc,
    .insertsym = av_insertsym,
    .remove = av_remove,
    .lookup = av_lookup,
    .straddr = av_straddr,
};

int sk_av_open(struct fid_domain *domain, struct fi_av_attr *attr, struct fid_av **out,
               void *context)
{
    sk_domain *d = SK_CONTAINER_OF(domain, sk_domain, fid);
    if (attr && (attr->name || attr->rx_ctx_bits || attr->flags & ~(FI_SYMMETRIC | FI_UNIVERSE)))
        return -FI_ENOSYS;
    sk_av *av = calloc(1, sizeof *av);
    if (!av)
        return -FI_ENOMEM;
    av->domain = d;
    av->ids.expected = attr ? attr->count : 0;
    av->fid.fid = (struct fid){FI_CLASS_AV, context, &av_fid_ops};
    av->fid.ops = &av_ops;
    if (attr && attr->type == FI_AV_UNSPEC)
        attr->type = FI_AV_TABLE;
    sk_domain_lock(d);
    d->users++;
    sk_domain_unlock(d);
    *out = &av->fid;
    return 0;
}
