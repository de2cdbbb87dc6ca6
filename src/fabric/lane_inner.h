/* lane_inner.h: the inside of the lane through another libfabric provider.
 *
 * Packets are plain messages (FI_MSG) in buffers of our own; each starts with the sender's id. Long
 * data is read by RMA where the provider has it. All packets of the lane have the same greatest
 * length on both ends, whatever the settings say, because receives are posted before anybody has
 * sent.
 *
 * A job on one node opens this lane and never uses it: then it has a few buffers, and the provider,
 * whose every look at the network is a system call, is asked rarely. */
#ifndef SK_LANE_INNER_H
#define SK_LANE_INNER_H

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include "fabric/lane.h"

enum {
    SK_INNER_PACKET = 16 * 1024 - 256, /* what rxm sends at once, less its head */
    SK_INNER_NAME = 32, /* longest name of an endpoint; with SK_INNER_KIND in front */
    SK_INNER_KIND = 2,
    SK_INNER_FEW = 8,   /* receives posted while nobody is reached and nothing came */
    SK_INNER_MANY = 64, /* receives posted, and sends under way, in use */
};

typedef enum sk_box_kind { SK_BOX_RECV, SK_BOX_SEND, SK_BOX_READ } sk_box_kind;

/* What an operation of the provider points back to. */
typedef struct sk_box {
    struct fi_context2 context; /* first: the provider's */
    sk_box_kind kind;
    uint32_t peer; /* SEND, READ */
    struct sk_box *next;
} sk_box;

/* A buffer with a packet. */
typedef struct sk_letter {
    sk_box box;
    _Alignas(8) uint64_t from; /* here starts what is sent */
    unsigned char bytes[SK_INNER_PACKET];
} sk_letter;

enum { SK_LETTER_HEAD = sizeof(uint64_t) };

/* Letters of one purpose: they are allocated and registered together. */
typedef struct sk_letters {
    sk_letter *all;
    struct fid_mr *mr;
    sk_box *free;
    uint32_t count;
} sk_letters;

typedef struct sk_inner_peer {
    fi_addr_t addr;
    uint64_t id;
    int lost; /* negative errno; 0: not lost */
    bool told;
    int64_t stuck; /* ms: since when it has taken nothing; 0: it takes */
    int64_t asked; /* ms: when it was probed last */
    int probe;     /* socket of the probe; -1: none */
    uint8_t name[SK_INNER_NAME];
} sk_inner_peer;

typedef struct sk_inner {
    sk_lane lane;
    sk_lane_config config;
    struct fi_info *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_av *av;
    struct fid_cq *cq;
    struct fid_ep *ep;
    uint8_t name[SK_INNER_KIND + SK_INNER_NAME];
    size_t name_len;
    sk_letters recv, more_recv, send;
    sk_box *again;                 /* receives and reads that the provider had no room for */
    struct sk_read *reads, *spare; /* all there are; those not in use */
    uint32_t sending, reading;     /* operations under way */
    sk_inner_peer *peers;
    uint32_t npeers, room;
    bool news; /* a peer was lost, and nobody was told */
    uint32_t nstuck;
    int64_t probed; /* ms: when peers were probed last */
    uint64_t tick;  /* polls so far */
    uint32_t heat;  /* polls to go before we take it that nothing is going on */
    uint64_t keys;  /* of memory regions, where we choose */
} sk_inner;

/* --- lane_inner_pick.c --- */
/* Providers that will do, best first; the caller frees the list. `name` forces one; "": choose. */
int sk_inner_pick(const char *name, struct fi_info **out);
/* Is this one of the list fit for use? `forced`: the user has named it. */
bool sk_inner_fits(const struct fi_info *info, bool forced);
/* A provider of the list that does the same as this one at less cost; NULL: there is none. */
const struct fi_info *sk_inner_lean(const struct fi_info *all, const struct fi_info *info);
/* Names are understood only by those who have the same kind. */
uint16_t sk_inner_kind(const struct fi_info *info);

/* --- lane_inner_box.c --- */
/* Register memory as the provider wants it; *mr is NULL where it does not care. */
int sk_inner_register(sk_inner *s, const void *data, size_t len, uint64_t access,
                      struct fid_mr **mr);
int sk_letters_new(sk_inner *s, sk_letters *ls, uint32_t count, sk_box_kind kind, uint64_t access);
void sk_letters_free(sk_letters *ls);
/* Post a receive; what the provider has no room for is posted later. */
void sk_letter_post(sk_inner *s, sk_box *box);
void sk_letters_post(sk_inner *s, sk_letters *ls);
/* From now on the lane is in use: post all receives. */
int sk_inner_wake(sk_inner *s);

/* --- lane_inner_peer.c --- */
int sk_inner_reach(sk_lane *l, uint64_t id, const void *name, size_t len, uint32_t *peer);

/* --- lane_inner_move.c --- */
int sk_inner_send(sk_lane *l, uint32_t peer, const struct iovec *part, int nparts);
int sk_inner_poll(sk_lane *l);
void sk_inner_lose(sk_inner *s, uint32_t peer, int status);
/* Read completions, without events if `mute`. */
int sk_inner_take(sk_inner *s, bool mute);

/* --- lane_inner_read.c --- */
int sk_inner_expose(sk_lane *l, const void *data, size_t len, sk_lane_source *out, void **handle);
void sk_inner_conceal(sk_lane *l, void *handle);
int sk_inner_read(sk_lane *l, uint32_t peer, const sk_lane_source *from, uint64_t skip, void *to,
                  size_t len, void *context);
/* An operation of a read has completed: number of events. */
int sk_inner_read_done(sk_inner *s, sk_box *box, int status, bool mute);
/* A piece that the provider had no room for. */
int sk_inner_read_again(sk_inner *s, sk_box *box, bool mute);
/* Reads that are not done when the endpoint is closed: give up their memory regions, then
 * themselves. */
void sk_inner_reads_conceal(sk_inner *s);
void sk_inner_reads_free(sk_inner *s);

/* --- lane_inner_probe.c --- */
int64_t sk_inner_now(void); /* ms, never 0 */
/* A peer has taken something, or nothing. */
void sk_inner_moves(sk_inner *s, sk_inner_peer *p);
void sk_inner_sticks(sk_inner *s, sk_inner_peer *p);
void sk_inner_probe(sk_inner *s);

#endif
