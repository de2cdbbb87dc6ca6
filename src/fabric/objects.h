/* objects.h: what libfabric sees of the provider: fabric, domain, address vector, completion queue.
 * One lock for each domain guards all of its objects; it is taken by the functions that libfabric
 * calls, and only when the application has not promised to call one at a time. */
#ifndef SK_OBJECTS_H
#define SK_OBJECTS_H

#include <errno.h>
#include <pthread.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>
#include <rdma/providers/fi_log.h>
#include <rdma/providers/fi_prov.h>

#include "fabric/address.h"
#include "fabric/chain.h"
#include "fabric/config.h"
#include "fabric/pool.h"

#define SK_UNLIKELY(cond) __builtin_expect(!!(cond), 0) /* hardly ever true */

extern struct fi_provider sk_provider;

typedef struct sk_fabric {
    struct fid_fabric fid;
    _Atomic uint32_t users;
} sk_fabric;

typedef struct sk_domain {
    struct fid_domain fid;
    sk_fabric *fabric;
    sk_config config;
    bool threads; /* calls may come from several threads at once */
    pthread_mutex_t lock;
    uint64_t contended; /* calls that had to wait for it */
    uint32_t users;
} sk_domain;

/* What is known of an endpoint somewhere: its number is its place in the array. */
typedef struct sk_known {
    uint64_t id;
    fi_addr_t addr; /* FI_ADDR_NOTAVAIL: only heard of */
    sk_address name;
} sk_known;

enum { SK_NOBODY = UINT32_MAX };

/* Numbers are given to ids as they are inserted or heard of, and stay. */
typedef struct sk_av {
    struct fid_av fid;
    sk_domain *domain;
    sk_known *known;
    uint32_t nknown, known_room;
    uint32_t *number; /* of each fi_addr; SK_NOBODY: removed */
    size_t naddrs, addrs_room;
    uint32_t *table; /* ids to numbers: open addressing; size is a power of two */
    uint32_t table_size;
    size_t count; /* that the application has said to expect */
    uint32_t users;
} sk_av;

typedef struct sk_entry {
    struct fi_cq_tagged_entry e;
    fi_addr_t from;
    struct fi_cq_err_entry *err; /* NULL: no error */
} sk_entry;

/* A ring that has room for all completions that were promised. */
typedef struct sk_cq {
    struct fid_cq fid;
    sk_domain *domain;
    enum fi_cq_format format;
    bool waits; /* opened for sread */
    bool woken; /* by fi_cq_signal */
    sk_entry *ring;
    size_t size, head, count; /* size is a power of two */
    size_t promised;          /* entries that are there or may come */
    bool fresh;               /* the last read has found something */
    uint32_t skipped;         /* reads after such a one */
    sk_pool errors;
    sk_chain eps;
    uint32_t users;
} sk_cq;

struct sk_ep;

/* An endpoint that takes part in a cq. */
typedef struct sk_location {
    sk_chain chain; /* in sk_cq.eps */
    struct sk_ep *ep;
    sk_cq *cq;
    bool selective;    /* completions only where asked for */
    bool live;         /* the endpoint is enabled and may be used this way */
    uint64_t op_flags; /* of calls without flags, as the application sees them */
    uint64_t plain;    /* and as they come to an sk_want */
} sk_location;

static inline void sk_domain_lock(sk_domain *d)
{
    if (!d->threads || pthread_mutex_trylock(&d->lock) == 0)
        return;
    pthread_mutex_lock(&d->lock);
    d->contended++;
}

static inline void sk_domain_unlock(sk_domain *d)
{
    if (d->threads)
        pthread_mutex_unlock(&d->lock);
}

#endif
