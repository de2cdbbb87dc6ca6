/* cq_wait.c: reading a completion queue that is empty: look again and again, and let others run in
 * between. */
#include <sched.h>
#include <time.h>

#include "fabric/endpoint.h"

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static bool cq_woken(sk_cq *cq)
{
    sk_domain_lock(cq->domain);
    bool woken = cq->woken;
    cq->woken = false;
    sk_domain_unlock(cq->domain);
    return woken;
}

ssize_t sk_cq_sreadfrom(struct fid_cq *fid, void *buf, size_t count, fi_addr_t *from,
                        const void *cond, int timeout)
{
    (void)cond; /* advice: how many are worth waking up for */
    sk_cq *cq = container_of(fid, sk_cq, fid);
    if (!cq->waits)
        return -FI_EINVAL;
    int64_t end = timeout < 0 ? INT64_MAX : now_ms() + timeout;
    for (;;) {
        ssize_t n = from ? fi_cq_readfrom(fid, buf, count, from) : fi_cq_read(fid, buf, count);
        if (n != -FI_EAGAIN)
            return n;
        if (cq_woken(cq) || (end != INT64_MAX && now_ms() >= end))
            return -FI_EAGAIN;
        sched_yield();
    }
}

ssize_t sk_cq_sread(struct fid_cq *fid, void *buf, size_t count, const void *cond, int timeout)
{
    return sk_cq_sreadfrom(fid, buf, count, NULL, cond, timeout);
}

int sk_cq_signal(struct fid_cq *fid)
{
    sk_cq *cq = container_of(fid, sk_cq, fid);
    sk_domain_lock(cq->domain);
    cq->woken = true;
    sk_domain_unlock(cq->domain);
    return 0;
}
