/* ucp.c: a libucp.so.0 of one function, whose result a caller can tell from Skein's. */
unsigned ucp_worker_progress(void *worker);
unsigned ucp_worker_progress(void *worker)
{
    return ++*(unsigned *)worker;
}
