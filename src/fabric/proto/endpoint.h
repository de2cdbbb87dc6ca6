/* endpoint.h: the protocol endpoint, and what the files of proto/ do for each other.
 *
 * The way of a message:
 *
 *   api/ calls --> send.c -------> eager: EAGER packet ---------------> peer.c --> lane
 *                           \-----> rendezvous.c: RTS ... CTS, DATA, FIN -/
 *                            \----> loopback.c (to this endpoint itself)
 *   lane --> progress.c --> eager.c, rendezvous.c (arrival, matching) --> request.c (completion)
 *   api/ calls --> recv.c (post, probe, claim, cancel) --> eager.c, rendezvous.c
 *
 * Calls run one way, from right to left in this order of the files:
 *   completion, id_table, packet, pool, kind < peer < credit < request < matching < eager,
 *   rendezvous < loopback, keepalive < progress < send, recv < endpoint < api/
 *
 * Locks: there is one lock per domain (sk_domain.lock in api/objects.h). Every libfabric call on an
 * object of the domain takes it, except if the application has promised FI_THREAD_DOMAIN. proto/
 * and lane/ take no lock: they run under the domain's lock. The matcher is opened without its own
 * lock for the same reason. The provider never calls back into the application, so only the C
 * library's and the core provider's own locks are ever taken under the domain's lock.
 *
 * Progress: the provider is FI_PROGRESS_MANUAL. sk_endpoint_progress runs inside fi_cq_read and its
 * relatives, inside a send when credit or space is short, and inside a receive with FI_PEEK. It
 * polls the lanes, which report packets, completed reads and lost peers by the events of
 * sk_lane_events; the handlers are in progress.c. A handler may send but never polls. Packets that
 * a lane has no space for wait at their peer; progress sends them after the poll. */
#ifndef SK_ENDPOINT_H
#define SK_ENDPOINT_H

#include <errno.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_tagged.h>
#include <sys/uio.h>

#include "base/assert.h"
#include "base/list.h"
#include "fabric/lane/lane.h"
#include "fabric/proto/completion.h"
#include "fabric/proto/config.h"
#include "fabric/proto/handles.h"
#include "fabric/proto/id_table.h"
#include "fabric/proto/kind.h"
#include "fabric/proto/log.h"
#include "fabric/proto/packet.h"
#include "match/matcher.h"
#include "match/trace.h"

/* --- peers, sends, receives, messages --- */

enum {
    SK_MAX_IOV = 4,
    SK_INLINE = 64, /* longest unexpected message that is stored inside its object */
};

typedef enum sk_peer_state {
    SK_PEER_NEW,       /* no lane chosen yet; its name may still be missing */
    SK_PEER_CONNECTED, /* `lane` leads to it */
    SK_PEER_LOOPBACK,  /* this endpoint itself */
    SK_PEER_UNREACHABLE,
    SK_PEER_GONE
} sk_peer_state;

typedef struct sk_peer {
    uint64_t id;
    uint32_t number;    /* in the id table */
    uint8_t state;      /* sk_peer_state */
    bool granted;       /* it has got its full credit window */
    bool reached;       /* the lane has accepted a packet to it */
    bool heard;         /* a packet has come since keepalive.c last looked */
    uint32_t lane_peer; /* its index on the lane */
    sk_lane *lane;
    int error;         /* it failed: progress disconnects it; 0: no error */
    size_t eager;      /* longest eager message to it */
    uint64_t credit;   /* bytes of eager messages we may still send */
    uint64_t owed;     /* credit that we must return to it */
    uint64_t window;   /* credit it has at us altogether */
    uint64_t held;     /* part of the window that is in use */
    sk_list scheduled; /* in sk_endpoint.scheduled while it has anything to send */
    sk_list controls;  /* sk_control: CTS and FIN packets that wait */
    sk_list sends;     /* sk_send_req: queued, in the order of their calls */
    sk_list streams;   /* sk_send_req: DATA packets to send */
    sk_list rts_sent;  /* sk_send_req: waiting for CTS or FIN */
    sk_list receiving; /* sk_recv_req: rendezvous receives from this peer */
} sk_peer;

