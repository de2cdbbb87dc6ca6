/* staging.h: copies of buffers that the processor must not touch. A call whose buffers are in device
 * memory runs on copies, if the ranks have not agreed to leave it to the host. The host's messages
 * from the process to itself move the data, so the host does what its users of device memory expect. */
#ifndef SK_STAGING_H
#define SK_STAGING_H

#include "mpi/dispatch/args.h"

typedef struct sk_staging sk_staging;

/* The sides of a call that are in device memory. */
typedef struct sk_staged_sides {
    bool send, recv;
} sk_staged_sides;

sk_staged_sides sk_staging_needed(const sk_mpi_call *call);

/* These buffers are replaced, the other stays. NULL: out of memory. */
sk_staging *sk_staging_new(const sk_mpi_call *call, sk_staged_sides sides);
void sk_staging_free(sk_staging *s);

void *sk_staging_send(const sk_staging *s);
void *sk_staging_recv(const sk_staging *s);

/* An active collective owns it from now on. */
void sk_staging_keep(sk_staging *s);
bool sk_staging_kept(const sk_staging *s);

/* Begin to copy to the copies, or what was received back from them; SK_AGAIN while that goes on. */
sk_status sk_staging_begin(sk_staging *s, bool back);
sk_status sk_staging_poll(sk_staging *s);

#endif
