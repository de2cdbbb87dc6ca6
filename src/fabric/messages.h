/* messages.h: what waits: peers with what is to be sent to them, sends, receives, messages. */
#ifndef SK_MESSAGES_H
#define SK_MESSAGES_H

#include <sys/uio.h>

#include "fabric/chain.h"
#include "fabric/lane/lane.h"
#include "fabric/packet.h"
#include "match/matcher.h"

enum {
    SK_MAX_IOV = 4,
    SK_INLINE = 64, /* longest message that waits inside its object */
};

typedef enum sk_peer_state {
    SK_PEER_NEW,  /* not reached yet: its name may still be missing */
    SK_PEER_HERE, /* a lane leads to it */
    SK_PEER_SELF,
    SK_PEER_FAR, /* no lane leads to it */
    SK_PEER_GONE
} sk_peer_state;

typedef struct sk_peer {
    uint64_t id;
    uint32_t number;
    uint8_t state; /* sk_peer_state */
    bool welcomed; /* it has got its whole credit */
    bool heard;    /* something came from it since alive.c has looked */
    uint32_t on;   /* its number on the lane */
    sk_lane *lane;
    size_t eager;     /* longest eager message to it */
    uint64_t credit;  /* bytes of eager messages we may still send */
    uint64_t owed;    /* credit to give back */
    uint64_t window;  /* credit it has at us altogether */
    uint64_t held;    /* of it, in use */
    sk_chain busy;    /* in sk_ep.busy while anything below is to be sent */
    sk_chain notes;   /* sk_note: answers */
    sk_chain sends;   /* sk_send: in the order they were called */
    sk_chain streams; /* sk_send: data that was asked for */
    sk_chain offers;  /* sk_send: the peer has not answered */
    sk_chain takes;   /* sk_recv: their data is on its way from this peer */
} sk_peer;

typedef struct sk_note {
    sk_chain chain;
    sk_packet head;
} sk_note;

typedef enum sk_send_state {
    SK_SEND_WAITS,
    SK_SEND_OFFERED,
    SK_SEND_STREAMS,
    SK_SEND_SENT
} sk_send_state;

typedef struct sk_send {
    sk_chain chain; /* in a list of its peer: see state */
    sk_peer *peer;
    void *context;
    uint64_t flags; /* of the call */
    uint8_t state;  /* sk_send_state */
    uint8_t niov;
    uint64_t len;
    uint64_t sent, asked, answer; /* streams: bytes sent, wanted, the receiver's name for it */
    void *copy;                   /* inject: the data */
    void *exposed;                /* the lane's handle */
    bool is_exposed;
    sk_packet head;
    struct iovec iov[SK_MAX_IOV];
} sk_send;

typedef struct sk_recv {
    sk_match_item item; /* first: the matcher hands it back */
    void *context;
    uint64_t room;
    uint64_t flags; /* of the call */
    uint8_t niov;
    bool reading; /* the lane reads; it will tell */
    struct iovec iov[SK_MAX_IOV];
    struct sk_recv *beside; /* in sk_contexts, if listed */
    bool listed;
    /* the message, while its data is on its way */
    sk_chain chain; /* in sk_peer.takes */
    sk_chain again; /* in sk_ep.again: cannot go on now */
    sk_peer *peer;
    sk_lane_source source;
    sk_lane *lane; /* the offer came on */
    bool readable;
    uint8_t msg_flags; /* of sk_packet */
    uint32_t data;
    uint64_t tag, len, token, answer;
    uint64_t want, got, piece; /* bytes to move, moved, in the read under way */
} sk_recv;

typedef struct sk_msg {
    sk_match_item item; /* first */
    sk_peer *peer;
    uint64_t len;
    uint32_t data;
    uint8_t flags;    /* of sk_packet */
    bool offer;       /* else eager */
    bool lost;        /* there was no memory for its data */
    void *buffer;     /* eager and longer than SK_INLINE */
    sk_chain claimed; /* in sk_ep.claimed */
    union {
        char bytes[SK_INLINE];
        struct {
            uint64_t token;
            sk_lane_source source;
            sk_lane *lane; /* it came on */
        };
    };
} sk_msg;

#endif