/* A control packet that the lane had no space for. */
typedef struct sk_control {
    sk_list node;
    sk_packet head;
} sk_control;

/*   QUEUED -> (eager: done)
 *   QUEUED -> RTS_SENT -> FIN: done
 *                      -> CTS: STREAMING -> done, or AWAITS_FIN -> FIN: done */
typedef enum sk_send_state {
    SK_SEND_QUEUED,
    SK_SEND_RTS_SENT,
    SK_SEND_STREAMING,
    SK_SEND_AWAITS_FIN
} sk_send_state;

typedef struct sk_send_req {
    sk_list node; /* in a list of its peer, which follows from state */
    sk_peer *peer;
    void *context;
    uint64_t flags; /* of the call */
    uint8_t state;  /* sk_send_state */
    uint8_t niov;
    uint64_t len;
    uint64_t sent, wanted; /* streaming: bytes sent, and bytes that the CTS asks for */
    uint64_t recv_handle;  /* streaming: of the CTS */
    void *copy;            /* inject: the data */
    void *export_handle;   /* of the lane */
    bool exported;
    bool reserved; /* inject: a copy beyond the bound */
    sk_packet head;
    struct iovec iov[SK_MAX_IOV];
} sk_send_req;

typedef struct sk_recv_req {
    sk_match_item item; /* first: the matcher returns it */
    void *context;
    uint64_t capacity; /* bytes of the user's buffer */
    uint64_t flags;    /* of the call */
    uint8_t niov;
    bool reading; /* the lane reads and will report completion */
    struct iovec iov[SK_MAX_IOV];
    struct sk_recv_req *next_context; /* in sk_context_table, if in_table */
    bool in_table;
    /* rendezvous: the message */
    sk_list node;  /* in sk_peer.receiving */
    sk_list retry; /* in sk_endpoint.retry: cannot proceed now */
    sk_peer *peer;
    sk_lane_source source;
    sk_lane *lane; /* the RTS came on it */
    bool readable;
    uint8_t msg_flags; /* of sk_packet */
    uint32_t data;
    uint64_t tag, len, send_handle, recv_handle;
    uint64_t total, received; /* bytes to move, bytes moved */
    uint64_t chunk;           /* bytes of the read in flight */
} sk_recv_req;

/* A message that has arrived and may wait for its receive. */
typedef struct sk_msg {
    sk_match_item item; /* first: the matcher returns it */
    sk_peer *peer;
    uint64_t len;
    uint32_t data;
    uint8_t flags;   /* of sk_packet */
    bool rendezvous; /* else eager */
    bool lost;       /* eager: there was no memory for its data */
    void *buffer;    /* eager and longer than SK_INLINE */
    sk_list claimed; /* in sk_endpoint.claimed */
    union {
        char bytes[SK_INLINE]; /* eager */
        struct {               /* rendezvous */
            uint64_t send_handle;
            sk_lane_source source;
            sk_lane *lane; /* it came on */
        };
    };
} sk_msg;

/* --- the endpoint --- */

enum {
    SK_INJECT = 4096,            /* longest message that fi_tinject accepts */
    SK_FIRST_CREDIT = 16 * 1024, /* bytes of credit that every endpoint has at every other */
    SK_FEW_PEERS = 64,           /* peers to expect if the application does not say */
};

/* With these flags, a send completes only when the receiver has the message. */
#define SK_REMOTE_COMPLETION (FI_DELIVERY_COMPLETE | FI_MATCH_COMPLETE)

/* Receives by the context of their call, for fi_cancel. Used if the application's contexts are not
 * ours to write. */
typedef struct sk_context_table {
    sk_recv_req **bucket;
    size_t size, count;
} sk_context_table;

/* Tagged and untagged messages never match: each has its own matcher. Untagged ones match by their
 * source alone. */
typedef enum sk_queue { SK_TAGGED, SK_UNTAGGED, SK_NQUEUES } sk_queue;

/* A lane of an endpoint: the argument of its events. */
typedef struct sk_endpoint_lane {
    struct sk_endpoint *ep;
    sk_lane *lane; /* NULL: there is none */
} sk_endpoint_lane;

