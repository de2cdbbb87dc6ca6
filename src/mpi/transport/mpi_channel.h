/* mpi_channel.h: the channel of a negotiation over the host's messages. */
#ifndef SK_MPI_CHANNEL_H
#define SK_MPI_CHANNEL_H

#include "mpi/state/comm.h"
#include "mpi/transport/hint.h"
#include "neighbor/negotiation.h"

typedef struct sk_mpi_channel {
    sk_channel base;
    const sk_comm *comm;
    MPI_Comm wire;
    int tag, words_tag;          /* the second where there is no probe */
    sk_hint hint;                /* of its messages */
    struct sk_channel_msg *sent; /* not yet complete */
    int64_t messages;            /* sent so far */
    int32_t *words;              /* receive buffer */
    size_t capacity;
#if !SK_HAVE_PROBE
    MPI_Request length_request; /* a length, from any rank */
    int32_t length;
#endif
} sk_mpi_channel;

void sk_mpi_channel_init(sk_mpi_channel *t, const sk_comm *comm, int tag, int words_tag);
void sk_mpi_channel_end(sk_mpi_channel *t);

/* Hand received messages to the negotiator. SK_AGAIN until it is done and all its messages are sent;
 * with `block` this is waited for. */
sk_status sk_mpi_channel_poll(sk_mpi_channel *t, sk_negotiator *p, bool block);

#endif
