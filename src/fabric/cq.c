/* cq.c: completion queues. Success and failure stand in one ring, in the order they came; a failure
 * at its head must be taken with readerr. The ring starts over when it is empty, so that it stays
 * in the cache. */
#include <stdlib.h>
#include <string.h>

#include "fabric/endpoint.h"

enum { FIRST_SIZE = 256 };

bool sk_cq_grow(sk_cq *cq)
{
    sk_entry *ring = malloc(2 * cq->size * sizeof *ring);
    if (!ring)
        return false;
    for (size_t i = 0; i < cq->count; i++)
        ring[i] = cq->ring[(cq->head + i) & (cq->size - 1)];
    free(cq->ring);
    cq->ring = ring;
    cq->size *= 2;
    cq->head = 0;
    return true;
}

void sk_cq_push_error(sk_cq *cq, const struct fi_cq_err_entry *err)
{
    struct fi_cq_err_entry *kept = sk_pool_get(&cq->errors);
    if (!kept) {
        FI_WARN(&sk_provider, FI_LOG_CQ, "out of memory: an error is lost (%s)\n",
                fi_strerror(err->err));
        sk_cq_release(cq);
        return;
    }
    *kept = *err;
    sk_cq_push(cq)->err = kept;
}

static void cq_pop(sk_cq *cq)
{
    cq->promised--;
    cq->head = --cq->count ? (cq->head + 1) & (cq->size - 1) : 0;
}

static void cq_progress(sk_cq *cq)
{
    for (sk_chain *at = cq->eps.next; at != &cq->eps; at = at->next)
        sk_ep_progress(SK_CHAINED(at, sk_location, chain)->ep);
}

static size_t cq_entry_size(enum fi_cq_format format)
{
    switch (format) {
    case FI_CQ_FORMAT_MSG:
        return sizeof(struct fi_cq_msg_entry);
    case FI_CQ_FORMAT_DATA:
        return sizeof(struct fi_cq_data_entry);
    case FI_CQ_FORMAT_TAGGED:
        return sizeof(struct fi_cq_tagged_entry);
    default:
        return sizeof(struct fi_cq_entry);
    }
}

/* All formats are beginnings of the tagged one. */
static ssize_t cq_take(sk_cq *cq, char *buf, size_t count, fi_addr_t *from)
{
    size_t size = cq_entry_size(cq->format), n = 0;
    for (; n < count && cq->count; n++) {
        const sk_entry *at = &cq->ring[cq->head];
        if (at->err)
            break;
        if (size == sizeof at->e)
            memcpy(buf + n * sizeof at->e, &at->e, sizeof at->e);
        else
            memcpy(buf + n * size, &at->e, size);
        if (from)
            from[n] = at->from;
        cq_pop(cq);
    }
    if (n)
        return (ssize_t)n;
    return cq->count && count ? -FI_EAVAIL : -FI_EAGAIN;
}

/* Who reads until nothing is left asks once more than needed after every completion: that one time
 * the lanes are not looked at, but for every so many. */
static bool cq_idle(sk_cq *cq)
{
    enum { AT_LEAST = 16 };
    bool look = !cq->fresh || ++cq->skipped % AT_LEAST == 0;
    cq->fresh = false;
    return look;
}

static ssize_t cq_readfrom(struct fid_cq *fid, void *buf, size_t count, fi_addr_t *from)
{
    sk_cq *cq = container_of(fid, sk_cq, fid);
    sk_domain_lock(cq->domain);
    if (!count || (!cq->count && cq_idle(cq)))
        cq_progress(cq);
    ssize_t n = cq_take(cq, buf, count, from);
    cq->fresh = n > 0;
    sk_domain_unlock(cq->domain);
    return n;
}

static ssize_t cq_read(struct fid_cq *fid, void *buf, size_t count)
{
    return cq_readfrom(fid, buf, count, NULL);
}

static ssize_t cq_readerr(struct fid_cq *fid, struct fi_cq_err_entry *buf, uint64_t flags)
{
    (void)flags;
    sk_cq *cq = container_of(fid, sk_cq, fid);
    ssize_t n = -FI_EAGAIN;
    sk_domain_lock(cq->domain);
    struct fi_cq_err_entry *err = cq->count ? cq->ring[cq->head].err : NULL;
    if (err) {
        void *data = buf->err_data;
        *buf = *err;
        buf->err_data = data;
        buf->err_data_size = 0;
        sk_pool_put(&cq->errors, err);
        cq_pop(cq);
        n = 1;
    }
    sk_domain_unlock(cq->domain);
    return n;
}

static const char *cq_strerror(struct fid_cq *fid, int prov_errno, const void *err_data, char *buf,
                               size_t len)
{
    (void)fid, (void)err_data;
    const char *text = fi_strerror(prov_errno);
    if (buf && len) {
        strncpy(buf, text, len - 1);
        buf[len - 1] = '\0';
    }
    return text;
}

static int cq_close(struct fid *fid)
{
    sk_cq *cq = container_of(fid, sk_cq, fid.fid);
    if (cq->users)
        return -FI_EBUSY;
    sk_domain_lock(cq->domain);
    cq->domain->users--;
    sk_domain_unlock(cq->domain);
    sk_pool_drop(&cq->errors);
    free(cq->ring);
    free(cq);
    return 0;
}

static struct fi_ops cq_fid_ops = {
    .size = sizeof(struct fi_ops),
    .close = cq_close,
    .bind = sk_no_bind,
    .control = sk_no_control,
    .ops_open = sk_no_ops_open,
};

static struct fi_ops_cq cq_ops = {
    .size = sizeof(struct fi_ops_cq),
    .read = cq_read,
    .readfrom = cq_readfrom,
    .readerr = cq_readerr,
    .sread = sk_cq_sread,
    .sreadfrom = sk_cq_sreadfrom,
    .signal = sk_cq_signal,
    .strerror = cq_strerror,
};

static int cq_check(const struct fi_cq_attr *attr)
{
    if (!attr)
        return 0;
    if (attr->flags & ~FI_AFFINITY || attr->format > FI_CQ_FORMAT_TAGGED)
        return -FI_EINVAL;
    switch (attr->wait_obj) {
    case FI_WAIT_NONE:
    case FI_WAIT_UNSPEC:
    case FI_WAIT_YIELD:
        return 0;
    default: /* there is nothing to wait on but the lanes */
        return -FI_ENOSYS;
    }
}

int sk_cq_open(struct fid_domain *domain, struct fi_cq_attr *attr, struct fid_cq **out,
               void *context)
{
    sk_domain *d = container_of(domain, sk_domain, fid);
    int rc = cq_check(attr);
    if (rc != 0)
        return rc;
    sk_cq *cq = calloc(1, sizeof *cq);
    sk_entry *ring = malloc(FIRST_SIZE * sizeof *ring);
    if (!cq || !ring) {
        free(cq);
        free(ring);
        return -FI_ENOMEM;
    }
    cq->domain = d;
    cq->ring = ring;
    cq->size = FIRST_SIZE;
    cq->format = attr && attr->format ? attr->format : FI_CQ_FORMAT_CONTEXT;
    cq->waits = attr && attr->wait_obj != FI_WAIT_NONE;
    sk_pool_init(&cq->errors, sizeof(struct fi_cq_err_entry));
    sk_chain_init(&cq->eps);
    cq->fid.fid = (struct fid){FI_CLASS_CQ, context, &cq_fid_ops};
    cq->fid.ops = &cq_ops;
    sk_domain_lock(d);
    d->users++;
    sk_domain_unlock(d);
    *out = &cq->fid;
    return 0;
}
