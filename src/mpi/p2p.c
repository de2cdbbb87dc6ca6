/* p2p.c: blocking point-to-point calls. While one of Skein's collectives is under way they wait in
 * Skein's loop, so that a rank blocked here still does its part of the collective. */
#include <stdatomic.h>
#include <stdlib.h>

#include "mpi/next.h"
#include "mpi/request.h"

static int wait_for(MPI_Request *request, MPI_Status *status)
{
    for (int done = 0, rc;;) {
        sk_progress();
        rc = PMPI_Test(request, &done, status);
        if (done || rc != MPI_SUCCESS)
            return rc;
        sk_relax();
    }
}

/* Both ends of a Sendrecv; the receive's status is the one the user sees. */
static int wait_both(MPI_Request *send, MPI_Request *recv, MPI_Status *status)
{
    int rc = wait_for(recv, status), rc2 = wait_for(send, MPI_STATUS_IGNORE);
    return rc != MPI_SUCCESS ? rc : rc2;
}

/* MPI_Bsend returns at once, but MPI_Buffer_detach waits in the host for what is still buffered
 * there. So while a collective is under way, Skein buffers. */
typedef struct sk_buffered {
    struct sk_buffered *next;
    MPI_Request request;
    char data[];
} sk_buffered;

/* Forget the messages that are gone; true when none is left. */
static bool empty_buffer(void)
{
    pthread_mutex_lock(&sk_proc.lock);
    for (sk_buffered **at = &sk_proc.buffered, *b; (b = *at);) {
        int done = 0;
        PMPI_Test(&b->request, &done, MPI_STATUS_IGNORE);
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

static void buffer(sk_buffered *b)
{
    pthread_mutex_lock(&sk_proc.lock);
    b->next = sk_proc.buffered;
    sk_proc.buffered = b;
    pthread_mutex_unlock(&sk_proc.lock);
    empty_buffer();
}

void sk_wait_buffered(void)
{
    while (!empty_buffer()) {
        sk_progress();
        sk_relax();
    }
}

#define COUNT   int
#define N(name) name
#include "mpi/p2p.def"
#undef N
#undef COUNT

#if SK_HAVE_LARGE
#define COUNT               MPI_Count
#define N(name)             SK_LARGE_NAME(name)
#define SK_LARGE_NAME(name) name##_c
#include "mpi/p2p.def"
#undef N
#undef COUNT
#endif

SK_EXPORT int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    if (!sk_busy())
        return SK_NEXT(MPI_Probe)(source, tag, comm, status);
    for (int flag = 0, rc;;) {
        sk_progress();
        rc = PMPI_Iprobe(source, tag, comm, &flag, status);
        if (flag || rc != MPI_SUCCESS)
            return rc;
        sk_relax();
    }
}

SK_EXPORT int MPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    sk_progress();
    return SK_NEXT(MPI_Iprobe)(source, tag, comm, flag, status);
}

#if SK_HAVE_MATCHED_PROBE
SK_EXPORT int MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message,
                         MPI_Status *status)
{
    if (!sk_busy())
        return SK_NEXT(MPI_Mprobe)(source, tag, comm, message, status);
    for (int flag = 0, rc;;) {
        sk_progress();
        rc = PMPI_Improbe(source, tag, comm, &flag, message, status);
        if (flag || rc != MPI_SUCCESS)
            return rc;
        sk_relax();
    }
}

SK_EXPORT int MPI_Improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message,
                          MPI_Status *status)
{
    sk_progress();
    return SK_NEXT(MPI_Improbe)(source, tag, comm, flag, message, status);
}
#endif