typedef struct sk_endpoint {
    /* set by the caller of sk_endpoint_open */
    const sk_fabric_config *config;
    sk_id_table *ids;
    sk_completion_ring *tx, *rx; /* completions of sends, of receives; NULL: none are made */
    bool own_contexts;           /* contexts are struct fi_context, ours until completion */
    bool directed;               /* source addresses of receives count */
    bool sources;                /* completions tell the source address */

    sk_endpoint_lane shm, core;
    uint64_t id;
    sk_address name;
    sk_kinds kinds;
    sk_matcher *matcher[SK_NQUEUES]; /* created at first use: then the number of peers is known */
    sk_trace *trace;
    sk_peer **peer; /* by number; NULL: not met yet */
    uint32_t npeers;
    sk_peer *last;           /* the sender of the last packet */
    uint32_t ngone;          /* peers in state SK_PEER_GONE */
    uint32_t polls;          /* calls of progress */
    uint32_t keepalive_next; /* keepalive.c: the next peer to look at */
    int64_t keepalive_at;    /* ms: when it last looked */
    uint64_t granted;        /* credit granted to all peers beyond SK_FIRST_CREDIT */
    size_t copied;           /* bytes of inject copies that wait */
    uint32_t reserved;       /* copies beyond the bound that wait */
    uint32_t refused;        /* injects that found no room, less the sends that came after them */
    sk_list scheduled;       /* sk_peer: have something to send */
    sk_list retry;           /* sk_recv_req: their read could not be started */
    sk_list claimed;         /* sk_msg: found and kept by a probe */
    sk_handle_table sends, recvs;
    sk_context_table contexts;
    sk_object_pool send_pool, recv_pool, msg_pool, control_pool;
    sk_buffer_cache buffers;
} sk_endpoint;

/* An operation as the application called it. */
typedef struct sk_endpoint_call {
    const struct iovec *iov;
    size_t niov;
    uint64_t len; /* of all iov */
    fi_addr_t addr;
    uint64_t tag, ignore; /* untagged: 0 */
    uint64_t data;
    uint64_t flags; /* FI_TAGGED or FI_MSG; FI_COMPLETION: a completion is wanted;
                       FI_REMOTE_CQ_DATA, FI_INJECT, ... */
    void *context;
} sk_endpoint_call;

static inline sk_queue sk_queue_of_call(uint64_t flags)
{
    return flags & FI_MSG ? SK_UNTAGGED : SK_TAGGED;
}

static inline sk_queue sk_queue_of_packet(uint8_t flags)
{
    return flags & SK_PACKET_UNTAGGED ? SK_UNTAGGED : SK_TAGGED;
}

/* The flags of a completion that tell the type of the operation. */
static inline uint64_t sk_completion_type(uint64_t call_flags)
{
    return call_flags & (FI_MSG | FI_TAGGED);
}

/* libfabric's error for a negative errno of a lane. */
static inline int sk_lane_error(int rc)
{
    return rc == -EPIPE ? FI_ECONNRESET : -rc;
}

/* --- peer.c: peers, the lanes to them, packets to them --- */
sk_peer *sk_peer_get(sk_endpoint *ep, uint32_t number); /* NULL: out of memory */
/* The peer of an address, connected. */
int sk_peer_at(sk_endpoint *ep, fi_addr_t addr, sk_peer **out);
/* Choose a lane. -FI_EAGAIN: the peer's name is not known yet. */
int sk_peer_connect(sk_endpoint *ep, sk_peer *p);
int sk_peer_transmit(sk_peer *p, sk_packet *head, const struct iovec *iov, size_t niov);
/* Send a control packet, now or later. */
void sk_peer_control(sk_endpoint *ep, sk_peer *p, const sk_packet *head);
/* Progress must look at this peer: it has something to send, or has failed. */
void sk_peer_schedule(sk_endpoint *ep, sk_peer *p);

