/* caller.c: a library over UCX, as an MPI loads its transport: its call of ucp_worker_progress goes to
 * the first definition in the global scope, and that is Skein's. */
unsigned ucp_worker_progress(void *worker);
unsigned caller_progress(void *worker);
unsigned caller_progress(void *worker)
{
    return ucp_worker_progress(worker);
}
