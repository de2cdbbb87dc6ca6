/* core_inner.h: data structures of the lane through another libfabric provider (a core provider),
 * for core*.c and their tests.
 *
 * Packets are plain messages (FI_MSG) in our own buffers; each starts with the sender's id. Long
 * data is read by RMA if the provider has it. The longest packet is the same on both ends, whatever
 * the settings say, because receives are posted before anybody has sent.
 *
 * A job on one node opens this lane and never uses it. An unused lane posts few buffers and polls
 * the provider rarely, since every poll of the network is a system call. */
#ifndef SK_CORE_LANE_INNER_H
#define SK_CORE_LANE_INNER_H

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include "fabric/lane/lane.h"

enum {
    SK_CORE_PACKET = 16 * 1024 - 256, /* what rxm sends eagerly, less its header */
    SK_CORE_NAME = 32,                /* longest provider name of an endpoint */
    SK_CORE_PROVIDER_ID = 2, /* bytes before the name: identify provider and address format */
    SK_CORE_IDLE_RECVS = 8,  /* receives posted while the lane is unused */
    SK_CORE_DEPTH = 64,      /* receives posted and sends in flight when the lane is used */
};

typedef enum sk_core_op_type { SK_CORE_RECV, SK_CORE_SEND, SK_CORE_READ } sk_core_op_type;

/* An operation of the provider; its completion points back to it. */
typedef struct sk_core_op {
    struct fi_context2 context; /* first: the provider's */
    sk_core_op_type type;
    uint32_t peer; /* SEND, READ */
    struct sk_core_op *next;
} sk_core_op;

/* A buffer for one packet. */
typedef struct sk_core_buffer {
    sk_core_op op;
    _Alignas(8) uint64_t from; /* the message starts here */
    unsigned char bytes[SK_CORE_PACKET];
} sk_core_buffer;

enum { SK_CORE_HEADER = sizeof(uint64_t) }; /* bytes of a message before the packet */

/* Buffers that are allocated and registered together. */
typedef struct sk_core_buffers {
    sk_core_buffer *all;
    struct fid_mr *mr;
    sk_core_op *free;
    uint32_t count;
} sk_core_buffers;

typedef struct sk_core_peer {
    fi_addr_t addr;
    uint64_t id;
    int lost; /* negative errno; 0: not lost */
    bool reported;
    int64_t stalled_at; /* ms: since when it accepts nothing; 0: it accepts */
    int64_t probed_at;  /* ms: last probe */
    int probe;          /* socket of the probe; -1: none */
    uint8_t name[SK_CORE_NAME];
} sk_core_peer;

typedef struct sk_core_lane {
    sk_lane lane;
    sk_lane_config config;
    struct fi_info *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_av *av;
    struct fid_cq *cq;
    struct fid_ep *ep;
    uint8_t name[SK_CORE_PROVIDER_ID + SK_CORE_NAME];
    size_t name_len;
    sk_core_buffers recv, more_recv, send;
    sk_core_op *retry;                       /* receives and reads to post again (-FI_EAGAIN) */
    struct sk_core_read *reads, *free_reads; /* all; those not in use */
    uint32_t sending, reading;               /* operations in flight */
    sk_core_peer *peers;
    uint32_t npeers, capacity;
    bool unreported; /* a lost peer was not reported yet */
    uint32_t nstalled;
    int64_t probed_at;  /* ms: last round of probes */
    uint64_t tick;      /* calls of poll */
    uint32_t hot_polls; /* polls left before the lane counts as idle */
    uint64_t next_key;  /* of memory regions, if the key is ours to choose */
} sk_core_lane;

/* --- core_select.c --- */
/* List suitable providers, best first; the caller frees the list. `name` forces one; "": choose. */
int sk_core_list(const char *name, struct fi_info **out);
/* Is this provider usable? `forced`: the user has named it. */
bool sk_core_usable(const struct fi_info *info, bool forced);
/* A provider of the list that does the same as `info` at less cost; NULL: there is none. */
const struct fi_info *sk_core_cheaper(const struct fi_info *all, const struct fi_info *info);
/* A hash of provider and address format: only endpoints with the same value understand each other's
 * names. */
uint16_t sk_core_provider_id(const struct fi_info *info);

/* --- core_rma.c --- */
/* Register memory as the provider requires. */
int sk_core_register(sk_core_lane *s, const void *data, size_t len, uint64_t access,
                     struct fid_mr **mr);
int sk_core_export(sk_lane *l, const void *data, size_t len, sk_lane_source *out, void **handle);
void sk_core_unexport(sk_lane *l, void *handle);
/* Start a read; as sk_lane_ops.read, for a peer that is not lost. */
int sk_core_read_start(sk_core_lane *s, uint32_t peer, const sk_lane_source *from, uint64_t skip,
                       void *to, size_t len, void *context);
/* The provider has completed an operation of a read. Returns the number of events. */
int sk_core_read_complete(sk_core_lane *s, sk_core_op *op, int status, bool silent);
/* Post a chunk again for which the provider had no resources. Returns the number of events. */
int sk_core_read_retry(sk_core_lane *s, sk_core_op *op);
/* The endpoint is closed: release the memory regions of unfinished reads, then the reads. */
void sk_core_reads_unregister(sk_core_lane *s);
void sk_core_reads_free(sk_core_lane *s);

#endif
