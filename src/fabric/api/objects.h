/* objects.h: the objects that libfabric sees: fabric, domain, address vector, completion queue,
 * endpoint. One lock per domain guards all of its objects. Only the functions that libfabric calls
 * take it, and only if the application has not promised to make one call at a time. */
#ifndef SK_FABRIC_OBJECTS_H
#define SK_FABRIC_OBJECTS_H

#include <pthread.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>
#include <stddef.h>

#include "base/assert.h"
#include "base/list.h"
#include "fabric/proto/endpoint.h"
#include "shm/waiting.h"

#define SK_CONTAINER_OF(member, type, field) ((type *)((char *)(member)-offsetof(type, field)))

typedef struct sk_fabric {
    struct fid_fabric fid;
    _Atomic uint32_t users;
} sk_fabric;

typedef struct sk_domain {
    struct fid_domain fid;
    sk_fabric *fabric;
    sk_fabric_config config;
    bool threads; /* calls may come from several threads at once */
    pthread_mutex_t lock;
    uint64_t contended; /* calls that had to wait for the lock */
    bool locked;        /* for assertions: somebody holds the lock */
    uint32_t users;
} sk_domain;

typedef struct sk_av {
    struct fid_av fid;
    sk_domain *domain;
    sk_id_table ids;
    uint32_t users;
} sk_av;

typedef struct sk_cq {
    struct fid_cq fid;
    sk_domain *domain;
    sk_completion_ring ring;
    enum fi_cq_format format;
    sk_wait_mode wait; /* of fi_cq_sread */
    bool waits;        /* opened for fi_cq_sread */
    bool signaled;     /* by fi_cq_signal */
    bool fresh;        /* the last read has found something */
    uint32_t skipped;  /* reads that did not poll the lanes */
    sk_list bindings;  /* sk_cq_binding */
    uint32_t users;
} sk_cq;

/* One direction of an endpoint, bound to a completion queue. */
typedef struct sk_cq_binding {
    sk_list node; /* in sk_cq.bindings */
    sk_endpoint *ep;
    sk_cq *cq;
    bool selective;         /* completions only if the call asks for them */
    bool live;              /* the endpoint is enabled and may be used in this direction */
    uint64_t op_flags;      /* default flags, as the application has set them */
    uint64_t default_flags; /* the same as flags of sk_endpoint_call */
} sk_cq_binding;

typedef struct sk_ep {
    struct fid_ep fid;
    sk_domain *domain;
    sk_av *av;
    sk_cq_binding tx, rx;
    uint64_t caps;
    size_t queue; /* operations that the application was told it can queue */
    bool enabled;
    sk_endpoint proto;
} sk_ep;

static inline void sk_domain_lock(sk_domain *d)
{
    if (!d->threads)
        return;
    if (pthread_mutex_trylock(&d->lock) != 0) {
        pthread_mutex_lock(&d->lock);
        d->contended++;
    }
    SK_ASSERT(!d->locked);
#ifdef SK_ASSERTS
    d->locked = true;
#endif
}

static inline void sk_domain_unlock(sk_domain *d)
{
    if (!d->threads)
        return;
    SK_ASSERT(d->locked);
#ifdef SK_ASSERTS
    d->locked = false;
#endif
    pthread_mutex_unlock(&d->lock);
}

/* unsupported.c: functions that we do not support: -FI_ENOSYS. */
int sk_no_bind(struct fid *fid, struct fid *bfid, uint64_t flags);
int sk_no_control(struct fid *fid, int command, void *arg);
int sk_no_ops_open(struct fid *fid, const char *name, uint64_t flags, void **ops, void *context);
int sk_no_setname(fid_t fid, void *addr, size_t addrlen);
int sk_no_getpeer(struct fid_ep *ep, void *addr, size_t *addrlen);
int sk_no_connect(struct fid_ep *ep, const void *addr, const void *param, size_t paramlen);
int sk_no_listen(struct fid_pep *pep);
int sk_no_accept(struct fid_ep *ep, const void *param, size_t paramlen);
int sk_no_reject(struct fid_pep *pep, fid_t handle, const void *param, size_t paramlen);
int sk_no_shutdown(struct fid_ep *ep, uint64_t flags);
int sk_no_join(struct fid_ep *ep, const void *addr, uint64_t flags, struct fid_mc **mc,
               void *context);

/* info.c, domain.c, av.c, cq.c, ep.c, tagged.c, msg.c */
int sk_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
               const struct fi_info *hints, struct fi_info **info);
int sk_domain_open(struct fid_fabric *fabric, struct fi_info *info, struct fid_domain **domain,
                   void *context);
int sk_av_open(struct fid_domain *domain, struct fi_av_attr *attr, struct fid_av **av,
               void *context);
int sk_cq_open(struct fid_domain *domain, struct fi_cq_attr *attr, struct fid_cq **cq,
               void *context);
int sk_ep_open(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep, void *context);
extern struct fi_ops_tagged sk_tagged_ops;
extern struct fi_ops_msg sk_msg_ops;

#endif
