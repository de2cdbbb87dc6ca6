/* domain.c: domains, and memory regions. No operation of ours needs a memory region; an application
 * that registers memory anyway gets an object. */
#include <stdlib.h>
#include <unistd.h>

#include "fabric/api/objects.h"

/* --- memory regions --- */

typedef struct sk_mr {
    struct fid_mr fid;
    sk_domain *domain;
} sk_mr;

static int mr_close(struct fid *fid)
{
    sk_mr *mr = SK_CONTAINER_OF(fid, sk_mr, fid.fid);
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
    mr->domain = SK_CONTAINER_OF(fid, sk_domain, fid.fid);
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

static struct fi_ops_mr mr_ops = {
    .size = sizeof(struct fi_ops_mr),
    .reg = mr_reg,
    .regv = mr_regv,
    .regattr = mr_regattr,
};

/* --- domains --- */

static int domain_close(struct fid *fid)
{
    sk_domain *d = SK_CONTAINER_OF(fid, sk_domain, fid.fid);
    if (d->users)
        return -FI_EBUSY;
    sk_fabric_config_free(&d->config);
    pthread_mutex_destroy(&d->lock);
    d->fabric->users--;
    free(d);
    return 0;
}

static int no_scalable_ep(struct fid_domain *domain, struct fi_info *info, struct fid_ep **sep,
                          void *context)
{
    (void)domain, (void)info, (void)sep, (void)context;
    return -FI_ENOSYS;
}

static int no_cntr_open(struct fid_domain *domain, struct fi_cntr_attr *attr,
                        struct fid_cntr **cntr, void *context)
{
    (void)domain, (void)attr, (void)cntr, (void)context;
    return -FI_ENOSYS;
}

static int no_poll_open(struct fid_domain *domain, struct fi_poll_attr *attr,
                        struct fid_poll **pollset)
{
    (void)domain, (void)attr, (void)pollset;
    return -FI_ENOSYS;
}

static int no_stx_ctx(struct fid_domain *domain, struct fi_tx_attr *attr, struct fid_stx **stx,
                      void *context)
{
    (void)domain, (void)attr, (void)stx, (void)context;
    return -FI_ENOSYS;
}

static int no_srx_ctx(struct fid_domain *domain, struct fi_rx_attr *attr, struct fid_ep **rx_ep,
                      void *context)
{
    (void)domain, (void)attr, (void)rx_ep, (void)context;
    return -FI_ENOSYS;
}

static int no_query_atomic(struct fid_domain *domain, enum fi_datatype datatype, enum fi_op op,
                           struct fi_atomic_attr *attr, uint64_t flags)
{
    (void)domain, (void)datatype, (void)op, (void)attr, (void)flags;
    return -FI_EOPNOTSUPP;
}

static int no_query_collective(struct fid_domain *domain, enum fi_collective_op coll,
                               struct fi_collective_attr *attr, uint64_t flags)
{
    (void)domain, (void)coll, (void)attr, (void)flags;
    return -FI_EOPNOTSUPP;
}

static struct fi_ops domain_fid_ops = {
    .size = sizeof(struct fi_ops),
    .close = domain_close,
    .bind = sk_no_bind,
    .control = sk_no_control,
    .ops_open = sk_no_ops_open,
};

static struct fi_ops_domain domain_ops = {
    .size = sizeof(struct fi_ops_domain),
    .av_open = sk_av_open,
    .cq_open = sk_cq_open,
    .endpoint = sk_ep_open,
    .scalable_ep = no_scalable_ep,
    .cntr_open = no_cntr_open,
    .poll_open = no_poll_open,
    .stx_ctx = no_stx_ctx,
    .srx_ctx = no_srx_ctx,
    .query_atomic = no_query_atomic,
    .query_collective = no_query_collective,
};

/* An adaptive mutex: a thread that finds it locked spins for a moment before it sleeps. */
static int domain_lock_init(pthread_mutex_t *lock)
{
    pthread_mutexattr_t attr;
    int rc = pthread_mutexattr_init(&attr);
    if (rc != 0)
        return -rc;
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ADAPTIVE_NP);
    rc = pthread_mutex_init(lock, &attr);
    pthread_mutexattr_destroy(&attr);
    return -rc;
}

int sk_domain_open(struct fid_fabric *fabric, struct fi_info *info, struct fid_domain **domain,
                   void *context)
{
    char err[512];
    int rc = -FI_ENOMEM;
    sk_domain *d = calloc(1, sizeof *d);
    if (!d)
        return rc;
    if (sk_fabric_config_read(environ, &d->config, err, sizeof err) != SK_OK) {
        sk_provider_message(err);
        rc = -FI_EINVAL;
        goto out;
    }
    const char *notes = sk_settings_notes(d->config.settings);
    if (*notes)
        FI_WARN(&sk_provider, FI_LOG_DOMAIN, "%s", notes);
    rc = domain_lock_init(&d->lock);
    if (rc != 0)
        goto out;
    d->fabric = SK_CONTAINER_OF(fabric, sk_fabric, fid);
    /* Only FI_THREAD_DOMAIN promises one call at a time for all that shares an address vector. */
    d->threads = !info->domain_attr || info->domain_attr->threading != FI_THREAD_DOMAIN;
    d->fid.fid = (struct fid){FI_CLASS_DOMAIN, context, &domain_fid_ops};
    d->fid.ops = &domain_ops;
    d->fid.mr = &mr_ops;
    d->fabric->users++;
    *domain = &d->fid;
    d = NULL;
out:
    if (d)
        sk_fabric_config_free(&d->config);
    free(d);
    return rc;
}
