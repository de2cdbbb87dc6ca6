/* process.c: the process object, and how a rank waits. */
#include "mpi/state/process.h"

#include <string.h>

sk_process sk_proc = {.location_lock = PTHREAD_MUTEX_INITIALIZER,
                      .handler_lock = PTHREAD_MUTEX_INITIALIZER,
                      .lock = PTHREAD_MUTEX_INITIALIZER};

int sk_wait_request(MPI_Request *request, MPI_Status *status)
{
    int done = 0, rc;
    if (*request == MPI_REQUEST_NULL) /* SimGrid's MPI_Test never calls that complete */
        return MPI_SUCCESS;
    sk_progress();
    SK_WAIT_UNTIL(sk_proc.wait, (rc = sk_host.Test(request, &done, status)) != MPI_SUCCESS || done,
                  sk_progress());
    return rc;
}

void sk_wait_sharing(void)
{
    const char *wait = sk_settings_text(sk_select_settings(sk_proc.select), SK_SET_WAIT);
    if (sk_proc.wait == SK_WAIT_SPIN && strcmp(wait, "auto") == 0)
        sk_proc.wait = sk_wait_mode_shared();
}