/* --- credit.c: flow control of eager messages --- */
static inline uint64_t sk_credit_cost(uint64_t len)
{
    enum { OBJECT = 256 };
    return OBJECT + (len <= SK_INLINE ? 0 : sk_buffer_size(len));
}
void sk_credit_grant(sk_endpoint *ep, sk_peer *p); /* give a peer its full window, once */
/* An eager message has arrived. False: its sender has exceeded its credit. */
bool sk_credit_charge(sk_endpoint *ep, sk_peer *p, uint64_t cost);
void sk_credit_release(sk_endpoint *ep, sk_peer *p, uint64_t cost); /* it was consumed */
void sk_credit_return(sk_endpoint *ep, sk_peer *p);                 /* send what is owed, if much */

/* --- request.c: sends, receives and messages as objects --- */
int sk_send_new(sk_endpoint *ep, sk_peer *p, const sk_endpoint_call *c, const sk_packet *head,
                sk_send_req **out);
void sk_send_free(sk_endpoint *ep, sk_send_req *s);
/* Complete a send that has no object. */
static inline void sk_send_complete(sk_endpoint *ep, void *context, uint64_t flags)
{
    if (!(flags & FI_COMPLETION)) {
        sk_completion_unreserve(ep->tx);
        return;
    }
    sk_completion *at = sk_completion_push(ep->tx);
    at->e = (struct fi_cq_tagged_entry){.op_context = context,
                                        .flags = sk_completion_type(flags) | FI_SEND};
    at->from = FI_ADDR_NOTAVAIL;
    at->err = NULL;
}
/* Complete a send and free it. */
void sk_send_end(sk_endpoint *ep, sk_send_req *s, int err);

sk_recv_req *sk_recv_new(sk_endpoint *ep, const sk_endpoint_call *c); /* NULL: out of memory */
void sk_recv_drop(sk_endpoint *ep, sk_recv_req *r);                   /* no completion */
void sk_recv_store(const sk_recv_req *r, uint64_t at, const void *from, size_t len);
/* End a receive: with an eager message; with its rendezvous; without a message. */
void sk_recv_deliver(sk_endpoint *ep, sk_recv_req *r, const sk_msg *m, const void *payload);
void sk_recv_end(sk_endpoint *ep, sk_recv_req *r, int err);
void sk_recv_fail(sk_endpoint *ep, sk_recv_req *r, int err);

/* The message of an EAGER or RTS packet. NULL: out of memory. */
static inline sk_msg *sk_msg_new(sk_endpoint *ep, sk_peer *p, const sk_packet *head)
{
    sk_msg *m = sk_object_pool_get(&ep->msg_pool);
    if (SK_UNLIKELY(!m))
        return NULL;
    m->item.tag = head->tag;
    m->item.ignore = 0;
    m->item.source = p->number;
    m->item.nranks = head->nranks;
    m->item.call = head->call;
    m->item.kind = sk_kind_of_packet(head);
    m->item.size = head->size_class;
    m->peer = p;
    m->len = head->len;
    m->data = head->data;
    m->flags = head->flags;
    m->lost = false;
    m->buffer = NULL;
    return m;
}
void sk_msg_free(sk_endpoint *ep, sk_msg *m);

bool sk_context_add(sk_endpoint *ep, sk_recv_req *r); /* false: out of memory */
sk_recv_req *sk_context_find(const sk_endpoint *ep, const void *context);

/* --- matching.c: the matchers, their trace and statistics --- */
sk_matcher *sk_matching_init(sk_endpoint *ep, sk_queue q); /* create it; NULL: out of memory */
static inline sk_matcher *sk_matching_get(sk_endpoint *ep, sk_queue q)
{
    return ep->matcher[q] ? ep->matcher[q] : sk_matching_init(ep, q);
}
/* Write statistics and close the trace; both are of tagged messages. `contended`: calls that waited for the domain's lock. */
void sk_matching_report(sk_endpoint *ep, uint64_t contended);

