#include "mpi/dispatch/bsend.h"

#include <stdlib.h>

/* Free the messages that are sent; true when none is left. */
static bool reap(void)
{
    pthread_mutex_lock(&sk_proc.lock);
    for (sk_buffered **at = &sk_proc.buffered, *b; (b = *at);) {
        int done = 0;
        sk_host.Test(&b->request, &done, MPI_STATUS_IGNORE);
        if (done) {
            *at = b->next;
            free(b);
        } else
            at = &b->next;
    }
    bool none = !sk_proc.buffered;
    pthread_mutex_unlock(&sk_proc.lock);
    return none;
}

void sk_bsend_add(sk_buffered *b)
{
    pthread_mutex_lock(&sk_proc.lock);
    b->next = sk_proc.buffered;
    sk_proc.buffered = b;
    pthread_mutex_unlock(&sk_proc.lock);
    reap();
}

void sk_bsend_flush(void)
{
    SK_WAIT_UNTIL(sk_proc.wait, reap(), sk_progress());
}
