/* endpoint.h: the endpoint and what the files of the provider do for each other.
 *
 * The way of a message: tagged.c turns a call into an sk_want; send.c sends it eagerly, offers it
 * or lets it wait at its peer (peer.c); progress.c polls the lanes and hands packets on: arrive.c
 * (messages), offer.c (the sender's side of an offer), take.c (the receiver's side), fail.c (a peer
 * is gone). recv.c posts receives; both meet in an sk_matcher. cq.c keeps completions. Names:
 * sk_x_y acts on the first argument, its endpoint or a part of it. */
#ifndef SK_ENDPOINT_H
#define SK_ENDPOINT_H

#include "fabric/handles.h"
#include "fabric/kind.h"
#include "fabric/messages.h"
#include "fabric/objects.h"
#include "match/trace.h"

enum {
    SK_INJECT = 4096,            /* longest message whose buffer is free at once */
    SK_FIRST_CREDIT = 16 * 1024, /* bytes of credit everybody has at everybody from the start */
    SK_FEW_PEERS = 64,           /* peers to expect when the application does not say */
};

/* Receives by context, for fi_cancel, where the context has no room for us. */
typedef struct sk_contexts {
    sk_recv **bucket;
    size_t size, count;
} sk_contexts;

/* Where events of a lane go. */
typedef struct sk_port {
    struct sk_ep *ep;
    sk_lane *lane; /* NULL: there is none */
} sk_port;

typedef struct sk_ep {
    struct fid_ep fid;
    sk_domain *domain;
    sk_av *av;
    sk_location tx, rx;
    uint64_t caps;
    size_t queue; /* operations the application was told to have room for */
    bool enabled;
    bool own_contexts; /* contexts are struct fi_context, ours to write until completion */
    bool directed;     /* source addresses of receives count */
    bool sources;      /* completions tell where messages came from */
    sk_port shm, inner;
    uint64_t id;
    sk_address name;
    sk_kinds kinds;
    sk_matcher *matcher; /* made when first needed: then the number of peers is known */
    sk_trace *trace;
    sk_peer **peer; /* by number; NULL: not met yet */
    uint32_t npeers;
    sk_peer *last;              /* the last that a packet came from */
    uint32_t ngone;             /* peers that are gone */
    uint32_t polls, alive_next; /* alive.c: calls of progress; the next peer to be looked at */
    int64_t alive_at;           /* ms: when one was */
    uint64_t granted;           /* credit given to all peers beyond the first */
    size_t copied;              /* bytes of inject that wait */
    sk_chain busy;              /* sk_peer: have something to send */
    sk_chain again;             /* sk_recv: their read could not be started */
    sk_chain claimed;           /* sk_msg: found and kept by a peek */
    sk_handles sends, recvs;
    sk_contexts contexts;
    sk_pool send_pool, recv_pool, msg_pool, note_pool;
    sk_buffers buffers;
} sk_ep;

/* A call, as the application made it. */
typedef struct sk_want {
    const struct iovec *iov;
    size_t niov;
    uint64_t len; /* of all iov */
    fi_addr_t addr;
    uint64_t tag, ignore;
    uint64_t data;
    uint64_t flags; /* FI_COMPLETION: a completion is wanted, FI_REMOTE_CQ_DATA, FI_INJECT, ... */
    void *context;
} sk_want;

/* What libfabric calls the errors of lanes. */
static inline int sk_lane_error(int rc)
{
    return rc == -EPIPE ? FI_ECONNRESET : -rc;
}

/* --- what the files do --- */

/* ops.c: answers to calls that are not served: -FI_ENOSYS and the like. */
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

/* prov.c: a message for the user, once per process. */
void sk_provider_tell(const char *what);

/* info.c, fabric.c, domain.c, mr.c, av.c, cq.c, ep.c */
int sk_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
               const struct fi_info *hints, struct fi_info **info);
int sk_info_check(const struct fi_info *offer, const struct fi_info *hints);
int sk_fabric_open(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context);
int sk_domain_open(struct fid_fabric *fabric, struct fi_info *info, struct fid_domain **domain,
                   void *context);
extern struct fi_ops_mr sk_mr_ops;
int sk_av_open(struct fid_domain *domain, struct fi_av_attr *attr, struct fid_av **av,
               void *context);
int sk_cq_open(struct fid_domain *domain, struct fi_cq_attr *attr, struct fid_cq **cq,
               void *context);
int sk_ep_open(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep, void *context);
int sk_ep_enable(sk_ep *ep);
void sk_ep_shut(sk_ep *ep); /* lanes and all that waits */
void sk_location_flags(sk_location *seat, uint64_t op_flags);
extern struct fi_ops_tagged sk_tagged_ops;

/* known.c: the number of an id, new if need be; SK_NOBODY: out of memory */
uint32_t sk_av_number(sk_av *av, uint64_t id);

/* cq.c. Room for a completion: an operation is only begun when it is there. */
bool sk_cq_grow(sk_cq *cq);
static inline bool sk_cq_promise(sk_cq *cq)
{
    if (SK_UNLIKELY(cq->promised == cq->size) && !sk_cq_grow(cq))
        return false;
    cq->promised++;
    return true;
}

static inline void sk_cq_release(sk_cq *cq) /* the operation needs none */
{
    cq->promised--;
}

static inline sk_entry *sk_cq_push(sk_cq *cq)
{
    return &cq->ring[(cq->head + cq->count++) & (cq->size - 1)];
}

ssize_t sk_cq_sread(struct fid_cq *fid, void *buf, size_t count, const void *cond, int timeout);
ssize_t sk_cq_sreadfrom(struct fid_cq *fid, void *buf, size_t count, fi_addr_t *from,
                        const void *cond, int timeout);