/* --- eager.c: messages with their data --- */
static inline bool sk_eager_fits(const sk_peer *p, uint64_t len, uint64_t flags)
{
    return len <= p->eager && sk_credit_cost(len) <= p->credit && !(flags & SK_REMOTE_COMPLETION);
}
/* An EAGER packet has arrived. 0, or an error: the peer must be disconnected. */
int sk_eager_arrive(sk_endpoint *ep, sk_peer *p, const sk_packet *head, const void *payload);
/* Nobody wants an unexpected message, or it was received: free it and give its credit back. */
static inline void sk_eager_discard(sk_endpoint *ep, sk_msg *m)
{
    sk_peer *p = m->peer;
    uint64_t cost = sk_credit_cost(m->len);
    sk_msg_free(ep, m);
    sk_credit_release(ep, p, cost);
}
/* A receive has found an unexpected message; m is freed. */
static inline void sk_eager_receive(sk_endpoint *ep, sk_recv_req *r, sk_msg *m)
{
    SK_ASSERT(!m->rendezvous);
    sk_recv_deliver(ep, r, m, m->buffer ? m->buffer : m->bytes);
    sk_eager_discard(ep, m);
}

/* --- rendezvous.c: messages whose data stays with the sender until their receive is known --- */
int sk_rendezvous_send_rts(sk_endpoint *ep, sk_send_req *s);
int sk_rendezvous_stream(sk_endpoint *ep, sk_send_req *s); /* send DATA; 0: all is sent */
/* Queue a send to this endpoint itself as if its RTS were sent. */
int sk_rendezvous_loopback(sk_endpoint *ep, sk_peer *p, const sk_endpoint_call *c,
                           const sk_packet *head, sk_send_req **out);
void sk_rendezvous_cts(sk_endpoint *ep, sk_peer *p, const sk_packet *head);
void sk_rendezvous_fin(sk_endpoint *ep, sk_peer *p, const sk_packet *head);
/* An RTS has arrived. 0, or an error: the peer must be disconnected. */
int sk_rendezvous_arrive(sk_endpoint *ep, sk_peer *p, const sk_packet *head, sk_lane *lane);
void sk_rendezvous_data(sk_endpoint *ep, sk_peer *p, const sk_packet *head, const void *payload);
void sk_rendezvous_read(sk_endpoint *ep, sk_recv_req *r, int status);   /* the lane's read ended */
void sk_rendezvous_receive(sk_endpoint *ep, sk_recv_req *r, sk_msg *m); /* m is freed */
void sk_rendezvous_resume(sk_endpoint *ep, sk_recv_req *r);
void sk_rendezvous_discard(sk_endpoint *ep, sk_msg *m); /* nobody wants it; m is freed */

/* --- loopback.c --- */
int sk_loopback_send(sk_endpoint *ep, sk_peer *p, const sk_endpoint_call *c, sk_packet *head);

/* --- keepalive.c --- */
void sk_keepalive(sk_endpoint *ep);

/* --- progress.c --- */
int sk_endpoint_progress(sk_endpoint *ep);              /* number of events of the lanes */
int sk_send_start(sk_endpoint *ep, sk_send_req *s);     /* -EAGAIN: it must wait */
sk_lane_events sk_endpoint_events(sk_endpoint_lane *l); /* the handlers, for a lane's config */

/* --- send.c, recv.c: the operations; only tagged messages can be probed and claimed --- */
int sk_endpoint_send(sk_endpoint *ep, const sk_endpoint_call *c);
int sk_endpoint_recv(sk_endpoint *ep, const sk_endpoint_call *c);
int sk_endpoint_probe(sk_endpoint *ep, const sk_endpoint_call *c);
int sk_endpoint_claim(sk_endpoint *ep, const sk_endpoint_call *c);
int sk_endpoint_cancel(sk_endpoint *ep, void *context);

/* --- endpoint.c --- */
/* For an object that is all zero. Progress of an endpoint that is not open does nothing. */
void sk_endpoint_init(sk_endpoint *ep);
/* The caller has called sk_endpoint_init and set the first part of the object. */
int sk_endpoint_open(sk_endpoint *ep);
/* Operations in progress end without a completion. `contended` as in sk_matching_report. */
void sk_endpoint_close(sk_endpoint *ep, uint64_t contended);

#endif
