/* p2p.c: the blocking point-to-point calls. While one of Skein's collectives is active they wait in
 * Skein's loop, so that a rank blocked here still does its part of the collective. */
#include <stdatomic.h>
#include <stdlib.h>

#include "mpi/dispatch/bsend.h"
#include "mpi/state/host.h"

/* Both ends of a Sendrecv; the user sees the status of the receive. */
static int wait_both(MPI_Request *send, MPI_Request *recv, MPI_Status *status)
{
    int rc = sk_wait_request(recv, status), rc2 = sk_wait_request(send, MPI_STATUS_IGNORE);
    return rc != MPI_SUCCESS ? rc : rc2;
}

/* Pack a message. The host must not see a type of size zero: MPICH 4.0.2 divides by the size. */
static int pack(const void *buf, MPI_Count count, MPI_Datatype type, void *out, MPI_Count size,
                MPI_Count *at, MPI_Comm comm)
{
    MPI_Count bytes = 0;
    int rc = sk_host.Type_size_x(type, &bytes);
    *at = 0;
    if (rc != MPI_SUCCESS || bytes == 0 || count == 0)
        return rc;
#if SK_HAVE_LARGE
    if (sk_host.large)
        return sk_host.Pack_c(buf, count, type, out, size, at, comm);
#endif
    int end = 0;
    rc = sk_host.Pack(buf, (int)count, type, out, (int)size, &end, comm);
    *at = end;
    return rc;
}

#define COUNT   int
#define N(name) name
#include "mpi/abi/p2p.def"
#undef N
#undef COUNT

#if SK_HAVE_LARGE
#define COUNT               MPI_Count
#define N(name)             SK_LARGE_NAME(name)
#define SK_LARGE_NAME(name) name##_c
#include "mpi/abi/p2p.def"
#undef N
#undef COUNT
#endif

SK_ENTRY(MPI_Probe, (int source, int tag, MPI_Comm comm, MPI_Status *status),
         (source, tag, comm, status))
{
    if (!sk_busy())
        return sk_host.Probe(source, tag, comm, status);
    int flag = 0, rc;
    sk_progress();
    SK_WAIT_UNTIL(sk_proc.wait,
                  (rc = sk_host.Iprobe(source, tag, comm, &flag, status)) != MPI_SUCCESS || flag,
                  sk_progress());
    return rc;
}

SK_ENTRY(MPI_Iprobe, (int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status),
         (source, tag, comm, flag, status))
{
    sk_progress();
    return sk_host.Iprobe(source, tag, comm, flag, status);
}

#if SK_HAVE_MATCHED_PROBE
SK_ENTRY(MPI_Mprobe, (int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status),
         (source, tag, comm, message, status))
{
    if (!sk_busy())
        return sk_host.Mprobe(source, tag, comm, message, status);
    int flag = 0, rc;
    sk_progress();
    SK_WAIT_UNTIL(
        sk_proc.wait,
        (rc = sk_host.Improbe(source, tag, comm, &flag, message, status)) != MPI_SUCCESS || flag,
        sk_progress());
    return rc;
}

SK_ENTRY(MPI_Improbe,
         (int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status),
         (source, tag, comm, flag, message, status))
{
    sk_progress();
    return sk_host.Improbe(source, tag, comm, flag, message, status);
}
#endif
