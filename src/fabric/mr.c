/* mr.c: memory regions. No operation needs one; applications that register anyway get an object. */
#include <stdlib.h>

#include "fabric/endpoint.h"

typedef struct sk_mr {
    struct fid_mr fid;
    sk_domain *domain;
} sk_mr;

static int mr_close(struct fid *fid)
{
    sk_mr *mr = container_of(fid, sk_mr, fid.fid);
    sk_domain_lock(mr->domain);
    mr->domain->users--;
    sk_domain_unlock(mr->domain);
    free(mr);
    return 0;
}

static struct fi_ops mr_fid_ops = {
    .size = sizeof(struct fi_ops),
    .close = mr_close,
    .bind = sk_no_bind,
    .control = sk_no_control,
    .ops_open = sk_no_ops_open,
};

static int mr_make(struct fid *fid, uint64_t key, struct fid_mr **out, void *context)
{
    if (fid->fclass != FI_CLASS_DOMAIN)
        return -FI_EINVAL;
    sk_mr *mr = calloc(1, sizeof *mr);
    if (!mr)
        return -FI_ENOMEM;
    mr->domain = container_of(fid, sk_domain, fid.fid);
    mr->fid.fid = (struct fid){FI_CLASS_MR, context, &mr_fid_ops};
    mr->fid.key = key;
    sk_domain_lock(mr->domain);
    mr->domain->users++;
    sk_domain_unlock(mr->domain);
    *out = &mr->fid;
    return 0;
}

static int mr_reg(struct fid *fid, const void *buf, size_t len, uint64_t access, uint64_t offset,
                  uint64_t key, uint64_t flags, struct fid_mr **mr, void *context)
{
    (void)buf, (void)len, (void)access, (void)offset;
    return flags ? -FI_EBADFLAGS : mr_make(fid, key, mr, context);
}

static int mr_regv(struct fid *fid, const struct iovec *iov, size_t count, uint64_t access,
                   uint64_t offset, uint64_t key, uint64_t flags, struct fid_mr **mr, void *context)
{
    (void)iov, (void)count, (void)access, (void)offset;
    return flags ? -FI_EBADFLAGS : mr_make(fid, key, mr, context);
}

static int mr_regattr(struct fid *fid, const struct fi_mr_attr *attr, uint64_t flags,
                      struct fid_mr **mr)
{
    return flags ? -FI_EBADFLAGS : mr_make(fid, attr->requested_key, mr, attr->context);
}

struct fi_ops_mr sk_mr_ops = {
    .size = sizeof(struct fi_ops_mr),
    .reg = mr_reg,
    .regv = mr_regv,
    .regattr = mr_regattr,
};
