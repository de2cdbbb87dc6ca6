/* cq.c: completion queues, over a ring of completions (proto/completion.h). An error at the head of
 * the ring must be taken with fi_cq_readerr. Reading makes progress on all endpoints that are bound
 * to the queue. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fabric/api/objects.h"
#include "shm/waiting.h"

static void cq_progress(sk_cq *cq)
{
    SK_ASSERT(cq->domain->locked || !cq->domain->threads);
    for (sk_list *at = cq->bindings.next; at != &cq->bindings; at = at->next)
        sk_endpoint_progress(SK_LIST_ENTRY(at, sk_cq_binding, node)->ep);
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

/* Move completions to the user. All formats are prefixes of the tagged one. */
static ssize_t cq_take(sk_cq *cq, char *buf, size_t count, fi_addr_t *from)
{
    sk_completion_ring *ring = &cq->ring;
    size_t size = cq_entry_size(cq->format), n = 0;
    for (; n < count && ring->count; n++) {
        const sk_completion *at = &ring->entry[ring->head];
        if (at->err)
            break;
        if (size == sizeof at->e)
            memcpy(buf + n * sizeof at->e, &at->e, sizeof at->e);
        else
            memcpy(buf + n * size, &at->e, size);
        if (from)
            from[n] = at->from;
        sk_completion_pop(ring);
    }
    if (n)
        return (ssize_t)n;
    return ring->count && count ? -FI_EAVAIL : -FI_EAGAIN;
}

/* Must an empty queue poll the lanes? A reader that reads until nothing is left makes one call too
 * many after every completion: that call does not poll, except every SKIP_MAX-th. */
static bool cq_must_poll(sk_cq *cq)
{
    enum { SKIP_MAX = 16 };
    bool poll = !cq->fresh || ++cq->skipped % SKIP_MAX == 0;
    cq->fresh = false;
    return poll;
}

static ssize_t cq_readfrom(struct fid_cq *fid, void *buf, size_t count, fi_addr_t *from)
{
    sk_cq *cq = SK_CONTAINER_OF(fid, sk_cq, fid);
    sk_domain_lock(cq->domain);
    if (!count || (!cq->ring.count && cq_must_poll(cq)))
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
    sk_cq *cq = SK_CONTAINER_OF(fid, sk_cq, fid);
    ssize_t n = -FI_EAGAIN;
    sk_domain_lock(cq->domain);
    sk_completion_ring *ring = &cq->ring;
    struct fi_cq_err_entry *err = ring->count ? ring->entry[ring->head].err : NULL;
    if (err) {
        /* Later fields came with newer libfabrics: the application's struct may not have them. */
        memcpy(buf, err, offsetof(struct fi_cq_err_entry, err_data));
        buf->err_data_size = 0;
        sk_object_pool_put(&ring->errors, err);
        sk_completion_pop(ring);
        n = 1;
    }
    sk_domain_unlock(cq->domain);
    return n;
}

/* --- waiting --- */

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static bool cq_was_signaled(sk_cq *cq)
{
    sk_domain_lock(cq->domain);
    bool signaled = cq->signaled;
    cq->signaled = false;
    sk_domain_unlock(cq->domain);
    return signaled;
}

static ssize_t cq_sreadfrom(struct fid_cq *fid, void *buf, size_t count, fi_addr_t *from,
                            const void *cond, int timeout)
{
    (void)cond; /* a hint: how many completions to wait for */
    sk_cq *cq = SK_CONTAINER_OF(fid, sk_cq, fid);
    if (!cq->waits)
        return -FI_EINVAL;
    int64_t end = timeout < 0 ? INT64_MAX : now_ms() + timeout;
    ssize_t n;
    /* Reading makes progress; the domain's lock is free between two reads. */
    SK_WAIT_UNTIL(cq->wait,
                  (n = cq_readfrom(fid, buf, count, from)) != -FI_EAGAIN || cq_was_signaled(cq) ||
                      (end != INT64_MAX && now_ms() >= end),
                  (void)0);
    return n;
}

static ssize_t cq_sread(struct fid_cq *fid, void *buf, size_t count, const void *cond, int timeout)
{
    return cq_sreadfrom(fid, buf, count, NULL, cond, timeout);
}

static int cq_signal(struct fid_cq *fid)
{
    sk_cq *cq = SK_CONTAINER_OF(fid, sk_cq, fid);
    sk_domain_lock(cq->domain);
    cq->signaled = true;
    sk_domain_unlock(cq->domain);
    return 0;
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
    sk_cq *cq = SK_CONTAINER_OF(fid, sk_cq, fid.fid);
    if (cq->users)
        return -FI_EBUSY;
    sk_domain_lock(cq->domain);
    cq->domain->users--;
    sk_domain_unlock(cq->domain);
    sk_completion_ring_free(&cq->ring);
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
    .sread = cq_sread,
    .sreadfrom = cq_sreadfrom,
    .signal = cq_signal,
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
    default: /* there is no file descriptor to wait on */
        return -FI_ENOSYS;
    }
}

int sk_cq_open(struct fid_domain *domain, struct fi_cq_attr *attr, struct fid_cq **out,
               void *context)
{
    sk_domain *d = SK_CONTAINER_OF(domain, sk_domain, fid);
    int rc = cq_check(attr);
    if (rc != 0)
        return rc;
    sk_cq *cq = calloc(1, sizeof *cq);
    if (!cq || !sk_completion_ring_init(&cq->ring)) {
        free(cq);
        return -FI_ENOMEM;
    }
    cq->domain = d;
    cq->format = attr && attr->format ? attr->format : FI_CQ_FORMAT_CONTEXT;
    cq->waits = attr && attr->wait_obj != FI_WAIT_NONE;
    /* Who calls fi_cq_sread has nothing else to do: always give the core away. */
    cq->wait = cq->waits ? sk_wait_mode_of(d->config.wait) : SK_WAIT_YIELD;
    if (cq->wait < SK_WAIT_YIELD)
        cq->wait = SK_WAIT_YIELD;
    sk_list_init(&cq->bindings);
    cq->fid.fid = (struct fid){FI_CLASS_CQ, context, &cq_fid_ops};
    cq->fid.ops = &cq_ops;
    sk_domain_lock(d);
    d->users++;
    sk_domain_unlock(d);
    *out = &cq->fid;
    return 0;
}