int sk_cq_signal(struct fid_cq *fid);
void sk_cq_push_error(sk_cq *cq, const struct fi_cq_err_entry *err);

/* peer.c */
sk_peer *sk_ep_peer(sk_ep *ep, uint32_t number);             /* NULL: out of memory */
int sk_ep_peer_at(sk_ep *ep, fi_addr_t addr, sk_peer **out); /* reached, or about to be */
int sk_peer_reach(sk_ep *ep, sk_peer *p);
int sk_peer_transmit(sk_ep *ep, sk_peer *p, sk_packet *head, const struct iovec *iov, size_t niov);
void sk_peer_note(sk_ep *ep, sk_peer *p, const sk_packet *head); /* send an answer, now or later */
void sk_peer_busy(sk_ep *ep, sk_peer *p);

/* flush.c: send what waits. */
void sk_ep_flush(sk_ep *ep);

/* credit.c */
static inline uint64_t sk_credit_cost(uint64_t len)
{
    enum { OBJECT = 256 };
    return OBJECT + (len <= SK_INLINE ? 0 : sk_buffers_room(len));
}
void sk_credit_welcome(sk_ep *ep, sk_peer *p); /* give it its share */
bool sk_credit_take(sk_ep *ep, sk_peer *p,
                    uint64_t cost); /* an eager message came; false: it must not */
void sk_credit_give(sk_ep *ep, sk_peer *p, uint64_t cost); /* it was consumed */
void sk_credit_send(sk_ep *ep, sk_peer *p);                /* when enough is owed */

/* send.c */
int sk_ep_send(sk_ep *ep, const sk_want *w);
void sk_send_complete(sk_ep *ep, void *context, uint64_t flags);
/* One that waits for its receiver from the start, without a packet. */
int sk_send_offer(sk_ep *ep, sk_peer *p, const sk_want *w, const sk_packet *head, sk_send **out);
int sk_send_go(sk_ep *ep, sk_send *s); /* one that waited; -EAGAIN: it still has to */
void sk_send_end(sk_ep *ep, sk_send *s, int err);

/* self.c: an endpoint that sends to itself */
int sk_self_send(sk_ep *ep, sk_peer *p, const sk_want *w, sk_packet *head);
void sk_self_take(sk_ep *ep, sk_recv *r);

/* offer.c */
int sk_offer_make(sk_ep *ep, sk_send *s);
int sk_offer_stream(sk_ep *ep, sk_send *s); /* send data; 0: all, or -EAGAIN */
void sk_offer_asked(sk_ep *ep, sk_peer *p, const sk_packet *head);
void sk_offer_done(sk_ep *ep, sk_peer *p, const sk_packet *head);

/* take.c */
void sk_take_start(sk_ep *ep, sk_recv *r, sk_msg *m); /* m is freed */
void sk_take_again(sk_ep *ep, sk_recv *r);
void sk_take_data(sk_ep *ep, sk_peer *p, const sk_packet *head, const void *payload);
void sk_take_read(void *port, void *context, int status); /* event of a lane */
void sk_take_refuse(sk_ep *ep, sk_msg *m);                /* nobody wants the data; m is freed */

/* recv.c */
int sk_ep_recv(sk_ep *ep, const sk_want *w);
void sk_recv_end(sk_ep *ep, sk_recv *r, int err);
void sk_recv_eager(sk_ep *ep, sk_recv *r, const sk_msg *m, const void *payload);
void sk_recv_store(const sk_recv *r, uint64_t at, const void *from, size_t len);
ssize_t sk_ep_cancel(fid_t fid, void *context);
sk_recv *sk_recv_new(sk_ep *ep, const sk_want *w); /* NULL: out of memory */
int sk_recv_item(sk_ep *ep, const sk_want *w, sk_match_item *item, bool *own);
void sk_recv_met(sk_ep *ep, sk_recv *r, sk_msg *m); /* m is freed */
void sk_recv_fail(sk_ep *ep, sk_recv *r, int err);  /* one without a message, not queued any more */
void sk_recv_drop(sk_ep *ep, sk_recv *r);           /* without a word */
void sk_msg_free(sk_ep *ep, sk_msg *m);
const void *sk_msg_bytes(const sk_msg *m);

/* peek.c: receives with FI_PEEK, FI_CLAIM, FI_DISCARD */
int sk_ep_peek(sk_ep *ep, const sk_want *w);
int sk_ep_claimed(sk_ep *ep, const sk_want *w);

/* contexts.c */
bool sk_contexts_add(sk_ep *ep, sk_recv *r); /* false: out of memory */
void sk_contexts_remove(sk_ep *ep, sk_recv *r);
sk_recv *sk_contexts_find(sk_ep *ep, void *context);

/* arrive.c */
bool sk_ep_match(sk_ep *ep); /* see that there is a matcher */
void sk_arrive_eager(sk_ep *ep, sk_peer *p, const sk_packet *head, const void *payload);
void sk_arrive_offer(sk_ep *ep, sk_peer *p, const sk_packet *head, sk_lane *lane);

/* progress.c */
int sk_ep_progress(sk_ep *ep);
void sk_ep_packet(void *port, uint64_t from, const void *data, size_t len);
void sk_ep_glance(void *port, uint64_t from, const void *data, size_t len);

/* alive.c */
void sk_ep_alive(sk_ep *ep);

/* fail.c */
void sk_peer_lose(sk_ep *ep, sk_peer *p, int err);
void sk_ep_gone(void *port, uint64_t id, int status);

/* report.c: statistics and trace */
sk_trace *sk_report_trace(sk_ep *ep, uint32_t nranks); /* NULL: none is wanted, or possible */
void sk_report_close(sk_ep *ep);

#endif
