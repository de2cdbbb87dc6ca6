/* mpi_talk.h: a negotiator's talk over the host's messages. */
#ifndef SK_MPI_TALK_H
#define SK_MPI_TALK_H

#include "mpi/hint.h"
#include "mpi/process.h"
#include "neighbor/negotiation.h"

typedef struct sk_mpi_channel {
    sk_channel base;
    MPI_Comm comm;
    int tag, words_tag;     /* the second where there is no probe */
    sk_hint hint;           /* of its messages */
    struct sk_letter *sent; /* on their way */
    int64_t messages;       /* sent so far */
    int32_t *words;         /* room for what comes */
    size_t room;
#if !SK_HAVE_PROBE
    MPI_Request coming; /* a length, from anybody */
    int32_t length;
#endif
} sk_mpi_channel;

void sk_mpi_channel_init(sk_mpi_channel *t, MPI_Comm comm, int nranks, int tag, int words_tag);
void sk_mpi_channel_end(sk_mpi_channel *t);

/* Hand the negotiator what has come. SK_AGAIN until it is done and all that it sent is gone; with
 * `block` that is waited for. */
sk_status sk_mpi_channel_poll(sk_mpi_channel *t, sk_negotiator *p, bool block);

#endif
