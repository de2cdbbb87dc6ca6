/* process.c: the process object, and how a rank waits. */
#include "mpi/state/process.h"

#include <string.h>

sk_process sk_proc = {.waits_lock = PTHREAD_MUTEX_INITIALIZER,
                      .handler_lock = PTHREAD_MUTEX_INITIALIZER,
                      .lock = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP}; /* see deferred.c */

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

/* Not every MPI makes progress in a probe, but all do in a test of a pending request. There is one
 * such request, so one thread at a time tests it. */
void sk_host_progress(void)
{
    int done;
    if (!atomic_flag_test_and_set(&sk_proc.testing_never)) {
        if (sk_proc.never == MPI_REQUEST_NULL)
            sk_host.Irecv(NULL, 0, MPI_BYTE, 0, (int)sk_proc.tags, sk_proc.self, &sk_proc.never);
        sk_host.Test(&sk_proc.never, &done, MPI_STATUS_IGNORE);
        atomic_flag_clear(&sk_proc.testing_never);
    }
    sk_progress();
}

void sk_wait_sharing(void)
{
    const char *wait = sk_settings_text(sk_select_settings(sk_proc.select), SK_SET_WAIT);
    if (sk_proc.wait == SK_WAIT_SPIN && strcmp(wait, "auto") == 0)
        sk_proc.wait = sk_wait_mode_shared();
}
