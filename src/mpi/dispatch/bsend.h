/* bsend.h: messages of MPI_Bsend that Skein buffers.
 *
 * MPI_Bsend returns at once, but MPI_Buffer_detach waits inside the host until the host's buffer is
 * empty. Skein's collectives would not progress there. So while a collective is active, Skein
 * buffers the message itself. */
#ifndef SK_BSEND_H
#define SK_BSEND_H

#include "mpi/state/process.h"

typedef struct sk_buffered {
    struct sk_buffered *next;
    MPI_Request request;
    char data[];
} sk_buffered;

/* The request was started: keep the message until it completes. */
void sk_bsend_add(sk_buffered *b);

/* Wait until every buffered message is sent. */
void sk_bsend_flush(void);

#endif
