#include "mpi/transport/mpi_channel.h"

#include <stdlib.h>
#include <string.h>

typedef struct sk_channel_msg {
    struct sk_channel_msg *next;
    MPI_Request request;
    int32_t length;  /* sent before the words where there is no probe */
    int32_t words[]; /* first the rank of the sender in the communicator */
} sk_channel_msg;

#if SK_HAVE_PROBE
static int send_msg(sk_mpi_channel *t, sk_channel_msg *l, int to)
{
    return SK_OWN(
        &t->hint, t->tag, 1,
        sk_host.Isend(l->words, l->length, MPI_INT32_T, to, t->tag, t->wire, &l->request));
}

/* Not MPI_Probe: the host decides how often that looks for a message. */
static int probe(sk_mpi_channel *t, bool block, int *arrived, int *from, int *n)
{
    MPI_Status status;
    int rc;
    SK_WAIT_UNTIL(sk_proc.wait,
                  (rc = SK_OWN(&t->hint, t->tag, 1,
                               sk_host.Iprobe(MPI_ANY_SOURCE, t->tag, t->wire, arrived,
                                              &status))) != MPI_SUCCESS ||
                      *arrived || !block,
                  (void)0);
    if (rc == MPI_SUCCESS && *arrived) {
        *from = status.MPI_SOURCE;
        rc = sk_host.Get_count(&status, MPI_INT32_T, n);
    }
    return rc;
}
#else
/* First the length, then the words, with a tag of their own. Messages between two ranks keep their
 * order. */
static int send_msg(sk_mpi_channel *t, sk_channel_msg *l, int to)
{
    MPI_Request first;
    int rc = SK_OWN(&t->hint, t->tag, 1,
                    sk_host.Isend(&l->length, 1, MPI_INT32_T, to, t->tag, t->wire, &first));
    if (rc == MPI_SUCCESS)
        rc = sk_host.Request_free(&first);
    if (rc != MPI_SUCCESS)
        return rc;
    return SK_OWN(
        &t->hint, t->words_tag, 1,
        sk_host.Isend(l->words, l->length, MPI_INT32_T, to, t->words_tag, t->wire, &l->request));
}

static int probe(sk_mpi_channel *t, bool block, int *arrived, int *from, int *n)
{
    MPI_Status status = {0};
    int rc = MPI_SUCCESS;
    if (t->length_request == MPI_REQUEST_NULL)
        rc = SK_OWN(&t->hint, t->tag, 1,
                    sk_host.Irecv(&t->length, 1, MPI_INT32_T, MPI_ANY_SOURCE, t->tag, t->wire,
                                  &t->length_request));
    if (rc == MPI_SUCCESS)
        rc = block ? sk_host.Wait(&t->length_request, &status)
                   : sk_host.Test(&t->length_request, arrived, &status);
    *from = status.MPI_SOURCE;
    *n = t->length;
    return rc;
}
#endif

static sk_status channel_send(sk_channel *base, int to, const int32_t *words, size_t n)
{
    sk_mpi_channel *t = (sk_mpi_channel *)base;
    if (n >= INT32_MAX)
        return SK_TOOBIG;
    sk_channel_msg *l = malloc(sizeof *l + (n + 1) * sizeof *words);
    if (!l)
        return SK_NOMEM;
    l->words[0] = t->comm->rank;
    memcpy(l->words + 1, words, n * sizeof *words);
    l->length = (int32_t)n + 1;
    if (send_msg(t, l, sk_comm_peer(t->comm, to)) != MPI_SUCCESS) {
        free(l);
        return SK_WIRE;
    }
    l->next = t->sent;
    t->sent = l;
    t->messages++;
    return SK_OK;
}

void sk_mpi_channel_init(sk_mpi_channel *t, const sk_comm *comm, int tag, int words_tag)
{
    *t = (sk_mpi_channel){.base.send = channel_send,
                          .comm = comm,
                          .wire = sk_comm_wire(comm),
                          .tag = tag,
                          .words_tag = words_tag,
                          .hint = sk_hint_of_setup(comm->nranks)};
#if !SK_HAVE_PROBE
    t->length_request = MPI_REQUEST_NULL;
#endif
}

static sk_status reap_sent(sk_mpi_channel *t, bool block)
{
    for (sk_channel_msg **at = &t->sent, *l; (l = *at);) {
        int done = 1;
        int rc = block ? sk_host.Wait(&l->request, MPI_STATUS_IGNORE)
                       : sk_host.Test(&l->request, &done, MPI_STATUS_IGNORE);
        if (rc != MPI_SUCCESS)
            return SK_WIRE;
        if (done) {
            *at = l->next;
            free(l);
        } else
            at = &l->next;
    }
    return SK_OK;
}

static sk_status receive_one(sk_mpi_channel *t, sk_negotiator *p, int from, int n)
{
    int tag = SK_HAVE_PROBE ? t->tag : t->words_tag;
    if (n < 1)
        return SK_WIRE;
    if ((size_t)n > t->capacity) {
        int32_t *words = realloc(t->words, (size_t)n * sizeof *words);
        if (!words)
            return SK_NOMEM;
        t->words = words;
        t->capacity = (size_t)n;
    }
    int rc = SK_OWN(&t->hint, tag, 1,
                    sk_host.Recv(t->words, n, MPI_INT32_T, from, tag, t->wire, MPI_STATUS_IGNORE));
    if (rc != MPI_SUCCESS)
        return SK_WIRE;
    return sk_negotiator_receive(p, &t->base, t->words[0], t->words + 1, (size_t)n - 1);
}

sk_status sk_mpi_channel_poll(sk_mpi_channel *t, sk_negotiator *p, bool block)
{
    while (!p->done) {
        int arrived = 1, from = 0, n = 0;
        if (probe(t, block, &arrived, &from, &n) != MPI_SUCCESS)
            return SK_WIRE;
        if (!arrived)
            break;
        sk_status st = receive_one(t, p, from, n);
        if (st != SK_OK)
            return st;
    }
    sk_status st = reap_sent(t, block && p->done);
    if (st != SK_OK)
        return st;
    return p->done && !t->sent ? SK_OK : SK_AGAIN;
}

/* After an error messages may still be under way, so their memory is not freed. */
void sk_mpi_channel_end(sk_mpi_channel *t)
{
    free(t->words);
    t->words = NULL;
}
